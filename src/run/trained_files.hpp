#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headcount {

// Finished trials by the model they trained (model_id). Each file is opened once; nothing is
// checked but that it says its model: who takes parameters from it looks closer.
class TrainedFiles {
 public:
  // Adds all trial files of a folder, and with `beside` those of the folders beside it that
  // `headcount run` wrote (they hold a sweep.json) for the same user: parameters are not taken from
  // strangers.
  void search(const std::filesystem::path& folder, bool beside);

  std::optional<std::filesystem::path> find(const std::string& model_id) const;
  void add(const std::string& model_id, const std::filesystem::path& path);

 private:
  void add_folder(const std::filesystem::path& folder);

  std::map<std::string, std::filesystem::path> files_;  // the first found
};

}  // namespace headcount
