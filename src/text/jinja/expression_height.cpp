#include "text/jinja/expression_height.h"

#include <algorithm>

namespace mummu::jinja {

namespace {

int height_of(const ExprPtr& expr) { return expr ? expr->height : 0; }

int height_of(const CallArguments& arguments) {
  int out = std::max(height_of(arguments.more_positional), height_of(arguments.more_keywords));
  for (const ExprPtr& value : arguments.positional) out = std::max(out, height_of(value));
  for (const Keyword& keyword : arguments.keywords) out = std::max(out, height_of(keyword.value));
  return out;
}

// The height of the highest child of a node.
struct ChildHeight {
  template <typename Leaf>
  int operator()(const Leaf&) const {
    return 0;
  }
  int operator()(const ListDisplay& n) const { return of(n.items); }
  int operator()(const DictDisplay& n) const {
    int out = 0;
    for (const auto& [key, value] : n.entries)
      out = std::max({out, height_of(key), height_of(value)});
    return out;
  }
  int operator()(const Attribute& n) const { return height_of(n.owner); }
  int operator()(const Subscript& n) const {
    return std::max(height_of(n.owner), height_of(n.index));
  }
  int operator()(const SliceOf& n) const {
    return std::max({height_of(n.owner), height_of(n.start), height_of(n.stop), height_of(n.step)});
  }
  int operator()(const CallOf& n) const {
    return std::max(height_of(n.callee), height_of(n.arguments));
  }
  int operator()(const FilterOf& n) const {
    return std::max(height_of(n.value), height_of(n.arguments));
  }
  int operator()(const TestOf& n) const {
    return std::max(height_of(n.value), height_of(n.arguments));
  }
  int operator()(const Unary& n) const { return height_of(n.value); }
  int operator()(const Binary& n) const { return chain(n); }
  int operator()(const Compare& n) const { return chain(n); }
  int operator()(const Concat& n) const { return of(n.parts); }
  int operator()(const Logic& n) const { return of(n.operands); }
  int operator()(const Conditional& n) const {
    return std::max({height_of(n.test), height_of(n.yes), height_of(n.no)});
  }

  static int of(const std::vector<ExprPtr>& children) {
    int out = 0;
    for (const ExprPtr& child : children) out = std::max(out, height_of(child));
    return out;
  }
  template <typename Chain>
  static int chain(const Chain& n) {
    int out = height_of(n.first);
    for (const auto& [op, value] : n.rest) out = std::max(out, height_of(value));
    return out;
  }
};

}  // namespace

int height_of_node(const Expr::Node& node) { return 1 + std::visit(ChildHeight{}, node); }

}  // namespace mummu::jinja
