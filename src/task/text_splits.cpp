#include "task/text_splits.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace {

void check_filled(const std::vector<Document>& split, double share, const std::string& name) {
  if (split.empty() && share > 0)
    throw Error(ExitCode::bad_data,
                fmt::format("task.{} = {} leaves the {} split empty: the text is too short", name,
                            shortest(share), name));
}

TextSplits cut_document(const Document& document, double validation, double test) {
  const auto total = static_cast<double>(count_code_points(document.text));
  const auto boundary = [&](double share_behind) {
    const auto kept = std::llround(total * (1 - share_behind));
    return offset_of_code_point(document.text, kept);
  };
  const std::size_t train_end = boundary(validation + test);
  const std::size_t validation_end = boundary(test);
  const auto piece = [&](std::size_t begin, std::size_t end) -> std::vector<Document> {
    if (begin == end) return {};
    const std::string_view text = document.text;
    const std::int64_t first = count_code_points(text.substr(0, begin));
    return {{document.name, document.group, document.text.substr(begin, end - begin),
             relations_within(document.relations, {first, first + count_code_points(text.substr(
                                                                      begin, end - begin))})}};
  };
  return {piece(0, train_end), piece(train_end, validation_end),
          piece(validation_end, document.text.size())};
}

TextSplits deal_out_groups(const std::vector<Document>& documents, double validation, double test,
                           bool by_document) {
  std::vector<std::int64_t> characters;
  std::int64_t total = 0;
  for (const auto& document : documents) {
    characters.push_back(count_code_points(document.text));
    total += characters.back();
  }
  std::size_t end = documents.size();
  // Takes whole groups before `end` until they hold `share` of all characters.
  const auto take = [&](double share) {
    const std::size_t last = end;
    double taken = 0;
    while (end > 0 && taken < share * static_cast<double>(total)) {
      const std::size_t group_end = end;
      do {
        --end;
        taken += static_cast<double>(characters[end]);
      } while (!by_document && end > 0 &&
               documents[end - 1].group == documents[group_end - 1].group);
    }
    return std::vector<Document>(documents.begin() + static_cast<std::ptrdiff_t>(end),
                                 documents.begin() + static_cast<std::ptrdiff_t>(last));
  };
  TextSplits splits;
  splits.test = take(test);
  splits.validation = take(validation);
  splits.train.assign(documents.begin(), documents.begin() + static_cast<std::ptrdiff_t>(end));
  return splits;
}

}  // namespace

TaskKey share_key(SplitName held_out) {
  return {fmt::format("task.{}", name_of(held_out)), TaskKey::Real{0.1, Interval("[0, 1)")},
          held_out == SplitName::validation ? "share of the text held out for choosing"
                                            : "share of the text held out for reporting"};
}

Shares shares_of(const TaskConfig& config) {
  const Shares shares{config.real("task.validation"), config.real("task.test")};
  if (shares.validation + shares.test >= 1)
    throw Error(ExitCode::bad_data,
                fmt::format("task.validation = {} and task.test = {}: shares of the text that "
                            "leave nothing for training",
                            shortest(shares.validation), shortest(shares.test)));
  return shares;
}

TextSplits split_corpus(const Corpus& corpus, const TaskConfig& config) {
  const auto [validation, test] = shares_of(config);
  const auto& documents = corpus.documents;
  const bool one_group = std::ranges::all_of(
      documents, [&](const auto& document) { return document.group == documents[0].group; });
  const TextSplits splits = documents.size() == 1
                                ? cut_document(documents[0], validation, test)
                                : deal_out_groups(documents, validation, test, one_group);
  check_filled(splits.validation, validation, "validation");
  check_filled(splits.test, test, "test");
  if (splits.train.empty())
    throw Error(ExitCode::bad_data,
                fmt::format("task.validation = {} and task.test = {} leave no whole document for "
                            "training ({} documents); make them smaller",
                            shortest(validation), shortest(test), documents.size()));
  return splits;
}

}  // namespace headcount
