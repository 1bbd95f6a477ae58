#include "task/data_source.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "task/utf8.hpp"

namespace headcount {

const Registry<DataSource>& data_sources() {
  static const Registry<DataSource> registry("data source", {
#define HEADCOUNT_ENTRY(entry) entry(),
#include "task/data_sources.def"
#undef HEADCOUNT_ENTRY
                                                            });
  return registry;
}

const DataSource& find_data_source(const TaskConfig& config) {
  const std::string_view data = config.text("task.data");
  for (const auto prefix : {kFilePrefix, kConlluPrefix})
    if (data.starts_with(prefix)) return data_sources().at(std::string(prefix) + "PATH");
  return data_sources().at(data);
}

void require_source(const TaskConfig& config, bool has, std::string_view what) {
  if (!has)
    throw Error(ExitCode::bad_data,
                fmt::format("task.kind = {} needs {}, and task.data = {} has none; headcount list "
                            "data tells what each source has",
                            config.text("task.kind"), what, config.text("task.data")));
}

std::string path_of(const TaskConfig& config, std::string_view prefix) {
  std::string path = config.text("task.data").substr(prefix.size());
  if (path.empty())
    throw Error(ExitCode::bad_data,
                fmt::format("task.data = {} names no file; write {}PATH", prefix, prefix));
  return path;
}

std::string read_text_file(const std::string& path) {
  constexpr std::size_t kLargestFile = std::size_t{1} << 28;
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string text = read_file(path, kLargestFile);
  check_utf8(text, path);
  if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
  return text;
}

}  // namespace headcount
