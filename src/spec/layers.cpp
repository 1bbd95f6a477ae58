#include "spec/layers.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/text.hpp"
#include "spec/axis_values.hpp"
#include "spec/lexical.hpp"

namespace headcount {
namespace {

constexpr std::array<std::string_view, 4> kNotYet{"zip", "case", "skip", "claim"};

// Of all axes and scales of a file: a line of few bytes can ask for kMostTrials of them.
constexpr std::size_t kMostValues = 2 * kMostTrials;

std::string_view first_word(std::string_view name) { return name.substr(0, name.find('.')); }

bool looks_like_a_list(std::string_view value) {
  return value.find(',') != std::string_view::npos || value.find("..") != std::string_view::npos;
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
    const auto& section = text.sections[entry.section].name;
    const std::string full = section.empty() ? entry.key : section + "." + entry.key;
    const std::string& key = part == Part::keys ? full : entry.key;
    if (const auto [first, fresh] = first_places.emplace(full, entry.place); !fresh) {
      problems_.add(entry.place, key,
                    fmt::format("{} is set twice; the first time on line {}", shown(full),
                                first->second.line));
      continue;
    }
    const auto found = look_up(key, entry.value, entry.place);
    if (!found) continue;
    if (part == Part::keys) set_fixed(*found);
    if (part == Part::axis) set_axis(*found);
    if (part == Part::scale) scales_[section.substr(section.find('.') + 1)].push_back(*found);
  }
  for (const auto& [name, entries] : scales_)
    for (const auto& entry : entries) read_override(entry);
}

Layers::Part Layers::part_of(const SpecText::Section& section) {
  const std::string& name = section.name;
  const auto first = first_word(name);
  const auto refuse = [&](std::string message) {
    problems_.add(section.place, "", std::move(message));
    return Part::unknown;
  };
  if (name.empty() || schema_.has_section(name)) return Part::keys;
  if (name == kUnreadableSection) return Part::unknown;  // told by the scan
  if (name == "axis") return Part::axis;
  if (first == "scale" && std::count(name.begin(), name.end(), '.') == 1) {
    scales_.try_emplace(name.substr(name.find('.') + 1));
    return Part::scale;
  }
  if (first == "scale") return refuse(fmt::format("[{}]: write [scale.NAME]", name));
  if (std::find(kNotYet.begin(), kNotYet.end(), first) != kNotYet.end())
    return refuse(
        fmt::format("[{}]: not yet; this version does not read {} sections", name, first));

  if (problems_.full()) return refuse(fmt::format("unknown section {}", shown(name)));
  auto known = schema_.sections();
  known.emplace_back("axis");
  known.push_back("scale" + name.substr(first.size()));
  return refuse(fmt::format("unknown section {}{}", shown(name), suggestion(name, known)));
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

void Layers::set_axis(const Entry& entry) {
  auto values = read_axis(entry);
  if (!values.empty()) axes_.push_back({entry.key->name, std::move(values), entry.place});
}

std::vector<std::string> Layers::read_axis(const Entry& entry) {
  const auto& name = entry.key->name;
  if (entry.key->descriptive) {
    refuse(entry, fmt::format("{} says what the experiment is; it cannot be swept", name));
    return {};
  }
  if (values_read_ > kMostValues) {
    refuse(entry,
           fmt::format("{}: the axes of this spec have more than {} values", name, kMostValues));
    return {};
  }
  auto axis = parse_axis_values(entry.key->type, entry.value);
  values_read_ += axis.values.size();
  for (const auto& problem : axis.problems) refuse(entry, fmt::format("{}: {}", name, problem));
  return std::move(axis.values);
}

std::vector<std::string> Layers::read_override(const Entry& entry) {
  const auto& key = *entry.key;
  if (key.type.may_hold_commas() && is_swept(key.name)) return read_axis(entry);
  auto value = key.type.convert(entry.value);
  if (value.ok()) return {std::move(value.text)};
  const bool may_be_swept = !key.descriptive && !key.type.may_hold_commas();
  if (may_be_swept && looks_like_a_list(entry.value)) return read_axis(entry);
  refuse(entry, fmt::format("{} = {}: {}", key.name, shown(entry.value), value.problem));
  return {};
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

void Layers::apply_set(const std::string& key_and_value) {
  const auto equals = key_and_value.find('=');
  const auto name = trim(std::string_view(key_and_value).substr(0, equals));
  const auto text = shown(key_and_value);
  const Place place{"--set " + text.substr(1, text.size() - 2), 0};
  if (equals == std::string::npos)
    return problems_.add(place, "", "write --set KEY=VALUE, as in --set model.layers=4");
  const auto value = trim(std::string_view(key_and_value).substr(equals + 1));
  if (const auto entry = look_up(name, value, place)) apply_override(*entry);
}

void Layers::apply_override(const Entry& entry) {
  auto values = read_override(entry);
  if (!values.empty()) force(entry.key->name, std::move(values), entry.place);
}

void Layers::force(const std::string& key, std::vector<std::string> values, const Place& place) {
  const auto axis =
      std::find_if(axes_.begin(), axes_.end(), [&](const Axis& swept) { return swept.key == key; });
  if (values.size() == 1) {
    if (axis != axes_.end()) axes_.erase(axis);
    fixed_[key] = {std::move(values.front()), place};
  } else if (axis != axes_.end()) {
    *axis = {key, std::move(values), place};
  } else {
    axes_.push_back({key, std::move(values), place});
  }
}

void Layers::refuse(const Entry& entry, std::string message) {
  sound_ = false;
  problems_.add(entry.place, entry.key->name, std::move(message));
}

bool Layers::is_swept(std::string_view key) const {
  return std::any_of(axes_.begin(), axes_.end(), [&](const Axis& axis) { return axis.key == key; });
}

const Layers::Fixed* Layers::fixed(std::string_view key) const {
  const auto found = fixed_.find(key);
  return found == fixed_.end() ? nullptr : &found->second;
}

Place Layers::place_of(std::string_view key) const {
  for (const auto& axis : axes_)
    if (axis.key == key) return axis.place;
  const auto* setting = fixed(key);
  return setting ? setting->place : Place{file_, 0};
}

}  // namespace headcount
