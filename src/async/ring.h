#pragma once

// A queue in memory that is allocated once; it grows only when it must. Elements are used again and
// again, so that what they have allocated stays. One thread at a time.

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace mummu {

template <typename T>
class Ring {
 public:
  explicit Ring(size_t room) : places_(room) {}

  size_t size() const { return size_; }
  size_t room() const { return places_.size(); }
  // Swaps `value` into the last place.
  //   throws   std::bad_alloc, with nothing changed
  void push(T& value) {
    if (size_ == places_.size()) grow();
    std::swap(places_[(first_ + size_) % places_.size()], value);
    ++size_;
  }
  // Swaps the first element out.
  //   requires  size() > 0
  void pop(T& value) {
    std::swap(places_[first_], value);
    first_ = (first_ + 1) % places_.size();
    --size_;
  }
  void clear() noexcept { size_ = 0; }

 private:
  void grow() {
    std::vector<T> more(std::max<size_t>(2 * places_.size(), 8));
    for (size_t i = 0; i < size_; ++i) std::swap(more[i], places_[(first_ + i) % places_.size()]);
    places_.swap(more);
    first_ = 0;
  }

  std::vector<T> places_;
  size_t first_ = 0, size_ = 0;
};

}  // namespace mummu
