#pragma once

// Callback<void(A...)>: a function to be called later, perhaps on another thread. It can be moved,
// not copied, lies in place and never allocates. Whoever gives one away gives up what it captured:
// it is destroyed where it is called, or where it is dropped. Its move constructor may run under a
// lock of the library; calls and destruction never do.

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

namespace mummu {

template <typename Signature>
class Callback;

template <typename... Args>
class Callback<void(Args...)> {
 public:
  static constexpr size_t kBytes = 96;  // what may be captured

  Callback() = default;
  template <typename Function>
    requires(!std::is_same_v<std::decay_t<Function>, Callback> &&
             std::is_invocable_v<std::decay_t<Function>&, Args...>)
  Callback(Function&& function) {  // NOLINT(google-explicit-constructor): a lambda is one
    using F = std::decay_t<Function>;
    static_assert(sizeof(F) <= kBytes, "this function captures too much: capture a pointer to it");
    static_assert(alignof(F) <= alignof(std::max_align_t));
    static_assert(std::is_nothrow_move_constructible_v<F>,
                  "what this function captures may throw when it is moved");
    new (bytes_) F(std::forward<Function>(function));
    call_ = [](void* self, Args&&... args) { (*as<F>(self))(std::forward<Args>(args)...); };
    move_ = [](void* from, void* to) noexcept {
      if (to) new (to) F(std::move(*as<F>(from)));
      as<F>(from)->~F();
    };
  }
  Callback(Callback&& other) noexcept { take(other); }
  Callback& operator=(Callback&& other) noexcept {
    if (this == &other) return *this;
    reset();
    take(other);
    return *this;
  }
  ~Callback() { reset(); }

  void reset() noexcept {
    call_ = nullptr;
    if (const auto move = std::exchange(move_, nullptr)) move(bytes_, nullptr);
  }
  explicit operator bool() const { return call_ != nullptr; }
  //   requires  not empty
  void operator()(Args... args) { call_(bytes_, std::forward<Args>(args)...); }

 private:
  template <typename F>
  static F* as(void* bytes) {
    return std::launder(static_cast<F*>(bytes));
  }
  void take(Callback& other) noexcept {
    call_ = std::exchange(other.call_, nullptr);
    move_ = std::exchange(other.move_, nullptr);
    if (move_) move_(other.bytes_, bytes_);
  }

  void (*call_)(void*, Args&&...) = nullptr;
  void (*move_)(void* from, void* to) noexcept = nullptr;  // to null: destroys
  alignas(std::max_align_t) unsigned char bytes_[kBytes];
};

}  // namespace mummu
