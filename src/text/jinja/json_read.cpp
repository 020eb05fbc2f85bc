#include "text/jinja/json_read.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "base/fail.h"
#include "text/jinja/number.h"

namespace mummu::jinja {

namespace {

// Takes the parser's events; the parser itself does not recurse.
class Reader : public nlohmann::json_sax<nlohmann::json> {
 public:
  Reader(Heap& heap, Level level) : heap_(heap), level_(level) {}

  Value take() { return std::move(out_); }
  const std::optional<Error>& error() const { return error_; }

  bool null() override { return put(Value::none()); }
  bool boolean(bool value) override { return put(Value::boolean(value)); }
  bool number_integer(number_integer_t value) override { return put(Value::integer(value)); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= static_cast<uint64_t>(INT64_MAX))
      return put(Value::integer(static_cast<int64_t>(value)));
    return big(fmt::format("{}", value));
  }
  bool number_float(number_float_t value, const string_t& text) override {
    if (text.find_first_of(".eE") != std::string::npos) return put(Value::real(value));
    return big(text);  // an integer too large for the parser
  }
  bool string(string_t& value) override {
    auto made = make_string(heap_, Text(std::move(value), level_));
    return made ? put(*std::move(made)) : failed(made.error());
  }
  bool binary(binary_t&) override { return failed(fail(Error::invalid, "binary data")); }

  bool start_object(size_t) override { return open(true); }
  bool start_array(size_t) override { return open(false); }
  bool key(string_t& value) override {
    auto made = make_string(heap_, Text(std::move(value), level_));
    if (!made) return failed(made.error());
    open_.back().key = *std::move(made);
    return true;
  }
  bool end_object() override {
    Container done = close();
    auto made = make_dict(heap_, std::move(done.entries));
    return made ? put(*std::move(made)) : failed(made.error());
  }
  bool end_array() override {
    Container done = close();
    auto made = make_list(heap_, std::move(done.items));
    return made ? put(*std::move(made)) : failed(made.error());
  }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) override {
    return failed(fail(Error::invalid, "not JSON at byte {}", position > 0 ? position - 1 : 0));
  }

 private:
  struct Container {
    bool object = false;
    Value key;
    std::vector<Value> items;
    std::vector<DictObject::Entry> entries;
  };

  bool failed(Error error) {
    if (!error_) error_ = std::move(error);
    return false;
  }
  bool big(std::string digits) {
    if (auto fits = check_big_digits(digits); !fits) return failed(fits.error());
    const size_t bytes = digits.size();
    return put(Value(Kind::big, make<BigObject>(heap_, bytes, std::move(digits))));
  }
  bool open(bool object) {
    if (open_.size() >= kMaxJsonDepth)
      return failed(fail(Error::invalid, "nested more than {} deep", kMaxJsonDepth));
    open_.push_back({});
    open_.back().object = object;
    return true;
  }
  Container close() {
    Container out = std::move(open_.back());
    open_.pop_back();
    return out;
  }
  bool put(Value value) {
    if (open_.empty()) {
      out_ = std::move(value);
    } else if (open_.back().object) {
      open_.back().entries.emplace_back(std::move(open_.back().key), std::move(value));
    } else {
      open_.back().items.push_back(std::move(value));
    }
    return true;
  }

  Heap& heap_;
  const Level level_;
  std::vector<Container> open_;
  Value out_;
  std::optional<Error> error_;
};

}  // namespace

Result<Value> read_json(Heap& heap, std::string_view json, std::string_view what, Level level) {
  Reader reader(heap, level);
  const bool complete = nlohmann::json::sax_parse(json, &reader);
  if (reader.error()) return fail(reader.error()->code, "{}: {}", what, reader.error()->message);
  if (!complete) return fail(Error::invalid, "{}: not JSON", what);
  return reader.take();
}

}  // namespace mummu::jinja
