#include "engine/device_forward.h"

namespace mummu {
namespace {

DType kv_type(KvType kv) { return kv == KvType::f32 ? DType::f32 : DType::f16; }

}  // namespace

DeviceForward::DeviceForward(Ops& ops, const Decoder& decoder, KvType kv)
    : ops_(ops), decoder_(decoder), kv_(kv_type(kv)) {}

Result<void> DeviceForward::reserve(int64_t pages, int64_t tokens, int64_t wanted) {
  MUMMU_TRY(state_, decoder_.make_state(
                        ops_, {.pages = pages, .tokens = tokens, .wanted = wanted, .kv = kv_}));
  return {};
}

Result<void> DeviceForward::run(const Batch& batch, std::span<float> logits) {
  return decoder_.run(ops_, state_, batch, logits);
}

void DeviceForward::copy_page(int32_t from, int32_t to) {
  decoder_.copy_page(ops_, state_, from, to);
}

}  // namespace mummu
