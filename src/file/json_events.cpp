#include "file/json_events.h"

#include <cstddef>
#include <exception>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/fail.h"
#include "file/quote.h"

namespace mummu {
namespace {

using nlohmann::json;

// Walks over the text and leaves in `seen` how far it came.
struct CountingIterator {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  const char* at = nullptr;
  const char** seen = nullptr;

  reference operator*() const { return *at; }
  CountingIterator& operator++() {
    *seen = ++at;
    return *this;
  }
  CountingIterator operator++(int) {
    const CountingIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const CountingIterator& other) const { return at == other.at; }
};

// The parser's message without its prefix and without the text that it last read, which may be
// long and is a stranger's.
std::string problem(std::string_view what) {
  if (const size_t at = what.find("syntax error"); at != what.npos) what.remove_prefix(at);
  what = what.substr(0, what.find("; last read"));
  if (const size_t at = what.find("] "); at != what.npos) what.remove_prefix(at + 2);
  return quote(what);
}

// Passes the parser's calls on, under a bound of depth; keeps the first error.
class Adapter {
 public:
  using number_integer_t = json::number_integer_t;
  using number_unsigned_t = json::number_unsigned_t;
  using number_float_t = json::number_float_t;
  using string_t = json::string_t;
  using binary_t = json::binary_t;

  Adapter(JsonEvents& events, int depth) : events_(events), depth_left_(depth) {}

  std::optional<Error> take_error() { return std::move(error_); }

  bool null() { return pass(events_.scalar(nullptr)); }
  bool boolean(bool value) { return pass(events_.scalar(value)); }
  bool number_integer(number_integer_t value) { return pass(events_.scalar(value)); }
  bool number_unsigned(number_unsigned_t value) { return pass(events_.scalar(value)); }
  bool number_float(number_float_t value, const string_t&) { return pass(events_.scalar(value)); }
  bool string(string_t& value) { return pass(events_.scalar(std::move(value))); }
  bool binary(binary_t&) { return false; }
  bool key(string_t& name) { return pass(events_.key(std::move(name))); }
  bool start_object(size_t) { return deeper() && pass(events_.begin_object()); }
  bool start_array(size_t) { return deeper() && pass(events_.begin_array()); }
  bool end_object() {
    ++depth_left_;
    return pass(events_.end_object());
  }
  bool end_array() {
    ++depth_left_;
    return pass(events_.end_array());
  }
  bool parse_error(size_t, const std::string&, const std::exception& exception) {
    return pass(fail(Error::corrupt, "not JSON: {}", problem(exception.what())));
  }

 private:
  bool pass(Result<void> result) {
    if (!result) error_ = std::move(result).error();
    return !error_;
  }
  bool deeper() {
    if (depth_left_-- > 0) return true;
    return pass(fail(Error::corrupt, "arrays and objects are nested too deeply"));
  }

  JsonEvents& events_;
  int depth_left_;
  std::optional<Error> error_;
};

}  // namespace

Result<void> parse_json_events(std::string_view text, std::string_view where, int depth,
                               JsonEvents& events) {
  // The parser takes a zero byte for the end of the text, and would not see what follows.
  if (const size_t zero = text.find('\0'); zero != text.npos) {
    return fail(Error::corrupt, "{}: at byte {}: not JSON: a zero byte", where, zero);
  }
  Adapter adapter(events, depth);
  const char* begin = text.data();
  const char* seen = begin;
  const bool whole = json::sax_parse(CountingIterator{begin, &seen},
                                     CountingIterator{begin + text.size(), &seen}, &adapter);
  if (whole) return {};
  const Error error = adapter.take_error().value_or(Error{Error::corrupt, "not JSON"});
  return fail(error.code, "{}: at byte {}: {}", where, seen - begin, error.message);
}

}  // namespace mummu
