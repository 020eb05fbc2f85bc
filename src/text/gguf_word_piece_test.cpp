// A WordPiece vocabulary as the two kinds of GGUF file have it: converters of 2024 wrote a CLS
// token and left every text in brackets as it was; later ones write the beginning and the end of a
// sequence and put U+2581 before all but control tokens.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "text/gguf_vocabulary.h"

namespace mummu {
namespace {

using testing::ElementsAre;
using Type = GgufVocabulary::Type;

GgufVocabulary early() {
  GgufVocabulary out;
  out.where = "test.gguf";
  out.model = "bert";
  out.tokens = {"[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "▁sea", "▁salt", "y", "▁[", "▁]"};
  out.types.assign(out.tokens.size(), Type::kNormal);
  for (size_t control : {0, 2, 3, 4}) out.types[control] = Type::kControl;
  out.unknown = 2;
  out.separator = 4;
  out.padding = 0;
  out.cls = 3;
  return out;
}

GgufVocabulary late() {
  GgufVocabulary out = early();
  out.pre = "jina-v2-en";
  out.tokens[1] = "▁[unused0]";
  out.cls.reset();
  out.bos = 3;
  out.eos = 4;
  out.add_bos = out.add_eos = true;
  return out;
}

Tokenizer build(const GgufVocabulary& vocabulary) {
  auto impl = build_tokenizer(vocabulary);
  EXPECT_TRUE(impl) << impl.error().message;
  return Tokenizer(*std::move(impl));
}

TEST(GgufWordPiece, a_text_stands_between_cls_and_separator_in_files_of_both_kinds) {
  for (const GgufVocabulary& vocabulary : {early(), late()}) {
    const Tokenizer tokenizer = build(vocabulary);
    EXPECT_THAT(tokenizer.encode("Salty [sea]").value(), ElementsAre(3, 6, 7, 8, 5, 9, 4));
    EXPECT_THAT(tokenizer.encode("fish sea").value(), ElementsAre(3, 2, 5, 4));
  }
}

TEST(GgufWordPiece, the_texts_of_tokens_are_the_same_in_files_of_both_kinds) {
  const Tokenizer a = build(early()), b = build(late());
  for (TokenId id = 0; id < a.vocab(); ++id) EXPECT_EQ(a.text(id), b.text(id)) << id;
  EXPECT_EQ(b.text(1), "[unused0]");
}

TEST(GgufWordPiece, without_a_token_that_begins_it_is_corrupt) {
  GgufVocabulary vocabulary = late();
  vocabulary.bos.reset();
  const auto impl = build_tokenizer(vocabulary);
  ASSERT_FALSE(impl);
  EXPECT_THAT(impl.error().message, testing::HasSubstr("the CLS token is missing"));
}

}  // namespace
}  // namespace mummu
