#include "common.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "math/kernels/kernels.hpp"
#include "math/product.hpp"
#include "math/random.hpp"

namespace headcount::bench {
namespace {

constexpr std::uint64_t kSeed = 1;

Workload decoder(const std::string& name, int layers, int heads, Index width, Index length,
                 Index batch) {
  Workload work{name, {}, length, batch};
  auto& model = work.model;
  model.vocabulary = 65;
  model.longest = length;
  model.width = width;
  model.feed_forward = 4 * width;
  model.set_heads(std::vector<int>(static_cast<std::size_t>(layers), heads), {width / heads});
  model.positions = "learned";
  model.scale_embedding = false;
  return work;
}

Workload classifier(const std::string& name) {
  Workload work = decoder(name, 2, 4, 64, 32, 32);
  auto& model = work.model;
  model.site = Site::encoder_self;
  model.mask = AttentionMask::none;
  model.vocabulary = 2000;
  model.activation = Activation::relu;
  model.classes = 2;
  model.set_heads({4, 4}, {16});
  return work;
}

std::vector<Token> random_tokens(RandomStream& random, Index count, Index below) {
  std::vector<Token> tokens(static_cast<std::size_t>(count));
  for (auto& token : tokens)
    token = static_cast<Token>(random.below(static_cast<std::uint32_t>(below)));
  return tokens;
}

Example random_example(const Workload& work, std::uint32_t step, std::uint32_t item) {
  RandomStream random(kSeed, Purpose::synthetic_data, step, item);
  Example example;
  example.input = random_tokens(random, work.length, work.model.vocabulary);
  example.targets = work.model.classes > 0
                        ? random_tokens(random, 1, work.model.classes)
                        : random_tokens(random, work.length, work.model.vocabulary);
  return example;
}

}  // namespace

std::vector<std::string> workload_names() { return {"char", "gpt384", "cls"}; }

Workload workload(const std::string& name, double dropout) {
  Workload work;
  if (name == "char") {
    work = decoder(name, 4, 4, 128, 64, 12);
  } else if (name == "gpt384") {
    work = decoder(name, 6, 6, 384, 256, 16);
    work.shards = 4;
  } else if (name == "cls") {
    work = classifier(name);
  } else {
    throw Error(ExitCode::usage,
                fmt::format("there is no configuration '{}'{}; there are {}", name,
                            did_you_mean(name, workload_names()), join(workload_names(), ", ")));
  }
  work.model.dropout = work.model.pattern_dropout = dropout;
  return work;
}

Workload language_model(int layers, int heads, Index width, Index length, Index batch) {
  return decoder("language model", layers, heads, width, length, batch);
}

double forward_flops(const Workload& work, Index tokens) {
  const auto& model = work.model;
  const double width = static_cast<double>(model.width);
  double weights = model.classes > 0 ? 0 : static_cast<double>(model.vocabulary) * width;
  double attention = 0;
  for (std::size_t layer = 0; layer < model.heads.size(); ++layer) {
    const double columns = static_cast<double>(std::ssize(model.heads[layer])) *
                           static_cast<double>(model.head_widths[layer]);
    weights += 4 * width * columns + 2 * width * static_cast<double>(model.feed_forward.at(layer));
    attention += 4 * static_cast<double>(work.length) * columns;
  }
  return static_cast<double>(tokens) * (2 * weights + attention);
}

RandomTask::RandomTask(const Workload& work, std::int64_t held_out)
    : vocabulary_(work.model.vocabulary), longest_(work.length) {
  const auto per = work.model.classes > 0 ? TargetsPer::sequence : TargetsPer::token;
  held_out_.targets_per = per;
  constexpr std::uint32_t kBatches = 8;
  for (std::uint32_t step = 0; step < kBatches; ++step) {
    Split one;
    one.targets_per = per;
    for (Index b = 0; b < work.batch; ++b)
      one.examples.push_back(random_example(work, step, static_cast<std::uint32_t>(b)));
    batches_.push_back(pack(one, work.tokens()).front());
  }
  for (std::int64_t b = 0; b < held_out; ++b)
    held_out_.examples.push_back(random_example(work, kBatches, static_cast<std::uint32_t>(b)));
}

PackedTokens packed(const Batch& batch) { return {batch.input.tokens, batch.input.offsets}; }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double smallest(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

double fitted_exponent(const std::vector<double>& sizes, const std::vector<double>& seconds) {
  double x = 0, y = 0, xx = 0, xy = 0;
  const double n = static_cast<double>(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double log_size = std::log(sizes[i]), log_time = std::log(seconds[i]);
    x += log_size;
    y += log_time;
    xx += log_size * log_size;
    xy += log_size * log_time;
  }
  return (n * xy - x * y) / (n * xx - x * x);
}

double peak_rss_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.rfind("VmHWM:", 0) == 0) return std::stod(line.substr(6)) / 1024;
  return NAN;
}

double rounded(double value, int digits) {
  if (!std::isfinite(value) || value == 0) return value;
  return std::stod(fmt::format("{:.{}g}", value, digits));
}

void add_build(Json& line) {
  line["instructions"] =
      fmt::format("{}, kernels {}", HEADCOUNT_INSTRUCTION_SET, kernels<float>().level);
  std::string products(product_library());
  if (const auto level = product_level(); !level.empty()) products += " " + level;
  line["products"] = products;
}

int bench_main(int argc, char** argv, const char* what,
               const std::function<void(po::options_description&)>& add_options,
               const std::function<void(const Values&)>& run) {
  try {
    po::options_description options(what);
    add_options(options);
    options.add_options()("help", "print this");
    Values values;
    try {
      po::store(po::parse_command_line(argc, argv, options), values);
      if (values.count("help")) {
        std::cout << options;
        return 0;
      }
      po::notify(values);
    } catch (const po::error& error) {
      throw Error(ExitCode::usage, fmt::format("{}; --help lists the options", error.what()));
    }
    run(values);
    return 0;
  } catch (const Error& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return static_cast<int>(error.code());
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench: {}\n", error.what());
    return static_cast<int>(ExitCode::internal);
  }
}

void print(const Json& line) { std::cout << line.dump() << std::endl; }

void serve(const Json& hello, const std::function<Json(int)>& measure) {
  print(hello);
  for (std::string line; std::getline(std::cin, line);) {
    const auto times =
        line.rfind("go ", 0) == 0 ? parse_integer(std::string_view(line).substr(3)) : std::nullopt;
    if (!times || *times < 1 || *times > 1'000'000)
      throw Error(ExitCode::usage, fmt::format("'{}' is not 'go N' with N from 1 on", line));
    print(measure(static_cast<int>(*times)));
  }
}

int integer(const Values& values, const char* option, int least) {
  const int value = values[option].as<int>();
  if (value < least)
    throw Error(ExitCode::usage,
                fmt::format("--{} must be at least {}, not {}", option, least, value));
  return value;
}

Precision precision(const Values& values) {
  return parse_precision(values["precision"].as<std::string>());
}

double dropout_rate(const Values& values) {
  const double rate = values["dropout"].as<double>();
  if (!(rate >= 0 && rate < 1))
    throw Error(ExitCode::usage,
                fmt::format("--dropout must be at least 0 and less than 1, not {}", rate));
  return rate;
}

}  // namespace headcount::bench
