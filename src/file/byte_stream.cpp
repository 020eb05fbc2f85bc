#include "file/byte_stream.h"

#include <algorithm>

#include "base/fail.h"
#include "file/quote.h"

namespace mummu {
namespace {

constexpr int64_t kBufferBytes = 64 << 10;

}  // namespace

ByteStream::ByteStream(const FileReader& file, int64_t limit_bytes)
    : file_(file),
      end_(std::min(file.size(), limit_bytes)),
      buffer_(static_cast<size_t>(std::min(kBufferBytes, end_))) {}

Result<void> ByteStream::need(int64_t bytes, std::string_view what, std::string_view name) const {
  if (bytes <= remaining()) return {};
  const std::string of = name.empty() ? std::string(what) : fmt::format("{} {}", what, quote(name));
  if (end_ < file_.size()) {
    return fail(Error::corrupt,
                "{}: {} at byte {} needs {} bytes: the header passes its limit of {}", file_.path(),
                of, position_, bytes, end_);
  }
  return fail(Error::corrupt,
              "{}: truncated: {} at byte {} needs {} bytes, the file ends at byte {}", file_.path(),
              of, position_, bytes, end_);
}

Result<void> ByteStream::fill() {
  const int64_t bytes = std::min(static_cast<int64_t>(buffer_.size()), remaining());
  MUMMU_TRY(file_.read(position_, std::span(buffer_).first(static_cast<size_t>(bytes))));
  buffer_begin_ = position_;
  buffer_end_ = position_ + bytes;
  return {};
}

Result<void> ByteStream::read(std::span<std::byte> out, std::string_view what,
                              std::string_view name) {
  MUMMU_TRY(need(static_cast<int64_t>(out.size()), what, name));
  if (out.size() >= buffer_.size()) {
    MUMMU_TRY(file_.read(position_, out));
    position_ += static_cast<int64_t>(out.size());
    return {};
  }
  while (!out.empty()) {
    if (position_ >= buffer_end_ || position_ < buffer_begin_) MUMMU_TRY(fill());
    const auto bytes = std::min(out.size(), static_cast<size_t>(buffer_end_ - position_));
    std::memcpy(out.data(), buffer_.data() + (position_ - buffer_begin_), bytes);
    position_ += static_cast<int64_t>(bytes);
    out = out.subspan(bytes);
  }
  return {};
}

Result<void> ByteStream::skip(int64_t bytes, std::string_view what, std::string_view name) {
  MUMMU_TRY(need(bytes, what, name));
  position_ += bytes;
  return {};
}

}  // namespace mummu
