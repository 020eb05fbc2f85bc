// The host's own threads: the library computes on a pool that the program already has.

#include <atomic>
#include <iostream>
#include <thread>
#include <vector>

#include "mummu/generate.h"

namespace {

// The simplest pool there is; a real host would hand the pieces to its job system.
class HostPool : public mummu::Parallel::Pool {
 public:
  int width() const override { return 2; }
  void for_each(int64_t count, void (*work)(void*, int64_t), void* context) override {
    std::atomic<int64_t> next{0};
    auto help = [&] {
      for (int64_t i = next++; i < count; i = next++) work(context, i);
    };
    std::thread helper(help);
    help();
    helper.join();
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  mummu::DeviceOptions options{.parallel = mummu::Parallel(std::make_unique<HostPool>())};
  auto device = mummu::open_device("cpu", std::move(options));
  if (!device) return std::cerr << device.error().message << "\n", 1;
  auto model = mummu::Model::load(argv[1], *device);
  if (!model) return std::cerr << model.error().message << "\n", 1;
  mummu::Engine engine(*model);
  auto request = mummu::complete(*model, "The capital of France is", {.max_tokens = 8});
  if (!request) return std::cerr << request.error().message << "\n", 1;
  auto done = mummu::generate(engine, *request);
  if (!done) return std::cerr << done.error().message << "\n", 1;
  std::cout << done->text << "\n";
  return 0;
}
