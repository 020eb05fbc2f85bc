#include "device/cpu/memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"

namespace mummu::cpu {
namespace {

constexpr int64_t kSlabBytes = int64_t{64} << 20;
constexpr int64_t kTouchedAhead = int64_t{8} << 20;
constexpr int64_t kAlignment = 64;

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

// Rounds up to the alignment, at least one unit of it.
std::optional<int64_t> aligned(int64_t bytes) {
  const auto up = checked_add(std::max<int64_t>(bytes, 1), kAlignment - 1);
  return up ? std::optional(*up / kAlignment * kAlignment) : up;
}

}  // namespace

Result<std::unique_ptr<Memory>> allocate(int64_t bytes, std::string_view what) {
  const bool large = bytes >= kLargePage;
  const auto least = aligned(bytes);
  const auto wanted = least ? checked_add(*least, large ? kLargePage : 0) : least;
  const auto length = static_cast<size_t>(wanted.value_or(0));
  void* base = length == 0 ? MAP_FAILED
                           : mmap(nullptr, length, PROT_READ | PROT_WRITE,
                                  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    return fail(Error::no_memory, "no memory for {}: {} bytes", what, bytes);
  }
  void* data = large ? large_page_boundary(base) : base;
  // Advice only: without it everything works, but slower.
  if (large) madvise(data, static_cast<size_t>(bytes), MADV_HUGEPAGE);
  std::unique_ptr<Memory> memory(new (std::nothrow) Mapping(base, length, data));
  if (!memory) {
    munmap(base, length);
    return fail(Error::no_memory, "no memory for {}", what);
  }
  return memory;
}

Result<std::byte*> Scratch::take(int64_t bytes, std::string_view what) {
  if (!memory_ || bytes_ < bytes) {
    memory_.reset();
    MUMMU_TRY(memory_, allocate(bytes, what));
    bytes_ = bytes;
  }
  return static_cast<std::byte*>(memory_->data());
}

struct Arena::Slab {
  std::unique_ptr<Memory> memory;
  int64_t bytes;
  std::atomic<int64_t> users{1};

  void leave() {
    if (users.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
};

namespace {

// Gives the pages inside back to the system; nobody looks at them again. Advice only.
void drop_pages(std::byte* data, int64_t bytes) {
  constexpr uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t begin = (address + kPage - 1) / kPage * kPage;
  const uintptr_t end = (address + static_cast<uintptr_t>(bytes)) / kPage * kPage;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
}

// The arena keeps its last slab while it lives, so a piece that goes takes its pages along.
class Piece final : public Memory {
 public:
  Piece(Arena::Slab& slab, int64_t offset, int64_t bytes)
      : slab_(slab), data_(static_cast<std::byte*>(slab.memory->data()) + offset), bytes_(bytes) {
    slab_.users.fetch_add(1, std::memory_order_relaxed);
  }
  Piece(const Piece&) = delete;
  Piece& operator=(const Piece&) = delete;
  ~Piece() override {
    drop_pages(data_, bytes_);
    slab_.leave();
  }

  void* data() override { return data_; }

 private:
  Arena::Slab& slab_;
  std::byte* data_;
  int64_t bytes_;
};

}  // namespace

Arena::~Arena() {
  if (slab_ != nullptr) slab_->leave();
}

Result<void> Arena::next_slab(int64_t bytes, std::string_view what) {
  MUMMU_TRY(auto memory, cpu::allocate(bytes, what));
  auto* slab = new (std::nothrow) Slab{std::move(memory), bytes};
  if (slab == nullptr) return fail(Error::no_memory, "no memory for {}", what);
  if (slab_ != nullptr) slab_->leave();
  slab_ = slab;
  used_ = fresh_ = 0;
  return {};
}

void Arena::seal() {
  fresh_ = std::max(fresh_, (used_ + kLargePage - 1) / kLargePage * kLargePage);
}

// As much again as is used, so that a small model touches little.
void Arena::touch_ahead(Schedule& schedule) {
  if (used_ <= fresh_) return;
  const int64_t end = std::min(slab_->bytes, used_ + std::min(used_, kTouchedAhead));
  const int64_t pages = std::max<int64_t>(0, end - fresh_) / kLargePage;
  auto* from = static_cast<volatile std::byte*>(slab_->memory->data()) + fresh_;
  if (pages > 0) schedule.each(pages, [&](int64_t page) { from[page * kLargePage] = {}; });
  fresh_ += pages * kLargePage;
}

Result<std::unique_ptr<Memory>> Arena::allocate(int64_t bytes, std::string_view what) {
  const int64_t wanted = aligned(bytes).value_or(bytes);
  if (slab_ == nullptr || slab_->bytes - used_ < wanted)
    MUMMU_TRY(next_slab(std::max(kSlabBytes, wanted), what));
  std::unique_ptr<Memory> piece(new (std::nothrow) Piece(*slab_, used_, wanted));
  if (!piece) return fail(Error::no_memory, "no memory for {}", what);
  used_ += wanted;
  return piece;
}

}  // namespace mummu::cpu
