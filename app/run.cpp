// mummu run [MODEL] PROMPT: one answer, streamed to stdout.

#include <unistd.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

#include "command.h"
#include "mummu/generate.h"
#include "mummu/json_mode.h"

namespace mummu::app {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct RunCommand {
  std::vector<std::string> words;  // [MODEL] PROMPT
  std::string system;
  bool raw = false, json = false, json_mode = false, hash = false;
  DeviceChoice device;
  LoadChoice load;
  EngineChoice engine;
  SamplingChoice sampling;

  std::string model_name() const { return words.size() == 2 ? words[0] : kDefaultModel; }
  std::string prompt() const { return words.back() == "-" ? read_text("-") : words.back(); }
  Result<Request> request(const Model& model) const;
  void run();
};

Result<Request> RunCommand::request(const Model& model) const {
  const std::string text = prompt();
  if (text.empty()) return Error{Error::invalid, "the prompt is empty"};
  if (raw) return complete(model, text, sampling.options);
  std::vector<Message> messages;
  if (!system.empty()) messages.push_back({"system", system, {}});
  messages.push_back({"user", text, {}});
  return chat(model, messages, sampling.options);
}

// Times of one generation, as its events come.
struct Stopwatch {
  Clock::time_point start = Clock::now();
  double first = 0, last = 0;  // seconds from start
  int64_t tokens = 0;

  void tick(const Token& token) {
    last = seconds_since(start);
    if (token.ids.empty()) return;
    if (tokens == 0) first = last;
    tokens += static_cast<int64_t>(token.ids.size());
  }
  double decode_tps() const {
    return tokens > 1 ? static_cast<double>(tokens - 1) / (last - first) : 0;
  }
  double prefill_tps(int64_t prompt) const {
    return first > 0 ? static_cast<double>(prompt) / first : 0;
  }
};

std::string summary(const Completion& done, const Stopwatch& watch, const Model& model, bool hash) {
  const double gbps =
      watch.decode_tps() * static_cast<double>(model.info().read_bytes_per_token) / 1e9;
  std::string line = fmt::format(
      "prompt {} tokens {:.0f} tok/s, first token {:.0f} ms, answer {} tokens {:.1f} tok/s {:.1f} "
      "GB/s, {}",
      done.usage.prompt_tokens, watch.prefill_tps(done.usage.prompt_tokens), watch.first * 1e3,
      done.usage.completion_tokens, watch.decode_tps(), gbps, finish_name(done.finish));
  if (hash) line += fmt::format(", logits {:016x}", done.logits_hash);
  return line;
}

void print_json(const Completion& done, const Stopwatch& watch) {
  nlohmann::ordered_json out;
  out["text"] = done.text;
  out["ids"] = done.ids;
  out["finish"] = finish_name(done.finish);
  out["usage"] = {{"prompt_tokens", done.usage.prompt_tokens},
                  {"cached_tokens", done.usage.cached_tokens},
                  {"completion_tokens", done.usage.completion_tokens}};
  out["first_token_ms"] = watch.first * 1e3;
  out["prefill_tps"] = watch.prefill_tps(done.usage.prompt_tokens);
  out["decode_tps"] = watch.decode_tps();
  out["logits_hash"] = fmt::format("{:016x}", done.logits_hash);
  fmt::print("{}\n", out.dump());
}

void RunCommand::run() {
  watch_interrupt();
  Device opened = device.open();
  Model model = load_model(model_name(), opened, load);
  Request asked = take(request(model));
  std::optional<JsonMode> object;
  if (json_mode) {
    object.emplace(take(JsonMode::make(model.tokenizer())));
    asked.options.constraint = object->constraint();
  }
  take(check(asked));
  Engine runner(model, engine.options());
  Stopwatch watch;
  bool broken_pipe = false;
  Completion done = take(generate(runner, std::move(asked), [&](const Token& token) {
    watch.tick(token);
    if (!json && !token.text.empty()) {
      std::fwrite(token.text.data(), 1, token.text.size(), stdout);
      broken_pipe = std::fflush(stdout) != 0;
    }
    return interrupted() || broken_pipe ? Flow::stop : Flow::go_on;
  }));
  if (json) {
    print_json(done, watch);
  } else if (!done.text.empty() && done.text.back() != '\n' && !broken_pipe) {
    fmt::print("\n");
  }
  fmt::print(stderr, "{}\n", summary(done, watch, model, hash));
}

}  // namespace

void add_run(CLI::App& app) {
  auto command = std::make_shared<RunCommand>();
  CLI::App* sub = app.add_subcommand("run", "Answer one prompt");
  sub->add_option("words", command->words,
                  "[MODEL] PROMPT; MODEL is a file, a folder or a name; PROMPT may be - (stdin)")
      ->required()
      ->expected(1, 2)
      ->type_name("");
  sub->add_flag("--raw", command->raw,
                "Continue the prompt as it stands, without the chat template");
  sub->add_option("--system", command->system, "System message");
  sub->add_flag("--json", command->json, "Print one JSON document instead of the text");
  sub->add_flag("--json-mode", command->json_mode, "The answer is one JSON object");
  sub->add_flag("--hash", command->hash, "Show the hash of all logits that were sampled from");
  command->sampling.add_to(*sub);
  command->engine.add_to(*sub);
  command->load.add_to(*sub);
  command->device.add_to(*sub);
  sub->callback([command] { command->run(); });
}

}  // namespace mummu::app
