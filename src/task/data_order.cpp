#include <algorithm>

#include "task/data_source.hpp"
#include "task/generated.hpp"

namespace headcount {
namespace {

struct Markers {
  explicit Markers(const SequenceShape& shape)
      : a(static_cast<Token>(shape.symbols)), b(a + 1), question(b + 1) {}
  Token a, b, question;
};

// The question stands last and is scored alone: a causal model sees as much there as any other.
Example ask(std::vector<Token> sequence, std::int64_t answer, Token question) {
  Example example;
  example.targets.assign(sequence.size(), kNoTarget);
  example.targets.push_back(sequence[static_cast<std::size_t>(answer)]);
  example.relations.push_back(query_answer(std::ssize(sequence), answer));
  example.input = std::move(sequence);
  example.input.push_back(question);
  return example;
}

Example draw_order(const SequenceShape& shape, RandomStream& random) {
  const Markers markers(shape);
  std::vector<Token> sequence = draw_symbols(random, shape);
  const std::vector<Token> places = draw_distinct(random, 2, shape.length);
  sequence[static_cast<std::size_t>(places[0])] = markers.a;
  sequence[static_cast<std::size_t>(places[1])] = markers.b;
  return ask(std::move(sequence), std::min(places[0], places[1]), markers.question);
}

Example draw_bag(const SequenceShape& shape, RandomStream& random) {
  const Markers markers(shape);
  std::vector<Token> sequence = draw_symbols(random, shape);
  const std::uint32_t place = random.below(static_cast<std::uint32_t>(shape.length));
  sequence[place] = random.below(2) == 0 ? markers.a : markers.b;
  return ask(std::move(sequence), place, markers.question);
}

std::unique_ptr<Task> make(std::string_view source, const TaskConfig& config,
                           Example (*draw)(const SequenceShape&, RandomStream&)) {
  const SequenceShape shape = sequence_shape(config);
  return make_sequence_task(source, shape, shape.length + 1, {"A", "B", "?"}, draw);
}

}  // namespace

DataSource order_source() {
  return {
      {"synthetic.order",
       "random symbols, a marker A and a marker B among them, and at the end the question which "
       "of them came first: nothing but order tells; solved by attention to the first marker",
       "after Irie 2025"},
      sequence_keys(),
      nullptr,
      [](const TaskConfig& config) { return make("synthetic.order", config, draw_order); }};
}

DataSource bag_source() {
  return {{"synthetic.bag",
           "random symbols, one marker A or B among them, and at the end the question which it is: "
           "a control of synthetic.order, for which order tells nothing; solved by attention to "
           "content: the marker",
           ""},
          sequence_keys(),
          nullptr,
          [](const TaskConfig& config) { return make("synthetic.bag", config, draw_bag); }};
}

}  // namespace headcount
