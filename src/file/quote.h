#pragma once

#include <string>
#include <string_view>

namespace mummu {

// Text of a stranger for a message of one line: in quotes, everything but printable ASCII as \xNN,
// cut after 80 bytes.
std::string quote(std::string_view text);

}  // namespace mummu
