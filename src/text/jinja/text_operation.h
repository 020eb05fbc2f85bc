#pragma once

// Operations on texts that filters and methods share. Each keeps the level of every byte that it
// keeps.

#include <functional>

#include "text/jinja/builtin.h"
#include "text/jinja/character.h"

namespace mummu::jinja {

// A part of a text as a value, marked as the whole is.
Result<Value> part_of(Heap& heap, const Value& string, size_t from, size_t to);

enum class Side : uint8_t { left, right, both };
// Without white space, or without the characters of `characters`, at its sides.
Result<Value> strip(Interpreter& in, const Value& string, Side side, const Value& characters);

// Every code point mapped. With `sigma`, a Σ that ends a word becomes ς.
enum class Case : uint8_t { upper, lower, folded, swapped, title, capital };
Result<Value> change_case(Heap& heap, const Value& string, Case to);

// Occurrences of `old` replaced, at most `count` (below 0: all).
Result<Value> replace(Interpreter& in, const Value& string, const Value& old, const Value& by,
                      int64_t count);

// The lines of a text, without their ends or with them.
Result<std::vector<Value>> split_lines(Heap& heap, const Value& string, bool keep_ends);

// Pieces between separators; none: between runs of white space. At most `limit` cuts (below 0:
// all), from the right or left.
Result<Value> split(Interpreter& in, const Value& string, const Value& separator, int64_t limit,
                    bool from_right);

// The items' texts with the separator between them.
Result<Value> join(Interpreter& in, const Value& separator, const std::vector<Value>& items);

// Filled up to a width with a character: `left` of the missing ones before it. The result has the
// highest level inside.
enum class Align : uint8_t { left, right, center };
Result<Value> pad(Interpreter& in, const Value& string, int64_t width, const Value& fill,
                  Align align);

}  // namespace mummu::jinja
