// How fast text becomes ids, on one thread: prints MB a second of processor time for each text
// file, the best of several runs.
//
//   text_bench MODEL FILE...      MODEL: a GGUF file, a folder with tokenizer.json, or a
//   tokenizer.json
//
// bench/text_peer.py runs it beside the Python package tokenizers and prints the ratio.

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <iterator>
#include <string>

#include "mummu/tokenizer.h"

namespace {

constexpr int kRuns = 9;

std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Seconds of the fastest run, or -1 if the text cannot be encoded.
double best_seconds(const mummu::Tokenizer& tokenizer, const std::string& text, size_t& ids) {
  double best = -1;
  for (int run = 0; run < kRuns; ++run) {
    const std::clock_t begin = std::clock();
    const auto encoded = tokenizer.encode(text, {.add_special = false});
    const double took = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    if (!encoded) return -1;
    ids = encoded->size();
    best = best < 0 ? took : std::min(best, took);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "text_bench MODEL FILE...\n");
    return 2;
  }
  const auto tokenizer = mummu::Tokenizer::load(argv[1]);
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 1;
  }
  for (int i = 2; i < argc; ++i) {
    const std::string text = read_file(argv[i]);
    size_t ids = 0;
    const double seconds = best_seconds(*tokenizer, text, ids);
    if (text.empty() || seconds < 0) {
      std::fprintf(stderr, "%s: no text in UTF-8\n", argv[i]);
      return 1;
    }
    std::printf("{\"file\": \"%s\", \"bytes\": %zu, \"ids\": %zu, \"mb_s\": %.1f}\n", argv[i],
                text.size(), ids, static_cast<double>(text.size()) / seconds / 1e6);
  }
  return 0;
}
