#include "run/config.hpp"

#include "catch.hpp"
#include "sample.hpp"
#include "task/make_task.hpp"

namespace headcount {
namespace {

std::string problem(const std::vector<std::string>& sets) {
  try {
    tiny(sets);
  } catch (const SpecError& error) {
    CHECK(error.code() == ExitCode::bad_data);
    return error.what();
  }
  return "no problem";
}

TEST_CASE("heads that do not divide the width are told with the way out") {
  const auto said = problem({"model.d-model=14"});
  CHECK_THAT(said, ContainsSubstring("3 heads do not divide d-model 14"));
  CHECK_THAT(said, ContainsSubstring("attention.head-width"));
  CHECK_THAT(said, ContainsSubstring("tiny.ini:16"));  // heads = (2 3)
  CHECK(problem({"model.d-model=14", "attention.head-width=5"}) == "no problem");
  CHECK(problem({"model.heads=(0 3)"}) == "no problem");
}

TEST_CASE("attention that heads cannot have is told with the layer's numbers") {
  CHECK_THAT(problem({"attention.kv-heads=2"}),  // heads = (2 3)
             ContainsSubstring("3 heads cannot share 2 heads of keys and values"));
  CHECK(problem({"attention.kv-heads=1"}) == "no problem");
  CHECK(problem({"model.heads=(0 3)", "attention.kv-heads=3"}) == "no problem");
  CHECK_THAT(problem({"attention.kv-heads=1", "attention.share=qkv"}),
             ContainsSubstring("with attention.share = qkv every head has keys of its own"));
  CHECK(problem({"model.heads=3", "attention.kv-heads=3", "attention.share=qk"}) == "no problem");
  CHECK(problem({"attention.share=identity"}) == "no problem");
  CHECK_THAT(problem({"attention.share=identity", "attention.head-width=4"}),
             ContainsSubstring("2 heads of width 4 take 8 columns, but d-model is 12"));
  CHECK(problem({"attention.share=identity", "attention.head-width=4", "model.heads=(0 3)"}) ==
        "no problem");
  CHECK_THAT(problem({"attention.score=cosine"}), ContainsSubstring("additive"));
  const auto said = problem({"attention.kv-heads=2", "attention.share=identity",
                             "attention.head-width=4", "mask.heads=cross:0:0"});
  CHECK_THAT(said, ContainsSubstring("cannot share"));
  CHECK_THAT(said, ContainsSubstring("take 8 columns"));
  CHECK_THAT(said, ContainsSubstring("names no head"));
}

TEST_CASE("as many head counts as layers, or one") {
  CHECK_THAT(problem({"model.layers=3"}), ContainsSubstring("2 values for 3 layers"));
  CHECK(problem({"model.layers=3", "model.heads=2"}) == "no problem");
}

TEST_CASE("what is given by layer is given once or for every layer") {
  for (const char* given : {"model.norm=(pre post pre)", "model.residual=(plain none plain)",
                            "model.feed-forward=(8 auto 0)"}) {
    CHECK_THAT(problem({given}), ContainsSubstring("3 values for 2 layers"));
    CHECK(problem({given, "model.layers=3", "model.heads=2"}) == "no problem");
  }
}

TEST_CASE("a scheme for another kind of model is told with what it needs") {
  CHECK_THAT(problem({"model.init=rezero"}), ContainsSubstring("scaled-sublayer in every layer"));
  CHECK(problem({"model.init=rezero", "model.residual=scaled-sublayer"}) == "no problem");
  CHECK_THAT(problem({"model.init=admin", "model.norm=post"}),
             ContainsSubstring("scaled-stream in every layer"));
  CHECK_THAT(problem({"model.init=admin", "model.residual=scaled-stream"}),
             ContainsSubstring("needs model.norm = post in every layer"));
  CHECK(problem({"model.init=admin", "model.norm=post", "model.residual=scaled-stream"}) ==
        "no problem");
}

TEST_CASE("a mask that names no head, or that nothing consumes, is an error") {
  CHECK_THAT(problem({"mask.heads=decoder_self:0:2"}),
             ContainsSubstring("'decoder_self:0:2' names no head of this model"));
  CHECK_THAT(problem({"mask.heads=decoder_self:2:*"}), ContainsSubstring("names no head"));
  CHECK_THAT(problem({"mask.heads=encoder_self:0:0"}), ContainsSubstring("names no head"));
  CHECK(problem({"mask.heads=decoder_self:1:2"}) == "no problem");
  CHECK_THAT(problem({"mask.heads=decoder_self:0:0", "mask.when=train", "train.steps=0"}),
             ContainsSubstring("nothing would consume"));
  CHECK(problem({"mask.heads=decoder_self:0:0", "train.steps=0"}) == "no problem");
}

TEST_CASE("the mean of a head cannot mask it while it is being trained") {
  for (const char* when : {"train", "both"})
    CHECK_THAT(problem({"mask.heads=decoder_self:0:0", "mask.kind=mean",
                        std::string("mask.when=") + when}),
               ContainsSubstring("mean needs a trained model"));
  CHECK(problem({"mask.heads=decoder_self:0:0", "mask.kind=mean"}) == "no problem");
  CHECK(problem({"mask.heads=decoder_self:0:0", "mask.kind=uniform", "mask.when=both"}) ==
        "no problem");
}

TEST_CASE("what needs a split is told when the split is missing") {
  const std::vector<std::string> nothing{"measure.measures=", "measure.patterns=0",
                                         "measure.during-training=", "prune.methods="};
  const auto without = [&](const std::string& split, const std::vector<std::string>& sets) {
    auto all = nothing;
    all.push_back("task." + split + "=0");
    all.insert(all.end(), sets.begin(), sets.end());
    return problem(all);
  };
  CHECK(without("validation", {}) == "no problem");
  CHECK(without("test", {}) == "no problem");
  CHECK_THAT(without("validation", {"prune.methods=random"}),
             ContainsSubstring("chosen on the validation split, but task.validation is 0"));
  CHECK_THAT(without("test", {"prune.methods=random"}),
             ContainsSubstring("reported on the test split, but task.test is 0"));
  CHECK_THAT(without("validation", {"measure.measures=entropy"}),
             ContainsSubstring("measured on the validation split"));
  CHECK_THAT(without("test", {"measure.patterns=1", "measure.split=test"}),
             ContainsSubstring("measured on the test split"));
  CHECK_THAT(without("validation", {"measure.during-training=entropy"}),
             ContainsSubstring("during training on the validation split"));
  CHECK_THAT(without("validation", {"evaluate.parameters=best"}),
             ContainsSubstring("best parameters are chosen on the validation split"));
  CHECK_THAT(without("validation", {"mask.heads=decoder_self:0:0", "mask.kind=mean"}),
             ContainsSubstring("mean contexts are taken from the validation split"));
  CHECK_THAT(problem({"task.validation=0.6", "task.test=0.4"}),
             ContainsSubstring("leave no text to train on"));
}

TEST_CASE("only a language model can be scored as it generates") {
  CHECK(problem({"evaluate.generation=3"}) == "no problem");
  CHECK_THAT(problem({"evaluate.generation=3", "task.kind=masked-lm"}),
             ContainsSubstring("task.kind = masked-lm generates nothing"));
}

TEST_CASE("keys have no effect where no trial asks for them") {  // this one is synthetic.recall
  using Names = std::vector<std::string>;
  CHECK(keys_without_effect(tiny()).empty());
  CHECK(keys_without_effect(tiny({"task.masked=0.2", "task.block=6"})) ==
        Names{"task.block", "task.masked"});
  CHECK(keys_without_effect(tiny({"task.masked=0.15"})).empty());  // the default
  const std::string both = "[axis]\ntask.data = synthetic.recall, file:text.txt\n";
  CHECK(keys_without_effect(tiny({"task.masked=0.2", "task.block=6"}, both)) ==
        Names{"task.masked"});
  CHECK(keys_without_effect(tiny({"task.data=nowhere"})).empty());
}

TEST_CASE("targets of masked-lm cannot be more than all") {
  CHECK_THAT(problem({"task.masked-random=0.6", "task.masked-kept=0.5"}),
             ContainsSubstring("more than all targets"));
  CHECK_THAT(problem({"task.masked-random=0.5", "task.masked-kept=0.5"}),
             !ContainsSubstring("more than all targets"));
}

TEST_CASE("a model too large to be meant is refused before memory is taken") {
  CHECK_THAT(problem({"model.d-model=65536", "model.heads=4096", "model.layers=1024"}),
             ContainsSubstring("parameters is more than"));
}

TEST_CASE("an encoding that cannot serve a layer's heads is told with the spec") {
  CHECK(problem({"model.positions=rotary"}) == "no problem");  // heads of 6 and of 4 columns
  CHECK_THAT(problem({"model.positions=rotary", "model.heads=(2 4)"}),
             ContainsSubstring("heads of layer 1 are 3 wide; choose an even attention.head-width"));
  CHECK_THAT(problem({"model.positions=rotary", "attention.head-width=5"}),
             ContainsSubstring("heads of layer 0 are 5 wide"));
  CHECK(problem({"model.positions=alibi", "model.heads=(2 4)"}) == "no problem");
}

TEST_CASE("everything wrong is told at once") {
  const auto said = problem({"model.d-model=14", "task.validation=0", "mask.heads=cross:0:0"});
  CHECK_THAT(said, ContainsSubstring("do not divide"));
  CHECK_THAT(said, ContainsSubstring("chosen on the validation split"));
  CHECK_THAT(said, ContainsSubstring("names no head"));
}

TEST_CASE("what a query sees follows the task unless it is told") {
  const auto mask = [](std::vector<std::string> sets) {
    sets.insert(sets.end(), {"measure.measures=", "prune.methods="});
    return tiny_settings(std::move(sets)).text("attention.mask");
  };
  CHECK(mask({}) == "causal");
  CHECK(mask({"task.kind=masked-lm"}) == "none");
  CHECK(mask({"task.kind=classify"}) == "none");
  CHECK(mask({"task.kind=masked-lm", "attention.mask=causal"}) == "causal");
  const auto swept = tiny({}, "[axis]\ntask.kind = language-model, masked-lm\n");
  CHECK(swept.trials[0].settings.text("attention.mask") == "causal");
  CHECK(swept.trials[1].settings.text("attention.mask") == "none");
}

TEST_CASE("the model is the one the spec describes, layer by layer") {
  const auto config = model_config(tiny_settings(), 6, 9);
  CHECK(config.site == Site::decoder_self);
  CHECK(config.mask == AttentionMask::causal);
  CHECK(config.vocabulary == 6);
  CHECK(config.longest == 9);
  CHECK(config.width == 12);
  CHECK(config.feed_forward == 16);
  CHECK(config.heads == std::vector<std::vector<int>>{{0, 1}, {0, 1, 2}});
  CHECK(config.head_widths == std::vector<Index>{6, 4});
  CHECK(config.original == HeadCounts(Site::decoder_self, {2, 3}));
  CHECK(config.dropout == 0.1);
  CHECK(config.pattern_dropout == 0.1);
  CHECK(config.positions == "sinusoidal");
  CHECK(config.norm == NormPlacement::pre);
  CHECK(config.norm_kind == NormKind::layer);
  CHECK(config.residual == Residual::plain);
  CHECK(config.activation == Activation::gelu);
  CHECK(config.tied_output);
  CHECK(config.scale_embedding);
}

TEST_CASE("every key of the model arrives") {
  const auto config = model_config(
      tiny_settings({"model.layers=3", "model.heads=4", "model.feed-forward=auto",
                     "model.norm=post", "model.norm-kind=rms", "model.residual=none",
                     "model.activation=relu", "model.positions=learned", "model.dropout=0.25",
                     "attention.dropout=0.5", "model.tied-output=no", "model.scale-embedding=no",
                     "model.relative-distance=3", "attention.head-width=7", "attention.mask=none",
                     "prune.methods="}),
      6, 9);
  CHECK(config.site == Site::encoder_self);
  CHECK(config.mask == AttentionMask::none);
  CHECK(config.original == HeadCounts(Site::encoder_self, {4, 4, 4}));
  CHECK(config.head_widths == std::vector<Index>{7, 7, 7});
  CHECK(config.score == "scaled-dot");
  CHECK(config.sharing == Sharing::none);
  CHECK(config.key_value_heads == 0);
  CHECK_FALSE(config.average);
  CHECK(config.feed_forward == 48);
  CHECK(config.norm == NormPlacement::post);
  CHECK(config.norm_kind == NormKind::rms);
  CHECK(config.residual == Residual::none);
  CHECK(config.activation == Activation::relu);
  CHECK(config.positions == "learned");
  CHECK(config.relative_distance == 3);
  CHECK(config.dropout == 0.25);
  CHECK(config.pattern_dropout == 0.5);
  CHECK_FALSE(config.tied_output);
  CHECK_FALSE(config.scale_embedding);
}

TEST_CASE("every key of attention arrives") {
  const auto config = model_config(
      tiny_settings({"attention.score=additive", "attention.kv-heads=1", "attention.average=yes"}),
      6, 9);
  CHECK(config.score == "additive");
  CHECK(config.sharing == Sharing::none);
  CHECK(config.attention(0).group == 2);
  CHECK(config.attention(1).group == 3);
  CHECK(config.attention(1).average == AttentionMask::causal);
  CHECK(model_config(tiny_settings({"attention.share=identity"}), 6, 9).sharing ==
        Sharing::identity);
}

TEST_CASE("blocks are given layer by layer") {
  const auto config =
      model_config(tiny_settings({"model.norm=(post none)", "model.feed-forward=(auto 0)",
                                  "model.residual=(scaled-stream scaled-sublayer)"}),
                   6, 9);
  CHECK(config.norm == std::vector{NormPlacement::post, NormPlacement::none});
  CHECK(config.feed_forward == std::vector<Index>{48, 0});
  CHECK(config.residual == std::vector{Residual::scaled_stream, Residual::scaled_sublayer});
}

TEST_CASE("every key of training arrives") {
  const auto config = train_config(tiny_settings(
      {"train.steps=9", "train.batch-tokens=8", "train.shards=7", "train.learning-rate=0.5",
       "train.schedule=constant", "train.warm-up=3", "train.clip=0.75", "train.weight-decay=0.125",
       "train.beta-1=0.5", "train.beta-2=0.25", "train.epsilon=0.0625", "train.record-every=4",
       "seed.init=11", "seed.data=12"}));
  CHECK(config.steps == 9);
  CHECK(config.batch_tokens == 8);
  CHECK(config.shards == 7);
  CHECK(config.schedule.kind == ScheduleKind::constant);
  CHECK(config.schedule.peak == 0.5);
  CHECK(config.schedule.warm_up == 3);
  CHECK(config.schedule.steps == 9);
  CHECK(config.clip == 0.75);
  CHECK(config.optimizer.weight_decay == 0.125);
  CHECK(config.optimizer.beta_1 == 0.5);
  CHECK(config.optimizer.beta_2 == 0.25);
  CHECK(config.optimizer.epsilon == 0.0625);
  CHECK(config.record_every == 4);
  CHECK(config.dropout_seed == 11);
  CHECK(config.data_seed == 12);
}

TEST_CASE("every key of the task arrives") {
  const auto config = task_config(tiny_settings(
      {"task.data=file:x.txt", "task.tokenizer=word", "task.block=31", "task.validation=0.25",
       "task.test=0.125", "task.document-separator=form-feed", "task.vocabulary=33",
       "task.min-count=2", "task.recall-pairs=3", "task.recall-queries=4", "task.recall-keys=5",
       "task.recall-values=6", "task.recall-examples=7"}));
  CHECK(config.text("task.kind") == "language-model");
  CHECK(config.text("task.data") == "file:x.txt");
  CHECK(config.text("task.tokenizer") == "word");
  CHECK(config.integer("task.block") == 31);
  CHECK(config.real("task.validation") == 0.25);
  CHECK(config.real("task.test") == 0.125);
  CHECK(config.text("task.document-separator") == "form-feed");
  CHECK(config.integer("task.vocabulary") == 33);
  CHECK(config.integer("task.min-count") == 2);
  CHECK(config.integer("task.recall-pairs") == 3);
  CHECK(config.integer("task.recall-queries") == 4);
  CHECK(config.integer("task.recall-keys") == 5);
  CHECK(config.integer("task.recall-values") == 6);
  CHECK(config.integer("task.recall-examples") == 7);
}

TEST_CASE("what a spec does not say of the task is the task's own default") {
  const auto config =
      task_config(parse_experiment("", "empty.ini", experiment_schema(), {}, check_settings)
                      .trials.front()
                      .settings);
  for (const TaskKey& key : task_keys()) {
    CAPTURE(key.name);
    if (const auto* integer = std::get_if<TaskKey::Integer>(&key.type))
      CHECK(config.integer(key.name) == integer->fallback);
    else if (const auto* real = std::get_if<TaskKey::Real>(&key.type))
      CHECK(config.real(key.name) == real->fallback);
    else if (const auto* choice = std::get_if<TaskKey::Choice>(&key.type))
      CHECK(config.text(key.name) == choice->fallback);
    else
      CHECK(config.text(key.name) == std::get<TaskKey::Text>(key.type).fallback);
  }
}

TEST_CASE("a mask acts when the spec says") {
  const auto masked = [](const std::string& when, bool training) {
    const auto config = mask_config(
        tiny_settings({"mask.heads=decoder_self:1:*", "mask.kind=uniform", "mask.when=" + when}),
        training);
    CHECK((config.heads.empty() || config.kind == MaskKind::uniform));
    return config.heads.size();
  };
  CHECK(masked("train", true) == 3);
  CHECK(masked("train", false) == 0);
  CHECK(masked("evaluate", true) == 0);
  CHECK(masked("evaluate", false) == 3);
  CHECK(masked("both", true) == 3);
  CHECK(masked("both", false) == 3);
  CHECK(mask_config(tiny_settings(), false).heads.empty());
}

TEST_CASE("the model id knows what trained the model and nothing else") {
  const auto id = [](const std::vector<std::string>& sets, const char* data = "data") {
    return model_id(tiny_settings(sets), data);
  };
  const auto intact = id({});
  CHECK(intact.size() == 16);
  for (const char* other :
       {"measure.measures=entropy", "measure.patterns=0", "measure.split=test",
        "measure.examples=3", "prune.methods=random", "prune.step=1", "evaluate.examples=4",
        "mask.heads=decoder_self:0:0", "mask.kind=uniform"})
    CHECK(id({other}) == intact);
  for (const char* other : {"seed=2",
                            "seed.init=2",
                            "seed.data=2",
                            "task.recall-keys=4",
                            "model.d-model=24",
                            "model.heads=3",
                            "model.init=gpt2",
                            "model.norm=none",
                            "model.norm-kind=rms",
                            "model.residual=none",
                            "model.feed-forward=0",
                            "model.dropout=0",
                            "attention.dropout=0",
                            "attention.head-width=4",
                            "attention.score=dot",
                            "attention.share=qk",
                            "attention.kv-heads=1",
                            "attention.average=yes",
                            "train.steps=7",
                            "train.shards=2",
                            "train.clip=0"})
    CHECK(id({other}) != intact);
  CHECK(id({"mask.heads=decoder_self:0:0", "mask.when=train"}) != intact);
  CHECK(id({"mask.when=train"}) == intact);
  CHECK(id({}, "other data") != intact);
}

}  // namespace
}  // namespace headcount
