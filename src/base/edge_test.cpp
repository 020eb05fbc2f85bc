#include "base/edge.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include <stdexcept>
#include <thread>

namespace mummu {
namespace {

Error edge_error(void (*thrower)()) {
  const auto result = at_edge([&]() -> Result<int> {
    thrower();
    return 1;
  });
  return result ? Error{Error::Code::internal, "nothing was thrown"} : result.error();
}

TEST(Edge, what_is_thrown_becomes_one_error) {
  const Error memory = edge_error([] { throw std::bad_alloc(); });
  EXPECT_EQ(memory.code, Error::no_memory);
  const Error exception = edge_error([] { throw std::runtime_error("mine"); });
  EXPECT_EQ(exception.code, Error::internal);
  EXPECT_EQ(exception.message, "internal error: mine");
  const Error number = edge_error([] { throw 7; });
  EXPECT_EQ(number.code, Error::internal);
  EXPECT_NE(number.message.find("no std::exception"), std::string::npos) << number.message;
}

TEST(Edge, a_thread_may_end_inside_it) {
  struct Unwound {
    ~Unwound() { *unwound = true; }
    bool* unwound;
  };
  bool unwound = false, returned = false;
  std::thread([&] {
    const Unwound local{&unwound};
    (void)at_edge([]() -> Result<int> { pthread_exit(nullptr); });
    returned = true;
  }).join();
  EXPECT_TRUE(unwound);
  EXPECT_FALSE(returned);
}

}  // namespace
}  // namespace mummu
