#include "run/publish.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/process.hpp"
#include "run/provenance.hpp"
#include "store/schema.hpp"
#include "store/writer.hpp"

namespace headcount {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

std::vector<std::int64_t> count_up(std::size_t n, std::int64_t from = 0) {
  std::vector<std::int64_t> numbers(n);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = from + static_cast<std::int64_t>(i);
  return numbers;
}

std::size_t most_heads(const HeadCounts& counts, Site site) {
  int most = 0;
  for (const int heads : counts.layers(site)) most = std::max(most, heads);
  return static_cast<std::size_t>(most);
}

// A ragged map as a dense [layer, head] array; `missing` where no head is.
template <class Out, class T>
std::vector<Out> dense(const HeadMap<T>& map, Site site, Out missing) {
  const std::size_t width = most_heads(map.counts(), site);
  std::vector<Out> values(map.counts().layers(site).size() * width, missing);
  for (const auto& id : map.counts().all())
    if (id.site == site)
      values[static_cast<std::size_t>(id.layer) * width + static_cast<std::size_t>(id.head)] =
          static_cast<Out>(map.at(id));
  return values;
}

VariableInfo info(std::string long_name, std::string units = "1") {
  VariableInfo variable;
  variable.long_name = std::move(long_name);
  variable.units = std::move(units);
  return variable;
}

class TrialFile {
 public:
  TrialFile(ResultWriter& file, const TrialResult& result) : file_(file), result_(result) {}

  void write() {
    root();
    spec();
    training();
    for (const auto& evaluation : result_.evaluations) this->evaluation(evaluation);
    for (const Site site : kSites)
      if (!result_.heads.layers(site).empty()) heads(site);
    heads_over_training();
    patterns();
    for (const auto& pruning : result_.prunings) this->pruning(pruning);
    model();
    timing();
    provenance();
  }

 private:
  void root() {
    file_.attribute("/", "experiment", result_.experiment);
    file_.attribute("/", "trial_id", result_.trial_id);
    file_.attribute("/", "model_id", result_.model_id);
    file_.attribute("/", "data_hash", result_.data_hash);
    file_.attribute("/", "question", result_.question);
    file_.attribute("/", "source", result_.source);
  }

  void spec() {
    std::vector<std::string> keys, values;
    for (const auto& value : result_.settings.values()) {
      keys.push_back(value.key);
      values.push_back(value.text);
    }
    file_.scalar("/spec", "resolved", result_.settings.to_text(),
                 info("resolved spec of the trial"));
    file_.dimension("/spec", "entry", keys.size());
    file_.variable("/spec", "key", {"entry"}, std::span<const std::string>(keys), info("spec key"));
    file_.variable("/spec", "value", {"entry"}, std::span<const std::string>(values),
                   info("value of the spec key"));
  }

  void training() {
    const auto& steps = result_.training.steps;
    if (steps.empty()) return;
    const std::string group = "/training";
    std::vector<std::int64_t> step;
    std::vector<double> loss, rate, norm, layer_norm;
    const auto layers = steps.front().layer_gradient_norm.size();
    for (const auto& report : steps) {
      step.push_back(report.step);
      loss.push_back(report.loss);
      rate.push_back(report.learning_rate);
      norm.push_back(report.gradient_norm);
      layer_norm.insert(layer_norm.end(), report.layer_gradient_norm.begin(),
                        report.layer_gradient_norm.end());
    }
    file_.dimension(group, "step", step, info("training step, from 1"));
    file_.dimension(group, "layer", count_up(layers), info("layer, from 0"));
    curve(group, "loss", {"step"}, loss, "mean nll of the batch before its update, dropout on",
          "nats per target");
    curve(group, "learning_rate", {"step"}, rate, "learning rate of the update");
    curve(group, "gradient_norm", {"step"}, norm, "l2 norm of the gradient before clipping");
    curve(group, "layer_gradient_norm", {"step", "layer"}, layer_norm,
          "l2 norm of the gradient of a layer's parameters");
    for (const auto& series : layer_series()) {
      std::vector<double> values;
      for (const auto& report : steps) {
        const auto& recorded = report.*series.values;
        if (recorded.empty())
          values.insert(values.end(), layers, kMissing);
        else
          values.insert(values.end(), recorded.begin(), recorded.end());
      }
      curve(group, series.name, {"step", "layer"}, values, series.long_name, series.unit);
    }
    validation_curve(group);
  }

  void validation_curve(const std::string& group) {
    if (result_.training.validations.empty()) return;
    std::vector<std::int64_t> step;
    std::vector<double> nll;
    for (const auto& validation : result_.training.validations) {
      step.push_back(validation.step);
      nll.push_back(validation.nll);
    }
    file_.dimension(group, "validation_step", step, info("training step of a validation"));
    curve(group, "validation_nll", {"validation_step"}, nll,
          "nll per target on the validation split", "nats per target");
  }

  void curve(const std::string& group, const std::string& name,
             const std::vector<std::string>& dims, const std::vector<double>& values,
             const std::string& long_name, const std::string& units = "1") {
    file_.variable(group, name, dims, std::span<const double>(values), info(long_name, units));
  }

  void evaluation(const TrialResult::Evaluation& evaluation) {
    const std::string group = fmt::format("/evaluation/{}", name_of(evaluation.split));
    const auto& examples = evaluation.examples;
    for (const auto& name : result_.metrics) {
      scalar_metric(group, name, "", examples, evaluation.split);
      if (!evaluation.intact.empty())
        scalar_metric(group, name, "intact", evaluation.intact, evaluation.split);
      if (!evaluation.generated.empty())
        scalar_metric(group, name, "generated", evaluation.generated, evaluation.split);
    }
    file_.dimension(group, "example", examples.size());
    per_example(group, examples, "example", "example");
    if (!evaluation.intact.empty())
      per_example(group, evaluation.intact, "example", "intact_example");
    if (!evaluation.generated.empty()) {
      file_.dimension(group, "generated_example", evaluation.generated.size());
      per_example(group, evaluation.generated, "generated_example", "generated_example");
    }
    file_.dimension(group, "document", evaluation.clusters.size());
    file_.variable(group, "document_name", {"document"},
                   std::span<const std::string>(evaluation.clusters),
                   info("name of the document that example_cluster numbers"));
    if (!result_.classes.empty()) classes(group, evaluation.example_classes);
  }

  void classes(const std::string& group, const std::vector<std::int64_t>& of_examples) {
    file_.dimension(group, "class", result_.classes.size());
    file_.variable(group, "class_name", {"class"}, std::span<const std::string>(result_.classes),
                   info("name of the class that example_class numbers"));
    file_.variable(group, "example_class", {"example"}, std::span<const std::int64_t>(of_examples),
                   info("class of the example"));
  }

  // `scored` tells how, other than under the trial's mask: "intact" without it, "generated" each
  // token from those before it alone.
  void scalar_metric(const std::string& group, const std::string& metric, const std::string& scored,
                     const std::vector<ExampleStatistics>& examples, SplitName split) {
    const auto& entry = metrics().at(metric);
    auto about = info(entry.about.definition, entry.unit);
    if (scored == "intact") about.long_name += ", without the mask";
    if (scored == "generated") about.long_name += ", each token from those before it alone";
    about.source = entry.about.source;
    about.attributes = {{"split", std::string(name_of(split))},
                        {"n", static_cast<std::int64_t>(examples.size())}};
    const std::string name = scored.empty() ? metric : metric + "_" + scored;
    file_.scalar(group, name, score(metric, total(examples)), about);
  }

  void per_example(const std::string& group, const std::vector<ExampleStatistics>& examples,
                   const std::string& dimension, const std::string& prefix) {
    std::vector<double> nll;
    std::vector<std::int64_t> targets, correct, characters, cluster;
    for (const auto& example : examples) {
      nll.push_back(example.nll);
      targets.push_back(example.targets);
      correct.push_back(example.correct);
      characters.push_back(example.characters);
      cluster.push_back(example.cluster);
    }
    const auto counts = [&](const char* name, const std::vector<std::int64_t>& values,
                            const char* long_name) {
      file_.variable(group, prefix + name, {dimension}, std::span<const std::int64_t>(values),
                     info(long_name));
    };
    file_.variable(group, prefix + "_nll", {dimension}, std::span<const double>(nll),
                   info("nll summed over the example's targets", "nats"));
    counts("_targets", targets, "targets of the example");
    counts("_correct", correct, "targets that had the largest probability");
    counts("_characters", characters, "characters the targets stand for");
    counts("_cluster", cluster, "document the example comes from");
  }

  void head_dimensions(const std::string& group, Site site) {
    file_.dimension(group, "layer", count_up(result_.heads.layers(site).size()),
                    info("layer, from 0"));
    file_.dimension(group, "head", count_up(most_heads(result_.heads, site)),
                    info("original head index, from 0"));
  }

  void heads(Site site) {
    const std::string group = fmt::format("/heads/{}", name_of(site));
    head_dimensions(group, site);
    auto state = info("whether the head is there");
    state.flag_meanings = {"never", "present", "removed"};
    file_.variable(group, "head_state", {"layer", "head"},
                   std::span<const std::uint8_t>(dense<std::uint8_t>(result_.head_state, site, 0)),
                   state);
    for (const auto& scores : result_.measures) {
      const std::string name = dataset_name(scores.about.name);
      const auto about = measure_info(scores, scores.about.name);
      file_.variable(group, name, {"layer", "head"},
                     std::span<const double>(dense<double>(scores.value, site, kMissing)), about);
      file_.variable(group, name + "_standard_error", {"layer", "head"},
                     std::span<const double>(dense<double>(scores.standard_error, site, kMissing)),
                     measure_info(scores, "standard error over examples of " + scores.about.name));
    }
  }

  static VariableInfo measure_info(const HeadScores& scores, const std::string& long_name) {
    auto about = info(long_name, scores.unit);
    about.definition = scores.about.definition;
    about.source = scores.about.source;
    about.attributes = {{"split", std::string(name_of(scores.split))}, {"n", scores.examples}};
    return about;
  }

  void heads_over_training() {
    if (result_.training.validations.empty() || result_.training.validations.front().heads.empty())
      return;
    std::vector<std::int64_t> step;
    for (const auto& validation : result_.training.validations) step.push_back(validation.step);
    for (const Site site : kSites) {
      if (result_.heads.layers(site).empty()) continue;
      const std::string group = fmt::format("/heads_over_training/{}", name_of(site));
      file_.dimension(group, "step", step, info("training step, from 1"));
      head_dimensions(group, site);
      for (std::size_t m = 0; m < result_.training.validations.front().heads.size(); ++m) {
        std::vector<double> values;
        for (const auto& validation : result_.training.validations) {
          const auto at_step = dense<double>(validation.heads[m].value, site, kMissing);
          values.insert(values.end(), at_step.begin(), at_step.end());
        }
        const auto& scores = result_.training.validations.front().heads[m];
        file_.variable(group, dataset_name(scores.about.name), {"step", "layer", "head"},
                       std::span<const double>(values), measure_info(scores, scores.about.name));
      }
    }
  }

  void patterns() {
    if (result_.patterns.empty()) return;
    std::size_t longest = 0;
    for (const auto& tokens : result_.pattern_tokens) longest = std::max(longest, tokens.size());
    for (const Site site : kSites)
      if (!result_.heads.layers(site).empty()) site_patterns(site, longest);
  }

  // Padded to the longest sequence: NaN in patterns, empty tokens.
  void site_patterns(Site site, std::size_t longest) {
    const std::string group = fmt::format("/patterns/{}", name_of(site));
    const std::size_t sequences = result_.pattern_tokens.size();
    const std::size_t layers = result_.heads.layers(site).size(),
                      width = most_heads(result_.heads, site);
    std::vector<Half> values(sequences * layers * width * longest * longest, kHalfNaN);
    for (const auto& pattern : result_.patterns) {
      if (pattern.id.site != site) continue;
      const std::size_t map = (static_cast<std::size_t>(pattern.sequence) * layers +
                               static_cast<std::size_t>(pattern.id.layer)) *
                                  width +
                              static_cast<std::size_t>(pattern.id.head);
      const auto keys = static_cast<std::size_t>(pattern.weights.cols());
      for (Index i = 0; i < pattern.weights.rows(); ++i)
        to_halves({pattern.weights.row(i).data(), keys},
                  std::span(values).subspan((map * longest + static_cast<std::size_t>(i)) * longest,
                                            keys));
    }
    std::vector<std::string> tokens(sequences * longest);
    for (std::size_t s = 0; s < sequences; ++s)
      std::copy(result_.pattern_tokens[s].begin(), result_.pattern_tokens[s].end(),
                tokens.begin() + static_cast<std::ptrdiff_t>(s * longest));
    file_.dimension(group, "sequence", sequences);
    head_dimensions(group, site);
    file_.dimension(group, "query_pos", count_up(longest), info("position of the query, from 0"));
    file_.dimension(group, "key_pos", count_up(longest), info("position of the key, from 0"));
    auto about = info("attention weights after the softmax");
    about.chunk_axes = 3;  // a sequence and layer
    about.attributes = {{"split", std::string(name_of(result_.pattern_split))}};
    file_.variable(group, "pattern", {"sequence", "layer", "head", "query_pos", "key_pos"},
                   std::span<const Half>(values), about);
    file_.variable(group, "tokens", {"sequence", "query_pos"}, std::span<const std::string>(tokens),
                   info("input token at the position"));
  }

  void pruning(const TrialResult::Pruning& pruning) {
    const std::string group = "/pruning/" + dataset_name(pruning.method);
    const auto& method = pruning_methods().at(pruning.method).about;
    const auto& first = pruning.curves.front();
    const std::size_t points = first.points.size(), examples = first.points.front().size();
    file_.attribute(group, "method", method.name);
    file_.attribute(group, "definition", method.definition);
    file_.attribute(group, "source", method.source);
    file_.attribute(group, "chosen_on", std::string(name_of(pruning.chosen_on)));
    file_.attribute(group, "reported_on", std::string(name_of(pruning.reported_on)));
    file_.dimension(group, "order", count_up(pruning.curves.size()), info("order, from 0"));
    file_.dimension(group, "rank", count_up(first.order.size()),
                    info("place in the order, from 0"));
    file_.dimension(group, "point", count_up(points), info("point of the curve, from 0"));
    file_.dimension(group, "example", examples);
    orders(group, pruning);

    std::vector<std::int64_t> left;
    for (const int gone : first.removals)
      left.push_back(static_cast<std::int64_t>(first.order.size()) - gone);
    file_.variable(group, "heads_left", {"point"}, std::span<const std::int64_t>(left),
                   info("heads left at the point"));
    for (const auto& name : result_.metrics) curve_metric(group, pruning, name);
    std::vector<double> removed;
    for (const auto& curve : pruning.curves)
      for (const auto& statistics : curve.removed)
        removed.push_back(statistics.empty() ? kMissing : score("nll", total(statistics)));
    file_.variable(group, "nll_removed", {"order", "point"}, std::span<const double>(removed),
                   info("nll per target of the physically smaller model, where it was built",
                        "nats per target"));
    example_curves(group, pruning, examples);
  }

  void orders(const std::string& group, const TrialResult::Pruning& pruning) {
    std::vector<std::uint8_t> site;
    std::vector<std::int64_t> layer, head;
    for (const auto& curve : pruning.curves)
      for (const auto& id : curve.order) {
        site.push_back(static_cast<std::uint8_t>(id.site));
        layer.push_back(id.layer);
        head.push_back(id.head);
      }
    auto sites = info("site of the head that goes at this rank");
    for (const Site s : kSites) sites.flag_meanings.emplace_back(name_of(s));
    file_.variable(group, "site", {"order", "rank"}, std::span<const std::uint8_t>(site), sites);
    file_.variable(group, "layer", {"order", "rank"}, std::span<const std::int64_t>(layer),
                   info("layer of the head that goes at this rank, from 0"));
    file_.variable(group, "head", {"order", "rank"}, std::span<const std::int64_t>(head),
                   info("original index of the head that goes at this rank"));
  }

  void curve_metric(const std::string& group, const TrialResult::Pruning& pruning,
                    const std::string& name) {
    const auto& entry = metrics().at(name);
    std::vector<double> values;
    for (const auto& curve : pruning.curves)
      for (const auto& statistics : curve.points) values.push_back(score(name, total(statistics)));
    auto about = info(entry.about.definition, entry.unit);
    about.source = entry.about.source;
    about.attributes = {
        {"split", std::string(name_of(pruning.reported_on))},
        {"n", static_cast<std::int64_t>(pruning.curves.front().points.front().size())}};
    file_.variable(group, name, {"order", "point"}, std::span<const double>(values), about);
  }

  void example_curves(const std::string& group, const TrialResult::Pruning& pruning,
                      std::size_t examples) {
    std::vector<double> nll;
    std::vector<std::int64_t> correct, targets, cluster;
    for (const auto& curve : pruning.curves)
      for (const auto& statistics : curve.points)
        for (const auto& example : statistics) {
          nll.push_back(example.nll);
          correct.push_back(example.correct);
        }
    for (std::size_t x = 0; x < examples; ++x) {
      targets.push_back(pruning.curves.front().points.front()[x].targets);
      cluster.push_back(pruning.curves.front().points.front()[x].cluster);
    }
    const std::vector<std::string> all{"order", "point", "example"};
    file_.variable(group, "example_nll", all, std::span<const double>(nll),
                   info("nll summed over the example's targets", "nats"));
    file_.variable(group, "example_correct", all, std::span<const std::int64_t>(correct),
                   info("targets that had the largest probability"));
    file_.variable(group, "example_targets", {"example"}, std::span<const std::int64_t>(targets),
                   info("targets of the example"));
    file_.variable(group, "example_cluster", {"example"}, std::span<const std::int64_t>(cluster),
                   info("document the example comes from"));
  }

  void model() {
    const std::string group = "/model";
    const auto& config = result_.model->config();
    file_.group(group);
    file_.attribute(group, "vocabulary", static_cast<std::int64_t>(config.vocabulary));
    file_.attribute(group, "longest", static_cast<std::int64_t>(config.longest));
    file_.attribute(group, "parameters", result_.parameters_are);
    file_.attribute(group, "step", result_.training.parameters_step);
    for (const auto& entry : result_.model->layout().entries()) {
      const auto dimension = [&](const char* kind, Index size) {
        const std::string name = fmt::format("{}_{}", kind, size);
        if (!file_.has_dimension(group, name))
          file_.dimension(group, name, static_cast<std::size_t>(size));
        return name;
      };
      const Matrix<float> values = result_.parameters->view(entry.block);
      file_.variable(group, entry.name,
                     {dimension("row", entry.block.rows), dimension("col", entry.block.cols)},
                     std::span<const float>(values.data(), static_cast<std::size_t>(values.size())),
                     info(std::string(name_of(entry.role))));
    }
  }

  void timing() {
    for (const auto& stage : result_.stages) {
      file_.scalar("/timing", stage.name + "_wall", stage.wall_seconds,
                   info("wall time of the stage", "s"));
      file_.scalar("/timing", stage.name + "_cpu", stage.cpu_seconds,
                   info("CPU time of the stage, all threads", "s"));
    }
    file_.scalar("/timing", "tokens_per_second", result_.training.tokens_per_second,
                 info("training tokens a second, validation included", "s-1"));
    file_.scalar("/timing", "threads", static_cast<std::int64_t>(result_.threads),
                 info("threads used"));
    if (!result_.latencies.empty()) latency();
  }

  void latency() {
    const std::string group = "/timing/latency";
    std::vector<std::int64_t> sizes, left, repetitions;
    std::vector<std::string> methods;
    for (const auto& built : result_.latencies) {
      methods.push_back(built.method);
      left.push_back(built.heads_left);
      if (built.passes.size() <= sizes.size()) continue;
      sizes.clear();
      for (const auto& pass : built.passes) sizes.push_back(pass.sequences);
    }
    file_.dimension(group, "built", methods.size());
    file_.dimension(group, "sequences", sizes, info("sequences in one forward pass"));
    file_.variable(group, "method", {"built"}, std::span<const std::string>(methods),
                   info("pruning method whose first order the smaller model is of"));
    file_.variable(group, "heads_left", {"built"}, std::span<const std::int64_t>(left),
                   info("heads left in the smaller model, of those not masked"));
    const auto each = [&](const std::string& name, auto missing, const auto& number,
                          const VariableInfo& about) {
      std::vector<decltype(missing)> values;
      for (const auto& built : result_.latencies)
        for (std::size_t i = 0; i < sizes.size(); ++i)
          values.push_back(i < built.passes.size() ? number(built.passes[i]) : missing);
      file_.variable(group, name, {"built", "sequences"},
                     std::span<const decltype(missing)>(values), about);
    };
    const auto spread = [&](const std::string& name, Spread Latency::*which,
                            const std::string& what, const std::string& unit) {
      each(
          name, kMissing, [&](const Latency& pass) { return (pass.*which).median; },
          info("median " + what, unit));
      each(
          name + "_spread", kMissing, [&](const Latency& pass) { return (pass.*which).range; },
          info("interquartile range of the " + what, unit));
    };
    spread("intact", &Latency::intact, "time of a forward pass of the intact model, one thread",
           "s");
    spread("smaller", &Latency::smaller, "time of a forward pass of the smaller model, one thread",
           "s");
    spread("ratio", &Latency::ratio, "time of the smaller model over that of the intact one", "1");
    each(
        "flops_ratio", kMissing, [](const Latency& pass) { return pass.flops_ratio; },
        info("arithmetic in matrix products of the smaller model over that of the intact one"));
    each(
        "repetitions", std::int64_t{0}, [](const Latency& pass) { return pass.repetitions; },
        info("pairs of passes timed; 0: too long to be timed"));
  }

  void provenance() {
    const auto line = [&](const std::string& name, const std::string& value,
                          const std::string& what) {
      file_.scalar("/provenance", name, value, info(what));
    };
    const auto build = build_provenance();
    line("version", build.version, "version of Headcount");
    line("commit", build.commit, "git commit it was built from");
    line("compiler", build.compiler, "compiler");
    line("flags", build.flags, "compiler flags");
    line("instruction_set", build.instruction_set, "instruction-set level");
    line("products", build.products, "library of the large matrix products");
    line("random", "Philox4x32-10", "random number generator");
    line("cpu", cpu_name(), "processor");
    line("host", host_name(), "host");
    line("data_hash", result_.data_hash, "sha256 of the data");
    line("started", result_.started, "start, UTC");
    line("ended", result_.ended, "end, UTC");
    const auto& [trained_in, trained_commit] = result_.trained_by;
    line("trained_in", trained_in.empty() ? result_.trial_id : trained_in,
         "trial whose training this is");
    line("trained_commit", trained_in.empty() ? build.commit : trained_commit,
         "git commit of the build that trained");
  }

  ResultWriter& file_;
  const TrialResult& result_;
};

}  // namespace

void publish_trial(const std::filesystem::path& path, const TrialResult& result) {
  publish_result(path, [&](ResultWriter& file) { TrialFile(file, result).write(); });
}

}  // namespace headcount
