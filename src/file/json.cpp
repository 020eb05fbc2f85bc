#include "file/json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/fail.h"
#include "file/json_events.h"
#include "file/quote.h"
#include "file/reader.h"
#include "file/wrong_format.h"

namespace mummu {
namespace {

using nlohmann::json;

// About what one value costs in memory: itself and the growth of the array that holds it, the block
// of a string, an array or an object, and the node of an object's key.
constexpr int64_t kValueBytes = 2 * sizeof(json);
constexpr int64_t kBlockBytes = 64;
constexpr int64_t kNodeBytes = 96;

// Builds the document from events.
class Builder final : public JsonEvents {
 public:
  explicit Builder(int64_t memory_bytes) : memory_bytes_(memory_bytes) {}

  json take() { return std::move(root_); }

  Result<void> scalar(JsonScalar value) override {
    if (auto* text = std::get_if<std::string>(&value)) {
      MUMMU_TRY(spend(kBlockBytes + static_cast<int64_t>(text->size())));
    }
    return std::visit([this](auto&& held) { return begin(json(std::move(held)), false); },
                      std::move(value));
  }

  Result<void> begin_object() override { return begin(json::object(), true); }
  Result<void> begin_array() override { return begin(json::array(), true); }
  Result<void> end_object() override { return end(); }
  Result<void> end_array() override { return end(); }

  Result<void> key(std::string name) override {
    MUMMU_TRY(spend(kNodeBytes + static_cast<int64_t>(name.size())));
    const auto [place, fresh] =
        open_.back()->get_ref<json::object_t&>().emplace(std::move(name), nullptr);
    if (!fresh) return fail(Error::corrupt, "key {} is there twice", quote(place->first));
    value_of_key_ = &place->second;
    return {};
  }

 private:
  Result<void> begin(json value, bool open) {
    MUMMU_TRY(spend(kValueBytes + (open ? kBlockBytes : 0)));
    json* place = &root_;
    if (!open_.empty() && open_.back()->is_array()) {
      place = &open_.back()->get_ref<json::array_t&>().emplace_back();
    } else if (!open_.empty()) {
      place = value_of_key_;
    }
    *place = std::move(value);
    if (open) open_.push_back(place);
    return {};
  }

  Result<void> end() {
    open_.pop_back();
    return {};
  }

  Result<void> spend(int64_t bytes) {
    memory_bytes_ -= bytes;
    if (memory_bytes_ >= 0) return {};
    return fail(Error::corrupt, "the document has too many values");
  }

  json root_;
  std::vector<json*> open_;  // arrays and objects that have begun and not ended, outermost first
  json* value_of_key_ = nullptr;
  int64_t memory_bytes_;  // left
};

}  // namespace

Result<json> parse_json(std::string_view text, std::string_view where, const JsonLimits& limits) {
  const auto size = static_cast<int64_t>(text.size());
  if (size > limits.size_bytes) {
    return fail(Error::corrupt, "{}: has {} bytes, at most {} are allowed", where, size,
                limits.size_bytes);
  }
  Builder builder(limits.memory_bytes);
  MUMMU_TRY(parse_json_events(text, where, limits.depth, builder));
  return builder.take();
}

Result<json> read_json(const std::string& path, const JsonLimits& limits) {
  MUMMU_TRY(const auto file, FileReader::open(path));
  if (file.size() > limits.size_bytes) {
    return fail(Error::corrupt, "{}: has {} bytes, at most {} are allowed", path, file.size(),
                limits.size_bytes);
  }
  if (file.size() == 0) return wrong_format(file, "JSON");
  std::string text(static_cast<size_t>(file.size()), '\0');
  MUMMU_TRY(file.read(0, std::as_writable_bytes(std::span(text))));
  if (text[0] == 'v') return wrong_format(file, "JSON");
  return parse_json(text, path, limits);
}

}  // namespace mummu
