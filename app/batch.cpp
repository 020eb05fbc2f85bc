// mummu batch MODEL --input in.jsonl --output out.jsonl: every line of a file of chat requests is
// answered, many at once, in the OpenAI batch file format.

#include <filesystem>

#include "batch_run.h"
#include "command.h"

namespace mummu::app {

namespace {

namespace fs = std::filesystem;

struct BatchCommand {
  std::string model = kDefaultModel, input, output, system;
  int64_t parallel = 16, kv_tokens = 0;
  DeviceChoice device;
  LoadChoice load;
  EngineChoice engine;
  SamplingChoice sampling;

  std::string model_name() const;
  EngineOptions engine_options(const Model& loaded) const;
  void run();
};

// What the answers call the model: the known name, or the file's without its ending.
std::string BatchCommand::model_name() const {
  fs::path path(model);
  if (!path.has_filename()) path = path.parent_path();
  if (path.extension() == ".gguf" || path.extension() == ".safetensors") path = path.stem();
  return path.filename().string();
}

EngineOptions BatchCommand::engine_options(const Model& loaded) const {
  constexpr int64_t kTokensEach = 1024;
  EngineOptions options = engine.options();
  const int64_t context = options.context > 0 ? options.context : loaded.info().context;
  options.max_sequences = parallel;
  options.max_waiting = int64_t{1} << 30;
  options.kv_tokens = kv_tokens > 0 ? kv_tokens : std::max(context, parallel * kTokensEach);
  return options;
}

// What would be wrong with every line is told once.
void check_settings(const Model& model, Engine& engine, const RequestOptions& defaults) {
  Request request = take(complete(model, std::vector<TokenId>{0}, defaults));
  take(check(request));
  request.options = {.max_tokens = 1};
  engine.forget(take(engine.admit(std::move(request))));
}

void report(const BatchFigures& done) {
  std::string line = fmt::format("{} lines answered, {} refused", done.answered, done.refused);
  if (done.kept > 0) line += fmt::format(", {} kept from an earlier run", done.kept);
  fmt::print(stderr, "{}, prompts {} tokens, answers {} tokens, {:.1f} s, {:.1f} tok/s\n", line,
             done.prompt_tokens, done.answer_tokens, done.seconds,
             done.seconds > 0 ? static_cast<double>(done.answer_tokens) / done.seconds : 0);
}

void BatchCommand::run() {
  watch_interrupt();
  BatchInput lines(input);
  std::error_code ignored;
  if (fs::equivalent(input, output, ignored) || fs::equivalent(input, output + ".part", ignored))
    fail(fmt::format("{} is the input and the output", input));
  BatchOutput answers(output);
  Device opened = device.open();
  Model loaded = load_model(model, opened, load);
  if (!loaded.chat_template()) fail(fmt::format("{} has no chat template", model));
  JsonModes json(loaded);
  Engine runner(loaded, engine_options(loaded));
  check_settings(loaded, runner, sampling.options);
  BatchRun batch(loaded, json, runner, lines, answers,
                 {.model = model_name(),
                  .system = system,
                  .defaults = sampling.options,
                  .parallel = parallel});
  const BatchFigures done = batch.run();
  if (done.other_models > 0)
    fmt::print(stderr, "{} lines name another model ({}); {} answered them\n", done.other_models,
               done.other_model, model_name());
  report(done);
  if (interrupted())
    fail(fmt::format("stopped; {} holds {} lines, the same command goes on behind them",
                     answers.part(), done.kept + batch.written()));
  answers.finish();
}

}  // namespace

void add_batch(CLI::App& app) {
  auto command = std::make_shared<BatchCommand>();
  CLI::App* sub = app.add_subcommand("batch", "Answer a file of requests, many at once");
  sub->add_option("model", command->model, "A file, a folder or a name")->capture_default_str();
  sub->add_option("-i,--input", command->input,
                  "A file of requests in the OpenAI batch format, one a line; - for stdin")
      ->required();
  sub->add_option("-o,--output", command->output,
                  "The file of answers; FILE.part while it grows. A run that was stopped goes on")
      ->required();
  sub->add_option("--system", command->system, "System message of lines that have none");
  sub->add_option("--parallel", command->parallel, "Answers computed together")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  sub->add_option("--kv-tokens", command->kv_tokens,
                  "Tokens of cache memory for all; 0: one context, or 1024 an answer")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->sampling.add_to(*sub);
  command->engine.add_to(*sub);
  command->load.add_to(*sub);
  command->device.add_to(*sub);
  sub->callback([command] { command->run(); });
}

}  // namespace mummu::app
