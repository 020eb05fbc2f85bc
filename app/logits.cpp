// mummu logits MODEL --ids 1,2,3 --out FILE.npy: float32 (tokens, vocab), for comparing with other
// engines.

#include "mummu/logits.h"

#include <cstdio>
#include <filesystem>

#include "command.h"

namespace mummu::app {

namespace {

struct LogitsCommand {
  std::string model, out;
  std::vector<TokenId> ids;
  EngineChoice engine;
  DeviceChoice device;
  LoadChoice load;

  void run();
};

// A version 1.0 header of a C-ordered float32 array, padded to 64 bytes.
//   source   numpy.lib.format's description of the npy format
std::string npy_header(int64_t rows, int64_t columns) {
  std::string text =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  while ((10 + text.size() + 1) % 64 != 0) text += ' ';
  text += '\n';
  std::string header = "\x93NUMPY";
  header += {1, 0, static_cast<char>(text.size() & 255), static_cast<char>(text.size() >> 8)};
  return header + text;
}

void LogitsCommand::run() {
  Device opened = device.open();
  Model loaded = load_model(model, opened, load);
  const std::string part = out + ".part";
  std::FILE* file = std::fopen(part.c_str(), "wb");
  if (!file) fail(fmt::format("cannot write {}", part));
  const std::string header = npy_header(static_cast<int64_t>(ids.size()), loaded.info().vocab);
  bool good = std::fwrite(header.data(), 1, header.size(), file) == header.size();
  auto done =
      compute_logits(loaded, ids, engine.options().kv, [&](int64_t, std::span<const float> row) {
        good = good && std::fwrite(row.data(), sizeof(float), row.size(), file) == row.size();
      });
  good = std::fclose(file) == 0 && good;
  std::error_code error;
  if (done && good) std::filesystem::rename(part, out, error);
  if (!done || !good || error) std::filesystem::remove(part);
  take(std::move(done));
  if (!good || error) fail(fmt::format("cannot write {}", out));
}

}  // namespace

void add_logits(CLI::App& app) {
  auto command = std::make_shared<LogitsCommand>();
  CLI::App* sub = app.add_subcommand("logits", "Write the logits of every position to a .npy file");
  sub->add_option("model", command->model, "A file, a folder or a name")->required();
  sub->add_option("--ids", command->ids, "Token ids, separated by commas")
      ->required()
      ->delimiter(',');
  sub->add_option("--out", command->out, "The .npy file to write: float32 (tokens, vocab)")
      ->required();
  command->engine.add_to(*sub);
  command->load.add_to(*sub);
  command->device.add_to(*sub);
  sub->callback([command] { command->run(); });
}

}  // namespace mummu::app
