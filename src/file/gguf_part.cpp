#include "file/gguf_part.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/checked.h"
#include "base/fail.h"
#include "file/quote.h"
#include "file/wrong_format.h"

namespace mummu {
namespace {

constexpr std::string_view kMagic = "GGUF";

// source   gguf.md: general.alignment
constexpr int64_t kDefaultAlignment = 32;

// More than any known file has (under 100); bounds memory.
constexpr int64_t kMaxKeys = 1 << 16;

// source   gguf.md: a tensor has at most 4 dimensions
constexpr uint32_t kMaxDimensions = 4;

// The format says 64; programs built on ggml raise it to 128. Twice that is still no burden.
constexpr uint64_t kLongestName = 256;

// What is the least that an entry takes: a key of one byte with a value of one; a name of one byte,
// no dimensions.
constexpr int64_t kSmallestEntry = 8 + 1 + 4 + 1;
constexpr int64_t kSmallestTensor = 8 + 1 + 4 + 4 + 8;

Result<int32_t> read_version(ByteStream& stream, const FileReader& file) {
  std::array<char, kMagic.size()> magic = {};
  if (file.size() < static_cast<int64_t>(magic.size())) return wrong_format(file, kMagic);
  MUMMU_TRY(stream.read(std::as_writable_bytes(std::span(magic)), "the magic"));
  if (std::string_view(magic.data(), magic.size()) != kMagic) return wrong_format(file, kMagic);
  MUMMU_TRY(const auto version, stream.number<uint32_t>("the version"));
  if (version == 2 || version == 3) return static_cast<int32_t>(version);
  if (version == 1) {
    return fail(Error::unsupported, "{}: GGUF version 1 is not supported, 2 and 3 are",
                file.path());
  }
  const bool big_endian = version != 0 && (version & 0xffff) == 0;
  if (big_endian) {
    return fail(Error::unsupported, "{}: a big-endian GGUF file is not supported", file.path());
  }
  return fail(Error::unsupported, "{}: GGUF version {} is not supported, 2 and 3 are", file.path(),
              version);
}

// A number of things of at least `smallest` bytes each.
Result<int64_t> read_count(ByteStream& stream, const FileReader& file, std::string_view what,
                           int64_t most, int64_t smallest) {
  MUMMU_TRY(const auto number, stream.number<uint64_t>(what));
  if (number > static_cast<uint64_t>(most)) {
    return fail(Error::corrupt, "{}: {} is {}, at most {} are allowed", file.path(), what, number,
                most);
  }
  if (number > static_cast<uint64_t>(file.size() / smallest)) {
    return fail(Error::corrupt, "{}: {} is {}, more than a file of {} bytes can hold", file.path(),
                what, number, file.size());
  }
  return static_cast<int64_t>(number);
}

// The alignment of tensor data: a power of two, because ggml demands it, and at least 8, because
// the format demands a multiple of 8.
Result<int64_t> read_alignment(const GgufMetadata& metadata, const FileReader& file) {
  const GgufValue* value = metadata.find("general.alignment");
  if (value == nullptr) return kDefaultAlignment;
  if (value->is_array || value->type != GgufType::uint32) {
    return fail(Error::corrupt, "{}: general.alignment is {}, expected uint32", file.path(),
                type_name(*value));
  }
  uint32_t alignment = 0;
  std::memcpy(&alignment, value->bytes.data(), sizeof(alignment));
  if (alignment < 8 || !std::has_single_bit(alignment)) {
    return fail(Error::corrupt, "{}: general.alignment is {}, expected a power of two from 8 on",
                file.path(), alignment);
  }
  return alignment;
}

// Reads and checks one tensor's entry. offset_bytes is still relative to the data.
class TensorReader {
 public:
  TensorReader(ByteStream& stream, const std::string& path, int64_t alignment)
      : stream_(stream), path_(path), alignment_(alignment) {}

  Result<TensorInfo> tensor() {
    TensorInfo tensor;
    MUMMU_TRY(tensor.name, name());
    name_ = tensor.name;
    MUMMU_TRY(tensor.shape, shape());
    MUMMU_TRY(const GgmlType* type, this->type());
    tensor.type = type->type;
    tensor.type_name = type->name;
    MUMMU_TRY(tensor.size_bytes, size_bytes(tensor.shape, *type));
    MUMMU_TRY(tensor.offset_bytes, offset());
    return tensor;
  }

 private:
  Result<std::string> name() {
    MUMMU_TRY(const auto length, stream_.number<uint64_t>("the length of a tensor's name"));
    if (length == 0 || length > kLongestName) {
      return fail(Error::corrupt,
                  "{}: a tensor's name at byte {} has {} bytes, 1 to {} are allowed", path_,
                  stream_.position() - 8, length, kLongestName);
    }
    std::string name(length, '\0');
    MUMMU_TRY(stream_.read(std::as_writable_bytes(std::span(name)), "a tensor's name"));
    return name;
  }

  // The file has the innermost dimension first.
  Result<std::vector<int64_t>> shape() {
    MUMMU_TRY(const auto dimensions,
              stream_.number<uint32_t>("the number of dimensions of tensor", name_));
    if (dimensions > kMaxDimensions) {
      return fail(Error::corrupt, "{}: tensor {} has {} dimensions, at most {} are allowed", path_,
                  quote(name_), dimensions, kMaxDimensions);
    }
    std::vector<int64_t> shape(dimensions);
    for (uint32_t i = 0; i < dimensions; ++i) {
      MUMMU_TRY(const auto dimension, stream_.number<uint64_t>("a dimension of tensor", name_));
      if (dimension > static_cast<uint64_t>(INT64_MAX)) {
        return fail(Error::corrupt, "{}: tensor {} has a dimension of {}", path_, quote(name_),
                    dimension);
      }
      shape[dimensions - 1 - i] = static_cast<int64_t>(dimension);
    }
    return shape;
  }

  Result<const GgmlType*> type() {
    MUMMU_TRY(const auto number, stream_.number<uint32_t>("the type of tensor", name_));
    const GgmlType* type = find_ggml_type(number);
    if (type == nullptr) {
      return fail(Error::corrupt, "{}: tensor {} has type number {}, which is no ggml type we know",
                  path_, quote(name_), number);
    }
    if (type->elements == 0) {
      return fail(
          Error::unsupported,
          "{}: tensor {} has type {}, which the format has dropped; convert the model again", path_,
          quote(name_), type->name);
    }
    return type;
  }

  Result<int64_t> size_bytes(const std::vector<int64_t>& shape, const GgmlType& type) {
    const int64_t columns = shape.empty() ? 1 : shape.back();
    if (columns % type.elements != 0) {
      return fail(Error::corrupt, "{}: tensor {} has rows of {} elements, {} has blocks of {}",
                  path_, quote(name_), columns, type.name, type.elements);
    }
    const auto elements = checked_elements(shape);
    const auto bytes = elements ? checked_mul(*elements, type.bytes) : std::nullopt;
    if (!bytes) {
      return fail(Error::corrupt, "{}: tensor {} has the shape {}, whose size overflows", path_,
                  quote(name_), shape_text(shape));
    }
    return *bytes / type.elements;
  }

  Result<int64_t> offset() {
    MUMMU_TRY(const auto offset, stream_.number<uint64_t>("the offset of tensor", name_));
    if (offset % static_cast<uint64_t>(alignment_) != 0) {
      return fail(Error::corrupt, "{}: tensor {} is at offset {}, not a multiple of {}", path_,
                  quote(name_), offset, alignment_);
    }
    if (offset > static_cast<uint64_t>(INT64_MAX)) {
      return fail(Error::corrupt, "{}: tensor {} is at offset {}", path_, quote(name_), offset);
    }
    return static_cast<int64_t>(offset);
  }

  ByteStream& stream_;
  const std::string& path_;
  const int64_t alignment_;
  std::string_view name_;
};

// Moves the tensors to where the data begin, and checks that each lies inside the file.
Result<void> place(std::vector<TensorInfo>& tensors, int64_t data_begin, const FileReader& file) {
  for (TensorInfo& tensor : tensors) {
    const auto begin = checked_add(data_begin, tensor.offset_bytes);
    const auto end = begin ? checked_add(*begin, tensor.size_bytes) : std::nullopt;
    // The padding in front of an empty tensor may be missing at the end of the file.
    const int64_t limit = tensor.size_bytes > 0 ? file.size() : file.size() + data_begin;
    if (!end || *end > limit) {
      return fail(
          Error::corrupt,
          "{}: tensor {} has {} bytes at offset {} of the data, the file ends at offset {}: "
          "truncated?",
          file.path(), quote(tensor.name), tensor.size_bytes, tensor.offset_bytes,
          file.size() - data_begin);
    }
    tensor.offset_bytes = *begin;
  }
  return {};
}

Result<void> check_overlap(const std::vector<TensorInfo>& tensors, const FileReader& file) {
  std::vector<const TensorInfo*> order;
  for (const TensorInfo& tensor : tensors) {
    if (tensor.size_bytes > 0) order.push_back(&tensor);
  }
  std::ranges::sort(order, {}, &TensorInfo::offset_bytes);
  const auto overlap = std::ranges::adjacent_find(order, [](const auto* a, const auto* b) {
    return a->offset_bytes + a->size_bytes > b->offset_bytes;
  });
  if (overlap == order.end()) return {};
  return fail(Error::corrupt, "{}: tensors {} and {} overlap at byte {}", file.path(),
              quote(overlap[0]->name), quote(overlap[1]->name), overlap[1]->offset_bytes);
}

}  // namespace

Result<GgufPart> read_gguf_part(const FileReader& file, GgufBudget& budget) {
  ByteStream stream(file, budget.header_bytes);
  GgufPart part;
  MUMMU_TRY(part.version, read_version(stream, file));
  MUMMU_TRY(const int64_t tensors,
            read_count(stream, file, "the number of tensors", budget.tensors, kSmallestTensor));
  MUMMU_TRY(const int64_t keys,
            read_count(stream, file, "the number of metadata keys", kMaxKeys, kSmallestEntry));
  MUMMU_TRY(part.metadata, GgufMetadata::read(stream, keys, file.path()));
  MUMMU_TRY(const int64_t alignment, read_alignment(part.metadata, file));
  TensorReader reader(stream, file.path(), alignment);
  for (int64_t i = 0; i < tensors; ++i) {
    MUMMU_TRY(auto tensor, reader.tensor());
    part.tensors.push_back(std::move(tensor));
  }
  const int64_t data_begin = (stream.position() + alignment - 1) / alignment * alignment;
  MUMMU_TRY(place(part.tensors, data_begin, file));
  MUMMU_TRY(check_overlap(part.tensors, file));
  budget.header_bytes -= stream.position();
  budget.tensors -= tensors;
  return part;
}

}  // namespace mummu
