// An allocation that fails, at every place where load, admit and submit allocate, is `no_memory`
// and leaves everything usable.

#include <gtest/gtest.h>

#include "async/test/fake_worker.h"
#include "base/count_allocations.h"
#include "base/test_fixture.h"
#include "mummu/generate.h"
#include "mummu/load.h"
#include "mummu/slot.h"

namespace mummu::test {
namespace {

#if defined(MUMMU_SANITIZER_ALLOCATES)
constexpr bool kCanFail = false;
#else
constexpr bool kCanFail = true;
#endif

#define MUMMU_NEEDS_FAILING_ALLOCATIONS() \
  if (!kCanFail) GTEST_SKIP() << "skipped: a sanitizer allocates here; run the dev build"

// Calls `attempt` with its first, second, ... allocation failing, until none is left to fail.
// Returns how many failed.
template <typename F>
int64_t fail_each_allocation(F&& attempt) {
  for (int64_t which = 0;; ++which) {
    Error::Code code = Error::Code::internal;
    bool succeeded = false;
    const bool failed = with_failing_allocation(which, [&] {
      auto result = attempt();
      succeeded = result.has_value();
      if (!succeeded) code = result.error().code;
    });
    if (!failed) {
      EXPECT_TRUE(succeeded);
      return which;
    }
    EXPECT_TRUE(succeeded || code == Error::Code::no_memory) << "allocation " << which;
    if (testing::Test::HasFailure()) return which;
  }
}

// What f() gives, none of whose allocations fails.
template <typename F>
auto spared(F&& f) {
  const int64_t left = std::exchange(allocations_until_failure, -1);
  auto out = f();
  allocations_until_failure = left;
  return out;
}

Request full_request() {
  Request request = ask(20);
  request.options.n = 2;
  request.options.temperature = 1;
  request.options.logprobs = true;
  request.options.top_logprobs = 3;
  request.options.presence_penalty = 1;
  return request;
}

TEST(OutOfMemory, in_admit_is_no_memory_and_the_engine_goes_on) {
  MUMMU_NEEDS_FAILING_ALLOCATIONS();
  FakeEngine fake;
  const auto failed = fail_each_allocation([&]() -> Result<void> {
    auto id = fake.engine.admit(spared(full_request));
    if (!id) return std::move(id).error();
    fake.engine.forget(*id);
    return {};
  });
  EXPECT_GT(failed, 10);
  const Request request = ask(20);
  EXPECT_EQ(generate(fake.engine, request)->ids, answer_to(request));
}

TEST(OutOfMemory, in_submit_is_no_memory_and_the_worker_goes_on) {
  MUMMU_NEEDS_FAILING_ALLOCATIONS();
  FakeWorker lent;
  const auto failed =
      fail_each_allocation([&] { return lent.worker.submit(spared(full_request)); });
  EXPECT_GT(failed, 3);
  lent.run_out();
  EXPECT_EQ(lent.worker.counts().streams, 0);
  const Request request = ask(20);
  Stream stream = lent.submit(request);
  lent.run_out();
  EXPECT_EQ(read_now(stream), answer_to(request));
}

TEST(OutOfMemory, on_the_driver_s_thread_ends_streams_and_not_the_worker) {
  MUMMU_NEEDS_FAILING_ALLOCATIONS();
  const Request good = ask(20, 2);
  int64_t ended = 0;
  for (int64_t which = 0;; ++which) {
    FakeWorker lent;
    Stream other = lent.submit(good), stream = lent.submit(full_request());
    const bool failed = with_failing_allocation(which, [&] { (void)lent.worker.run_once(); });
    lent.run_out();
    read_now(other);
    read_now(stream);
    for (Stream* each : {&other, &stream}) {
      ASSERT_TRUE(each->done());
      const auto result = each->result();
      if (result) continue;
      ASSERT_EQ(result.error().code, Error::no_memory);
      ++ended;
    }
    ASSERT_EQ(lent.worker.counts().pages_used, 0);
    ASSERT_EQ(lent.worker.counts().streams, 0);
    Stream again = lent.submit(good);
    lent.run_out();
    ASSERT_EQ(read_now(again), answer_to(good));
    if (!failed) break;
  }
  EXPECT_GT(ended, 0);
}

TEST(OutOfMemory, in_add_is_no_memory) {
  MUMMU_NEEDS_FAILING_ALLOCATIONS();
  const auto failed = fail_each_allocation([&]() -> Result<void> {
    auto fake = spared([] { return std::make_unique<FakeEngine>(); });
    auto worker = spared([] { return std::make_unique<Worker>(cpu()); });
    return worker->add(std::move(fake->engine));
  });
  EXPECT_GT(failed, 3);
}

TEST(OutOfMemory, in_start_is_no_memory_and_leaves_no_thread) {
  MUMMU_NEEDS_FAILING_ALLOCATIONS();
  const Device& device = cpu();  // opened before anything fails
  EXPECT_GT(fail_each_allocation([&] { return Worker::start(device); }), 1);
}

TEST(OutOfMemory, in_load_is_no_memory) {
  MUMMU_NEEDS_FAILING_ALLOCATIONS();
  const std::string path = golden("llama/gqa/model.gguf");
  const Device& device = cpu();  // opened before anything fails
  const auto failed = fail_each_allocation([&] { return Model::load(path, device); });
  EXPECT_GT(failed, 100);
}

TEST(OutOfMemory, in_a_loader_is_no_memory) {
  MUMMU_NEEDS_FAILING_ALLOCATIONS();
  const std::string path = golden("llama/gqa/model.gguf");
  const Device& device = cpu();  // opened before anything fails
  const auto failed = fail_each_allocation([&]() -> Result<void> {
    auto loader = spared([&] { return std::make_unique<Loader>(path, device); });
    MUMMU_TRY(loader->run());
    while (loader->try_next()) continue;
    MUMMU_TRY(loader->result());
    return {};
  });
  EXPECT_GT(failed, 100);
}

TEST(OutOfMemory, in_a_slot_is_no_memory_and_leaves_it_free) {
  MUMMU_NEEDS_FAILING_ALLOCATIONS();
  ModelSlot<std::string> slot;
  const std::string key = "a";
  const auto load = []() -> Result<std::string> { return std::string("a"); };
  EXPECT_GT(fail_each_allocation([&] { return slot.acquire(key, load); }), 1);
  EXPECT_TRUE(slot.clear());
}

TEST(OutOfMemory, in_a_task_s_root_is_no_memory) {
  MUMMU_NEEDS_FAILING_ALLOCATIONS();
  const auto task = []() -> Task<int> { co_return 1; };
  EXPECT_EQ(fail_each_allocation([&] { return sync_wait(spared(task)); }), 1);
}

}  // namespace
}  // namespace mummu::test
