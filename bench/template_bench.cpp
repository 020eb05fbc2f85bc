// How long a chat template takes over a conversation of 100 messages: prints milliseconds of
// processor time for each template, the median of several runs; where a model is given also those
// of encoding what it rendered.
//
//   template_bench [--model MODEL] FILE.jinja...

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "mummu/chat.h"
#include "mummu/tokenizer.h"

namespace {

constexpr int kRuns = 51;
constexpr int kMessages = 100;

// Empty where it cannot be read.
std::string read_file(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<mummu::Message> conversation() {
  std::vector<mummu::Message> messages;
  for (int i = 0; i < kMessages; ++i) {
    const std::string text = "Message " + std::to_string(i) +
                             ": the sea is salty because rivers carry salts from rocks into it, "
                             "and the water that evaporates leaves them behind.\n\nIs that so?";
    messages.push_back({i % 2 == 0 ? "user" : "assistant", text, {}});
  }
  return messages;
}

// The median of several calls, in milliseconds of processor time; -1 where one fails.
template <typename F>
double median_ms(const F& call) {
  std::vector<double> times;
  for (int run = 0; run < kRuns; ++run) {
    const std::clock_t begin = std::clock();
    if (!call()) return -1;
    times.push_back(static_cast<double>(std::clock() - begin) * 1e3 / CLOCKS_PER_SEC);
  }
  std::ranges::nth_element(times, times.begin() + kRuns / 2);
  return times[kRuns / 2];
}

bool measure(const char* path, const mummu::Tokenizer* tokenizer) {
  const std::string text = read_file(path);
  if (text.empty()) {
    std::fprintf(stderr, "%s: cannot be read, or is empty\n", path);
    return false;
  }
  const auto chat = mummu::ChatTemplate::parse(text, {.bos = "<s>", .eos = "</s>"});
  const auto messages = conversation();
  const auto rendered = chat ? chat->render(messages) : chat.error();
  if (!rendered) {
    std::fprintf(stderr, "%s: %s\n", path, rendered.error().message.c_str());
    return false;
  }
  std::printf("{\"file\": \"%s\", \"bytes\": %zu, \"render_ms\": %.3f", path, rendered->text.size(),
              median_ms([&] { return chat->render(messages); }));
  if (tokenizer)
    std::printf(", \"encode_ms\": %.3f", median_ms([&] { return tokenizer->encode(*rendered); }));
  std::printf("}\n");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<mummu::Tokenizer> tokenizer;
  bool good = argc > 1;
  for (int i = 1; i < argc; ++i) {
    if (argv[i] == std::string_view("--model") && i + 1 < argc) {
      auto loaded = mummu::Tokenizer::load(argv[++i]);
      if (!loaded) {
        std::fprintf(stderr, "%s\n", loaded.error().message.c_str());
        return 1;
      }
      tokenizer.emplace(*std::move(loaded));
    } else {
      good = measure(argv[i], tokenizer ? &*tokenizer : nullptr) && good;
    }
  }
  return good ? 0 : 1;
}
