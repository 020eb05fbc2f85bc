#pragma once

// For tests: a decoder loaded without its tokenizer, and one sequence run through it.

#include <cstdint>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "file/safetensors.h"
#include "model/checkpoint.h"
#include "model/load_weights.h"
#include "mummu/device.h"

namespace mummu::test {

struct LoadedDecoder {
  std::unique_ptr<Checkpoint> checkpoint = {};
  std::unique_ptr<Decoder> decoder = {};
  Ops* ops = nullptr;
};

inline Result<LoadedDecoder> load_decoder(const std::string& path, const Device& device,
                                          std::optional<DType> quantise = {}) {
  LoadedDecoder loaded;
  MUMMU_TRY(auto checkpoint, open_checkpoint(path));
  loaded.checkpoint = std::make_unique<Checkpoint>(std::move(checkpoint));
  loaded.decoder = std::make_unique<Decoder>();
  loaded.ops = &device.ops();
  WeightPlan plan(loaded.checkpoint->table(), loaded.checkpoint->format, device.ops(), quantise);
  loaded.checkpoint->family->bind(loaded.checkpoint->config, plan, *loaded.decoder);
  MUMMU_TRY(plan.check());
  WeightLoad load(plan, device.ops());
  while (true) {
    MUMMU_TRY(const bool more, load.step(int64_t{16} << 20));
    if (!more) return loaded;
  }
}

// Runs one sequence in pieces, and keeps the logits and, if asked, the residual streams of all
// rows.
class Sequence {
 public:
  Sequence(const LoadedDecoder& loaded, int64_t tokens, DType kv, bool watch = false)
      : loaded_(loaded), watch_(watch) {
    const int64_t pages = (tokens + kPageTokens - 1) / kPageTokens;
    auto state = loaded.decoder->make_state(
        *loaded.ops, {.pages = pages, .tokens = tokens, .wanted = tokens, .kv = kv});
    state_ = std::make_unique<DecoderState>(std::move(state).value());
    pages_.resize(static_cast<size_t>(pages));
    std::iota(pages_.rbegin(), pages_.rend(), 0);
    hidden.resize(loaded.decoder->layers.size() + 1);
  }

  // Feeds the next tokens; appends their logits.
  void feed(std::span<const TokenId> ids) {
    const auto rows = static_cast<int64_t>(ids.size());
    std::vector<int32_t> positions(ids.size());
    std::vector<int32_t> wanted(ids.size());
    std::iota(positions.begin(), positions.end(), static_cast<int32_t>(position_));
    std::iota(wanted.begin(), wanted.end(), 0);
    const Segment segment{.tokens = rows, .position = position_, .pages = pages_};
    const auto begin = logits.size();
    logits.resize(begin + static_cast<size_t>(rows * loaded_.decoder->vocab()));
    loaded_.decoder
        ->run(*loaded_.ops, *state_,
              {.ids = ids, .positions = positions, .segments = {&segment, 1}, .wanted = wanted},
              std::span(logits).subspan(begin), watch_ ? &Sequence::keep : nullptr, this)
        .value();
    position_ += rows;
  }

  std::span<const float> row(int64_t position) const {
    const auto vocab = static_cast<size_t>(loaded_.decoder->vocab());
    return std::span(logits).subspan(static_cast<size_t>(position) * vocab, vocab);
  }

  DecoderState& state() { return *state_; }

  std::vector<float> logits;               // (tokens, vocab)
  std::vector<std::vector<float>> hidden;  // after the embedding and each layer: (tokens, hidden)

 private:
  static void keep(void* context, int64_t layer, View residual) {
    auto& out = static_cast<Sequence*>(context)->hidden[static_cast<size_t>(layer)];
    const float* from = residual.as<float>();
    out.insert(out.end(), from, from + residual.rows * residual.columns);
  }

  const LoadedDecoder& loaded_;
  bool watch_;
  std::unique_ptr<DecoderState> state_;
  std::vector<int32_t> pages_;
  int64_t position_ = 0;
};

// A tensor of a file of expected values.
template <typename T>
std::vector<T> read_all(const Safetensors& file, std::string_view name) {
  const TensorInfo* tensor = file.find(name);
  if (!tensor) return {};
  std::vector<T> out(static_cast<size_t>(tensor->elements()));
  file.read(*tensor, 0, std::as_writable_bytes(std::span(out))).value();
  return out;
}

}  // namespace mummu::test
