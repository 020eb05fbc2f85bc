#pragma once

// Counts how deep something is nested, for as long as it lives.

namespace mummu::jinja {

class Depth {
 public:
  explicit Depth(int& counter) : counter_(counter) { ++counter_; }
  ~Depth() { --counter_; }
  Depth(const Depth&) = delete;
  Depth& operator=(const Depth&) = delete;

 private:
  int& counter_;
};

}  // namespace mummu::jinja
