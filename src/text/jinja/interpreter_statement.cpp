#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/depth.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/print.h"

namespace mummu::jinja {

Interpreter::Interpreter(const Template& source, Heap& heap, int64_t now)
    : template_(source), heap_(heap), now_(now), constants_(source.constants) {
  const auto globals = make<Scope>(heap_, 0, Ref<Scope>());
  for (const FunctionInfo& function : functions()) {
    const int32_t name = source.names.find(function.name);
    if (name >= 0) globals->set(name, Value::function(function));
  }
  root_ = make<Scope>(heap_, 0, globals);
  scope_ = root_;
}

void Interpreter::define(std::string_view name, Value value) {
  const int32_t number = template_.names.find(name);
  if (number >= 0) root_->set(number, std::move(value));
}

Result<void> Interpreter::run(TextBuilder& out) {
  // What the template sets at its top level does not touch its variables' own scope, so `root_`
  // stays as given.
  scope_ = root_;
  MUMMU_TRY(exec(template_.body, out));
  return {};
}

Ref<Scope> Interpreter::inner_scope() { return make<Scope>(heap_, 0, scope_); }

Result<Interpreter::Flow> Interpreter::exec(const Block& block, TextBuilder& out) {
  const Depth depth(depth_);
  if (depth_ > kMaxDepth) return fail(Error::invalid, "nested more than {} deep", kMaxDepth);
  for (const Stmt& statement : block) {
    MUMMU_TRY(heap_.step());
    line_ = statement.line;
    MUMMU_TRY(const Flow flow,
              std::visit([&](const auto& node) { return exec(node, out); }, statement.node));
    if (flow != Flow::next) return flow;
    if (out.failed()) return out.finish().error();
  }
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::in_scope(const Block& block, Ref<Scope> scope,
                                                TextBuilder& out) {
  std::swap(scope_, scope);
  auto flow = exec(block, out);
  std::swap(scope_, scope);
  return flow;
}

Result<Value> Interpreter::block_text(const Block& block) {
  TextBuilder out(heap_);
  MUMMU_TRY(in_scope(block, inner_scope(), out));
  return finish_string(heap_, out);
}

Result<Interpreter::Flow> Interpreter::exec(const OutputText& node, TextBuilder& out) {
  out.add(node.text, Level::templ);
  MUMMU_TRY(heap_.work(node.text.size()));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::exec(const OutputValue& node, TextBuilder& out) {
  MUMMU_TRY(const Value value, eval(*node.value));
  MUMMU_TRY(print(*this, out, value));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::exec(const Print& node, TextBuilder& out) {
  for (const ExprPtr& expr : node.values) {
    MUMMU_TRY(const Value value, eval(*expr));
    MUMMU_TRY(print(*this, out, value));
  }
  return Flow::next;
}

Result<void> Interpreter::assign(const Target& target, Value value) {
  if (target.tuple) return assign_parts(target, value);
  if (target.attribute >= 0) return assign_attribute(target, std::move(value));
  scope_->set(target.name, std::move(value));
  return {};
}

Result<void> Interpreter::assign_parts(const Target& target, const Value& value) {
  line_ = target.line;
  MUMMU_TRY(Iterator all, Iterator::over(*this, value));
  std::vector<Value> items;
  for (size_t i = 0; i <= target.parts.size(); ++i) {
    MUMMU_TRY(Value item, all.next());
    if (item.is_missing()) break;
    items.push_back(std::move(item));
  }
  if (items.size() != target.parts.size()) {
    return fail(Error::invalid, "{} values expected for as many names", target.parts.size());
  }
  for (size_t i = 0; i < items.size(); ++i) MUMMU_TRY(assign(target.parts[i], std::move(items[i])));
  return {};
}

Result<void> Interpreter::assign_attribute(const Target& target, Value value) {
  line_ = target.line;
  const Value* owner = scope_->find(target.name);
  if (!owner || !owner->is(Kind::space)) {
    return fail(Error::invalid, "an attribute can be set only on a namespace, and '{}' is none",
                names().text(target.name));
  }
  const std::string_view name = names().text(target.attribute);
  if (name.starts_with('_'))
    return fail(Error::invalid, "a namespace cannot have the attribute '{}'", name);
  auto& space = owner->object<SpaceObject>();
  if (!space.attributes.find(name)) heap_.charge_object(space, DictObject::kEntryBytes);
  MUMMU_TRY(Value key, make_string(heap_, name));
  space.attributes.set(std::move(key), std::move(value));
  return {};
}

Result<Interpreter::Flow> Interpreter::exec(const SetValue& node, TextBuilder&) {
  MUMMU_TRY(Value value, eval(*node.value));
  MUMMU_TRY(assign(node.target, std::move(value)));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::exec(const SetBlock& node, TextBuilder&) {
  MUMMU_TRY(Value text, block_text(node.body));
  if (node.filter) {
    MUMMU_TRY(text, filter_text(node.filter, std::move(text)));
  }
  MUMMU_TRY(assign(node.target, std::move(text)));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::exec(const If& node, TextBuilder& out) {
  for (const IfBranch& branch : node.branches) {
    if (branch.test) {
      MUMMU_TRY(const Value test, eval(*branch.test));
      if (!is_true(test)) continue;
    }
    return exec(branch.body, out);
  }
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::exec(const Macro& node, TextBuilder&) {
  scope_->set(node.name, Value(Kind::macro, make<MacroObject>(heap_, 0, node, scope_)));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::exec(const CallBlock& node, TextBuilder& out) {
  const auto& call_node = std::get<CallOf>(node.call->node);
  MUMMU_TRY(const Value callee, eval(*call_node.callee));
  MUMMU_TRY(Arguments given, arguments(call_node.arguments));
  MUMMU_TRY(Value name, make_string(heap_, "caller"));
  given.named.push_back(
      {std::move(name), Value(Kind::macro, make<MacroObject>(heap_, 0, *node.caller, scope_))});
  MUMMU_TRY(const Value value, call(callee, given));
  MUMMU_TRY(print(*this, out, value));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::exec(const FilterBlock& node, TextBuilder& out) {
  MUMMU_TRY(Value text, block_text(node.body));
  MUMMU_TRY(text, filter_text(node.filter, std::move(text)));
  MUMMU_TRY(print(*this, out, text));
  return Flow::next;
}

Result<Interpreter::Flow> Interpreter::exec(const With& node, TextBuilder& out) {
  std::vector<Value> values;
  for (const auto& [target, expr] : node.values) {
    MUMMU_TRY(Value value, eval(*expr));
    values.push_back(std::move(value));
  }
  Ref<Scope> scope = inner_scope();
  std::swap(scope_, scope);
  for (size_t i = 0; i < values.size(); ++i)
    MUMMU_TRY(assign(node.values[i].first, std::move(values[i])));
  auto flow = exec(node.body, out);
  std::swap(scope_, scope);
  return flow;
}

Result<Interpreter::Flow> Interpreter::exec(const Scoped& node, TextBuilder& out) {
  return in_scope(node.body, inner_scope(), out);
}

}  // namespace mummu::jinja
