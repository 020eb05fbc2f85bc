#include "device/machine.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mummu {
namespace {

#if defined(__x86_64__)

struct Registers {
  unsigned a = 0, b = 0, c = 0, d = 0;
};

// All zero where the processor does not know the leaf.
Registers cpuid(unsigned leaf, unsigned subleaf) {
  Registers r;
  __get_cpuid_count(leaf, subleaf, &r.a, &r.b, &r.c, &r.d);
  return r;
}

// The register state that the operating system saves (XCR0).
//   requires  OSXSAVE
uint32_t saved_state() {
  uint32_t low = 0, high = 0;
  asm("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

constexpr bool has_all(uint32_t bits, uint32_t wanted) { return (bits & wanted) == wanted; }

// The bits of leaves 1 and 7 and of XCR0.
//   source  Intel SDM volume 2A, CPUID; volume 1, 13.3
constexpr uint32_t kFma = 1U << 12, kOsXsave = 1U << 27, kAvx = 1U << 28, kF16c = 1U << 29;
constexpr uint32_t kAvx2 = 1U << 5;
constexpr uint32_t kAvx512 = 1U << 16 | 1U << 17 | 1U << 30 | 1U << 31;  // F, DQ, BW, VL
constexpr uint32_t kVnni = 1U << 11;
constexpr uint32_t kYmmState = 0x6, kZmmState = 0xE6;

bool has_avx2() {
  const uint32_t one = cpuid(1, 0).c;
  return has_all(one, kFma | kOsXsave | kAvx | kF16c) && has_all(cpuid(7, 0).b, kAvx2) &&
         has_all(saved_state(), kYmmState);
}

bool has_avx512() {
  const Registers seven = cpuid(7, 0);
  return has_avx2() && has_all(seven.b, kAvx512) && has_all(seven.c, kVnni) &&
         has_all(saved_state(), kZmmState);
}

#else

bool has_avx2() { return false; }
bool has_avx512() { return false; }

#endif

// The first words of a small system file; empty if there is none.
std::string read_line(const char* path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "re"), std::fclose);
  char line[128] = {};
  if (!file || std::fgets(line, sizeof line, file.get()) == nullptr) return {};
  return line;
}

// The processor time that the control group grants, in cores, rounded up; 0 if unlimited.
//   source  Linux, Documentation/admin-guide/cgroup-v2.rst, cpu.max
long long quota_cores() {
  long long quota = 0, period = 0;
  const std::string line = read_line("/sys/fs/cgroup/cpu.max");
  if (std::sscanf(line.c_str(), "%lld %lld", &quota, &period) != 2) return 0;
  return quota > 0 && period > 0 ? (quota + period - 1) / period : 0;
}

int affinity_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN));
}

}  // namespace

std::string cpu_brand() {
#if defined(__x86_64__)
  char text[49] = {};
  for (unsigned i = 0; i < 3; ++i) {
    const Registers part = cpuid(0x80000002U + i, 0);
    std::memcpy(text + 16 * i, &part, sizeof part);
  }
  const std::string brand = text;
  const size_t first = brand.find_first_not_of(' ');
  if (first != std::string::npos)
    return brand.substr(first, brand.find_last_not_of(' ') + 1 - first);
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown processor";
#endif
}

bool cpu_has(Isa isa) {
  if (isa == Isa::avx2) return has_avx2();
  if (isa == Isa::avx512) return has_avx512();
  return true;
}

Isa best_isa() {
  if (has_avx512()) return Isa::avx512;
  return has_avx2() ? Isa::avx2 : Isa::reference;
}

int usable_cores() {
  const int cores = std::max(1, affinity_cores());
  const long long quota = quota_cores();
  return quota > 0 ? static_cast<int>(std::min<long long>(cores, quota)) : cores;
}

int64_t usable_memory_bytes() {
  const int64_t physical = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  long long limit = 0;
  const std::string line = read_line("/sys/fs/cgroup/memory.max");
  if (std::sscanf(line.c_str(), "%lld", &limit) != 1 || limit <= 0) return physical;
  return std::min<int64_t>(physical, limit);
}

}  // namespace mummu
