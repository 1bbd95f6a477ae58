#include "task/data_austen.hpp"

#include <algorithm>
#include <exception>
#include <fstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file.hpp"
#include "base/sha256.hpp"
#include "base/text.hpp"
#include "task/debian_package.hpp"
#include "task/process.hpp"
#include "task/r_data.hpp"
#include "task/utf8.hpp"

namespace headcount {
namespace fs = std::filesystem;
namespace {

constexpr const char* kPackage = "r-cran-janeaustenr";
constexpr const char* kFileInPackage = "usr/lib/R/site-library/janeaustenr/data/Rdata.rdb";
constexpr std::size_t kLargestFile = std::size_t{1} << 26;
constexpr const char* kChecksums = "SHA256SUMS";

std::string lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string file_name(std::string_view novel) {
  std::string name(novel);
  std::ranges::replace(name, ' ', '_');
  return name + ".txt";
}

// "Chapter 12", "CHAPTER XII": the word and a number, nothing else.
bool is_heading(std::string_view line, std::string_view word) {
  const std::string lower = lower_case(trim(line));
  if (!lower.starts_with(word) || lower.size() <= word.size() + 1 || lower[word.size()] != ' ')
    return false;
  const std::string_view number = std::string_view(lower).substr(word.size() + 1);
  return number.find_first_not_of("0123456789") == std::string_view::npos ||
         number.find_first_not_of("ivxlc") == std::string_view::npos;
}

void write(const fs::path& path, const std::string& text) {
  publish_file(path, [&](const fs::path& temporary) {
    std::ofstream stream(temporary, std::ios::binary);
    stream << text << std::flush;
    if (!stream) throw Error(ExitCode::io, fmt::format("cannot write {}", temporary.string()));
  });
}

// Novels with their checksums, the checksums last: without them the folder does not count.
void write_cache(const fs::path& folder, const std::vector<std::string>& novels) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw Error(ExitCode::cannot_create,
                fmt::format("cannot create {}: {}", folder.string(), error.message()));
  std::string checksums;
  for (std::size_t i = 0; i < kNovels.size(); ++i) {
    const std::string name = file_name(kNovels[i]);
    write(folder / name, novels[i]);
    checksums += fmt::format("{}  {}\n", sha256_hex(novels[i]), name);
  }
  write(folder / kChecksums, checksums);
}

// Nothing where a file is missing or is not what its checksum says.
std::vector<std::string> read_cache(const fs::path& folder) {
  if (!fs::exists(folder / kChecksums)) return {};
  const std::string checksums = read_file(folder / kChecksums, 4096);
  std::vector<std::string> novels;
  for (const auto novel : kNovels) {
    const std::string name = file_name(novel);
    if (!fs::exists(folder / name)) return {};
    novels.push_back(read_file(folder / name, kLargestFile));
    const std::string line = fmt::format("{}  {}\n", sha256_hex(novels.back()), name);
    if (checksums.find(line) == std::string::npos) return {};
  }
  return novels;
}

std::vector<std::string> fetch() {
  if (const fs::path installed = fs::path("/") / kFileInPackage; fs::exists(installed))
    return novels_from_r_data(read_file(installed, kLargestFile));
  try {
    const TemporaryFolder folder;
    const fs::path tree = unpack_debian_package(kPackage, folder.path());
    return novels_from_r_data(read_file(tree / kFileInPackage, kLargestFile));
  } catch (const std::exception& error) {
    throw Error(
        ExitCode::no_input,
        fmt::format("cannot fetch task.data = austen, the package {}: {}\nIt takes apt-get, "
                    "dpkg-deb and a way to the distribution's archive. Without them, install "
                    "the package by other means, or use task.data = file:PATH or "
                    "synthetic.recall",
                    kPackage, error.what()));
  }
}

Corpus read(const TaskConfig&) {
  const fs::path folder = cache_directory() / "austen";
  std::vector<std::string> novels = read_cache(folder);
  if (novels.empty()) {
    novels = fetch();
    write_cache(folder, novels);
  }
  Corpus corpus{folder.string(), {}};
  for (std::size_t i = 0; i < kNovels.size(); ++i) {
    check_utf8(novels[i], (folder / file_name(kNovels[i])).string());
    for (auto& chapter : chapters_of(kNovels[i], novels[i]))
      corpus.documents.push_back(std::move(chapter));
  }
  return corpus;
}

}  // namespace

std::vector<std::string> novels_from_r_data(std::string_view file) {
  std::vector<std::string> novels(kNovels.size());
  for (const auto& lines : read_r_character_vectors(file, kLargestFile)) {
    const auto novel =
        std::ranges::find(kNovels, lines.empty() ? "" : lower_case(trim(lines.front())));
    if (novel == kNovels.end()) continue;
    std::string& text = novels[static_cast<std::size_t>(novel - kNovels.begin())];
    for (const auto& line : lines) text += line + '\n';
  }
  for (std::size_t i = 0; i < kNovels.size(); ++i)
    if (novels[i].empty())
      throw Error(ExitCode::bad_data,
                  fmt::format("{} of {} does not hold '{}'", kFileInPackage, kPackage, kNovels[i]));
  return novels;
}

std::vector<Document> chapters_of(std::string_view novel, std::string_view text) {
  std::vector<Document> chapters;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    if (is_heading(line, "chapter"))
      chapters.push_back(
          {fmt::format("{}/chapter {}", novel, chapters.size() + 1), std::string(novel), ""});
    if (!chapters.empty() && !is_heading(line, "volume")) chapters.back().text += line;
    at = end;
  }
  if (chapters.empty())
    throw Error(ExitCode::bad_data, fmt::format("no chapter is found in '{}'", novel));
  return chapters;
}

DataSource austen_source() {
  return {{"austen",
           "the six novels of Jane Austen, 4 MB; documents are chapters, splits are whole novels",
           "Debian package r-cran-janeaustenr; the texts are in the public domain"},
          {},
          read,
          nullptr};
}

}  // namespace headcount
