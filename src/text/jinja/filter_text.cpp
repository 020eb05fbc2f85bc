// Filters of a text. What is no string is printed first, as Jinja2 does.

#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/escape.h"
#include "text/jinja/filter_table.h"
#include "text/jinja/format.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/print.h"
#include "text/jinja/text_operation.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

namespace {

template <Case to>
Result<Value> with_case(Call& call) {
  MUMMU_TRY(const Value text, to_string(call.in, call.self));
  return change_case(call.heap, text, to);
}

Result<Value> trim(Call& call) {
  MUMMU_TRY(const Value text, to_string(call.in, call.self));
  return strip(call.in, text, Side::both, call.at[0]);
}

Result<Value> center(Call& call) {
  MUMMU_TRY(const Value text, to_string(call.in, call.self));
  MUMMU_TRY(const int64_t width, integer_argument(call.in, call.at[0], 80));
  return pad(call.in, text, width, Value(), Align::center);
}

// Without its mark: what replace and join do first.
Result<Value> plain(Interpreter& in, const Value& value) {
  MUMMU_TRY(Value text, to_string(in, value));
  if (!text.string().safe) return text;
  return make_string(in.heap(), text.text());
}

Result<Value> replace_filter(Call& call) {
  MUMMU_TRY(const Value text, plain(call.in, call.self));
  MUMMU_TRY(const Value old, plain(call.in, call.at[0]));
  MUMMU_TRY(const Value by, plain(call.in, call.at[1]));
  const bool all = call.at[2].is_missing() || call.at[2].is_none();
  MUMMU_TRY(const int64_t count,
            all ? Result<int64_t>(-1) : integer_argument(call.in, call.at[2], -1));
  return replace(call.in, text, old, by, count);
}

// The first letter of a word large, the others small; a word begins behind white space and - ( { [
// <.
Result<Value> title(Call& call) {
  MUMMU_TRY(const Value text, to_string(call.in, call.self));
  MUMMU_TRY(call.heap.work(4 * text.text().size()));
  const auto separates = [](char32_t c) {
    return is_space(c) || c == '-' || c == '(' || c == '{' || c == '[' || c == '<';
  };
  const std::string_view all = text.view();
  TextBuilder out(call.heap);
  for (size_t at = 0; at < all.size();) {
    const size_t start = at;
    const bool gap = separates(next_point(all, at));
    for (size_t next = at; next < all.size() && separates(next_point(all, next)) == gap;
         at = next) {
    }
    size_t rest = start;
    next_point(all, rest);
    MUMMU_TRY(const Value first, part_of(call.heap, text, start, rest));
    MUMMU_TRY(const Value large, change_case(call.heap, first, Case::upper));
    MUMMU_TRY(const Value others, part_of(call.heap, text, rest, at));
    MUMMU_TRY(const Value small, change_case(call.heap, others, Case::lower));
    out.add(large.text());
    out.add(small.text());
  }
  return finish_string(call.heap, out);
}

Result<Value> indent(Call& call) {
  const Value& text = call.self;
  if (!text.is_string()) {
    MUMMU_TRY(const Value wrong, string_argument(call.in, text));
  }
  Value by = call.at[0];
  if (!by.is_string()) {
    MUMMU_TRY(const int64_t width, integer_argument(call.in, by, 4));
    if (width > static_cast<int64_t>(kMaxText))
      return fail(Error::invalid, "an indent of {}", width);
    MUMMU_TRY(by, make_string(call.heap,
                              std::string(static_cast<size_t>(std::max<int64_t>(width, 0)), ' ')));
  }
  const bool first = !call.at[1].is_missing() && is_true(call.at[1]);
  const bool blank = !call.at[2].is_missing() && is_true(call.at[2]);
  // One newline more, so that one at the end counts as a line.
  TextBuilder longer(call.heap);
  longer.add(text.text());
  longer.add("\n", Level::templ);
  MUMMU_TRY(const Value closed, finish_string(call.heap, longer));
  MUMMU_TRY(const std::vector<Value> lines, split_lines(call.heap, closed, false));
  TextBuilder out(call.heap);
  if (first) out.add(by.text());
  for (size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) out.add("\n", Level::templ);
    if (i > 0 && (blank || !lines[i].text().empty())) out.add(by.text());
    out.add(lines[i].text());
  }
  return finish_string(call.heap, out, text.string().safe);
}

Result<Value> truncate(Call& call) {
  MUMMU_TRY(const Value text, string_argument(call.in, call.self));
  MUMMU_TRY(const int64_t length, integer_argument(call.in, call.at[0], 255));
  const bool cut_words = !call.at[1].is_missing() && is_true(call.at[1]);
  Value end = call.at[2];
  if (end.is_missing()) {
    MUMMU_TRY(end, make_string(call.heap, "..."));
  }
  MUMMU_TRY(end, string_argument(call.in, end));
  const bool default_leeway = call.at[3].is_missing() || call.at[3].is_none();
  MUMMU_TRY(const int64_t leeway,
            default_leeway ? Result<int64_t>(5) : integer_argument(call.in, call.at[3], 5));
  if (length < end.string().points())
    return fail(Error::invalid, "truncate: a length below that of its end");
  if (leeway < 0) return fail(Error::invalid, "truncate: a leeway below 0");
  if (text.string().points() - leeway <= length) return text;
  MUMMU_TRY(call.heap.work(text.text().size()));
  size_t to = offset_of_point(text.view(), length - end.string().points());
  if (!cut_words) {
    const size_t blank = text.view().substr(0, to).rfind(' ');
    if (blank != std::string_view::npos) to = blank;
  }
  TextBuilder out(call.heap);
  out.add(text.text(), 0, to);
  out.add(end.text());
  return finish_string(call.heap, out, text.string().safe);
}

Result<Value> word_count(Call& call) {
  MUMMU_TRY(const Value text, to_string(call.in, call.self));
  // To look a character up takes as long as to copy four bytes.
  MUMMU_TRY(call.heap.work(4 * text.text().size()));
  int64_t words = 0;
  bool inside = false;
  for (size_t at = 0; at < text.text().size();) {
    const char32_t point = next_point(text.view(), at);
    const bool part = point == '_' || is_alnum(point);
    words += part && !inside;
    inside = part;
  }
  return Value::integer(words);
}

Result<Value> escape(Call& call) { return escaped(call.in, call.self); }

Result<Value> force_escape(Call& call) {
  TextBuilder out(call.heap);
  MUMMU_TRY(const Value text, plain(call.in, call.self));
  MUMMU_TRY(add_escaped(call.in, out, text, true));
  return finish_string(call.heap, out, true);
}

Result<Value> safe(Call& call) {
  MUMMU_TRY(const Value text, to_string(call.in, call.self));
  return text.string().safe ? text : make_string(call.heap, text.text(), true);
}

Result<Value> string(Call& call) { return to_string(call.in, call.self); }

Result<Value> format(Call& call) {
  if (!call.more.positional.empty() && !call.more.named.empty()) {
    return fail(Error::invalid, "format: positional and keyword arguments at the same time");
  }
  MUMMU_TRY(const Value text, to_string(call.in, call.self));
  if (!call.more.named.empty()) {
    std::vector<DictObject::Entry> entries;
    for (NamedValue& named : call.more.named) entries.emplace_back(named.name, named.value);
    MUMMU_TRY(const Value values, make_dict(call.heap, std::move(entries)));
    return format_percent(call.in, text, values);
  }
  MUMMU_TRY(const Value values, make_tuple(call.heap, call.more.positional));
  return format_percent(call.in, text, values);
}

// Everything but unreserved characters and / as %XX of its UTF-8 bytes; in queries a space is + and
// / is escaped.
//   source   RFC 3986 section 2.3
void add_quoted(TextBuilder& out, const Text& text, bool query) {
  constexpr std::string_view kPlain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-~";
  text.for_runs(0, text.size(), [&](std::string_view run, Level level) {
    std::string quoted_run;
    for (char c : run) {
      if (kPlain.find(c) != std::string_view::npos || (c == '/' && !query)) {
        quoted_run += c;
      } else if (c == ' ' && query) {
        quoted_run += '+';
      } else {
        quoted_run += fmt::format("%{:02X}", static_cast<unsigned char>(c));
      }
    }
    out.add(quoted_run, level);
  });
}

Result<Value> url_encode(Call& call) {
  TextBuilder out(call.heap);
  const Value& value = call.self;
  if (value.is_string() || !is_iterable(value)) {
    MUMMU_TRY(const Value text, to_string(call.in, value));
    MUMMU_TRY(call.heap.work(text.text().size()));
    add_quoted(out, text.text(), false);
    return finish_string(call.heap, out);
  }
  Value pairs = value;
  if (value.is(Kind::dict))
    pairs = Value(Kind::view, make<ViewObject>(call.heap, 0, value, ViewObject::Part::items));
  MUMMU_TRY(Iterator all, Iterator::over(call.in, pairs));
  for (bool first = true;; first = false) {
    MUMMU_TRY(const Value pair, all.next());
    if (pair.is_missing()) break;
    MUMMU_TRY(const std::vector<Value> parts, collect(call.in, pair));
    if (parts.size() != 2) return fail(Error::invalid, "urlencode wants pairs");
    MUMMU_TRY(const Value key, to_string(call.in, parts[0]));
    MUMMU_TRY(const Value part, to_string(call.in, parts[1]));
    MUMMU_TRY(call.heap.work(key.text().size() + part.text().size()));
    if (!first) out.add("&", Level::templ);
    add_quoted(out, key.text(), true);
    out.add("=", Level::templ);
    add_quoted(out, part.text(), true);
  }
  return finish_string(call.heap, out);
}

constexpr BuiltinInfo kFilters[] = {
    {"upper", "", with_case<Case::upper>},
    {"lower", "", with_case<Case::lower>},
    {"capitalize", "", with_case<Case::capital>},
    {"title", "", title},
    {"trim", "chars?", trim},
    {"center", "width?", center},
    {"replace", "old new count?", replace_filter},
    {"indent", "width? first? blank?", indent},
    {"truncate", "length? killwords? end? leeway?", truncate},
    {"wordcount", "", word_count},
    {"escape", "", escape},
    {"e", "", escape},
    {"forceescape", "", force_escape},
    {"safe", "", safe},
    {"string", "", string},
    {"format", "* **", format},
    {"urlencode", "", url_encode},
};

}  // namespace

std::span<const BuiltinInfo> text_filters() { return kFilters; }

}  // namespace mummu::jinja
