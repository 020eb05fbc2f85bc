// Methods of strings that give numbers and truths.

#include "base/fail.h"
#include "text/jinja/character.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/method_table.h"
#include "text/jinja/print.h"
#include "text/jinja/search.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

namespace {

// To look a character up takes as long as to copy so many bytes.
constexpr size_t kLookUp = 4;

// The bytes between two code point indices, as slices take them.
struct Window {
  std::string_view text;
  int64_t first;  // code point index of its start
  bool valid;     // the start does not lie behind the end of the text
};

Result<Window> window(Call& call, const Value& from, const Value& to) {
  const std::string_view all = call.self.view();
  MUMMU_TRY(call.heap.work(all.size()));
  const int64_t size = call.self.string().points();
  const auto bound = [&](const Value& value, int64_t fallback) -> Result<int64_t> {
    if (value.is_none()) return fallback;
    MUMMU_TRY(const int64_t i, integer_argument(call.in, value, fallback));
    return std::max<int64_t>(i < 0 ? i + size : i, 0);
  };
  MUMMU_TRY(const int64_t first, bound(from, 0));
  MUMMU_TRY(const int64_t last, bound(to, size));
  if (first > size || last < first) return Window{{}, first, false};
  const size_t start = offset_of_point(all, first),
               end = offset_of_point(all, std::min(last, size));
  return Window{all.substr(start, end - start), first, true};
}

template <bool from_right, bool must>
Result<Value> find(Call& call) {
  MUMMU_TRY(const Value wanted, string_argument(call.in, call.at[0]));
  MUMMU_TRY(const Window where, window(call, call.at[1], call.at[2]));
  const size_t at = !where.valid ? std::string_view::npos
                    : from_right ? find_last(where.text, wanted.view())
                                 : find_first(where.text, wanted.view());
  if (at != std::string_view::npos) {
    return Value::integer(where.first +
                          static_cast<int64_t>(code_points(where.text.substr(0, at))));
  }
  if (must) return fail(Error::Code::invalid, "index: substring not found");
  return Value::integer(-1);
}

Result<Value> count(Call& call) {
  MUMMU_TRY(const Value wanted, string_argument(call.in, call.at[0]));
  MUMMU_TRY(const Window where, window(call, call.at[1], call.at[2]));
  MUMMU_TRY(call.heap.work(kLookUp * where.text.size()));
  if (!where.valid) return Value::integer(0);
  if (wanted.text().empty())
    return Value::integer(static_cast<int64_t>(code_points(where.text)) + 1);
  int64_t found = 0;
  for (size_t at = find_first(where.text, wanted.view()); at != std::string_view::npos;
       at = find_first(where.text, wanted.view(), at + wanted.text().size())) {
    ++found;
  }
  return Value::integer(found);
}

template <bool at_start>
Result<Value> begins_or_ends(Call& call) {
  MUMMU_TRY(const Window where, window(call, call.at[1], call.at[2]));
  const auto holds = [&](const Value& value) -> Result<bool> {
    if (!value.is_string()) {
      return fail(Error::Code::invalid, "{} expects a string or a tuple of strings, not {}",
                  at_start ? "startswith" : "endswith", type_name(value));
    }
    return where.valid &&
           (at_start ? where.text.starts_with(value.view()) : where.text.ends_with(value.view()));
  };
  if (!call.at[0].is(Kind::tuple)) {
    MUMMU_TRY(const bool yes, holds(call.at[0]));
    return Value::boolean(yes);
  }
  for (const Value& value : call.at[0].items()) {
    MUMMU_TRY(const bool yes, holds(value));
    if (yes) return Value::boolean(true);
  }
  return Value::boolean(false);
}

template <bool (*holds)(char32_t), bool of_empty>
Result<Value> all_are(Call& call) {
  const std::string_view text = call.self.view();
  MUMMU_TRY(call.heap.work(kLookUp * text.size()));
  for (size_t at = 0; at < text.size();) {
    if (!holds(next_point(text, at))) return Value::boolean(false);
  }
  return Value::boolean(of_empty || !text.empty());
}

bool is_ascii(char32_t point) { return point < 0x80; }

template <bool (*has)(char32_t), bool (*spoils)(char32_t)>
Result<Value> cased(Call& call) {
  const std::string_view text = call.self.view();
  MUMMU_TRY(call.heap.work(kLookUp * text.size()));
  bool any = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t point = next_point(text, at);
    if (spoils(point) || is_title(point)) return Value::boolean(false);
    any |= has(point);
  }
  return Value::boolean(any);
}

// Upper case letters only behind what has no case, lower case letters only behind what has.
Result<Value> is_title_text(Call& call) {
  const std::string_view text = call.self.view();
  MUMMU_TRY(call.heap.work(kLookUp * text.size()));
  bool any = false, behind_cased = false;
  for (size_t at = 0; at < text.size();) {
    const char32_t point = next_point(text, at);
    const bool large = is_upper(point) || is_title(point), small = is_lower(point);
    if ((large && behind_cased) || (small && !behind_cased)) return Value::boolean(false);
    behind_cased = large || small;
    any |= behind_cased;
  }
  return Value::boolean(any);
}

Result<Value> is_identifier(Call& call) {
  const std::string_view text = call.self.view();
  MUMMU_TRY(call.heap.work(kLookUp * text.size()));
  for (size_t at = 0; at < text.size();) {
    const bool first = at == 0;
    const char32_t point = next_point(text, at);
    if (!(first ? is_name_start(point) : is_name_part(point))) return Value::boolean(false);
  }
  return Value::boolean(!text.empty());
}

constexpr BuiltinInfo kMethods[] = {
    {"find", "sub start? end?", find<false, false>},
    {"rfind", "sub start? end?", find<true, false>},
    {"index", "sub start? end?", find<false, true>},
    {"rindex", "sub start? end?", find<true, true>},
    {"count", "sub start? end?", count},
    {"startswith", "prefix start? end?", begins_or_ends<true>},
    {"endswith", "suffix start? end?", begins_or_ends<false>},
    {"isalnum", "", all_are<is_alnum, false>},
    {"isalpha", "", all_are<is_alpha, false>},
    {"isascii", "", all_are<is_ascii, true>},
    {"isdecimal", "", all_are<is_decimal, false>},
    {"isdigit", "", all_are<is_digit_like, false>},
    {"isnumeric", "", all_are<is_numeric, false>},
    {"isprintable", "", all_are<is_printable, true>},
    {"isspace", "", all_are<is_space, false>},
    {"isidentifier", "", is_identifier},
    {"islower", "", cased<is_lower, is_upper>},
    {"isupper", "", cased<is_upper, is_lower>},
    {"istitle", "", is_title_text},
};

}  // namespace

std::span<const BuiltinInfo> string_questions() { return kMethods; }

}  // namespace mummu::jinja
