#include "engine/prefix_cache.h"

#include <algorithm>
#include <bit>
#include <cassert>

namespace mummu {

void PrefixCache::reset(int64_t pages) {
  const auto count = static_cast<size_t>(pages);
  nodes_.assign(count, {});
  buckets_.assign(std::bit_ceil(count + 1), kNoPage);
  oldest_ = newest_ = kNoPage;
  idle_ = 0;
}

// The hash only picks a chain; the chain is searched by the whole key.
size_t PrefixCache::bucket(int32_t parent, PageTokens tokens) const {
  uint64_t hash = static_cast<uint32_t>(parent);
  for (TokenId id : tokens) {
    hash ^= static_cast<uint32_t>(id);
    hash *= 0x9E3779B97F4A7C15;  // 2^64 divided by the golden ratio
    hash ^= hash >> 32;
  }
  return static_cast<size_t>(hash) & (buckets_.size() - 1);
}

int32_t PrefixCache::find(int32_t parent, PageTokens tokens) const {
  int32_t page = buckets_[bucket(parent, tokens)];
  while (page != kNoPage) {
    const Node& node = nodes_[static_cast<size_t>(page)];
    if (node.parent == parent && std::equal(tokens.begin(), tokens.end(), node.tokens.begin()))
      return page;
    page = node.next_in_bucket;
  }
  return kNoPage;
}

int32_t PrefixCache::insert(int32_t parent, PageTokens tokens, int32_t page) {
  const int32_t found = find(parent, tokens);
  if (found != kNoPage) return found;
  assert(!node(page).known && (parent == kNoPage || node(parent).known));
  Node& made = node(page);
  std::copy(tokens.begin(), tokens.end(), made.tokens.begin());
  made.parent = parent;
  made.children = 0;
  made.known = true;
  int32_t& head = buckets_[bucket(parent, tokens)];
  made.next_in_bucket = head;
  head = page;
  if (parent != kNoPage) ++node(parent).children;
  return page;
}

void PrefixCache::let_go(int32_t page) {
  Node& gone = node(page);
  assert(gone.known && !gone.idle);
  gone.idle = true;
  gone.older = newest_;
  gone.newer = kNoPage;
  (newest_ == kNoPage ? oldest_ : node(newest_).newer) = page;
  newest_ = page;
  ++idle_;
}

void PrefixCache::unlink_idle(int32_t page) {
  Node& gone = node(page);
  assert(gone.idle);
  (gone.older == kNoPage ? oldest_ : node(gone.older).newer) = gone.newer;
  (gone.newer == kNoPage ? newest_ : node(gone.newer).older) = gone.older;
  gone.idle = false;
  --idle_;
}

void PrefixCache::hold(int32_t page) { unlink_idle(page); }

void PrefixCache::forget(int32_t page) {
  Node& gone = node(page);
  assert(gone.children == 0);
  int32_t* link = &buckets_[bucket(gone.parent, gone.tokens)];
  while (*link != page) link = &node(*link).next_in_bucket;
  *link = gone.next_in_bucket;
  if (gone.parent != kNoPage) --node(gone.parent).children;
  gone.known = false;
}

int32_t PrefixCache::evict() {
  const int32_t page = oldest_;
  if (page == kNoPage) return kNoPage;
  unlink_idle(page);
  forget(page);
  return page;
}

}  // namespace mummu
