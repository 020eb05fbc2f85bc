#pragma once

// What the commands of `mummu` share: how a command is added, how it fails, and the options that
// several of them take. Data goes to stdout, everything else to stderr.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "mummu/engine.h"
#include "mummu/model.h"
#include "mummu/request.h"

namespace mummu::app {

inline constexpr const char* kDefaultModel = "smollm2-135m-instruct";

inline constexpr int64_t kMaxContext = 1 << 30;  // tokens; what --ctx may ask for at most

// A failed command: one line for stderr, exit code 1. Thrown by commands, caught once in main.
struct Failure {
  std::string line;
};

[[noreturn]] inline void fail(std::string line) { throw Failure{std::move(line)}; }

template <typename T>
T take(Result<T> result) {
  if (!result) fail(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// --device and --threads.
struct DeviceChoice {
  std::string name = "cpu";
  int threads = 0;  // 0: the cores this process may use

  void add_to(CLI::App& command);
  Device open() const;
};

// --quantize and --yes.
struct LoadChoice {
  Quantize quantize = Quantize::none;
  bool yes = false;  // download what is missing without asking

  void add_to(CLI::App& command);
  // With warnings on stderr, each line once, a progress line where that is a terminal, and Ctrl-C.
  LoadOptions options() const;
};

// --ctx and --kv.
struct EngineChoice {
  int64_t context = 0;
  std::string kv = "f16";

  void add_to(CLI::App& command);
  EngineOptions options() const;
};

// The options of a Request.
struct SamplingChoice {
  RequestOptions options;
  bool seed_given = false;

  void add_to(CLI::App& command);
};

// The path of a model: a local path, or a name of the store. What is missing is downloaded with
// `yes`, or after asking on a terminal.
std::string find_model(const std::string& name, bool yes = false);

// Loads with a progress line on a terminal.
Model load_model(const std::string& name, const Device& device, const LoadChoice& choice);

// Clears what LoadChoice::options() shows of a load that is over.
void end_progress_line();

// A number of bytes for people: "98.4 MB".
std::string human_bytes(int64_t bytes);

// Whether somebody pressed Ctrl-C since watch_interrupt() or the last clear_interrupt(). A second
// Ctrl-C before that ends the program at once, or waits like the first.
enum class Twice { ends, waits };
void watch_interrupt(Twice twice = Twice::ends);
void clear_interrupt();
bool interrupted();

// A whole file, or stdin for "-".
std::string read_text(const std::string& path);

void add_run(CLI::App& app);
void add_batch(CLI::App& app);
void add_devices(CLI::App& app);
void add_check(CLI::App& app);
void add_logits(CLI::App& app);
void add_bench(CLI::App& app);
void add_tokenize(CLI::App& app);
void add_detokenize(CLI::App& app);
void add_template(CLI::App& app);
void add_chat(CLI::App& app);
void add_embed(CLI::App& app);
void add_pull(CLI::App& app);
void add_store(CLI::App& app);

}  // namespace mummu::app
