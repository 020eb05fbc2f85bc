// Host loop: the program lends time slices and starts no thread. This is how a game or a GUI that
// draws every few milliseconds would do it.

#include <chrono>
#include <iostream>
#include <string>

#include "mummu/worker.h"

int main(int argc, char** argv) {
  using namespace std::chrono_literals;
  if (argc != 2) return 2;
  auto device = mummu::open_device("cpu");
  if (!device) return std::cerr << device.error().message << "\n", 1;
  auto model = mummu::Model::load(argv[1], *device);
  if (!model) return std::cerr << model.error().message << "\n", 1;
  mummu::Worker worker(*device);
  // Short steps, so that a slice does not take much longer than it should.
  if (!worker.add(mummu::Engine(*model, {.kv_tokens = 4096, .step_ms = 8}))) return 1;
  auto request = mummu::chat(*model, {{"user", "Why is the sea salty?"}}, {.max_tokens = 24});
  if (!request) return std::cerr << request.error().message << "\n", 1;
  auto stream = worker.submit(*request);
  if (!stream) return std::cerr << stream.error().message << "\n", 1;

  std::string label;
  int frames = 0;
  while (!stream->done()) {
    ++frames;  // draw the window here
    if (!worker.run_for(8ms)) return 1;
    while (const mummu::Token* token = stream->try_next()) label += token->text;
  }
  std::cout << label << "\n(" << frames << " frames)\n";
  return label.empty() ? 1 : 0;
}
