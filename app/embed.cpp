// mummu embed MODEL TEXT...: a vector a text, a line of numbers each, or one JSON document.

#include "mummu/embed.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <numeric>

#include "command.h"

namespace mummu::app {

namespace {

struct EmbedCommand {
  std::string model, input, prompt_name;
  std::vector<std::string> texts;
  bool json = false;
  DeviceChoice device;
  LoadChoice load;

  void read_input();
  void run();
};

// A line of --input: a JSON string, or an object whose "text" is one.
std::string text_of(const std::string& line, int64_t number) {
  auto value = nlohmann::json::parse(line, nullptr, false);
  if (value.is_object() && value.contains("text")) value = nlohmann::json(value["text"]);
  if (!value.is_string())
    fail(fmt::format("line {}: expected a JSON string, or an object with a \"text\"", number));
  return value.get<std::string>();
}

void EmbedCommand::read_input() {
  const std::string all = read_text(input);
  int64_t number = 0;
  for (size_t begin = 0; begin < all.size();) {
    const size_t end = std::min(all.find('\n', begin), all.size());
    const std::string line = all.substr(begin, end - begin);
    begin = end + 1;
    ++number;
    if (line.find_first_not_of(" \t\r") != std::string::npos)
      texts.push_back(text_of(line, number));
  }
}

// Numbers read back as the same floats: the shortest digits that do.
void print_line(std::span<const float> vector) { fmt::print("{}\n", fmt::join(vector, " ")); }

void print_json(const Embeddings& vectors) {
  fmt::print("{{\"data\":[");
  for (int64_t i = 0; i < vectors.size(); ++i)
    fmt::print("{}{{\"index\":{},\"embedding\":[{}]}}", i == 0 ? "" : ",", i,
               fmt::join(vectors[i], ","));
  fmt::print("]}}\n");
}

void print_summary(const Embeddings& vectors, double seconds) {
  const auto tokens = std::accumulate(vectors.tokens.begin(), vectors.tokens.end(), int64_t{0});
  const auto cut = std::count(vectors.cut.begin(), vectors.cut.end(), true);
  fmt::print(stderr, "{} texts ({} cut), {} tokens, {:.3f} s, {:.0f} tok/s\n", vectors.size(), cut,
             tokens, seconds, static_cast<double>(tokens) / seconds);
}

void EmbedCommand::run() {
  watch_interrupt();
  if (!input.empty()) read_input();
  if (texts.empty() && input.empty()) fail("no text: give texts, or a file with --input");
  const Device opened = device.open();
  auto loaded = Embedder::load(find_model(model, load.yes), opened, load.options());
  end_progress_line();
  Embedder embedder = take(std::move(loaded));
  EmbedOptions options{.prompt_name = prompt_name};
  options.on_progress = [](const EmbedProgress&) { return !interrupted(); };
  const auto start = std::chrono::steady_clock::now();
  const Embeddings vectors = take(embedder.embed(texts, options));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (json) {
    print_json(vectors);
  } else {
    for (int64_t i = 0; i < vectors.size(); ++i) print_line(vectors[i]);
  }
  print_summary(vectors, took.count());
}

}  // namespace

void add_embed(CLI::App& app) {
  auto command = std::make_shared<EmbedCommand>();
  CLI::App* sub = app.add_subcommand("embed", "Turn texts into vectors");
  sub->add_option("model", command->model, "A file, a folder or a name")->required();
  sub->add_option("texts", command->texts, "The texts")->type_name("TEXT");
  sub->add_option("--input", command->input,
                  "A file (- is stdin) with a JSON string, or an object with a \"text\", a line");
  sub->add_option("--prompt", command->prompt_name,
                  "Put this prompt of the model's before every text (see `mummu check`)");
  sub->add_flag("--json", command->json, "Print one JSON document");
  command->load.add_to(*sub);
  command->device.add_to(*sub);
  sub->callback([command] { command->run(); });
}

}  // namespace mummu::app
