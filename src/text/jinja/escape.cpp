#include "text/jinja/escape.h"

#include "text/jinja/interpreter.h"
#include "text/jinja/print.h"

namespace mummu::jinja {

namespace {

std::string_view entity_of(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '\'':
      return "&#39;";
    case '"':
      return "&#34;";
    default:
      return {};
  }
}

void add_entities(TextBuilder& out, const Text& text) {
  text.for_runs(0, text.size(), [&](std::string_view piece, Level level) {
    size_t start = 0;
    for (size_t i = 0; i < piece.size(); ++i) {
      const std::string_view entity = entity_of(piece[i]);
      if (entity.empty()) continue;
      out.add(piece.substr(start, i - start), level);
      out.add(entity, level);
      start = i + 1;
    }
    out.add(piece.substr(start), level);
  });
}

}  // namespace

Result<void> add_escaped(Interpreter& in, TextBuilder& out, const Value& value, bool escape) {
  MUMMU_TRY(const AsText text, AsText::of(in, value));
  if (escape && !text.safe()) {
    add_entities(out, text.text());
  } else {
    out.add(text.text());
  }
  return in.heap().work(text.text().size());
}

Result<Value> escaped(Interpreter& in, const Value& value) {
  if (value.is_string() && value.string().safe) return value;
  TextBuilder out(in.heap());
  MUMMU_TRY(add_escaped(in, out, value, true));
  return finish_string(in.heap(), out, true);
}

}  // namespace mummu::jinja
