#pragma once

// The names that a place in a template sees, and the values that hold code: macros and loops.

#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/ast.h"

namespace mummu::jinja {

// One level of names; a lookup goes on to the parent. Macros keep the scope in which they were
// made.
class Scope : public Object {
 public:
  explicit Scope(Ref<Scope> outer) : parent_(std::move(outer)) {}
  void clear() override {
    values_.clear();
    parent_ = Ref<Scope>();
  }

  void set(int32_t name, Value value) {
    if (Value* old = own(name)) {
      *old = std::move(value);
      return;
    }
    values_.emplace_back(name, std::move(value));
    if (values_.size() < kSmall) return;
    for (size_t i = index_.size(); i < values_.size(); ++i) index_.emplace(values_[i].first, i);
  }

  // The value of a name here or further out; null if nobody set it.
  const Value* find(int32_t name) const {
    for (const Scope* scope = this; scope; scope = scope->parent_.get()) {
      if (const Value* value = const_cast<Scope*>(scope)->own(name)) return value;
    }
    return nullptr;
  }

 private:
  static constexpr size_t kSmall = 48;  // up to here a lookup compares with every name

  Value* own(int32_t name) {
    if (!index_.empty()) {
      const auto found = index_.find(name);
      return found == index_.end() ? nullptr : &values_[found->second].second;
    }
    for (auto& [known, value] : values_) {
      if (known == name) return &value;
    }
    return nullptr;
  }

  std::vector<std::pair<int32_t, Value>> values_;
  std::unordered_map<int32_t, size_t> index_;  // places in values_, once there are many
  Ref<Scope> parent_;
};

class MacroObject : public Object {
 public:
  MacroObject(const Macro& c, Ref<Scope> s) : code(c), scope(std::move(s)) {}
  void clear() override { scope = Ref<Scope>(); }
  const Macro& code;
  Ref<Scope> scope;
};

// `loop` inside a for block.
class LoopObject : public Object {
 public:
  LoopObject(const For& c, std::vector<Value> v, int d, Ref<Scope> o)
      : code(c), items(std::move(v)), depth(d), outer(std::move(o)) {}
  void clear() override {
    items.clear();
    previous = current = ahead = changed = Value();
    outer = Ref<Scope>();
  }

  const For& code;
  std::vector<Value> items;
  size_t next = 0;      // in items: the first that nobody has looked at
  int64_t index = -1;   // of the current value among those that the loop's filter lets pass
  int64_t length = -1;  // -1: not counted yet
  Value previous, current;
  Value ahead;            // the next value, if somebody asked for it
  Value changed;          // what loop.changed() saw last
  bool filtered = false;  // items have already passed the loop's filter
  const int depth;        // 0 outermost
  Ref<Scope> outer;
};

// A method of a value, called or not.
class MethodObject : public Object {
 public:
  MethodObject(Value o, const BuiltinInfo& i) : owner(std::move(o)), info(i) {}
  void clear() override { owner = Value(); }
  Value owner;
  const BuiltinInfo& info;
};

class CyclerObject : public Object {
 public:
  explicit CyclerObject(std::vector<Value> v) : items(std::move(v)) {}
  void clear() override { items.clear(); }
  std::vector<Value> items;
  size_t at = 0;
};

class JoinerObject : public Object {
 public:
  explicit JoinerObject(Value s) : separator(std::move(s)) {}
  void clear() override { separator = Value(); }
  Value separator;
  bool used = false;
};

}  // namespace mummu::jinja
