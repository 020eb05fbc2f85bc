#include "device/violation.h"

#include <algorithm>

namespace mummu {
namespace {

bool holds(View view, DType type, int64_t rows, int64_t columns) {
  return view.type == type && view.rows == rows && view.columns == columns && rows >= 0 &&
         columns >= 0 && (view.data != nullptr || rows == 0 || columns == 0);
}

bool f32(View view, int64_t rows, int64_t columns) {
  return holds(view, DType::f32, rows, columns);
}

// Whether a vector of i32 lies in [0, bound).
bool below(View numbers, int64_t bound) {
  const int32_t* first = numbers.as<int32_t>();
  return std::all_of(first, first + numbers.columns,
                     [bound](int32_t i) { return i >= 0 && i < bound; });
}

bool divides(int64_t part, int64_t whole) { return part > 0 && whole > 0 && whole % part == 0; }

Violation check_matmul_out(View x, const MatmulOut& to) {
  if (to.weight == nullptr || !*to.weight) return "matmul: no weight";
  if (to.weight->columns() != x.columns) return "matmul: x and weight have different columns";
  if (!holds(to.out, DType::f32, x.rows, to.weight->rows())) {
    return "matmul: out is not (tokens, weight rows) f32";
  }
  const bool has_bias = to.bias.data != nullptr;
  return !has_bias || holds(to.bias, DType::f32, 1, to.weight->rows())
             ? nullptr
             : "matmul: bias is not (1, weight rows) f32";
}

Violation check_layer(const KvLayer& layer) {
  const View pool = layer.pool;
  if (!holds(pool, DType::u8, pool.rows, pool.columns)) return "pages: the pool is not u8";
  const bool stored = layer.type == DType::f32 || layer.type == DType::f16 ||
                      layer.type == DType::bf16 || layer.type == DType::q8_0;
  if (!stored) return "pages: not f32, f16, bf16 or q8_0";
  if (layer.kv_heads <= 0 || layer.head_dim <= 0) return "pages: no heads";
  const bool fits =
      layer.layer_offset_bytes >= 0 && layer.layer_offset_bytes + layer.bytes() <= pool.columns;
  return fits ? nullptr : "pages: the layer lies beyond the page";
}

Violation check_segment(const Segment& segment, int64_t rows, int64_t pages) {
  if (segment.tokens < 0 || segment.position < 0 || segment.first_row < 0) {
    return "segments: a negative number";
  }
  if (segment.first_row > rows || segment.tokens > rows - segment.first_row) {
    return "segments: rows beyond the step's";
  }
  const int64_t end = segment.position + segment.tokens;
  const int64_t needed = segment.tokens == 0 ? 0 : (end + kPageTokens - 1) / kPageTokens;
  if (static_cast<int64_t>(segment.pages.size()) < needed) return "segments: too few pages";
  const auto used = segment.pages.first(static_cast<size_t>(needed));
  const bool known = std::all_of(used.begin(), used.end(),
                                 [pages](int32_t page) { return page >= 0 && page < pages; });
  return known ? nullptr : "segments: a page that the pool lacks";
}

Violation check_pages(const KvLayer& layer, std::span<const Segment> segments, int64_t rows) {
  if (Violation violation = check_layer(layer)) return violation;
  for (const Segment& segment : segments) {
    if (Violation violation = check_segment(segment, rows, layer.pool.rows)) return violation;
  }
  return nullptr;
}

bool all_are(std::span<const Weight> weights, int64_t rows, int64_t columns) {
  return std::all_of(weights.begin(), weights.end(), [&](const Weight& weight) {
    return weight && weight.rows() == rows && weight.columns() == columns;
  });
}

}  // namespace

Violation check_embedding(const Weight& table, View ids, View out) {
  if (!table) return "embedding: no table";
  if (!holds(ids, DType::i32, 1, out.rows)) return "embedding: ids are not (1, tokens) i32";
  if (!holds(out, DType::f32, out.rows, table.columns())) {
    return "embedding: out is not (tokens, hidden) f32";
  }
  return below(ids, table.rows()) ? nullptr : "embedding: an id is not below vocab";
}

Violation check_gather(View x, View from, View out) {
  if (!holds(x, DType::f32, x.rows, x.columns)) return "gather: x is not (tokens, columns) f32";
  if (!holds(from, DType::i32, 1, out.rows)) return "gather: from is not (1, n) i32";
  if (!holds(out, DType::f32, out.rows, x.columns)) return "gather: out is not (n, columns) f32";
  return below(from, x.rows) ? nullptr : "gather: a row is not below tokens";
}

Violation check_rms_norm(View x, View weight, View out) {
  if (!holds(x, DType::f32, x.rows, x.columns)) return "rms_norm: x is not (tokens, columns) f32";
  if (!holds(weight, DType::f32, 1, x.columns)) return "rms_norm: weight is not (1, columns) f32";
  return holds(out, DType::f32, x.rows, x.columns) ? nullptr
                                                   : "rms_norm: out is not (tokens, columns) f32";
}

Violation check_matmul(View x, std::span<const MatmulOut> outs) {
  if (!holds(x, DType::f32, x.rows, x.columns)) return "matmul: x is not (tokens, columns) f32";
  for (const MatmulOut& out : outs) {
    if (Violation violation = check_matmul_out(x, out)) return violation;
  }
  return nullptr;
}

Violation check_gated(View x, const Weight& gate, const Weight& up, View out) {
  if (!holds(x, DType::f32, x.rows, x.columns)) return "gated: x is not (tokens, hidden) f32";
  if (!gate || !up) return "gated: no weight";
  if (gate.columns() != x.columns || up.columns() != x.columns) {
    return "gated: x and a weight have different columns";
  }
  if (gate.rows() != up.rows()) return "gated: gate and up have different rows";
  return holds(out, DType::f32, x.rows, gate.rows()) ? nullptr
                                                     : "gated: out is not (tokens, ffn) f32";
}

Violation check_rope(View x, int64_t heads, View positions, View cos_sin) {
  if (!holds(x, DType::f32, x.rows, x.columns) || !divides(heads, x.columns)) {
    return "rope: x is not (tokens, heads * head_dim) f32";
  }
  if (!holds(positions, DType::i32, 1, x.rows)) return "rope: positions are not (1, tokens) i32";
  if (!holds(cos_sin, DType::f32, cos_sin.rows, cos_sin.columns) || cos_sin.columns % 2 != 0 ||
      cos_sin.columns > x.columns / heads) {
    return "rope: cos_sin is not (positions, rotary_dim) f32 with an even rotary_dim of a head";
  }
  return below(positions, cos_sin.rows) ? nullptr : "rope: a position is not in the table";
}

Violation check_kv_write(View k, View v, const KvLayer& layer, std::span<const Segment> segments) {
  const int64_t columns = layer.kv_heads * layer.head_dim;
  if (!holds(k, DType::f32, k.rows, columns))
    return "kv_write: k is not (tokens, kv_heads*head_dim)";
  if (!holds(v, DType::f32, k.rows, columns))
    return "kv_write: v is not (tokens, kv_heads*head_dim)";
  return check_pages(layer, segments, k.rows);
}

Violation check_attention(View q, int64_t heads, const KvLayer& layer,
                          std::span<const Segment> segments, View out) {
  if (!divides(layer.kv_heads, heads)) return "attention: heads are no multiple of kv_heads";
  const int64_t columns = heads * layer.head_dim;
  if (!holds(q, DType::f32, q.rows, columns)) return "attention: q is not (tokens, heads*head_dim)";
  if (!holds(out, DType::f32, q.rows, columns)) {
    return "attention: out is not (tokens, heads*head_dim)";
  }
  return check_pages(layer, segments, q.rows);
}

Violation check_short_conv(View bcx, View kernel, View bias, const ConvLayer& layer,
                           std::span<const Segment> segments, View out) {
  if (layer.hidden <= 0 || layer.length < 2 || layer.length > kPageTokens) {
    return "short_conv: no channels, or a kernel of too few or too many taps";
  }
  if (!f32(bcx, bcx.rows, 3 * layer.hidden)) return "short_conv: bcx is not (tokens, 3*hidden) f32";
  if (!f32(kernel, layer.length, layer.hidden)) {
    return "short_conv: kernel is not (length, hidden) f32";
  }
  if (bias.data != nullptr && !f32(bias, 1, layer.hidden)) {
    return "short_conv: bias is not (1, hidden) f32";
  }
  if (!f32(out, bcx.rows, layer.hidden)) return "short_conv: out is not (tokens, hidden) f32";
  const View pool = layer.pool;
  if (!holds(pool, DType::u8, pool.rows, pool.columns)) return "short_conv: the pool is not u8";
  if (layer.layer_offset_bytes < 0 || layer.layer_offset_bytes + layer.bytes() > pool.columns) {
    return "short_conv: the layer lies beyond the page";
  }
  for (const Segment& segment : segments) {
    if (Violation violation = check_segment(segment, bcx.rows, pool.rows)) return violation;
  }
  return nullptr;
}

Violation check_route(View scores, View chosen, View share) {
  if (!f32(scores, scores.rows, scores.columns)) return "route: scores are not f32";
  if (!holds(chosen, DType::i32, scores.rows, chosen.columns) || chosen.columns < 1 ||
      chosen.columns > scores.columns) {
    return "route: chosen is not (tokens, top_k) i32";
  }
  return f32(share, scores.rows, chosen.columns) ? nullptr
                                                 : "route: share is not (tokens, top_k) f32";
}

Violation check_experts(View x, const Experts& experts, View chosen, View share, View out) {
  if (!f32(x, x.rows, x.columns)) return "experts: x is not (tokens, hidden) f32";
  if (!f32(out, x.rows, x.columns)) return "experts: out is not (tokens, hidden) f32";
  const size_t count = experts.gate.size();
  if (count == 0 || experts.up.size() != count || experts.down.size() != count) {
    return "experts: not as many gates as ups and downs";
  }
  const int64_t ffn = experts.inner.columns;
  if (!all_are(experts.gate, ffn, x.columns) || !all_are(experts.up, ffn, x.columns) ||
      !all_are(experts.down, x.columns, ffn)) {
    return "experts: weights of different shapes";
  }
  if (!f32(experts.rows, x.rows, x.columns) || !f32(experts.result, x.rows, x.columns) ||
      !f32(experts.sum, x.rows, x.columns) || !f32(experts.inner, x.rows, ffn)) {
    return "experts: scratch of the wrong shape";
  }
  if (!holds(chosen, DType::i32, x.rows, chosen.columns)) return "experts: chosen is not i32";
  return f32(share, x.rows, chosen.columns) ? nullptr : "experts: share is not (tokens, top_k) f32";
}

Violation check_pool(View x, std::span<const PoolRun> runs, View out) {
  if (!f32(x, x.rows, x.columns)) return "pool: x is not (tokens, columns) f32";
  if (!f32(out, out.rows, x.columns)) return "pool: out is not (sequences, columns) f32";
  for (const PoolRun& run : runs) {
    if (run.first_row < 0 || run.tokens < 1 || run.position < 0) return "pool: a run of no rows";
    if (run.first_row > x.rows || run.tokens > x.rows - run.first_row) {
      return "pool: rows beyond the step's";
    }
    if (run.out_row < 0 || run.out_row >= out.rows) return "pool: a result that out lacks";
  }
  return nullptr;
}

Violation check_layer_norm(View x, View weight, View bias, View out) {
  if (!f32(x, x.rows, x.columns)) return "layer_norm: x is not (tokens, columns) f32";
  if (!f32(weight, 1, x.columns)) return "layer_norm: weight is not (1, columns) f32";
  if (!f32(bias, 1, x.columns)) return "layer_norm: bias is not (1, columns) f32";
  return f32(out, x.rows, x.columns) ? nullptr : "layer_norm: out is not (tokens, columns) f32";
}

Violation check_same(View x, View out) {
  if (!f32(x, x.rows, x.columns)) return "gelu or add: x is not f32";
  return f32(out, x.rows, x.columns) ? nullptr : "gelu or add: x and out differ in shape";
}

Violation check_l2_norm(View x, View out) {
  return f32(x, x.rows, x.columns) && f32(out, x.rows, x.columns)
             ? nullptr
             : "l2_norm: x or out is not (rows, columns) f32";
}

}  // namespace mummu
