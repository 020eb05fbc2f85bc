#include "mummu/logits.h"

#include <algorithm>
#include <numeric>

#include "base/edge.h"
#include "base/fail.h"
#include "base/float_environment.h"
#include "engine/device_forward.h"
#include "model/model_impl.h"

namespace mummu {
namespace {

constexpr int64_t kChunkTokens = 128;

Result<void> check_ids(const Forward& forward, std::span<const TokenId> ids) {
  const auto tokens = static_cast<int64_t>(ids.size());
  if (ids.empty()) return Error{Error::invalid, "no token ids to compute logits of"};
  if (tokens > forward.context())
    return fail(Error::too_long, "{} tokens; the context holds {}", tokens, forward.context());
  for (size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= forward.vocab())
      return fail(Error::invalid, "token id {} at {}: 0 to {} expected", ids[i], i,
                  forward.vocab() - 1);
  }
  return {};
}

// Ids, positions and pages of one sequence, fed chunk by chunk.
class Feed {
 public:
  explicit Feed(std::span<const TokenId> ids)
      : ids_(ids), positions_(ids.size()), pages_(pages()), rows_(kChunkTokens) {
    std::iota(positions_.begin(), positions_.end(), 0);
    std::iota(pages_.begin(), pages_.end(), 0);
    std::iota(rows_.begin(), rows_.end(), 0);
  }

  size_t pages() const { return (ids_.size() + kPageTokens - 1) / kPageTokens; }

  // Runs positions [first, first + count).
  Result<void> run(Forward& forward, size_t first, size_t count, std::span<float> logits) {
    const Segment segment{.first_row = 0,
                          .tokens = static_cast<int64_t>(count),
                          .position = static_cast<int64_t>(first),
                          .pages = pages_};
    const Batch batch{.ids = ids_.subspan(first, count),
                      .positions = std::span(positions_).subspan(first, count),
                      .segments = {&segment, 1},
                      .wanted = std::span(rows_).first(count)};
    Result<void> done;
    run_in_default_float_environment([&] { done = forward.run(batch, logits); });
    return done;
  }

 private:
  std::span<const TokenId> ids_;
  std::vector<int32_t> positions_, pages_, rows_;
};

}  // namespace

Result<void> compute_logits(const Model& model, std::span<const TokenId> ids, KvType kv,
                            const OnLogits& on_logits) {
  return at_edge([&]() -> Result<void> {
    DeviceForward forward(*model.impl().ops, model.impl().decoder, kv);
    MUMMU_TRY(check_ids(forward, ids));
    Feed feed(ids);
    MUMMU_TRY(forward.reserve(static_cast<int64_t>(feed.pages()), kChunkTokens, kChunkTokens));
    const auto vocab = static_cast<size_t>(forward.vocab());
    std::vector<float> logits(kChunkTokens * vocab);
    for (size_t first = 0; first < ids.size(); first += kChunkTokens) {
      const size_t count = std::min<size_t>(kChunkTokens, ids.size() - first);
      MUMMU_TRY(feed.run(forward, first, count, std::span(logits).first(count * vocab)));
      for (size_t i = 0; i < count; ++i)
        on_logits(static_cast<int64_t>(first + i), std::span(logits).subspan(i * vocab, vocab));
    }
    return {};
  });
}

}  // namespace mummu
