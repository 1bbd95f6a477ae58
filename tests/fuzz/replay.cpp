// Runs a fuzz target once over every file of the given folders, in the order of their names: the
// seeds and the inputs that once crashed, as an ordinary test.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

#include "base/file.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

namespace fs = std::filesystem;

std::vector<fs::path> files_in(const char* folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

int main(int count, char** folders) try {
  int inputs = 0;
  for (int i = 1; i < count; ++i) {
    for (const auto& file : files_in(folders[i])) {
      std::printf("%s\n", file.c_str());
      std::fflush(stdout);  // the last line names the input that crashed
      const auto bytes = headcount::read_file(file);
      LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      ++inputs;
    }
  }
  std::printf("%d inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
