#include <nlohmann/json.hpp>

#include "base/fail.h"
#include "text/tokenizer_json.h"
#include "text/utf8.h"

namespace mummu::tokenizer_json {
namespace {

using Kind = DecoderStep::Kind;

// Collects steps in order; what comes after all tokens have become one text can only be a Strip at
// its front.
class Reader {
 public:
  Result<void> append(const JsonObject& object) {
    MUMMU_TRY(const auto type, object.get_string("type"));
    if (type == "Sequence") {
      MUMMU_TRY(const auto parts, objects(object, "decoders"));
      for (const JsonObject& part : parts) MUMMU_TRY(append(part));
      return {};
    }
    if (type == "Fuse") {
      fused_ = true;
      return {};
    }
    if (fused_) return append_fused(object, type);
    if (type == "ByteLevel") {
      fused_ = true;
      return push({.kind = Kind::byte_level});
    }
    if (type == "ByteFallback") return push({.kind = Kind::byte_fallback});
    if (type == "WordPiece") return word_piece(object);
    if (type == "Metaspace") return metaspace(object);
    if (type == "Strip") return strip(object);
    if (type == "Replace") return replace(object);
    return unknown_type(object, type);
  }
  Result<void> append_joined() { return push({.kind = Kind::join}); }

  DecoderParts take() { return std::move(out_); }

 private:
  Result<void> push(DecoderStep step) {
    out_.steps.push_back(std::move(step));
    return {};
  }

  Result<void> append_fused(const JsonObject& object, const std::string& type) {
    MUMMU_TRY(const auto stop, object.find_int("stop"));
    if (type != "Strip" || stop.value_or(0) != 0 || out_.front.count > 0)
      return fail(Error::unsupported, "{}: {} after the tokens are fused is not supported",
                  object.where(), type);
    MUMMU_TRY(const int64_t start, object.get_int("start"));
    MUMMU_TRY(out_.front.text, read_character(object, "content"));
    if (start < 0) return fail(Error::corrupt, "{}: start is {}", object.where(), start);
    out_.front.count = static_cast<size_t>(start);
    return {};
  }

  Result<void> word_piece(const JsonObject& object) {
    DecoderStep step{.kind = Kind::word_piece};
    MUMMU_TRY(step.from, object.get_string("prefix"));
    MUMMU_TRY(step.flag, object.get_bool("cleanup"));
    return push(std::move(step));
  }

  Result<void> metaspace(const JsonObject& object) {
    DecoderStep step{.kind = Kind::metaspace};
    MUMMU_TRY(step.from, read_character(object, "replacement"));
    MUMMU_TRY(const auto scheme, object.find_string("prepend_scheme"));
    MUMMU_TRY(const auto add_prefix_space, object.find_bool("add_prefix_space"));
    step.flag = scheme ? scheme != "never" : add_prefix_space.value_or(true);
    return push(std::move(step));
  }

  Result<void> strip(const JsonObject& object) {
    DecoderStep step{.kind = Kind::strip};
    MUMMU_TRY(step.from, read_character(object, "content"));
    MUMMU_TRY(const int64_t start, object.get_int("start"));
    MUMMU_TRY(const int64_t stop, object.get_int("stop"));
    if (start < 0 || stop < 0)
      return fail(Error::corrupt, "{}: start is {}, stop is {}", object.where(), start, stop);
    step.left = static_cast<size_t>(start);
    step.right = static_cast<size_t>(stop);
    return push(std::move(step));
  }

  Result<void> replace(const JsonObject& object) {
    DecoderStep step{.kind = Kind::replace};
    MUMMU_TRY(const auto pattern, object.get_object("pattern"));
    if (pattern.has("Regex"))
      return fail(Error::unsupported, "{}: a Regex in a decoder is not supported", pattern.where());
    MUMMU_TRY(step.from, pattern.get_string("String"));
    MUMMU_TRY(step.to, object.get_string("content"));
    return push(std::move(step));
  }

  DecoderParts out_;
  bool fused_ = false;
};

}  // namespace

Result<DecoderParts> read_decoder(const JsonObject& root) {
  Reader reader;
  MUMMU_TRY(const auto object, root.find_object("decoder"));
  if (object) MUMMU_TRY(reader.append(*object));
  if (!object) MUMMU_TRY(reader.append_joined());
  return reader.take();
}

}  // namespace mummu::tokenizer_json
