#include "engine/test/drawn_qwen2.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "base/philox.h"
#include "file/test_writer.h"

namespace mummu::test {
namespace {

constexpr uint64_t kLayers = 2, kHidden = 64, kHeads = 4, kKvHeads = 2, kFfn = 128;
constexpr uint64_t kKv = kHidden / kHeads * kKvHeads;
constexpr uint32_t kF32 = 0, kQ8 = 8;  // ggml's numbers of types
constexpr uint64_t kSeed = 20261130;

// Tensors and their data, one behind the other.
class Weights {
 public:
  // int8 over the whole range, with one scale for all blocks.
  void matrix(const std::string& name, uint64_t rows, uint64_t columns, uint16_t scale) {
    begin(name, {columns, rows}, kQ8);
    for (uint64_t block = 0; block < rows * columns / 32; ++block) {
      parts.data += raw(scale);
      for (int64_t half = 0; half < 2; ++half) {
        const auto words = random_words(kSeed, next_++, half);
        parts.data.append(reinterpret_cast<const char*>(words.data()), sizeof words);
      }
    }
  }

  // Numbers in [middle - 0.1, middle + 0.1).
  void vector(const std::string& name, uint64_t count, double middle) {
    begin(name, {count}, kF32);
    for (uint64_t i = 0; i < count; ++i)
      parts.data += raw(static_cast<float>(middle + 0.2 * random_uniform(kSeed, next_++, 0) - 0.1));
  }

  GgufParts parts;

 private:
  void begin(const std::string& name, const std::vector<uint64_t>& dimensions, uint32_t type) {
    parts.data.append((32 - parts.data.size() % 32) % 32, '\0');
    parts.tensors.push_back(raw_tensor(name + (name.ends_with("bias") ? "" : ".weight"), dimensions,
                                       type, parts.data.size()));
  }

  int64_t next_ = 0;
};

void add_layer(Weights& to, const std::string& layer) {
  constexpr uint16_t kScale = 0x1400;  // 2^-10: numbers up to about 1 / sqrt(64)
  to.vector(layer + "attn_norm", kHidden, 1);
  to.matrix(layer + "attn_q", kHidden, kHidden, kScale);
  to.matrix(layer + "attn_k", kKv, kHidden, kScale);
  to.matrix(layer + "attn_v", kKv, kHidden, kScale);
  to.vector(layer + "attn_q.bias", kHidden, 0);
  to.vector(layer + "attn_k.bias", kKv, 0);
  to.vector(layer + "attn_v.bias", kKv, 0);
  to.matrix(layer + "attn_output", kHidden, kHidden, kScale);
  to.vector(layer + "ffn_norm", kHidden, 1);
  to.matrix(layer + "ffn_gate", kFfn, kHidden, kScale);
  to.matrix(layer + "ffn_up", kFfn, kHidden, kScale);
  to.matrix(layer + "ffn_down", kHidden, kFfn, kScale);
}

// Replaces a u32 of the file's metadata.
void set(std::string& bytes, const std::string& key, uint32_t value) {
  const std::string entry = raw_string(key) + raw(uint32_t{4});  // 4: GGUF's u32
  const size_t at = bytes.find(entry);
  ASSERT_NE(at, std::string::npos) << key;
  std::memcpy(bytes.data() + at + entry.size(), &value, sizeof value);
}

}  // namespace

std::string drawn_qwen2(const std::string& vocabulary) {
  std::ifstream file(vocabulary, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  set(bytes, "qwen2.block_count", kLayers);
  set(bytes, "qwen2.context_length", 256);
  set(bytes, "qwen2.embedding_length", kHidden);
  set(bytes, "qwen2.feed_forward_length", kFfn);
  set(bytes, "qwen2.attention.head_count", kHeads);
  set(bytes, "qwen2.attention.head_count_kv", kKvHeads);
  uint64_t keys = 0;
  std::memcpy(&keys, bytes.data() + 16, sizeof keys);

  constexpr uint64_t kVocab = 151936;
  Weights weights;
  weights.matrix("token_embd", kVocab, kHidden, 0x1C00);  // 2^-8: logits of a few units
  for (uint64_t i = 0; i < kLayers; ++i) add_layer(weights, "blk." + std::to_string(i) + ".");
  weights.vector("output_norm", kHidden, 1);
  GgufParts& parts = weights.parts;
  parts.key_count = keys;
  parts.entries = {bytes.substr(24)};  // behind magic, version and the two counts
  return parts.bytes();
}

}  // namespace mummu::test
