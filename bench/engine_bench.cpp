// Many sequences on one engine: tokens a second in all at 1, 2, 4, ... sequences, and the worst
// time between two tokens of a sequence while a long prompt arrives beside it.
//
//   engine_bench MODEL [--threads 2] [--sequences 1,2,4,8,16,32] [--prompt 32] [--answer 64]
//                [--repeats 5] [--arrival 4000] [--json]

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "mummu/engine.h"

namespace {

using mummu::TokenId;
using Clock = std::chrono::steady_clock;

struct Arguments {
  std::string model;
  int threads = 2;
  std::vector<int64_t> sequences = {1, 2, 4, 8, 16, 32};
  int64_t prompt = 32, answer = 64, repeats = 5, arrival = 4000;
  bool json = false;
};

[[noreturn]] void die(const std::string& line) {
  std::fprintf(stderr, "engine_bench: %s\n", line.c_str());
  std::exit(1);
}

template <typename T>
T take(mummu::Result<T> result) {
  if (!result) die(result.error().message);
  return std::move(*result);
}

double ms_since(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

mummu::Request request(const mummu::Model& model, int64_t prompt, int64_t answer, int64_t which) {
  std::vector<TokenId> ids(static_cast<size_t>(prompt));
  for (size_t i = 0; i < ids.size(); ++i)
    ids[i] = static_cast<TokenId>((i * 7919 + 31 + static_cast<size_t>(which) * 101) %
                                  static_cast<size_t>(model.info().vocab));
  return take(mummu::complete(model, std::move(ids), {.max_tokens = answer, .ignore_eos = true}));
}

// Takes everything that a request has to say; how many tokens that was.
int64_t drain(mummu::Engine& engine, mummu::RequestId id) {
  int64_t tokens = 0;
  while (const mummu::Token* token = engine.take(id))
    tokens += static_cast<int64_t>(token->ids.size());
  return tokens;
}

// Tokens a second of all sequences together, once all of them decode.
double aggregate(const mummu::Model& model, const Arguments& arguments, int64_t sequences) {
  const int64_t each = arguments.prompt + arguments.answer + 16;
  mummu::Engine engine(model, {.context = each,
                               .kv_tokens = each * sequences,
                               .max_sequences = sequences,
                               .prefix_cache = false});
  std::vector<mummu::RequestId> ids;
  for (int64_t i = 0; i < sequences; ++i)
    ids.push_back(take(engine.admit(request(model, arguments.prompt, arguments.answer + 8, i))));
  int64_t decoding = 0, tokens = 0;
  while (decoding < sequences) {  // until a step gave every sequence a token
    take(engine.step());
    decoding = 0;
    for (mummu::RequestId id : ids) decoding += drain(engine, id) > 0;
  }
  const auto start = Clock::now();
  const int64_t wanted = (arguments.answer - 8) * sequences;
  while (tokens < wanted && engine.has_work()) {
    take(engine.step());
    for (mummu::RequestId id : ids) tokens += drain(engine, id);
  }
  return 1e3 * static_cast<double>(tokens) / ms_since(start);
}

struct Gap {
  double before_ms = 0;  // median time between two tokens, nothing arriving
  double worst_ms = 0;   // between two tokens of one sequence, while the prompt is computed
  double first_ms = 0;   // from the prompt's arrival to its first token
};

// Four sequences decode when a long prompt arrives.
Gap arrival(const mummu::Model& model, const Arguments& arguments) {
  constexpr int64_t kNeighbours = 4;
  mummu::Engine engine(
      model, {.kv_tokens = arguments.arrival + 64 + kNeighbours * 2048, .prefix_cache = false});
  std::vector<mummu::RequestId> ids;
  for (int64_t i = 0; i < kNeighbours; ++i)
    ids.push_back(take(engine.admit(request(model, 32, 1900, i))));
  std::map<uint64_t, Clock::time_point> last;
  std::vector<double> gaps;
  const auto step = [&] {
    take(engine.step());
    for (mummu::RequestId id : ids) {
      if (drain(engine, id) == 0) continue;
      if (last.contains(id.value)) gaps.push_back(ms_since(last[id.value]));
      last[id.value] = Clock::now();
    }
  };
  for (int i = 0; i < 40; ++i) step();
  Gap gap;
  gap.before_ms = median(gaps);
  gaps.clear();
  const auto start = Clock::now();
  const auto newcomer = take(engine.admit(request(model, arguments.arrival, 4, 9)));
  while (drain(engine, newcomer) == 0) step();
  gap.first_ms = ms_since(start);
  gap.worst_ms = *std::max_element(gaps.begin(), gaps.end());
  return gap;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--json") {
      arguments.json = true;
    } else if (word.starts_with("--")) {
      if (++i == argc) die(word + " needs a value");
      const std::string value = argv[i];
      const int64_t number = std::atoll(value.c_str());
      if (word == "--threads")
        arguments.threads = static_cast<int>(number);
      else if (word == "--prompt")
        arguments.prompt = number;
      else if (word == "--answer")
        arguments.answer = number;
      else if (word == "--repeats")
        arguments.repeats = number;
      else if (word == "--arrival")
        arguments.arrival = number;
      else if (word == "--sequences") {
        arguments.sequences.clear();
        std::stringstream list(value);
        for (std::string each; std::getline(list, each, ',');)
          arguments.sequences.push_back(std::atoll(each.c_str()));
      } else {
        die("unknown option " + word);
      }
    } else {
      arguments.model = word;
    }
  }
  if (arguments.model.empty()) die("which model?");
  return arguments;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = parse(argc, argv);
  const auto device =
      take(mummu::open_device("cpu", {.parallel = mummu::Threads(arguments.threads)}));
  const auto model = take(mummu::Model::load(arguments.model, device));
  std::map<int64_t, std::vector<double>> rates;
  for (int64_t repeat = 0; repeat < arguments.repeats; ++repeat)
    for (int64_t sequences : arguments.sequences)
      rates[sequences].push_back(aggregate(model, arguments, sequences));
  for (auto& [sequences, rate] : rates)
    std::printf(arguments.json ? "{\"sequences\": %lld, \"tps\": %.1f}\n"
                               : "%2lld sequences: %.1f tok/s in all\n",
                static_cast<long long>(sequences), median(rate));
  if (arguments.arrival <= 0) return 0;
  const Gap gap = arrival(model, arguments);
  std::printf(
      arguments.json
          ? "{\"arrival\": %lld, \"before_ms\": %.1f, \"worst_ms\": %.1f, \"first_ms\": %.0f}\n"
          : "a prompt of %lld tokens arrives beside 4 sequences: a token each %.1f ms before, "
            "%.1f ms at worst meanwhile, its own first after %.0f ms\n",
      static_cast<long long>(arguments.arrival), gap.before_ms, gap.worst_ms, gap.first_ms);
}
