#pragma once

// The few elementary functions that tables are made with at load, in double and by the same
// operations on every machine: the C library's own differ between versions and processors by an
// ulp. Call them in the default float environment.

#include <cstdint>

namespace mummu {

struct SinCos {
  double sin = 0, cos = 0;
};

//   requires  |x| < 2^20
//   bound     3e-16 absolute
SinCos sin_cos(double x);

//   requires  x > 0, finite
//   bound     2e-16 relative, or absolute near 1
double natural_log(double x);

//   requires  |x| < 700
//   bound     4e-16 relative
double exponential(double x);

}  // namespace mummu
