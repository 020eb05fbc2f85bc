// The command line of Mummu: one file a command. Exit codes: 0, 1 (failed: one line on stderr), 2
// (usage).

#include <csignal>
#include <cstdio>

#include "command.h"
#include "mummu/version.h"

namespace {

std::string version_line() {
  std::string isa = "none";
  for (const auto& device : mummu::enumerate_devices()) isa = device.isa;
  return fmt::format("mummu {} contract {} isa {}", mummu::kVersion, mummu::kContract, isa);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace mummu::app;
  CLI::App app("Runs language models on this machine.", "mummu");
  app.set_version_flag("--version", version_line);
  app.require_subcommand(1);
  add_run(app);
  add_chat(app);
  add_batch(app);
  add_embed(app);
  add_pull(app);
  add_store(app);
  add_devices(app);
  add_check(app);
  add_logits(app);
  add_tokenize(app);
  add_detokenize(app);
  add_template(app);
  add_bench(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    const int code = app.exit(e);
    return code == 0 ? 0 : 2;
  } catch (const Failure& failure) {
    fmt::print(stderr, "mummu: {}\n", failure.line);
    return 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "mummu: {}\n", e.what());
    return 1;
  }
  if (std::fflush(stdout) != 0) {
    fmt::print(stderr, "mummu: cannot write to stdout\n");
    return 1;
  }
  return 0;
}
