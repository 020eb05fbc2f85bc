#include "text/chat_template.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/edge.h"
#include "base/fail.h"
#include "text/chat_context.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/parser.h"
#include "text/utf8.h"

namespace mummu {

struct ChatTemplate::Impl {
  std::vector<Named> named;
  std::vector<Result<jinja::Template>> parsed;  // one each
  Tokens tokens;
};

namespace {

constexpr std::string_view kDefault = "default", kToolUse = "tool_use";

Error located(const Error& error, int line) {
  std::string message = fmt::format("chat template, line {}: {}", line, error.message);
  std::replace(message.begin(), message.end(), '\n', ' ');
  return Error{error.code, std::move(message)};
}

const ChatTemplate::Named* find_named(const std::vector<ChatTemplate::Named>& all,
                                      std::string_view name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& named) { return named.name == name; });
  return found == all.end() ? nullptr : &*found;
}

Result<size_t> choose(const std::vector<ChatTemplate::Named>& all, const ChatOptions& options) {
  const ChatTemplate::Named* chosen = nullptr;
  if (!options.template_name.empty()) {
    chosen = find_named(all, options.template_name);
  } else {
    if (!options.tools.empty()) chosen = find_named(all, kToolUse);
    if (!chosen) chosen = find_named(all, kDefault);
  }
  if (chosen) return static_cast<size_t>(chosen - all.data());
  std::string names;
  for (const auto& named : all) names += (names.empty() ? "" : ", ") + named.name;
  const std::string_view wanted =
      options.template_name.empty() ? kDefault : std::string_view(options.template_name);
  return fail(Error::invalid, "no chat template is called '{}'; there are: {}", wanted, names);
}

Result<void> define_tokens(jinja::Interpreter& in, const ChatTemplate::Tokens& tokens) {
  const auto define = [&](std::string_view name, const std::string& text) -> Result<void> {
    if (text.empty()) return {};
    MUMMU_TRY(jinja::Value value, jinja::make_string(in.heap(), text));
    in.define(name, std::move(value));
    return {};
  };
  MUMMU_TRY(define("bos_token", tokens.bos));
  MUMMU_TRY(define("eos_token", tokens.eos));
  MUMMU_TRY(define("pad_token", tokens.pad));
  MUMMU_TRY(define("unk_token", tokens.unk));
  for (const auto& [name, text] : tokens.more) MUMMU_TRY(define(name, text));
  return {};
}

Result<void> check_tokens(const ChatTemplate::Tokens& tokens) {
  const auto check = [](std::string_view text) -> Result<void> {
    if (!find_invalid_utf8(text)) return {};
    return fail(Error::corrupt, "a token for the chat template is not UTF-8");
  };
  for (const std::string* text : {&tokens.bos, &tokens.eos, &tokens.pad, &tokens.unk}) {
    MUMMU_TRY(check(*text));
  }
  for (const auto& [name, text] : tokens.more) MUMMU_TRY(check(text));
  return {};
}

int64_t clock_seconds() {
  using namespace std::chrono;
  return floor<seconds>(system_clock::now().time_since_epoch()).count();
}

Rendered to_rendered(const jinja::Text& text) {
  Rendered out;
  out.text = text.view();
  out.runs.reserve(text.run_count());
  text.for_runs(0, text.size(), [&](std::string_view run, Level level) {
    out.runs.push_back({run.size(), level});
  });
  return out;
}

template <typename Messages>
Result<Rendered> render_chat(const ChatTemplate::Impl& impl, const Messages& messages,
                             const ChatOptions& options) {
  MUMMU_TRY(const size_t chosen, choose(impl.named, options));
  if (!impl.parsed[chosen]) return impl.parsed[chosen].error();
  jinja::Heap heap;
  MUMMU_TRY(const ChatContext context, make_context(heap, messages, options));
  heap.set_baseline();
  jinja::Interpreter in(*impl.parsed[chosen], heap,
                        options.now == -1 ? clock_seconds() : options.now);
  MUMMU_TRY(define_tokens(in, impl.tokens));
  in.define("messages", context.messages);
  in.define("tools", context.tools);
  in.define("documents", context.documents);
  in.define("add_generation_prompt", jinja::Value::boolean(options.add_generation_prompt));
  for (const auto& [name, value] : context.kwargs.dict().entries()) in.define(name.view(), value);
  jinja::TextBuilder out(heap);
  if (auto done = in.run(out); !done) return located(done.error(), in.line());
  MUMMU_TRY(const jinja::Text text, out.finish());
  return to_rendered(text);
}

}  // namespace

ChatTemplate::ChatTemplate(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
ChatTemplate::ChatTemplate(ChatTemplate&&) noexcept = default;
ChatTemplate& ChatTemplate::operator=(ChatTemplate&&) noexcept = default;
ChatTemplate::~ChatTemplate() = default;

Result<ChatTemplate> ChatTemplate::parse(std::string_view source, Tokens tokens) {
  return at_edge([&]() -> Result<ChatTemplate> {
    MUMMU_TRY(ChatTemplate out,
              parse({{std::string(kDefault), std::string(source)}}, std::move(tokens)));
    if (!out.impl_->parsed.front()) return out.impl_->parsed.front().error();
    return out;
  });
}

Result<ChatTemplate> ChatTemplate::parse(std::vector<Named> templates, Tokens tokens) {
  return at_edge([&]() -> Result<ChatTemplate> {
    if (templates.empty()) return fail(Error::invalid, "no chat template");
    MUMMU_TRY(check_tokens(tokens));
    auto impl = std::make_unique<Impl>();
    for (Named& named : templates) {
      if (find_named(impl->named, named.name))
        return fail(Error::invalid, "two chat templates are called '{}'", named.name);
      auto parsed = jinja::parse_template(named.source);
      if (!parsed) parsed = fail(parsed.error().code, "chat template, {}", parsed.error().message);
      impl->parsed.push_back(std::move(parsed));
      impl->named.push_back(std::move(named));
    }
    impl->tokens = std::move(tokens);
    return ChatTemplate(std::unique_ptr<const Impl>(std::move(impl)));
  });
}

Result<Rendered> ChatTemplate::render(const std::vector<Message>& messages,
                                      const ChatOptions& options) const {
  return at_edge([&] { return render_chat(*impl_, messages, options); });
}

Result<Rendered> ChatTemplate::render_json(std::string_view messages,
                                           const ChatOptions& options) const {
  return at_edge([&] { return render_chat(*impl_, messages, options); });
}

const std::vector<ChatTemplate::Named>& ChatTemplate::templates() const { return impl_->named; }

const ChatTemplate::Tokens& ChatTemplate::tokens() const { return impl_->tokens; }

}  // namespace mummu
