#include "text/jinja/select.h"

#include <algorithm>
#include <charconv>

#include "base/fail.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/text_operation.h"

namespace mummu::jinja {

Result<AttributePath> AttributePath::of(Interpreter& in, std::string_view dotted, Level level) {
  AttributePath out;
  while (true) {
    const size_t dot = std::min(dotted.find('.'), dotted.size());
    const std::string_view part = dotted.substr(0, dot);
    int64_t index = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), index);
    const bool is_index = !part.empty() && part.front() != '-' && error == std::errc() &&
                          end == part.data() + part.size();
    if (is_index) {
      out.parts_.push_back(Value::integer(index));
    } else {
      MUMMU_TRY(Value name, make_string(in.heap(), part, level));
      out.parts_.push_back(std::move(name));
    }
    if (dot == dotted.size()) return out;
    dotted.remove_prefix(dot + 1);
  }
}

Result<AttributePath> AttributePath::of(Interpreter& in, const Value& attribute) {
  if (attribute.is_string()) return of(in, attribute.view(), attribute.text().highest());
  AttributePath out;
  if (!attribute.is_missing() && !attribute.is_none()) out.parts_.push_back(attribute);
  return out;
}

Result<Value> AttributePath::get(Interpreter& in, Value item) const {
  for (const Value& part : parts_) {
    MUMMU_TRY(item, in.item(item, part));
  }
  return item;
}

Result<Value> AttributePath::get_or(Interpreter& in, Value item, const Value& fallback) const {
  for (const Value& part : parts_) {
    MUMMU_TRY(item, in.item(item, part));
    if (item.is_undefined() && !fallback.is_missing() && !fallback.is_none()) item = fallback;
  }
  return item;
}

Result<Value> without_case(Heap& heap, const Value& value) {
  if (!value.is_string()) return value;
  return change_case(heap, value, Case::lower);
}

Result<SortKey> SortKey::of(Interpreter& in, const Value& attribute, bool case_sensitive) {
  SortKey out;
  out.case_sensitive_ = case_sensitive;
  MUMMU_TRY(AttributePath path, AttributePath::of(in, attribute));
  out.paths_.push_back(std::move(path));
  return out;
}

Result<SortKey> SortKey::of_several(Interpreter& in, const Value& attribute, bool case_sensitive) {
  if (!attribute.is_string() || attribute.view().find(',') == std::string_view::npos) {
    return of(in, attribute, case_sensitive);
  }
  SortKey out;
  out.case_sensitive_ = case_sensitive;
  out.as_list_ = true;
  std::string_view rest = attribute.view();
  while (true) {
    const size_t comma = std::min(rest.find(','), rest.size());
    MUMMU_TRY(AttributePath path, AttributePath::of(in, rest.substr(0, comma), Level::templ));
    out.paths_.push_back(std::move(path));
    if (comma == rest.size()) return out;
    rest.remove_prefix(comma + 1);
  }
}

Result<Value> SortKey::get(Interpreter& in, const Value& item) const {
  std::vector<Value> keys;
  for (const AttributePath& path : paths_) {
    MUMMU_TRY(Value key, path.get(in, item));
    if (!case_sensitive_) {
      MUMMU_TRY(key, without_case(in.heap(), key));
    }
    keys.push_back(std::move(key));
  }
  return as_list_ ? make_list(in.heap(), std::move(keys)) : std::move(keys.front());
}

}  // namespace mummu::jinja
