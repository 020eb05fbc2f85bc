#include "base/float_environment.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace mummu {
namespace {

// The mode of the calling thread, replaced by the default while this object lives.
class FloatEnvironment {
 public:
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

#if defined(__x86_64__)
  FloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(kDefault); }
  ~FloatEnvironment() { _mm_setcsr(saved_); }

 private:
  // Intel SDM volume 1, 10.2.3: all exceptions masked, nearest even, no FTZ, no DAZ.
  static constexpr unsigned kDefault = 0x1F80;
  unsigned saved_;
#else
  FloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&saved_); }

 private:
  std::fenv_t saved_;
#endif
};

}  // namespace

[[gnu::noinline]] void call_in_default_float_environment(void (*call)(void*), void* context) {
  FloatEnvironment guard;
  asm volatile("" : "+r"(call), "+r"(context) : : "memory");
  call(context);
  asm volatile("" : : : "memory");
}

}  // namespace mummu
