#pragma once

// The interface of every device: memory, packing, and the ops that a model is made of. Ops are
// enqueued between start() and finish(); a CPU runs them at once, a GPU may record them; nobody
// above can tell. Shapes and types are verified once, above every device, by check.cpp; an op
// itself cannot fail. One thread at a time.
//
// Each op states its `order`: for one output element the exact sequence of roundings. An
// implementation chooses only which elements it computes together, so results are equal to the bit
// on every instruction set, at every batch, on any number of threads. NaN is a class: one NaN
// equals another. reference/ is that sequence in plain scalar C++.
//
// Words used below, all in f32 round-to-nearest-even with denormals kept:
//   fma(a, b, c)   a*b + c with one rounding
//   sum16(v)       16 lanes from +0, lane i adds elements i, i+16, i+32, ... in that order; then
//   the tree
//                  lane[i] += lane[i+8] (i < 8), += lane[i+4], += lane[i+2], += lane[i+1]; lane 0
//                  is the sum
//   exp(x), silu(x) = x / (1 + exp(-x))   the polynomials of device/exp.h, the same operations
//   everywhere; gelu(x)   that of device/gelu.h
//   rows                  tokens of this step, of any sequences, in any order

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "device/tensor.h"
#include "mummu/device.h"
#include "mummu/result.h"

namespace mummu {

inline constexpr int64_t kPageTokens = 16;   // keys of one page
inline constexpr int64_t kSpanTokens = 512;  // keys of one softmax span
inline constexpr int64_t kPanelRows = 16;    // output rows of one weight panel
inline constexpr int64_t kBlock = 32;        // elements that share one activation scale

// One output of a matmul: out = weight · x (+ bias) (+ what out held before, if add).
struct MatmulOut {
  const Weight* weight = nullptr;
  View bias;  // (1, weight.rows) f32, or empty
  View out;   // (tokens, weight.rows) f32
  bool add = false;
};

// The keys and values of many sequences in pages of kPageTokens absolute positions. One page holds
// all layers of its 16 tokens; within a layer first the keys, then the values:
//   keys    (kv_heads, head_dim, kPageTokens)    16 positions of one component side by side
//   values  (kv_heads, kPageTokens, head_dim)
// With q8_0 these numbers are int8, and behind those of each head stand its scales, f16, one for
// every kBlock components of one token (the last block of a head may be shorter):
//   keys    (blocks, kPageTokens)
//   values  (kPageTokens, blocks)
// A page's bytes start at pool.data + page * pool.columns; a layer's at + layer_offset_bytes. Bytes
// of positions that were never written are zero or old, and never influence a result.
struct KvLayer {
  View pool;                // (pages, page bytes) u8
  DType type = DType::f16;  // f32, f16, bf16 or q8_0
  int64_t layer_offset_bytes = 0;
  int64_t kv_heads = 0;
  int64_t head_dim = 0;

  int64_t blocks() const { return (head_dim + kBlock - 1) / kBlock; }
  // Of one head's keys, or of its values.
  int64_t head_bytes() const {
    return kPageTokens *
           (type == DType::q8_0 ? head_dim + 2 * blocks() : head_dim * info(type).bytes);
  }
  int64_t keys_bytes() const { return kv_heads * head_bytes(); }
  int64_t bytes() const { return 2 * keys_bytes(); }
};

// The rows of one sequence in this step: rows [first_row, first_row + tokens) hold positions
// position, position + 1, ...; pages[p / 16] is the page of position p. Host memory; lives until
// finish().
struct Segment {
  int64_t first_row = 0;
  int64_t tokens = 0;
  int64_t position = 0;
  std::span<const int32_t> pages;
  bool both_ways = false;  // in attention every row sees all keys up to the last row's
};

// What a causal convolution remembers of many sequences, in the same pages: of each page's 16
// positions the products of the last `length - 1` that were written, position p in row
// (p mod 16) mod (length - 1).
struct ConvLayer {
  View pool;  // (pages, page bytes) u8
  int64_t layer_offset_bytes = 0;
  int64_t length = 0;  // taps of the kernel, 2 to kPageTokens
  int64_t hidden = 0;

  int64_t bytes() const { return (length - 1) * hidden * info(DType::f32).bytes; }
};

// The experts of one layer: expert e is down[e] · (silu(gate[e] · x) * (up[e] · x)), all of one
// shape. The scratch is written and means nothing afterwards.
struct Experts {
  std::span<const Weight> gate, up;  // (ffn, hidden) each
  std::span<const Weight> down;      // (hidden, ffn) each
  View rows, result, sum;            // scratch (tokens, hidden) f32
  View inner;                        // scratch (tokens, ffn) f32
};

// How the tokens of a sequence become one vector.
enum class Pool { first, last, largest, mean, mean_sqrt, weighted_mean };

// The rows of one sequence in this step, as in Segment, and the row of the result that they go to.
// A sequence may come in pieces, in order; the one at position 0 begins it.
struct PoolRun {
  int64_t first_row = 0;
  int64_t tokens = 0;
  int64_t position = 0;
  int64_t out_row = 0;
  bool ends = true;  // the sequence has no further rows
};

class Ops {
 public:
  virtual ~Ops() = default;

  virtual DeviceInfo device_info() const = 0;

  // --- memory
  // -------------------------------------------------------------------------------------------------------
  // A zero-filled tensor. errors no_memory
  virtual Result<Tensor> make(DType type, int64_t rows, int64_t columns) = 0;
  // Copies view.bytes() bytes. Call outside start..finish, or (download) after finish.
  virtual void upload(const void* host, View view) = 0;
  virtual void download(View view, void* host) = 0;
  // Packs matrices panel by panel, a weight for each; reads every row once, at most a few MB at a
  // time, on the device's threads: several calls of source.read at once if it has several, in order
  // if it has one. Several megabytes in one call keep many threads busier than a call for each.
  //   errors   unsupported (the type, or columns not a multiple of its block), no_memory, those of
  //   source.read
  virtual Result<std::vector<Weight>> pack_all(std::span<const WeightSource> sources) = 0;
  Result<Weight> pack(const WeightSource& source) {
    MUMMU_TRY(auto weights, pack_all({&source, 1}));
    return std::move(weights.front());
  }
  // Bytes that pack would take.
  virtual int64_t packed_bytes(DType type, int64_t rows, int64_t columns) const = 0;
  // Sizes scratch for steps of up to `tokens` rows, with inputs of matmuls up to `columns` wide.
  // Grows only.
  virtual Result<void> reserve(int64_t tokens, int64_t columns) = 0;

  // --- a step
  // -------------------------------------------------------------------------------------------------------
  virtual void start() = 0;
  // errors   device_lost
  virtual Result<void> finish() = 0;

  // --- ops
  // ----------------------------------------------------------------------------------------------------------

  // out row i = table row ids[i], widened to f32.
  //   shapes   table (vocab, hidden)   ids (1, tokens) i32   out (tokens, hidden) f32
  //   order    floats widen exactly; blocks, in the words of matmul: scale * f32(q), and where the
  //            type has a minimum fma(scale, f32(q), m_w); scale = f32(d_w) * f32(s)
  //   requires 0 <= ids[i] < vocab
  virtual void embedding(const Weight& table, View ids, View out) = 0;

  // out row i = x row from[i]: picks the rows whose logits are wanted.
  //   shapes   x (tokens, columns) f32   from (1, n) i32   out (n, columns) f32
  virtual void gather(View x, View from, View out) = 0;

  // Root mean square norm.
  //   shapes   x, out (tokens, columns) f32   weight (1, columns) f32; out may be x
  //   order    s = sum16(x[i]*x[i] as fma into the lane); r = 1 / sqrt(s / f32(columns) + eps);
  //            out[i] = (x[i] * r) * weight[i]
  //   source   arXiv 1910.07467
  virtual void rms_norm(View x, View weight, float eps, View out) = 0;

  // Products of one input with one or several weights.
  //   shapes   x (tokens, columns) f32; outs as in MatmulOut
  //   order    float weights: y = +0; y = fma(w[k], x[k], y) for k ascending, weights widened
  //   exactly to f32.
  //            block weights: x is quantised once per row and block of 32 (see quantise); y = +0;
  //            for blocks of 32 ascending
  //              dot = exact integer sum of s * q_w * q_a over the block
  //              y = fma(f32(d_w) * d_a, f32(dot), y)             [f32(d_w) * d_a is rounded once]
  //              types with a minimum, next: y = fma(m_w, sum_a, y)
  //                                          [sum_a = d_a * f32(integer sum of q_a)]
  //            where q_w, s and m_w are
  //              q8_0          the int8; 1
  //              q4_0, q5_0    the number of 4 or 5 bits - 8 or 16; 1
  //              q4_1, q5_1    the number of 4 or 5 bits; 1; f32(m)
  //              q4_k, q5_k    the number of 4 or 5 bits; the 6-bit scale of the block in its
  //                            super-block of 256; -(f32(dmin) * f32(its 6-bit minimum))
  //              q6_k          the number of 6 bits - 32; the int8 scale of the half block of 16
  //            d_w is the block's or super-block's f16. |dot| < 2^24, so that f32(dot) is exact.
  //            then y = y + bias if given; then out = out + y if add, else out = y.
  //   quantise of 32 values: a block with a NaN or infinity: d = NaN, all q = 0, sum_a = NaN. amax
  //   = max |x|; amax < 2^-100:
  //            d = +0, all q = 0, sum_a = +0. Else d = amax / 127, q = rint(x * (127 / amax))
  //            clamped to [-127, 127].
  virtual void matmul(View x, std::span<const MatmulOut> outs) = 0;

  // The first half of a gated feed-forward part: out = silu(gate · x) * (up · x).
  //   shapes   x (tokens, hidden)   gate, up (ffn, hidden)   out (tokens, ffn) f32
  //   order    g, u as matmul without bias; out = silu(g) * u
  virtual void gated(View x, const Weight& gate, const Weight& up, View out) = 0;

  // Rotary position embedding in half-split form, in place: components i and i + rotary_dim/2 of
  // each head form a pair.
  //   shapes   x (tokens, heads * head_dim) f32   positions (1, tokens) i32
  //            cos_sin (max positions, rotary_dim) f32: row p holds rotary_dim/2 cosines, then
  //            rotary_dim/2 sines
  //   order    a' = fma(a, cos, -(b*sin)), b' = fma(b, cos, a*sin) with b*sin, a*sin rounded first
  //   requires positions below the table's rows
  //   source   arXiv 2104.09864 section 3.4.2
  virtual void rope(View x, int64_t heads, View positions, View cos_sin) = 0;

  // Rounds this step's keys and values to the KV type (nearest even) and writes them into their
  // pages.
  //   shapes   k, v (tokens, kv_heads * head_dim) f32
  //   order    q8_0: d and q of each block as quantise of matmul, then d rounded to f16
  virtual void kv_write(View k, View v, const KvLayer& layer,
                        std::span<const Segment> segments) = 0;

  // Attention over pages: every query sees the keys of its sequence up to its own position, or, in
  // a segment that looks both ways, up to the last row's.
  //   shapes   q, out (tokens, heads * head_dim) f32; query head h reads kv head h / (heads /
  //   kv_heads) order    K and V are read back from the pages (widened exactly; q8_0: f32(d) *
  //   f32(q), which is exact). For each span of
  //   512 absolute positions ascending
  //            that holds a visible key:
  //              score[t] = +0; fma(q[d], K[t][d], score) for d ascending; then score * scale (one
  //              rounding) m_s = -inf, then for visible t ascending: m_s = score > m_s ? score :
  //              m_s (a NaN score never wins) p[t] = exp(score[t] - m_s) for visible t l_s =
  //              sum16(p) with lane = t mod 16 (spans start at multiples of 512) o_s[d] = +0;
  //              fma(p[t], V[t][d], o_s[d]) for visible t ascending
  //            The first span gives (m, l, o); each later one is merged: m' = m_s > m ? m_s : m, a
  //            = exp(m - m'),
  //              b = exp(m_s - m'), l = fma(l_s, b, l*a), o[d] = fma(o_s[d], b, o[d]*a), m = m'
  //              [l*a, o*a rounded first]
  //            out[d] = o[d] / l.
  //   requires kv_write of this step's rows came before
  virtual void attention(View q, int64_t heads, float scale, const KvLayer& layer,
                         std::span<const Segment> segments, View out) = 0;

  // The middle of a gated short convolution: out = C * conv(B * x), causal, each channel by itself.
  //   shapes   bcx (tokens, 3 * hidden) f32: B, then C, then x   kernel (length, hidden) f32, the
  //            oldest tap first   bias (1, hidden) f32, or empty   out (tokens, hidden) f32
  //   order    u[p] = B[p] * x[p]; y = +0; for j ascending, where t = p - (length - 1) + j is not
  //            before the sequence: y = fma(kernel[j], u[t], y); y = y + bias if given;
  //            out[p] = C[p] * y. u of positions before this step is read from the pages.
  //   writes   out, and u of the last length - 1 positions of the step in each page it touches
  //   source   arXiv 2511.23404, the LFM2 block
  virtual void short_conv(View bcx, View kernel, View bias, const ConvLayer& layer,
                          std::span<const Segment> segments, View out) = 0;

  // Which experts each token goes to, and with what share. Scratches in scores.
  //   shapes   scores (tokens, experts) f32   chosen (tokens, top_k) i32   share (tokens, top_k)
  //   f32 order    m = -inf, then for e ascending: m = score > m ? score : m (a NaN never wins);
  //            p[e] = exp(score[e] - m); p[e] = p[e] / sum16(p). The top_k largest p, a NaN below
  //            every number, ties to the lower e, are written by e ascending; share = p, or, if
  //            normalise, p / (the sum of the chosen p, from +0, by e ascending)
  //   requires 1 <= top_k <= experts
  virtual void route(View scores, bool normalise, View chosen, View share) = 0;

  // The chosen experts' feed-forward parts, weighted: out = out + y.
  //   shapes   x, out (tokens, hidden) f32   chosen, share as route writes them
  //   order    y = +0; for the chosen e ascending: y = fma(share, down[e] · gated(x), y), products
  //            as in gated and matmul; then out = out + y
  //   requires 0 <= chosen < experts, ascending in each row
  virtual void experts(View x, const Experts& experts, View chosen, View share, View out) = 0;

  // Norm by mean and variance.
  //   shapes   x, out (tokens, columns) f32   weight, bias (1, columns) f32; out may be x
  //   order    mean = sum16(x) / f32(columns); d = x[i] - mean; v = sum16(d*d as fma into the
  //   lane);
  //            r = 1 / sqrt(v / f32(columns) + eps); out[i] = fma(d * r, weight[i], bias[i])
  //   source   arXiv 1607.06450
  virtual void layer_norm(View x, View weight, View bias, float eps, View out) = 0;

  // out = gelu(x), each element by itself.
  //   shapes   x, out of equal size, f32; out may be x
  virtual void gelu(View x, View out) = 0;

  // out = out + x, each element by itself.
  //   shapes   x, out of equal size, f32
  virtual void add(View x, View out) = 0;

  // One vector a sequence, each column by itself.
  //   shapes   x (tokens, columns) f32   out (sequences, columns) f32
  //   order    y = out; where the sequence begins y = +0, for largest -inf. For its rows x[p] by p
  //            ascending: first: y = x[p] if p = 0; last: y = x[p]; largest: y = x[p] > y ? x[p] :
  //            y (a NaN never wins); mean, mean_sqrt: y = y + x[p]; weighted_mean: y =
  //            fma(f32(p + 1), x[p], y). Where it ends after n rows: mean: y = y / f32(n);
  //            mean_sqrt: y = y / sqrt(f32(n)); weighted_mean: y = y / f32(n * (n + 1) / 2).
  //            out = y
  //   source   sentence-transformers, the modes of its Pooling module
  virtual void pool(View x, Pool how, std::span<const PoolRun> runs, View out) = 0;

  // Rows of length 1.
  //   shapes   x, out (rows, columns) f32; out may be x
  //   order    r = sqrt(sum16(x[i]*x[i] as fma into the lane)); r = r < 1e-12 ? 1e-12 : r;
  //            out[i] = x[i] / r
  //   source   torch.nn.functional.normalize: the least length
  virtual void l2_norm(View x, View out) = 0;
};

// Opens the CPU device. The check layer of open_device stands in front of it.
Result<std::unique_ptr<Ops>> open_cpu(DeviceOptions options);

}  // namespace mummu
