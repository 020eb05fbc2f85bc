#include "text/jinja/print.h"

#include "base/fail.h"
#include "text/jinja/character.h"
#include "text/jinja/depth.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/number.h"
#include "text/jinja/utf8.h"

namespace mummu::jinja {

std::string_view type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::missing:
      return "nothing";
    case Kind::undefined:
      return "Undefined";
    case Kind::none:
      return "NoneType";
    case Kind::boolean:
      return "bool";
    case Kind::integer:
    case Kind::big:
      return "int";
    case Kind::real:
      return "float";
    case Kind::string:
      return "str";
    case Kind::list:
      return "list";
    case Kind::tuple:
      return "tuple";
    case Kind::dict:
      return "dict";
    case Kind::view:
      return "dict view";
    case Kind::range:
      return "range";
    case Kind::generator:
      return "generator";
    case Kind::space:
      return "Namespace";
    case Kind::macro:
      return "Macro";
    case Kind::function:
      return "function";
    case Kind::method:
      return "method";
    case Kind::loop:
      return "LoopContext";
    case Kind::cycler:
      return "Cycler";
    case Kind::joiner:
      return "Joiner";
  }
  return "value";
}

namespace {

constexpr int kMaxDepth = 100;
constexpr Level kOwn = Level::templ;  // what the printing itself writes

// \n, \x07, \u200b: how repr writes a character that does not print.
//   source   The Python Language Reference, 2.4.1
std::string escape_of(char32_t point) {
  switch (point) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const auto value = static_cast<uint32_t>(point);
  if (value < 0x100) return fmt::format("\\x{:02x}", value);
  return value < 0x10000 ? fmt::format("\\u{:04x}", value) : fmt::format("\\U{:08x}", value);
}

// Single quotes, unless only they occur inside.
char quote_for(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  return single && text.find('"') == std::string_view::npos ? '"' : '\'';
}

// Calls plain(piece) and escaped(text) in turn.
template <typename Plain, typename Escaped>
void walk_repr(std::string_view text, char quote, Plain&& plain, Escaped&& escaped) {
  size_t start = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t before = at;
    const char32_t point = next_point(text, at);
    const bool marked = point == static_cast<char32_t>(quote) || point == '\\';
    if (!marked && is_printable(point)) continue;
    plain(text.substr(start, before - start));
    escaped(marked ? std::string{'\\', static_cast<char>(point)} : escape_of(point));
    start = at;
  }
  plain(text.substr(start));
}

class Printer {
 public:
  Printer(Interpreter& in, TextBuilder& out) : in_(in), out_(out) {}

  Result<void> print(const Value& value) {
    if (value.is_string()) {
      out_.add(value.text());
      return in_.heap().work(value.text().size());
    }
    if (value.is_undefined()) return {};
    return repr(value);
  }

  Result<void> repr(const Value& value) {
    MUMMU_TRY(in_.heap().step());
    if (depth_ > kMaxDepth) return fail(Error::invalid, "a printed value is nested too deeply");
    if (out_.failed()) return out_.finish().error();
    switch (value.kind()) {
      case Kind::undefined:
        own("Undefined");
        return {};
      case Kind::none:
        own("None");
        return {};
      case Kind::boolean:
        own(value.as_bool() ? "True" : "False");
        return {};
      case Kind::integer:
        own(fmt::format("{}", value.as_integer()));
        return {};
      case Kind::big:
        own(value.object<BigObject>().digits);
        return {};
      case Kind::real:
        own(format_real(value.as_real()));
        return {};
      case Kind::string:
        return string(value);
      case Kind::list:
        return items(value.items(), "[", "]");
      case Kind::tuple:
        return items(value.items(), "(", value.items().size() == 1 ? ",)" : ")");
      case Kind::dict:
        return dict(value.dict());
      case Kind::view:
        return view(value.object<ViewObject>());
      case Kind::range:
        own(range(value.object<RangeObject>()));
        return {};
      case Kind::space:
        return space(value.object<SpaceObject>());
      case Kind::loop:
        return in_.print_loop(out_, value);
      case Kind::macro:
        own(fmt::format("<Macro {}>", quoted(in_.macro_name(value))));
        return {};
      default:
        return fail(Error::unsupported, "the text of a {} is unsupported", type_name(value));
    }
  }

 private:
  void own(std::string_view text) { out_.add(text, kOwn); }

  Result<void> string(const Value& value) {
    MUMMU_TRY(in_.heap().work(value.text().size()));
    const std::string_view text = value.view();
    const char quote = quote_for(text);
    if (value.string().safe) own("Markup(");
    own({&quote, 1});
    size_t at = 0;
    const auto plain = [&](std::string_view piece) {
      out_.add(value.text(), at, at + piece.size());
      at += piece.size();
    };
    const auto escaped = [&](const std::string& escape) {
      out_.add(escape, value.text().level_at(at));
      next_point(text, at);
    };
    walk_repr(text, quote, plain, escaped);
    own({&quote, 1});
    if (value.string().safe) own(")");
    return {};
  }

  Result<void> items(const std::vector<Value>& items, std::string_view open,
                     std::string_view close) {
    const Depth depth(depth_);
    own(open);
    for (size_t i = 0; i < items.size(); ++i) {
      if (i > 0) own(", ");
      MUMMU_TRY(repr(items[i]));
    }
    own(close);
    return {};
  }

  Result<void> dict(const DictObject& dict) {
    const Depth depth(depth_);
    own("{");
    bool first = true;
    for (const auto& [key, value] : dict.entries()) {
      if (!std::exchange(first, false)) own(", ");
      MUMMU_TRY(repr(key));
      own(": ");
      MUMMU_TRY(repr(value));
    }
    own("}");
    return {};
  }

  Result<void> view(const ViewObject& view) {
    own(view.part == ViewObject::Part::keys     ? "dict_keys("
        : view.part == ViewObject::Part::values ? "dict_values("
                                                : "dict_items(");
    std::vector<Value> all;
    for (const auto& [key, value] : view.dict.dict().entries()) {
      if (view.part == ViewObject::Part::items) {
        MUMMU_TRY(Value pair, make_tuple(in_.heap(), {key, value}));
        all.push_back(std::move(pair));
      } else {
        all.push_back(view.part == ViewObject::Part::keys ? key : value);
      }
    }
    MUMMU_TRY(items(all, "[", "]"));
    own(")");
    return {};
  }

  Result<void> space(const SpaceObject& space) {
    own("<Namespace ");
    MUMMU_TRY(dict(space.attributes));
    own(">");
    return {};
  }

  static std::string range(const RangeObject& range) {
    if (range.step == 1) return fmt::format("range({}, {})", range.start, range.stop);
    return fmt::format("range({}, {}, {})", range.start, range.stop, range.step);
  }

  Interpreter& in_;
  TextBuilder& out_;
  int depth_ = 0;
};

}  // namespace

Result<void> print(Interpreter& in, TextBuilder& out, const Value& value) {
  return Printer(in, out).print(value);
}

Result<void> print_repr(Interpreter& in, TextBuilder& out, const Value& value) {
  return Printer(in, out).repr(value);
}

Result<Value> to_string(Interpreter& in, const Value& value) {
  if (value.is_string()) return value;
  TextBuilder out(in.heap());
  MUMMU_TRY(print(in, out, value));
  return finish_string(in.heap(), out);
}

Result<AsText> AsText::of(Interpreter& in, const Value& value) {
  MUMMU_TRY(Value text, to_string(in, value));
  return AsText(std::move(text));
}

std::string quoted(std::string_view text) {
  const char quote = quote_for(text);
  std::string out(1, quote);
  const auto add = [&](std::string_view piece) { out += piece; };
  walk_repr(text, quote, add, add);
  return out += quote;
}

}  // namespace mummu::jinja
