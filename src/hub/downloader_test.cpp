#include "mummu/downloader.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <thread>

#include "async/test/number_channel.h"
#include "hub/installed.h"
#include "hub/test/bench.h"
#include "mummu/task.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using test::HubBench;
using test::kFolderModel;
using test::kGgufModel;
using test::read_file;

DownloadStream add(Downloader& downloader, const std::string& name) {
  auto stream = downloader.add(name);
  EXPECT_TRUE(stream) << stream.error().message;
  return stream ? *std::move(stream) : DownloadStream();
}

// The last progress that was read.
DownloadProgress read_to_its_end(DownloadStream& stream) {
  DownloadProgress last;
  for (const DownloadProgress& progress : stream) last = progress;
  return last;
}

TEST(Downloader, with_a_thread_of_its_own_brings_two_at_a_time) {
  HubBench bench;
  bench.put_folder_model();
  const std::string content = bench.put_gguf(700'000);
  auto downloader = Downloader::start(bench.options);
  ASSERT_TRUE(downloader) << downloader.error().message;
  auto folder = add(*downloader, kFolderModel), file = add(*downloader, kGgufModel);
  EXPECT_EQ(read_to_its_end(folder).phase, DownloadProgress::Phase::done);
  EXPECT_EQ(read_to_its_end(file).bytes, 700'000);
  const auto one = folder.result(), other = file.result();
  ASSERT_TRUE(one && other);
  bench.expect_folder_model(*one);
  EXPECT_TRUE(read_file(other->path) == content);
  EXPECT_EQ(file.result().error().code, Error::invalid) << "it was taken";
}

TEST(Downloader, that_is_lent_a_thread_does_nothing_without_it) {
  HubBench bench;
  const std::string content = bench.put_gguf(700'000);
  auto downloader = Downloader::make(bench.options);
  auto stream = add(*downloader, kGgufModel);
  EXPECT_EQ(stream.next_until(std::chrono::steady_clock::now() + milliseconds(5)).why(),
            Pull::timeout);
  EXPECT_EQ(stream.result().error().code, Error::invalid) << "not read to its end";
  EXPECT_EQ(bench.hub.log().size(), 0u);
  EXPECT_TRUE(downloader->drain());
  read_to_its_end(stream);
  const auto done = stream.result();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
  EXPECT_EQ(downloader->add(kGgufModel).error().code, Error::invalid) << "it was drained";
}

TEST(Downloader, is_driven_by_an_event_loop_through_descriptors_and_timeouts) {
  HubBench bench;
  const std::string content = bench.put_gguf(700'000);
  auto downloader = Downloader::make(bench.options);
  bool has_work = false;
  ASSERT_TRUE(downloader->on_work([&] { has_work = true; }));
  EXPECT_EQ(*downloader->run_once(), Turn::idle);
  auto stream = add(*downloader, kGgufModel);
  EXPECT_TRUE(has_work);
  bool saw_descriptor = false;
  while (*downloader->run_once() == Turn::more) {
    std::vector<pollfd> fds;
    for (const Downloader::PollFd& fd : downloader->poll_fds())
      fds.push_back(
          {.fd = fd.fd,
           .events = static_cast<short>((fd.read ? POLLIN : 0) | (fd.write ? POLLOUT : 0)),
           .revents = 0});
    saw_descriptor = saw_descriptor || !fds.empty();
    const auto timeout = downloader->next_timeout();
    EXPECT_LE(timeout.count(), 1000);
    ::poll(fds.data(), fds.size(), static_cast<int>(timeout.count()));
  }
  EXPECT_TRUE(saw_descriptor);
  EXPECT_EQ(*downloader->run_for(milliseconds(1)), Turn::idle);
  read_to_its_end(stream);
  EXPECT_TRUE(read_file(stream.result()->path) == content);
}

Task<Result<Downloaded>> fetch(DownloadStream stream, test::Pool& where) {
  while (const DownloadProgress* progress = co_await stream.next(where.executor())) (void)progress;
  co_return stream.result();
}

TEST(Downloader, can_be_awaited_by_a_coroutine) {
  HubBench bench;
  const std::string content = bench.put_gguf(700'000);
  auto downloader = Downloader::start(bench.options);
  test::Pool pool(1);
  const auto done = sync_wait(fetch(add(*downloader, kGgufModel), pool));
  ASSERT_TRUE(done && *done) << done->error().message;
  EXPECT_TRUE(read_file((*done)->path) == content);
}

TEST(Downloader, two_that_are_awaited_come_at_the_same_time) {
  HubBench bench;
  bench.put_folder_model();
  const std::string content = bench.put_gguf(700'000);
  auto downloader = Downloader::start(bench.options);
  test::Pool pool(1);
  const auto done = sync_wait(when_all(fetch(add(*downloader, kGgufModel), pool),
                                       fetch(add(*downloader, kFolderModel), pool)));
  ASSERT_TRUE(done);
  const auto& [file, folder] = *done;
  ASSERT_TRUE(file && folder);
  EXPECT_TRUE(read_file(file->path) == content);
  bench.expect_folder_model(*folder);
}

TEST(Downloader, cancel_from_another_thread_leaves_what_the_next_one_goes_on_with) {
  HubBench bench;
  constexpr int64_t kBytes = 6 << 20;
  const std::string content = bench.put_gguf(kBytes);
  bench.hub.fault("stall", "m.gguf", {{"at", kBytes / 2}, {"times", 100}, {"host", "cdn"}});
  auto downloader = Downloader::start(bench.options);
  auto stream = add(*downloader, kGgufModel);
  while (const DownloadProgress* progress = stream.next())
    if (progress->bytes == kBytes / 2) break;
  std::jthread([cancel = stream.canceller()] { cancel(); }).join();
  read_to_its_end(stream);
  EXPECT_EQ(stream.result().error().code, Error::cancelled);
  EXPECT_EQ(hub::find_installed(bench.store.path(), {.repository = kGgufModel}), std::nullopt);
  bench.hub.clear();
  auto again = add(*downloader, kGgufModel);
  read_to_its_end(again);
  const auto done = again.result();
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
  EXPECT_EQ(done->fetched, kBytes - kBytes / 2);
}

// A stalled download of which half is here.
struct HalfBench : HubBench {
  static constexpr int64_t kBytes = 6 << 20;
  HalfBench() {
    hub.fault("stall", "m.gguf", {{"at", kBytes / 2}, {"times", 100}, {"host", "cdn"}});
  }
  void expect_the_rest_comes() {
    hub.clear();
    const auto done = download(kGgufModel, options);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(read_file(done->path) == content);
    EXPECT_EQ(done->fetched, kBytes - kBytes / 2);
  }
  std::string content = put_gguf(kBytes);
};

TEST(Downloader, a_coroutine_that_is_stopped_leaves_what_the_next_one_goes_on_with) {
  HalfBench bench;
  test::Pool pool(1);
  {
    auto downloader = Downloader::start(bench.options);
    std::stop_source stop;
    const auto fetch = [](DownloadStream stream, test::Pool& where,
                          std::stop_source* until) -> Task<int> {
      while (const DownloadProgress* progress = co_await stream.next(where.executor()))
        if (progress->bytes == HalfBench::kBytes / 2) until->request_stop();
      co_return static_cast<int>(stream.done());
    };
    const auto ended =
        sync_wait(fetch(add(*downloader, kGgufModel), pool, &stop), stop.get_token());
    ASSERT_TRUE(ended);
    EXPECT_EQ(*ended, 0) << "it was left in the middle";
  }
  bench.expect_the_rest_comes();
}

TEST(Downloader, one_of_two_that_is_cancelled_leaves_its_part_and_the_other_whole) {
  HalfBench bench;
  bench.put_folder_model();
  {
    auto downloader = Downloader::start(bench.options);
    auto file = add(*downloader, kGgufModel), folder = add(*downloader, kFolderModel);
    while (const DownloadProgress* progress = file.next())
      if (progress->bytes == HalfBench::kBytes / 2) break;
    file.cancel();
    read_to_its_end(folder);
    const auto done = folder.result();
    ASSERT_TRUE(done) << done.error().message;
    bench.expect_folder_model(*done);
  }
  bench.expect_the_rest_comes();
}

TEST(Downloader, a_dropped_download_frees_its_place_for_another_of_the_same_file) {
  HubBench bench;
  const std::string content = bench.put_gguf(700'000);
  auto downloader = Downloader::make(bench.options);
  {
    auto dropped = add(*downloader, kGgufModel);
    for (int i = 0; i < 3; ++i) (void)downloader->run_once();
  }
  auto stream = add(*downloader, kGgufModel);
  EXPECT_TRUE(downloader->drain());
  read_to_its_end(stream);
  EXPECT_TRUE(read_file(stream.result()->path) == content);
}

TEST(Downloader, stop_ends_a_wait_and_refuses_new_ones) {
  HubBench bench;
  bench.put_gguf(700'000);
  bench.hub.fault("stall", "m.gguf", {{"at", 1}, {"times", 100}, {"host", "cdn"}});
  auto downloader = Downloader::start(bench.options);
  auto stream = add(*downloader, kGgufModel);
  std::thread stops([&] { downloader->stop(); });
  read_to_its_end(stream);
  stops.join();
  EXPECT_EQ(stream.result().error().code, Error::cancelled);
  EXPECT_EQ(downloader->add(kGgufModel).error().code, Error::invalid);
}

TEST(Downloader, its_destructor_ends_the_wait_of_a_stream_that_nobody_drove) {
  HubBench bench;
  bench.put_gguf(1000);
  DownloadStream stream;
  {
    auto downloader = Downloader::make(bench.options);
    stream = add(*downloader, kGgufModel);
  }
  EXPECT_EQ(stream.next().why(), Pull::end);
  EXPECT_EQ(stream.result().error().code, Error::cancelled);
}

TEST(Downloader, may_be_destroyed_in_a_function_it_called) {
  HubBench bench;
  bench.put_gguf(1000);
  auto downloader = std::make_unique<Downloader>(*Downloader::make(bench.options));
  auto stream = add(*downloader, kGgufModel);
  bool called = false;
  ASSERT_TRUE(stream.on_ready([&] {
    downloader.reset();
    called = true;
  }));
  Downloader* raw = downloader.get();
  while (!called) (void)raw->run_for(milliseconds(100));
  EXPECT_FALSE(downloader);
}

TEST(Downloader, a_wrong_name_is_told_on_the_thread_that_adds_it) {
  HubBench bench;
  auto downloader = Downloader::start(bench.options);
  EXPECT_EQ(downloader->add("../x").error().code, Error::invalid);
  EXPECT_EQ(downloader->add("no-such-entry").error().code, Error::invalid);
}

TEST(Downloader, one_refusal_ends_one_download_alone) {
  HubBench bench;
  const std::string content = bench.put_gguf(700'000);
  auto downloader = Downloader::start(bench.options);
  auto wrong = add(*downloader, "maker/absent"), right = add(*downloader, kGgufModel);
  read_to_its_end(wrong);
  read_to_its_end(right);
  EXPECT_EQ(wrong.result().error().code, Error::not_found);
  EXPECT_TRUE(read_file(right.result()->path) == content);
}

TEST(Downloader, threads_that_add_and_cancel_at_random_get_files_or_cancelled) {
  HubBench bench;
  const std::string content = bench.put_gguf(300'000);
  bench.put_folder_model();
  auto downloader = Downloader::start(bench.options);
  std::vector<std::jthread> threads;
  std::atomic<int> brought = 0, cancelled = 0;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (int i = 0; i < 6; ++i) {
        auto stream = add(*downloader, (thread + i) % 2 == 0 ? kGgufModel : kFolderModel);
        for (int read = 0; read < thread * i; ++read)
          if (!stream.next()) break;
        if (i % 3 == 1) stream.cancel();
        read_to_its_end(stream);
        const auto done = stream.result();
        if (done) ++brought;
        if (!done) {
          EXPECT_EQ(done.error().code, Error::cancelled) << done.error().message;
          ++cancelled;
        }
      }
    });
  threads.clear();
  EXPECT_EQ(brought + cancelled, 24);
  EXPECT_GE(brought, 16) << "those that were not cancelled";
  EXPECT_GT(cancelled, 0);
}

}  // namespace
}  // namespace mummu
