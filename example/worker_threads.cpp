// Worker: one thread computes, any other may submit and read. Here two threads each hold a
// conversation of their own; their answers do not depend on each other.

#include <iostream>
#include <string>
#include <thread>

#include "mummu/worker.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto device = mummu::open_device("cpu", {.parallel = mummu::Threads(2)});
  if (!device) return std::cerr << device.error().message << "\n", 1;
  auto model = mummu::Model::load(argv[1], *device);
  if (!model) return std::cerr << model.error().message << "\n", 1;
  auto worker = mummu::Worker::start(*device);
  if (!worker) return std::cerr << worker.error().message << "\n", 1;
  if (auto added = worker->add(mummu::Engine(*model, {.kv_tokens = 4096})); !added)
    return std::cerr << added.error().message << "\n", 1;

  std::string answers[2];
  auto ask = [&](const char* question, std::string& answer) {
    auto request = mummu::chat(*model, {{"user", question}}, {.max_tokens = 16});
    if (!request) return;
    auto stream = worker->submit(*request);
    if (!stream) return;  // full: Error::busy, at once
    for (const mummu::Token& token : *stream) answer += token.text;
  };  // dropping the stream early would cancel within one step
  std::jthread first(ask, "Name a colour.", std::ref(answers[0]));
  std::jthread second(ask, "Name a fruit.", std::ref(answers[1]));
  first.join();
  second.join();
  std::cout << answers[0] << "\n" << answers[1] << "\n";
  return answers[0].empty() || answers[1].empty() ? 1 : 0;
}
