#include "text/jinja/iterate.h"

#include "base/fail.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

bool is_iterable(const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
    case Kind::string:
    case Kind::list:
    case Kind::tuple:
    case Kind::dict:
    case Kind::view:
    case Kind::range:
    case Kind::generator:
    case Kind::loop:
      return true;
    default:
      return false;
  }
}

Result<Iterator> Iterator::over(Interpreter& in, const Value& value) {
  if (value.is(Kind::loop)) return fail(Error::unsupported, "walking over 'loop' is unsupported");
  if (!is_iterable(value)) return fail(Error::invalid, "{} is not iterable", type_name(value));
  return Iterator(in, value);
}

Result<Value> Iterator::entry_part(const ViewObject& view) {
  const auto& [key, value] = view.dict.dict().entries()[at_++];
  if (view.part == ViewObject::Part::keys) return key;
  if (view.part == ViewObject::Part::values) return value;
  return make_tuple(in_->heap(), {key, value});
}

Result<Value> Iterator::next() {
  MUMMU_TRY(in_->heap().step());
  switch (value_.kind()) {
    case Kind::list:
    case Kind::tuple:
      return at_ < value_.items().size() ? value_.items()[at_++] : Value();
    case Kind::dict:
      return at_ < value_.dict().size() ? value_.dict().entries()[at_++].first : Value();
    case Kind::view: {
      const auto& view = value_.object<ViewObject>();
      return at_ < view.dict.dict().size() ? entry_part(view) : Value();
    }
    case Kind::range: {
      const auto& range = value_.object<RangeObject>();
      return static_cast<int64_t>(at_) < range.size ? range_item(range, static_cast<int64_t>(at_++))
                                                    : Value();
    }
    case Kind::generator: {
      auto& generator = value_.object<GeneratorObject>();
      return generator.next < generator.items.size() ? generator.items[generator.next++] : Value();
    }
    case Kind::string: {
      if (at_ >= value_.text().size()) return Value();
      const size_t start = at_;
      next_point(value_.view(), at_);
      return make_string(in_->heap(), Text(std::string(value_.view().substr(start, at_ - start)),
                                           value_.text().level_at(start)));
    }
    default:
      return Value();
  }
}

Result<std::vector<Value>> collect(Interpreter& in, const Value& value) {
  if (value.is_sequence()) {
    MUMMU_TRY(in.heap().work(value.items().size() * sizeof(Value)));
    return value.items();
  }
  MUMMU_TRY(Iterator all, Iterator::over(in, value));
  std::vector<Value> out;
  while (true) {
    MUMMU_TRY(Value next, all.next());
    if (next.is_missing()) return out;
    out.push_back(std::move(next));
  }
}

Result<int64_t> length_of(Interpreter& in, const Value& value) {
  switch (value.kind()) {
    case Kind::undefined:
      return 0;
    case Kind::string:
      return value.string().points();
    case Kind::list:
    case Kind::tuple:
      return static_cast<int64_t>(value.items().size());
    case Kind::dict:
      return static_cast<int64_t>(value.dict().size());
    case Kind::view:
      return static_cast<int64_t>(value.object<ViewObject>().dict.dict().size());
    case Kind::range:
      return value.object<RangeObject>().size;
    case Kind::loop:
      return in.loop_length(value);
    default:
      return fail(Error::invalid, "{} has no length", type_name(value));
  }
}

}  // namespace mummu::jinja
