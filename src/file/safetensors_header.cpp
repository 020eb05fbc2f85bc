#include "file/safetensors_header.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/fail.h"
#include "file/quote.h"
#include "file/safetensors_json.h"
#include "file/wrong_format.h"

namespace mummu {
namespace {

// source   safetensors' own reader (MAX_HEADER_SIZE)
constexpr int64_t kMaxHeaderBytes = 100'000'000;

// Every byte of the data belongs to exactly one tensor; then moves the tensors to where the data
// begin.
//   source   safetensors' format: no holes in the byte buffer
Result<void> place(std::vector<TensorInfo>& tensors, int64_t data_begin, const FileReader& file) {
  std::vector<TensorInfo*> order;
  for (TensorInfo& tensor : tensors) order.push_back(&tensor);
  std::ranges::sort(order, {}, [](const TensorInfo* tensor) {
    return std::pair(tensor->offset_bytes, tensor->size_bytes);
  });
  const int64_t data_bytes = file.size() - data_begin;
  int64_t end = 0;
  for (TensorInfo* tensor : order) {
    if (tensor->offset_bytes != end) {
      return fail(Error::corrupt,
                  "{}: tensor {} begins at byte {} of the data, the one before ends at {}",
                  file.path(), quote(tensor->name), tensor->offset_bytes, end);
    }
    if (tensor->size_bytes > data_bytes - end) {
      return fail(Error::corrupt,
                  "{}: tensor {} ends at byte {} of the data, the file at {}: truncated?",
                  file.path(), quote(tensor->name), end + tensor->size_bytes, data_bytes);
    }
    end += tensor->size_bytes;
    tensor->offset_bytes += data_begin;
  }
  if (end == data_bytes) return {};
  return fail(Error::corrupt, "{}: {} bytes at the end belong to no tensor", file.path(),
              data_bytes - end);
}

Result<int64_t> read_length(const FileReader& file, int64_t limit) {
  uint64_t length = 0;
  constexpr int64_t kPrefix = sizeof(length);
  if (file.size() < kPrefix) return wrong_format(file, "safetensors");
  MUMMU_TRY(file.read(0, std::as_writable_bytes(std::span(&length, 1))));
  const int64_t most = std::min({kMaxHeaderBytes, limit, file.size() - kPrefix});
  if (length <= static_cast<uint64_t>(most)) return static_cast<int64_t>(length);
  // Text read as a length: the file is something else.
  if ((length >> 56) != 0) return wrong_format(file, "safetensors");
  return fail(Error::corrupt,
              "{}: the header has {} bytes, the file {}; at most {} are allowed: truncated?",
              file.path(), length, file.size(), std::min(kMaxHeaderBytes, limit));
}

}  // namespace

Result<SafetensorsHeader> read_safetensors_header(const FileReader& file,
                                                  SafetensorsBudget& budget) {
  MUMMU_TRY(const int64_t length, read_length(file, budget.header_bytes));
  std::string text(static_cast<size_t>(length), '\0');
  MUMMU_TRY(file.read(sizeof(uint64_t), std::as_writable_bytes(std::span(text))));
  if (!text.starts_with('{')) {
    return fail(Error::corrupt, "{}: the header does not begin with '{{'", file.path());
  }
  MUMMU_TRY(SafetensorsHeader header, parse_safetensors_json(text, file.path(), budget.tensors));
  MUMMU_TRY(place(header.tensors, static_cast<int64_t>(sizeof(uint64_t)) + length, file));
  budget.header_bytes -= length;
  budget.tensors -= static_cast<int64_t>(header.tensors.size());
  return header;
}

}  // namespace mummu
