#include <unistd.h>

#include <atomic>
#include <csignal>
#include <map>
#include <set>

#include "command.h"

namespace mummu::app {

namespace {

const std::map<std::string, KvType> kKvTypes = {
    {"f32", KvType::f32}, {"f16", KvType::f16}, {"bf16", KvType::bf16}, {"q8_0", KvType::q8_0}};

}  // namespace

void DeviceChoice::add_to(CLI::App& command) {
  command.add_option("--device", name, "Device to compute on (see `mummu devices`)")
      ->capture_default_str();
  command.add_option("-t,--threads", threads, "Threads; 0: all cores this process may use")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

Device DeviceChoice::open() const {
  return take(open_device(name, {.parallel = Threads(threads)}));
}

void LoadChoice::add_to(CLI::App& command) {
  const std::map<std::string, Quantize> types = {{"q8_0", Quantize::q8_0},
                                                 {"q4_0", Quantize::q4_0}};
  command.add_option("--quantize", quantize, "Turn F32, F16 and BF16 matrices into q8_0 or q4_0")
      ->transform(CLI::CheckedTransformer(types))
      ->type_name("TYPE");
  command.add_flag("-y,--yes", yes, "Download a model that is not here without asking");
}

void EngineChoice::add_to(CLI::App& command) {
  command.add_option("--ctx", context, "Context in tokens, prompt and answer; 0: the model's own")
      ->check(CLI::Range(int64_t{0}, kMaxContext))
      ->capture_default_str();
  command.add_option("--kv", kv, "Type of cached keys and values")
      ->check(CLI::IsMember({"f16", "f32", "bf16", "q8_0"}))
      ->capture_default_str();
}

EngineOptions EngineChoice::options() const { return {.context = context, .kv = kKvTypes.at(kv)}; }

void SamplingChoice::add_to(CLI::App& command) {
  auto& o = options;
  command.add_option("--max-tokens", o.max_tokens, "Tokens to generate at most")
      ->capture_default_str();
  command.add_option("--temperature", o.temperature, "0: always the likeliest token")
      ->capture_default_str();
  command.add_option("--top-p", o.top_p, "Sample from the likeliest tokens that add up to this")
      ->capture_default_str();
  command.add_option("--top-k", o.top_k, "Sample from this many likeliest tokens; 0: all")
      ->capture_default_str();
  command.add_option("--min-p", o.min_p, "Drop tokens less likely than this times the likeliest")
      ->capture_default_str();
  command
      .add_option("--repetition-penalty", o.repetition_penalty,
                  "Above 1: tokens of prompt and answer become less likely")
      ->capture_default_str();
  command
      .add_option("--presence-penalty", o.presence_penalty,
                  "Above 0: tokens of the answer become less likely")
      ->capture_default_str();
  command
      .add_option("--frequency-penalty", o.frequency_penalty,
                  "The same, for every time that they occur")
      ->capture_default_str();
  command.add_option("--seed", o.seed, "The same seed gives the same answer")
      ->capture_default_str();
  command.add_option("--stop", o.stop, "Text that ends the answer (may be given several times)")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

LoadOptions LoadChoice::options() const {
  LoadOptions options;
  options.quantize = quantize;
  options.log = [](LogLevel level, std::string_view line) {
    static std::set<std::string, std::less<>> told;
    if (level == LogLevel::warning && told.emplace(line).second)
      fmt::print(stderr, "mummu: warning: {}\n", line);
  };
  options.on_progress = [terminal = isatty(STDERR_FILENO) != 0](const LoadProgress& progress) {
    if (terminal && progress.total > 0)
      fmt::print(stderr, "\rloading {:3d} %", progress.bytes * 100 / progress.total);
    return !interrupted();
  };
  return options;
}

void end_progress_line() {
  if (isatty(STDERR_FILENO) != 0) fmt::print(stderr, "\r\x1b[K");
}

Model load_model(const std::string& name, const Device& device, const LoadChoice& choice) {
  auto model = Model::load(find_model(name, choice.yes), device, choice.options());
  end_progress_line();
  return take(std::move(model));
}

std::string human_bytes(int64_t bytes) {
  const char* units[] = {"B", "kB", "MB", "GB", "TB"};
  double value = static_cast<double>(bytes);
  int unit = 0;
  while (value >= 1000 && unit < 4) {
    value /= 1000;
    ++unit;
  }
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, units[unit]);
}

namespace {

std::atomic<bool> interrupt_seen{false};
std::atomic<bool> second_ends{true};

void on_interrupt(int) {
  if (interrupt_seen.exchange(true) && second_ends) _exit(130);
}

}  // namespace

void watch_interrupt(Twice twice) {
  second_ends = twice == Twice::ends;
  std::signal(SIGINT, on_interrupt);
}
void clear_interrupt() { interrupt_seen = false; }
bool interrupted() { return interrupt_seen; }

std::string read_text(const std::string& path) {
  std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
  if (!file) fail(fmt::format("cannot open {}", path));
  std::string text;
  char buffer[65536];
  size_t n = 0;
  while ((n = std::fread(buffer, 1, sizeof buffer, file)) > 0) text.append(buffer, n);
  const bool broken = std::ferror(file) != 0;
  if (file != stdin) std::fclose(file);
  if (broken) fail(fmt::format("cannot read {}", path));
  return text;
}

}  // namespace mummu::app
