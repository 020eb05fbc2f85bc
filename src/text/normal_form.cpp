// Unicode normal forms. utf8proc does the work; text that no form changes is never handed to it.

#include <utf8proc.h>

#include <algorithm>
#include <vector>

#include "text/normalizer.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mummu {
namespace {

utf8proc_option_t options_of(NormalForm form) {
  switch (form) {
    case NormalForm::nfc:
      return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    case NormalForm::nfd:
      return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE);
    case NormalForm::nfkc:
      return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_COMPAT);
    case NormalForm::nfkd:
      break;
  }
  return static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT);
}

// True for what the Unicode version of utf8proc changes, moves or composes and that of the
// reference does not know.
bool too_new(char32_t code) {
  if (unicode_is(code, unicode::kNormalizes)) return false;
  const utf8proc_property_t* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
  const bool hangul = code >= 0xac00 && code <= 0xd7a3;  // decomposed by a formula
  return !hangul && (property->decomp_seqindex != UINT16_MAX || property->combining_class != 0);
}

class UnicodeForm final : public Normalizer {
 public:
  explicit UnicodeForm(NormalForm form)
      : options_(options_of(form)), stable_below_(form == NormalForm::nfc ? 0x300 : 0x80) {}

  // Stretches that may change, each with the character before it, which may compose with its marks.
  bool apply(std::string_view text, std::string& out) const override {
    std::vector<utf8proc_int32_t> buffer;
    size_t done = 0;
    for (size_t at = 0; at < text.size();) {
      const CodePoint code = code_point_at(text, at);
      if (stays(code.value)) {
        at += static_cast<size_t>(code.size);
        continue;
      }
      const size_t begin = stretch_begin(text, at, done);
      at = stretch_end(text, at);
      out += text.substr(done, begin - done);
      map(text.substr(begin, at - begin), buffer, out);
      done = at;
    }
    out += text.substr(done);
    if (out != text) return true;
    out.clear();
    return false;
  }

 private:
  bool stays(char32_t code) const { return code < stable_below_ || too_new(code); }

  size_t stretch_begin(std::string_view text, size_t at, size_t done) const {
    if (at == done) return at;
    const size_t before = code_point_before(text, at);
    return too_new(code_point_at(text, before).value) ? at : before;
  }
  size_t stretch_end(std::string_view text, size_t at) const {
    while (at < text.size()) {
      const CodePoint code = code_point_at(text, at);
      if (stays(code.value)) break;
      at += static_cast<size_t>(code.size);
    }
    return at;
  }

  void map(std::string_view text, std::vector<utf8proc_int32_t>& buffer, std::string& out) const {
    const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data());
    const auto size = static_cast<utf8proc_ssize_t>(text.size());
    const auto room = [&buffer] { return static_cast<utf8proc_ssize_t>(buffer.size()); };
    buffer.resize(std::max(buffer.size(), text.size()));
    auto count = utf8proc_decompose(bytes, size, buffer.data(), room(), options_);
    if (count > room()) {
      buffer.resize(static_cast<size_t>(count));
      count = utf8proc_decompose(bytes, size, buffer.data(), room(), options_);
    }
    // Composes, where the form asks for it.
    count = utf8proc_normalize_utf32(buffer.data(), count, options_);
    for (utf8proc_ssize_t i = 0; i < count; ++i) append(buffer[static_cast<size_t>(i)], out);
  }

  // Takes apart again what only a newer version composes.
  static void append(utf8proc_int32_t code, std::string& out) {
    if (!too_new(static_cast<char32_t>(code))) return append_utf8(out, static_cast<char32_t>(code));
    utf8proc_int32_t parts[8] = {};
    int last_class = 0;
    const auto count = utf8proc_decompose_char(
        code, parts, 8, static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE), &last_class);
    for (utf8proc_ssize_t i = 0; i < std::min<utf8proc_ssize_t>(count, 8); ++i)
      append_utf8(out, static_cast<char32_t>(parts[i]));
  }

  utf8proc_option_t options_;
  char32_t stable_below_;  // characters below never change and never join what is before them
};

}  // namespace

std::unique_ptr<const Normalizer> make_normal_form(NormalForm form) {
  return std::make_unique<UnicodeForm>(form);
}

}  // namespace mummu
