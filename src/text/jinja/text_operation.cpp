#include "text/jinja/text_operation.h"

#include <algorithm>

#include "base/fail.h"
#include "text/jinja/escape.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"
#include "text/jinja/search.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

Result<Value> part_of(Heap& heap, const Value& string, size_t from, size_t to) {
  if (from == 0 && to == string.text().size()) return string;
  TextBuilder out(heap);
  out.add(string.text(), from, to);
  return finish_string(heap, out, string.string().safe);
}

namespace {

bool holds(std::string_view characters, char32_t point) {
  for (size_t at = 0; at < characters.size();) {
    if (next_point(characters, at) == point) return true;
  }
  return false;
}

}  // namespace

Result<Value> strip(Interpreter& in, const Value& string, Side side, const Value& characters) {
  const bool space = characters.is_missing() || characters.is_none();
  std::string_view chosen;
  if (!space) {
    MUMMU_TRY(const Value given, string_argument(in, characters));
    chosen = characters.view();
  }
  const auto goes = [&](char32_t point) { return space ? is_space(point) : holds(chosen, point); };
  const std::string_view text = string.view();
  size_t from = 0, to = text.size(), looked = 0;
  while (side != Side::right && from < to) {
    size_t next = from;
    if (!goes(next_point(text, next))) break;
    from = next;
    ++looked;
  }
  while (side != Side::left && to > from) {
    size_t start = to;
    if (!goes(previous_point(text, start))) break;
    to = start;
    ++looked;
  }
  MUMMU_TRY(in.heap().work(looked * (1 + chosen.size())));
  return part_of(in.heap(), string, from, to);
}

namespace {

// Whether the Σ at a byte ends a word: a cased letter before it and none after, others that do not
// count skipped.
//   source   The Unicode Standard, table 3-17, Final_Sigma
bool is_final_sigma(std::string_view text, size_t at) {
  size_t before = at;
  bool cased_before = false;
  while (before > 0) {
    const char32_t point = previous_point(text, before);
    if (is_case_ignorable(point)) continue;
    cased_before = is_cased(point);
    break;
  }
  if (!cased_before) return false;
  next_point(text, at);
  while (at < text.size()) {
    const char32_t point = next_point(text, at);
    if (!is_case_ignorable(point)) return !is_cased(point);
  }
  return true;
}

CaseMapping lower_at(std::string_view text, size_t at, char32_t point) {
  constexpr char32_t kSigma = 0x3A3, kFinalSigma = 0x3C2;
  if (point == kSigma && is_final_sigma(text, at)) return {{kFinalSigma, 0, 0}, 1};
  return to_lower(point);
}

CaseMapping map_at(std::string_view text, size_t at, char32_t point, Case to, bool word_start) {
  switch (to) {
    case Case::upper:
      return to_upper(point);
    case Case::lower:
      return lower_at(text, at, point);
    case Case::folded:
      return to_folded(point);
    case Case::swapped:
      return is_upper(point)   ? lower_at(text, at, point)
             : is_lower(point) ? to_upper(point)
                               : CaseMapping{{point, 0, 0}, 1};
    case Case::title:
    case Case::capital:
      break;
  }
  return word_start ? to_title(point) : lower_at(text, at, point);
}

}  // namespace

Result<Value> change_case(Heap& heap, const Value& string, Case to) {
  MUMMU_TRY(heap.work(4 * string.text().size()));
  TextBuilder out(heap);
  const std::string_view all = string.view();
  size_t at = 0;
  bool word_start = true;
  string.text().for_runs(0, all.size(), [&](std::string_view run, Level level) {
    std::string mapped;
    mapped.reserve(run.size());
    for (const size_t end = at + run.size(); at < end;) {
      const size_t before = at;
      const char32_t point = next_point(all, at);
      const CaseMapping mapping = map_at(all, before, point, to, word_start);
      for (int i = 0; i < mapping.size; ++i) append_utf8(mapped, mapping.points[i]);
      word_start = to == Case::title && !is_cased(point);
    }
    out.add(mapped, level);
  });
  return finish_string(heap, out, string.string().safe);
}

Result<Value> replace(Interpreter& in, const Value& string, const Value& old, const Value& by,
                      int64_t count) {
  const std::string_view text = string.view(), wanted = old.view();
  MUMMU_TRY(in.heap().work(text.size()));
  TextBuilder out(in.heap());
  const bool safe = string.string().safe;
  size_t at = 0;
  const auto insert = [&] { return add_escaped(in, out, by, safe); };
  if (wanted.empty()) {
    // Between all characters; nobody can say whose text that is, so the whole has the highest
    // level.
    for (int64_t i = 0; count < 0 || i < count; ++i) {
      MUMMU_TRY(insert());
      if (at == text.size() || out.failed()) break;
      const size_t from = at;
      next_point(text, at);
      out.add(string.text(), from, at);
    }
    out.add(string.text(), at, text.size());
    MUMMU_TRY(const Text mixed, out.finish());
    return make_string(in.heap(), Text(std::string(mixed.view()), mixed.highest()), safe);
  }
  for (size_t found = find_first(text, wanted);
       found != std::string_view::npos && count != 0 && !out.failed();
       found = find_first(text, wanted, at), --count) {
    MUMMU_TRY(in.heap().step());
    out.add(string.text(), at, found);
    MUMMU_TRY(insert());
    at = found + wanted.size();
  }
  if (at == 0) return string;
  out.add(string.text(), at, text.size());
  return finish_string(in.heap(), out, safe);
}

Result<std::vector<Value>> split_lines(Heap& heap, const Value& string, bool keep_ends) {
  MUMMU_TRY(heap.work(string.text().size()));
  const std::string_view text = string.view();
  std::vector<Value> out;
  size_t start = 0;
  const auto push = [&](size_t end) -> Result<void> {
    MUMMU_TRY(Value line, part_of(heap, string, start, end));
    out.push_back(std::move(line));
    return {};
  };
  for (size_t at = 0; at < text.size();) {
    const size_t before = at;
    const char32_t point = next_point(text, at);
    if (!is_line_break(point)) continue;
    if (point == '\r' && at < text.size() && text[at] == '\n') ++at;
    MUMMU_TRY(push(keep_ends ? at : before));
    start = at;
  }
  if (start < text.size()) MUMMU_TRY(push(text.size()));
  return out;
}

namespace {

using Span = std::pair<size_t, size_t>;

std::vector<Span> cut_left(std::string_view text, std::string_view by, int64_t limit) {
  std::vector<Span> out;
  size_t start = 0;
  for (size_t at = find_first(text, by); at != std::string_view::npos && limit != 0;
       at = find_first(text, by, start), --limit) {
    out.emplace_back(start, at);
    start = at + by.size();
  }
  out.emplace_back(start, text.size());
  return out;
}

std::vector<Span> cut_right(std::string_view text, std::string_view by, int64_t limit) {
  std::vector<Span> out;
  size_t end = text.size();
  for (; limit != 0 && end >= by.size(); --limit) {
    const size_t at = find_last(text.substr(0, end), by);
    if (at == std::string_view::npos) break;
    out.emplace_back(at + by.size(), end);
    end = at;
  }
  out.emplace_back(0, end);
  std::reverse(out.begin(), out.end());
  return out;
}

// Between runs of white space; what is left over at the limit keeps the white space at its other
// end.
std::vector<Span> cut_spaces(std::string_view text, int64_t limit) {
  std::vector<Span> out;
  std::string_view rest = strip_left(text);
  while (!rest.empty()) {
    const auto start = static_cast<size_t>(rest.data() - text.data());
    if (limit-- == 0) {
      out.emplace_back(start, text.size());
      break;
    }
    size_t end = start;
    for (size_t next = end; next < text.size() && !is_space(next_point(text, next)); end = next) {
    }
    out.emplace_back(start, end);
    rest = strip_left(text.substr(end));
  }
  return out;
}

std::vector<Span> cut_spaces_right(std::string_view text, int64_t limit) {
  std::vector<Span> out;
  std::string_view rest = strip_right(text);
  while (!rest.empty()) {
    if (limit-- == 0) {
      out.emplace_back(0, rest.size());
      break;
    }
    size_t start = rest.size();
    for (size_t before = start; before > 0 && !is_space(previous_point(text, before));
         start = before) {
    }
    out.emplace_back(start, rest.size());
    rest = strip_right(rest.substr(0, start));
  }
  std::reverse(out.begin(), out.end());
  return out;
}

}  // namespace

Result<Value> split(Interpreter& in, const Value& string, const Value& separator, int64_t limit,
                    bool from_right) {
  const std::string_view text = string.view();
  MUMMU_TRY(in.heap().work(text.size()));
  std::vector<Span> spans;
  // More pieces than steps are refused anyway, so no more are looked for.
  if (limit < 0 || limit > Heap::kMaxSteps) limit = Heap::kMaxSteps;
  if (separator.is_missing() || separator.is_none()) {
    spans = from_right ? cut_spaces_right(text, limit) : cut_spaces(text, limit);
  } else {
    MUMMU_TRY(const Value by, string_argument(in, separator));
    if (by.text().empty()) return fail(Error::invalid, "split by an empty separator");
    spans = from_right ? cut_right(text, by.view(), limit) : cut_left(text, by.view(), limit);
  }
  std::vector<Value> out;
  for (const auto& [from, to] : spans) {
    MUMMU_TRY(Value piece, part_of(in.heap(), string, from, to));
    out.push_back(std::move(piece));
  }
  return make_list(in.heap(), std::move(out));
}

Result<Value> join(Interpreter& in, const Value& separator, const std::vector<Value>& items) {
  TextBuilder out(in.heap());
  const bool safe = separator.string().safe;
  for (size_t i = 0; i < items.size(); ++i) {
    MUMMU_TRY(in.heap().step());
    if (i > 0) out.add(separator.text());
    MUMMU_TRY(add_escaped(in, out, items[i], safe));
  }
  return finish_string(in.heap(), out, safe);
}

Result<Value> pad(Interpreter& in, const Value& string, int64_t width, const Value& fill,
                  Align align) {
  std::string with = " ";
  Level level = string.text().highest();
  if (!fill.is_missing()) {
    MUMMU_TRY(const Value given, string_argument(in, fill));
    if (given.string().points() != 1) return fail(Error::invalid, "the fill must be one character");
    with = given.view();
    level = std::max(level, given.text().highest());
  }
  const int64_t missing = width - string.string().points();
  if (missing <= 0) return string;
  if (missing > static_cast<int64_t>(kMaxText))
    return fail(Error::invalid, "a text of more than {} MiB", kMaxText >> 20);
  // CPython puts the odd blank of center() to the left where the width is odd.
  const int64_t half = missing / 2 + (missing & width & 1);
  const int64_t left = align == Align::left ? 0 : align == Align::right ? missing : half;
  TextBuilder out(in.heap());
  out.repeat(with, level, left);
  out.add(string.view(), level);
  out.repeat(with, level, missing - left);
  return finish_string(in.heap(), out, string.string().safe);
}

}  // namespace mummu::jinja
