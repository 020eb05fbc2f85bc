// mummu chat [MODEL]: a conversation. Ctrl-C stops the answer, not the program.

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "line_reader.h"

namespace mummu::app {

namespace {

constexpr const char* kHelp =
    "/system TEXT  start anew with a system message (no TEXT: without one)\n"
    "/clear        forget the conversation\n"
    "/save FILE    write the conversation as JSON\n"
    "/help         this\n"
    "/quit         leave (or Ctrl-D)\n";

struct ChatCommand {
  std::string model = kDefaultModel, system;
  DeviceChoice device;
  LoadChoice load;
  EngineChoice engine;
  SamplingChoice sampling;

  void run();
};

class Conversation {
 public:
  Conversation(const Model& model, Engine& engine, RequestOptions options, std::string system)
      : model_(&model), engine_(&engine), options_(std::move(options)), system_(std::move(system)) {
    clear();
  }

  // False when the person wants to leave.
  bool handle(const std::string& line);

 private:
  void clear();
  void answer(const std::string& text);
  Result<Completion> generate(Request request);
  void save(const std::string& path) const;

  const Model* model_;
  Engine* engine_;
  RequestOptions options_;
  std::string system_;
  std::vector<Message> messages_;
};

void Conversation::clear() {
  messages_.clear();
  if (!system_.empty()) messages_.push_back({"system", system_, {}});
}

bool Conversation::handle(const std::string& line) {
  const size_t space = line.find(' ');
  const std::string word = line.substr(0, space);
  const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
  if (line.find_first_not_of(" \t\r") == std::string::npos) return true;
  if (word == "/quit" || word == "/exit") return false;
  if (word == "/clear") {
    clear();
  } else if (word == "/system") {
    system_ = rest;
    clear();
  } else if (word == "/save") {
    save(rest);
  } else if (word == "/help") {
    fmt::print(stderr, "{}", kHelp);
  } else if (word.starts_with("/")) {
    fmt::print(stderr, "{} is not a command; /help lists them\n", word);
  } else {
    answer(line);
  }
  return true;
}

// Looks for Ctrl-C after every step, so that the reading of a long conversation stops, too.
Result<Completion> Conversation::generate(Request request) {
  const auto id = engine_->admit(std::move(request));
  if (!id) return id.error();
  bool broken = false;
  while (!engine_->done(*id)) {
    if (interrupted() || broken) engine_->cancel(*id);
    if (const Token* token = engine_->take(*id)) {
      std::fwrite(token->text.data(), 1, token->text.size(), stdout);
      broken = std::fflush(stdout) != 0;
    } else if (const auto step = engine_->step(); !step) {
      return step.error();
    }
  }
  return engine_->result(*id);
}

void Conversation::answer(const std::string& text) {
  messages_.push_back({"user", text, {}});
  auto request = chat(*model_, messages_, options_);
  const auto done = request ? generate(std::move(*request)) : Result<Completion>(request.error());
  if (!done) {
    messages_.pop_back();
    const bool full = done.error().code == Error::too_long;
    fmt::print(stderr, "{}{}\n", done.error().message, full ? "; /clear starts anew" : "");
    return;
  }
  fmt::print("\n");
  if (done->finish == Finish::length)
    fmt::print(stderr, "(cut after {} tokens)\n", done->usage.completion_tokens);
  if (interrupted()) fmt::print(stderr, "(stopped)\n");
  if (done->text.empty() && interrupted())
    messages_.pop_back();
  else
    messages_.push_back({"assistant", done->text, {}});
}

void Conversation::save(const std::string& path) const {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const Message& message : messages_)
    out.push_back({{"role", message.role}, {"content", message.content}});
  const std::string text = out.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  const std::string part = path + ".part";
  std::FILE* file = path.empty() ? nullptr : std::fopen(part.c_str(), "wb");
  bool good = file && std::fwrite(text.data(), 1, text.size(), file) == text.size();
  if (file) good = std::fclose(file) == 0 && good;
  std::error_code error;
  if (good) std::filesystem::rename(part, path, error);
  if (good && !error) {
    fmt::print(stderr, "{} messages saved\n", messages_.size());
  } else {
    std::filesystem::remove(part, error);
    fmt::print(stderr, "cannot write {}\n", path.empty() ? "without a file name" : path);
  }
}

void ChatCommand::run() {
  LineReader lines;
  watch_interrupt(lines.is_terminal() ? Twice::waits : Twice::ends);
  Device opened = device.open();
  Model loaded = load_model(model, opened, load);
  if (!loaded.chat_template()) fail(fmt::format("{} has no chat template", model));
  Engine runner(loaded, engine.options());
  Conversation conversation(loaded, runner, sampling.options, system);
  if (lines.is_terminal())
    fmt::print(stderr, "{}; /help lists commands, Ctrl-D leaves\n", loaded.info().name);
  while (true) {
    clear_interrupt();
    const auto line = lines.next("> ");
    if (!line || !conversation.handle(*line)) break;
  }
}

}  // namespace

void add_chat(CLI::App& app) {
  auto command = std::make_shared<ChatCommand>();
  CLI::App* sub = app.add_subcommand("chat", "Talk with a model");
  sub->add_option("model", command->model, "A file, a folder or a name")->capture_default_str();
  sub->add_option("--system", command->system, "System message");
  command->sampling.add_to(*sub);
  command->engine.add_to(*sub);
  command->load.add_to(*sub);
  command->device.add_to(*sub);
  sub->callback([command] { command->run(); });
}

}  // namespace mummu::app
