// The table of levels, golden/jinja/levels.txt: rows that anyone can add.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "base/test_fixture.h"
#include "mummu/chat.h"

namespace mummu {

namespace {

std::string value_of(const std::string& text) {
  return text.starts_with('"') ? nlohmann::json::parse(text).get<std::string>() : text;
}

// A digit a byte.
std::string digits_of(const Rendered& rendered) {
  std::string out;
  for (const auto& run : rendered.runs)
    out.append(run.size, static_cast<char>('0' + static_cast<int>(run.level)));
  return out;
}

using Settings = std::map<std::string, std::string>;

Result<Rendered> render(Settings& row, bool special) {
  auto chat = ChatTemplate::parse(row["prelude"] + row["template"], {.bos = row["bos"]});
  if (!chat) return chat.error();
  return chat->render_json(row["messages"], {.tools = row["tools"],
                                             .documents = row["documents"],
                                             .kwargs = row["kwargs"],
                                             .special = special,
                                             .now = 1785421930});
}

}  // namespace

TEST(JinjaLevel, every_row_of_the_level_table_holds) {
  std::ifstream file(test::golden("jinja/levels.txt"));
  Settings row;
  int rows = 0, number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    const size_t blank = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, blank);
    row[word] = value_of(line.substr(std::min(blank + 1, line.size())));
    if (word != "levels") continue;
    SCOPED_TRACE(::testing::Message() << "levels.txt:" << number << ": " << row["template"]);
    const auto rendered = render(row, false);
    ASSERT_TRUE(rendered) << rendered.error().message;
    EXPECT_EQ(rendered->text, row["text"]);
    EXPECT_EQ(digits_of(*rendered), row["levels"]);
    const auto special = render(row, true);
    ASSERT_TRUE(special);
    EXPECT_EQ(digits_of(*special), std::string(row["text"].size(), '0'));
    ++rows;
  }
  EXPECT_GT(rows, 60);
}

}  // namespace mummu
