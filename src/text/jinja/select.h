#pragma once

// What map, select, sort and kin do to each item: follow a path of attributes, apply a filter, or
// ask a test.

#include <string>
#include <vector>

#include "text/jinja/builtin.h"

namespace mummu::jinja {

// "address.city" or 0: attributes and indices one after another.
class AttributePath {
 public:
  static Result<AttributePath> of(Interpreter& in, const Value& attribute);
  static Result<AttributePath> of(Interpreter& in, std::string_view dotted, Level level);
  Result<Value> get(Interpreter& in, Value item) const;
  // The same, with `fallback` where something is undefined on the way.
  Result<Value> get_or(Interpreter& in, Value item, const Value& fallback) const;

 private:
  std::vector<Value> parts_;
};

// The key by which values are compared: an attribute (or the value itself), lower case unless case
// counts.
class SortKey {
 public:
  static Result<SortKey> of(Interpreter& in, const Value& attribute, bool case_sensitive);
  // A list of keys if the attribute is a list with commas and `several`.
  static Result<SortKey> of_several(Interpreter& in, const Value& attribute, bool case_sensitive);
  Result<Value> get(Interpreter& in, const Value& item) const;

 private:
  std::vector<AttributePath> paths_;
  bool as_list_ = false;
  bool case_sensitive_ = false;
};

// A lower-case copy of a string; anything else as it is.
Result<Value> without_case(Heap& heap, const Value& value);

}  // namespace mummu::jinja
