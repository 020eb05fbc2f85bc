// The table of single features, golden/jinja/features.txt: rows that anyone can add.

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/test_fixture.h"
#include "mummu/chat.h"

namespace mummu {

namespace {

constexpr int64_t kNow = 1785421930;  // as tool/template_reference.py

// A value of the table: as it stands, or a JSON string.
std::string value_of(const std::string& text) {
  return text.starts_with('"') ? nlohmann::json::parse(text).get<std::string>() : text;
}

struct Row {
  int line;
  std::string variables, source, kind, expected;
};

std::vector<Row> read_table() {
  std::ifstream file(test::golden("jinja/features.txt"));
  std::vector<Row> rows;
  std::string text, variables, source;
  for (int line = 1; std::getline(file, text); ++line) {
    const size_t blank = std::min(text.find(' '), text.size());
    const std::string word = text.substr(0, blank),
                      rest = text.substr(std::min(blank + 1, text.size()));
    if (word == "vars") variables = rest;
    if (word == "template") source = value_of(rest);
    if (word == "expect" || word == "refuse" || word == "unsupported") {
      rows.push_back({line, variables, source, word, value_of(rest)});
    }
  }
  return rows;
}

void check(const Row& row) {
  SCOPED_TRACE(::testing::Message() << "features.txt:" << row.line << ": " << row.source);
  const auto parsed = ChatTemplate::parse(row.source);
  const auto rendered = parsed ? parsed->render({}, {.kwargs = row.variables, .now = kNow})
                               : Result<Rendered>(parsed.error());
  if (row.kind == "expect") {
    ASSERT_TRUE(rendered) << rendered.error().message;
    EXPECT_EQ(rendered->text, row.expected);
    return;
  }
  ASSERT_FALSE(rendered) << rendered->text;
  EXPECT_THAT(rendered.error().message, ::testing::HasSubstr(row.expected));
  EXPECT_TRUE(row.kind == "refuse" || rendered.error().code == Error::unsupported);
}

}  // namespace

TEST(Jinja, every_row_of_the_feature_table_renders_as_the_reference) {
  const std::vector<Row> rows = read_table();
  ASSERT_GT(rows.size(), 150u);
  for (const Row& row : rows) check(row);
}

}  // namespace mummu
