#include "run/checkpoint.hpp"

#include <rapidcheck.h>

#include "base/file.hpp"
#include "catch.hpp"
#include "run/array_file.hpp"
#include "sample.hpp"
#include "support/toy.hpp"

namespace headcount {
namespace {

// A state with something in every part of it.
UnfinishedTrial sample_state(const Model<float>& model, bool trained) {
  UnfinishedTrial state;
  state.started = "2026-11-30T07:00:00Z";
  state.stages = {{"train", 1.5, 2.5}, {"evaluate", 0.1, 0.2}};
  for (std::int64_t step = 1; step <= 3; ++step) {
    StepReport report;
    report.step = step;
    report.loss = 1.0 / static_cast<double>(step);
    report.learning_rate = 0.01;
    report.gradient_norm = 0.5;
    report.layer_gradient_norm = {0.3, 0.4};
    report.tokens = 60 + step;
    double next = 1;
    if (step != 2)
      for (const auto& series : layer_series())
        report.*series.values = {next++, 2.0 + static_cast<double>(step)};
    state.training.steps.push_back(report);
  }
  const auto& entropy = measures().at("entropy");
  HeadScores scores{entropy.about,
                    entropy.unit,
                    SplitName::validation,
                    12,
                    HeadMap<double>(model.heads(), 0.7),
                    HeadMap<double>(model.heads(), 0.1)};
  scores.value.at(toy_head(1, 2)) = std::numeric_limits<double>::quiet_NaN();
  state.training.validations = {{2, 1.25, {scores}}};
  state.training.parameters_step = trained ? 3 : 0;
  state.training.tokens_per_second = 1234.5;
  state.trained = trained;
  state.parameters = toy_parameters(model, 1);
  if (!trained) {
    state.best_nll = 1.25;
    state.best_step = 2;
    state.best = toy_parameters(model, 2);
  } else {
    state.passes.add({"run test 12 abc", {1.0, 2.0, 3.0}});
    state.passes.add({"gradients validation 1 def", {}});
  }
  return state;
}

void check_equal(const UnfinishedTrial& a, const UnfinishedTrial& b) {
  CHECK(a.started == b.started);
  REQUIRE(a.stages.size() == b.stages.size());
  CHECK(a.stages[1].wall_seconds == b.stages[1].wall_seconds);
  CHECK(a.stages[1].cpu_seconds == b.stages[1].cpu_seconds);
  REQUIRE(a.training.steps.size() == b.training.steps.size());
  for (std::size_t i = 0; i < a.training.steps.size(); ++i) {
    const auto &x = a.training.steps[i], &y = b.training.steps[i];
    CHECK(x.step == y.step);
    CHECK(x.loss == y.loss);
    CHECK(x.learning_rate == y.learning_rate);
    CHECK(x.gradient_norm == y.gradient_norm);
    CHECK(x.layer_gradient_norm == y.layer_gradient_norm);
    for (const auto& series : layer_series()) CHECK(x.*series.values == y.*series.values);
    CHECK(x.tokens == y.tokens);
  }
  REQUIRE(a.training.validations.size() == b.training.validations.size());
  const auto &v = a.training.validations[0], &w = b.training.validations[0];
  CHECK(v.step == w.step);
  CHECK(v.nll == w.nll);
  REQUIRE(w.heads.size() == 1);
  CHECK(v.heads[0].about.name == w.heads[0].about.name);
  CHECK(v.heads[0].examples == w.heads[0].examples);
  CHECK(w.heads[0].value.at(toy_head(0, 1)) == 0.7);
  CHECK(std::isnan(w.heads[0].value.at(toy_head(1, 2))));
  CHECK(v.heads[0].standard_error == w.heads[0].standard_error);
  CHECK(a.training.parameters_step == b.training.parameters_step);
  CHECK(a.training.tokens_per_second == b.training.tokens_per_second);
  CHECK(a.trained == b.trained);
  CHECK(same_bits(a.parameters, b.parameters));
  CHECK(a.best_step == b.best_step);
  CHECK(a.best_nll == b.best_nll);
  if (a.best_step > 0) CHECK(same_bits(a.best, b.best));
  REQUIRE(a.passes.passes().size() == b.passes.passes().size());
  for (std::size_t i = 0; i < a.passes.passes().size(); ++i) {
    CHECK(a.passes.passes()[i].what == b.passes.passes()[i].what);
    CHECK(a.passes.passes()[i].numbers == b.passes.passes()[i].numbers);
  }
}

class Checkpoint {
 public:
  explicit Checkpoint(bool trained)
      : state(sample_state(model, trained)),
        moments{toy_parameters(model, 3), toy_parameters(model, 4)} {
    save_checkpoint(result, "trial", state, trained ? nullptr : &moments);
  }
  std::string bytes() const { return read_file(checkpoint_path(result)); }

  const TemporaryFolder folder;
  const std::filesystem::path result = folder.path() / "trial.h5";
  const Model<float> model{toy_config()};
  const UnfinishedTrial state;
  const AdamW<float>::Moments moments;
};

TEST_CASE("a checkpoint gives back all that a trial needs to go on") {
  for (const bool trained : {false, true}) {
    const Checkpoint saved(trained);
    std::vector<std::string> problems;
    const auto loaded = load_checkpoint(saved.result, "trial", saved.model, problems);
    REQUIRE(loaded);
    CHECK(problems.empty());
    check_equal(saved.state, *loaded);
    REQUIRE(loaded->moments.has_value() == !trained);
    if (trained) continue;
    CHECK(same_bits(loaded->moments->first, saved.moments.first));
    CHECK(same_bits(loaded->moments->second, saved.moments.second));
  }
}

TEST_CASE("no checkpoint is none, and removed ones are gone") {
  const Checkpoint saved(true);
  save_checkpoint(saved.result, "trial", saved.state, nullptr);
  CHECK(files(saved.folder.path(), "").size() == 2);
  remove_checkpoints(saved.result);
  CHECK(files(saved.folder.path(), "").empty());
  std::vector<std::string> problems;
  CHECK_FALSE(load_checkpoint(saved.result, "trial", saved.model, problems));
  CHECK(problems.empty());
}

// What read_checkpoint says of these bytes: "" when it takes them.
std::string refusal(const Checkpoint& saved, std::string bytes) {
  try {
    read_checkpoint(std::move(bytes), "file", "trial", saved.model);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::bad_data);
    CHECK_THAT(error.what(), Catch::Matchers::StartsWith("file"));
    return error.what();
  }
  return "";
}

// The same file with this text replaced in its header, rightly hashed.
std::string forged(std::string bytes, const std::string& from, const std::string& to) {
  bytes.resize(bytes.size() - 64);
  const auto place = bytes.find(from);
  REQUIRE(place != std::string::npos);
  bytes.replace(place, from.size(), to);
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data() + 19, sizeof size);
  size += to.size() - from.size();
  std::memcpy(bytes.data() + 19, &size, sizeof size);
  return bytes + array_file_hash(bytes);
}

TEST_CASE("a checkpoint whose parts do not fit is refused") {
  const Checkpoint saved(false);
  const auto bytes = saved.bytes();
  CHECK(refusal(saved, forged(bytes, "\"best_step\":2", "\"best_step\":2")).empty());
  for (const auto& [from, to] : std::vector<std::pair<std::string, std::string>>{
           {"\"trained\":false", "\"trained\":true"},
           {"\"trained\":false", "\"trained\":7"},
           {"\"measures\":[\"entropy\"]", "\"measures\":[]"},
           {"\"measures\":[\"entropy\"]", "\"measures\":[\"nonsense\"]"},
           {"\"measures\":[\"entropy\"]", "\"measures\":[\"entropy\",\"confidence\"]"},
           {"\"passes\":[]", "\"passes\":[\"a\"]"},
           {"\"kind\":\"checkpoint\"", "\"kind\":\"other\""},
           {"\"stages\":[[\"train\"", "\"stages\":[[7"},
           {"\"started\"", "\"stopped\""},
           {"\"trial\":\"trial\"", "\"trial\":\"trail\""},
           {"\"build\":{", "\"build\":7,\"was\":{"},
           {"[\"step.loss\",\"float64\",3]", "[\"step.loss\",\"float64\",2]"},
           {"[\"step.loss\",\"float64\",3]", "[\"step.lots\",\"float64\",3]"}}) {
    CAPTURE(from, to);
    CHECK_FALSE(refusal(saved, forged(bytes, from, to)).empty());
  }
  // another model's
  auto wider = toy_config();
  wider.feed_forward = 20;
  const Model<float> other(wider);
  CHECK_THROWS_AS(read_checkpoint(bytes, "file", "trial", other), Error);
}

TEST_CASE("junk is refused, however it is made") {
  const Checkpoint saved(true);
  const auto whole = saved.bytes();
  rc::check([&] {
    auto bytes = whole.substr(0, whole.size() - 64);
    const auto cut = *rc::gen::inRange<std::size_t>(0, bytes.size());
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        bytes.resize(cut);
        break;
      case 1:
        bytes[cut] = *rc::gen::arbitrary<char>();
        break;
      default:
        bytes.insert(cut, *rc::gen::arbitrary<std::string>());
    }
    bytes += array_file_hash(bytes);
    try {  // whatever it says, it says by an Error, and the sanitizers are silent
      read_checkpoint(bytes, "file", "trial", saved.model);
    } catch (const Error&) {
    }
  });
}

TEST_CASE("a checkpoint is a file of the trial's own name, or the one before it") {
  const TemporaryFolder folder;
  const auto result = folder.path() / "heads-1.h5";
  CHECK_FALSE(has_checkpoint(result));
  write_text(folder.path() / "heads-11.checkpoint", "");
  write_text(folder.path() / "heads-1.checkpoint.vm.1.0.part", "");
  CHECK_FALSE(has_checkpoint(result));
  write_text(folder.path() / "heads-1.checkpoint.previous", "");
  CHECK(has_checkpoint(result));
  remove_checkpoints(result);
  CHECK_FALSE(has_checkpoint(result));
  write_text(folder.path() / "heads-1.checkpoint", "");
  CHECK(has_checkpoint(result));
}

}  // namespace
}  // namespace headcount
