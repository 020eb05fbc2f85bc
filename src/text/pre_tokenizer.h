#pragma once

// Cuts text into the pieces that a model sees one by one. A pre-tokenizer is a chain of steps, each
// of which cuts every piece of the step before. Immutable after it is built; any thread.
//   source   the component list of the tokenizer.json format; behaviour as in the Python package
//   tokenizers

#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "text/pattern.h"

namespace mummu {

struct Piece {
  std::string_view text;
  bool first = false;  // it begins where the whole text begins
};

// Where a step sends its pieces: a borrowed callable, no allocation.
class PieceSink {
 public:
  template <typename F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, PieceSink>)
  PieceSink(F&& f)  // NOLINT(google-explicit-constructor)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* object, Piece piece) {
          (*static_cast<std::remove_reference_t<F>*>(object))(piece);
        }) {}
  void operator()(Piece piece) const {
    if (!piece.text.empty()) call_(object_, piece);
  }

 private:
  void* object_;
  void (*call_)(void*, Piece);
};

class PreTokenizer {
 public:
  PreTokenizer() = default;
  PreTokenizer(const PreTokenizer&) = delete;
  PreTokenizer& operator=(const PreTokenizer&) = delete;
  virtual ~PreTokenizer() = default;

  // Sends the pieces of a piece, in order. They are borrowed: gone after the call.
  virtual void cut(Piece piece, PieceSink sink) const = 0;
};

using PreTokenizers = std::vector<std::unique_ptr<const PreTokenizer>>;

// Sends the pieces that all steps together make of a text.
void cut_by_all(const PreTokenizers& steps, size_t from, Piece piece, PieceSink sink);

// What becomes of the text that a pattern matches.
enum class Behavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

// Cuts where a pattern matches.
std::unique_ptr<const PreTokenizer> make_split(std::unique_ptr<const Pattern> pattern,
                                               Behavior behavior, bool invert);

// Writes a space before a piece that does not begin with one (ByteLevel's add_prefix_space).
std::unique_ptr<const PreTokenizer> make_prefix_space();

// Writes each byte as its printable character (text/byte_level.h).
std::unique_ptr<const PreTokenizer> make_byte_characters();

// The reverse: what follows sees raw bytes, which need not be whole code points.
std::unique_ptr<const PreTokenizer> make_byte_values();

// Writes spaces as another character, puts one in front where told, and cuts before each.
enum class PrependScheme { always, first, never };
std::unique_ptr<const PreTokenizer> make_metaspace(std::string replacement, PrependScheme scheme,
                                                   bool split);

// Cuts after every so many code points.
std::unique_ptr<const PreTokenizer> make_fixed_length(size_t code_points);

}  // namespace mummu
