#pragma once

// Byte-pair encoding: a piece begins as single bytes or characters, and the neighbours whose merge
// has the lowest rank are merged, leftmost first, until none is left. O(n log n) in the length of a
// piece. Immutable; any thread.
//   source   arXiv 1508.07909 section 3.2

#include <array>
#include <atomic>
#include <memory>
#include <span>
#include <string>

#include "text/model.h"
#include "text/text_table.h"

namespace mummu {

// What two neighbours become, by their ids: a flat hash table of 16-byte entries.
class MergeTable {
 public:
  struct Merge {
    uint32_t rank = kNone;
    TokenId result = -1;
  };
  static constexpr uint32_t kNone = 0xffffffffu;  // also the rank of neighbours that do not merge

  void reserve(int64_t count);
  // The first merge of a pair counts; false for a later one.
  //   requires  room reserved, ids >= 0
  bool insert(TokenId left, TokenId right, Merge merge);

  // Calls visit(left, right) for every pair that is in.
  template <typename F>
  void for_each_pair(const F& visit) const {
    for (const Entry& entry : entries_)
      if (entry.key != kEmpty)
        visit(static_cast<TokenId>(entry.key >> 32), static_cast<TokenId>(entry.key & 0xffffffffu));
  }
  int64_t size() const { return size_; }

  Merge find(TokenId left, TokenId right) const {
    const uint64_t key = key_of(left, right);
    for (size_t at = (key * kMix) >> shift_;; at = (at + 1) & (entries_.size() - 1)) {
      if (entries_[at].key == key) return entries_[at].merge;
      if (entries_[at].key == kEmpty) return {};
    }
  }

 private:
  struct Entry {
    uint64_t key = kEmpty;
    Merge merge;
  };
  static constexpr uint64_t kEmpty = ~uint64_t{0};
  static constexpr uint64_t kMix = 0x9e3779b97f4a7c15u;  // 2^64 divided by the golden ratio
  static uint64_t key_of(TokenId left, TokenId right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32 | static_cast<uint32_t>(right);
  }

  std::vector<Entry> entries_ = std::vector<Entry>(2);
  int64_t size_ = 0;
  int shift_ = 63;
};

struct BpeOptions {
  bool bytes = false;          // pieces are raw bytes and begin as bytes; else as characters
  bool ignore_merges = false;  // a piece that is a token as a whole is that token, merges or not
  bool byte_fallback = false;  // a character that is no token becomes its bytes, <0x0A>
  bool fuse_unknown = false;
  TokenId unknown = -1;  // -1: what is no token is left out
  std::string prefix{};  // before each character but the first
  std::string suffix{};  // behind the last character
};

class Bpe final : public PieceModel {
 public:
  Bpe(Pieces pieces, MergeTable merges, BpeOptions options);

  void encode(std::string_view piece, ModelScratch& scratch,
              std::vector<TokenId>& out) const override;

 private:
  enum Whole : uint8_t { kUnknown, kYes, kNo };
  using Merge = MergeTable::Merge;

  TokenId id_of(std::string_view text) const { return pieces_.find(text); }
  void begin(std::string_view piece, std::vector<TokenId>& ids) const;
  void begin_bytes(std::string_view piece, std::vector<TokenId>& ids) const;
  void begin_characters(std::string_view piece, std::vector<TokenId>& ids) const;
  TokenId plain_character(std::string_view piece, size_t at, size_t size) const;
  TokenId decorated_character(std::string_view piece, size_t at, size_t size,
                              std::string& buffer) const;
  bool fall_back(std::string_view character, std::vector<TokenId>& ids) const;
  TokenId whole_token(std::string_view text) const;
  void encode_part(std::string_view part, ModelScratch& scratch, std::vector<TokenId>& out) const;
  void merge(std::string_view part, ModelScratch& scratch, std::vector<TokenId>& out) const;
  size_t merge_short(std::span<TokenId> ids) const;
  void merge_long(std::span<const TokenId> ids, ModelScratch& scratch) const;
  void find_joints();

  Pieces pieces_;
  MergeTable merges_;
  BpeOptions options_;
  size_t longest_ = 0;                    // bytes of the longest piece
  std::array<TokenId, 256> byte_ids_{};   // of raw bytes, or of <0x00>… with byte_fallback
  std::array<TokenId, 128> ascii_ids_{};  // of ASCII characters
  // Neighbours, as pieces begin, that some merge may stand across. A long piece is cut between all
  // other characters: no merge sees both sides, and many parts are words that are tokens as a
  // whole. Only for pieces of characters, which may be whole texts.
  MergeTable joints_;
  bool has_joints_ = false;
  // Whether the merges turn a token's text into just that token, found out at its first use.
  // Threads that find out at the same time write the same answer.
  std::unique_ptr<std::atomic<uint8_t>[]> whole_;
};

}  // namespace mummu
