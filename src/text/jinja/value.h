#pragma once

// The values of a template, with Python's kinds: what None, True, 1, 1.5, 'text', [..], (..), {..}
// are to it. A Value is 16 bytes; everything bigger is a counted object of the Heap. Lists, tuples,
// dicts and texts never change once made.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/heap.h"
#include "text/jinja/text.h"

namespace mummu::jinja {

enum class Kind : uint8_t {
  missing,    // no value at all: an argument that was not given
  undefined,  // a name, attribute or key that is not there
  none,
  boolean,
  integer,
  real,
  big,  // an integer beyond 64 bits, only as digits
  string,
  list,
  tuple,
  dict,
  view,  // keys(), values(), items() of a dict
  range,
  generator,  // what map, select and kin give: can be read once
  space,      // namespace()
  macro,
  function,  // a global such as raise_exception
  method,    // a method with the value it belongs to
  loop,
  cycler,
  joiner,
};

// Why a value is undefined; the text of an error is made from it only when somebody needs it.
struct Absence {
  enum class Reason : uint8_t {
    name,
    attribute,
    element,
    unsafe,
    parameter,
    caller,
    no_else,
    empty
  };
  int32_t name = -1;  // in Names; -1: no fixed name
  Kind owner = Kind::missing;
  Reason reason = Reason::name;
};

class StringObject;
class ListObject;
class DictObject;
struct FunctionInfo;

class Value {
 public:
  Value() = default;
  Value(const Value& other) : kind_(other.kind_), data_(other.data_) { hold(); }
  Value(Value&& other) noexcept : kind_(other.kind_), data_(other.data_) {
    other.kind_ = Kind::missing;
    other.data_.object = nullptr;
  }
  Value& operator=(Value other) noexcept {
    std::swap(kind_, other.kind_);
    std::swap(data_, other.data_);
    return *this;
  }
  ~Value() {
    if (is_object()) data_.object->drop();
  }

  static Value none() { return Value(Kind::none); }
  static Value boolean(bool value);
  static Value integer(int64_t value);
  static Value real(double value);
  static Value undefined(Absence absence);
  static Value function(const FunctionInfo& info);

  template <typename T>
  Value(Kind kind, const Ref<T>& object) : kind_(kind) {
    data_.object = object.get();
    hold();
  }

  Kind kind() const { return kind_; }
  bool is(Kind kind) const { return kind_ == kind; }
  bool is_missing() const { return kind_ == Kind::missing; }
  bool is_undefined() const { return kind_ == Kind::undefined; }
  bool is_none() const { return kind_ == Kind::none; }
  bool is_string() const { return kind_ == Kind::string; }
  bool is_sequence() const { return kind_ == Kind::list || kind_ == Kind::tuple; }
  bool is_integral() const { return kind_ == Kind::integer || kind_ == Kind::boolean; }
  bool is_number() const { return is_integral() || kind_ == Kind::real || kind_ == Kind::big; }

  // Each requires the kind it names.
  bool as_bool() const { return data_.integer != 0; }
  int64_t as_integer() const { return data_.integer; }  // also of a boolean
  double as_real() const { return data_.real; }
  Absence absence() const { return data_.absence; }
  const FunctionInfo& as_function() const { return *data_.function; }
  const StringObject& string() const;
  const Text& text() const;
  std::string_view view() const { return text().view(); }
  const std::vector<Value>& items() const;  // list, tuple
  const DictObject& dict() const;
  template <typename T>
  T& object() const {
    return static_cast<T&>(*data_.object);
  }
  const void* identity() const { return data_.object; }

 private:
  explicit Value(Kind kind) : kind_(kind) {}
  bool is_object() const { return kind_ >= Kind::big && kind_ != Kind::function; }
  void hold() {
    if (is_object()) data_.object->keep();
  }

  union Data {
    int64_t integer;
    double real;
    Absence absence;
    Object* object;
    const FunctionInfo* function;
    Data() : integer(0) {}
  };

  Kind kind_ = Kind::missing;
  Data data_;
};

class StringObject : public Object {
 public:
  StringObject(Text t, bool is_safe) : text(std::move(t)), safe(is_safe) {}
  int64_t points() const;  // code points

  Text text;        // changed by nobody but set_levels
  const bool safe;  // marked as HTML: adding to it escapes the other side

 private:
  mutable int64_t points_ = -1;
};

// An integer beyond 64 bits, canonical decimal digits with a sign.
class BigObject : public Object {
 public:
  explicit BigObject(std::string d) : digits(std::move(d)) {}
  const std::string digits;
};

class ListObject : public Object {
 public:
  explicit ListObject(std::vector<Value> v) : items(std::move(v)) {}
  void clear() override { items.clear(); }
  std::vector<Value> items;
  bool group = false;  // a tuple of groupby: has .grouper and .list
};

// What can be read once, from front to back.
class GeneratorObject : public Object {
 public:
  explicit GeneratorObject(std::vector<Value> v) : items(std::move(v)) {}
  void clear() override { items.clear(); }
  std::vector<Value> items;
  size_t next = 0;
};

// The order of dict keys: equal keys are neither before the other. Requires hashable keys.
struct KeyBefore {
  using is_transparent = void;
  bool operator()(const Value& a, const Value& b) const;
  bool operator()(const Value& a, std::string_view b) const;
  bool operator()(std::string_view a, const Value& b) const;
};

// Keys in the order of their first insertion. Lookup ignores levels; of equal keys the first stays,
// with the last value.
class DictObject : public Object {
 public:
  using Entry = std::pair<Value, Value>;
  void clear() override;

  const std::vector<Entry>& entries() const { return entries_; }
  size_t size() const { return entries_.size(); }
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  void set(Value key, Value value);

  static constexpr size_t kEntryBytes = 96;  // what an entry takes, its place in the index included

 private:
  static constexpr size_t kSmall = 12;  // up to here a lookup compares with every key
  template <typename Key>
  const Entry* search(const Key& key) const;

  std::vector<Entry> entries_;
  std::map<Value, size_t, KeyBefore>
      index_;  // an order, not hashes: no keys can be chosen to make it slow
};

// keys(), values() or items() of a dict.
class ViewObject : public Object {
 public:
  enum class Part : uint8_t { keys, values, items };
  ViewObject(Value d, Part p) : dict(std::move(d)), part(p) {}
  void clear() override { dict = Value(); }
  Value dict;
  const Part part;
};

class RangeObject : public Object {
 public:
  RangeObject(int64_t a, int64_t b, int64_t c, int64_t n) : start(a), stop(b), step(c), size(n) {}
  const int64_t start, stop, step, size;
};

// namespace(): the one thing that a template can change.
class SpaceObject : public Object {
 public:
  void clear() override { attributes.clear(); }
  DictObject attributes;
};

// Whether a value may be a key.
//   errors   invalid (unhashable, or nested too deeply)
Result<void> check_hashable(const Value& value);

// New values. Each takes a step, and more for many bytes.
//   errors   invalid (a bound of the heap)
Result<Value> make_string(Heap& heap, Text text, bool safe = false);
Result<Value> make_string(Heap& heap, std::string_view bytes, Level level = Level::templ);
Result<Value> finish_string(Heap& heap, TextBuilder& builder, bool safe = false);
Result<Value> make_list(Heap& heap, std::vector<Value> items);
Result<Value> make_tuple(Heap& heap, std::vector<Value> items);
Result<Value> make_dict(Heap& heap, std::vector<DictObject::Entry> entries);
Result<Value> make_generator(Heap& heap, std::vector<Value> items);

}  // namespace mummu::jinja
