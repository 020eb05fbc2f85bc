#include "file/gguf_metadata.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "base/fail.h"
#include "file/quote.h"

namespace mummu {
namespace {

// source   gguf.md: a key is at most 2^16 - 1 bytes long
constexpr uint64_t kLongestKey = (1 << 16) - 1;

// Arrays in arrays: no known file has any; the format sets no bound.
constexpr int kDeepestArray = 4;

constexpr std::string_view kElements = "the elements of array";

// Reads the values of one file. Holds what every message needs.
class ValueReader {
 public:
  ValueReader(ByteStream& stream, const std::string& path) : stream_(stream), path_(path) {}

  Result<GgufMetadata::Entry> entry() {
    GgufMetadata::Entry entry;
    MUMMU_TRY(const auto length, stream_.number<uint64_t>("the length of a metadata key"));
    if (length == 0 || length > kLongestKey) {
      return fail(Error::corrupt, "{}: a metadata key at byte {} has {} bytes, 1 to {} are allowed",
                  path_, stream_.position() - 8, length, kLongestKey);
    }
    entry.key.resize(length);
    MUMMU_TRY(stream_.read(std::as_writable_bytes(std::span(entry.key)), "a metadata key"));
    key_ = entry.key;
    MUMMU_TRY(const auto type, this->type("the type of key"));
    if (type == GgufType::array) {
      MUMMU_TRY(array(entry.value));
    } else {
      MUMMU_TRY(scalar(type, entry.value));
    }
    return entry;
  }

 private:
  Result<GgufType> type(std::string_view what) {
    MUMMU_TRY(const auto number, stream_.number<uint32_t>(what, key_));
    if (gguf_type_info(number) == nullptr) {
      return fail(Error::corrupt, "{}: {} {} is {}, which is no GGUF type", path_, what,
                  quote(key_), number);
    }
    return static_cast<GgufType>(number);
  }

  // The length of a string, or the elements of an array of at least `smallest` bytes each: as many
  // as the bytes that are left can hold.
  Result<int64_t> count(std::string_view what, int64_t smallest) {
    MUMMU_TRY(const auto number, stream_.number<uint64_t>(what, key_));
    if (number > static_cast<uint64_t>(stream_.remaining() / smallest)) {
      return fail(Error::corrupt, "{}: {} {} is {}, more than the {} bytes left can hold", path_,
                  what, quote(key_), number, stream_.remaining());
    }
    return static_cast<int64_t>(number);
  }

  Result<void> append(std::string& bytes, int64_t size, std::string_view what) {
    const size_t before = bytes.size();
    bytes.resize(before + static_cast<size_t>(size));
    return stream_.read(std::as_writable_bytes(std::span(bytes).subspan(before)), what, key_);
  }

  Result<void> check_bools(const std::string& bytes) const {
    const auto wrong = std::ranges::find_if(bytes, [](char c) { return c != 0 && c != 1; });
    if (wrong == bytes.end()) return {};
    return fail(Error::corrupt, "{}: metadata key {} holds the bool {}, which is not 0 or 1", path_,
                quote(key_), static_cast<int>(static_cast<unsigned char>(*wrong)));
  }

  Result<void> scalar(GgufType type, GgufValue& value) {
    value.type = type;
    int64_t bytes = gguf_type_info(static_cast<uint32_t>(type))->bytes;
    if (type == GgufType::string) {
      MUMMU_TRY(bytes, count("the length of string", 1));
    }
    MUMMU_TRY(append(value.bytes, bytes, "the value of key"));
    return type == GgufType::boolean ? check_bools(value.bytes) : Result<void>{};
  }

  Result<void> array(GgufValue& value) {
    value.is_array = true;
    MUMMU_TRY(value.type, type("the element type of array"));
    if (value.type == GgufType::string) return strings(value);
    if (value.type == GgufType::array) return arrays(value);
    const int64_t element = gguf_type_info(static_cast<uint32_t>(value.type))->bytes;
    MUMMU_TRY(value.count, count("the size of array", element));
    MUMMU_TRY(append(value.bytes, value.count * element, kElements));
    return value.type == GgufType::boolean ? check_bools(value.bytes) : Result<void>{};
  }

  Result<void> strings(GgufValue& value) {
    MUMMU_TRY(value.count, count("the size of array", sizeof(uint64_t)));
    value.ends.reserve(static_cast<size_t>(value.count));
    for (int64_t i = 0; i < value.count; ++i) {
      MUMMU_TRY(const int64_t length, count("the length of a string of array", 1));
      MUMMU_TRY(append(value.bytes, length, kElements));
      value.ends.push_back(static_cast<uint32_t>(value.bytes.size()));
    }
    return {};
  }

  Result<void> arrays(GgufValue& value) {
    MUMMU_TRY(value.count, count("the size of array", sizeof(uint32_t) + sizeof(uint64_t)));
    for (int64_t i = 0; i < value.count; ++i) MUMMU_TRY(skip_array(2));
    return {};
  }

  Result<void> skip_array(int depth) {
    if (depth > kDeepestArray) {
      return fail(Error::corrupt, "{}: metadata key {} nests arrays deeper than {}", path_,
                  quote(key_), kDeepestArray);
    }
    MUMMU_TRY(const auto type, this->type("the element type of array"));
    const bool fixed = type != GgufType::string && type != GgufType::array;
    const int64_t smallest = fixed ? gguf_type_info(static_cast<uint32_t>(type))->bytes
                             : type == GgufType::array ? 12
                                                       : 8;
    MUMMU_TRY(const int64_t elements, count("the size of array", smallest));
    if (fixed) return stream_.skip(elements * smallest, kElements, key_);
    for (int64_t i = 0; i < elements; ++i) {
      MUMMU_TRY(type == GgufType::array ? skip_array(depth + 1) : skip_string());
    }
    return {};
  }

  Result<void> skip_string() {
    MUMMU_TRY(const int64_t length, count("the length of a string of array", 1));
    return stream_.skip(length, kElements, key_);
  }

  ByteStream& stream_;
  const std::string& path_;
  std::string_view key_;
};

}  // namespace

std::string type_name(const GgufValue& value) {
  const std::string_view name = gguf_type_info(static_cast<uint32_t>(value.type))->name;
  return value.is_array ? fmt::format("array of {}", name) : std::string(name);
}

Result<GgufMetadata> GgufMetadata::read(ByteStream& stream, int64_t count,
                                        const std::string& path) {
  GgufMetadata metadata;
  ValueReader reader(stream, path);
  for (int64_t i = 0; i < count; ++i) {
    MUMMU_TRY(auto entry, reader.entry());
    metadata.entries_.push_back(std::move(entry));
  }
  MUMMU_TRY(metadata.index(path));
  return metadata;
}

Result<void> GgufMetadata::index(const std::string& path) {
  const auto key = [this](int32_t i) -> std::string_view {
    return entries_[static_cast<size_t>(i)].key;
  };
  by_key_.resize(entries_.size());
  std::iota(by_key_.begin(), by_key_.end(), 0);
  std::ranges::sort(by_key_, {}, key);
  const auto twice = std::ranges::adjacent_find(by_key_, {}, key);
  if (twice == by_key_.end()) return {};
  return fail(Error::corrupt, "{}: two metadata keys are named {}", path, quote(key(*twice)));
}

const GgufValue* GgufMetadata::find(std::string_view key) const {
  const auto found = std::ranges::lower_bound(by_key_, key, {}, [this](int32_t i) {
    return std::string_view(entries_[static_cast<size_t>(i)].key);
  });
  if (found == by_key_.end()) return nullptr;
  const Entry& entry = entries_[static_cast<size_t>(*found)];
  return entry.key == key ? &entry.value : nullptr;
}

}  // namespace mummu
