#include "run/trial.hpp"

#include <cmath>

#include "catch.hpp"
#include "run/stored_trial.hpp"
#include "sample.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace {

using Shape = std::vector<std::size_t>;
using Names = std::vector<std::string>;

// The tiny trial, run once.
const std::filesystem::path& tiny_file() {
  static const TemporaryFolder folder;
  static const auto path = run_one(folder.path());
  return path;
}

struct Expected {
  std::string path;
  Names dimensions;
  Shape shape;
};

void check_all(const ResultFile& file, const std::vector<Expected>& all) {
  for (const auto& [path, dimensions, shape] : all) {
    CAPTURE(path);
    REQUIRE(file.exists(path));
    CHECK(file.dimensions(path) == dimensions);
    CHECK(file.shape(path) == shape);
  }
}

double last(const std::vector<double>& values) { return values.back(); }

TEST_CASE("a trial file holds every group of the schema, in shape") {
  const ResultFile file(tiny_file());
  CHECK_FALSE(validate(tiny_file()));
  for (const char* name :
       {"experiment", "trial_id", "model_id", "question", "source", "data_hash", "content_sha256"})
    CHECK_FALSE(file.attribute_text("/", name).empty());
  CHECK(file.attribute_text("/", "question") == "Does a trial write what it found?");
  CHECK(file.attribute_text("/", "trial_id") + ".h5" == tiny_file().filename());

  const auto keys = file.shape("/spec/key").at(0);
  const Names step{"step"}, curve{"step", "layer"}, grid{"layer", "head"};
  check_all(file, {{"/spec/resolved", {}, {}},
                   {"/spec/value", {"entry"}, {keys}},
                   {"/training/loss", step, {6}},
                   {"/training/learning_rate", step, {6}},
                   {"/training/gradient_norm", step, {6}},
                   {"/training/layer_gradient_norm", curve, {6, 2}},
                   {"/training/layer_activation_variance", curve, {6, 2}},
                   {"/training/layer_attention_entropy", curve, {6, 2}},
                   {"/training/layer_softmax_saturation", curve, {6, 2}},
                   {"/training/validation_nll", {"validation_step"}, {2}}});
  for (const std::string split : {"validation", "test"}) {
    const auto group = "/evaluation/" + split;
    for (const char* metric : {"nll", "perplexity", "accuracy"}) {
      check_all(file, {{group + "/" + metric, {}, {}}});
      CHECK(file.attribute_text(group + "/" + metric, "split") == split);
      CHECK(file.attribute_integer(group + "/" + metric, "n") == 12);
      CHECK_FALSE(file.attribute_text(group + "/" + metric, "units").empty());
    }
    for (const char* name : {"nll", "targets", "correct", "characters", "cluster"})
      check_all(file, {{group + "/example_" + name, {"example"}, {12}}});
    check_all(file, {{group + "/document_name", {"document"}, {12}}});
    CHECK_FALSE(file.exists(group + "/nll_intact"));  // no mask acts
  }
  check_all(file, {{"/heads/decoder_self/head_state", grid, {2, 3}}});
  for (const char* measure : {"entropy", "entropy_normalized", "confidence", "distance",
                              "importance_gradient", "importance_ablation"}) {
    const auto path = std::string("/heads/decoder_self/") + measure;
    check_all(file, {{path, grid, {2, 3}}, {path + "_standard_error", grid, {2, 3}}});
    CHECK(file.attribute_text(path, "split") == "validation");
    CHECK(file.attribute_integer(path, "n") == 12);
    CHECK_FALSE(file.attribute_text(path, "definition").empty());
    CHECK_FALSE(file.attribute_text(path, "units").empty());
  }
  for (const char* measure : {"entropy", "importance_gradient"})
    check_all(file, {{std::string("/heads_over_training/decoder_self/") + measure,
                      {"step", "layer", "head"},
                      {2, 2, 3}}});
  check_all(file, {{"/patterns/decoder_self/pattern",
                    {"sequence", "layer", "head", "query_pos", "key_pos"},
                    {2, 2, 3, 7, 7}},
                   {"/patterns/decoder_self/tokens", {"sequence", "query_pos"}, {2, 7}}});
  CHECK(file.children("/pruning") ==
        Names{"importance_gradient", "importance_gradient_iterative", "random"});
  for (const auto& method : file.children("/pruning")) {
    const auto group = "/pruning/" + method;
    const std::size_t orders = method == "random" ? 2 : 1;
    const Names points{"order", "point"}, ranks{"order", "rank"};
    check_all(file, {{group + "/site", ranks, {orders, 5}},
                     {group + "/layer", ranks, {orders, 5}},
                     {group + "/head", ranks, {orders, 5}},
                     {group + "/heads_left", {"point"}, {4}},
                     {group + "/nll", points, {orders, 4}},
                     {group + "/nll_removed", points, {orders, 4}},
                     {group + "/example_nll", {"order", "point", "example"}, {orders, 4, 12}},
                     {group + "/example_correct", {"order", "point", "example"}, {orders, 4, 12}},
                     {group + "/example_targets", {"example"}, {12}},
                     {group + "/example_cluster", {"example"}, {12}}});
  }
  check_all(file, {{"/model/embedding.token", {"row_6", "col_12"}, {6, 12}},
                   {"/model/decoder.0.self.w_q", {"row_12", "col_12"}, {12, 12}},
                   {"/model/decoder.1.feed_forward.w_1", {"row_12", "col_16"}, {12, 16}},
                   {"/timing/train_wall", {}, {}},
                   {"/timing/tokens_per_second", {}, {}}});
  // Three methods, each built with 0, 2 and 5 of 5 heads gone; 12 examples are fewer than 16.
  for (const char* name : {"intact", "intact_spread", "smaller", "smaller_spread", "ratio",
                           "ratio_spread", "flops_ratio", "repetitions"})
    check_all(file, {{std::string("/timing/latency/") + name, {"built", "sequences"}, {9, 1}}});
  CHECK(file.read_texts("/timing/latency/method")[3] == "importance.gradient-iterative");
  CHECK(file.read<std::int64_t>("/timing/latency/heads_left") ==
        std::vector<std::int64_t>{5, 3, 0, 5, 3, 0, 5, 3, 0});
  CHECK(file.read<double>("/timing/latency/flops_ratio")[0] == 1);
  CHECK(file.read<double>("/timing/latency/flops_ratio")[2] < 1);
  for (const auto pairs : file.read<std::int64_t>("/timing/latency/repetitions")) {
    CHECK(pairs >= 3);
    CHECK(pairs <= 9);
  }
  for (const char* name : {"version", "commit", "compiler", "flags", "instruction_set", "cpu",
                           "host", "data_hash", "started", "ended"})
    CHECK_FALSE(file.read_text(std::string("/provenance/") + name).empty());
}

TEST_CASE("the stored spec is that of the trial, as text and as keys") {
  const ResultFile file(tiny_file());
  const auto settings = tiny_settings();
  CHECK(file.read_text("/spec/resolved") == settings.to_text());
  CHECK(stored_settings(file) == settings);
  const auto keys = file.read_texts("/spec/key"), values = file.read_texts("/spec/value");
  REQUIRE(keys.size() == settings.values().size());
  for (std::size_t i = 0; i < keys.size(); ++i) CHECK(settings.canonical(keys[i]) == values[i]);
}

TEST_CASE("what is trained is told step by step") {
  const ResultFile file(tiny_file());
  CHECK(file.read<std::int64_t>("/training/step") == std::vector<std::int64_t>{1, 2, 3, 4, 5, 6});
  CHECK(file.read<std::int64_t>("/training/validation_step") == std::vector<std::int64_t>{4, 6});
  CHECK(file.read<double>("/training/learning_rate")[0] == Approx(0.005));
  for (const auto& series : layer_series()) {
    const auto dataset = std::string("/training/") + series.name;
    CHECK(file.attribute_text(dataset, "long_name") == series.long_name);
    CHECK(file.attribute_text(dataset, "units") == series.unit);
    const auto values = file.read<double>(dataset);
    for (std::size_t step = 1; step <= 6; ++step)
      CHECK(std::isnan(values[(step - 1) * 2]) == (step % 2 == 1 && step > 1));
  }
  // nothing random acts in a validation: the last one is the evaluation
  CHECK(last(file.read<double>("/training/validation_nll")) ==
        file.read_scalar<double>("/evaluation/validation/nll"));
}

TEST_CASE("totals follow from the stored statistics of examples") {
  const ResultFile file(tiny_file());
  const auto nll = file.read<double>("/evaluation/test/example_nll");
  const auto targets = file.read<std::int64_t>("/evaluation/test/example_targets");
  const auto correct = file.read<std::int64_t>("/evaluation/test/example_correct");
  double sum = 0, count = 0, right = 0;
  for (std::size_t x = 0; x < nll.size(); ++x) {
    sum += nll[x];
    count += static_cast<double>(targets[x]);
    right += static_cast<double>(correct[x]);
  }
  CHECK(count == 24);
  CHECK(file.read_scalar<double>("/evaluation/test/nll") == Approx(sum / count).epsilon(1e-14));
  CHECK(file.read_scalar<double>("/evaluation/test/accuracy") == right / count);
}

TEST_CASE("heads that never were have no values, the others have") {
  const ResultFile file(tiny_file());
  const std::string group = "/heads/decoder_self/";
  CHECK(file.read<std::uint8_t>(group + "head_state") ==
        std::vector<std::uint8_t>{1, 1, 0, 1, 1, 1});
  for (const char* measure :
       {"entropy", "importance_gradient", "importance_ablation_standard_error"}) {
    const auto values = file.read<double>(group + measure);
    for (std::size_t i = 0; i < 6; ++i) CHECK(std::isnan(values[i]) == (i == 2));
  }
}

TEST_CASE("measures over training end where the trained model is measured") {
  const ResultFile file(tiny_file());
  for (const char* measure : {"entropy", "importance_gradient"}) {
    const auto over =
        file.read<double>(std::string("/heads_over_training/decoder_self/") + measure);
    const auto trained = file.read<double>(std::string("/heads/decoder_self/") + measure);
    for (std::size_t i = 0; i < 6; ++i) {
      if (i == 2) continue;
      CHECK(over[6 + i] == trained[i]);
      CHECK(over[i] != trained[i]);
    }
  }
}

TEST_CASE("stored patterns are distributions over the keys that a query sees") {
  const ResultFile file(tiny_file());
  const auto pattern = file.read<float>("/patterns/decoder_self/pattern");
  const auto at = [&](std::size_t map, std::size_t i, std::size_t j) {
    return pattern[(map * 7 + i) * 7 + j];
  };
  for (std::size_t map = 0; map < 12; ++map)
    for (std::size_t i = 0; i < 7; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < 7; ++j) {
        if (map % 6 == 2) {
          CHECK(std::isnan(at(map, i, j)));
          continue;
        }
        sum += static_cast<double>(at(map, i, j));
        if (j > i) CHECK(at(map, i, j) == 0);
      }
      if (map % 6 != 2) CHECK(sum == Approx(1).epsilon(1e-3));  // of halves
    }
  CHECK(file.attribute_text("/patterns/decoder_self/pattern", "split") == "validation");
  const StoredTrial trial(tiny_file());
  const auto tokens = file.read_texts("/patterns/decoder_self/tokens");
  const auto& examples = trial.task().split(SplitName::validation).examples;
  for (std::size_t s = 0; s < 2; ++s)
    for (std::size_t i = 0; i < 7; ++i)
      CHECK(tokens[s * 7 + i] == trial.task().text_of(examples[s * 6].input[i]));
}

TEST_CASE("an order is chosen on validation and its curve reported on test") {
  const ResultFile file(tiny_file());
  const StoredTrial trial(tiny_file());
  const auto treatment = HeadTreatment<float>::intact(trial.model().heads());
  ThreadTeam team(1);
  const auto on = [&](SplitName split) {
    return Evaluator<float>(trial.model(), trial.parameters(), trial.task(), split, 0, team);
  };
  const auto validation = on(SplitName::validation), test = on(SplitName::test);
  const auto order = pruning_methods()
                         .at("importance.gradient")
                         .orders<float>({&validation, &treatment, 0, 1, {0, 5}})
                         .front();
  const std::string group = "/pruning/importance_gradient";
  CHECK(file.attribute_text(group, "chosen_on") == "validation");
  CHECK(file.attribute_text(group, "reported_on") == "test");
  CHECK(file.attribute_text(group + "/nll", "split") == "test");
  const auto layer = file.read<std::int64_t>(group + "/layer");
  const auto head = file.read<std::int64_t>(group + "/head");
  for (std::size_t rank = 0; rank < 5; ++rank)
    CHECK(HeadId{Site::decoder_self, int(layer[rank]), int(head[rank])} == order[rank]);
  CHECK(file.read<std::int64_t>(group + "/heads_left") == std::vector<std::int64_t>{5, 3, 1, 0});

  const auto curve = file.read<double>(group + "/example_nll");
  auto masked = treatment;
  for (std::size_t point = 0, gone = 0; point < 4; ++point) {
    for (; gone < std::array<std::size_t, 4>{0, 2, 4, 5}[point]; ++gone)
      masked.mask(order[gone], MaskKind::zero);
    const auto expected = test.run(masked);
    for (std::size_t x = 0; x < 12; ++x) CHECK(curve[point * 12 + x] == expected[x].nll);
  }
  const auto intact = file.read<double>("/evaluation/test/example_nll");
  CHECK(std::vector<double>(curve.begin(), curve.begin() + 12) == intact);
  CHECK(file.read<double>("/evaluation/validation/example_nll") != intact);

  const auto nll = file.read<double>(group + "/nll"),
             removed = file.read<double>(group + "/nll_removed");
  for (std::size_t point = 0; point < 4; ++point) {
    CHECK(std::isnan(removed[point]) == (point == 2));  // build-at = 0, 50 and 100 percent
    if (point != 2) CHECK(removed[point] == Approx(nll[point]).epsilon(1e-5));
  }
}

TEST_CASE("the best parameters are those of the lowest validation, and are what is measured") {
  const TemporaryFolder folder;
  const ResultFile file(
      run_one(folder.path(),
              {"evaluate.parameters=best", "train.validate-every=1", "train.learning-rate=0.3",
               "train.schedule=constant", "train.steps=12", "measure.during-training=entropy"}));
  const auto nll = file.read<double>("/training/validation_nll");
  REQUIRE(nll.size() == 12);
  const auto best = std::min_element(nll.begin(), nll.end());
  REQUIRE(best != nll.end() - 1);  // else the last would do as well
  CHECK(file.attribute_text("/model", "parameters") == "best");
  CHECK(file.attribute_integer("/model", "step") == best - nll.begin() + 1);
  CHECK(file.read_scalar<double>("/evaluation/validation/nll") == *best);
  const auto over = file.read<double>("/heads_over_training/decoder_self/entropy");
  CHECK(over[std::size_t(best - nll.begin()) * 6] ==
        file.read<double>("/heads/decoder_self/entropy")[0]);
}

TEST_CASE("a causal model is scored as it generates") {
  const TemporaryFolder folder;
  const ResultFile file(run_one(folder.path(), {"evaluate.generation=5", "evaluate.examples=5"}));
  for (const std::string split : {"/evaluation/test/", "/evaluation/validation/"}) {
    const auto generated = file.read<double>(split + "generated_example_nll");
    CHECK(generated.size() == 5);
    CHECK(file.read_scalar<double>(split + "nll_generated") ==
          Approx(file.read_scalar<double>(split + "nll")).epsilon(1e-5));
    CHECK(file.attribute_integer(split + "nll_generated", "n") == 5);
    CHECK_THAT(file.attribute_text(split + "nll_generated", "long_name"),
               ContainsSubstring("before it alone"));
  }
}

TEST_CASE("under a mask the intact model is scored beside it and the masked head nowhere") {
  for (const char* kind : {"zero", "mean", "uniform"}) {
    CAPTURE(kind);
    const TemporaryFolder folder;
    const ResultFile file(
        run_one(folder.path(), {"mask.heads=decoder_self:1:1", std::string("mask.kind=") + kind}));
    const ResultFile without(tiny_file());
    for (const std::string split : {"/evaluation/test/", "/evaluation/validation/"}) {
      const auto intact = file.read<double>(split + "intact_example_nll");
      CHECK(intact == without.read<double>(split + "example_nll"));
      CHECK(file.read<double>(split + "example_nll") != intact);
      CHECK(file.read_scalar<double>(split + "nll_intact") ==
            without.read_scalar<double>(split + "nll"));
    }
    const auto entropy = file.read<double>("/heads/decoder_self/entropy");
    for (std::size_t i = 0; i < 6; ++i) CHECK(std::isnan(entropy[i]) == (i == 2 || i == 4));
    const std::string group = "/pruning/random";
    CHECK(file.shape(group + "/head") == Shape{2, 4});
    const auto layer = file.read<std::int64_t>(group + "/layer");
    const auto head = file.read<std::int64_t>(group + "/head");
    for (std::size_t i = 0; i < head.size(); ++i) CHECK_FALSE((layer[i] == 1 && head[i] == 1));
    const auto curve = file.read<double>(group + "/example_nll");
    CHECK(std::vector<double>(curve.begin(), curve.begin() + 12) ==
          file.read<double>("/evaluation/test/example_nll"));
  }
}

TEST_CASE("a mask of kind mean puts the mean over the validation split in a head's place") {
  const TemporaryFolder folder;
  const auto path = run_one(folder.path(), {"mask.heads=decoder_self:1:1", "mask.kind=mean"});
  const StoredTrial trial(path);
  ThreadTeam team(2);
  const auto treatment = treatment_for(trial.model(), trial.parameters(), trial.task(),
                                       {{Site::decoder_self, 1, 1}}, MaskKind::mean, 0, team);
  const Evaluator<float> test(trial.model(), trial.parameters(), trial.task(), SplitName::test, 0,
                              team);
  const auto expected = ResultFile(path).read<double>("/evaluation/test/example_nll");
  const auto found = test.run(treatment);
  for (std::size_t x = 0; x < expected.size(); ++x) CHECK(found[x].nll == expected[x]);
}

TEST_CASE("a head masked in training keeps the parameters it began with") {
  const TemporaryFolder folder;
  const StoredTrial trial(run_one(
      folder.path(), {"mask.heads=decoder_self:1:1", "mask.when=train", "train.weight-decay=0"}));
  const auto before = trial.model().initial_parameters("xavier-uniform", 1);
  const std::string w_q = "decoder.1.self.w_q", w_o = "decoder.1.self.w_o";
  CHECK((trial.parameters().view(w_q).middleCols(4, 4) == before.view(w_q).middleCols(4, 4)));
  CHECK((trial.parameters().view(w_o).middleRows(4, 4) == before.view(w_o).middleRows(4, 4)));
  CHECK((trial.parameters().view(w_q).leftCols(4) != before.view(w_q).leftCols(4)));
}

TEST_CASE("a trial may have layers without heads, no training, and nothing to measure or prune") {
  const TemporaryFolder folder;
  const ResultFile emptied(run_one(folder.path(), {"model.heads=(0 3)"}));
  CHECK(emptied.read<std::uint8_t>("/heads/decoder_self/head_state") ==
        std::vector<std::uint8_t>{0, 0, 0, 1, 1, 1});
  CHECK(emptied.shape("/model/decoder.0.self.w_q") == Shape{12, 0});
  CHECK(StoredTrial(emptied.path()).model().present_heads().size() == 3);

  const ResultFile headless(run_one(folder.path(), {"model.heads=0"}));
  CHECK_FALSE(validate(headless.path()));
  const ResultFile bones(run_one(folder.path(), {"model.heads=0", "model.feed-forward=0",
                                                 "model.residual=none", "model.norm=none"}));
  CHECK_FALSE(validate(bones.path()));

  const ResultFile bare(
      run_one(folder.path(), {"train.steps=0", "measure.measures=", "measure.during-training=",
                              "measure.patterns=0", "prune.methods="}));
  CHECK(bare.exists("/evaluation/test/nll"));
  CHECK_FALSE(bare.exists("/training"));
  CHECK_FALSE(bare.exists("/patterns"));
  CHECK_FALSE(bare.exists("/timing/latency"));
  CHECK_FALSE(bare.exists("/pruning"));
  const StoredTrial untrained(bare.path());
  const auto initial = untrained.model().initial_parameters("xavier-uniform", 1);
  CHECK((untrained.parameters().view("decoder.0.self.w_q") == initial.view("decoder.0.self.w_q")));
}

TEST_CASE("attention of any kind goes all the way, and what is removed equals what is masked") {
  const std::vector<std::vector<std::string>> kinds{
      {"attention.score=additive", "attention.share=qk"},
      {"attention.score=dot", "attention.kv-heads=1", "attention.average=yes"},
      {"attention.share=identity"},
      {"attention.share=qkv", "attention.head-width=5", "model.positions=learned"},
      {"attention.mask=none", "attention.score=additive", "attention.average=yes"}};
  for (const auto& sets : kinds) {
    CAPTURE(sets.front());
    const TemporaryFolder folder;
    const ResultFile file(run_one(folder.path(), sets));
    CHECK_FALSE(validate(file.path()));
    const auto nll = file.read<double>("/pruning/importance_gradient/nll"),
               removed = file.read<double>("/pruning/importance_gradient/nll_removed");
    for (const std::size_t point : {0U, 1U, 3U})
      CHECK(removed[point] == Approx(nll[point]).epsilon(1e-5));
    const StoredTrial trial(file.path());
    ThreadTeam team(1);
    const Evaluator<float> test(trial.model(), trial.parameters(), trial.task(), SplitName::test, 0,
                                team);
    const auto found = test.run(HeadTreatment<float>::intact(trial.model().heads()));
    const auto stored = file.read<double>("/evaluation/test/example_nll");
    for (std::size_t x = 0; x < stored.size(); ++x) CHECK(found[x].nll == stored[x]);
  }
}

TEST_CASE("a model of averages alone has no head to measure and still learns") {
  const TemporaryFolder folder;
  const ResultFile file(
      run_one(folder.path(), {"model.heads=0", "attention.average=yes", "train.steps=30"}));
  CHECK_FALSE(validate(file.path()));
  CHECK(file.shape("/model/decoder.1.self.average.w_v") == Shape{12, 12});
  CHECK(StoredTrial(file.path()).model().present_heads().empty());
  const auto loss = file.read<double>("/training/loss");
  CHECK(loss.back() < loss.front());
}

TEST_CASE("limits on examples hold, and spread over the split") {
  const TemporaryFolder folder;
  const auto path =
      run_one(folder.path(), {"evaluate.examples=4", "measure.examples=3", "prune.examples=6"});
  const ResultFile file(path), whole(tiny_file());
  const auto some = file.read<double>("/evaluation/test/example_nll");
  const auto all = whole.read<double>("/evaluation/test/example_nll");
  REQUIRE(some.size() == 4);
  for (std::size_t i = 0; i < 4; ++i) CHECK(some[i] == Approx(all[3 * i]).epsilon(1e-6));
  CHECK(file.attribute_integer("/heads/decoder_self/entropy", "n") == 3);
  CHECK(file.shape("/pruning/random/example_nll") == Shape{2, 4, 6});
}

}  // namespace
}  // namespace headcount
