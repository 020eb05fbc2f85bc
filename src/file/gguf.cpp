#include "file/gguf.h"

#include <algorithm>
#include <utility>

#include "base/fail.h"
#include "file/gguf_impl.h"
#include "file/gguf_part.h"
#include "file/quote.h"

namespace mummu {
namespace {

// What a part of a split model says of itself.
//   source   https://github.com/ggml-org/llama.cpp/tree/master/tools/gguf-split (keys and file
//   names)
struct Split {
  int64_t number = 0;  // from 0
  int64_t count = 1;
  std::optional<int64_t> tensors;  // in all parts
};

Result<std::optional<int64_t>> find_count(const GgufPart& part, const std::string& path,
                                          std::string_view key) {
  const GgufValue* value = part.metadata.find(key);
  if (value == nullptr) return std::optional<int64_t>();
  const auto number = integer_value(*value);
  if (!number || *number < 0) {
    return fail(Error::corrupt, "{}: metadata key {} is no count ({})", path, quote(key),
                type_name(*value));
  }
  return number;
}

Result<Split> read_split(const GgufPart& part, const std::string& path) {
  MUMMU_TRY(const auto number, find_count(part, path, "split.no"));
  MUMMU_TRY(const auto count, find_count(part, path, "split.count"));
  MUMMU_TRY(const auto tensors, find_count(part, path, "split.tensors.count"));
  const Split split = {number.value_or(0), std::max<int64_t>(count.value_or(1), 1), tensors};
  if (split.count > kMaxFiles) {
    return fail(Error::corrupt, "{}: split.count is {}, at most {} are allowed", path, split.count,
                kMaxFiles);
  }
  if (split.number >= split.count) {
    return fail(Error::corrupt, "{}: split.no is {}, split.count is {}", path, split.number,
                split.count);
  }
  return split;
}

// "-00002-of-00003.gguf"
std::string part_suffix(int64_t number, int64_t count) {
  return fmt::format("-{:05d}-of-{:05d}.gguf", number + 1, count);
}

// The path of part `number`, from that of the part that says `split` of itself.
//   errors   invalid (the path does not end as its own part's does)
Result<std::string> part_path(const std::string& path, const Split& split, int64_t number) {
  const std::string suffix = part_suffix(split.number, split.count);
  if (!path.ends_with(suffix)) {
    return fail(Error::invalid, "{}: is part {} of a model split into {}; its name must end in {}",
                path, split.number + 1, split.count, suffix);
  }
  return path.substr(0, path.size() - suffix.size()) + part_suffix(number, split.count);
}

Result<TensorTable> read_part(const std::string& path, int64_t number, const Split& first,
                              GgufBudget& budget) {
  MUMMU_TRY(auto file, FileReader::open(path));
  MUMMU_TRY(auto part, read_gguf_part(file, budget));
  MUMMU_TRY(const Split split, read_split(part, path));
  if (split.number != number || split.count != first.count) {
    return fail(Error::corrupt, "{}: says that it is part {} of {}, expected part {} of {}", path,
                split.number + 1, split.count, number + 1, first.count);
  }
  return TensorTable::make(std::move(file), std::move(part.tensors));
}

// Brings the other parts of a split model to the table of the first.
Result<TensorTable> read_parts(TensorTable table, const std::string& path, const Split& split,
                               GgufBudget& budget) {
  std::vector<TensorTable> parts;
  parts.push_back(std::move(table));
  for (int64_t number = 1; number < split.count; ++number) {
    MUMMU_TRY(const auto part, part_path(path, split, number));
    MUMMU_TRY(auto more, read_part(part, number, split, budget));
    parts.push_back(std::move(more));
  }
  MUMMU_TRY(auto joined, TensorTable::join(std::move(parts)));
  const auto tensors = static_cast<int64_t>(joined.tensors().size());
  if (split.tensors.value_or(tensors) != tensors) {
    return fail(Error::corrupt, "{}: split.tensors.count is {}, the parts have {} tensors", path,
                *split.tensors, tensors);
  }
  return joined;
}

Result<void> check_first(const std::string& path, const Split& split) {
  if (split.number == 0) return {};
  MUMMU_TRY(const auto first, part_path(path, split, 0));
  return fail(Error::invalid, "{}: is part {} of a model split into {}; open the first, {}", path,
              split.number + 1, split.count, first);
}

}  // namespace

Gguf::Gguf(std::unique_ptr<const Impl> impl) : impl_(std::move(impl)) {}
Gguf::Gguf(Gguf&&) noexcept = default;
Gguf& Gguf::operator=(Gguf&&) noexcept = default;
Gguf::~Gguf() = default;

Result<Gguf> Gguf::open(const std::string& path) {
  MUMMU_TRY(auto file, FileReader::open(path));
  return open(std::move(file));
}

Result<Gguf> Gguf::open(FileReader file) {
  auto impl = std::make_unique<Impl>();
  GgufBudget budget;
  impl->path = file.path();
  MUMMU_TRY(auto part, read_gguf_part(file, budget));
  MUMMU_TRY(const Split split, read_split(part, impl->path));
  MUMMU_TRY(check_first(impl->path, split));
  impl->version = part.version;
  impl->metadata = std::move(part.metadata);
  MUMMU_TRY(impl->table, TensorTable::make(std::move(file), std::move(part.tensors)));
  if (split.count > 1) {
    MUMMU_TRY(impl->table, read_parts(std::move(impl->table), impl->path, split, budget));
  }
  return Gguf(std::move(impl));
}

const TensorTable& Gguf::table() const { return impl_->table; }
int32_t Gguf::version() const { return impl_->version; }
const std::string& Gguf::path() const { return impl_->path; }

}  // namespace mummu
