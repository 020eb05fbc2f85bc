#pragma once

// Finding a text in a text in time linear in both, whatever strangers make of them.

#include <string_view>

namespace mummu::jinja {

// The first place at or after `from`; npos if there is none. An empty needle is found everywhere.
size_t find_first(std::string_view text, std::string_view needle, size_t from = 0);

// The last place of all.
size_t find_last(std::string_view text, std::string_view needle);

}  // namespace mummu::jinja
