#pragma once

// For tests: coroutines that await a channel of numbers. The test is the driver.

#include <chrono>

#include "async/test/number_channel.h"

namespace mummu::test {

using Numbers = std::shared_ptr<NumberChannel>;
using std::chrono::milliseconds;

inline Numbers make_numbers(std::initializer_list<int> ready = {}) {
  auto numbers = std::make_shared<NumberChannel>();
  for (int number : ready) numbers->push(number);
  return numbers;
}

inline Pull arm(NumberChannel& numbers, Callback<void()> function) {
  uint64_t ticket = 0;
  return numbers.on_ready(function, ticket);
}

// What a read came to: the number, or minus why not.
template <typename Where>
Task<int> read_one(Numbers numbers, Where executor) {
  const auto next = co_await numbers->next(executor);
  co_return next ? *next : -static_cast<int>(next.why());
}

template <typename Where>
Task<int> count(Numbers numbers, Where executor) {
  int read = 0;
  while ([[maybe_unused]] const int* number = co_await numbers->next(executor)) ++read;
  co_return read;
}

template <typename Where>
Task<void> store(Numbers numbers, Where executor, int* out, Gone = Gone(nullptr)) {
  *out = co_await read_one(numbers, executor);
}

// A coroutine of some other library: it knows no Root, and its owner destroys it.
struct Foreign {
  struct promise_type {
    Foreign get_return_object() {
      return {std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
  std::coroutine_handle<promise_type> frame;
};

template <typename Where>
Foreign foreign(Numbers numbers, Where executor, int* out, Gone = Gone(nullptr)) {
  const auto next = co_await numbers->next(executor);
  *out = next ? *next : -static_cast<int>(next.why());
}

inline constexpr int kCancelled = -static_cast<int>(Pull::cancelled);
inline constexpr int kInvalid = -static_cast<int>(Pull::invalid);
inline constexpr int kEnd = -static_cast<int>(Pull::end);

}  // namespace mummu::test
