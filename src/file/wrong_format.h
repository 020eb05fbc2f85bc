#pragma once

#include <string_view>

#include "file/reader.h"
#include "mummu/result.h"

namespace mummu {

// The error for a file that does not start as its format does: shows the first bytes, and names the
// two things that people have by mistake, an empty file and the pointer that `git clone` leaves
// without Git LFS.
Error wrong_format(const FileReader& file, std::string_view format);

}  // namespace mummu
