#include "file/safetensors_json.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "file/json_events.h"
#include "file/quote.h"

namespace mummu {
namespace {

// As numpy's; the format sets no bound.
constexpr size_t kMaxDimensions = 32;

// Real files have a handful.
constexpr size_t kMaxMetadata = 1 << 16;

struct ElementType {
  std::string_view name;
  int64_t bits;
  std::optional<DType> type;  // empty: we do not compute with it
};

// source   safetensors' tensor.rs (enum Dtype)
constexpr ElementType kTypes[] = {
    {"F32", 32, DType::f32},
    {"F16", 16, DType::f16},
    {"BF16", 16, DType::bf16},
    {"I32", 32, DType::i32},
    {"U8", 8, DType::u8},
    {"BOOL", 8, std::nullopt},
    {"I8", 8, std::nullopt},
    {"I16", 16, std::nullopt},
    {"U16", 16, std::nullopt},
    {"U32", 32, std::nullopt},
    {"I64", 64, std::nullopt},
    {"U64", 64, std::nullopt},
    {"F64", 64, std::nullopt},
    {"C64", 64, std::nullopt},
    {"F8_E4M3", 8, std::nullopt},
    {"F8_E5M2", 8, std::nullopt},
    {"F8_E8M0", 8, std::nullopt},
    {"F8_E4M3FNUZ", 8, std::nullopt},
    {"F8_E5M2FNUZ", 8, std::nullopt},
    {"F6_E2M3", 6, std::nullopt},
    {"F6_E3M2", 6, std::nullopt},
    {"F4", 4, std::nullopt},
};

// Builds the list of tensors from the header's JSON:
//   {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, "__metadata__": {"K":
//   "V"}}
class HeaderEvents final : public JsonEvents {
 public:
  explicit HeaderEvents(int64_t max_tensors) : max_tensors_(max_tensors) {}

  SafetensorsHeader take() { return std::move(header_); }

  Result<void> begin_object() override {
    if (place_ == Place::outside) {
      place_ = Place::header;
    } else if (place_ == Place::header && key_ == "__metadata__") {
      if (std::exchange(metadata_seen_, true)) return wrong("is there twice");
      place_ = Place::metadata;
    } else if (place_ == Place::header) {
      return begin_tensor();
    } else {
      return wrong("is an object");
    }
    return {};
  }

  Result<void> key(std::string name) override {
    if (place_ == Place::tensor) {
      field_ = std::move(name);
      return begin_field();
    }
    key_ = std::move(name);
    return {};
  }

  Result<void> end_object() override {
    if (place_ == Place::tensor) MUMMU_TRY(end_tensor());
    place_ = place_ == Place::header ? Place::outside : Place::header;
    return {};
  }

  Result<void> begin_array() override {
    if (place_ != Place::tensor || field_ == "dtype") return wrong("is an array");
    place_ = field_ == "shape" ? Place::shape : Place::offsets;
    return {};
  }

  Result<void> end_array() override {
    place_ = Place::tensor;
    return {};
  }

  Result<void> scalar(JsonScalar value) override {
    const auto* text = std::get_if<std::string>(&value);
    const auto* number = std::get_if<uint64_t>(&value);
    switch (place_) {
      case Place::metadata:
        return text ? add_metadata(std::move(*text)) : wrong("is no string");
      case Place::tensor:
        return text && field_ == "dtype" ? set_type(*text) : wrong("has the wrong type");
      case Place::shape:
        return number ? add_dimension(*number) : wrong("holds no size");
      case Place::offsets:
        return number ? add_offset(*number) : wrong("holds no offset");
      case Place::outside:
      case Place::header:
        break;
    }
    return wrong("is no object");
  }

 private:
  enum class Place { outside, header, metadata, tensor, shape, offsets };

  Error wrong(std::string_view what) const {
    if (place_ == Place::outside) return fail(Error::corrupt, "the header {}", what);
    if (place_ == Place::metadata) {
      return fail(Error::corrupt, "__metadata__ {} {}", quote(key_), what);
    }
    if (place_ == Place::header) return fail(Error::corrupt, "{} {}", quote(key_), what);
    return fail(Error::corrupt, "tensor {}: {} {}", quote(key_), quote(field_), what);
  }

  Error wrong_tensor(std::string_view what) const {
    return fail(Error::corrupt, "tensor {} {}", quote(key_), what);
  }

  Result<void> begin_tensor() {
    if (static_cast<int64_t>(header_.tensors.size()) >= max_tensors_) {
      return fail(Error::corrupt, "more than {} tensors", max_tensors_);
    }
    place_ = Place::tensor;
    tensor_ = {};
    type_ = nullptr;
    offsets_ = {};
    type_seen_ = shape_seen_ = offsets_seen_ = false;
    return {};
  }

  Result<void> begin_field() {
    bool* seen = field_ == "dtype"          ? &type_seen_
                 : field_ == "shape"        ? &shape_seen_
                 : field_ == "data_offsets" ? &offsets_seen_
                                            : nullptr;
    if (seen == nullptr) return wrong("is no field of a tensor");
    if (std::exchange(*seen, true)) return wrong("is there twice");
    return {};
  }

  Result<void> set_type(const std::string& name) {
    const auto* found = std::ranges::find(kTypes, name, &ElementType::name);
    if (found == std::end(kTypes)) {
      return fail(Error::corrupt, "tensor {} has the unknown dtype {}", quote(key_), quote(name));
    }
    type_ = found;
    return {};
  }

  Result<void> add_dimension(uint64_t size) {
    if (!std::in_range<int64_t>(size)) return wrong("holds an absurd size");
    if (tensor_.shape.size() >= kMaxDimensions) return wrong("has too many dimensions");
    tensor_.shape.push_back(static_cast<int64_t>(size));
    return {};
  }

  Result<void> add_offset(uint64_t offset) {
    if (!std::in_range<int64_t>(offset)) return wrong("holds an absurd offset");
    if (offsets_.size() >= 2) return wrong("has more than two offsets");
    offsets_.push_back(static_cast<int64_t>(offset));
    return {};
  }

  Result<void> add_metadata(std::string value) {
    if (header_.metadata.size() >= kMaxMetadata) return wrong("is one entry too many");
    if (!header_.metadata.emplace(key_, std::move(value)).second) return wrong("is there twice");
    return {};
  }

  Result<void> end_tensor() {
    if (type_ == nullptr) return wrong_tensor("has no dtype");
    if (!shape_seen_) return wrong_tensor("has no shape");
    if (offsets_.size() != 2) return wrong_tensor("has no two data_offsets");
    if (offsets_[0] > offsets_[1]) return wrong_tensor("ends before it begins");
    const auto elements = checked_elements(tensor_.shape);
    const auto bits = elements ? checked_mul(*elements, type_->bits) : std::nullopt;
    if (!bits) return wrong_tensor("has a shape whose size overflows");
    const int64_t bytes = offsets_[1] - offsets_[0];
    if (*bits % 8 != 0 || *bits / 8 != bytes) {
      return fail(Error::corrupt, "tensor {} of {} {} does not take {} bytes", quote(key_),
                  type_->name, shape_text(tensor_.shape), bytes);
    }
    tensor_.name = std::move(key_);
    tensor_.type = type_->type;
    tensor_.type_name = type_->name;
    tensor_.offset_bytes = offsets_[0];
    tensor_.size_bytes = bytes;
    header_.tensors.push_back(std::move(tensor_));
    return {};
  }

  const int64_t max_tensors_;
  SafetensorsHeader header_;
  Place place_ = Place::outside;
  bool metadata_seen_ = false;
  std::string key_;  // in the header or in __metadata__

  // The tensor that is being read.
  TensorInfo tensor_;
  std::string field_;
  const ElementType* type_ = nullptr;
  std::vector<int64_t> offsets_;
  bool type_seen_ = false, shape_seen_ = false, offsets_seen_ = false;
};

}  // namespace

Result<SafetensorsHeader> parse_safetensors_json(std::string_view text, std::string_view where,
                                                 int64_t max_tensors) {
  HeaderEvents events(max_tensors);
  constexpr int kDepth = 3;
  MUMMU_TRY(parse_json_events(text, where, kDepth, events));
  return events.take();
}

}  // namespace mummu
