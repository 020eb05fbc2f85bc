#pragma once

// What one rendering may use: steps, bytes alive, and every object that the template made. Objects
// are counted references of one thread; an object whose last reference goes is destroyed from a
// list, never recursively, so no nesting of values can overflow the stack. Cycles (a namespace that
// holds itself) die with the Heap.

#include <cstdint>
#include <utility>

#include "mummu/result.h"

namespace mummu::jinja {

class Heap;

class Object {
 public:
  Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;
  virtual ~Object() = default;

  // Lets go of every other object that this one holds.
  virtual void clear() {}

  void keep() { ++references_; }
  inline void drop();

 private:
  friend class Heap;

  Heap* heap_ = nullptr;
  Object* previous_ = nullptr;
  Object* next_ = nullptr;
  size_t bytes_ = 0;
  uint32_t references_ = 0;
};

class Heap {
 public:
  static constexpr int64_t kMaxSteps = 1'000'000;
  static constexpr size_t kMaxLive =
      size_t{32} << 20;  // bytes of values and texts, beyond the conversation itself
  static constexpr size_t kBytesPerStep =
      128;  // work on a text costs a step for so many of its bytes

  Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap();

  //   errors   invalid (10^6 steps, or more than kMaxLive alive)
  Result<void> step(int64_t count = 1) {
    steps_ += count;
    if (steps_ <= kMaxSteps && live_ <= limit_) [[likely]]
      return {};
    return exhausted();
  }

  // A step, and more for an operation that looks at or writes many bytes.
  Result<void> work(size_t bytes) { return step(1 + static_cast<int64_t>(bytes / kBytesPerStep)); }

  // True if so many more bytes may be alive; charge() and release() count bytes outside objects.
  bool has_room(size_t bytes) const { return live_ + bytes <= limit_; }
  void charge(size_t bytes) { live_ += bytes; }
  void release(size_t bytes) { live_ -= bytes; }

  // Everything alive now (the conversation) no longer counts against the bound.
  void set_baseline();

  void adopt(Object& object, size_t bytes);
  void charge_object(Object& object, size_t bytes);

  int64_t steps() const { return steps_; }

  void bury(Object& object);  // whose last reference has gone

 private:
  Error exhausted() const;
  void unlink(Object& object);

  int64_t steps_ = 0;
  size_t live_ = 0;
  size_t limit_ = kMaxLive;
  Object* first_ = nullptr;
  Object* dead_ = nullptr;
  bool burying_ = false;
};

void Object::drop() {
  if (--references_ == 0) heap_->bury(*this);
}

// A counted reference to an object of a Heap.
template <typename T>
class Ref {
 public:
  Ref() = default;
  explicit Ref(T* object) : object_(object) {
    if (object_) object_->keep();
  }
  Ref(const Ref& other) : Ref(other.object_) {}
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Ref() {
    if (object_) object_->drop();
  }

  T* get() const { return object_; }
  T* operator->() const { return object_; }
  T& operator*() const { return *object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  T* object_ = nullptr;
};

// A new object of the heap; `bytes` is what it owns beyond itself.
template <typename T, typename... Args>
Ref<T> make(Heap& heap, size_t bytes, Args&&... args) {
  T* object = new T(std::forward<Args>(args)...);
  heap.adopt(*object, sizeof(T) + bytes);
  return Ref<T>(object);
}

}  // namespace mummu::jinja
