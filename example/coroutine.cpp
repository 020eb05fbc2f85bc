// Coroutine: resumes where `ui` says. The event loop below stands for that of a GUI: everything
// that touches its state runs on its thread, and no thread is blocked while the model computes.

#include <condition_variable>
#include <deque>
#include <iostream>
#include <mutex>
#include <string>

#include "mummu/task.h"
#include "mummu/worker.h"

namespace {

class Ui {
 public:
  auto executor() {
    return [this](mummu::Resume resume) {
      const std::lock_guard lock(mutex_);
      posted_.push_back(std::move(resume));
      changed_.notify_one();
    };
  }
  void run_until(const bool& over) {
    while (!over) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !posted_.empty(); });
      mummu::Resume resume = std::move(posted_.front());
      posted_.pop_front();
      lock.unlock();
      resume();
    }
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<mummu::Resume> posted_;
};

mummu::Task<std::string> answer(mummu::Stream stream, Ui& ui) {
  std::string text;
  while (const mummu::Token* token = co_await stream.next(ui.executor())) text += token->text;
  co_return text;
}

mummu::Task<void> show(mummu::Stream stream, Ui& ui, std::string& label) {
  label = co_await answer(std::move(stream), ui);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  auto device = mummu::open_device("cpu", {.parallel = mummu::Threads(2)});
  if (!device) return std::cerr << device.error().message << "\n", 1;
  auto model = mummu::Model::load(argv[1], *device);
  if (!model) return std::cerr << model.error().message << "\n", 1;
  Ui ui;
  auto worker = mummu::Worker::start(*device);
  if (!worker || !worker->add(mummu::Engine(*model, {.kv_tokens = 4096}))) return 1;
  auto request = mummu::chat(*model, {{"user", "Why is the sea salty?"}}, {.max_tokens = 24});
  if (!request) return std::cerr << request.error().message << "\n", 1;
  auto stream = worker->submit(*request);
  if (!stream) return std::cerr << stream.error().message << "\n", 1;

  std::string label;
  bool over = false;
  mummu::spawn(show(*std::move(stream), ui, label), [&](bool) { over = true; });
  ui.run_until(over);
  std::cout << label << "\n";
  return label.empty() ? 1 : 0;
}
