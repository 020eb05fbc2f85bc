#pragma once

// Result<T>: a value or an Error, with the method names of std::expected. Everything that the world
// can get wrong (files, prompts, options, memory) comes back as one; nothing in the library throws
// across its edge, aborts or prints. A Result belongs to one thread at a time, like any value.

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace mummu {

// What went wrong. The message is one line: what, where, expected and got.
struct Error {
  enum class Code {
    not_found,    // no such file, model, device or request
    corrupt,      // bytes that are not what their format says
    unsupported,  // valid, but something this build or version cannot do; the message names it
    invalid,      // a wrong argument or a call that is not allowed now
    too_long,     // more tokens than the context holds
    no_memory,    // an allocation failed, or the request can never fit
    busy,         // full right now; try again later
    device_lost,  // the device failed; its engines are over
    cancelled,    // somebody asked for it
    io,           // the operating system refused a read or a write
    internal,     // a bug in this library, or what a callback of the host threw
  };
  using enum Code;

  Code code = Code::internal;
  std::string message{};
};

// The name of a code, for example "not_found".
constexpr const char* code_name(Error::Code code) {
  constexpr const char* kNames[] = {"not_found", "corrupt",   "unsupported", "invalid",
                                    "too_long",  "no_memory", "busy",        "device_lost",
                                    "cancelled", "io",        "internal"};
  return kNames[static_cast<int>(code)];
}

template <typename T>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  // NOLINTBEGIN(google-explicit-constructor): a function returns either as it stands
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}
  // NOLINTEND(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  explicit operator bool() const { return has_value(); }

  // requires  has_value()
  T& value() & { return checked(); }
  const T& value() const& { return const_cast<Result*>(this)->checked(); }
  T&& value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  const T& operator*() const& { return const_cast<Result*>(this)->checked(); }
  T&& operator*() && { return std::move(checked()); }
  T* operator->() { return &checked(); }
  const T* operator->() const { return &const_cast<Result*>(this)->checked(); }

  // requires  !has_value()
  const Error& error() const& { return *checked_error(); }
  Error&& error() && { return std::move(*const_cast<Error*>(checked_error())); }

  template <typename U>
  T value_or(U&& fallback) && {
    return has_value() ? std::move(checked()) : static_cast<T>(std::forward<U>(fallback));
  }

 private:
  T& checked() {
    assert(has_value());
    return *std::get_if<0>(&state_);
  }
  const Error* checked_error() const {
    assert(!has_value());
    return std::get_if<1>(&state_);
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return !error_.has_value(); }
  explicit operator bool() const { return has_value(); }
  void value() const { assert(has_value()); }
  const Error& error() const& {
    assert(error_);
    return *error_;
  }
  Error&& error() && {
    assert(error_);
    return std::move(*error_);
  }

 private:
  std::optional<Error> error_{};
};

}  // namespace mummu

// MUMMU_TRY(f());              returns f's error from the calling function, if it has one
// MUMMU_TRY(auto x, f());      the same, else x is f's value
#define MUMMU_TRY_CONCAT_(a, b) a##b
#define MUMMU_TRY_NAME_(line) MUMMU_TRY_CONCAT_(mummu_try_, line)
#define MUMMU_TRY_VOID_(expression)                              \
  do {                                                           \
    if (auto mummu_try_result = (expression); !mummu_try_result) \
      return std::move(mummu_try_result).error();                \
  } while (false)
#define MUMMU_TRY_VALUE_(declaration, expression)                                      \
  auto MUMMU_TRY_NAME_(__LINE__) = (expression);                                       \
  if (!MUMMU_TRY_NAME_(__LINE__)) return std::move(MUMMU_TRY_NAME_(__LINE__)).error(); \
  declaration = *std::move(MUMMU_TRY_NAME_(__LINE__))
#define MUMMU_TRY_PICK_(first, second, name, ...) name
#define MUMMU_TRY(...) \
  MUMMU_TRY_PICK_(__VA_ARGS__, MUMMU_TRY_VALUE_, MUMMU_TRY_VOID_, unused)(__VA_ARGS__)
