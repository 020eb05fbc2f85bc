#include "layer/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/float_environment.h"
#include "layer/double_math.h"

namespace mummu {

namespace {

constexpr double kTwoPi = 2 * std::numbers::pi;

// Rounded to f32, as files that store the divisors hold them.
double llama3_divisor(const RopeConfig& config, double frequency) {
  const double wavelength = kTwoPi / frequency;
  if (wavelength < config.original_context / config.high_freq_factor) return 1;
  if (wavelength > config.original_context / config.low_freq_factor) return config.factor;
  const double smooth = (config.original_context / wavelength - config.low_freq_factor) /
                        (config.high_freq_factor - config.low_freq_factor);
  return static_cast<float>(1 / ((1 - smooth) / config.factor + smooth));
}

// Where in the table of frequencies the one that turns `rotations` times over the first training
// is.
double yarn_component(const RopeConfig& config, double rotations) {
  return static_cast<double>(config.rotary_dim) *
         natural_log(config.original_context / (rotations * kTwoPi)) /
         (2 * natural_log(config.theta));
}

struct Ramp {
  double begin, end;

  double at(int64_t component) const {
    return std::clamp((static_cast<double>(component) - begin) / (end - begin), 0.0, 1.0);
  }
};

Ramp yarn_ramp(const RopeConfig& config) {
  double begin = yarn_component(config, config.beta_fast);
  double end = yarn_component(config, config.beta_slow);
  if (config.truncate) {
    begin = std::floor(begin);
    end = std::ceil(end);
  }
  begin = std::max(begin, 0.0);
  end = std::min(end, static_cast<double>(config.rotary_dim - 1));
  if (begin == end) end += 0.001;  // the reference's guard against a division by zero
  return {begin, end};
}

std::vector<double> frequencies_in_default_environment(const RopeConfig& config) {
  const int64_t pairs = config.rotary_dim / 2;
  const double log_theta = natural_log(config.theta);
  const bool yarn = config.kind == RopeKind::yarn;
  const Ramp ramp = yarn ? yarn_ramp(config) : Ramp{0, 1};

  std::vector<double> out(static_cast<size_t>(pairs));
  for (int64_t i = 0; i < pairs; ++i) {
    const double exponent = -2 * static_cast<double>(i) / static_cast<double>(config.rotary_dim);
    double& frequency = out[static_cast<size_t>(i)];
    frequency = exponential(exponent * log_theta);
    if (config.kind == RopeKind::linear) frequency /= config.factor;
    if (config.kind == RopeKind::llama3) frequency /= llama3_divisor(config, frequency);
    if (yarn) {
      const double squeezed = ramp.at(i);
      frequency = frequency / config.factor * squeezed + frequency * (1 - squeezed);
    }
    if (!config.divisors.empty())
      frequency /= static_cast<double>(config.divisors[static_cast<size_t>(i)]);
  }
  return out;
}

void fill_in_default_environment(const RopeConfig& config, int64_t positions, float* out) {
  const std::vector<double> frequencies = frequencies_in_default_environment(config);
  const int64_t pairs = config.rotary_dim / 2;
  for (int64_t p = 0; p < positions; ++p, out += config.rotary_dim) {
    for (int64_t i = 0; i < pairs; ++i) {
      const SinCos turn = sin_cos(static_cast<double>(p) * frequencies[static_cast<size_t>(i)]);
      out[i] = static_cast<float>(turn.cos * config.attention_factor);
      out[pairs + i] = static_cast<float>(turn.sin * config.attention_factor);
    }
  }
}

}  // namespace

std::vector<double> rope_frequencies(const RopeConfig& config) {
  return run_in_default_float_environment(
      [&] { return frequencies_in_default_environment(config); });
}

double yarn_attention_factor(double factor, double mscale) {
  return run_in_default_float_environment(
      [&] { return factor <= 1 ? 1.0 : 0.1 * mscale * natural_log(factor) + 1; });
}

void fill_rope_table(const RopeConfig& config, int64_t positions, float* out) {
  run_in_default_float_environment([&] { fill_in_default_environment(config, positions, out); });
}

}  // namespace mummu
