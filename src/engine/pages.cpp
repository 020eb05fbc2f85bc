#include "engine/pages.h"

#include <cassert>

namespace mummu {

void Pages::reset(int64_t count) {
  holders_.assign(static_cast<size_t>(count), 0);
  free_.clear();
  free_.reserve(static_cast<size_t>(count));
  for (int64_t page = count; page-- > 0;) free_.push_back(static_cast<int32_t>(page));
  cache_.reset(count);
}

int32_t Pages::take() {
  int32_t page = kNoPage;
  if (!free_.empty()) {
    page = free_.back();
    free_.pop_back();
  } else {
    page = cache_.evict();
  }
  if (page != kNoPage) holders_[static_cast<size_t>(page)] = 1;
  return page;
}

void Pages::hold(int32_t page) {
  if (holders_[static_cast<size_t>(page)]++ == 0) cache_.hold(page);
}

void Pages::release(int32_t page) {
  int32_t& holders = holders_[static_cast<size_t>(page)];
  assert(holders > 0);
  if (--holders > 0) return;
  if (cache_.knows(page))
    cache_.let_go(page);
  else
    free_.push_back(page);
}

void Pages::release_all(std::vector<int32_t>& pages) {
  while (!pages.empty()) {
    release(pages.back());
    pages.pop_back();
  }
}

}  // namespace mummu
