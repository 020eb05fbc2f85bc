#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <new>
#include <thread>

#include "base/allocation_count.h"
#include "device/machine.h"
#include "device/test/bed.h"
#include "mummu/device.h"
#include "mummu/version.h"

namespace mummu {
namespace {

// MUMMU_ISA for the length of a test.
class IsaVariable {
 public:
  explicit IsaVariable(const char* value) {
    if (const char* old = std::getenv("MUMMU_ISA")) saved_ = old;
    setenv("MUMMU_ISA", value, 1);
  }
  ~IsaVariable() {
    saved_.empty() ? unsetenv("MUMMU_ISA") : setenv("MUMMU_ISA", saved_.c_str(), 1);
  }
  IsaVariable(const IsaVariable&) = delete;
  IsaVariable& operator=(const IsaVariable&) = delete;

 private:
  std::string saved_;
};

TEST(OpenDevice, the_cpu_tells_what_it_is) {
  const IsaVariable unset("");
  auto device = open_device("cpu", {.parallel = Threads(2)});
  ASSERT_TRUE(device) << device.error().message;
  const DeviceInfo info = device->info();
  EXPECT_EQ(info.name, "cpu");
  EXPECT_EQ(info.kind, kContract);
  EXPECT_FALSE(info.description.empty());
  EXPECT_EQ(info.isa, enumerate_devices().at(0).isa);
  EXPECT_GT(info.memory_bytes, 1 << 20);
  EXPECT_EQ(info.threads, 2);
}

TEST(OpenDevice, an_unknown_name_is_not_found_and_the_known_ones_are_listed) {
  const auto device = open_device("abacus");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, Error::not_found);
  EXPECT_NE(device.error().message.find("abacus"), std::string::npos);
  EXPECT_NE(device.error().message.find("cpu"), std::string::npos);
}

TEST(OpenDevice, the_environment_chooses_the_instruction_set) {
  const IsaVariable variable("reference");
  auto device = open_device("cpu");
  ASSERT_TRUE(device);
  EXPECT_EQ(device->info().isa, "reference");
}

TEST(OpenDevice, the_option_comes_before_the_environment) {
  const IsaVariable variable("nonsense");
  auto device = open_device("cpu", {.parallel = serial(), .isa = Isa::reference});
  ASSERT_TRUE(device);
  EXPECT_EQ(device->info().isa, "reference");
}

TEST(OpenDevice, an_unknown_word_in_the_environment_is_invalid_and_named) {
  const IsaVariable variable("sse9");
  const auto device = open_device("cpu");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().code, Error::invalid);
  EXPECT_NE(device.error().message.find("sse9"), std::string::npos);
}

TEST(OpenDevice, an_instruction_set_that_the_cpu_lacks_is_unsupported) {
  for (Isa isa : {Isa::avx2, Isa::avx512}) {
    auto device = open_device("cpu", {.parallel = serial(), .isa = isa});
    if (cpu_has(isa)) {
      EXPECT_TRUE(device);
    } else {
      ASSERT_FALSE(device);
      EXPECT_EQ(device.error().code, Error::unsupported);
    }
  }
}

TEST(Machine, avx512_implies_avx2) {
  EXPECT_TRUE(cpu_has(Isa::reference));
  EXPECT_TRUE(!cpu_has(Isa::avx512) || cpu_has(Isa::avx2));
  EXPECT_TRUE(cpu_has(best_isa()));
  EXPECT_GE(usable_cores(), 1);
}

TEST(Device, sizes_that_no_memory_holds_are_no_memory) {
  auto device = open_device("cpu");
  ASSERT_TRUE(device);
  for (int64_t rows : {int64_t{1} << 45, int64_t{1} << 62}) {
    const auto tensor = device->ops().make(DType::f32, rows, 1024);
    ASSERT_FALSE(tensor);
    EXPECT_EQ(tensor.error().code, Error::no_memory);
  }
}

TEST(Device, a_weight_type_without_kernels_is_unsupported_and_named) {
  for (Isa isa : {Isa::reference, best_isa()}) {
    auto device = open_device("cpu", {.parallel = serial(), .isa = isa});
    ASSERT_TRUE(device);
    const auto read = [](int64_t, int64_t, std::span<std::byte>) { return Result<void>(); };
    const auto wrong_type = device->ops().pack({DType::i32, 16, 256, read});
    ASSERT_FALSE(wrong_type);
    EXPECT_EQ(wrong_type.error().code, Error::unsupported);
    EXPECT_NE(wrong_type.error().message.find("I32"), std::string::npos);
    const auto wrong_columns = device->ops().pack({DType::q8_0, 16, 40, read});
    ASSERT_FALSE(wrong_columns);
    EXPECT_EQ(wrong_columns.error().code, Error::unsupported);
  }
}

TEST(Device, an_error_of_the_source_ends_packing) {
  for (Isa isa : {Isa::reference, best_isa()}) {
    auto device = open_device("cpu", {.parallel = serial(), .isa = isa});
    ASSERT_TRUE(device);
    const auto read = [](int64_t, int64_t, std::span<std::byte>) -> Result<void> {
      return Error{Error::corrupt, "the file ends here"};
    };
    const auto weight = device->ops().pack({DType::q4_1, 40, 64, read});
    ASSERT_FALSE(weight);
    EXPECT_EQ(weight.error().code, Error::corrupt);
  }
}

TEST(Device, packing_reads_every_row_once_in_order) {
  for (Isa isa : {Isa::reference, best_isa()}) {
    auto device = open_device("cpu", {.parallel = serial(), .isa = isa});
    ASSERT_TRUE(device);
    int64_t next = 0;
    const auto read = [&](int64_t first, int64_t count, std::span<std::byte> out) {
      EXPECT_EQ(first, next);
      EXPECT_EQ(out.size(), static_cast<size_t>(count * row_bytes(DType::q8_0, 4096)));
      EXPECT_LE(out.size(), size_t{4} << 20);
      next = first + count;
      return Result<void>();
    };
    const auto weight = device->ops().pack({DType::q8_0, 2001, 4096, read});
    ASSERT_TRUE(weight) << weight.error().message;
    EXPECT_EQ(next, 2001);
    EXPECT_EQ(weight->bytes(), device->ops().packed_bytes(DType::q8_0, 2001, 4096));
  }
}

// Many small ones share large pages.
TEST(Device, packing_leaves_the_weights_before_as_they_are) {
  constexpr int64_t kColumns = 1024;
  auto device = open_device("cpu", {.parallel = Threads(2)});
  ASSERT_TRUE(device);
  test::Bed bed(device->ops());
  std::vector<Weight> weights;
  for (int64_t i = 0; i < 100; ++i) {
    const auto read = [&](int64_t first, int64_t count, std::span<std::byte> out) {
      for (int64_t at = 0; at < count * kColumns; ++at) {
        const int64_t row = first + at / kColumns;
        const auto value = static_cast<float>(1 + i + row) / 3;
        std::memcpy(out.data() + at * 4, &value, 4);
      }
      return Result<void>();
    };
    weights.push_back(device->ops().pack({DType::f32, 16, kColumns, read}).value());
  }
  const View ids = bed.ints({0, 15});
  for (size_t i = 0; i < weights.size(); ++i) {
    const View out = bed.blank(2, kColumns);
    bed.step([&] { device->ops().embedding(weights[i], ids, out); });
    const std::vector<float> rows = bed.read(out);
    for (size_t at = 0; at < rows.size(); ++at)
      ASSERT_EQ(rows[at], static_cast<float>(1 + i + (at < kColumns ? 0 : 15)) / 3)
          << "weight " << i;
  }
}

TEST(Device, threads_that_pack_read_every_row_once) {
  auto device = open_device("cpu", {.parallel = Threads(3)});
  ASSERT_TRUE(device);
  std::vector<std::atomic<int>> read_times(2001);
  const auto read = [&](int64_t first, int64_t count, std::span<std::byte> out) {
    EXPECT_EQ(out.size(), static_cast<size_t>(count * row_bytes(DType::q8_0, 4096)));
    for (int64_t row = first; row < first + count; ++row) ++read_times[static_cast<size_t>(row)];
    return Result<void>();
  };
  ASSERT_TRUE(device->ops().pack({DType::q8_0, 2001, 4096, read}));
  for (const auto& times : read_times) EXPECT_EQ(times, 1);
}

TEST(Device, what_a_source_throws_on_a_thread_is_an_error) {
  auto device = open_device("cpu", {.parallel = Threads(3)});
  ASSERT_TRUE(device);
  const auto read = [](int64_t first, int64_t, std::span<std::byte>) -> Result<void> {
    if (first > 1000) throw std::bad_alloc();
    return {};
  };
  const auto weight = device->ops().pack({DType::q8_0, 2001, 4096, read});
  ASSERT_FALSE(weight);
  EXPECT_EQ(weight.error().code, Error::no_memory);
}

TEST(Device, a_step_allocates_nothing) {
  for (Isa isa : {Isa::reference, best_isa()}) {
    auto device = open_device("cpu", {.parallel = Threads(2), .isa = isa});
    ASSERT_TRUE(device);
    Ops& ops = device->ops();
    test::Bed bed(ops);
    bed.reserve(33, 64);
    KvLayer layer;
    layer.kv_heads = 1;
    layer.head_dim = 64;
    layer.pool =
        bed.bytes(3, layer.bytes(), std::vector<std::byte>(static_cast<size_t>(3 * layer.bytes())));
    const int32_t pages[] = {0, 1, 2};
    const Segment segments[] = {{0, 33, 0, pages}};
    const View x = bed.floats(33, 64, test::Numbers(1).values(33 * 64));
    const View y = bed.blank(33, 64);
    const View norm = bed.floats(1, 64, test::Numbers(2).values(64));
    const View table = bed.floats(1, 64, test::Numbers(3).values(64));
    const View zeros = bed.ints(std::vector<int32_t>(33, 0));
    std::vector<MatmulOut> outs;
    for (DType type : {DType::q4_1, DType::f16, DType::q8_0}) {
      outs.push_back({.weight = &bed.weight(type, 64, 64, 4), .bias = {}, .out = y});
    }
    test::count_allocations([] {});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    EXPECT_EQ(test::count_allocations([&] {
                for (int step = 0; step < 5; ++step) {
                  ops.start();
                  ops.embedding(*outs[0].weight, zeros, x);
                  ops.rms_norm(x, norm, 1e-5F, y);
                  ops.matmul(x, outs);
                  ops.gated(x, *outs[0].weight, *outs[2].weight, y);
                  ops.gated(x, *outs[1].weight, *outs[1].weight, y);
                  ops.rope(x, 1, zeros, table);
                  ops.kv_write(x, x, layer, segments);
                  ops.attention(x, 1, 0.1F, layer, segments, y);
                  ops.gather(y, zeros, x);
                  EXPECT_TRUE(ops.finish());
                }
              }),
              0);
  }
}

}  // namespace
}  // namespace mummu
