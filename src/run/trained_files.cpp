#include "run/trained_files.hpp"

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

#include "base/error.hpp"
#include "run/manifest.hpp"
#include "store/reader.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

std::vector<fs::path> entries(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> paths;
  for (auto entry = fs::directory_iterator(folder, error);
       !error && entry != fs::directory_iterator(); entry.increment(error))
    paths.push_back(entry->path());
  std::sort(paths.begin(), paths.end());
  return paths;
}

bool is_ours(const fs::path& folder) {
  struct stat found {};
  return ::stat((folder / Manifest::kName).c_str(), &found) == 0 && found.st_uid == ::geteuid();
}

}  // namespace

void TrainedFiles::search(const fs::path& folder, bool beside) {
  add_folder(folder);
  if (!beside) return;
  std::error_code ignored;
  const auto here = fs::canonical(folder, ignored);
  for (const auto& other : entries(here.parent_path()))
    if (other != here && is_ours(other)) add_folder(other);
}

void TrainedFiles::add_folder(const fs::path& folder) {
  for (const auto& path : entries(folder)) {
    if (path.extension() != ".h5") continue;
    try {
      add(ResultFile(path).attribute_text("/", "model_id"), path);
    } catch (const Error&) {  // broken, or no trial file
    }
  }
}

std::optional<fs::path> TrainedFiles::find(const std::string& model_id) const {
  const auto found = files_.find(model_id);
  return found == files_.end() ? std::nullopt : std::optional(found->second);
}

void TrainedFiles::add(const std::string& model_id, const fs::path& path) {
  files_.emplace(model_id, path);
}

}  // namespace headcount
