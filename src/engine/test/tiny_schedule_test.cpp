// Random schedules (random_schedule.h) on tiny checkpoints whose state is more than keys and values
// of attention, or whose layers group tokens across sequences.

#include <gtest/gtest.h>

#include <array>

#include "base/sanitized.h"
#include "base/test_fixture.h"
#include "engine/device_forward.h"
#include "engine/engine_impl.h"
#include "engine/test/random_schedule.h"
#include "engine/test/witness.h"
#include "model/model_impl.h"
#include "mummu/generate.h"

namespace mummu::test {
namespace {

constexpr std::array kKvTypes = {KvType::f16, KvType::q8_0, KvType::bf16, KvType::f32};
constexpr std::array kDTypes = {DType::f16, DType::q8_0, DType::bf16, DType::f32};

// What the choices of a request answer on an engine that they have for themselves.
class Alone {
 public:
  Alone(const Model& model, KvType kv, int64_t context)
      : model_(model), kv_(kv), context_(context) {}

  Truth operator()(Request request, int choice) {
    if (choice == 0) {
      request.options.cancel = {};
      request.options.deadline_ms.reset();
      Engine engine(model_, {.context = context_,
                             .kv_tokens = context_ * request.options.n,
                             .kv = kv_,
                             .prefix_cache = false});
      all_ = *generate_all(engine, request);
    }
    const Completion& done = all_[static_cast<size_t>(choice)];
    return {.ids = done.ids, .finish = done.finish, .logits_hash = done.logits_hash};
  }

 private:
  const Model& model_;
  KvType kv_;
  int64_t context_;
  std::vector<Completion> all_;
};

class TinySchedule : public testing::TestWithParam<const char*> {
 protected:
  // Every other schedule watches the bytes of pages, the others that steps allocate nothing.
  PlainModel::Seen run(uint64_t seed) {
    Random random(seed);
    const ScheduleShape shape = {.vocab = model_.tokenizer().vocab(),
                                 .context = 96,
                                 .longest_prompt = 64,
                                 .longest_answer = 12,
                                 .actions = random.between(10, 40)};
    const size_t kv = seed / 2 % kKvTypes.size();
    double now = 0;
    World world;
    world.roomy = seed % 3 == 0;
    world.scores = seed % 4 == 2;
    world.counts_allocations = seed % 2 == 1;
    world.options = random_options(random, shape, world.roomy);
    world.options.kv = kKvTypes[kv];
    const Model::Impl& impl = model_.impl();
    std::unique_ptr<Forward> forward;
    if (world.counts_allocations)
      forward = std::make_unique<DeviceForward>(*impl.ops, impl.decoder, kKvTypes[kv]);
    else
      forward = std::make_unique<WitnessForward>(*impl.ops, impl.decoder, kDTypes[kv], pages_[kv]);
    Engine engine(std::make_unique<Engine::Impl>(EngineParts{.forward = std::move(forward),
                                                             .tokenizer = &impl.tokenizer,
                                                             .model = &impl,
                                                             .end_ids = impl.info.end_ids,
                                                             .now_ms = [&now] { return now; }},
                                                 world.options));
    world.engine = &engine;
    world.context = shape.context;
    world.pages = world.options.kv_tokens / 16;
    world.now = &now;
    world.adopt = [&](Request& request) { request.model = &impl; };
    world.truth = Alone(model_, kKvTypes[kv], shape.context);
    return run_schedule(random, shape, world);
  }

  Device device_ = open_device("cpu").value();
  Model model_ = Model::load(golden(GetParam()), device_).value();
  std::array<PageBytes, kKvTypes.size()> pages_;
};

TEST_P(TinySchedule, of_200_every_answer_is_the_one_it_gets_alone) {
  PlainModel::Seen all;
  const int64_t schedules = kSanitized ? 24 : 200;
  for (int64_t seed = 0; seed < schedules && !HasFailure(); ++seed) {
    SCOPED_TRACE("schedule " + std::to_string(seed));
    all += run(static_cast<uint64_t>(seed));
  }
  EXPECT_GT(all.preempted, 0);
  EXPECT_GT(all.cached, schedules / 2);
  EXPECT_GT(all.crowds, schedules);
}

INSTANTIATE_TEST_SUITE_P(Families, TinySchedule, testing::Values("lfm2/mixed", "olmoe/top8"),
                         [](const auto& given) {
                           return std::string(given.param).substr(0, 4) == "lfm2" ? "lfm2"
                                                                                  : "olmoe";
                         });

}  // namespace
}  // namespace mummu::test
