// rope_theta, rope_scaling and rope_parameters of config.json, which say the same thing in three
// generations of the format.
//   source   transformers, modeling_rope_utils: the keys and what stands in for an absent one

#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "file/quote.h"
#include "model/config_json.h"

namespace mummu {

namespace {

Result<double> double_or(const JsonObject& object, std::string_view key, double fallback) {
  MUMMU_TRY(const auto found, object.find_double(key));
  return found ? *found : fallback;
}

Result<std::string> kind_name(const JsonObject& object) {
  MUMMU_TRY(const auto now, object.find_string("rope_type"));
  MUMMU_TRY(const auto before, object.find_string("type"));
  if (now && before && *now != *before)
    return fail(Error::corrupt, "{}: rope_type {} against type {}", object.where(), quote(*now),
                quote(*before));
  return now ? *now : before ? *before : std::string("default");
}

Result<RopeKind> kind_of(const JsonObject& object) {
  MUMMU_TRY(const std::string name, kind_name(object));
  if (name == "default") return RopeKind::standard;
  if (name == "linear") return RopeKind::linear;
  if (name == "llama3") return RopeKind::llama3;
  if (name == "yarn") return RopeKind::yarn;
  return fail(Error::unsupported,
              "{}: rope type {} is not supported; known are default, linear, llama3, yarn",
              object.where(), quote(name));
}

Result<void> read_llama3(const JsonObject& object, RopeConfig& rope) {
  MUMMU_TRY(rope.factor, object.get_double("factor"));
  MUMMU_TRY(rope.low_freq_factor, object.get_double("low_freq_factor"));
  MUMMU_TRY(rope.high_freq_factor, object.get_double("high_freq_factor"));
  return {};
}

Result<void> read_yarn(const JsonObject& object, int64_t context, RopeConfig& rope) {
  MUMMU_TRY(rope.factor,
            double_or(object, "factor", static_cast<double>(context) / rope.original_context));
  MUMMU_TRY(rope.beta_fast, double_or(object, "beta_fast", 32));
  MUMMU_TRY(rope.beta_slow, double_or(object, "beta_slow", 1));
  MUMMU_TRY(const auto truncate, object.find_bool("truncate"));
  rope.truncate = truncate.value_or(true);
  MUMMU_TRY(const double mscale, double_or(object, "mscale", 0));
  MUMMU_TRY(const double mscale_all_dim, double_or(object, "mscale_all_dim", 0));
  MUMMU_TRY(const auto given, object.find_double("attention_factor"));
  if (given) {
    rope.attention_factor = *given;
  } else if (mscale != 0 && mscale_all_dim != 0) {
    rope.attention_factor = yarn_attention_factor(rope.factor, mscale) /
                            yarn_attention_factor(rope.factor, mscale_all_dim);
  } else {
    rope.attention_factor = yarn_attention_factor(rope.factor);
  }
  return {};
}

// None of our families turns only a part of a head.
Result<void> refuse_partial(const JsonObject& object) {
  MUMMU_TRY(const double part, double_or(object, "partial_rotary_factor", 1));
  if (part == 1) return {};
  return fail(Error::unsupported, "{}: a partial_rotary_factor of {} is not supported",
              object.where(), part);
}

// What one of the two objects says on top of `base`.
Result<RopeConfig> read_object(const JsonObject& config, const JsonObject& object,
                               const ModelConfig& model, RopeConfig base) {
  MUMMU_TRY(base.kind, kind_of(object));
  MUMMU_TRY(base.theta, double_or(object, "rope_theta", base.theta));
  MUMMU_TRY(refuse_partial(object));
  MUMMU_TRY(const double trained, double_or(config, "original_max_position_embeddings",
                                            static_cast<double>(model.context)));
  MUMMU_TRY(base.original_context, double_or(object, "original_max_position_embeddings", trained));
  if (base.kind == RopeKind::linear) {
    MUMMU_TRY(base.factor, object.get_double("factor"));
  }
  if (base.kind == RopeKind::llama3) MUMMU_TRY(read_llama3(object, base));
  if (base.kind == RopeKind::yarn) MUMMU_TRY(read_yarn(object, model.context, base));
  return base;
}

bool same(const RopeConfig& a, const RopeConfig& b) {
  return a.kind == b.kind && a.theta == b.theta && a.rotary_dim == b.rotary_dim &&
         a.factor == b.factor && a.attention_factor == b.attention_factor &&
         (a.kind == RopeKind::standard || a.original_context == b.original_context) &&
         a.low_freq_factor == b.low_freq_factor && a.high_freq_factor == b.high_freq_factor &&
         a.beta_fast == b.beta_fast && a.beta_slow == b.beta_slow && a.truncate == b.truncate;
}

}  // namespace

Result<RopeConfig> read_rope_json(const JsonObject& config, const ModelConfig& model,
                                  double default_theta) {
  RopeConfig base;
  base.rotary_dim = model.head_dim;
  MUMMU_TRY(const auto theta, config.find_double("rope_theta"));
  base.theta = theta.value_or(default_theta);
  MUMMU_TRY(refuse_partial(config));

  MUMMU_TRY(const auto parameters, config.find_object("rope_parameters"));
  MUMMU_TRY(const auto scaling, config.find_object("rope_scaling"));
  if (!parameters && !scaling) return base;
  MUMMU_TRY(auto rope, read_object(config, parameters ? *parameters : *scaling, model, base));
  if (parameters && theta && rope.theta != *theta)
    return fail(Error::corrupt, "{}: rope_theta {} against rope_parameters' rope_theta {}",
                config.where(), *theta, rope.theta);
  if (!parameters || !scaling) return rope;
  RopeConfig from_parameters = base;
  from_parameters.theta = rope.theta;
  MUMMU_TRY(const auto other, read_object(config, *scaling, model, from_parameters));
  if (!same(rope, other))
    return fail(Error::corrupt, "{}: rope_scaling and rope_parameters contradict each other",
                config.where());
  return rope;
}

}  // namespace mummu
