// Methods of strings that give texts.

#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/format.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/method_table.h"
#include "text/jinja/print.h"
#include "text/jinja/search.h"
#include "text/jinja/text_operation.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

namespace {

template <Case to>
Result<Value> with_case(Call& call) {
  return change_case(call.heap, call.self, to);
}

template <Side side>
Result<Value> stripped(Call& call) {
  return strip(call.in, call.self, side, call.at[0]);
}

template <bool from_right>
Result<Value> split_method(Call& call) {
  MUMMU_TRY(const int64_t limit, integer_argument(call.in, call.at[1], -1));
  return split(call.in, call.self, call.at[0], limit, from_right);
}

Result<Value> lines(Call& call) {
  MUMMU_TRY(std::vector<Value> out,
            split_lines(call.heap, call.self, !call.at[0].is_missing() && is_true(call.at[0])));
  return make_list(call.heap, std::move(out));
}

template <bool from_right>
Result<Value> partition(Call& call) {
  MUMMU_TRY(const Value by, string_argument(call.in, call.at[0]));
  if (by.text().empty()) return fail(Error::Code::invalid, "partition by an empty separator");
  const std::string_view text = call.self.view();
  MUMMU_TRY(call.heap.work(text.size()));
  const size_t at = from_right ? find_last(text, by.view()) : find_first(text, by.view());
  MUMMU_TRY(const Value empty, make_string(call.heap, ""));
  if (at == std::string_view::npos) {
    if (from_right) return make_tuple(call.heap, {empty, empty, call.self});
    return make_tuple(call.heap, {call.self, empty, empty});
  }
  MUMMU_TRY(Value before, part_of(call.heap, call.self, 0, at));
  MUMMU_TRY(Value after, part_of(call.heap, call.self, at + by.text().size(), text.size()));
  MUMMU_TRY(Value middle, part_of(call.heap, call.self, at, at + by.text().size()));
  return make_tuple(call.heap, {std::move(before), std::move(middle), std::move(after)});
}

Result<Value> replace_method(Call& call) {
  MUMMU_TRY(const Value old, string_argument(call.in, call.at[0]));
  MUMMU_TRY(const Value by, string_argument(call.in, call.at[1]));
  MUMMU_TRY(const int64_t count, integer_argument(call.in, call.at[2], -1));
  return replace(call.in, call.self, old, by, count);
}

Result<Value> join_method(Call& call) {
  MUMMU_TRY(const std::vector<Value> items, collect(call.in, call.at[0]));
  for (const Value& item : items) {
    if (!item.is_string())
      return fail(Error::invalid, "join: a string expected, not {}", type_name(item));
  }
  return join(call.in, call.self, items);
}

template <Align align>
Result<Value> padded(Call& call) {
  MUMMU_TRY(const int64_t width, integer_argument(call.in, call.at[0], 0));
  return pad(call.in, call.self, width, call.at[1], align);
}

Result<Value> zero_fill(Call& call) {
  MUMMU_TRY(const int64_t width, integer_argument(call.in, call.at[0], 0));
  const std::string_view text = call.self.view();
  const int64_t missing = width - call.self.string().points();
  if (missing <= 0) return call.self;
  if (missing > static_cast<int64_t>(kMaxText))
    return fail(Error::invalid, "a text of more than {} MiB", kMaxText >> 20);
  const Level level = call.self.text().highest();
  const size_t sign = text.starts_with('+') || text.starts_with('-') ? 1 : 0;
  TextBuilder out(call.heap);
  out.add(text.substr(0, sign), level);
  out.repeat("0", level, missing);
  out.add(text.substr(sign), level);
  return finish_string(call.heap, out, call.self.string().safe);
}

Result<Value> expand_tabs(Call& call) {
  MUMMU_TRY(const int64_t size, integer_argument(call.in, call.at[0], 8));
  if (size > static_cast<int64_t>(kMaxText))
    return fail(Error::invalid, "tabs of a width of {}", size);
  const std::string_view text = call.self.view();
  MUMMU_TRY(call.heap.work(text.size()));
  TextBuilder out(call.heap);
  int64_t column = 0;
  size_t start = 0;
  for (size_t at = 0; at < text.size() && !out.failed();) {
    const size_t before = at;
    const char32_t point = next_point(text, at);
    column = point == '\n' || point == '\r' ? 0 : column + 1;
    if (point != '\t') continue;
    --column;
    out.add(call.self.text(), start, before);
    const int64_t blanks = size > 0 ? size - column % size : 0;
    out.repeat(" ", call.self.text().level_at(before), blanks);
    column += blanks;
    start = at;
  }
  out.add(call.self.text(), start, text.size());
  return finish_string(call.heap, out, call.self.string().safe);
}

Result<Value> remove_prefix(Call& call) {
  MUMMU_TRY(const Value prefix, string_argument(call.in, call.at[0]));
  const bool there = call.self.view().starts_with(prefix.view());
  return part_of(call.heap, call.self, there ? prefix.text().size() : 0, call.self.text().size());
}

Result<Value> remove_suffix(Call& call) {
  MUMMU_TRY(const Value suffix, string_argument(call.in, call.at[0]));
  const bool there = call.self.view().ends_with(suffix.view());
  return part_of(call.heap, call.self, 0,
                 call.self.text().size() - (there ? suffix.text().size() : 0));
}

Result<Value> format(Call& call) { return format_braces(call.in, call.self, call.more); }

Result<Value> format_map(Call& call) {
  if (!call.at[0].is(Kind::dict))
    return fail(Error::invalid, "format_map: a dict expected, not {}", type_name(call.at[0]));
  Arguments arguments;
  for (const auto& [key, value] : call.at[0].dict().entries()) {
    if (key.is_string()) arguments.named.push_back({key, value});
  }
  return format_braces(call.in, call.self, arguments);
}

// What gives bytes or wants a table has no place in a template.
Result<Value> encode(Call&) { return fail(Error::unsupported, "'encode' of a str is unsupported"); }
Result<Value> translate(Call&) {
  return fail(Error::unsupported, "'translate' of a str is unsupported");
}

constexpr BuiltinInfo kMethods[] = {
    {"upper", "", with_case<Case::upper>},
    {"lower", "", with_case<Case::lower>},
    {"casefold", "", with_case<Case::folded>},
    {"swapcase", "", with_case<Case::swapped>},
    {"title", "", with_case<Case::title>},
    {"capitalize", "", with_case<Case::capital>},
    {"strip", "chars?", stripped<Side::both>},
    {"lstrip", "chars?", stripped<Side::left>},
    {"rstrip", "chars?", stripped<Side::right>},
    {"split", "sep? maxsplit?", split_method<false>},
    {"rsplit", "sep? maxsplit?", split_method<true>},
    {"splitlines", "keepends?", lines},
    {"partition", "sep", partition<false>},
    {"rpartition", "sep", partition<true>},
    {"replace", "old new count?", replace_method},
    {"join", "iterable", join_method},
    {"center", "width fillchar?", padded<Align::center>},
    {"ljust", "width fillchar?", padded<Align::left>},
    {"rjust", "width fillchar?", padded<Align::right>},
    {"zfill", "width", zero_fill},
    {"expandtabs", "tabsize?", expand_tabs},
    {"removeprefix", "prefix", remove_prefix},
    {"removesuffix", "suffix", remove_suffix},
    {"format", "* **", format},
    {"encode", "* **", encode},
    {"translate", "* **", translate},
    {"format_map", "mapping", format_map},
};

}  // namespace

std::span<const BuiltinInfo> string_methods() { return kMethods; }

}  // namespace mummu::jinja
