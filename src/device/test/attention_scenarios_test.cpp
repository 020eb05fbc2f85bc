// Scenarios of the ops on pages: kv_write and attention.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "device/test/scenario.h"

namespace mummu::test {
namespace {

constexpr DType kKvTypes[] = {DType::f16, DType::f32, DType::bf16, DType::q8_0};

struct Heads {
  int64_t heads, kv_heads, head_dim;
};

// One sequence: how many tokens it held before the step, and how many the step brings.
struct Past {
  int64_t before, tokens;
};

// Sequences whose pages lie in the pool out of order and mixed, with NaNs in every byte that was
// never written, and a second layer around the one under test.
class Sequences {
 public:
  Sequences(Bed& bed, Heads heads, DType type, std::vector<Past> pasts, Kind kind)
      : bed_(bed), heads_(heads), pasts_(std::move(pasts)), kind_(kind) {
    layer_.type = type;
    layer_.kv_heads = heads.kv_heads;
    layer_.head_dim = heads.head_dim;
    layer_.layer_offset_bytes = layer_.bytes();
    deal_pages();
    const auto columns = 3 * layer_.bytes();
    layer_.pool = bed.bytes(
        page_count_, columns,
        std::vector<std::byte>(static_cast<size_t>(page_count_ * columns), std::byte{0xFF}));
    for (const Past& past : pasts_) rows_ += past.tokens;
  }

  const KvLayer& layer() const { return layer_; }

  // Fills the tokens from before the step, a sequence a step.
  void write_past() {
    for (size_t i = 0; i < pasts_.size(); ++i) {
      if (pasts_[i].before == 0) continue;
      const Segment segment{0, pasts_[i].before, 0, pages_[i]};
      write(pasts_[i].before, {&segment, 1}, 80 + i);
    }
  }

  // The step: its keys and values, then attention of its queries.
  std::vector<float> step(const std::vector<Segment>& segments) {
    const int64_t columns = heads_.heads * heads_.head_dim;
    write(rows_, segments, 90);
    const View q = bed_.floats(rows_, columns, values(91, rows_ * columns));
    const View out = bed_.blank(rows_, columns);
    const float scale = 0.125F;
    bed_.step([&] { bed_.ops().attention(q, heads_.heads, scale, layer_, segments, out); });
    return bed_.read(out);
  }

  // The step's segments, rows in the order of the sequences.
  std::vector<Segment> segments() const {
    std::vector<Segment> all;
    int64_t row = 0;
    for (size_t i = 0; i < pasts_.size(); ++i) {
      all.push_back({row, pasts_[i].tokens, pasts_[i].before, pages_[i]});
      row += pasts_[i].tokens;
    }
    return all;
  }

 private:
  void deal_pages() {
    std::vector<int64_t> counts;
    for (const Past& past : pasts_) {
      counts.push_back((past.before + past.tokens + kPageTokens - 1) / kPageTokens);
    }
    page_count_ = std::accumulate(counts.begin(), counts.end(), int64_t{2});
    std::vector<int32_t> pages(static_cast<size_t>(page_count_));
    std::iota(pages.begin(), pages.end(), 0);
    Numbers numbers(79);
    for (int64_t i = page_count_ - 1; i > 0; --i) {
      std::swap(pages[static_cast<size_t>(i)], pages[static_cast<size_t>(numbers.below(i + 1))]);
    }
    auto next = pages.begin();
    for (int64_t count : counts) {
      pages_.emplace_back(next, next + count);
      next += count;
    }
  }

  std::vector<float> values(uint64_t seed, int64_t count) {
    if (kind_ == Kind::ordinary) return Numbers(seed).values(count);
    // One number that is not finite takes its whole block of q8_0 along.
    return Numbers(seed, Kind::odd).mostly_ordinary(count, layer_.type == DType::q8_0 ? 4000 : 400);
  }

  void write(int64_t rows, std::span<const Segment> segments, uint64_t seed) {
    const int64_t columns = heads_.kv_heads * heads_.head_dim;
    const View k = bed_.floats(rows, columns, values(seed, rows * columns));
    const View v = bed_.floats(rows, columns, values(seed + 100, rows * columns));
    bed_.step([&] { bed_.ops().kv_write(k, v, layer_, segments); });
  }

  Bed& bed_;
  Heads heads_;
  std::vector<Past> pasts_;
  Kind kind_;
  KvLayer layer_;
  std::vector<std::vector<int32_t>> pages_;
  int64_t page_count_ = 0;
  int64_t rows_ = 0;
};

std::vector<float> attend(Bed& bed, Heads heads, DType type, std::vector<Past> pasts, Kind kind) {
  bed.reserve(64, 2048);  // a device may want scratch to share one sequence out
  Sequences sequences(bed, heads, type, std::move(pasts), kind);
  sequences.write_past();
  return sequences.step(sequences.segments());
}

std::vector<float> attend_both_ways(Bed& bed, Heads heads, DType type, std::vector<Past> pasts,
                                    Kind kind) {
  bed.reserve(64, 2048);
  Sequences sequences(bed, heads, type, std::move(pasts), kind);
  sequences.write_past();
  std::vector<Segment> segments = sequences.segments();
  for (Segment& segment : segments) segment.both_ways = true;
  return sequences.step(segments);
}

// What a pool holds after a step, as numbers.
std::vector<float> written(Bed& bed, DType type, Kind kind) {
  const Heads heads{3, 3, 20};
  Sequences sequences(bed, heads, type, {{0, 1}, {15, 3}, {0, 0}, {30, 40}}, kind);
  sequences.write_past();
  sequences.step(sequences.segments());
  const std::vector<std::byte> bytes = bed.read_bytes(sequences.layer().pool);
  std::vector<float> out;
  const size_t size = type == DType::q8_0 ? 1 : static_cast<size_t>(info(type).bytes);
  for (size_t at = 0; at < bytes.size(); at += size) {
    if (type == DType::f32) {
      float value;
      std::memcpy(&value, bytes.data() + at, size);
      out.push_back(value);
    } else if (type == DType::q8_0) {
      out.push_back(static_cast<float>(bytes[at]));
    } else {
      const int infinity = type == DType::f16 ? 0x7C00 : 0x7F80;
      uint16_t half;
      std::memcpy(&half, bytes.data() + at, size);
      if ((half & 0x7FFF) > infinity) half = 0x7E00;  // a NaN is a NaN
      out.push_back(static_cast<float>(half));
    }
  }
  return out;
}

}  // namespace

std::vector<Scenario> kv_write_scenarios() {
  std::vector<Scenario> all;
  for (DType type : kKvTypes) {
    for (Kind kind : {Kind::ordinary, Kind::odd}) {
      all.push_back({fmt::format("{}{}", name(type), kind == Kind::odd ? " odd" : ""),
                     [=](Bed& bed) { return written(bed, type, kind); }});
    }
  }
  return all;
}

std::vector<Scenario> attention_scenarios() {
  std::vector<Scenario> all;
  for (DType type : kKvTypes) {
    const auto add = [&](std::string name, Heads heads, std::vector<Past> pasts,
                         Kind kind = Kind::ordinary) {
      all.push_back({fmt::format("{} {}", mummu::name(type), name),
                     [=](Bed& bed) { return attend(bed, heads, type, pasts, kind); }});
    };
    for (int64_t position : {0, 1, 14, 15, 16, 17, 31, 32, 511, 512, 513, 1023, 1024, 1100}) {
      add(fmt::format("one token at {}", position), {3, 1, 64}, {{position, 1}});
    }
    for (int64_t head_dim : {1, 7, 16, 20, 64, 80, 96, 128, 256}) {
      add(fmt::format("heads of {}", head_dim), {6, 2, head_dim}, {{17, 1}, {3, 5}});
    }
    for (int64_t group : {1, 3, 7, 8}) {
      add(fmt::format("{} heads a kv head", group), {group * 3, 3, 32}, {{40, 1}, {0, 9}});
    }
    add("a chunk over a page's edge", {3, 1, 64}, {{10, 20}});
    add("a chunk over a span's edge", {3, 1, 64}, {{500, 30}});
    add("a prompt from the start", {2, 2, 32}, {{0, 70}});
    add("many sequences", {9, 3, 64}, {{0, 1}, {600, 1}, {15, 2}, {0, 0}, {31, 18}, {512, 1}});
    add("one token at 2700", {9, 3, 64}, {{2700, 1}});
    add("few tokens behind many", {6, 2, 80}, {{1530, 4}, {1100, 1}});
    add("nothing", {3, 1, 64}, {});
    add("odd one token", {3, 3, 48}, {{50, 1}}, Kind::odd);
    add("odd chunks", {6, 2, 40}, {{520, 3}, {0, 33}}, Kind::odd);
  }
  const std::vector<Past> long_ones = {{0, 70}, {0, 1}, {0, 16}, {0, 33}, {500, 30}, {0, 600}};
  const std::vector<Past> short_ones = {{0, 5}, {0, 2}, {0, 9}, {0, 1}, {0, 12}, {0, 3}};
  for (DType type : {DType::f16, DType::f32})
    for (Kind kind : {Kind::ordinary, Kind::odd})
      for (const Heads heads : {Heads{3, 3, 32}, Heads{6, 2, 40}})
        all.push_back({fmt::format("{} both ways {} heads{}", name(type), heads.heads,
                                   kind == Kind::odd ? " odd" : ""),
                       [=](Bed& bed) {
                         const auto& pasts = kind == Kind::odd ? short_ones : long_ones;
                         return attend_both_ways(bed, heads, type, pasts, kind);
                       }});
  return all;
}

}  // namespace mummu::test
