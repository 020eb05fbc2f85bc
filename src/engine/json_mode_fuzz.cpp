// Any vocabulary and any choice of allowed tokens: the mask is what trying each token gives, an
// answer that is complete parses, and what a parser takes as an object is taken.

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/json_machine.h"
#include "engine/json_masks.h"

namespace {

using namespace mummu;

void check(bool good) {
  if (!good) std::abort();
}

// The bytes as a text: nothing is complete that a parser refuses.
void read_whole(std::string_view text) {
  JsonState state;
  if (json_read(state, text) && state.complete()) check(nlohmann::json::accept(text));
}

// Words of the bytes, cut at 0xff, are the vocabulary; the bytes then choose among what is allowed.
void walk(std::string_view data) {
  std::vector<std::string> words = {"{", "}", "\"", ":", "1", ",", "[", "]"};
  size_t begin = 0;
  for (size_t at = 0; at < data.size() && words.size() < 80; ++at) {
    if (data[at] != '\xff') continue;
    if (at > begin) words.emplace_back(data.substr(begin, at - begin));
    begin = at + 1;
  }
  std::vector<std::pair<std::string_view, TokenId>> tokens;
  for (size_t i = 0; i < words.size(); ++i) tokens.emplace_back(words[i], static_cast<TokenId>(i));
  const JsonMasks masks(tokens, static_cast<int64_t>(words.size()));
  std::vector<JsonState> scratch(masks.longest() + 1);
  std::vector<uint64_t> allowed((words.size() + 63) / 64);
  JsonState state;
  std::string text;
  for (const char byte : data.substr(begin)) {
    std::fill(allowed.begin(), allowed.end(), ~uint64_t{0});
    masks.mask(state, allowed, scratch);
    std::vector<size_t> good;
    for (size_t id = 0; id < words.size(); ++id) {
      JsonState next = state;
      const bool may = json_read(next, words[id]);
      check(may == ((allowed[id / 64] >> (id % 64) & 1) != 0));
      if (may) good.push_back(id);
    }
    if (good.empty()) break;
    const std::string& word = words[good[static_cast<uint8_t>(byte) % good.size()]];
    check(json_read(state, word));
    text += word;
  }
  if (state.complete()) check(nlohmann::json::parse(text, nullptr, false).is_object());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  read_whole(text);
  walk(text);
  return 0;
}
