#include "engine/device_forward.h"

namespace mummu {
namespace {

DType kv_type(KvType kv) {
  switch (kv) {
    case KvType::f32:
      return DType::f32;
    case KvType::bf16:
      return DType::bf16;
    case KvType::q8_0:
      return DType::q8_0;
    case KvType::f16:
      break;
  }
  return DType::f16;
}

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
