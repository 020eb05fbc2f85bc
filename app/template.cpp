// mummu template [MODEL] --messages FILE.json: the rendering of a conversation, and nothing else.

#include <chrono>
#include <ctime>

#include "command.h"
#include "mummu/chat.h"

namespace mummu::app {

namespace {

struct TemplateCommand {
  std::string model, messages, source, tools, documents, kwargs, now;
  bool no_generation_prompt = false;

  ChatTemplate choose() const;
  void run() const;
};

// Seconds since 1970 of 2024-07-26, 2024-07-26T12:30 or 2024-07-26T12:30:00, as UTC.
int64_t parse_time(const std::string& text) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, used = 0;
  const int fields = std::sscanf(text.c_str(), "%4d-%2d-%2d%n%*1[T ]%2d:%2d%n:%2d%n", &year, &month,
                                 &day, &used, &hour, &minute, &used, &second, &used);
  const bool whole = static_cast<size_t>(used) == text.size() ||
                     (static_cast<size_t>(used) + 1 == text.size() && text.back() == 'Z');
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  const bool in_range = date.ok() && hour >= 0 && hour < 24 && minute >= 0 && minute < 60 &&
                        second >= 0 && second < 61;
  if (fields < 3 || fields == 4 || !whole || !in_range)
    fail(fmt::format("--now {}: an ISO time like 2024-07-26T12:30:00 expected", text));
  const auto days = std::chrono::sys_days(date).time_since_epoch();
  return std::chrono::duration_cast<std::chrono::seconds>(days).count() + hour * 3600 +
         minute * 60 + second;
}

// The model's own template, or another one with the model's tokens.
ChatTemplate TemplateCommand::choose() const {
  if (source.empty()) return take(ChatTemplate::load(find_model(model)));
  ChatTemplate::Tokens tokens;
  if (!model.empty()) tokens = take(ChatTemplate::load(find_model(model))).tokens();
  return take(ChatTemplate::parse(read_text(source), std::move(tokens)));
}

void TemplateCommand::run() const {
  if (model.empty() && source.empty()) fail("a MODEL or --template FILE.jinja is needed");
  const ChatTemplate chosen = choose();
  ChatOptions options;
  options.add_generation_prompt = !no_generation_prompt;
  if (!tools.empty()) options.tools = read_text(tools);
  if (!documents.empty()) options.documents = read_text(documents);
  options.kwargs = kwargs;
  if (!now.empty()) options.now = parse_time(now);
  const Rendered rendered = take(chosen.render_json(read_text(messages), options));
  std::fwrite(rendered.text.data(), 1, rendered.text.size(), stdout);
}

}  // namespace

void add_template(CLI::App& app) {
  auto command = std::make_shared<TemplateCommand>();
  CLI::App* sub = app.add_subcommand("template", "Render a conversation by a chat template");
  sub->add_option("model", command->model,
                  "A file, a folder or a name whose template and tokens to use");
  sub->add_option("--messages", command->messages, "A JSON array of messages; - for stdin")
      ->required();
  sub->add_option("--template", command->source, "A template file, instead of the model's own");
  sub->add_option("--tools", command->tools, "A JSON array of tools");
  sub->add_option("--documents", command->documents, "A JSON array of documents");
  sub->add_option("--kwargs", command->kwargs, "A JSON object of further variables");
  sub->add_option("--now", command->now, "The time that strftime_now sees, ISO, UTC");
  sub->add_flag("--no-generation-prompt", command->no_generation_prompt,
                "Do not open an answer at the end");
  sub->callback([command] { command->run(); });
}

}  // namespace mummu::app
