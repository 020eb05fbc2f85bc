#include "text/pre_tokenizer.h"

#include <optional>

#include "text/byte_level.h"
#include "text/utf8.h"

namespace mummu {
namespace {

// Puts matches and the text between them together as a behaviour says. The pieces it sends are
// ranges of one text.
class SplitOutput {
 public:
  SplitOutput(Piece piece, Behavior behavior, PieceSink sink)
      : piece_(piece), behavior_(behavior), sink_(sink) {}

  void add(size_t begin, size_t end, bool match) {
    switch (behavior_) {
      case Behavior::removed:
        if (!match) send(begin, end);
        break;
      case Behavior::isolated:
        send(begin, end);
        break;
      case Behavior::contiguous:
        hold(begin, end, held_ && last_was_match_ == match);
        break;
      case Behavior::merged_with_previous:
        hold(begin, end, held_ && match && !last_was_match_);
        break;
      case Behavior::merged_with_next:
        hold(begin, end, held_ && last_was_match_ && !match);
        break;
    }
    last_was_match_ = match;
  }

  void finish() {
    if (held_) send(held_->first, held_->second);
    held_.reset();
  }

 private:
  // Keeps a range back, because what comes next may join it; first joins it to the one kept, or
  // sends that.
  void hold(size_t begin, size_t end, bool join) {
    if (join) {
      held_->second = end;
      return;
    }
    finish();
    held_ = {begin, end};
  }
  void send(size_t begin, size_t end) const {
    sink_({piece_.text.substr(begin, end - begin), piece_.first && begin == 0});
  }

  Piece piece_;
  Behavior behavior_;
  PieceSink sink_;
  std::optional<std::pair<size_t, size_t>> held_;
  bool last_was_match_ = false;
};

class Split final : public PreTokenizer {
 public:
  Split(std::unique_ptr<const Pattern> pattern, Behavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  void cut(Piece piece, PieceSink sink) const override {
    SplitOutput output(piece, behavior_, sink);
    size_t done = 0;
    for_each_match(*pattern_, piece.text, [&](size_t begin, size_t end) {
      if (done < begin) output.add(done, begin, invert_);
      output.add(begin, end, !invert_);
      done = end;
    });
    if (done < piece.text.size()) output.add(done, piece.text.size(), invert_);
    output.finish();
  }

 private:
  std::unique_ptr<const Pattern> pattern_;
  Behavior behavior_;
  bool invert_;
};

class PrefixSpace final : public PreTokenizer {
 public:
  void cut(Piece piece, PieceSink sink) const override {
    if (piece.text.starts_with(' ')) return sink(piece);
    const std::string text = " " + std::string(piece.text);
    sink({text, piece.first});
  }
};

class ByteCharacters final : public PreTokenizer {
 public:
  void cut(Piece piece, PieceSink sink) const override {
    std::string text;
    append_byte_level(text, piece.text);
    sink({text, piece.first});
  }
};

class ByteValues final : public PreTokenizer {
 public:
  void cut(Piece piece, PieceSink sink) const override {
    std::string bytes;
    append_bytes_of(bytes, piece.text);
    sink({bytes, piece.first});
  }
};

class Metaspace final : public PreTokenizer {
 public:
  Metaspace(std::string replacement, PrependScheme scheme, bool split)
      : replacement_(std::move(replacement)), scheme_(scheme), split_(split) {}

  void cut(Piece piece, PieceSink sink) const override {
    std::string text;
    for (const char c : piece.text) c == ' ' ? text += replacement_ : text += c;
    const bool prepend =
        scheme_ == PrependScheme::always || (scheme_ == PrependScheme::first && piece.first);
    if (prepend && !text.starts_with(replacement_)) text.insert(0, replacement_);
    if (!split_) return sink({text, piece.first});
    // Every replacement begins a piece, which the text behind it joins.
    const std::string_view view = text;
    for (size_t begin = 0; begin < view.size();) {
      const size_t skip = view.substr(begin).starts_with(replacement_) ? replacement_.size() : 0;
      const size_t end = std::min(view.find(replacement_, begin + skip), view.size());
      sink({view.substr(begin, end - begin), piece.first && begin == 0});
      begin = end;
    }
  }

 private:
  std::string replacement_;
  PrependScheme scheme_;
  bool split_;
};

class FixedLength final : public PreTokenizer {
 public:
  explicit FixedLength(size_t length) : length_(length) {}

  void cut(Piece piece, PieceSink sink) const override {
    for (size_t begin = 0; begin < piece.text.size();) {
      size_t end = begin;
      for (size_t count = 0; count < length_ && end < piece.text.size(); ++count)
        end += static_cast<size_t>(code_point_at(piece.text, end).size);
      sink({piece.text.substr(begin, end - begin), piece.first && begin == 0});
      begin = end;
    }
  }

 private:
  size_t length_;
};

}  // namespace

void cut_by_all(const PreTokenizers& steps, size_t from, Piece piece, PieceSink sink) {
  if (from == steps.size()) return sink(piece);
  steps[from]->cut(piece, [&](Piece part) { cut_by_all(steps, from + 1, part, sink); });
}

std::unique_ptr<const PreTokenizer> make_split(std::unique_ptr<const Pattern> pattern,
                                               Behavior behavior, bool invert) {
  return std::make_unique<Split>(std::move(pattern), behavior, invert);
}

std::unique_ptr<const PreTokenizer> make_prefix_space() { return std::make_unique<PrefixSpace>(); }

std::unique_ptr<const PreTokenizer> make_byte_characters() {
  return std::make_unique<ByteCharacters>();
}

std::unique_ptr<const PreTokenizer> make_byte_values() { return std::make_unique<ByteValues>(); }

std::unique_ptr<const PreTokenizer> make_metaspace(std::string replacement, PrependScheme scheme,
                                                   bool split) {
  return std::make_unique<Metaspace>(std::move(replacement), scheme, split);
}

std::unique_ptr<const PreTokenizer> make_fixed_length(size_t code_points) {
  return std::make_unique<FixedLength>(code_points);
}

}  // namespace mummu
