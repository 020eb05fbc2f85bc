#include "async/fork_page.h"

#include <sys/mman.h>
#include <unistd.h>

namespace mummu {
namespace {

size_t page_bytes() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

ForkPage::ForkPage() noexcept {
  void* page =
      mmap(nullptr, page_bytes(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return;
  if (madvise(page, page_bytes(), MADV_WIPEONFORK) != 0) {
    munmap(page, page_bytes());
    return;
  }
  page_ = static_cast<volatile unsigned char*>(page);
  *page_ = 1;
}

ForkPage::~ForkPage() {
  if (page_) munmap(const_cast<unsigned char*>(page_), page_bytes());
}

}  // namespace mummu
