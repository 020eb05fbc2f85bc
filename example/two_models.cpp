// Two models, two engines, one worker: engines of one device share its thread and take turns by
// step; a request goes to the engine whose model made it.

#include <iostream>

#include "mummu/worker.h"

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto device = mummu::open_device("cpu", {.parallel = mummu::Threads(2)});
  if (!device) return std::cerr << device.error().message << "\n", 1;
  auto first = mummu::Model::load(argv[1], *device);
  auto second = mummu::Model::load(argv[1], *device);  // another file, as a rule
  if (!first || !second) return 1;
  auto worker = mummu::Worker::start(*device);
  if (!worker || !worker->add(mummu::Engine(*first, {.kv_tokens = 2048})) ||
      !worker->add(mummu::Engine(*second, {.kv_tokens = 2048})))
    return 1;

  auto a = mummu::complete(*first, "The capital of France is", {.max_tokens = 8});
  auto b = mummu::complete(*second, "The capital of Italy is", {.max_tokens = 8});
  if (!a || !b) return 1;
  auto answer_a = worker->submit_all(*a), answer_b = worker->submit_all(*b);  // both run now
  const auto done_a = answer_a.get(), done_b = answer_b.get();
  if (!done_a || !done_b) return 1;
  std::cout << "first:" << done_a->text << "\nsecond:" << done_b->text << "\n";
  return 0;
}
