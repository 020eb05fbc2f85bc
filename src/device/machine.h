#pragma once

// Facts about the machine this process runs on, read once per call and never cached: the processor
// and its instruction sets, the cores and the memory that the process may use.

#include <cstdint>
#include <string>

#include "mummu/device.h"

namespace mummu {

// The processor's own name, for people.
std::string cpu_brand();

// Whether processor and operating system support an instruction set: avx2 means AVX2, FMA and F16C;
// avx512 also AVX-512 F, BW, DQ, VL and VNNI.
bool cpu_has(Isa isa);

// The best of what cpu_has.
Isa best_isa();

// The cores in the affinity mask, no more than the control group's quota; at least 1.
int usable_cores();

// Physical memory, no more than the control group's limit.
int64_t usable_memory_bytes();

}  // namespace mummu
