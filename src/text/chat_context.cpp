#include "text/chat_context.h"

#include <algorithm>

#include "base/fail.h"
#include "text/jinja/json_read.h"
#include "text/utf8.h"

namespace mummu {

using jinja::DictObject;
using jinja::Heap;
using jinja::Kind;
using jinja::StringObject;
using jinja::Value;

namespace {

// Roles that may be written into a header: a role of any other name is text of whoever sent it.
constexpr std::string_view kRoles[] = {"system", "developer",   "user",    "assistant",
                                       "tool",   "function",    "ipython", "observation",
                                       "model",  "tool_results"};
constexpr std::string_view kModelRoles[] = {"assistant", "model"};
constexpr std::string_view kToolRoles[] = {"tool", "function", "ipython", "observation",
                                           "tool_results"};

// Strings beside a message's text that say what it is.
constexpr std::string_view kLabels[] = {"role", "name", "id", "tool_call_id"};

template <size_t n>
bool one_of(const std::string_view (&set)[n], std::string_view text) {
  return std::find(std::begin(set), std::end(set), text) != std::end(set);
}

void set_level(const Value& string, Level level) {
  string.object<StringObject>().text.set_level(level);
}

// Every string inside a value, keys included.
void set_levels(const Value& value, Level level) {
  if (value.is_string()) set_level(value, level);
  if (value.is_sequence()) {
    for (const Value& item : value.items()) set_levels(item, level);
  }
  if (!value.is(Kind::dict)) return;
  for (const auto& [key, item] : value.dict().entries()) {
    set_levels(key, level);
    set_levels(item, level);
  }
}

// A text, or the text parts of a content that is a list of parts.
void set_text_levels(const Value& content, Level level) {
  if (content.is_string()) set_level(content, level);
  if (!content.is_sequence()) return;
  for (const Value& part : content.items()) {
    if (part.is_string()) set_level(part, level);
    if (!part.is(Kind::dict)) continue;
    const Value* type = part.dict().find("type");
    const Value* text = part.dict().find("text");
    const bool is_text = !type || (type->is_string() && type->view() == "text");
    if (is_text && text && text->is_string()) set_level(*text, level);
  }
}

// Everything in a message was read as content; this is what is not.
void set_message_levels(const Value& message) {
  if (!message.is(Kind::dict)) return;
  const Value* role = message.dict().find("role");
  if (!role || !role->is_string()) return;
  if (one_of(kRoles, role->view())) set_level(*role, Level::templ);
  if (one_of(kToolRoles, role->view())) {
    if (const Value* content = message.dict().find("content")) set_levels(*content, Level::tool);
  }
  if (!one_of(kModelRoles, role->view())) return;
  for (const auto& [key, value] : message.dict().entries()) {
    if (key.view() == "content") {
      set_text_levels(value, Level::model);
    } else if (value.is_string() && !one_of(kLabels, key.view())) {
      set_level(value, Level::model);
    }
  }
}

Result<Value> text_value(Heap& heap, const std::string& text, std::string_view what) {
  if (const auto at = find_invalid_utf8(text))
    return fail(Error::invalid, "{}: not UTF-8 at byte {}", what, *at);
  return jinja::make_string(heap, jinja::Text(text, Level::content));
}

Result<Value> message_value(Heap& heap, const Message& message) {
  if (!message.json.empty()) {
    MUMMU_TRY(Value out, jinja::read_json(heap, message.json, "message", Level::content));
    if (!out.is(Kind::dict)) return fail(Error::invalid, "message: a JSON object expected");
    return out;
  }
  std::vector<DictObject::Entry> entries;
  MUMMU_TRY(Value role_key, jinja::make_string(heap, "role", Level::content));
  MUMMU_TRY(Value role, text_value(heap, message.role, "role"));
  entries.emplace_back(std::move(role_key), std::move(role));
  MUMMU_TRY(Value content_key, jinja::make_string(heap, "content", Level::content));
  MUMMU_TRY(Value content, text_value(heap, message.content, "content"));
  entries.emplace_back(std::move(content_key), std::move(content));
  return jinja::make_dict(heap, std::move(entries));
}

// A JSON array, or None if there is none.
Result<Value> optional_list(Heap& heap, std::string_view json, std::string_view what, Level level) {
  if (json.empty()) return Value::none();
  MUMMU_TRY(Value out, jinja::read_json(heap, json, what, level));
  if (out.is(Kind::list) || out.is_none()) return out;
  return fail(Error::invalid, "{}: a JSON array expected", what);
}

Result<Value> read_kwargs(Heap& heap, std::string_view json) {
  constexpr std::string_view kTaken[] = {"messages", "tools", "documents", "add_generation_prompt"};
  if (json.empty()) return jinja::make_dict(heap, {});
  MUMMU_TRY(Value out, jinja::read_json(heap, json, "kwargs", Level::content));
  if (!out.is(Kind::dict)) return fail(Error::invalid, "kwargs: a JSON object expected");
  for (const auto& entry : out.dict().entries()) {
    if (one_of(kTaken, entry.first.view())) {
      return fail(Error::invalid, "kwargs: '{}' is set by an option of its own",
                  entry.first.view());
    }
  }
  return out;
}

Result<ChatContext> finish(Heap& heap, Value messages, const ChatOptions& options) {
  ChatContext out;
  for (const Value& message : messages.items()) set_message_levels(message);
  out.messages = std::move(messages);
  MUMMU_TRY(out.tools, optional_list(heap, options.tools, "tools", Level::content));
  MUMMU_TRY(out.documents, optional_list(heap, options.documents, "documents", Level::tool));
  MUMMU_TRY(out.kwargs, read_kwargs(heap, options.kwargs));
  if (!options.special) return out;
  for (const Value* value : {&out.messages, &out.tools, &out.documents, &out.kwargs}) {
    set_levels(*value, Level::templ);
  }
  return out;
}

}  // namespace

Result<ChatContext> make_context(Heap& heap, const std::vector<Message>& messages,
                                 const ChatOptions& options) {
  std::vector<Value> items;
  for (const Message& message : messages) {
    MUMMU_TRY(Value value, message_value(heap, message));
    items.push_back(std::move(value));
  }
  MUMMU_TRY(Value list, jinja::make_list(heap, std::move(items)));
  return finish(heap, std::move(list), options);
}

Result<ChatContext> make_context(Heap& heap, std::string_view messages,
                                 const ChatOptions& options) {
  MUMMU_TRY(Value list, jinja::read_json(heap, messages, "messages", Level::content));
  if (!list.is(Kind::list)) return fail(Error::invalid, "messages: a JSON array expected");
  return finish(heap, std::move(list), options);
}

}  // namespace mummu
