// Every public template x conversation x tools against golden/jinja/templates.txt, which the
// reference made. A cell that differs is shown in full by tool/check_templates.py.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "base/test_fixture.h"
#include "mummu/chat.h"

namespace mummu {

namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kNow = 1785421930;  // as tool/template_reference.py

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

uint64_t fnv1a(std::string_view text) {
  uint64_t value = 0xCBF29CE484222325;
  for (char c : text) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return value;
}

std::string cell_of(const Result<Rendered>& rendered) {
  if (!rendered) return "!";
  std::ostringstream out;
  out << rendered->text.size() << ':' << std::hex;
  out.width(16);
  out.fill('0');
  out << fnv1a(rendered->text);
  return out.str();
}

struct Conversation {
  std::string messages;
  ChatOptions options;
};

Conversation read_conversation(const std::string& name) {
  const Json json = Json::parse(read_file(test::golden("jinja/conversations/" + name + ".json")));
  Conversation out;
  out.messages = json["messages"].dump();
  out.options.now = kNow;
  out.options.add_generation_prompt = json.value("add_generation_prompt", true);
  if (json.contains("kwargs")) out.options.kwargs = json["kwargs"].dump();
  if (json.contains("documents")) out.options.documents = json["documents"].dump();
  return out;
}

struct Line {
  std::string file, conversation, cells[3];
};

std::vector<Line> read_lines() {
  std::ifstream file(test::golden("jinja/templates.txt"));
  std::vector<Line> out;
  for (std::string text; std::getline(file, text);) {
    if (text.starts_with('#')) continue;
    std::istringstream words(text);
    Line line;
    words >> line.file >> line.conversation >> line.cells[0] >> line.cells[1] >> line.cells[2];
    out.push_back(std::move(line));
  }
  return out;
}

}  // namespace

TEST(ChatGolden, every_template_and_conversation_renders_as_the_reference_or_both_refuse) {
  MUMMU_NEEDS(test::fixture("templates"));
  const std::string tools[] = {"", read_file(test::golden("jinja/tools/simple.json")),
                               read_file(test::golden("jinja/tools/rich.json"))};
  std::map<std::string, Conversation> conversations;
  std::set<std::string> files;
  int cells = 0, refused = 0;
  for (const Line& line : read_lines()) {
    files.insert(line.file);
    const auto chat = ChatTemplate::parse(read_file(test::fixture("templates/" + line.file)),
                                          {.bos = "<s>", .eos = "</s>"});
    if (!conversations.contains(line.conversation)) {
      conversations[line.conversation] = read_conversation(line.conversation);
    }
    const Conversation& conversation = conversations[line.conversation];
    for (int i = 0; i < 3; ++i) {
      ChatOptions options = conversation.options;
      options.tools = tools[i];
      const auto rendered =
          chat ? chat->render_json(conversation.messages, options) : Result<Rendered>(chat.error());
      EXPECT_EQ(cell_of(rendered), line.cells[i])
          << line.file << ' ' << line.conversation << " tools " << i << ' '
          << (rendered ? "" : rendered.error().message);
      ++cells;
      refused += !rendered;
    }
  }
  EXPECT_EQ(files.size(), 70u);
  EXPECT_GE(conversations.size(), 10u);
  RecordProperty("cells", cells);
  RecordProperty("refused", refused);
}

}  // namespace mummu
