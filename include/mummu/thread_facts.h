#pragma once

// Facts about types and threads, known to the compiler. thread_movable<T>: a T that one thread made
// may be used by another, by one at a time. thread_shareable<T>: many threads may use a const T at
// once. Both are false unless something says otherwise: a class lists what it is made of, once,
//   using thread_members = ThreadMembers<std::string, Tokenizer>;
// and its facts follow from theirs; a pointer, a reference or a std::function in the list makes
// them false, unless it points to something constant that may be shared. Worker, EventStream,
// ModelSlot and Task require what they need. Nothing here runs.

#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "mummu/result.h"

namespace mummu {

template <typename... Members>
struct ThreadMembers {};

// What is known of T. Specialise it for a type whose members cannot be listed.
template <typename T>
struct ThreadFacts {
  static constexpr bool movable = false;
  static constexpr bool shareable = false;
};

template <typename T>
inline constexpr bool thread_movable = ThreadFacts<std::remove_cv_t<T>>::movable;
template <typename T>
inline constexpr bool thread_shareable = ThreadFacts<std::remove_cv_t<T>>::shareable;

// The facts of something made of these.
template <typename... Members>
struct ThreadFacts<ThreadMembers<Members...>> {
  static constexpr bool movable = (thread_movable<Members> && ...);
  static constexpr bool shareable = (thread_shareable<Members> && ...);
};

// For a type that says of itself, with its reason in a comment, what its members cannot.
struct MovableOnly {
  static constexpr bool movable = true;
  static constexpr bool shareable = false;
};
struct MovableAndShareable {
  static constexpr bool movable = true;
  static constexpr bool shareable = true;
};

template <typename T>
  requires requires { typename T::thread_members; }
struct ThreadFacts<T> : ThreadFacts<typename T::thread_members> {};

template <typename T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>)
struct ThreadFacts<T> : MovableAndShareable {};

template <>
struct ThreadFacts<void> : MovableAndShareable {};
template <>
struct ThreadFacts<std::monostate> : MovableAndShareable {};
template <>
struct ThreadFacts<std::string> : MovableAndShareable {};
template <>
struct ThreadFacts<std::stop_token> : MovableAndShareable {};
template <>
struct ThreadFacts<std::stop_source> : MovableAndShareable {};
template <>
struct ThreadFacts<Error> : MovableAndShareable {};

template <typename T>
struct ThreadFacts<std::atomic<T>> : MovableAndShareable {};

template <typename T>
struct ThreadFacts<std::vector<T>> : ThreadFacts<ThreadMembers<T>> {};
template <typename T, size_t count>
struct ThreadFacts<std::array<T, count>> : ThreadFacts<ThreadMembers<T>> {};
template <typename T>
struct ThreadFacts<std::optional<T>> : ThreadFacts<ThreadMembers<T>> {};
template <typename T>
struct ThreadFacts<Result<T>> : ThreadFacts<ThreadMembers<T>> {};
template <typename Key, typename T>
struct ThreadFacts<std::map<Key, T>> : ThreadFacts<ThreadMembers<Key, T>> {};
template <typename First, typename Second>
struct ThreadFacts<std::pair<First, Second>> : ThreadFacts<ThreadMembers<First, Second>> {};
template <typename... T>
struct ThreadFacts<std::tuple<T...>> : ThreadFacts<ThreadMembers<T...>> {};
template <typename... T>
struct ThreadFacts<std::variant<T...>> : ThreadFacts<ThreadMembers<T...>> {};
template <typename T>
struct ThreadFacts<std::unique_ptr<T>> : ThreadFacts<ThreadMembers<T>> {};
// Two copies may lie on two threads, and the last one to go destroys on its own.
template <typename T>
struct ThreadFacts<std::shared_ptr<const T>> {
  static constexpr bool movable = thread_movable<T> && thread_shareable<T>;
  static constexpr bool shareable = movable;
};

// It reads what many may read at once.
template <typename T>
struct ThreadFacts<const T*> {
  static constexpr bool movable = thread_shareable<T>;
  static constexpr bool shareable = movable;
};

// The library's own types.
class Tokenizer;
class ChatTemplate;
class Model;
class Engine;
class Generation;
struct ModelInfo;
struct LoadProgress;
struct Completion;
struct Token;
struct Request;

// Constant once made; what computes with them keeps its own state.
template <>
struct ThreadFacts<Tokenizer> : MovableAndShareable {};
template <>
struct ThreadFacts<ChatTemplate> : MovableAndShareable {};
template <>
struct ThreadFacts<Model> : MovableAndShareable {};  // src/async/facts.cpp checks its Impl
// Used from one thread at a time; nothing in them remembers which.
template <>
struct ThreadFacts<Engine> : MovableOnly {};  // src/async/facts.cpp checks its Impl
template <>
struct ThreadFacts<Generation> : MovableOnly {};
// Its views live until the next reading call, on whichever thread that is.
template <>
struct ThreadFacts<Token> : MovableOnly {};
// What its constraint captured is called by whoever drives the engine.
template <>
struct ThreadFacts<Request> : MovableOnly {};
// Values.
template <>
struct ThreadFacts<ModelInfo> : MovableAndShareable {};
template <>
struct ThreadFacts<LoadProgress> : MovableAndShareable {};
template <>
struct ThreadFacts<Completion> : MovableAndShareable {};

}  // namespace mummu
