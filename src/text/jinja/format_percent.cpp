#include <cmath>

#include "base/fail.h"
#include "text/jinja/escape.h"
#include "text/jinja/format.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

Result<Level> highest_level(Interpreter& in, const Value& value) {
  if (value.is_string()) return value.text().highest();
  TextBuilder out(in.heap());
  const bool printable =
      value.is_sequence() || value.is(Kind::dict) || value.is(Kind::view) || value.is(Kind::space);
  if (!printable) return Level::templ;
  MUMMU_TRY(print_repr(in, out, value));
  MUMMU_TRY(const Text text, out.finish());
  return text.highest();
}

namespace {

//   source   The Python Standard Library, "printf-style String Formatting"
struct Conversion {
  bool left = false, zero = false;
  int64_t width = 0;
  int64_t precision = -1;
  NumberFormat number;
  char type = '\0';
};

class PercentFormatter {
 public:
  PercentFormatter(Interpreter& in, const Value& format, const Value& values)
      : in_(in), text_(format.view()), safe_(format.string().safe), values_(values) {}

  Result<std::string> run() {
    while (at_ < text_.size()) {
      const size_t mark = std::min(text_.find('%', at_), text_.size());
      MUMMU_TRY(add(text_.substr(at_, mark - at_)));
      at_ = mark + 1;
      if (mark == text_.size()) break;
      MUMMU_TRY(conversion());
    }
    const bool single = !values_.is(Kind::tuple);
    const bool all_used = single ? used_ > 0 || values_.is(Kind::dict) || values_.is(Kind::list) ||
                                       values_.is_undefined()
                                 : used_ == values_.items().size() || named_;
    if (!all_used)
      return fail(Error::invalid, "not all arguments converted during string formatting");
    return std::move(out_);
  }

 private:
  Result<void> add(std::string_view piece) {
    if (out_.size() + piece.size() > kMaxText)
      return fail(Error::invalid, "a text of more than {} MiB", kMaxText >> 20);
    out_ += piece;
    return {};
  }

  Result<char> take() {
    if (at_ >= text_.size()) return fail(Error::invalid, "incomplete format");
    return text_[at_++];
  }

  Result<Value> next_argument() {
    if (!values_.is(Kind::tuple)) {
      if (used_++ == 0) return values_;
    } else if (used_ < values_.items().size()) {
      return values_.items()[used_++];
    }
    return fail(Error::invalid, "not enough arguments for format string");
  }

  // A number in the format, or * for an argument.
  Result<int64_t> number() {
    if (at_ < text_.size() && text_[at_] == '*') {
      ++at_;
      MUMMU_TRY(const Value value, next_argument());
      if (!value.is_integral()) return fail(Error::invalid, "* wants an integer");
      return value.as_integer();
    }
    int64_t out = 0;
    while (at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9') {
      out = std::min<int64_t>(out * 10 + (text_[at_++] - '0'), int64_t{1} << 40);
    }
    return out;
  }

  Result<Value> named_argument() {
    int depth = 1;
    const size_t start = at_;
    while (depth > 0) {
      MUMMU_TRY(const char c, take());
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    }
    if (!values_.is(Kind::dict)) return fail(Error::invalid, "format requires a mapping");
    named_ = true;
    const std::string_view name = text_.substr(start, at_ - 1 - start);
    const Value* value = values_.dict().find(name);
    if (!value) return fail(Error::invalid, "no value named {} for the format", quoted(name));
    return *value;
  }

  Result<void> flags(Conversion& out) {
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '-')
        out.left = true;
      else if (c == '0')
        out.zero = true;
      else if (c == '#')
        out.number.alternate = true;
      else if (c == '+')
        out.number.sign = '+';
      else if (c == ' ')
        out.number.sign = out.number.sign == '+' ? '+' : ' ';
      else
        break;
    }
    return {};
  }

  Result<void> conversion() {
    Conversion how;
    Value value;
    if (at_ < text_.size() && text_[at_] == '(') {
      ++at_;
      MUMMU_TRY(value, named_argument());
    }
    MUMMU_TRY(flags(how));
    MUMMU_TRY(how.width, number());
    if (how.width < 0) {
      how.left = true;
      how.width = -how.width;
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      MUMMU_TRY(how.precision, number());
      how.precision = std::max<int64_t>(how.precision, 0);
    }
    while (at_ < text_.size() && (text_[at_] == 'h' || text_[at_] == 'l' || text_[at_] == 'L'))
      ++at_;
    MUMMU_TRY(how.type, take());
    if (how.type == '%') return add("%");
    if (value.is_missing()) {
      MUMMU_TRY(value, next_argument());
    }
    return insert(how, value);
  }

  Result<void> insert(const Conversion& how, const Value& value) {
    std::string text;
    bool numeric = false;
    switch (how.type) {
      case 's':
      case 'r':
      case 'a': {
        MUMMU_TRY(text, words(how, value));
        break;
      }
      case 'c': {
        MUMMU_TRY(text, character(value));
        break;
      }
      default: {
        MUMMU_TRY(text, digits(how, value));
        numeric = true;
      }
    }
    return pad(how, std::move(text), numeric);
  }

  Result<std::string> words(const Conversion& how, const Value& value) {
    if (how.type == 'a') return fail(Error::unsupported, "the format %a is unsupported");
    TextBuilder out(in_.heap());
    if (how.type == 'r') {
      MUMMU_TRY(print_repr(in_, out, value));
    } else {
      MUMMU_TRY(add_escaped(in_, out, value, safe_));
    }
    MUMMU_TRY(const Text text, out.finish());
    const std::string_view all = text.view();
    return std::string(how.precision < 0 ? all
                                         : all.substr(0, offset_of_point(all, how.precision)));
  }

  Result<std::string> character(const Value& value) {
    std::string out;
    if (value.is_string() && value.string().points() == 1) return std::string(value.view());
    const bool is_point = value.is_integral() && value.as_integer() >= 0 &&
                          value.as_integer() <= 0x10FFFF &&
                          (value.as_integer() < 0xD800 || value.as_integer() > 0xDFFF);
    if (!is_point) return fail(Error::invalid, "%c requires an int or a char");
    append_utf8(out, static_cast<char32_t>(value.as_integer()));
    return out;
  }

  Result<std::string> digits(const Conversion& how, const Value& value) {
    constexpr std::string_view kTypes = "diuxXoeEfFgG";
    if (kTypes.find(how.type) == std::string_view::npos) {
      return fail(Error::invalid, "unsupported format character '{}'", how.type);
    }
    if (!value.is_number())
      return fail(Error::invalid, "%{} format: a number is required, not {}", how.type,
                  type_name(value));
    if (how.precision > kMaxPrecision)
      return fail(Error::invalid, "a precision of more than {}", kMaxPrecision);
    NumberFormat number = how.number;
    number.precision = static_cast<int>(how.precision);
    const bool whole = std::string_view("diu").find(how.type) != std::string_view::npos;
    number.type = whole ? 'd' : how.type;
    const bool integral = whole || (how.type | 0x20) == 'x' || how.type == 'o';
    if (integral && value.is(Kind::real)) {
      const double real = std::trunc(value.as_real());
      if (!whole || !(std::fabs(real) < 0x1p63))
        return fail(Error::invalid, "%{} format: an integer is required", how.type);
      return format_number(Value::integer(static_cast<int64_t>(real)), number);
    }
    return format_number(value, number);
  }

  Result<void> pad(const Conversion& how, std::string text, bool numeric) {
    const auto size = static_cast<int64_t>(code_points(text));
    const int64_t missing = how.width - size;
    if (missing <= 0) return add(text);
    if (missing > static_cast<int64_t>(kMaxText))
      return fail(Error::invalid, "a text of more than {} MiB", kMaxText >> 20);
    const auto fill = static_cast<size_t>(missing);
    if (how.left) {
      text.append(fill, ' ');
    } else if (how.zero && numeric) {
      const size_t sign = text.find_first_of("+- ") == 0 ? 1 : 0;
      const size_t prefix =
          how.number.alternate && text.size() > sign + 1 && text[sign] == '0' ? 2 : 0;
      text.insert(sign + prefix, fill, '0');
    } else {
      text.insert(0, fill, ' ');
    }
    return add(text);
  }

  Interpreter& in_;
  std::string_view text_;
  const bool safe_;
  const Value& values_;
  size_t at_ = 0;
  size_t used_ = 0;
  bool named_ = false;
  std::string out_;
};

}  // namespace

Result<Value> format_percent(Interpreter& in, const Value& format, const Value& values) {
  MUMMU_TRY(std::string text, PercentFormatter(in, format, values).run());
  MUMMU_TRY(const Level inserted, highest_level(in, values));
  return make_string(in.heap(), Text(std::move(text), std::max(inserted, format.text().highest())),
                     format.string().safe);
}

}  // namespace mummu::jinja
