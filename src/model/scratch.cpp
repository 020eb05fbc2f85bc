#include "model/scratch.h"

namespace mummu {

namespace {

Result<Tensor> make_columns(Ops& ops, int64_t tokens, int64_t columns) {
  if (columns == 0) return Tensor();
  return ops.make(DType::f32, tokens, columns);
}

}  // namespace

Result<Scratch> make_scratch(Ops& ops, int64_t tokens, const ScratchSize& size) {
  Scratch scratch;
  MUMMU_TRY(scratch.query, make_columns(ops, tokens, size.query));
  MUMMU_TRY(scratch.key, make_columns(ops, tokens, size.key));
  MUMMU_TRY(scratch.value, make_columns(ops, tokens, size.value));
  MUMMU_TRY(scratch.mixed, make_columns(ops, tokens, size.mixed));
  MUMMU_TRY(scratch.ffn, make_columns(ops, tokens, size.ffn));
  MUMMU_TRY(scratch.route, make_columns(ops, tokens, size.route));
  return scratch;
}

}  // namespace mummu
