#pragma once

// Which driver this thread is inside of. Set only inside run, run_once, run_for and drain, and put
// back when they return: it says where the call stack is, nothing else.

#include <utility>

namespace mummu {

const void* driving_here();

class DrivingScope {
 public:
  explicit DrivingScope(const void* driver);
  ~DrivingScope();
  DrivingScope(const DrivingScope&) = delete;
  DrivingScope& operator=(const DrivingScope&) = delete;

 private:
  const void* outer_;
};

}  // namespace mummu
