// Milliseconds a step of JSON mode at 151,936 tokens: asking for the mask, laying it on a row of
// logits and telling it the token, by where the text is. The bar: 1 ms at the worst place.
// Usage: constraint_bench VOCABULARY (ggml-vocab-qwen2.gguf, or any file that Tokenizer::load
// reads)

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/logit_rules.h"
#include "engine/random_json.h"
#include "mummu/json_mode.h"

namespace {

using namespace mummu;
using Clock = std::chrono::steady_clock;

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// A constraint whose text stands where `text` ends, one byte a token.
std::unique_ptr<Constraint> at_end_of(const std::string& text, const JsonMode& mode,
                                      const Tokenizer& tokenizer,
                                      const std::vector<TokenId>& byte_ids) {
  auto constraint = std::move(*mode.constraint()(tokenizer));
  for (const char byte : text) constraint->accept(byte_ids[static_cast<uint8_t>(byte)]);
  return constraint;
}

struct Times {
  double mask = 0, step = 0;
};

Times measure(Constraint& constraint, int64_t vocab) {
  std::vector<uint64_t> allowed(static_cast<size_t>((vocab + 63) / 64));
  std::vector<float> row(static_cast<size_t>(vocab), 1.0f);
  LogitEditor editor;
  editor.reserve(vocab);
  const RequestOptions options;
  std::vector<double> masks, steps;
  for (int repeat = 0; repeat < 41; ++repeat) {
    std::fill(allowed.begin(), allowed.end(), ~uint64_t{0});
    auto start = Clock::now();
    constraint.mask(allowed);
    masks.push_back(ms_since(start));
    start = Clock::now();
    editor.apply(row, vocab, {.options = &options, .constraint = &constraint});
    steps.push_back(ms_since(start));
  }
  for (auto* times : {&masks, &steps})
    std::nth_element(times->begin(), times->begin() + 20, times->end());
  return {masks[20], steps[20]};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: constraint_bench VOCABULARY\n");
    return 2;
  }
  const auto tokenizer = Tokenizer::load(argv[1]);
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 1;
  }
  const auto start = Clock::now();
  const auto mode = JsonMode::make(*tokenizer);
  const double make_ms = ms_since(start);
  if (!mode) {
    std::fprintf(stderr, "%s\n", mode.error().message.c_str());
    return 1;
  }
  std::vector<TokenId> byte_ids(256, -1);
  for (TokenId id = 0; id < tokenizer->vocab(); ++id)
    if (const auto bytes = tokenizer->bytes(id); bytes.size() == 1)
      byte_ids[static_cast<uint8_t>(bytes[0])] = id;
  std::printf("%lld tokens, tables made in %.1f ms\n", static_cast<long long>(tokenizer->vocab()),
              make_ms);
  const struct {
    const char* name;
    std::string text;
  } places[] = {
      {"before the object", ""},
      {"behind {", "{"},
      {"in a key", "{\"ab"},
      {"behind a key", "{\"ab\""},
      {"behind :", "{\"ab\":"},
      {"in a string of an object", "{\"ab\":\"cd"},
      {"in a string of an array", "{\"ab\":[\"cd"},
      {"in a number", "{\"ab\":[12"},
      {"behind a value of an object", "{\"ab\":1 "},
      {"behind a value of an array", "{\"ab\":[1 "},
      {"in an escape", "{\"ab\":\"\\"},
      {"in a surrogate pair", "{\"ab\":\"\\ud834"},
      {"in a code point", "{\"ab\":\"\xe2\x82"},
      {"60 levels deep", "{\"ab\":" + std::string(59, '[')},
      {"behind the object", "{\"ab\":1}"},
  };
  Times worst;
  for (const auto& place : places) {
    const auto constraint = at_end_of(place.text, *mode, *tokenizer, byte_ids);
    const Times times = measure(*constraint, tokenizer->vocab());
    worst = {std::max(worst.mask, times.mask), std::max(worst.step, times.step)};
    std::printf("%-30s mask %.3f ms, with the row %.3f ms\n", place.name, times.mask, times.step);
  }
  for (uint64_t seed = 0; seed < 20; ++seed) {  // wherever real texts lead
    const std::string text = test::random_json(seed);
    for (size_t size = 0; size < text.size(); size += 7) {
      const auto constraint = at_end_of(text.substr(0, size), *mode, *tokenizer, byte_ids);
      const Times times = measure(*constraint, tokenizer->vocab());
      worst = {std::max(worst.mask, times.mask), std::max(worst.step, times.step)};
    }
  }
  std::printf("%-30s mask %.3f ms, with the row %.3f ms\n", "worst of all", worst.mask, worst.step);
  return 0;
}
