#include "file/wrong_format.h"

#include <algorithm>
#include <array>

#include "base/fail.h"
#include "file/quote.h"

namespace mummu {

Error wrong_format(const FileReader& file, std::string_view format) {
  if (file.size() == 0) return fail(Error::corrupt, "{}: is empty", file.path());
  std::array<char, 24> start = {};
  const auto bytes = std::min<size_t>(start.size(), static_cast<size_t>(file.size()));
  MUMMU_TRY(file.read(0, std::as_writable_bytes(std::span(start).first(bytes))));
  const std::string_view text(start.data(), bytes);
  if (text.starts_with("version https://git-lfs")) {
    return fail(Error::corrupt,
                "{}: is a Git LFS pointer, not the file itself; fetch it with Git LFS",
                file.path());
  }
  return fail(Error::corrupt, "{}: not a {} file: it starts with {}", file.path(), format,
              quote(text.substr(0, 8)));
}

}  // namespace mummu
