#include "base/fail.h"
#include "text/jinja/compare.h"
#include "text/jinja/depth.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/iterate.h"
#include "text/jinja/print.h"

namespace mummu::jinja {

Result<Interpreter::Flow> Interpreter::exec(const For& node, TextBuilder& out) {
  MUMMU_TRY(const Value items, eval(*node.items));
  MUMMU_TRY(loop(node, items, 0, scope_, out));
  return Flow::next;
}

Result<void> Interpreter::loop(const For& node, const Value& items, int depth, Ref<Scope> outer,
                               TextBuilder& out) {
  MUMMU_TRY(std::vector<Value> all, collect(*this, items));
  const size_t bytes = all.capacity() * sizeof(Value);
  const Value self(Kind::loop, make<LoopObject>(heap_, bytes, node, std::move(all), depth, outer));
  auto& state = self.object<LoopObject>();
  const int32_t loop_name = names().find("loop");
  const Ref<Scope> before = scope_;
  while (true) {
    MUMMU_TRY(Value value, advance(state));
    if (value.is_missing()) break;
    scope_ = make<Scope>(heap_, 0, outer);
    if (loop_name >= 0) scope_->set(loop_name, self);
    MUMMU_TRY(assign(node.target, std::move(value)));
    MUMMU_TRY(const Flow flow, exec(node.body, out));
    if (flow == Flow::break_loop) break;
  }
  if (state.index < 0) {
    scope_ = make<Scope>(heap_, 0, outer);
    MUMMU_TRY(exec(node.otherwise, out));
  }
  scope_ = before;
  return {};
}

// The next value that the loop's filter lets pass; missing at the end.
Result<Value> Interpreter::pull(LoopObject& loop) {
  while (loop.next < loop.items.size()) {
    MUMMU_TRY(heap_.step());
    Value value = loop.items[loop.next++];
    if (!loop.code.filter || loop.filtered) return value;
    Ref<Scope> scope = make<Scope>(heap_, 0, loop.outer);
    std::swap(scope_, scope);
    MUMMU_TRY(assign(loop.code.target, value));
    MUMMU_TRY(const Value passes, eval(*loop.code.filter));
    std::swap(scope_, scope);
    if (is_true(passes)) return value;
  }
  return Value();
}

// Looks one value ahead. False at the end.
Result<bool> Interpreter::peek(LoopObject& loop) {
  if (loop.ahead.is_missing()) {
    MUMMU_TRY(loop.ahead, pull(loop));
  }
  return !loop.ahead.is_missing();
}

Result<Value> Interpreter::advance(LoopObject& loop) {
  MUMMU_TRY(const bool more, peek(loop));
  if (!more) return Value();
  loop.previous = std::exchange(loop.current, std::exchange(loop.ahead, Value()));
  ++loop.index;
  return loop.current;
}

Result<int64_t> Interpreter::loop_length(const Value& value) {
  auto& loop = value.object<LoopObject>();
  if (loop.length >= 0) return loop.length;
  if (!loop.code.filter) return loop.length = static_cast<int64_t>(loop.items.size());
  // With a filter only running it to the end tells.
  std::vector<Value> rest;
  while (true) {
    MUMMU_TRY(const bool more, peek(loop));
    if (!more) break;
    rest.push_back(std::exchange(loop.ahead, Value()));
  }
  loop.length = loop.index + 1 + static_cast<int64_t>(rest.size());
  loop.items = std::move(rest);
  loop.next = 0;
  loop.filtered = true;
  return loop.length;
}

Result<void> Interpreter::print_loop(TextBuilder& out, const Value& value) {
  MUMMU_TRY(const int64_t length, loop_length(value));
  out.add(fmt::format("<LoopContext {}/{}>", value.object<LoopObject>().index + 1, length),
          Level::templ);
  return {};
}

Result<Value> Interpreter::loop_attribute(const Value& value, std::string_view name, bool& found) {
  auto& loop = value.object<LoopObject>();
  found = true;
  const auto absent = [](int32_t number) {
    return Value::undefined({number, Kind::missing, Absence::Reason::empty});
  };
  if (name == "index") return Value::integer(loop.index + 1);
  if (name == "index0") return Value::integer(loop.index);
  if (name == "first") return Value::boolean(loop.index == 0);
  if (name == "depth") return Value::integer(loop.depth + 1);
  if (name == "depth0") return Value::integer(loop.depth);
  if (name == "previtem") return loop.index == 0 ? absent(names().find(name)) : loop.previous;
  if (name == "last" || name == "nextitem") {
    MUMMU_TRY(const bool more, peek(loop));
    if (name == "last") return Value::boolean(!more);
    return more ? loop.ahead : absent(names().find(name));
  }
  if (name == "length" || name == "revindex" || name == "revindex0") {
    MUMMU_TRY(const int64_t length, loop_length(value));
    if (name == "length") return Value::integer(length);
    return Value::integer(length - loop.index - (name == "revindex0" ? 1 : 0));
  }
  found = false;
  return Value();
}

Result<Value> Interpreter::call_loop(const Value& value, Arguments& arguments) {
  auto& state = value.object<LoopObject>();
  if (!state.code.recursive)
    return fail(Error::invalid, "a loop called that is not marked as recursive");
  if (arguments.positional.size() != 1 || !arguments.named.empty()) {
    return fail(Error::invalid, "loop() takes one argument");
  }
  const Depth depth(calls_);
  if (calls_ > kMaxCalls) return fail(Error::invalid, "recursion more than {} deep", kMaxCalls);
  TextBuilder out(heap_);
  MUMMU_TRY(loop(state.code, arguments.positional[0], state.depth + 1, state.outer, out));
  return finish_string(heap_, out);
}

}  // namespace mummu::jinja
