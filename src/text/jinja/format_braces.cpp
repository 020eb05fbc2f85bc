#include <algorithm>
#include <charconv>

#include "base/fail.h"
#include "text/jinja/escape.h"
#include "text/jinja/format.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

namespace {

bool is_integer(std::string_view text, int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() &&
         text.front() != '-';
}

//   source   The Python Standard Library, "Format String Syntax"
class BraceFormatter {
 public:
  BraceFormatter(Interpreter& in, const Value& format, const Arguments& arguments)
      : in_(in), arguments_(arguments), text_(format.text()), safe_(format.string().safe) {}

  Result<void> run(TextBuilder& out) { return expand(0, text_.size(), out, 2); }

  bool formatted() const { return formatted_; }
  Level highest() const { return highest_; }

 private:
  // Replaces the fields between two offsets; specs hold fields, too, one level down.
  Result<void> expand(size_t at, size_t end, TextBuilder& out, int levels) {
    if (levels == 0) return fail(Error::invalid, "max string recursion exceeded in a format");
    const std::string_view all = text_.view().substr(0, end);
    while (at < end) {
      const size_t brace = std::min(all.find_first_of("{}", at), end);
      out.add(text_, at, brace);
      if (brace == end) break;
      if (brace + 1 < end && all[brace + 1] == all[brace]) {
        out.add(text_, brace, brace + 1);
        at = brace + 2;
        continue;
      }
      if (all[brace] == '}') return fail(Error::invalid, "single '}}' in a format");
      MUMMU_TRY(const size_t close, field_end(all, brace + 1));
      MUMMU_TRY(field(brace + 1, close, out, levels));
      at = close + 1;
    }
    return {};
  }

  static Result<size_t> field_end(std::string_view all, size_t at) {
    for (int depth = 1; at < all.size(); ++at) {
      depth += all[at] == '{' ? 1 : all[at] == '}' ? -1 : 0;
      if (depth == 0) return at;
    }
    return fail(Error::invalid, "expected '}}' before end of a format");
  }

  Result<void> field(size_t from, size_t to, TextBuilder& out, int levels) {
    const std::string_view all = text_.view();
    const std::string_view whole = all.substr(from, to - from);
    size_t name_end = 0;  // brackets of an index may hold : and !
    for (bool in_index = false; name_end < whole.size(); ++name_end) {
      const char c = whole[name_end];
      if (c == '[') in_index = true;
      if (c == ']') in_index = false;
      if (!in_index && (c == ':' || c == '!')) break;
    }
    char conversion = '\0';
    size_t spec = name_end;
    if (spec < whole.size() && whole[spec] == '!') {
      if (spec + 1 >= whole.size()) return fail(Error::invalid, "unmatched '{{' in a format");
      conversion = whole[spec + 1];
      spec += 2;
      if (spec < whole.size() && whole[spec] != ':')
        return fail(Error::invalid, "expected ':' after conversion specifier");
    }
    MUMMU_TRY(Value value, lookup(whole.substr(0, name_end)));
    MUMMU_TRY(value, converted(value, conversion));
    if (spec >= whole.size()) return plain(value, out);
    TextBuilder expanded(in_.heap());
    MUMMU_TRY(expand(from + spec + 1, to, expanded, levels - 1));
    MUMMU_TRY(const Text final_spec, expanded.finish());
    if (final_spec.empty()) return plain(value, out);
    MUMMU_TRY(const std::string text, format_with_spec(in_, value, final_spec.view()));
    MUMMU_TRY(const Level level, highest_level(in_, value));
    formatted_ = true;
    highest_ = std::max({highest_, level, final_spec.highest()});
    out.add(text, Level::templ);
    return {};
  }

  Result<void> plain(const Value& value, TextBuilder& out) {
    MUMMU_TRY(const Level level, highest_level(in_, value));
    highest_ = std::max(highest_, level);
    return add_escaped(in_, out, value, safe_);
  }

  Result<Value> converted(const Value& value, char conversion) {
    if (conversion == '\0') return value;
    if (conversion == 's') return to_string(in_, value);
    if (conversion != 'r')
      return fail(Error::unsupported, "the conversion '{}' is unsupported", conversion);
    TextBuilder out(in_.heap());
    MUMMU_TRY(print_repr(in_, out, value));
    return finish_string(in_.heap(), out);
  }

  // name, name.attribute, name[index] and longer paths.
  Result<Value> lookup(std::string_view path) {
    const size_t name_end = std::min(path.find_first_of(".["), path.size());
    MUMMU_TRY(Value value, argument(path.substr(0, name_end)));
    path.remove_prefix(name_end);
    while (!path.empty()) {
      const bool attribute = path.front() == '.';
      const size_t end =
          attribute ? std::min(path.find_first_of(".[", 1), path.size()) : path.find(']');
      if (end == std::string_view::npos || end < 2)
        return fail(Error::invalid, "an empty attribute in a format");
      const std::string_view part = path.substr(1, end - 1);
      path.remove_prefix(attribute ? end : end + 1);
      int64_t index = 0;
      if (attribute) {
        MUMMU_TRY(value, in_.attribute(value, part, in_.names().find(part)));
      } else if (is_integer(part, index)) {
        MUMMU_TRY(value, in_.item(value, Value::integer(index)));
      } else {
        MUMMU_TRY(const Value key, make_string(in_.heap(), part));
        MUMMU_TRY(value, in_.item(value, key));
      }
      if (!path.empty() && path.front() != '.' && path.front() != '[') {
        return fail(Error::invalid, "only '.' or '[' may follow ']' in a format");
      }
    }
    return value;
  }

  Result<Value> argument(std::string_view name) {
    int64_t index = 0;
    if (name.empty()) {
      if (numbered_) return fail(Error::invalid, "automatic after manual numbering of fields");
      automatic_ = true;
      index = next_++;
    } else if (is_integer(name, index)) {
      if (automatic_) return fail(Error::invalid, "manual after automatic numbering of fields");
      numbered_ = true;
    } else {
      for (const NamedValue& named : arguments_.named) {
        if (named.name.view() == name) return named.value;
      }
      return fail(Error::invalid, "no value named {} for the format", quoted(name));
    }
    if (index < static_cast<int64_t>(arguments_.positional.size()))
      return arguments_.positional[static_cast<size_t>(index)];
    return fail(Error::invalid, "not enough arguments for the format");
  }

  Interpreter& in_;
  const Arguments& arguments_;
  const Text& text_;
  const bool safe_;
  int64_t next_ = 0;
  bool automatic_ = false, numbered_ = false;
  bool formatted_ = false;  // some field had a spec
  Level highest_ = Level::templ;
};

}  // namespace

Result<Value> format_braces(Interpreter& in, const Value& format, const Arguments& arguments) {
  TextBuilder out(in.heap());
  BraceFormatter formatter(in, format, arguments);
  MUMMU_TRY(formatter.run(out));
  if (!formatter.formatted()) return finish_string(in.heap(), out, format.string().safe);
  MUMMU_TRY(const Text text, out.finish());
  const Level level = std::max(formatter.highest(), format.text().highest());
  return make_string(in.heap(), Text(std::string(text.view()), level), format.string().safe);
}

}  // namespace mummu::jinja
