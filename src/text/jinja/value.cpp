#include "text/jinja/value.h"

#include <cmath>

#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

Value Value::boolean(bool value) {
  Value out(Kind::boolean);
  out.data_.integer = value ? 1 : 0;
  return out;
}

Value Value::integer(int64_t value) {
  Value out(Kind::integer);
  out.data_.integer = value;
  return out;
}

Value Value::real(double value) {
  Value out(Kind::real);
  out.data_.real = value;
  return out;
}

Value Value::undefined(Absence absence) {
  Value out(Kind::undefined);
  out.data_.absence = absence;
  return out;
}

Value Value::function(const FunctionInfo& info) {
  Value out(Kind::function);
  out.data_.function = &info;
  return out;
}

const StringObject& Value::string() const { return object<StringObject>(); }
const Text& Value::text() const { return object<StringObject>().text; }
const std::vector<Value>& Value::items() const { return object<ListObject>().items; }
const DictObject& Value::dict() const { return object<DictObject>(); }

int64_t StringObject::points() const {
  if (points_ < 0) points_ = static_cast<int64_t>(code_points(text.view()));
  return points_;
}

void DictObject::clear() {
  index_.clear();
  entries_.clear();
}

namespace {

// Kinds whose values can equal one another share a rank.
int rank(const Value& value) {
  switch (value.kind()) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
      return 0;
    case Kind::string:
      return 1;
    case Kind::none:
      return 2;
    case Kind::undefined:
      return 3;
    case Kind::tuple:
      return 4;
    case Kind::big:
      return 5;
    default:
      return 6 + static_cast<int>(value.kind());
  }
}

bool tuple_before(const std::vector<Value>& a, const std::vector<Value>& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  const KeyBefore before;
  for (size_t i = 0; i < a.size(); ++i) {
    if (before(a[i], b[i])) return true;
    if (before(b[i], a[i])) return false;
  }
  return false;
}

constexpr int kMaxKeyParts =
    1000;  // values in one key: a tuple of tuples can name the same one again and again

Result<void> check_hashable(const Value& value, int depth, int& parts) {
  if (depth > 100 || ++parts > kMaxKeyParts) return fail(Error::invalid, "a key nested too deeply");
  switch (value.kind()) {
    case Kind::list:
      return fail(Error::invalid, "unhashable type: 'list'");
    case Kind::dict:
      return fail(Error::invalid, "unhashable type: 'dict'");
    case Kind::view:
      return fail(Error::invalid, "unhashable type: a view of a dict");
    case Kind::tuple:
      for (const Value& item : value.items()) MUMMU_TRY(check_hashable(item, depth + 1, parts));
      return {};
    default:
      return {};
  }
}

}  // namespace

Result<void> check_hashable(const Value& value) {
  int parts = 0;
  return check_hashable(value, 0, parts);
}

bool KeyBefore::operator()(const Value& a, const Value& b) const {
  if (const int left = rank(a), right = rank(b); left != right) return left < right;
  switch (a.kind()) {
    case Kind::boolean:
    case Kind::integer:
    case Kind::real:
      return number_order(a, b) < 0;
    case Kind::string:
      return a.view() < b.view();
    case Kind::none:
    case Kind::undefined:
      return false;
    case Kind::tuple:
      return tuple_before(a.items(), b.items());
    case Kind::big:
      return a.object<BigObject>().digits < b.object<BigObject>().digits;
    default:
      return a.identity() < b.identity();
  }
}

bool KeyBefore::operator()(const Value& a, std::string_view b) const {
  return a.is_string() ? a.view() < b : rank(a) < 1;
}

bool KeyBefore::operator()(std::string_view a, const Value& b) const {
  return b.is_string() ? a < b.view() : rank(b) > 1;
}

template <typename Key>
const DictObject::Entry* DictObject::search(const Key& key) const {
  if (!index_.empty()) {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &entries_[found->second];
  }
  const KeyBefore before;
  for (const Entry& entry : entries_) {
    if (!before(entry.first, key) && !before(key, entry.first)) return &entry;
  }
  return nullptr;
}

const Value* DictObject::find(const Value& key) const {
  if (key.is_string()) return find(key.view());
  const Entry* entry = search(key);
  return entry ? &entry->second : nullptr;
}

const Value* DictObject::find(std::string_view key) const {
  if (index_.empty()) {
    for (const Entry& entry : entries_) {
      if (entry.first.is_string() && entry.first.view() == key) return &entry.second;
    }
    return nullptr;
  }
  const Entry* entry = search(key);
  return entry ? &entry->second : nullptr;
}

void DictObject::set(Value key, Value value) {
  if (const Value* old = find(key)) {
    *const_cast<Value*>(old) = std::move(value);
    return;
  }
  entries_.emplace_back(std::move(key), std::move(value));
  if (entries_.size() < kSmall) return;
  for (size_t i = index_.size(); i < entries_.size(); ++i) index_.emplace(entries_[i].first, i);
}

Result<Value> make_string(Heap& heap, Text text, bool safe) {
  MUMMU_TRY(heap.work(text.size()));
  const size_t bytes = text.heap_bytes();
  return Value(Kind::string, make<StringObject>(heap, bytes, std::move(text), safe));
}

Result<Value> make_string(Heap& heap, std::string_view bytes, Level level) {
  if (bytes.size() > kMaxText)
    return fail(Error::invalid, "a text of more than {} MiB", kMaxText >> 20);
  return make_string(heap, Text(std::string(bytes), level));
}

Result<Value> finish_string(Heap& heap, TextBuilder& builder, bool safe) {
  MUMMU_TRY(Text text, builder.finish());
  return make_string(heap, std::move(text), safe);
}

namespace {
Result<Ref<ListObject>> make_items(Heap& heap, std::vector<Value> items) {
  const size_t bytes = items.capacity() * sizeof(Value);
  MUMMU_TRY(heap.work(bytes));
  return make<ListObject>(heap, bytes, std::move(items));
}
}  // namespace

Result<Value> make_list(Heap& heap, std::vector<Value> items) {
  MUMMU_TRY(auto list, make_items(heap, std::move(items)));
  return Value(Kind::list, list);
}

Result<Value> make_tuple(Heap& heap, std::vector<Value> items) {
  MUMMU_TRY(auto list, make_items(heap, std::move(items)));
  return Value(Kind::tuple, list);
}

Result<Value> make_dict(Heap& heap, std::vector<DictObject::Entry> entries) {
  const size_t bytes = entries.size() * DictObject::kEntryBytes;
  MUMMU_TRY(heap.work(bytes));
  auto dict = make<DictObject>(heap, bytes);
  for (auto& [key, value] : entries) {
    MUMMU_TRY(check_hashable(key));
    dict->set(std::move(key), std::move(value));
  }
  return Value(Kind::dict, dict);
}

Result<Value> make_generator(Heap& heap, std::vector<Value> items) {
  const size_t bytes = items.capacity() * sizeof(Value);
  MUMMU_TRY(heap.work(bytes));
  return Value(Kind::generator, make<GeneratorObject>(heap, bytes, std::move(items)));
}

}  // namespace mummu::jinja
