#pragma once

// How high the tree of an expression is: what a recursive walk over it needs of the stack.

#include "text/jinja/ast.h"

namespace mummu::jinja {

// The height of a node over its children: 1 for a leaf.
int height_of_node(const Expr::Node& node);

}  // namespace mummu::jinja
