#include "hub/text.h"

#include <fmt/format.h>

#include <algorithm>

namespace mummu::hub {
namespace {

constexpr size_t kMaxPath = 1024, kMaxComponent = 255, kMaxRepository = 96;

char lower_char(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool is_alnum(char c) {
  return (c >= '0' && c <= '9') || (lower_char(c) >= 'a' && lower_char(c) <= 'z');
}

bool is_name_char(char c) { return is_alnum(c) || c == '.' || c == '_' || c == '-'; }

// Windows opens a device by these names, with any suffix.
bool is_device(std::string_view component) {
  const std::string stem = lower(component.substr(0, component.find('.')));
  if (stem == "con" || stem == "prn" || stem == "aux" || stem == "nul") return true;
  return stem.size() == 4 && (stem.starts_with("com") || stem.starts_with("lpt")) &&
         stem[3] >= '0' && stem[3] <= '9';
}

bool is_safe_component(std::string_view part) {
  if (part.empty() || part.size() > kMaxComponent || part == "." || part == "..") return false;
  const bool odd = std::ranges::any_of(part, [](char c) {
    return static_cast<unsigned char>(c) < 32 || c == 127 || c == '\\' || c == ':';
  });
  return !odd && !is_device(part);
}

bool is_name(std::string_view text) {
  if (text.empty() || !is_alnum(text.front()) || !std::ranges::all_of(text, is_name_char))
    return false;
  return text.back() != '.' && text.find("--") == text.npos && text.find("..") == text.npos;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), lower_char);
  return out;
}

bool ends_with_ignoring_case(std::string_view text, std::string_view lower_end) {
  return text.size() >= lower_end.size() &&
         lower(text.substr(text.size() - lower_end.size())) == lower_end;
}

bool is_hex(std::string_view text, size_t digits) {
  return text.size() == digits && text.find_first_not_of("0123456789abcdef") == text.npos;
}

bool is_safe_file(std::string_view path) {
  if (path.empty() || path.size() > kMaxPath) return false;
  for (size_t at = 0; at <= path.size();) {
    const size_t end = std::min(path.find('/', at), path.size());
    if (!is_safe_component(path.substr(at, end - at))) return false;
    at = end + 1;
  }
  return true;
}

bool is_repository(std::string_view text) {
  const size_t slash = text.find('/');
  return slash != text.npos && text.size() <= kMaxRepository && is_name(text.substr(0, slash)) &&
         is_name(text.substr(slash + 1));
}

bool is_revision(std::string_view text) {
  return is_safe_file(text) && text.front() != '-' && text.find("..") == text.npos &&
         std::ranges::all_of(text, [](char c) { return is_name_char(c) || c == '/'; });
}

std::string url_quote(std::string_view text, bool slash_too) {
  std::string out;
  for (const char c : text)
    if (is_name_char(c) || c == '~' || (c == '/' && !slash_too))
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

}  // namespace mummu::hub
