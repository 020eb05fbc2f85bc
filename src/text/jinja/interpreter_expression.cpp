#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/depth.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/operators.h"
#include "text/jinja/print.h"
#include "text/jinja/slice.h"

namespace mummu::jinja {

Result<Value> Interpreter::eval(const Expr& expr) {
  const Depth depth(depth_);
  if (depth_ > kMaxDepth) return fail(Error::invalid, "nested more than {} deep", kMaxDepth);
  MUMMU_TRY(heap_.step());
  line_ = expr.line;
  return std::visit([this](const auto& node) { return eval(node); }, expr.node);
}

Result<Value> Interpreter::eval(const ConstantLiteral& node) {
  Value& constant = constants_[node.index];
  if (!constant.is_missing()) return constant;
  if (node.big) {
    constant = Value(Kind::big, make<BigObject>(heap_, node.text.size(), node.text));
  } else {
    MUMMU_TRY(constant, make_string(heap_, node.text));
  }
  return constant;
}

Result<Value> Interpreter::eval(const NameLoad& node) {
  if (const Value* value = scope_->find(node.name)) return *value;
  const std::string_view name = names().text(node.name);
  if (name == "self" || name == "super" || name == "lipsum") {
    return fail(Error::unsupported, "'{}' is unsupported", name);
  }
  return Value::undefined({node.name, Kind::missing, Absence::Reason::name});
}

Result<Value> Interpreter::eval(const ListDisplay& node) {
  std::vector<Value> items;
  items.reserve(node.items.size());
  for (const ExprPtr& item : node.items) {
    MUMMU_TRY(Value value, eval(*item));
    items.push_back(std::move(value));
  }
  return node.tuple ? make_tuple(heap_, std::move(items)) : make_list(heap_, std::move(items));
}

Result<Value> Interpreter::eval(const DictDisplay& node) {
  std::vector<DictObject::Entry> entries;
  entries.reserve(node.entries.size());
  for (const auto& [key_expr, value_expr] : node.entries) {
    MUMMU_TRY(Value key, eval(*key_expr));
    MUMMU_TRY(Value value, eval(*value_expr));
    entries.emplace_back(std::move(key), std::move(value));
  }
  return make_dict(heap_, std::move(entries));
}

Result<Value> Interpreter::eval(const Attribute& node) {
  MUMMU_TRY(const Value owner, eval(*node.owner));
  return attribute(owner, names().text(node.name), node.name);
}

Result<Value> Interpreter::eval(const Subscript& node) {
  MUMMU_TRY(const Value owner, eval(*node.owner));
  MUMMU_TRY(const Value index, eval(*node.index));
  return item(owner, index);
}

Result<Value> Interpreter::optional(const ExprPtr& expr) {
  return expr ? eval(*expr) : Value::none();
}

Result<Value> Interpreter::eval(const SliceOf& node) {
  MUMMU_TRY(const Value owner, eval(*node.owner));
  MUMMU_TRY(const Value start, optional(node.start));
  MUMMU_TRY(const Value stop, optional(node.stop));
  MUMMU_TRY(const Value step, optional(node.step));
  return slice_of(*this, owner, start, stop, step);
}

Result<Arguments> Interpreter::arguments(const CallArguments& given) {
  Arguments out;
  out.positional.reserve(given.positional.size());
  for (const ExprPtr& expr : given.positional) {
    MUMMU_TRY(Value value, eval(*expr));
    out.positional.push_back(std::move(value));
  }
  for (const Keyword& keyword : given.keywords) {
    MUMMU_TRY(Value name, make_string(heap_, names().text(keyword.name)));
    MUMMU_TRY(Value value, eval(*keyword.value));
    out.named.push_back({std::move(name), std::move(value)});
  }
  if (given.more_positional) {
    MUMMU_TRY(const Value more, eval(*given.more_positional));
    MUMMU_TRY(std::vector<Value> items, collect(*this, more));
    for (Value& item : items) out.positional.push_back(std::move(item));
  }
  if (!given.more_keywords) return out;
  MUMMU_TRY(const Value more, eval(*given.more_keywords));
  if (!more.is(Kind::dict))
    return fail(Error::invalid, "a dict expected after **, not {}", type_name(more));
  for (const auto& [name, value] : more.dict().entries()) {
    if (!name.is_string()) return fail(Error::invalid, "keywords must be strings");
    for (const NamedValue& known : out.named) {
      if (known.name.view() == name.view())
        return fail(Error::invalid, "the argument '{}' is given twice", name.view());
    }
    MUMMU_TRY(heap_.step(1 + static_cast<int64_t>(out.named.size() / 16)));
    out.named.push_back({name, value});
  }
  return out;
}

Result<Value> Interpreter::eval(const CallOf& node) {
  const int line = line_;
  MUMMU_TRY(const Value callee, eval(*node.callee));
  MUMMU_TRY(Arguments given, arguments(node.arguments));
  line_ = line;
  return call(callee, given);
}

Result<Value> Interpreter::filtered(const FilterOf& node, const Value& value) {
  const int line = line_;
  MUMMU_TRY(Arguments given, arguments(node.arguments));
  line_ = line;
  if (!node.filter) return fail(Error::unsupported, "the filter '{}' is unsupported", node.name);
  return call_builtin(*this, *node.filter, value, given);
}

Result<Value> Interpreter::eval(const FilterOf& node) {
  const int line = line_;
  MUMMU_TRY(const Value value, eval(*node.value));
  line_ = line;
  return filtered(node, value);
}

// Applies a chain of filters whose innermost has no value of its own.
Result<Value> Interpreter::filter_text(const ExprPtr& filter, Value text) {
  const Depth depth(depth_);
  const auto& node = std::get<FilterOf>(filter->node);
  if (node.value) {
    MUMMU_TRY(text, filter_text(node.value, std::move(text)));
  }
  line_ = filter->line;
  return filtered(node, text);
}

Result<Value> Interpreter::eval(const TestOf& node) {
  const int line = line_;
  MUMMU_TRY(const Value value, eval(*node.value));
  MUMMU_TRY(Arguments given, arguments(node.arguments));
  line_ = line;
  if (!node.test) return fail(Error::unsupported, "the test '{}' is unsupported", node.name);
  return call_builtin(*this, *node.test, value, given);
}

Result<Value> Interpreter::eval(const Unary& node) {
  MUMMU_TRY(const Value value, eval(*node.value));
  return apply(*this, node.op, value);
}

Result<Value> Interpreter::eval(const Binary& node) {
  const int line = line_;
  MUMMU_TRY(Value out, eval(*node.first));
  for (const auto& [op, expr] : node.rest) {
    MUMMU_TRY(const Value right, eval(*expr));
    line_ = line;
    MUMMU_TRY(out, apply(*this, op, out, right));
  }
  return out;
}

Result<Value> Interpreter::eval(const Concat& node) {
  TextBuilder out(heap_);
  for (const ExprPtr& part : node.parts) {
    MUMMU_TRY(const Value value, eval(*part));
    MUMMU_TRY(print(*this, out, value));
  }
  return finish_string(heap_, out);
}

Result<bool> Interpreter::compare(CompareOp op, const Value& a, const Value& b) {
  switch (op) {
    case CompareOp::equal:
      return equal(*this, a, b);
    case CompareOp::unequal: {
      MUMMU_TRY(const bool same, equal(*this, a, b));
      return !same;
    }
    case CompareOp::less:
      return less(*this, a, b);
    case CompareOp::greater:
      return less(*this, b, a);
    case CompareOp::less_equal:
      return less_or_equal(*this, a, b);
    case CompareOp::greater_equal:
      return less_or_equal(*this, b, a);
    case CompareOp::in:
      return contains(*this, b, a);
    case CompareOp::not_in:
      break;
  }
  MUMMU_TRY(const bool inside, contains(*this, b, a));
  return !inside;
}

Result<Value> Interpreter::eval(const Compare& node) {
  const int line = line_;
  MUMMU_TRY(Value left, eval(*node.first));
  for (const auto& [op, expr] : node.rest) {
    MUMMU_TRY(Value right, eval(*expr));
    line_ = line;
    MUMMU_TRY(const bool holds, compare(op, left, right));
    if (!holds) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Result<Value> Interpreter::eval(const Logic& node) {
  Value out;
  for (const ExprPtr& operand : node.operands) {
    MUMMU_TRY(out, eval(*operand));
    if (is_true(out) != node.conjunction) return out;
  }
  return out;
}

Result<Value> Interpreter::eval(const Conditional& node) {
  MUMMU_TRY(const Value test, eval(*node.test));
  if (is_true(test)) return eval(*node.yes);
  if (node.no) return eval(*node.no);
  return Value::undefined({-1, Kind::missing, Absence::Reason::no_else});
}

}  // namespace mummu::jinja
