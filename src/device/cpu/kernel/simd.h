#pragma once

// The words that kernels are written in: 16 floats (f32x16), 16 integers (i32x16) and a "part", as
// many output rows as one register holds. For AVX-512 a word is one register, for AVX2 two. Every
// file that includes this is compiled once per instruction set, in a namespace of its own; all that
// stands here is internal to the file, so that nothing compiled for one machine can be linked into
// another.

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#ifndef MUMMU_KERNEL_NAMESPACE
#error "kernel files are compiled once per instruction set; see src/device/CMakeLists.txt"
#endif

#define MUMMU_PRAGMA_(text) _Pragma(#text)
#if defined(__clang__)
#define MUMMU_UNROLL MUMMU_PRAGMA_(clang loop unroll(full))
#else
#define MUMMU_UNROLL MUMMU_PRAGMA_(GCC unroll 16)
#endif
#define MUMMU_INLINE [[gnu::always_inline]] inline

namespace mummu::MUMMU_KERNEL_NAMESPACE {
namespace {

// No function of the standard library is called here: an inline one would be a weak symbol.
MUMMU_INLINE int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

#if defined(__AVX512F__)

struct f32x16 {
  __m512 v;
};
struct i32x16 {
  __m512i v;
};

MUMMU_INLINE __mmask16 first_lanes(int64_t n) { return static_cast<__mmask16>((1U << n) - 1); }

MUMMU_INLINE f32x16 zero() { return {_mm512_setzero_ps()}; }
MUMMU_INLINE f32x16 all(float x) { return {_mm512_set1_ps(x)}; }
MUMMU_INLINE f32x16 load(const float* p) { return {_mm512_loadu_ps(p)}; }
MUMMU_INLINE void store(float* p, f32x16 a) { _mm512_storeu_ps(p, a.v); }
// The first n lanes, 0 <= n <= 16; loaded others are +0.
MUMMU_INLINE f32x16 load_first(const float* p, int64_t n) {
  return {_mm512_maskz_loadu_ps(first_lanes(n), p)};
}
MUMMU_INLINE void store_first(float* p, f32x16 a, int64_t n) {
  _mm512_mask_storeu_ps(p, first_lanes(n), a.v);
}
MUMMU_INLINE f32x16 keep_first(f32x16 a, int64_t n, f32x16 other) {
  return {_mm512_mask_blend_ps(first_lanes(n), other.v, a.v)};
}

// x < 0 ? a : b, so b where x is a NaN or a zero.
MUMMU_INLINE f32x16 where_negative(f32x16 x, f32x16 a, f32x16 b) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(x.v, _mm512_setzero_ps(), _CMP_LT_OQ), b.v, a.v)};
}

MUMMU_INLINE f32x16 add(f32x16 a, f32x16 b) { return {_mm512_add_ps(a.v, b.v)}; }
MUMMU_INLINE f32x16 sub(f32x16 a, f32x16 b) { return {_mm512_sub_ps(a.v, b.v)}; }
MUMMU_INLINE f32x16 mul(f32x16 a, f32x16 b) { return {_mm512_mul_ps(a.v, b.v)}; }
MUMMU_INLINE f32x16 div(f32x16 a, f32x16 b) { return {_mm512_div_ps(a.v, b.v)}; }
MUMMU_INLINE f32x16 fma(f32x16 a, f32x16 b, f32x16 c) { return {_mm512_fmadd_ps(a.v, b.v, c.v)}; }
// a > b ? a : b, so b where either is a NaN.
MUMMU_INLINE f32x16 greater(f32x16 a, f32x16 b) { return {_mm512_max_ps(a.v, b.v)}; }
// a < b ? a : b, so b where either is a NaN.
MUMMU_INLINE f32x16 lesser(f32x16 a, f32x16 b) { return {_mm512_min_ps(a.v, b.v)}; }
MUMMU_INLINE f32x16 negate(f32x16 a) {
  return {_mm512_castsi512_ps(
      _mm512_xor_si512(_mm512_castps_si512(a.v), _mm512_set1_epi32(INT32_MIN)))};
}
MUMMU_INLINE f32x16 round_to_int(f32x16 a) {
  return {_mm512_roundscale_ps(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}

MUMMU_INLINE i32x16 all(int32_t x) { return {_mm512_set1_epi32(x)}; }
MUMMU_INLINE i32x16 bits(f32x16 a) { return {_mm512_castps_si512(a.v)}; }
MUMMU_INLINE f32x16 from_bits(i32x16 a) { return {_mm512_castsi512_ps(a.v)}; }
MUMMU_INLINE i32x16 to_int(f32x16 a) { return {_mm512_cvtps_epi32(a.v)}; }
MUMMU_INLINE i32x16 add(i32x16 a, i32x16 b) { return {_mm512_add_epi32(a.v, b.v)}; }
MUMMU_INLINE i32x16 sub(i32x16 a, i32x16 b) { return {_mm512_sub_epi32(a.v, b.v)}; }
MUMMU_INLINE i32x16 larger(i32x16 a, i32x16 b) { return {_mm512_max_epi32(a.v, b.v)}; }
MUMMU_INLINE i32x16 smaller(i32x16 a, i32x16 b) { return {_mm512_min_epi32(a.v, b.v)}; }
MUMMU_INLINE i32x16 both(i32x16 a, i32x16 b) { return {_mm512_and_si512(a.v, b.v)}; }
template <int kBits>
MUMMU_INLINE i32x16 shift_left(i32x16 a) {
  return {_mm512_slli_epi32(a.v, kBits)};
}
template <int kBits>
MUMMU_INLINE i32x16 shift_right(i32x16 a) {
  return {_mm512_srai_epi32(a.v, kBits)};
}
// 16 values of -128..127 as bytes.
MUMMU_INLINE void store_bytes(int8_t* p, i32x16 a) {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm512_cvtepi32_epi8(a.v));
}

MUMMU_INLINE f32x16 load_f16(const uint16_t* p) {
  return {_mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)))};
}
MUMMU_INLINE f32x16 load_bf16(const uint16_t* p) {
  return {_mm512_castsi512_ps(_mm512_slli_epi32(
      _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p))), 16))};
}
MUMMU_INLINE void store_f16(uint16_t* p, f32x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_cvtps_ph(a.v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}
MUMMU_INLINE f32x16 load_i8(const int8_t* p) {
  return {_mm512_cvtepi32_ps(
      _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))))};
}
// The upper halves of 16 words.
MUMMU_INLINE void store_upper(uint16_t* p, i32x16 a) {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                      _mm512_cvtepi32_epi16(_mm512_srli_epi32(a.v, 16)));
}
// x is a NaN ? a : x
MUMMU_INLINE f32x16 replace_nan(f32x16 x, f32x16 a) {
  return {_mm512_mask_blend_ps(_mm512_cmp_ps_mask(x.v, x.v, _CMP_UNORD_Q), x.v, a.v)};
}

MUMMU_INLINE __m256 low_half(f32x16 a) { return _mm512_castps512_ps256(a.v); }
MUMMU_INLINE __m256 high_half(f32x16 a) { return _mm512_extractf32x8_ps(a.v, 1); }
MUMMU_INLINE __m256i low_half(i32x16 a) { return _mm512_castsi512_si256(a.v); }
MUMMU_INLINE __m256i high_half(i32x16 a) { return _mm512_extracti32x8_epi32(a.v, 1); }

// A part: 16 output rows.
inline constexpr int kPartRows = 16;
using f32_part = __m512;
using i32_part = __m512i;
MUMMU_INLINE f32_part part_zero() { return _mm512_setzero_ps(); }
MUMMU_INLINE f32_part part_all(float x) { return _mm512_set1_ps(x); }
MUMMU_INLINE i32_part part_all(int32_t x) { return _mm512_set1_epi32(x); }
MUMMU_INLINE f32_part part_fma(f32_part a, f32_part b, f32_part c) {
  return _mm512_fmadd_ps(a, b, c);
}
MUMMU_INLINE f32_part part_mul(f32_part a, f32_part b) { return _mm512_mul_ps(a, b); }
MUMMU_INLINE i32_part part_load_u8(const std::byte* p) {
  return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
MUMMU_INLINE f32_part part_float(i32_part a) { return _mm512_cvtepi32_ps(a); }
MUMMU_INLINE void part_store(float* p, f32_part a) { _mm512_storeu_ps(p, a); }
MUMMU_INLINE f32_part part_load_f16(const uint16_t* p) {
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
}

#else

struct f32x16 {
  __m256 lo, hi;
};
struct i32x16 {
  __m256i lo, hi;
};

MUMMU_INLINE __m256i first_lanes(int64_t n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int32_t>(n)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

MUMMU_INLINE f32x16 zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
MUMMU_INLINE f32x16 all(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
MUMMU_INLINE f32x16 load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
MUMMU_INLINE void store(float* p, f32x16 a) {
  _mm256_storeu_ps(p, a.lo);
  _mm256_storeu_ps(p + 8, a.hi);
}
// The first n lanes, 0 <= n <= 16; loaded others are +0.
MUMMU_INLINE f32x16 load_first(const float* p, int64_t n) {
  if (n >= 16) return load(p);
  return {_mm256_maskload_ps(p, first_lanes(n)), _mm256_maskload_ps(p + 8, first_lanes(n - 8))};
}
MUMMU_INLINE void store_first(float* p, f32x16 a, int64_t n) {
  // A masked store costs dozens of cycles on some processors.
  if (n >= 16) return store(p, a);
  _mm256_maskstore_ps(p, first_lanes(n), a.lo);
  _mm256_maskstore_ps(p + 8, first_lanes(n - 8), a.hi);
}
MUMMU_INLINE f32x16 keep_first(f32x16 a, int64_t n, f32x16 other) {
  return {_mm256_blendv_ps(other.lo, a.lo, _mm256_castsi256_ps(first_lanes(n))),
          _mm256_blendv_ps(other.hi, a.hi, _mm256_castsi256_ps(first_lanes(n - 8)))};
}

// x < 0 ? a : b, so b where x is a NaN or a zero.
MUMMU_INLINE f32x16 where_negative(f32x16 x, f32x16 a, f32x16 b) {
  const __m256 none = _mm256_setzero_ps();
  return {_mm256_blendv_ps(b.lo, a.lo, _mm256_cmp_ps(x.lo, none, _CMP_LT_OQ)),
          _mm256_blendv_ps(b.hi, a.hi, _mm256_cmp_ps(x.hi, none, _CMP_LT_OQ))};
}

MUMMU_INLINE f32x16 add(f32x16 a, f32x16 b) {
  return {_mm256_add_ps(a.lo, b.lo), _mm256_add_ps(a.hi, b.hi)};
}
MUMMU_INLINE f32x16 sub(f32x16 a, f32x16 b) {
  return {_mm256_sub_ps(a.lo, b.lo), _mm256_sub_ps(a.hi, b.hi)};
}
MUMMU_INLINE f32x16 mul(f32x16 a, f32x16 b) {
  return {_mm256_mul_ps(a.lo, b.lo), _mm256_mul_ps(a.hi, b.hi)};
}
MUMMU_INLINE f32x16 div(f32x16 a, f32x16 b) {
  return {_mm256_div_ps(a.lo, b.lo), _mm256_div_ps(a.hi, b.hi)};
}
MUMMU_INLINE f32x16 fma(f32x16 a, f32x16 b, f32x16 c) {
  return {_mm256_fmadd_ps(a.lo, b.lo, c.lo), _mm256_fmadd_ps(a.hi, b.hi, c.hi)};
}
// a > b ? a : b, so b where either is a NaN.
MUMMU_INLINE f32x16 greater(f32x16 a, f32x16 b) {
  return {_mm256_max_ps(a.lo, b.lo), _mm256_max_ps(a.hi, b.hi)};
}
// a < b ? a : b, so b where either is a NaN.
MUMMU_INLINE f32x16 lesser(f32x16 a, f32x16 b) {
  return {_mm256_min_ps(a.lo, b.lo), _mm256_min_ps(a.hi, b.hi)};
}
MUMMU_INLINE f32x16 negate(f32x16 a) {
  const __m256 sign = _mm256_set1_ps(-0.0F);
  return {_mm256_xor_ps(a.lo, sign), _mm256_xor_ps(a.hi, sign)};
}
MUMMU_INLINE f32x16 round_to_int(f32x16 a) {
  return {_mm256_round_ps(a.lo, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC),
          _mm256_round_ps(a.hi, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
}

MUMMU_INLINE i32x16 all(int32_t x) { return {_mm256_set1_epi32(x), _mm256_set1_epi32(x)}; }
MUMMU_INLINE i32x16 bits(f32x16 a) {
  return {_mm256_castps_si256(a.lo), _mm256_castps_si256(a.hi)};
}
MUMMU_INLINE f32x16 from_bits(i32x16 a) {
  return {_mm256_castsi256_ps(a.lo), _mm256_castsi256_ps(a.hi)};
}
MUMMU_INLINE i32x16 to_int(f32x16 a) {
  return {_mm256_cvtps_epi32(a.lo), _mm256_cvtps_epi32(a.hi)};
}
MUMMU_INLINE i32x16 add(i32x16 a, i32x16 b) {
  return {_mm256_add_epi32(a.lo, b.lo), _mm256_add_epi32(a.hi, b.hi)};
}
MUMMU_INLINE i32x16 sub(i32x16 a, i32x16 b) {
  return {_mm256_sub_epi32(a.lo, b.lo), _mm256_sub_epi32(a.hi, b.hi)};
}
MUMMU_INLINE i32x16 larger(i32x16 a, i32x16 b) {
  return {_mm256_max_epi32(a.lo, b.lo), _mm256_max_epi32(a.hi, b.hi)};
}
MUMMU_INLINE i32x16 smaller(i32x16 a, i32x16 b) {
  return {_mm256_min_epi32(a.lo, b.lo), _mm256_min_epi32(a.hi, b.hi)};
}
MUMMU_INLINE i32x16 both(i32x16 a, i32x16 b) {
  return {_mm256_and_si256(a.lo, b.lo), _mm256_and_si256(a.hi, b.hi)};
}
template <int kBits>
MUMMU_INLINE i32x16 shift_left(i32x16 a) {
  return {_mm256_slli_epi32(a.lo, kBits), _mm256_slli_epi32(a.hi, kBits)};
}
template <int kBits>
MUMMU_INLINE i32x16 shift_right(i32x16 a) {
  return {_mm256_srai_epi32(a.lo, kBits), _mm256_srai_epi32(a.hi, kBits)};
}
// 16 values of -128..127 as bytes.
MUMMU_INLINE void store_bytes(int8_t* p, i32x16 a) {
  const __m128i lo =
      _mm_packs_epi32(_mm256_castsi256_si128(a.lo), _mm256_extracti128_si256(a.lo, 1));
  const __m128i hi =
      _mm_packs_epi32(_mm256_castsi256_si128(a.hi), _mm256_extracti128_si256(a.hi, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm_packs_epi16(lo, hi));
}

MUMMU_INLINE __m256 load_f16x8(const uint16_t* p) {
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
MUMMU_INLINE f32x16 load_f16(const uint16_t* p) { return {load_f16x8(p), load_f16x8(p + 8)}; }
MUMMU_INLINE __m256 load_bf16x8(const uint16_t* p) {
  return _mm256_castsi256_ps(_mm256_slli_epi32(
      _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))), 16));
}
MUMMU_INLINE f32x16 load_bf16(const uint16_t* p) { return {load_bf16x8(p), load_bf16x8(p + 8)}; }
MUMMU_INLINE void store_f16(uint16_t* p, f32x16 a) {
  constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph(a.lo, kNearest));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(p + 8), _mm256_cvtps_ph(a.hi, kNearest));
}
MUMMU_INLINE __m256 load_i8x8(const int8_t* p) {
  return _mm256_cvtepi32_ps(
      _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p))));
}
MUMMU_INLINE f32x16 load_i8(const int8_t* p) { return {load_i8x8(p), load_i8x8(p + 8)}; }
// The upper halves of 16 words.
MUMMU_INLINE void store_upper(uint16_t* p, i32x16 a) {
  const __m256i packed =
      _mm256_packs_epi32(_mm256_srai_epi32(a.lo, 16), _mm256_srai_epi32(a.hi, 16));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), _mm256_permute4x64_epi64(packed, 0xd8));
}
// x is a NaN ? a : x
MUMMU_INLINE f32x16 replace_nan(f32x16 x, f32x16 a) {
  return {_mm256_blendv_ps(x.lo, a.lo, _mm256_cmp_ps(x.lo, x.lo, _CMP_UNORD_Q)),
          _mm256_blendv_ps(x.hi, a.hi, _mm256_cmp_ps(x.hi, x.hi, _CMP_UNORD_Q))};
}

MUMMU_INLINE __m256 low_half(f32x16 a) { return a.lo; }
MUMMU_INLINE __m256 high_half(f32x16 a) { return a.hi; }
MUMMU_INLINE __m256i low_half(i32x16 a) { return a.lo; }
MUMMU_INLINE __m256i high_half(i32x16 a) { return a.hi; }

// A part: 8 output rows.
inline constexpr int kPartRows = 8;
using f32_part = __m256;
using i32_part = __m256i;
MUMMU_INLINE f32_part part_zero() { return _mm256_setzero_ps(); }
MUMMU_INLINE f32_part part_all(float x) { return _mm256_set1_ps(x); }
MUMMU_INLINE i32_part part_all(int32_t x) { return _mm256_set1_epi32(x); }
MUMMU_INLINE f32_part part_fma(f32_part a, f32_part b, f32_part c) {
  return _mm256_fmadd_ps(a, b, c);
}
MUMMU_INLINE f32_part part_mul(f32_part a, f32_part b) { return _mm256_mul_ps(a, b); }
MUMMU_INLINE i32_part part_load_u8(const std::byte* p) {
  return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
MUMMU_INLINE f32_part part_float(i32_part a) { return _mm256_cvtepi32_ps(a); }
MUMMU_INLINE void part_store(float* p, f32_part a) { _mm256_storeu_ps(p, a); }
MUMMU_INLINE f32_part part_load_f16(const uint16_t* p) { return load_f16x8(p); }

#endif

// Rounded to nearest even; every NaN becomes one quiet NaN.
MUMMU_INLINE void store_bf16(uint16_t* p, f32x16 a) {
  const i32x16 number = bits(replace_nan(a, from_bits(all(int32_t{0x7FC00000}))));
  const i32x16 odd = both(shift_right<16>(number), all(int32_t{1}));
  store_upper(p, add(add(number, all(int32_t{0x7FFF})), odd));
}

// The tree of sum16: lane[i] += lane[i + 8], then + 4, + 2, + 1.
MUMMU_INLINE float tree_sum(f32x16 a) {
  const __m256 eight = _mm256_add_ps(low_half(a), high_half(a));
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// The largest lane; no lane is a NaN.
MUMMU_INLINE float largest(f32x16 a) {
  const __m256 eight = _mm256_max_ps(low_half(a), high_half(a));
  const __m128 four = _mm_max_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

MUMMU_INLINE int32_t largest(i32x16 a) {
  const __m256i eight = _mm256_max_epi32(low_half(a), high_half(a));
  const __m128i four =
      _mm_max_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_max_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

MUMMU_INLINE int32_t integer_sum(i32x16 a) {
  const __m256i eight = _mm256_add_epi32(low_half(a), high_half(a));
  const __m128i four =
      _mm_add_epi32(_mm256_castsi256_si128(eight), _mm256_extracti128_si256(eight, 1));
  const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
  return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

}  // namespace
}  // namespace mummu::MUMMU_KERNEL_NAMESPACE
