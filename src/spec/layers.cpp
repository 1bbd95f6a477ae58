#include "spec/layers.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "spec/axis_values.hpp"
#include "spec/lexical.hpp"

namespace headcount {
namespace {

// What is beyond all reason is refused before it takes time or memory.
constexpr std::size_t kMostListed = 2 * kMostTrials;  // values in all lists and ranges together
constexpr std::size_t kMostSkipLines = 500;
constexpr std::size_t kMostClaims = 200;

std::string_view first_word(std::string_view name) { return name.substr(0, name.find('.')); }

std::string after_first_word(const std::string& name) { return name.substr(name.find('.') + 1); }

bool looks_like_a_list(std::string_view value) {
  return value.find(',') != std::string_view::npos || value.find("..") != std::string_view::npos;
}

// "line 4", or the option of the command line.
std::string shown_place(const Place& place) {
  return place.line > 0 ? fmt::format("line {}", place.line) : place.file;
}

std::vector<std::string> row_of(const Layers::Block& zip, std::size_t i) {
  std::vector<std::string> row;
  for (const auto& line : zip.lines) row.push_back(line.values[i]);
  return row;
}

void take_equal_rows_once(Layers::Block& zip) {
  std::set<std::vector<std::string>> seen;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < zip.lines.front().values.size(); ++i) {
    if (!seen.insert(row_of(zip, i)).second) continue;
    for (auto& line : zip.lines) line.values[kept] = line.values[i];
    ++kept;
  }
  for (auto& line : zip.lines) line.values.resize(kept);
}

auto line_of(auto& block, std::string_view key) {
  return std::find_if(block.lines.begin(), block.lines.end(),
                      [&](const Layers::Line& line) { return line.key == key; });
}

}  // namespace

Layers::Layers(const Schema& schema, const SpecText& text, const std::string& file,
               Problems& problems)
    : schema_(schema), file_(file), problems_(problems) {
  std::vector<Part> parts;
  for (const auto& section : text.sections) parts.push_back(part_of(section));

  std::map<std::string, Place> first_places;  // by section and key: duplicates
  for (const auto& entry : text.entries) {
    const Part part = parts[entry.section];
    if (part == Part::unknown) continue;
    const auto& section = text.sections[entry.section];
    const std::string full = section.name.empty() ? entry.key : section.name + "." + entry.key;
    const std::string& key = part == Part::keys ? full : entry.key;
    if (const auto [first, fresh] = first_places.emplace(full, entry.place); !fresh) {
      problems_.add(entry.place, key,
                    fmt::format("{} is set twice; the first time on line {}", shown(full),
                                first->second.line));
      continue;
    }
    if (part == Part::claim)
      add_line(part, section, {key, {entry.value}, entry.place});
    else if (const auto found = look_up(key, entry.value, entry.place))
      add_entry(part, section, *found);
    else if (part != Part::keys && part != Part::scale)
      sound_ = false;  // without the line it cannot be told which points were meant
  }
  for (const auto& [name, entries] : scales_)
    for (const auto& entry : entries) read_override(entry);
  require_lines(text, parts);
  require_few();
  for (const auto& factor : factors_) {
    check_zip(factor);
    check_rows(factor);
  }
}

// Sections that are unknown are told here.
Layers::Part Layers::part_of(const SpecText::Section& section) {
  static const std::map<std::string_view, Part> named{{"zip", Part::zip},
                                                      {"case", Part::extra},
                                                      {"skip", Part::skip},
                                                      {"claim", Part::claim},
                                                      {"scale", Part::scale}};
  const std::string& name = section.name;
  const auto first = first_word(name);
  const auto refuse = [&](std::string message) {
    problems_.add(section.place, "", std::move(message));
    return Part::unknown;
  };
  if (name.empty() || schema_.has_section(name)) return Part::keys;
  if (name == kUnreadableSection) return Part::unknown;  // told by the scan
  if (name == "axis") return Part::axis;
  if (const auto part = named.find(first); part != named.end()) {
    if (std::count(name.begin(), name.end(), '.') != 1)
      return refuse(fmt::format("[{}]: write [{}.NAME]", name, first));
    if (part->second == Part::scale) scales_.try_emplace(after_first_word(name));
    return part->second;
  }
  if (problems_.full()) return refuse(fmt::format("unknown section {}", shown(name)));
  auto known = schema_.sections();
  known.emplace_back("axis");
  for (const auto& [word, part] : named)
    known.push_back(std::string(word) + name.substr(first.size()));
  return refuse(fmt::format("unknown section {}{}", shown(name), suggestion(name, known)));
}

std::vector<Layers::Block>& Layers::blocks_of(Part part) {
  switch (part) {
    case Part::zip:
      return factors_;
    case Part::extra:
      return cases_;
    case Part::skip:
      return skips_;
    case Part::claim:
      return claims_;
    default:
      throw Error(ExitCode::internal, "a section of a spec that is no block");
  }
}

void Layers::add_entry(Part part, const SpecText::Section& section, const Entry& entry) {
  const auto add = [&](std::vector<std::string> values) {
    if (!values.empty()) add_line(part, section, {entry.key->name, std::move(values), entry.place});
  };
  switch (part) {
    case Part::keys:
      return set_fixed(entry);
    case Part::scale:
      return scales_[after_first_word(section.name)].push_back(entry);
    case Part::axis:
    case Part::zip:
      if (!is_second_sweep(entry)) add(read_list(entry, part == Part::zip));
      return;
    case Part::extra:
      if (!entry.key->descriptive) return add(read_plain_or_list(entry));
      return refuse(entry, fmt::format("{} says what the experiment is; a case cannot change it",
                                       entry.key->name));
    default:
      return add(read_list(entry));
  }
}

// A block stands where its first line stands.
void Layers::add_line(Part part, const SpecText::Section& section, Line line) {
  if (part == Part::axis) return factors_.push_back({"", line.place, {std::move(line)}});
  auto& blocks = blocks_of(part);
  const auto [at, fresh] = block_at_.emplace(section.name, blocks.size());
  if (fresh) blocks.push_back({after_first_word(section.name), section.place, {}});
  blocks[at->second].lines.push_back(std::move(line));
}

bool Layers::is_second_sweep(const Entry& entry) {
  const auto& key = entry.key->name;
  const auto* factor = factor_of(key);
  if (factor)
    refuse(entry, fmt::format("{} is swept twice; the first time on {}", key,
                              shown_place(line_of(*factor, key)->place)));
  return factor != nullptr;
}

void Layers::require_lines(const SpecText& text, const std::vector<Part>& parts) {
  std::set<std::string> filled;
  for (const auto& entry : text.entries) filled.insert(text.sections[entry.section].name);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const bool may_be_empty = parts[i] == Part::unknown || parts[i] == Part::keys ||
                              parts[i] == Part::axis || parts[i] == Part::scale;
    const auto& section = text.sections[i];
    if (may_be_empty || filled.count(section.name) > 0) continue;
    sound_ = false;
    problems_.add(section.place, "", fmt::format("[{}] is empty", section.name));
  }
}

// Skips and claims are compared with every trial.
void Layers::require_few() {
  std::size_t skip_lines = 0;
  for (const auto& skip : skips_) {
    if ((skip_lines += skip.lines.size()) <= kMostSkipLines) continue;
    sound_ = false;
    problems_.add(skip.place, "",
                  fmt::format("the skips have more than {} lines in all", kMostSkipLines));
    break;
  }
  if (claims_.size() <= kMostClaims) return;
  sound_ = false;
  problems_.add(claims_[kMostClaims].place, "",
                fmt::format("a spec has at most {} claims", kMostClaims));
  claims_.resize(kMostClaims);
}

std::optional<Layers::Entry> Layers::look_up(std::string_view name, std::string_view value,
                                             const Place& place) {
  if (const Key* key = schema_.find(name)) return Entry{key, std::string(value), place};
  problems_.add(
      place, std::string(name),
      fmt::format("unknown key {}{}", shown(name), problems_.full() ? "" : schema_.suggest(name)));
  return std::nullopt;
}

void Layers::set_fixed(const Entry& entry) {
  auto value = entry.key->type.convert(entry.value);
  if (value.ok())
    fixed_[entry.key->name] = {std::move(value.text), entry.place};
  else
    refuse(entry, fmt::format("{} = {}: {}", entry.key->name, shown(entry.value), value.problem));
}

std::vector<std::string> Layers::read_list(const Entry& entry, bool may_repeat) {
  const auto& key = *entry.key;
  if (key.descriptive) {
    refuse(entry, fmt::format("{} says what the experiment is; it cannot be swept", key.name));
    return {};
  }
  if (listed_ > kMostListed) {
    refuse(entry, fmt::format("the lists of a spec hold at most {} values in all", kMostListed));
    return {};
  }
  auto list = parse_axis_values(key.type, entry.value, may_repeat);
  listed_ += list.values.size();
  for (const auto& problem : list.problems) refuse(entry, fmt::format("{}: {}", key.name, problem));
  if (!list.problems.empty()) return {};
  return std::move(list.values);
}

std::vector<std::string> Layers::read_plain_or_list(const Entry& entry) {
  const auto& key = *entry.key;
  auto value = key.type.convert(entry.value);
  if (value.ok()) return {std::move(value.text)};
  const bool may_be_swept = !key.descriptive && !key.type.may_hold_commas();
  if (may_be_swept && looks_like_a_list(entry.value)) return read_list(entry);
  refuse(entry, fmt::format("{} = {}: {}", key.name, shown(entry.value), value.problem));
  return {};
}

std::vector<std::string> Layers::read_override(const Entry& entry) {
  const auto& key = *entry.key;
  const auto* factor = factor_of(key.name);
  const bool zipped = factor && !factor->name.empty();
  if (zipped || (factor && key.type.may_hold_commas())) return read_list(entry, zipped);
  return read_plain_or_list(entry);
}

void Layers::apply(const std::optional<std::string>& scale, const std::vector<std::string>& sets,
                   bool as_options) {
  if (scale) apply_scale(*scale);
  for (const auto& set : sets) apply_set(set, as_options);
  if (!sound_) return;
  for (auto& factor : factors_) {
    check_zip(factor);
    if (sound_) take_equal_rows_once(factor);
  }
}

void Layers::apply_scale(const std::string& name) {
  const auto scale = scales_.find(name);
  if (scale == scales_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, entries] : scales_) names.push_back(known);
    problems_.add(
        {"--scale " + name, 0}, "",
        fmt::format("{} has no [scale.{}]{}{}", file_, name, suggestion(name, names),
                    names.empty() ? "" : fmt::format(" (it has: {})", join(names, ", "))));
    return;
  }
  for (const auto& entry : scale->second) apply_override(entry);
}

void Layers::apply_set(const std::string& key_and_value, bool as_option) {
  const auto equals = key_and_value.find('=');
  const auto name = trim(std::string_view(key_and_value).substr(0, equals));
  const auto quoted = shown(key_and_value);
  const auto text = std::string_view(quoted).substr(1, quoted.size() - 2);
  const auto dot = text.find('.') + 1, sign = text.find('=');
  const Place place{
      as_option && sign != std::string_view::npos
          ? fmt::format("--{} {}", text.substr(dot, sign - dot), text.substr(sign + 1))
          : fmt::format("--set {}", text),
      0};
  if (equals == std::string::npos)
    return problems_.add(place, "", "write --set KEY=VALUE, as in --set model.layers=4");
  const auto value = trim(std::string_view(key_and_value).substr(equals + 1));
  const auto entry = look_up(name, value, place);
  if (entry && apply_override(*entry)) set_.insert(entry->key->name);
}

bool Layers::apply_override(const Entry& entry) {
  auto values = read_override(entry);
  if (values.empty()) return false;
  force(entry.key->name, std::move(values), entry.place);
  return true;
}

void Layers::force(const std::string& key, std::vector<std::string> values, const Place& place) {
  const auto* swept = factor_of(key);
  if (!swept) {
    if (values.size() == 1)
      fixed_[key] = {std::move(values.front()), place};
    else
      factors_.push_back({"", place, {{key, std::move(values), place}}});
    return;
  }
  auto& factor = factors_[static_cast<std::size_t>(swept - factors_.data())];
  const auto line = line_of(factor, key);
  if (values.size() > 1) {
    *line = {key, std::move(values), place};
    return;
  }
  fixed_[key] = {std::move(values.front()), place};
  factor.lines.erase(line);
  if (factor.lines.empty()) std::erase_if(factors_, [](const Block& f) { return f.lines.empty(); });
}

void Layers::check_zip(const Block& zip) {
  const auto& first = zip.lines.front();
  for (const auto& line : zip.lines) {
    if (line.values.size() == first.values.size()) continue;
    // What the command line says is to blame before what the file says.
    const bool blame_first = first.place.line == 0 && line.place.line > 0;
    const auto& wrong = blame_first ? first : line;
    const auto& other = blame_first ? line : first;
    sound_ = false;
    problems_.add(wrong.place, wrong.key,
                  fmt::format("[zip.{}]: {} has {} values, {} ({}) has {}; keys that move together "
                              "need equally many",
                              zip.name, wrong.key, wrong.values.size(), other.key,
                              shown_place(other.place), other.values.size()));
  }
}

void Layers::check_rows(const Block& zip) {
  if (!sound_) return;
  std::map<std::vector<std::string>, std::size_t> first;
  for (std::size_t i = 0; i < zip.lines.front().values.size(); ++i) {
    const auto [at, fresh] = first.emplace(row_of(zip, i), i);
    if (fresh) continue;
    sound_ = false;
    problems_.add(zip.lines.front().place, zip.lines.front().key,
                  fmt::format("[zip.{}]: its points {} and {} are the same; leave one out",
                              zip.name, at->second + 1, i + 1));
    return;
  }
}

void Layers::refuse(const Entry& entry, std::string message) {
  sound_ = false;
  problems_.add(entry.place, entry.key->name, std::move(message));
}

const Layers::Block* Layers::factor_of(std::string_view key) const {
  for (const auto& factor : factors_)
    if (line_of(factor, key) != factor.lines.end()) return &factor;
  return nullptr;
}

const Layers::Fixed* Layers::fixed(std::string_view key) const {
  const auto found = fixed_.find(key);
  return found == fixed_.end() ? nullptr : &found->second;
}

Place Layers::place_of(std::string_view key) const {
  if (const auto* factor = factor_of(key)) return line_of(*factor, key)->place;
  const auto* setting = fixed(key);
  return setting ? setting->place : Place{file_, 0};
}

}  // namespace headcount
