#pragma once

// Which full page holds the keys and values of which tokens: a tree under the key (parent page, the
// page's own 16 tokens), never a bare hash, so a hit is always the same prefix. Pages that nobody
// holds stay until they are evicted, least recently used first; a page's children always leave
// before it, because whoever holds a child holds its parents too, and pages are let go last first.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "device/ops.h"
#include "mummu/tokenizer.h"

namespace mummu {

inline constexpr int32_t kNoPage = -1;

using PageTokens = std::span<const TokenId, static_cast<size_t>(kPageTokens)>;

class PrefixCache {
 public:
  // Forgets everything and allocates for this many pages; nothing allocates after this.
  void reset(int64_t pages);

  // The page that holds these tokens after `parent` (kNoPage at the beginning of a sequence), or
  // kNoPage.
  int32_t find(int32_t parent, PageTokens tokens) const;

  // Makes `page` findable, unless another is already there under the same key. Returns the one
  // that is.
  //   requires  parent is kNoPage or known
  int32_t insert(int32_t parent, PageTokens tokens, int32_t page);

  bool knows(int32_t page) const { return nodes_[static_cast<size_t>(page)].known; }

  // Nobody holds this page any more: it may be evicted from now on.
  void let_go(int32_t page);
  // Somebody holds it again.
  void hold(int32_t page);
  // Forgets the page that was let go first, and gives it back; kNoPage when there is none.
  int32_t evict();

  int64_t idle() const { return idle_; }  // pages that evict could give

 private:
  struct Node {
    std::array<TokenId, static_cast<size_t>(kPageTokens)> tokens = {};
    int32_t parent = kNoPage;
    int32_t children = 0;
    int32_t next_in_bucket = kNoPage;
    int32_t older = kNoPage, newer = kNoPage;  // in the list of idle pages
    bool known = false;
    bool idle = false;
  };

  size_t bucket(int32_t parent, PageTokens tokens) const;
  Node& node(int32_t page) { return nodes_[static_cast<size_t>(page)]; }
  void unlink_idle(int32_t page);
  void forget(int32_t page);

  std::vector<Node> nodes_;       // by page
  std::vector<int32_t> buckets_;  // first page of each chain
  int32_t oldest_ = kNoPage, newest_ = kNoPage;
  int64_t idle_ = 0;
};

}  // namespace mummu
