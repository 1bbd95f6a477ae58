#include "task/labelled_text.hpp"

#include "base/error.hpp"
#include "catch.hpp"

using namespace headcount;

TEST_CASE("a line is a text, a tab and its label") {
  using Texts = std::vector<LabelledText>;
  CHECK(labelled_texts("good film\tpos\n bad  film \t neg \n", "f") ==
        Texts{{"good film", "pos"}, {"bad  film", "neg"}});
  CHECK(labelled_texts("a\tx\r\nb\ty", "f") == Texts{{"a", "x"}, {"b", "y"}});
  // A heading in the first line only.
  CHECK(labelled_texts("text\tlabel\na\tx\n", "f") == Texts{{"a", "x"}});
  CHECK(labelled_texts("a\tx\ntext\tlabel\n", "f") == Texts{{"a", "x"}, {"text", "label"}});
}

TEST_CASE("what is no labelled text is told with its line") {
  const auto fails_with = [](const std::string& text, const std::string& what) {
    CHECK_THROWS_WITH(labelled_texts(text, "f.tsv"), ContainsSubstring(what));
  };
  fails_with("a\tx\nno tab\n", "f.tsv:2: there is no tab");
  fails_with("a\tx\n\nb\ty\n", "f.tsv:2: there is no tab");
  fails_with("a\tx\tz\n", "f.tsv:1: there is a second tab");
  fails_with("a\tx\n \tx\n", "f.tsv:2: the text is empty");
  fails_with("a\tx\nb\t \n", "f.tsv:2: the label is empty");
  fails_with("a\tx\nb\t" + std::string(257, 'y'), "f.tsv:2: the label has 257 bytes");
  CHECK(labelled_texts("b\t" + std::string(256, 'y'), "f").size() == 1);
  fails_with("", "f.tsv holds no labelled text");
  fails_with("text\tlabel\n", "f.tsv holds no labelled text");
}
