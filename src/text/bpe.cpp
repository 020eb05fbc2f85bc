#include "text/bpe.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "text/utf8.h"

namespace mummu {
namespace {

// Up to so many symbols a scan for the lowest rank is faster than a heap.
constexpr size_t kShort = 64;

struct LaterFirst {
  bool operator()(const ModelScratch::Candidate& a, const ModelScratch::Candidate& b) const {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  }
};

}  // namespace

void MergeTable::reserve(int64_t count) {
  const auto slots = std::bit_ceil(static_cast<uint64_t>(count) * 2 + 2);
  entries_.assign(slots, Entry{});
  shift_ = 64 - std::countr_zero(slots);
}

bool MergeTable::insert(TokenId left, TokenId right, Merge merge) {
  const uint64_t key = key_of(left, right);
  size_t at = (key * kMix) >> shift_;
  while (entries_[at].key != kEmpty) {
    if (entries_[at].key == key) return false;
    at = (at + 1) & (entries_.size() - 1);
  }
  entries_[at] = {key, merge};
  ++size_;
  return true;
}

Bpe::Bpe(Pieces pieces, MergeTable merges, BpeOptions options)
    : pieces_(std::move(pieces)), merges_(std::move(merges)), options_(std::move(options)) {
  const auto count = static_cast<size_t>(pieces_.texts.size());
  for (size_t i = 0; i < count; ++i)
    longest_ = std::max(longest_, pieces_.texts[static_cast<TokenId>(i)].size());
  whole_ = std::make_unique<std::atomic<uint8_t>[]>(count);
  for (int byte = 0; byte < 256; ++byte) {
    const char raw = static_cast<char>(byte);
    byte_ids_[static_cast<size_t>(byte)] =
        options_.bytes ? id_of({&raw, 1}) : id_of(fmt::format("<0x{:02X}>", byte));
    if (byte < 128) ascii_ids_[static_cast<size_t>(byte)] = id_of({&raw, 1});
  }
  if (!options_.bytes && options_.prefix.empty() && options_.suffix.empty()) find_joints();
}

// A merge stands between the last symbol that its left part began as and the first of its right
// part: their characters, or they themselves where they are what a character becomes.
void Bpe::find_joints() {
  const auto begins_as_itself = [this](TokenId id) {
    return id == options_.unknown || std::ranges::find(byte_ids_, id) != byte_ids_.end();
  };
  std::vector<std::array<TokenId, 2>> ends(static_cast<size_t>(pieces_.texts.size()), {-1, -1});
  for (TokenId id = 0; id < pieces_.texts.size(); ++id) {
    const std::string_view text = pieces_.texts[id];
    if (text.empty()) continue;
    const auto first = static_cast<size_t>(code_point_at(text, 0).size);
    ends[static_cast<size_t>(id)] = {id_of(text.substr(0, first)),
                                     id_of(text.substr(code_point_before(text, text.size())))};
  }
  joints_.reserve(4 * merges_.size());
  merges_.for_each_pair([&](TokenId left, TokenId right) {
    TokenId lefts[] = {ends[static_cast<size_t>(left)][1], begins_as_itself(left) ? left : -1};
    TokenId rights[] = {ends[static_cast<size_t>(right)][0], begins_as_itself(right) ? right : -1};
    for (const TokenId a : lefts)
      for (const TokenId b : rights)
        if (a >= 0 && b >= 0) joints_.insert(a, b, {0, 0});
  });
  has_joints_ = true;
}

void Bpe::encode(std::string_view piece, ModelScratch& scratch, std::vector<TokenId>& out) const {
  if (piece.empty()) return;
  if (options_.ignore_merges) {
    const TokenId whole = whole_token(piece);
    if (whole >= 0) return out.push_back(whole);
  }
  if (!has_joints_ || piece.size() <= kShort) return encode_part(piece, scratch, out);
  size_t begin = 0, at = 0;
  for (TokenId last = -1; at < piece.size();) {
    const auto size = static_cast<size_t>(code_point_at(piece, at).size);
    const TokenId id = plain_character(piece, at, size);
    if (last >= 0 && id >= 0 && joints_.find(last, id).rank == MergeTable::kNone) {
      encode_part(piece.substr(begin, at - begin), scratch, out);
      begin = at;
    }
    last = id;
    at += size;
  }
  encode_part(piece.substr(begin), scratch, out);
}

TokenId Bpe::whole_token(std::string_view text) const {
  return text.size() <= longest_ ? id_of(text) : -1;
}

void Bpe::encode_part(std::string_view part, ModelScratch& scratch,
                      std::vector<TokenId>& out) const {
  const TokenId whole = whole_token(part);
  if (whole < 0) return merge(part, scratch, out);
  auto& known = whole_[static_cast<size_t>(whole)];
  const uint8_t state = known.load(std::memory_order_relaxed);
  if (state == kYes) return out.push_back(whole);
  const size_t before = out.size();
  merge(part, scratch, out);
  if (state != kUnknown) return;
  const bool yes = out.size() == before + 1 && out.back() == whole;
  known.store(yes ? kYes : kNo, std::memory_order_relaxed);
}

void Bpe::merge(std::string_view part, ModelScratch& scratch, std::vector<TokenId>& out) const {
  scratch.ids.clear();
  begin(part, scratch.ids);
  const std::span<TokenId> ids(scratch.ids);
  if (ids.size() <= kShort) {
    const auto merged = ids.first(merge_short(ids));
    out.insert(out.end(), merged.begin(), merged.end());
    return;
  }
  merge_long(ids, scratch);
  for (int32_t at = 0; at >= 0; at = scratch.symbols[static_cast<size_t>(at)].next)
    out.push_back(scratch.symbols[static_cast<size_t>(at)].id);
}

void Bpe::begin(std::string_view piece, std::vector<TokenId>& ids) const {
  options_.bytes ? begin_bytes(piece, ids) : begin_characters(piece, ids);
}

void Bpe::begin_bytes(std::string_view piece, std::vector<TokenId>& ids) const {
  TokenId last = -1;  // of the byte before: unknown bytes in a row are one where the file says so
  for (const char byte : piece) {
    TokenId id = byte_ids_[static_cast<unsigned char>(byte)];
    if (id < 0) id = options_.unknown;
    if (id < 0) continue;
    const bool fused = id == options_.unknown && id == last && options_.fuse_unknown;
    if (!fused) ids.push_back(id);
    last = id;
  }
}

void Bpe::begin_characters(std::string_view piece, std::vector<TokenId>& ids) const {
  const bool decorated = !options_.prefix.empty() || !options_.suffix.empty();
  bool unknown = false;  // one waits to be written, so that those that follow can join it
  std::string buffer;
  for (size_t at = 0; at < piece.size();) {
    const auto size = static_cast<size_t>(code_point_at(piece, at).size);
    const TokenId id =
        decorated ? decorated_character(piece, at, size, buffer) : plain_character(piece, at, size);
    if (id >= 0) {
      if (unknown) ids.push_back(options_.unknown);
      unknown = false;
      ids.push_back(id);
    } else if (!fall_back(decorated ? buffer : piece.substr(at, size), ids) &&
               options_.unknown >= 0) {
      if (unknown && !options_.fuse_unknown) ids.push_back(options_.unknown);
      unknown = true;
    }
    at += size;
  }
  if (unknown) ids.push_back(options_.unknown);
}

TokenId Bpe::plain_character(std::string_view piece, size_t at, size_t size) const {
  return size == 1 ? ascii_ids_[static_cast<unsigned char>(piece[at])]
                   : id_of(piece.substr(at, size));
}

// The id of one character with what the file puts around it; the decorated text stays in buffer.
TokenId Bpe::decorated_character(std::string_view piece, size_t at, size_t size,
                                 std::string& buffer) const {
  buffer.clear();
  if (at > 0) buffer += options_.prefix;
  buffer += piece.substr(at, size);
  if (at + size == piece.size()) buffer += options_.suffix;
  return id_of(buffer);
}

bool Bpe::fall_back(std::string_view character, std::vector<TokenId>& ids) const {
  if (!options_.byte_fallback) return false;
  const auto id = [this](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (!std::ranges::all_of(character, [&](char byte) { return id(byte) >= 0; })) return false;
  for (const char byte : character) ids.push_back(id(byte));
  return true;
}

// Merges in place; the number of symbols that are left stand at the front.
size_t Bpe::merge_short(std::span<TokenId> ids) const {
  std::array<Merge, kShort> merges;  // of the symbol at i and its right neighbour
  size_t count = ids.size();
  for (size_t i = 0; i + 1 < count; ++i) merges[i] = merges_.find(ids[i], ids[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i)
      if (merges[i].rank < merges[best].rank) best = i;
    if (merges[best].rank == MergeTable::kNone) break;
    ids[best] = merges[best].result;
    --count;
    std::copy(ids.begin() + static_cast<ptrdiff_t>(best) + 2,
              ids.begin() + static_cast<ptrdiff_t>(count) + 1,
              ids.begin() + static_cast<ptrdiff_t>(best) + 1);
    std::copy(merges.begin() + best + 1, merges.begin() + count, merges.begin() + best);
    if (best > 0) merges[best - 1] = merges_.find(ids[best - 1], ids[best]);
    if (best + 1 < count) merges[best] = merges_.find(ids[best], ids[best + 1]);
  }
  return count;
}

// A heap of candidates over a linked list of symbols. A candidate whose symbols have changed since
// is passed over.
void Bpe::merge_long(std::span<const TokenId> ids, ModelScratch& scratch) const {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.heap;
  const auto count = static_cast<int32_t>(ids.size());
  symbols.clear();
  heap.clear();
  for (int32_t i = 0; i < count; ++i)
    symbols.push_back({ids[static_cast<size_t>(i)], i - 1, i + 1 < count ? i + 1 : -1});
  const auto symbol = [&symbols](int32_t at) -> ModelScratch::Symbol& {
    return symbols[static_cast<size_t>(at)];
  };
  const auto candidate = [&](int32_t at) {
    const Merge merge = merges_.find(symbol(at).id, symbol(symbol(at).next).id);
    return ModelScratch::Candidate{merge.rank, at, merge.result};
  };
  const auto push = [&](int32_t at) {
    const auto found = candidate(at);
    if (found.rank == MergeTable::kNone) return;
    heap.push_back(found);
    std::push_heap(heap.begin(), heap.end(), LaterFirst{});
  };
  for (int32_t i = 0; i + 1 < count; ++i)
    if (const auto found = candidate(i); found.rank != MergeTable::kNone) heap.push_back(found);
  std::make_heap(heap.begin(), heap.end(), LaterFirst{});
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), LaterFirst{});
    const auto top = heap.back();
    heap.pop_back();
    ModelScratch::Symbol& left = symbol(top.at);
    if (left.id < 0 || left.next < 0 || candidate(top.at).result != top.result) continue;
    ModelScratch::Symbol& right = symbol(left.next);
    left.id = top.result;
    left.next = right.next;
    right.id = -1;
    if (left.next >= 0) symbol(left.next).previous = top.at;
    if (left.previous >= 0) push(left.previous);
    if (left.next >= 0) push(top.at);
  }
}

}  // namespace mummu
