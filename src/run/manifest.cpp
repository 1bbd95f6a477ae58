#include "run/manifest.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/json.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t kLongest = std::size_t{1} << 28;

Json to_json(const Manifest& manifest) {
  auto trials = Json::array();
  for (const auto& trial : manifest.trials) {
    auto values = Json::object();
    for (const auto& [key, value] : trial.values) values[key] = value;
    trials.push_back({{"id", trial.id},
                      {"slug", trial.slug},
                      {"values", values},
                      {"steps", trial.steps},
                      {"work", trial.work}});
  }
  return {{"schema", Manifest::kSchema},
          {"experiment", manifest.experiment},
          {"spec", manifest.spec},
          {"trials", trials}};
}

// A name that stays within the folder.
std::string name_from(const Json& json) {
  auto name = json.get<std::string>();
  if (name.empty() || name.find('/') != std::string::npos || name.find('\0') != std::string::npos)
    throw Error(ExitCode::bad_data, fmt::format("'{}' names no trial", name));
  return name;
}

Manifest from_json(const Json& json) {
  if (json.is_discarded()) throw Error(ExitCode::bad_data, "it is no JSON");
  if (const auto schema = json.at("schema").get<std::int64_t>(); schema != Manifest::kSchema)
    throw Error(ExitCode::bad_data,
                fmt::format("it has schema {}; this program reads {}", schema, Manifest::kSchema));
  Manifest manifest;
  manifest.experiment = json.at("experiment").get<std::string>();
  manifest.spec = json.at("spec").get<std::string>();
  for (const auto& entry : json.at("trials")) {
    auto& trial = manifest.trials.emplace_back();
    trial.id = name_from(entry.at("id"));
    trial.slug = entry.at("slug").get<std::string>();
    for (const auto& [key, value] : entry.at("values").items())
      trial.values.emplace_back(key, value.get<std::string>());
    trial.steps = entry.at("steps").get<std::int64_t>();
    trial.work = entry.at("work").get<double>();
  }
  return manifest;
}

std::set<std::string> ids_of(const Manifest& manifest) {
  std::set<std::string> ids;
  for (const auto& trial : manifest.trials) ids.insert(trial.id);
  return ids;
}

std::ptrdiff_t count_missing(const std::set<std::string>& wanted,
                             const std::set<std::string>& there) {
  return std::count_if(wanted.begin(), wanted.end(),
                       [&](const std::string& id) { return !there.contains(id); });
}

}  // namespace

Manifest read_manifest(const fs::path& folder) {
  const auto path = folder / Manifest::kName;
  if (!fs::exists(path))
    throw Error(ExitCode::no_input, fmt::format("no run was started in {}: there is no {}",
                                                folder.string(), Manifest::kName));
  const auto text = read_file(path, kLongest);
  try {
    return from_json(parse_json(text));
  } catch (const std::exception& error) {
    throw Error(ExitCode::bad_data, fmt::format("{} is broken: {}; `headcount run` writes it anew",
                                                path.string(), error.what()));
  }
}

void write_manifest(const fs::path& folder, const Manifest& manifest) {
  try {
    if (read_manifest(folder) == manifest) return;
  } catch (const Error&) {  // none, or a broken one: written now
  }
  publish_text(folder / Manifest::kName, to_text(to_json(manifest), 1) + "\n");
}

std::optional<std::string> what_changed(const fs::path& folder, const Manifest& next) {
  if (!fs::exists(folder / Manifest::kName)) return std::nullopt;
  try {
    const auto before = ids_of(read_manifest(folder)), now = ids_of(next);
    const auto added = count_missing(now, before), gone = count_missing(before, now);
    if (added == 0 && gone == 0) return std::nullopt;
    return fmt::format(
        "the spec has changed since the last run: {} trials are new, {} are no longer asked for "
        "(their files stay)",
        added, gone);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace headcount
