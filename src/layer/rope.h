#pragma once

// The table of cosines and sines that Ops::rope turns q and k by: made in double at load, rounded
// to f32 once.

#include <cstdint>
#include <string_view>
#include <vector>

namespace mummu {

// How positions beyond the length a model was first trained for are squeezed into it.
enum class RopeKind { standard, linear, llama3, yarn };

struct RopeConfig {
  RopeKind kind = RopeKind::standard;
  double theta = 10000;         // base of the frequencies
  int64_t rotary_dim = 0;       // components of a head that turn; even
  double factor = 1;            // how much longer than the first training (all kinds but standard)
  double original_context = 0;  // tokens of the first training (llama3, yarn)

  double low_freq_factor = 1, high_freq_factor = 4;  // llama3

  double beta_fast = 32, beta_slow = 1;  // yarn: rotations over original_context
  double attention_factor = 1;           // yarn: cosines and sines are multiplied by it
  bool truncate = true;                  // yarn: the ramp begins and ends at whole components

  // What each frequency is divided by (rotary_dim / 2), where a file stores that instead of a kind;
  // empty: nothing.
  std::vector<float> divisors = {};
};

// The angle per token of each pair of components (rotary_dim / 2), radians.
//   source   standard: arXiv 2104.09864 section 3.4.2, theta^(-2i / rotary_dim)
//            linear: arXiv 2306.15595, positions divided by factor
//            yarn: arXiv 2309.00071 section 3.2 ("NTK-by-parts")
//            llama3: the reference code published with Llama 3.1 (apply_scaling): wavelengths
//            shorter than original_context / high_freq_factor stay, those longer than
//            original_context / low_freq_factor are divided by factor, between them a linear mix
std::vector<double> rope_frequencies(const RopeConfig& config);

// What the papers take for yarn's attention factor where a checkpoint gives none: 0.1 ln(factor)
// + 1.
//   source   arXiv 2309.00071 section 3.4
double yarn_attention_factor(double factor, double mscale = 1);

// Row p (rotary_dim f32): the cosines of position p's angles, then their sines.
//   writes   out (positions * rotary_dim)
void fill_rope_table(const RopeConfig& config, int64_t positions, float* out);

}  // namespace mummu
