#pragma once

// Small questions about text that the hub and the store ask: ASCII only, no locale.

#include <string>
#include <string_view>

namespace mummu::hub {

std::string lower(std::string_view text);
bool ends_with_ignoring_case(std::string_view text, std::string_view lower_end);
bool is_hex(std::string_view text, size_t digits);  // lower case, exactly so many

// A path inside a repository that may become one on this disk: relative, '/' between components,
// none of them empty, "." or "..", no control byte, backslash or colon, and no name that is a
// device somewhere ("nul", "con.txt").
bool is_safe_file(std::string_view path);

// "owner/name" as the hub allows it: letters, digits, '.', '_', '-', no "--" and no "..".
bool is_repository(std::string_view text);
// A branch, tag, pull request or commit.
bool is_revision(std::string_view text);

// %XX for what may not stand in a path of a URL; '/' stays unless `slash_too`.
std::string url_quote(std::string_view text, bool slash_too = false);

}  // namespace mummu::hub
