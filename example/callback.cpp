// Callback: blocking, in the caller's thread. Two threads compute; without `.parallel` there would
// be none but this one.

#include <iostream>

#include "mummu/generate.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto device = mummu::open_device("cpu", {.parallel = mummu::Threads(2)});
  if (!device) return std::cerr << device.error().message << "\n", 1;
  auto model = mummu::Model::load(argv[1], *device);
  if (!model) return std::cerr << model.error().message << "\n", 1;
  mummu::Engine engine(*model);
  auto request = mummu::chat(*model, {{"user", "Why is the sea salty?"}},
                             {.max_tokens = 48, .temperature = 0.7f, .seed = 42});
  if (!request) return std::cerr << request.error().message << "\n", 1;
  auto done = mummu::generate(engine, *request, [](const mummu::Token& token) {
    std::cout << token.text << std::flush;
    return mummu::Flow::go_on;  // or stop: nothing is computed after it
  });
  if (!done) return std::cerr << done.error().message << "\n", 1;
  std::cout << "\n(" << done->usage.completion_tokens << " tokens)\n";
  return 0;
}
