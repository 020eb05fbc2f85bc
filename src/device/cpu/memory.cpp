#include "device/cpu/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdint>
#include <new>

#include "base/checked.h"
#include "base/fail.h"

namespace mummu::cpu {
namespace {

constexpr int64_t kLargePage = int64_t{2} << 20;

// An anonymous mapping; `data` lies at a large page's boundary where the mapping holds one.
class Mapping final : public Memory {
 public:
  Mapping(void* base, size_t length, void* data) : base_(base), length_(length), data_(data) {}
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() override { munmap(base_, length_); }

  void* data() override { return data_; }

 private:
  void* base_;
  size_t length_;
  void* data_;
};

void* large_page_boundary(void* base) {
  const auto address = reinterpret_cast<uintptr_t>(base);
  const auto up = static_cast<uintptr_t>(kLargePage - 1);
  return reinterpret_cast<void*>((address + up) & ~up);
}

}  // namespace

Result<std::unique_ptr<Memory>> allocate(int64_t bytes, std::string_view what) {
  const bool large = bytes >= kLargePage;
  const auto wanted = checked_add(std::max<int64_t>(bytes, 64), large ? kLargePage : 0);
  const auto length = static_cast<size_t>(wanted.value_or(0));
  void* base = length == 0 ? MAP_FAILED
                           : mmap(nullptr, length, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    return fail(Error::no_memory, "no memory for {}: {} bytes", what, bytes);
  }
  void* data = large ? large_page_boundary(base) : base;
  // Advice only: without it everything works, a few percent slower.
  if (large) madvise(data, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  std::unique_ptr<Memory> memory(new (std::nothrow) Mapping(base, length, data));
  if (!memory) {
    munmap(base, length);
    return fail(Error::no_memory, "no memory for {}", what);
  }
  return memory;
}

}  // namespace mummu::cpu
