// A small trial file with every kind of object of schema 1, and a folder to keep it in.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "store/writer.hpp"

namespace headcount {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "headcount-store-XXXXXX").string();
    if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

// first, first + step, ... in an exactly representable pattern.
template <class T>
std::vector<T> ramp(std::size_t count, T first, T step) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i)
    values[i] = static_cast<T>(first + static_cast<T>(i) * step);
  return values;
}

// What a half can say of such a ramp: 0, 0.5, ... 1023.5, over and over.
inline std::vector<Half> half_ramp(std::size_t count) {
  std::vector<Half> values;
  for (std::size_t i = 0; i < count; ++i)
    values.push_back(to_half(static_cast<float>(i % 2048) * 0.5F));
  return values;
}

inline void write_sample(ResultWriter& writer) {
  using Integers = std::vector<std::int64_t>;
  const VariableInfo index{.long_name = "index", .units = "1"};
  const VariableInfo nll{.long_name = "negative log-likelihood", .units = "nat"};
  writer.attribute("/", "experiment", std::string("head-count"));
  writer.attribute("/", "trial_id", std::string("heads-2-seed-1"));
  writer.attribute("/", "model_id", std::string("0123abcd"));
  writer.attribute("/", "question", std::string("At constant width, how many heads are best?"));
  writer.attribute("/", "source", std::string(""));

  writer.dimension("/spec", "entry", std::size_t{2});
  writer.scalar("/spec", "resolved", std::string("[task]\nkind = language-model\n# größer\n"),
                {.long_name = "resolved spec", .units = "1"});
  writer.variable("/spec", "key", {"entry"}, std::vector<std::string>{"task.kind", "seed"},
                  {.long_name = "key of the resolved spec", .units = "1"});
  writer.variable("/spec", "value", {"entry"}, std::vector<std::string>{"language-model", ""},
                  {.long_name = "value of the resolved spec", .units = "1"});

  writer.dimension("/training", "step", Integers{10, 20, 30}, index);
  writer.dimension("/training", "layer", Integers{0, 1}, index);
  writer.dimension("/training", "validation_step", Integers{}, index);
  writer.variable("/training", "loss", {"step"}, std::vector<float>{2.5F, 2.25F, 2.125F}, nll);
  writer.variable("/training", "layer_gradient_norm", {"step", "layer"}, ramp<double>(6, 0.5, 0.25),
                  {.long_name = "gradient norm", .units = "1"});
  writer.variable("/training", "validation_nll", {"validation_step"}, std::vector<double>{}, nll);

  writer.scalar("/evaluation/test", "nll", 2.0625, nll);
  writer.dimension("/evaluation/test", "example", std::size_t{4});
  writer.variable("/evaluation/test", "example_nll", {"example"},
                  std::vector<double>{8.5, kNaN, 7.25, 9.0}, nll);
  writer.variable("/evaluation/test", "example_targets", {"example"},
                  std::vector<std::int32_t>{4, 4, 4, 3}, {.long_name = "targets", .units = "1"});
  writer.variable("/evaluation/test", "example_cluster", {"example"},
                  std::vector<std::int64_t>{0, 0, 1, 1}, {.long_name = "document", .units = "1"});

  const std::string heads = "/heads/decoder_self";
  writer.dimension(heads, "layer", Integers{0, 1}, index);
  writer.dimension(heads, "head", Integers{0, 1, 2}, index);
  writer.variable(heads, "head_state", {"layer", "head"},
                  std::vector<std::uint8_t>{1, 1, 2, 1, 1, 0},
                  {.long_name = "state of the head",
                   .units = "1",
                   .flag_meanings = {"never", "present", "removed"}});
  writer.variable(
      heads, "entropy", {"layer", "head"},
      std::vector<float>{1.5F, 1.25F, static_cast<float>(kNaN), 0.5F, 0.75F,
                         static_cast<float>(kNaN)},
      {.long_name = "entropy of the pattern",
       .units = "nat",
       .definition = "mean over queries of -sum p ln p",
       .source = "Clark et al. 2019",
       .attributes = {{"split", std::string("test")}, {"n", std::int64_t{4}}, {"spread", 0.125}}});

  const std::string patterns = "/patterns/decoder_self";
  writer.dimension(patterns, "sequence", std::size_t{2});
  writer.dimension(patterns, "layer", Integers{0, 1}, index);
  writer.dimension(patterns, "head", Integers{0, 1, 2}, index);
  writer.dimension(patterns, "query_pos", std::size_t{40});
  writer.dimension(patterns, "key_pos", std::size_t{40});
  writer.variable(patterns, "pattern", {"sequence", "layer", "head", "query_pos", "key_pos"},
                  std::span<const Half>(half_ramp(2 * 2 * 3 * 40 * 40)),
                  {.long_name = "attention weights", .units = "1", .chunk_axes = 3});
  std::vector<std::string> tokens;
  for (int i = 0; i < 80; ++i) tokens.push_back(i % 2 ? "ß" : fmt::format("t{}", i));
  writer.variable(patterns, "tokens", {"sequence", "query_pos"}, tokens,
                  {.long_name = "token", .units = "1"});

  writer.dimension("/model", "row_2", std::size_t{2});
  writer.dimension("/model", "col_3", std::size_t{3});
  writer.variable("/model", "decoder.0.self.w_q", {"row_2", "col_3"}, ramp<float>(6, -1.0F, 0.5F),
                  {.long_name = "query projection", .units = "1"});

  writer.dimension("/labels", "method", std::vector<std::string>{"random", "importance"},
                   {.long_name = "method", .units = "1"});
  writer.dimension("/labels", "rate", std::vector<double>{0.0, 0.5, 1.0},
                   {.long_name = "dropout", .units = "1"});
  writer.variable("/labels", "score", {"method", "rate"}, ramp<double>(6, 1.0, 0.5), nll);

  writer.scalar("/timing", "wall", 1.5, {.long_name = "wall time", .units = "s"});
  writer.scalar("/provenance", "host", std::string("here"), {.long_name = "host", .units = "1"});
}

}  // namespace headcount
