#include <filesystem>

#include "base/error.hpp"
#include "catch.hpp"
#include "task/data_source.hpp"
#include "temporary.hpp"

using namespace headcount;
namespace {

Corpus read(const std::string& content, const std::string& separator = "none") {
  const TemporaryFile file(content);
  TaskConfig config;
  config.set("task.data", "file:" + file.path());
  config.set("task.document-separator", separator);
  return find_data_source(config).read(config);
}

std::vector<std::string> texts(const Corpus& corpus) {
  std::vector<std::string> texts;
  for (const auto& document : corpus.documents) texts.push_back(document.text);
  return texts;
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("a file is one document, or cut at its separators") {
  const std::string text = "one\n\n \t\ntwo\nmore\n\fthree\f\f \f";
  CHECK(texts(read(text)) == Texts{text});
  CHECK(texts(read("\n\none\n\n \t\ntwo\nmore\n\n", "blank-line")) ==
        Texts{"one\n", "two\nmore\n"});
  CHECK(texts(read("one\r\n\r\ntwo", "blank-line")) == Texts{"one\r\n", "two"});
  CHECK(texts(read(text, "form-feed")) == Texts{"one\n\n \t\ntwo\nmore\n", "three"});
  const Corpus corpus = read("a\n\nb", "blank-line");
  CHECK(corpus.documents[1].name == "document 2");
  CHECK(corpus.documents[0].group != corpus.documents[1].group);
  CHECK_THROWS_WITH(read("a", "blank-lines"), ContainsSubstring("did you mean 'blank-line'?"));
}

TEST_CASE("a byte order mark is not text") { CHECK(texts(read("\xEF\xBB\xBFhi")) == Texts{"hi"}); }

TEST_CASE("files that hold no text are refused") {
  const auto fails_with = [](const std::string& content, const std::string& what) {
    CHECK_THROWS_WITH(read(content), ContainsSubstring("text.txt") && ContainsSubstring(what));
  };
  fails_with("", "is empty");
  fails_with(" \n\t", "is empty");
  fails_with("\xEF\xBB\xBF", "is empty");
  fails_with(
      "good b\xE4"
      "d",
      "byte 0xe4 at offset 6");
}

TEST_CASE("missing, oversized and unnamed files") {
  const auto code = [](const std::string& data) {
    TaskConfig config;
    config.set("task.data", data);
    try {
      find_data_source(config).read(config);
    } catch (const Error& error) {
      return error.code();
    }
    return ExitCode::success;
  };
  CHECK(code("file:/no/such/file") == ExitCode::no_input);
  CHECK(code("file:/") == ExitCode::no_input);
  CHECK(code("file:") == ExitCode::bad_data);
  const TemporaryFile sparse("x");
  std::filesystem::resize_file(sparse.path(), (std::uintmax_t{1} << 28) + 1);
  CHECK(code("file:" + sparse.path()) == ExitCode::bad_data);
}
