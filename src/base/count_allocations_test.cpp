#include "base/count_allocations.h"

#include <gtest/gtest.h>

#include <memory>

namespace mummu::test {
namespace {

struct alignas(64) Line {
  char bytes[64];
};

// Storing the pointer keeps the compiler from leaving the allocation out.
const volatile void* volatile seen = nullptr;

TEST(CountAllocations, every_form_of_new_is_counted) {
  EXPECT_EQ(count_allocations([] {}), 0);
  EXPECT_EQ(count_allocations([] { seen = std::make_unique<int>(1).get(); }), 1);
  EXPECT_EQ(count_allocations([] { seen = std::make_unique<int[]>(9).get(); }), 1);
  EXPECT_EQ(count_allocations([] { seen = std::make_unique<Line[]>(2).get(); }), 1);
  EXPECT_EQ(count_allocations([] {
              const std::unique_ptr<int> number(new (std::nothrow) int(1));
              seen = number.get();
            }),
            1);
}

}  // namespace
}  // namespace mummu::test
