#include "engine/vector_forward.h"

#include <algorithm>
#include <numeric>

namespace mummu {

namespace {

constexpr int64_t kStepTokens = 512;
constexpr int64_t kStepTexts = 128;

class EncoderVectors final : public VectorForward {
 public:
  EncoderVectors(const Model::Impl& model, Pool how)
      : ops_(*model.ops), encoder_(*model.encoder), how_(how) {}

  Result<void> reserve(int64_t longest) {
    MUMMU_TRY(state_, encoder_.make_state(ops_, std::max(longest, kStepTokens), kStepTexts));
    return {};
  }

  int64_t most_tokens() const override { return state_.tokens; }
  int64_t most_texts() const override { return kStepTexts; }

  Result<void> run(std::span<const TokenId> ids, std::span<const int64_t> lengths,
                   View out) override {
    return encoder_.run(ops_, state_, ids, lengths, how_, out);
  }

 private:
  Ops& ops_;
  const Encoder& encoder_;
  Pool how_;
  EncoderState state_;
};

// Keys and values are kept in f32. A text of more tokens than a step goes through in pieces.
class DecoderVectors final : public VectorForward {
 public:
  DecoderVectors(const Model::Impl& model, Pool how)
      : ops_(*model.ops), decoder_(model.decoder), how_(how) {}

  Result<void> reserve(int64_t pages) {
    MUMMU_TRY(state_,
              decoder_.make_state(ops_, {.pages = pages, .tokens = kStepTokens, .kv = DType::f32}));
    pages_.resize(static_cast<size_t>(pages));
    std::iota(pages_.begin(), pages_.end(), 0);
    return {};
  }
  static int64_t pages_of(int64_t tokens) { return (tokens + kPageTokens - 1) / kPageTokens; }
  static int64_t pages_of_a_step() { return kStepTokens / kPageTokens + kStepTexts; }

  int64_t most_tokens() const override { return kStepTokens; }
  int64_t most_texts() const override { return kStepTexts; }

  Result<void> run(std::span<const TokenId> ids, std::span<const int64_t> lengths,
                   View out) override {
    if (lengths.size() == 1) return run_one(ids, out);
    begin();
    int64_t page = 0;
    for (int64_t length : lengths) {
      add(0, length, page, true);
      page += pages_of(length);
    }
    return decoder_.run_pooled(ops_, state_, batch(ids), {how_, runs_, out});
  }

 private:
  Result<void> run_one(std::span<const TokenId> ids, View out) {
    const auto tokens = static_cast<int64_t>(ids.size());
    if (pages_of(tokens) > state_.size.pages) MUMMU_TRY(reserve(pages_of(tokens)));
    for (int64_t done = 0; done < tokens;) {
      const int64_t count = std::min(kStepTokens, tokens - done);
      begin();
      add(done, count, 0, done + count == tokens);
      const auto piece = ids.subspan(static_cast<size_t>(done), static_cast<size_t>(count));
      MUMMU_TRY(decoder_.run_pooled(ops_, state_, batch(piece), {how_, runs_, out}));
      done += count;
    }
    return {};
  }

  void begin() {
    segments_.clear();
    runs_.clear();
    positions_.clear();
  }
  // The next rows: `count` tokens of a sequence from `position` on.
  void add(int64_t position, int64_t count, int64_t first_page, bool ends) {
    const auto row = static_cast<int64_t>(positions_.size());
    runs_.push_back({.first_row = row,
                     .tokens = count,
                     .position = position,
                     .out_row = static_cast<int64_t>(runs_.size()),
                     .ends = ends});
    segments_.push_back(
        {.first_row = row,
         .tokens = count,
         .position = position,
         .pages = std::span<const int32_t>(pages_).subspan(static_cast<size_t>(first_page))});
    for (int64_t i = 0; i < count; ++i) positions_.push_back(static_cast<int32_t>(position + i));
  }
  Batch batch(std::span<const TokenId> ids) const {
    return {.ids = ids, .positions = positions_, .segments = segments_, .wanted = {}};
  }

  Ops& ops_;
  const Decoder& decoder_;
  Pool how_;
  DecoderState state_;
  std::vector<int32_t> pages_, positions_;
  std::vector<Segment> segments_;
  std::vector<PoolRun> runs_;
};

}  // namespace

Result<std::unique_ptr<VectorForward>> make_vector_forward(const Model::Impl& model, Pool how,
                                                           int64_t longest) {
  if (model.encoder) {
    auto forward = std::make_unique<EncoderVectors>(model, how);
    MUMMU_TRY(forward->reserve(longest));
    return std::unique_ptr<VectorForward>(std::move(forward));
  }
  auto forward = std::make_unique<DecoderVectors>(model, how);
  MUMMU_TRY(forward->reserve(DecoderVectors::pages_of_a_step()));
  return std::unique_ptr<VectorForward>(std::move(forward));
}

}  // namespace mummu
