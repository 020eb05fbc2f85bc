#pragma once

// Everything that can be wrong with a Request by itself, for a vocabulary of ids 0 <= id < vocab.

#include <cstdint>

#include "mummu/request.h"

namespace mummu {

//   errors   invalid (names the field, what is allowed and what was given)
Result<void> check_request(const Request& request, int64_t vocab);

}  // namespace mummu
