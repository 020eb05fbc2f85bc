// Regular expressions of unknown files, compiled by PCRE2. Oniguruma, which the reference uses,
// reads some things otherwise: those are rewritten where that is easy, and refused where it is not.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/fail.h"
#include "text/pattern.h"
#include "text/utf8.h"

namespace mummu {
namespace {

constexpr uint32_t kSteps = 10'000'000;
constexpr uint32_t kHeapKib = 256 * 1024;

// White space as the reference has it; PCRE2 counts U+180E too.
constexpr std::string_view kSpace =
    R"(\t-\r\x20\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

class RegexPattern final : public Pattern {
 public:
  RegexPattern(pcre2_code* code, pcre2_match_context* context) : code_(code), context_(context) {}
  ~RegexPattern() override {
    pcre2_match_context_free(context_);
    pcre2_code_free(code_);
  }

  std::optional<Match> find(std::string_view text, size_t from) const override {
    pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
    if (data == nullptr) return std::nullopt;
    const auto* bytes = reinterpret_cast<PCRE2_SPTR>(text.data());
    int found = pcre2_match(code_, bytes, text.size(), from, PCRE2_NO_UTF_CHECK, data, context_);
    // The compiled form has a small stack; the interpreter can do without.
    if (found == PCRE2_ERROR_JIT_STACKLIMIT)
      found = pcre2_match(code_, bytes, text.size(), from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, data,
                          context_);
    std::optional<Match> match;
    const PCRE2_SIZE* range = pcre2_get_ovector_pointer(data);
    if (found >= 0 && range[0] <= range[1]) match = Match{range[0], range[1]};
    pcre2_match_data_free(data);
    return match;
  }

 private:
  pcre2_code* code_;
  pcre2_match_context* context_;
};

// Rewrites an expression for PCRE2, or says what in it means something else there.
class Translation {
 public:
  explicit Translation(std::string_view expression) : expression_(expression) {}

  bool run() {
    for (; at_ < expression_.size() && wrong_.empty(); ++at_) one();
    return wrong_.empty();
  }
  const std::string& out() const { return out_; }
  std::string_view wrong() const { return wrong_; }

 private:
  void one() {
    const char c = expression_[at_];
    if (c == '\\' && at_ + 1 < expression_.size()) return escape(expression_[++at_]);
    if (in_class_) {
      if (c == '[')
        wrong_ = expression_.substr(at_).starts_with("[:") ? "[:…:]" : "a class in a class";
      if (c == '&' && expression_.substr(at_).starts_with("&&")) wrong_ = "&&";
      if (c == ']' && at_ > class_begin_) in_class_ = false;
    } else if (c == '[') {
      in_class_ = true;
      // A ] right behind the opening belongs to the class.
      class_begin_ = at_ + (expression_.substr(at_).starts_with("[^") ? 2 : 1);
    } else if (c == '(' && expression_.substr(at_).starts_with("(?m")) {
      wrong_ = "(?m";
    }
    out_ += c;
  }

  void escape(char c) {
    if (c == 's' || (c == 'S' && !in_class_)) {
      if (!in_class_) out_ += c == 's' ? "[" : "[^";
      out_ += kSpace;
      if (!in_class_) out_ += ']';
      return;
    }
    constexpr std::string_view kOther =
        "hHSRXKGOyYg";  // other meanings, or none, in one of the two
    if (kOther.find(c) != std::string_view::npos) {
      wrong_ = expression_.substr(at_ - 1, 2);
      return;
    }
    out_ += '\\';
    out_ += c;
  }

  std::string_view expression_;
  size_t at_ = 0, class_begin_ = 0;
  bool in_class_ = false;
  std::string out_;
  std::string_view wrong_;
};

}  // namespace

Result<std::unique_ptr<const Pattern>> regex_pattern(std::string_view expression) {
  Translation translation(expression);
  if (!translation.run())
    return fail(Error::unsupported, "the regular expression \"{}\": {} is not supported",
                expression, translation.wrong());
  int error = 0;
  PCRE2_SIZE where = 0;
  // ^ and $ stand at every line in Oniguruma's default syntax.
  pcre2_code* code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(translation.out().data()), translation.out().size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &where, nullptr);
  if (code == nullptr) {
    PCRE2_UCHAR message[256] = {};
    pcre2_get_error_message(error, message, sizeof message);
    return fail(Error::unsupported, "the regular expression \"{}\": {}", expression,
                reinterpret_cast<const char*>(message));
  }
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  if (context == nullptr) {
    pcre2_code_free(code);
    return fail(Error::no_memory, "out of memory");
  }
  pcre2_set_match_limit(context, kSteps);
  pcre2_set_heap_limit(context, kHeapKib);
  pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return std::unique_ptr<const Pattern>(std::make_unique<RegexPattern>(code, context));
}

}  // namespace mummu
