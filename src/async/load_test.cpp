#include "mummu/load.h"

#include <gtest/gtest.h>

#include "async/test/fake_worker.h"
#include "async/test/number_channel.h"
#include "base/test_fixture.h"

namespace mummu::test {
namespace {

const std::string& model_path() {
  static const std::string path = fixture("SmolLM2-135M-Instruct.Q4_1.gguf");
  return path;
}

TEST(Loader, tells_its_progress_and_gives_the_model) {
  MUMMU_NEEDS(model_path());
  auto loader = Loader::start(model_path(), cpu());
  ASSERT_TRUE(loader) << loader.error().message;
  int64_t last = -1, total = 0;
  while (const LoadProgress* progress = loader->next()) {
    EXPECT_GE(progress->bytes, last);
    last = progress->bytes;
    total = progress->total;
  }
  EXPECT_GT(total, 0);
  EXPECT_TRUE(loader->done());
  const auto model = loader->result();
  ASSERT_TRUE(model) << model.error().message;
  EXPECT_EQ(model->info().architecture, "llama");
  EXPECT_EQ(loader->result().error().code, Error::invalid);
}

TEST(Loader, is_driven_by_who_lends_a_thread) {
  MUMMU_NEEDS(model_path());
  Loader loader(model_path(), cpu());
  EXPECT_EQ(loader.result().error().code, Error::invalid);
  int steps = 0;
  while (*loader.run_once() == Turn::more) ++steps;
  EXPECT_GT(steps, 100) << "one tensor a step";
  int unread = 0;
  while (loader.try_next()) ++unread;
  EXPECT_EQ(unread, 1) << "the newest progress";
  EXPECT_TRUE(loader.result());
}

TEST(Loader, may_move_between_calls_and_threads) {
  MUMMU_NEEDS(model_path());
  Loader first(model_path(), cpu());
  (void)first.run_once();
  (void)first.run_once();
  Loader second = std::move(first);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  EXPECT_EQ(first.run_once().error().code, Error::invalid);
  std::jthread([&] { EXPECT_TRUE(second.run()); }).join();
  while (second.next()) continue;
  EXPECT_TRUE(second.result());
}

TEST(Loader, can_be_awaited) {
  MUMMU_NEEDS(model_path());
  Pool pool(1);
  const auto load = [](Loader loader, Pool& where) -> Task<Result<Model>> {
    while ([[maybe_unused]] const LoadProgress* progress = co_await loader.next(where.executor()))
      continue;
    co_return loader.result();
  };
  auto model = sync_wait(load(*Loader::start(model_path(), cpu()), pool));
  ASSERT_TRUE(model);
  EXPECT_TRUE(*model);
}

TEST(Loader, cancel_ends_it_within_one_tensor) {
  MUMMU_NEEDS(model_path());
  Loader loader(model_path(), cpu());
  (void)loader.run_once();
  (void)loader.run_once();
  loader.cancel();
  EXPECT_EQ(*loader.run_once(), Turn::idle);
  while (loader.try_next()) continue;
  EXPECT_EQ(loader.result().error().code, Error::cancelled);
}

TEST(Loader, on_progress_is_asked_too) {
  MUMMU_NEEDS(model_path());
  int asked = 0;
  Loader loader(model_path(), cpu(),
                {.on_progress = [&](const LoadProgress&) { return ++asked < 3; }});
  EXPECT_TRUE(loader.run());
  while (loader.try_next()) continue;
  EXPECT_EQ(loader.result().error().code, Error::cancelled);
  EXPECT_EQ(asked, 3);
}

// The same where Model::load asks it.
TEST(Loader, an_on_progress_that_throws_a_number_is_its_result) {
  MUMMU_NEEDS(model_path());
  const auto throwing = [](const LoadProgress&) -> bool { throw 7; };
  Loader loader(model_path(), cpu(), {.on_progress = throwing});
  EXPECT_TRUE(loader.run());
  while (loader.try_next()) continue;
  const auto result = loader.result();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, Error::internal);
  EXPECT_NE(result.error().message.find("no std::exception"), std::string::npos);
  EXPECT_EQ(Model::load(model_path(), cpu(), {.on_progress = throwing}).error().message,
            result.error().message);
}

TEST(Loader, a_missing_file_is_its_result) {
  auto loader = Loader::start("/no/such/model.gguf", cpu());
  ASSERT_TRUE(loader);
  EXPECT_EQ(loader->next().why(), Pull::end);
  EXPECT_EQ(loader->result().error().code, Error::not_found);
}

TEST(Loader, that_is_destroyed_early_leaves_nothing) {
  MUMMU_NEEDS(model_path());
  for (int i = 0; i < 5; ++i) {
    auto loader = Loader::start(model_path(), cpu());
    ASSERT_TRUE(loader);
    for (int read = 0; read < i; ++read) EXPECT_TRUE(loader->next());
  }
}

TEST(Loader, may_be_destroyed_in_a_function_it_called) {
  auto loader = std::make_unique<Loader>("/no/such/model.gguf", cpu());
  bool called = false;
  ASSERT_TRUE(loader->on_ready([&] {
    loader.reset();
    called = true;
  }));
  Loader* raw = loader.get();
  (void)raw->run_once();
  EXPECT_TRUE(called);
}

TEST(Loader, blocking_on_the_thread_that_drives_it_is_invalid) {
  Loader loader("/no/such/model.gguf", cpu());
  bool called = false;
  ASSERT_TRUE(loader.on_ready([&] {
    EXPECT_EQ(loader.next().why(), Pull::invalid);
    called = true;
  }));
  (void)loader.run();
  EXPECT_TRUE(called);
}

}  // namespace
}  // namespace mummu::test
