#include "engine/test/random_schedule.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/sanitized.h"
#include "engine/fake_engine.h"

namespace mummu::test {

EngineOptions random_options(Random& random, const ScheduleShape& shape, bool roomy) {
  EngineOptions options;
  options.context = shape.context;
  options.kv_tokens = roomy ? 4096 : 16 * random.between(3, 3 * shape.context / 16);
  options.max_sequences = random.one_of({1, 2, 3, 8, 16});
  options.max_waiting = random.one_of({2, 6, 20});
  options.max_pending = random.one_of({1, 2, 5, 64});
  options.step_tokens = random.one_of({1, 2, 3, 7, 16, 33, 64});
  options.prefix_cache = roomy || random.chance(85);
  return options;
}

namespace {

class Schedule {
 public:
  Schedule(Random& random, const ScheduleShape& shape, World world)
      : random_(random), shape_(shape), world_(world), model_(world) {
    for (auto& base : bases_) base = tokens(shape.longest_prompt);
  }

  PlainModel::Seen run() {
    admit();
    for (int64_t i = 0; i < shape_.actions && !testing::Test::HasFailure(); ++i) act();
    drain();
    model_.finish();
    return model_.seen;
  }

 private:
  std::vector<TokenId> tokens(int64_t count) {
    std::vector<TokenId> ids(static_cast<size_t>(count));
    for (TokenId& id : ids) id = static_cast<TokenId>(random_.below(shape_.vocab));
    return ids;
  }

  // A beginning that others share, often whole pages long, and an end of its own; or what an
  // earlier request asked and answered, continued.
  std::vector<TokenId> prompt() {
    if (model_.requests() > 0 && random_.chance(20)) return grown();
    const auto& base = bases_[static_cast<size_t>(random_.below(3))];
    int64_t shared = random_.below(std::ssize(base) + 1);
    if (random_.chance(50)) shared = shared / 16 * 16;
    const int64_t own = random_.chance(40) ? 0 : random_.between(1, 12);
    std::vector<TokenId> ids(base.begin(), base.begin() + shared);
    for (TokenId id : tokens(std::max<int64_t>(own, shared == 0))) ids.push_back(id);
    return ids;
  }

  std::vector<TokenId> grown() {
    const Tracked& tracked = model_.tracked(any_request());
    std::vector<TokenId> ids = tracked.request.prompt;
    for (TokenId id : tracked.choices.front().told) ids.push_back(id);
    for (TokenId id : tokens(random_.between(1, 9))) ids.push_back(id);
    return ids;
  }

  void admit() {
    std::stop_source stop;
    RequestOptions options;
    options.max_tokens = random_.between(1, shape_.longest_answer);
    options.temperature = random_.chance(60) ? 0.8F : 0.0F;
    options.top_p = random_.chance(50) ? 0.9F : 1.0F;
    options.seed = static_cast<uint64_t>(random_.below(1000));
    options.n = random_.chance(80) ? 1 : random_.between(2, 4);
    options.priority = random_.chance(70) ? 0 : static_cast<int>(random_.between(-1, 1));
    options.ignore_eos = true;
    if (random_.chance(20)) options.stop_ids = {static_cast<TokenId>(random_.below(shape_.vocab))};
    if (random_.chance(8)) options.deadline_ms = random_.below(30);
    if (world_.scores && random_.chance(30)) options.prompt_logprobs = true;
    if (random_.chance(20)) options.cancel = stop.get_token();
    Request request{nullptr, prompt(), options};
    if (world_.adopt) world_.adopt(request);
    model_.admit(request, std::move(stop));
  }

  size_t any_request() {
    return static_cast<size_t>(random_.below(static_cast<int64_t>(model_.requests())));
  }

  void act() {
    *world_.now += static_cast<double>(random_.below(4));
    const int64_t die = random_.below(100);
    if (die < 55) return model_.step();
    if (die < 72 || model_.requests() == 0) return admit();
    const size_t request = any_request();
    if (die < 76) return model_.set_paused(request, true);
    if (die < 82) return model_.set_paused(request, false);
    if (die < 84) return model_.cancel(request);
    if (die < 86 && model_.tracked(request).request.options.cancel.stop_possible())
      return model_.stop(request);
    if (die < 93) return model_.take_all();
    const auto choices = std::ssize(model_.tracked(request).choices);
    model_.take(request, static_cast<int>(random_.below(choices)));
  }

  // Everything goes on and is taken: all ends within as many steps as computing everything a few
  // times over would take.
  void drain() {
    for (size_t i = 0; i < model_.requests(); ++i) model_.set_paused(i, false);
    model_.take_all();
    for (int64_t steps = 10 + 4 * model_.tokens(); steps > 0 && model_.any_live(); --steps) {
      if (testing::Test::HasFailure()) return;
      EXPECT_TRUE(world_.engine->has_work());
      model_.step();
      model_.take_all();
    }
    EXPECT_FALSE(model_.any_live()) << "somebody starves";
    EXPECT_FALSE(world_.engine->has_work());
    const auto report = world_.engine->step();
    EXPECT_EQ((*report)->pages_used, 0) << "a page is lost";
    EXPECT_EQ((*report)->tokens, 0);
  }

  Random& random_;
  ScheduleShape shape_;
  World world_;
  PlainModel model_;
  std::array<std::vector<TokenId>, 3> bases_;
};

}  // namespace

PlainModel::Seen run_schedule(Random& random, const ScheduleShape& shape, World world) {
  return Schedule(random, shape, std::move(world)).run();
}

namespace {

constexpr int64_t kVocab = 40;

constexpr int64_t kSchedules = kSanitized ? 500 : 10000;

// The answer by the definition of the fake: every token depends on all before it.
Truth fake_truth(const Request& request, int choice, int64_t context) {
  Truth truth;
  truth.ids = expected_ids(request, kVocab, context, choice);
  const auto total = std::ssize(request.prompt) + std::ssize(truth.ids);
  truth.finish =
      std::ssize(truth.ids) == request.options.max_tokens ? Finish::length : Finish::context;
  EXPECT_LE(total, context);
  for (const TokenId stop : request.options.stop_ids) {
    const auto at = std::find(truth.ids.begin(), truth.ids.end(), stop);
    if (at == truth.ids.end()) continue;
    truth.ids.erase(at, truth.ids.end());
    truth.finish = Finish::stop;
  }
  return truth;
}

PlainModel::Seen run_fake(uint64_t seed) {
  Random random(seed);
  const ScheduleShape shape = {.vocab = kVocab,
                               .context = random.one_of({48, 80, 130}),
                               .longest_prompt = random.one_of({20, 64, 100}),
                               .longest_answer = random.one_of({4, 20, 40}),
                               .actions = random.between(10, 80)};
  double now = 0;
  World world;
  world.roomy = seed % 3 == 0;
  world.scores = seed % 4 == 1;
  world.options = random_options(random, shape, world.roomy);
  FakeEngine fake(
      {.vocab = kVocab, .context = shape.context, .engine = world.options, .now_ms = [&now] {
         return now;
       }});
  world.engine = &fake.engine;
  world.context = shape.context;
  world.pages = world.options.kv_tokens / 16;
  world.now = &now;
  world.counts_allocations = !world.scores;
  world.truth = [&](const Request& request, int choice) {
    return fake_truth(request, choice, shape.context);
  };
  return run_schedule(random, shape, world);
}

TEST(RandomSchedule, of_thousands_every_answer_is_the_one_it_gets_alone) {
  PlainModel::Seen all;
  const char* asked = std::getenv("MUMMU_SCHEDULES");
  const int64_t schedules = asked ? std::atoll(asked) : kSchedules;
  for (int64_t seed = 0; seed < schedules && !HasFailure(); ++seed) {
    SCOPED_TRACE("schedule " + std::to_string(seed));
    all += run_fake(static_cast<uint64_t>(seed));
  }
  // Of every hundred schedules many must have seen what they are for.
  EXPECT_GT(all.refused, schedules / 10);
  EXPECT_GT(all.preempted, schedules / 2);
  EXPECT_GT(all.cached, schedules);
  EXPECT_GT(all.expired, schedules / 10);
  EXPECT_GT(all.stopped, schedules / 20);
  EXPECT_GT(all.crowds, schedules);
}

}  // namespace
}  // namespace mummu::test
