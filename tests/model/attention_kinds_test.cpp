// The rules for whole models, whatever their attention is made of.
#include <rapidcheck.h>

#include "base/error.hpp"
#include "catch.hpp"
#include "model/small.hpp"
#include "support/gradient_check.hpp"

using namespace headcount;
using namespace headcount::test;

namespace {

// Two layers of any kinds that go together.
ModelConfig random_config() {
  const auto sharing =
      *rc::gen::element(Sharing::none, Sharing::qk, Sharing::qkv, Sharing::identity);
  const int groups = sharing == Sharing::none ? *rc::gen::element(0, 1, 2) : 0;
  std::vector<int> heads;
  std::vector<Index> widths;
  for (int layer = 0; layer < 2; ++layer) {
    if (sharing == Sharing::identity) {
      heads.push_back(*rc::gen::element(0, 1, 3));
      widths.push_back(heads.back() == 1 ? 6 : 2);
    } else {
      heads.push_back(groups == 2 ? *rc::gen::element(0, 2, 4) : *rc::gen::inRange(0, 4));
      widths.push_back(*rc::gen::element<Index>(2, 4));
    }
  }
  auto config = small_config(heads, widths);
  config.sharing = sharing;
  config.key_value_heads = groups;
  config.score = *rc::gen::elementOf(score_functions().names());
  config.average = *rc::gen::arbitrary<bool>();
  config.positions = *rc::gen::elementOf(position_encodings().names());
  config.norm = *rc::gen::element(NormPlacement::pre, NormPlacement::post);
  return *rc::gen::arbitrary<bool>() ? config : bidirectional(config);
}

std::string describe(const ModelConfig& config) {
  return fmt::format("{} heads {} score {} share {} kv-heads {} average {} positions {}",
                     name_of(config.site), config.original.total(), config.score,
                     name_of(config.sharing), config.key_value_heads, config.average,
                     config.positions);
}

std::vector<HeadId> some_heads(const SmallModel<double>& small) {
  auto chosen = small.model.present_heads();
  std::erase_if(chosen, [](const HeadId&) { return *rc::gen::arbitrary<bool>(); });
  return chosen;
}

template <class Change>
std::string refusal(const Change& change) {
  auto config = small_config();
  change(config);
  try {
    Model<double> model(config);
  } catch (const Error& error) {
    CHECK(error.code() == ExitCode::bad_data);
    return error.what();
  }
  return "not refused";
}

}  // namespace

TEST_CASE("model gradients: attention of any kind, some heads removed, some masked") {
  REQUIRE(rc::check("gradients", [] {
    const SmallModel<double> built(random_config());
    INFO(describe(built.model.config()));
    const auto small = built.without(some_heads(built));
    small->treatment.mask(some_heads(*small), MaskKind::zero);
    small->pass.gate_gradients = true;
    const auto gradient = small->backward();
    const Matrix<double> gates = small->workspace.gate_gradients.view();
    const auto loss = [&] { return small->loss(); };
    for (const auto& entry : small->model.layout().entries()) {
      CAPTURE(entry.name);
      CHECK(gradient_error(small->parameters.view(entry.block), gradient.view(entry.block), loss) ==
            "");
    }
    for (const auto& id : small->model.present_heads()) {
      CAPTURE(to_string(id));
      const Index column = small->model.heads().first_index(id.site, id.layer) + id.head;
      Matrix<double> gate = Matrix<double>::Constant(1, 1, small->treatment.gate.at(id));
      const Matrix<double> sum = Matrix<double>::Constant(1, 1, gates.col(column).sum());
      CHECK(gradient_error(gate, sum, [&] {
              small->treatment.gate.at(id) = gate(0, 0);
              return loss();
            }) == "");
      small->treatment.gate.at(id) = gate(0, 0);
    }
  }));
}

TEST_CASE("masked equals removed with attention of any kind, and so does each ablation") {
  REQUIRE(rc::check("removal", [] {
    SmallModel<double> small(random_config());
    INFO(describe(small.model.config()));
    const auto chosen = some_heads(small);
    const auto masked = small.without({});
    masked->treatment.mask(chosen, MaskKind::zero);
    RC_ASSERT(relative_difference(small.without(chosen)->logits(), masked->logits()) <
              kRounding<double>);

    small.pass.treatment = &small.treatment;
    small.pass.backward_follows = false;
    AblationWorkspace<double> ablation;
    const auto heads = small.model.present_heads();
    std::size_t told = 0;
    small.model.forward_without_each(
        small.parameters, small.batch.packed(), small.pass, heads, 30, small.workspace, ablation,
        [&](std::span<const HeadId> run, MatrixRef<double> logits) {
          const Index rows = logits.rows() / std::ssize(run);
          for (std::size_t i = 0; i < run.size(); ++i, ++told)
            RC_ASSERT(relative_difference(logits.middleRows(static_cast<Index>(i) * rows, rows),
                                          small.without({run[i]})->logits()) < 1e-11);
        });
    RC_ASSERT(told == heads.size());
  }));
}

// D = 6, F = 7, V = 11, two layers of three heads of width 2: 36 numbers a projection, 6 biases.
TEST_CASE("models with shared projections have the parameters that are left, by hand") {
  const auto count = [](const auto& change) {
    auto config = small_config();
    change(config);
    return Model<float>(config).layout().count();
  };
  const std::int64_t all = count([](ModelConfig&) {}), projection = 36 + 6;
  CHECK(all == 11 * 6 + 2 * (4 * 36 + 4 * 6 + 2 * 6 * 7 + 7 + 6 + 4 * 6) + 2 * 6);
  CHECK(count([](ModelConfig& c) { c.sharing = Sharing::qk; }) == all - 2 * projection);
  CHECK(count([](ModelConfig& c) { c.sharing = Sharing::qkv; }) == all - 2 * 2 * projection);
  CHECK(count([](ModelConfig& c) { c.sharing = Sharing::identity; }) == all - 2 * 3 * projection);
  CHECK(count([](ModelConfig& c) { c.key_value_heads = 1; }) == all - 2 * 2 * (24 + 4));
  CHECK(count([](ModelConfig& c) { c.score = "additive"; }) == all + 2 * 6);
  CHECK(count([](ModelConfig& c) { c.average = true; }) == all + 2 * 2 * 36);
}

TEST_CASE("attention that cannot be is refused") {
  CHECK_THAT(refusal([](ModelConfig& c) { c.key_value_heads = 2; }),
             ContainsSubstring("decoder_self:0") && ContainsSubstring("3 heads cannot share 2"));
  CHECK_THAT(refusal([](ModelConfig& c) { c.key_value_heads = -1; }), ContainsSubstring("-1"));
  CHECK_THAT(refusal([](ModelConfig& c) {
               c.key_value_heads = 1;
               c.sharing = Sharing::qk;
             }),
             ContainsSubstring("groups of 3"));
  CHECK_THAT(refusal([](ModelConfig& c) {
               c.set_heads({3, 2}, {2, 2});
               c.sharing = Sharing::identity;
             }),
             ContainsSubstring("decoder_self:1") && ContainsSubstring("take 4 columns"));
  CHECK_THAT(refusal([](ModelConfig& c) { c.score = "cosine"; }),
             ContainsSubstring("unknown score function 'cosine'"));
  CHECK(refusal([](ModelConfig& c) {
          c.set_heads({3, 0}, {2, 5});
          c.key_value_heads = 3;
        }) == "not refused");
}

TEST_CASE("the average is all that a layer without heads has") {
  auto config = small_config({0, 0}, {2});
  SmallModel<double> none(config);
  config.average = true;
  SmallModel<double> average(config);
  CHECK(relative_difference(none.logits(), average.logits()) > 1e-3);
  CHECK(average.model.present_heads().empty());
  // Causal: the last token changes no logits before it.
  const Matrix<double> before = average.logits();
  average.batch.tokens[4] = 0;
  const Matrix<double> after = average.logits();
  CHECK(same_bits(after.topRows(4), before.topRows(4)));
  CHECK(relative_difference(after.row(4), before.row(4)) > 1e-3);
}
