#include "text/test/chat_talk.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>

#include "base/test_fixture.h"

namespace mummu::test {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using OnString = std::function<void(const Field&, std::string&)>;

constexpr int64_t kNow = 1785421930;

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string member(const Json& json, const char* key) {
  return json.contains(key) ? json[key].dump() : "";
}

void visit(Json& json, Field field, const OnString& change) {
  if (json.is_string()) change(field, json.get_ref<std::string&>());
  if (json.is_array()) {
    for (Json& item : json) visit(item, field, change);
  }
  if (!json.is_object()) return;
  for (auto& [key, item] : json.items()) visit(item, {key, field.is_models}, change);
}

void visit_text(std::string& text, const OnString& change) {
  if (text.empty()) return;
  Json json = Json::parse(text);
  for (Json& item : json) {
    const bool is_models = item.is_object() && item.value("role", "") == "assistant";
    visit(item, {"", is_models}, change);
  }
  text = json.dump();
}

}  // namespace

std::vector<Talk> talks() {
  std::vector<Talk> out;
  const std::string tools = read_file(golden("jinja/tools/rich.json"));
  for (const auto& entry : fs::directory_iterator(golden("jinja/conversations"))) {
    const Json json = Json::parse(read_file(entry.path()));
    Talk talk{entry.path().stem(), json["messages"].dump(), "", member(json, "documents"),
              member(json, "kwargs")};
    if (talk.name == "control_text") continue;
    out.push_back(talk);
    if (talk.name.find("tool") == std::string::npos) continue;
    talk.tools = tools;
    out.push_back(talk);
  }
  std::ranges::sort(out, {}, [](const Talk& talk) { return talk.name + talk.tools; });
  return out;
}

Result<Rendered> render(const ChatTemplate& chat, const Talk& talk) {
  return chat.render_json(
      talk.messages,
      {.tools = talk.tools, .documents = talk.documents, .kwargs = talk.kwargs, .now = kNow});
}

void for_strings(Talk& talk, const OnString& change) {
  for (std::string* text : {&talk.messages, &talk.tools, &talk.documents}) {
    visit_text(*text, change);
  }
}

std::vector<Source> sources() {
  std::vector<Source> out;
  for (const auto& entry : fs::directory_iterator(fixture("templates"))) {
    out.push_back({entry.path().filename(), read_file(entry.path())});
  }
  std::ranges::sort(out, {}, &Source::name);
  return out;
}

std::set<std::string> inventory(const std::string& source) {
  static const std::regex kToken(
      R"(<\|[^|<>{}'"\s]{1,40}\|>|<｜[^<>{}'"\s]{1,60}｜>|</?[A-Za-z_][A-Za-z0-9_:.-]{0,40}>|\[/?[A-Z_]{3,30}\]|<\|[a-z_]+>|<[a-z_]+\|>|\]<\][a-z]*)");
  std::set<std::string> out;
  for (auto it = std::sregex_iterator(source.begin(), source.end(), kToken);
       it != std::sregex_iterator(); ++it) {
    out.insert(it->str());
  }
  return out;
}

}  // namespace mummu::test
