#include "text/jinja/slice.h"

#include <algorithm>
#include <limits>

#include "base/fail.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/print.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

namespace {

// Which indices a slice takes: `count` of them from `start` on.
struct Indices {
  int64_t start, step, count;
};

Result<int64_t> bound(const Value& value, int64_t fallback) {
  if (value.is_none()) return fallback;
  if (!value.is_integral())
    return fail(Error::invalid, "a slice needs integers, not {}", type_name(value));
  return value.as_integer();
}

//   source   The Python Language Reference, 6.3.3 and the "slice" object's indices()
Result<Indices> indices_of(int64_t size, const Value& from, const Value& to, const Value& by) {
  MUMMU_TRY(const int64_t step, bound(by, 1));
  if (step == 0) return fail(Error::invalid, "a slice with a step of 0");
  const bool back = step < 0;
  const int64_t low = back ? -1 : 0, high = back ? size - 1 : size;
  const auto clamp = [&](int64_t i) { return std::clamp(i < 0 ? i + size : i, low, high); };
  MUMMU_TRY(int64_t start, bound(from, back ? high : low));
  if (!from.is_none()) start = clamp(start);
  MUMMU_TRY(int64_t stop, bound(to, back ? low : high));
  if (!to.is_none()) stop = clamp(stop);
  const uint64_t stride = back ? 0 - static_cast<uint64_t>(step) : static_cast<uint64_t>(step);
  const int64_t distance = back ? start - stop : stop - start;
  if (distance <= 0) return Indices{start, step, 0};
  return Indices{start, step,
                 static_cast<int64_t>((static_cast<uint64_t>(distance) - 1) / stride) + 1};
}

// The byte offsets of all code points, and the end.
std::vector<uint32_t> offsets_of(std::string_view text) {
  std::vector<uint32_t> out;
  for (size_t at = 0; at < text.size(); next_point(text, at))
    out.push_back(static_cast<uint32_t>(at));
  out.push_back(static_cast<uint32_t>(text.size()));
  return out;
}

Result<Value> slice_string(Interpreter& in, const Value& string, const Indices& slice) {
  MUMMU_TRY(in.heap().work(string.text().size()));
  TextBuilder out(in.heap());
  const Text& text = string.text();
  if (slice.count > 0 && slice.step == 1) {
    const size_t from = offset_of_point(text.view(), slice.start);
    out.add(text, from, from + offset_of_point(text.view().substr(from), slice.count));
  } else if (slice.count > 0) {
    if (!in.heap().has_room(4 * text.size()))
      return fail(Error::invalid, "a slice of a text that is too long");
    const auto offsets = offsets_of(text.view());
    for (int64_t i = 0; i < slice.count; ++i) {
      const auto at = static_cast<size_t>(slice.start + i * slice.step);
      out.add(text, offsets[at], offsets[at + 1]);
    }
  }
  return finish_string(in.heap(), out, string.string().safe);
}

}  // namespace

Result<Value> character_at(Interpreter& in, const Value& string, int64_t index) {
  const Text& text = string.text();
  MUMMU_TRY(in.heap().work(text.size()));
  const int64_t size = string.string().points();
  const int64_t at = index < 0 ? index + size : index;
  if (at < 0 || at >= size) return Value();
  const size_t from = static_cast<size_t>(size) == text.size() ? static_cast<size_t>(at)
                                                               : offset_of_point(text.view(), at);
  TextBuilder out(in.heap());
  size_t to = from;
  next_point(text.view(), to);
  out.add(text, from, to);
  return finish_string(in.heap(), out, string.string().safe);
}

Result<Value> slice_of(Interpreter& in, const Value& owner, const Value& start, const Value& stop,
                       const Value& step) {
  if (owner.is_undefined()) return in.undefined_error(owner);
  const bool sliceable = owner.is_string() || owner.is_sequence() || owner.is(Kind::range);
  if (!sliceable) return Value::undefined({-1, owner.kind(), Absence::Reason::element});
  MUMMU_TRY(const int64_t size, length_of(in, owner));
  MUMMU_TRY(const Indices slice, indices_of(size, start, stop, step));
  if (owner.is_string()) return slice_string(in, owner, slice);
  if (owner.is(Kind::range)) {
    const auto& range = owner.object<RangeObject>();
    const int64_t from = range.start + slice.start * range.step, by = range.step * slice.step;
    return Value(Kind::range,
                 make<RangeObject>(in.heap(), 0, from, from + slice.count * by, by, slice.count));
  }
  std::vector<Value> out;
  out.reserve(static_cast<size_t>(slice.count));
  for (int64_t i = 0; i < slice.count; ++i) {
    out.push_back(owner.items()[static_cast<size_t>(slice.start + i * slice.step)]);
  }
  return owner.is(Kind::list) ? make_list(in.heap(), std::move(out))
                              : make_tuple(in.heap(), std::move(out));
}

}  // namespace mummu::jinja
