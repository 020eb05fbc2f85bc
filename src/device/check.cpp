#include "device/check.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "base/float_environment.h"
#include "device/violation.h"

namespace mummu {
namespace {

class CheckedOps final : public Ops {
 public:
  explicit CheckedOps(std::unique_ptr<Ops> device) : device_(std::move(device)) {}

  DeviceInfo device_info() const override { return device_->device_info(); }

  Result<Tensor> make(DType type, int64_t rows, int64_t columns) override {
    if (Violation violation = check_sizes(type, rows, columns)) return internal(violation);
    return device_->make(type, rows, columns);
  }

  void upload(const void* host, View view) override {
    if (between_steps()) device_->upload(host, view);
  }

  void download(View view, void* host) override {
    if (between_steps()) device_->download(view, host);
  }

  Result<std::vector<Weight>> pack_all(std::span<const WeightSource> sources) override {
    for (const WeightSource& source : sources) {
      if (source.rows < 0 || source.columns < 0) return internal("pack: a negative size");
      if (!source.read) return internal("pack: no source of rows");
    }
    return run_in_default_float_environment([&] { return device_->pack_all(sources); });
  }

  int64_t packed_bytes(DType type, int64_t rows, int64_t columns) const override {
    return device_->packed_bytes(type, rows, columns);
  }

  Result<void> reserve(int64_t tokens, int64_t columns) override {
    if (stepping_) return internal("reserve: called within a step");
    MUMMU_TRY(device_->reserve(tokens, columns));
    tokens_ = std::max(tokens_, tokens);
    columns_ = std::max(columns_, columns);
    return {};
  }

  void start() override {
    if (stepping_) note("start: called within a step");
    stepping_ = true;
    device_->start();
  }

  Result<void> finish() override {
    if (!stepping_) note("finish: called outside a step");
    stepping_ = false;
    Result<void> finished = device_->finish();
    const Violation violation = std::exchange(violation_, nullptr);
    if (violation != nullptr) return internal(violation);
    return finished;
  }

  void embedding(const Weight& table, View ids, View out) override {
    run(check_embedding(table, ids, out), [&] { device_->embedding(table, ids, out); });
  }

  void gather(View x, View from, View out) override {
    run(check_gather(x, from, out), [&] { device_->gather(x, from, out); });
  }

  void rms_norm(View x, View weight, float eps, View out) override {
    run(check_rms_norm(x, weight, out), [&] { device_->rms_norm(x, weight, eps, out); });
  }

  void matmul(View x, std::span<const MatmulOut> outs) override {
    const Violation violation = check_matmul(x, outs);
    run(violation ? violation : check_reserved(x), [&] { device_->matmul(x, outs); });
  }

  void gated(View x, const Weight& gate, const Weight& up, View out) override {
    const Violation violation = check_gated(x, gate, up, out);
    run(violation ? violation : check_reserved(x), [&] { device_->gated(x, gate, up, out); });
  }

  void rope(View x, int64_t heads, View positions, View cos_sin) override {
    run(check_rope(x, heads, positions, cos_sin),
        [&] { device_->rope(x, heads, positions, cos_sin); });
  }

  void kv_write(View k, View v, const KvLayer& layer, std::span<const Segment> segments) override {
    run(check_kv_write(k, v, layer, segments), [&] { device_->kv_write(k, v, layer, segments); });
  }

  void attention(View q, int64_t heads, float scale, const KvLayer& layer,
                 std::span<const Segment> segments, View out) override {
    run(check_attention(q, heads, layer, segments, out),
        [&] { device_->attention(q, heads, scale, layer, segments, out); });
  }

  void short_conv(View bcx, View kernel, View bias, const ConvLayer& layer,
                  std::span<const Segment> segments, View out) override {
    run(check_short_conv(bcx, kernel, bias, layer, segments, out),
        [&] { device_->short_conv(bcx, kernel, bias, layer, segments, out); });
  }

  void route(View scores, bool normalise, View chosen, View share) override {
    run(check_route(scores, chosen, share),
        [&] { device_->route(scores, normalise, chosen, share); });
  }

  void experts(View x, const Experts& experts, View chosen, View share, View out) override {
    Violation violation = check_experts(x, experts, chosen, share, out);
    if (violation == nullptr) violation = check_reserved(x);
    if (violation == nullptr) violation = check_reserved(experts.inner);
    run(violation, [&] { device_->experts(x, experts, chosen, share, out); });
  }

  void layer_norm(View x, View weight, View bias, float eps, View out) override {
    run(check_layer_norm(x, weight, bias, out),
        [&] { device_->layer_norm(x, weight, bias, eps, out); });
  }

  void gelu(View x, View out) override {
    run(check_same(x, out), [&] { device_->gelu(x, out); });
  }

  void add(View x, View out) override {
    run(check_same(x, out), [&] { device_->add(x, out); });
  }

  void pool(View x, Pool how, std::span<const PoolRun> runs, View out) override {
    run(check_pool(x, runs, out), [&] { device_->pool(x, how, runs, out); });
  }

  void l2_norm(View x, View out) override {
    run(check_l2_norm(x, out), [&] { device_->l2_norm(x, out); });
  }

 private:
  static Error internal(Violation violation) {
    return fail(Error::internal, "internal error: device: {}", violation);
  }

  static Violation check_sizes(DType type, int64_t rows, int64_t columns) {
    if (rows < 0 || columns < 0) return "make: a negative size";
    return columns % info(type).elements == 0 ? nullptr : "make: columns do not fill blocks";
  }

  Violation check_reserved(View x) const {
    return x.rows <= tokens_ && x.columns <= columns_ ? nullptr : "matmul: x is beyond reserve()";
  }

  bool between_steps() {
    if (stepping_) note("upload or download: called within a step");
    return !stepping_;
  }

  // Keeps the first violation for finish().
  void note(Violation violation) {
    if (violation_ == nullptr) violation_ = violation;
  }

  template <typename Op>
  void run(Violation violation, Op&& op) {
    if (violation == nullptr && !stepping_) violation = "an op outside a step";
    if (violation != nullptr) return note(violation);
    run_in_default_float_environment(op);
  }

  std::unique_ptr<Ops> device_;
  Violation violation_ = nullptr;
  bool stepping_ = false;
  int64_t tokens_ = 0;  // reserved, as columns_
  int64_t columns_ = 0;
};

}  // namespace

std::unique_ptr<Ops> make_checked(std::unique_ptr<Ops> device) {
  return std::make_unique<CheckedOps>(std::move(device));
}

}  // namespace mummu
