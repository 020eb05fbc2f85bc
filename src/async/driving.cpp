#include "async/driving.h"

#include "mummu/task.h"

namespace mummu {
namespace {

thread_local const void* driving = nullptr;

}  // namespace

const void* driving_here() { return driving; }
bool drives_here() { return driving != nullptr; }

DrivingScope::DrivingScope(const void* driver) : outer_(std::exchange(driving, driver)) {}
DrivingScope::~DrivingScope() { driving = outer_; }

}  // namespace mummu
