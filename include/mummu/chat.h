#pragma once

// A conversation, rendered by the checkpoint's own template. Every byte of the rendering carries a
// level that says where it came from, so that text of users, tools or the model can never become a
// control token (Tokenizer::encode(Rendered)). ChatTemplate is immutable after parse: any number of
// threads may use it at once.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mummu/export.h"
#include "mummu/result.h"

namespace mummu {

struct Message {
  std::string role{};     // system, user, assistant, tool, ...
  std::string content{};  // UTF-8
  std::string json{};     // if not empty: the whole message as a JSON object (tool calls, content
                          // parts); the two above are ignored
};

// Where a run of rendered text came from; a higher level is trusted less.
enum class Level : uint8_t { templ = 0, model = 1, content = 2, tool = 3 };

struct Rendered {
  struct Run {
    size_t size = 0;  // bytes
    Level level = Level::templ;
  };
  std::string text{};
  std::vector<Run> runs{};  // adjacent, sizes add up to text.size()
};

struct ChatOptions {
  bool add_generation_prompt = true;
  std::string tools = {};      // JSON array of tool definitions; empty: none
  std::string documents = {};  // JSON array; empty: none
  // JSON object of further template variables (enable_thinking, ...); empty: none
  std::string kwargs = {};
  // Which of several named templates; empty: "tool_use" where tools are given and it exists, else
  // "default".
  std::string template_name = {};
  // Every level becomes `templ`: text of users may hold control tokens. Only for trusted text.
  bool special = false;
  int64_t now = -1;  // seconds since 1970 for strftime_now (UTC); -1: the clock
};

// What a template may see besides the conversation: the text of the checkpoint's tokens, as
// bos_token and so on.
struct ChatTokens {
  std::string bos = {}, eos = {}, pad = {}, unk = {};          // empty: undefined in the template
  std::vector<std::pair<std::string, std::string>> more = {};  // {"sep_token", "[SEP]"}, ...
};

class MUMMU_API ChatTemplate {
 public:
  using Tokens = ChatTokens;

  // One of several templates of a checkpoint.
  struct Named {
    std::string name;  // "default", "tool_use", ...
    std::string source;
  };

  //   errors   unsupported (names the construct and the line), invalid (a syntax error, with its
  //   line)
  static Result<ChatTemplate> parse(std::string_view source, Tokens tokens = {});

  // Several at once. One that cannot be parsed is an error only when it is to be rendered.
  //   errors   invalid (none, or two of one name)
  static Result<ChatTemplate> parse(std::vector<Named> templates, Tokens tokens = {});

  // The templates and tokens of a GGUF file, or of a folder (chat_template.jinja and
  // additional_chat_templates/, or tokenizer_config.json).
  //   errors   not_found (no such path, or no template there), corrupt, io, unsupported, invalid
  static Result<ChatTemplate> load(const std::string& path);

  // The tokens of such a file or folder, whether it has a template or not.
  //   errors   not_found, corrupt, io
  static Result<Tokens> load_tokens(const std::string& path);

  ChatTemplate(ChatTemplate&&) noexcept;
  ChatTemplate& operator=(ChatTemplate&&) noexcept;
  ~ChatTemplate();

  // Renders a conversation. Bounded: 10^6 steps, 8 MiB of output, depth 100.
  //   errors   invalid (the template's own raise_exception text, a wrong message or JSON, a bound
  //   reached; with the line)
  Result<Rendered> render(const std::vector<Message>& messages,
                          const ChatOptions& options = {}) const;

  // The same over a JSON array of messages.
  Result<Rendered> render_json(std::string_view messages, const ChatOptions& options = {}) const;

  // The templates, in the order of the file; a single one is called "default".
  const std::vector<Named>& templates() const;
  const Tokens& tokens() const;

  struct Impl;

 private:
  explicit ChatTemplate(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace mummu
