#include "text/jinja/json_write.h"

#include <cmath>

#include "base/fail.h"
#include "text/jinja/builtin.h"
#include "text/jinja/compare.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/number.h"
#include "text/jinja/print.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

namespace {

constexpr int kMaxDepth = 100;

std::string escape_of(char32_t point) {
  constexpr std::string_view kNamed = "\"\\\n\r\t\f\b", kLetters = "\"\\nrtfb";
  const size_t named =
      point < 0x80 ? kNamed.find(static_cast<char>(point)) : std::string_view::npos;
  if (named != std::string_view::npos) return {'\\', kLetters[named]};
  const auto value = static_cast<uint32_t>(point);
  if (value < 0x10000) return fmt::format("\\u{:04x}", value);
  return fmt::format("\\u{:04x}\\u{:04x}", 0xD800 + ((value - 0x10000) >> 10),
                     0xDC00 + (value & 0x3FF));
}

std::string number_text(const Value& value) {
  switch (value.kind()) {
    case Kind::boolean:
      return value.as_bool() ? "true" : "false";
    case Kind::integer:
      return fmt::format("{}", value.as_integer());
    case Kind::big:
      return value.object<BigObject>().digits;
    default:
      break;
  }
  const double real = value.as_real();
  if (std::isnan(real)) return "NaN";
  if (std::isinf(real)) return real < 0 ? "-Infinity" : "Infinity";
  return format_real(real);
}

class JsonWriter {
 public:
  JsonWriter(Interpreter& in, TextBuilder& out, const JsonStyle& style)
      : in_(in), out_(out), style_(style) {}

  Result<void> write(const Value& value) {
    MUMMU_TRY(in_.heap().step());
    if (depth_ > kMaxDepth) return fail(Error::invalid, "tojson of a value nested too deeply");
    if (out_.failed()) return out_.finish().error();
    switch (value.kind()) {
      case Kind::none:
        own("null");
        return {};
      case Kind::boolean:
      case Kind::integer:
      case Kind::big:
      case Kind::real:
        own(number_text(value));
        return {};
      case Kind::string:
        return string(value.text());
      case Kind::list:
      case Kind::tuple:
        return list(value.items());
      case Kind::dict:
        return dict(value.dict());
      default:
        return fail(Error::invalid, "an object of type {} is not JSON serializable",
                    type_name(value));
    }
  }

 private:
  void own(std::string_view text) { out_.add(text, Level::templ); }

  Result<void> string(const Text& text) {
    MUMMU_TRY(in_.heap().work(text.size()));
    own("\"");
    const std::string_view all = text.view();
    size_t start = 0;
    for (size_t at = 0; at < all.size();) {
      const size_t before = at;
      const char32_t point = next_point(all, at);
      const bool plain = point >= 0x20 && point != '"' && point != '\\' &&
                         (point < 0x7F || !style_.ascii || point == 0x7F);
      if (plain) continue;
      out_.add(text, start, before);
      out_.add(escape_of(point), text.level_at(before));
      start = at;
    }
    out_.add(text, start, all.size());
    own("\"");
    return {};
  }

  // The keyword of a key: JSON has only strings.
  Result<void> key(const Value& value) {
    if (value.is_string()) return string(value.text());
    if (!value.is_none() && !value.is_number()) {
      return fail(Error::invalid, "keys must be str, int, float, bool or None, not {}",
                  type_name(value));
    }
    own("\"");
    own(value.is_none() ? "null" : number_text(value));
    own("\"");
    return {};
  }

  void new_line() {
    if (!style_.lines) return;
    own("\n");
    for (int i = 0; i < depth_; ++i) out_.add(style_.indent.text());
  }

  Result<void> list(const std::vector<Value>& items) {
    if (items.empty()) return own("[]"), Result<void>();
    own("[");
    ++depth_;
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) out_.add(style_.item_separator.text());
      new_line();
      MUMMU_TRY(write(items[i]));
    }
    --depth_;
    new_line();
    own("]");
    return {};
  }

  Result<std::vector<size_t>> entry_order(const DictObject& dict) {
    std::vector<Value> keys;
    for (const auto& entry : dict.entries()) keys.push_back(entry.first);
    if (style_.sort_keys) return sorted_order(in_, keys, false);
    std::vector<size_t> order(keys.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    return order;
  }

  Result<void> dict(const DictObject& dict) {
    if (dict.size() == 0) return own("{}"), Result<void>();
    MUMMU_TRY(const auto order, entry_order(dict));
    own("{");
    ++depth_;
    bool first = true;
    for (size_t i : order) {
      if (!std::exchange(first, false)) out_.add(style_.item_separator.text());
      new_line();
      MUMMU_TRY(key(dict.entries()[i].first));
      out_.add(style_.key_separator.text());
      MUMMU_TRY(write(dict.entries()[i].second));
    }
    --depth_;
    new_line();
    own("}");
    return {};
  }

  Interpreter& in_;
  TextBuilder& out_;
  const JsonStyle& style_;
  int depth_ = 0;
};

Result<void> read_indent(Call& call, const Value& indent, JsonStyle& style) {
  if (indent.is_missing() || indent.is_none()) return {};
  style.lines = true;
  if (indent.is_string()) return style.indent = indent, Result<void>();
  MUMMU_TRY(const int64_t width, integer_argument(call.in, indent, 0));
  if (width > static_cast<int64_t>(kMaxText)) return fail(Error::invalid, "an indent of {}", width);
  MUMMU_TRY(
      style.indent,
      make_string(call.heap, std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ')));
  return {};
}

Result<void> read_separators(Call& call, const Value& separators, JsonStyle& style) {
  if (separators.is_missing() || separators.is_none()) {
    MUMMU_TRY(style.item_separator, make_string(call.heap, style.lines ? "," : ", "));
    MUMMU_TRY(style.key_separator, make_string(call.heap, ": "));
    return {};
  }
  const bool pair = separators.is_sequence() && separators.items().size() == 2 &&
                    separators.items()[0].is_string() && separators.items()[1].is_string();
  if (!pair) return fail(Error::invalid, "tojson: separators must be two strings");
  style.item_separator = separators.items()[0];
  style.key_separator = separators.items()[1];
  return {};
}

}  // namespace

Result<void> write_json(Interpreter& in, TextBuilder& out, const Value& value,
                        const JsonStyle& style) {
  return JsonWriter(in, out, style).write(value);
}

Result<Value> filter_tojson(Call& call) {
  JsonStyle style;
  style.ascii = !call.at[0].is_missing() && is_true(call.at[0]);
  style.sort_keys = !call.at[3].is_missing() && is_true(call.at[3]);
  MUMMU_TRY(read_indent(call, call.at[1], style));
  MUMMU_TRY(read_separators(call, call.at[2], style));
  TextBuilder out(call.heap);
  MUMMU_TRY(write_json(call.in, out, call.self, style));
  return finish_string(call.heap, out);
}

}  // namespace mummu::jinja
