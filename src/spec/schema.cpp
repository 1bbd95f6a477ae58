#include "spec/schema.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "spec/lexical.hpp"

namespace headcount {
namespace {

// Sections with a meaning of their own; no key can live there.
constexpr std::array<std::string_view, 6> kReserved{"axis", "scale", "zip",
                                                    "case", "skip",  "claim"};

std::vector<Key> keys_of_every_spec() {
  return {
      {"seed", type::integer(0), "1", "The replicate: which random numbers a trial draws."},
      {"experiment.name", type::label(), "", "Names the folder of results; else the file's name.",
       "", true},
      {"experiment.question", type::text(), "", "What the experiment asks.", "", true},
      {"experiment.source", type::text(), "", "Where the question comes from.", "", true},
      {"experiment.max-trials", type::integer(1, kMostTrials), "10000",
       "A spec that makes more trials is refused.", "", true},
  };
}

}  // namespace

std::string Key::section() const {
  const auto dot = name.find('.');
  return dot == std::string::npos ? "" : name.substr(0, dot);
}

std::string Key::leaf() const { return name.substr(name.find('.') + 1); }

Schema::Schema(std::vector<Key> keys) : keys_(keys_of_every_spec()) {
  std::move(keys.begin(), keys.end(), std::back_inserter(keys_));
  std::map<std::string, std::size_t> rank{{"", 0}};
  for (const auto& key : keys_) rank.emplace(key.section(), rank.size());
  std::stable_sort(keys_.begin(), keys_.end(), [&](const Key& a, const Key& b) {
    return rank.at(a.section()) < rank.at(b.section());
  });
  for (std::size_t i = 0; i < keys_.size(); ++i)
    if (!places_.emplace(keys_[i].name, i).second)
      throw Error(ExitCode::internal, fmt::format("the schema has {} twice", keys_[i].name));
  for (auto& key : keys_) {
    check(key);
    if (key.fallback.is_value() && !key.fallback.text().empty())
      key.fallback = Default(key.type.convert(key.fallback.text()).text);
  }
}

void Schema::check(const Key& key) const {
  const auto require = [&](bool ok, std::string_view why) {
    if (!ok) throw Error(ExitCode::internal, fmt::format("schema key {}: {}", key.name, why));
  };
  require(is_dotted_name(key.name), "not a key name");
  require(std::find(kReserved.begin(), kReserved.end(), key.section()) == kReserved.end(),
          "its section is reserved");
  const bool says_nothing = key.descriptive && key.fallback.text().empty();
  if (key.fallback.is_value() && !says_nothing) {
    const auto value = key.type.convert(key.fallback.text());
    require(value.ok(), fmt::format("default '{}': {}", key.fallback.text(), value.problem));
  }
  if (key.fallback.is_same_as()) {
    const Key* other = find(key.fallback.text());
    require(other != nullptr, "defaults to a key that is not there");
    require(other->type == key.type, "defaults to a key of another type");
    require(!other->fallback.is_same_as() && !other->descriptive,
            "defaults to a key that has no value of its own");
  }
  if (key.fallback.is_by()) {
    const Key* other = find(key.fallback.key());
    require(other != nullptr && other->fallback.is_value() && !other->descriptive,
            "defaults by a key that has no value of its own");
    require(key.type.convert(key.fallback.text()).text == key.fallback.text(),
            "its default is not written as it is stored");
    for (const auto& [value, fallback] : key.fallback.values())
      require(
          other->type.convert(value).text == value && key.type.convert(fallback).text == fallback,
          fmt::format("defaults to '{}' by '{}'", fallback, value));
  }
}

const Key* Schema::find(std::string_view name) const {
  const auto place = places_.find(name);
  return place == places_.end() ? nullptr : &keys_[place->second];
}

std::vector<std::string> Schema::sections() const {
  std::vector<std::string> sections;
  for (const auto& key : keys_)
    if (const auto section = key.section();
        !section.empty() && (sections.empty() || sections.back() != section))
      sections.push_back(section);
  return sections;
}

bool Schema::has_section(std::string_view name) const {
  const std::string start = std::string(name) + ".";
  return std::any_of(keys_.begin(), keys_.end(),
                     [&](const Key& key) { return key.name.compare(0, start.size(), start) == 0; });
}

std::string Schema::suggest(std::string_view name) const {
  const auto leaf = name.substr(name.find('.') + 1);
  std::vector<std::string> names;
  for (const auto& key : keys_) {
    if (key.leaf() == leaf) return fmt::format("; did you mean '{}'?", key.name);
    names.push_back(key.name);
  }
  return suggestion(name, names);
}

}  // namespace headcount
