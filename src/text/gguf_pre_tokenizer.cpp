#include "text/gguf_pre_tokenizer.h"

#include <algorithm>

#include "base/fail.h"
#include "text/unicode.h"

namespace mummu {
namespace {

// How a family cuts.
enum class Cut { words, digits_then_words, falcon, deepseek_coder, deepseek_llm, deepseek_v3 };

struct Named {
  std::string_view name;
  Cut cut = Cut::words;
  std::string_view expression = kGpt2Expression;
  bool nfc = false;
  bool ignore_merges = false;
  bool add_bos = false;
};

//   source   the tokenizer.json of a public model of each family
constexpr Named kNamed[] = {
    {.name = "gpt-2"},
    {.name = "smollm", .cut = Cut::digits_then_words},
    {.name = "starcoder", .cut = Cut::digits_then_words},
    {.name = "refact", .cut = Cut::digits_then_words},
    {.name = "command-r", .cut = Cut::digits_then_words, .nfc = true},
    {.name = "olmo", .nfc = true},
    {.name = "mpt", .nfc = true},
    {.name = "qwen2", .expression = kQwen2Expression, .nfc = true},
    {.name = "deepseek-r1-qwen", .expression = kQwen2Expression, .nfc = true},
    {.name = "qwen35", .expression = kQwen35Expression, .nfc = true},
    {.name = "llama-bpe", .expression = kLlama3Expression, .ignore_merges = true, .add_bos = true},
    {.name = "lfm2", .expression = kLlama3Expression, .ignore_merges = true, .add_bos = true},
    {.name = "dbrx", .expression = kLlama3Expression},
    {.name = "falcon", .cut = Cut::falcon},
    {.name = "deepseek-coder", .cut = Cut::deepseek_coder},
    {.name = "deepseek-llm", .cut = Cut::deepseek_llm},
    {.name = "deepseek-v3", .cut = Cut::deepseek_v3},
};

std::unique_ptr<const PreTokenizer> isolated(std::unique_ptr<const Pattern> pattern) {
  return make_split(std::move(pattern), Behavior::isolated, false);
}

Result<void> add_expressions(PreTokenizers& steps, std::initializer_list<std::string_view> all) {
  for (const std::string_view expression : all) {
    auto pattern = known_pattern(expression);
    if (pattern == nullptr) {
      MUMMU_TRY(pattern, regex_pattern(expression));
    }
    steps.push_back(isolated(std::move(pattern)));
  }
  return {};
}

// Chinese, Japanese and Korean in runs, as DeepSeek's first models cut them.
constexpr std::string_view kEastAsian = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+";

// Latin, Greek, Cyrillic and other letters with case, by code point.
constexpr std::string_view kDeepseekLetters =
    "\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-"
    "\u02af"
    "\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-"
    "\u03f5"
    "\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba"
    "\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45"
    "\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe"
    "\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc"
    "\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    "\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-"
    "\u2cee\u2cf2\u2cf3"
    "\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-\ufb06"
    "\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3"
    "\U000104d8-\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df"
    "\U0001e900-\U0001e943]+";
constexpr std::string_view kDeepseekSigns =
    "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+";
constexpr std::string_view kDeepseekV3Words =
    "[!\"#$%&'()*+,\\-./"
    ":;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+|"
    " ?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

std::unique_ptr<const PreTokenizer> single_digits() {
  return isolated(class_pattern(unicode::kNumeric));
}

Result<PreTokenizers> steps_of(const Named& named) {
  PreTokenizers steps;
  switch (named.cut) {
    case Cut::digits_then_words:
      steps.push_back(single_digits());
      [[fallthrough]];
    case Cut::words:
      steps.push_back(isolated(known_pattern(named.expression)));
      break;
    case Cut::falcon:
      steps.push_back(
          make_split(class_pattern(unicode::kSplitPunctuation), Behavior::contiguous, false));
      steps.push_back(isolated(known_pattern(kGpt2Expression)));
      // What comes after works on the characters that stand for bytes, some of which are digits (²
      // stands for B2).
      steps.push_back(make_byte_characters());
      steps.push_back(make_split(class_pattern(unicode::kNumeric), Behavior::contiguous, false));
      MUMMU_TRY(add_expressions(steps, {"[0-9][0-9][0-9]"}));
      steps.push_back(make_byte_values());
      break;
    case Cut::deepseek_coder:
      MUMMU_TRY(add_expressions(steps, {R"([\r\n])", R"(\s?\p{L}+)", R"(\s?\p{P}+)", kEastAsian}));
      steps.push_back(single_digits());
      break;
    case Cut::deepseek_llm:
      MUMMU_TRY(add_expressions(
          steps, {R"([\r\n])", kDeepseekLetters, kDeepseekSigns, R"(\s+$)", kEastAsian}));
      steps.push_back(single_digits());
      break;
    case Cut::deepseek_v3:
      MUMMU_TRY(add_expressions(
          steps,
          {R"(\p{N}{1,3})", "[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+", kDeepseekV3Words}));
      break;
  }
  return steps;
}

}  // namespace

Result<GgufPreTokenizer> gguf_pre_tokenizer(std::string_view name, std::string_view where) {
  const auto named = std::ranges::find(kNamed, name, &Named::name);
  if (named == std::end(kNamed)) {
    if (name.empty())
      return fail(Error::unsupported,
                  "{}: tokenizer.ggml.pre is missing, so how this file cuts text is not known",
                  where);
    return fail(Error::unsupported, "{}: pre-tokenizer {} (tokenizer.ggml.pre) is not supported",
                where, name);
  }
  GgufPreTokenizer out;
  if (named->nfc) out.normalizers.push_back(make_normal_form(NormalForm::nfc));
  MUMMU_TRY(out.steps, steps_of(*named));
  out.ignore_merges = named->ignore_merges;
  out.add_bos = named->add_bos;
  return out;
}

}  // namespace mummu
