#include "text/normalizer.h"

#include <utility>

#include "text/byte_level.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace mummu {
namespace {

// Rewrites code point by code point: `rewrite(code, out)` appends what becomes of one.
template <typename F>
bool rewrite_each(std::string_view text, std::string& out, const F& rewrite) {
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const CodePoint code = code_point_at(text, at);
    rewrite(code.value, out);
    at += static_cast<size_t>(code.size);
  }
  if (out != text) return true;
  out.clear();
  return false;
}

class Lowercase final : public Normalizer {
 public:
  bool apply(std::string_view text, std::string& out) const override {
    return rewrite_each(text, out, [](char32_t code, std::string& to) { append_lower(to, code); });
  }
};

// Drops code points of some classes.
class Drop final : public Normalizer {
 public:
  explicit Drop(uint16_t flags) : flags_(flags) {}
  bool apply(std::string_view text, std::string& out) const override {
    return rewrite_each(text, out, [this](char32_t code, std::string& to) {
      if (!unicode_is(code, flags_)) append_utf8(to, code);
    });
  }

 private:
  uint16_t flags_;
};

class Strip final : public Normalizer {
 public:
  Strip(bool left, bool right) : left_(left), right_(right) {}
  bool apply(std::string_view text, std::string& out) const override {
    size_t begin = 0, end = text.size();
    while (left_ && begin < end && space_at(text, begin))
      begin += static_cast<size_t>(code_point_at(text, begin).size);
    while (right_ && end > begin && space_at(text, code_point_before(text, end)))
      end = code_point_before(text, end);
    if (end - begin == text.size()) return false;
    out = text.substr(begin, end - begin);
    return true;
  }

 private:
  static bool space_at(std::string_view text, size_t at) {
    return unicode_is(code_point_at(text, at).value, unicode::kSpace);
  }
  bool left_, right_;
};

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string text) : text_(std::move(text)) {}
  bool apply(std::string_view text, std::string& out) const override {
    if (text.empty() || text_.empty()) return false;
    out = text_;
    out += text;
    return true;
  }

 private:
  std::string text_;
};

class Replace final : public Normalizer {
 public:
  Replace(std::unique_ptr<const Pattern> pattern, std::string text)
      : pattern_(std::move(pattern)), text_(std::move(text)) {}
  bool apply(std::string_view text, std::string& out) const override {
    size_t at = 0;
    bool any = false;
    for_each_match(*pattern_, text, [&](size_t begin, size_t end) {
      out += text.substr(at, begin - at);
      out += text_;
      at = end;
      any = true;
    });
    if (!any) return false;
    out += text.substr(at);
    return true;
  }

 private:
  std::unique_ptr<const Pattern> pattern_;
  std::string text_;
};

class ByteCharacters final : public Normalizer {
 public:
  bool apply(std::string_view text, std::string& out) const override {
    append_byte_level(out, text);
    return !text.empty();
  }
};

class Nmt final : public Normalizer {
 public:
  bool apply(std::string_view text, std::string& out) const override {
    return rewrite_each(text, out, [](char32_t code, std::string& to) {
      if (dropped(code)) return;
      append_utf8(to, blank(code) ? U' ' : code);
    });
  }

 private:
  //   source   tokenizers' normalizers/unicode.rs, do_nmt
  static bool dropped(char32_t c) {
    return (c >= 0x1 && c <= 0x8) || c == 0xb || (c >= 0xe && c <= 0x1f) || c == 0x7f ||
           c == 0x8f || c == 0x9f;
  }
  static bool blank(char32_t c) {
    return c == 0x9 || c == 0xa || c == 0xc || c == 0xd || c == 0x1680 ||
           (c >= 0x200b && c <= 0x200f) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
           c == 0xfeff || c == 0xfffd;
  }
};

// The steps of BERT's normalizer, each over the result of the one before.
class Bert final : public Normalizer {
 public:
  explicit Bert(const BertNormalizerOptions& options) : options_(options) {
    if (options_.strip_accents) {
      strip_.push_back(make_normal_form(NormalForm::nfd));
      strip_.push_back(std::make_unique<Drop>(unicode::kBertAccent));
    }
  }
  bool apply(std::string_view text, std::string& out) const override {
    const bool changed =
        rewrite_each(text, out, [this](char32_t code, std::string& to) { clean(code, to); });
    if (!changed) out = text;
    bool any = changed;
    if (normalize_by_all(strip_, out)) any = true;
    if (options_.lowercase) {
      std::string lower;
      if (Lowercase().apply(out, lower)) {
        out = std::move(lower);
        any = true;
      }
    }
    if (!any) out.clear();
    return any;
  }

 private:
  void clean(char32_t code, std::string& out) const {
    const uint16_t flags = unicode_flags(code);
    if (options_.clean_text) {
      if (flags & unicode::kBertRemoved) return;
      if (flags & unicode::kBertSpace) code = ' ';
    }
    const bool apart = options_.handle_chinese_chars && (flags & unicode::kBertChinese);
    if (apart) out += ' ';
    append_utf8(out, code);
    if (apart) out += ' ';
  }

  BertNormalizerOptions options_;
  Normalizers strip_;
};

}  // namespace

bool normalize_by_all(const Normalizers& steps, std::string& text) {
  bool changed = false;
  for (const auto& step : steps) {
    std::string out;
    if (!step->apply(text, out)) continue;
    text = std::move(out);
    changed = true;
  }
  return changed;
}

std::unique_ptr<const Normalizer> make_lowercase() { return std::make_unique<Lowercase>(); }

std::unique_ptr<const Normalizer> make_strip_accents() {
  return std::make_unique<Drop>(unicode::kCombining);
}

std::unique_ptr<const Normalizer> make_strip(bool left, bool right) {
  return std::make_unique<Strip>(left, right);
}

std::unique_ptr<const Normalizer> make_prepend(std::string text) {
  return std::make_unique<Prepend>(std::move(text));
}

std::unique_ptr<const Normalizer> make_replace(std::unique_ptr<const Pattern> pattern,
                                               std::string text) {
  return std::make_unique<Replace>(std::move(pattern), std::move(text));
}

std::unique_ptr<const Normalizer> make_byte_characters_normalizer() {
  return std::make_unique<ByteCharacters>();
}

std::unique_ptr<const Normalizer> make_bert_normalizer(const BertNormalizerOptions& options) {
  return std::make_unique<Bert>(options);
}

std::unique_ptr<const Normalizer> make_nmt() { return std::make_unique<Nmt>(); }

}  // namespace mummu
