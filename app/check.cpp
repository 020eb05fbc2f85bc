// mummu check PATH: can we load it, what is in it, what memory it takes.

#include <nlohmann/json.hpp>

#include "command.h"
#include "mummu/embed.h"

namespace mummu::app {

namespace {

void print_memory(const ModelInfo& info, int64_t context) {
  const int64_t kv = context * info.kv_bytes_per_token;
  fmt::print("weights       {} stored, {} in memory\n", human_bytes(info.file_bytes),
             human_bytes(info.packed_bytes));
  if (context > 0) fmt::print("kv cache      {} for {} tokens (f16)\n", human_bytes(kv), context);
  fmt::print("memory        {}\n", human_bytes(info.packed_bytes + kv));
}

void print(const ModelInfo& info, int64_t context) {
  fmt::print("architecture  {}\n", info.architecture);
  if (!info.name.empty()) fmt::print("name          {}\n", info.name);
  fmt::print("format        {} ({})\n", info.format, info.weight_types);
  fmt::print("parameters    {:.1f} M\n", static_cast<double>(info.parameters) / 1e6);
  fmt::print(
      "shape         layers {}, hidden {}, ffn {}, heads {}, kv_heads {}, head_dim {}, vocab {}\n",
      info.layers, info.hidden, info.ffn, info.heads, info.kv_heads, info.head_dim, info.vocab);
  fmt::print("context       {}\n", info.context);
  fmt::print("makes         {}\n", info.generates ? "text" : "vectors only (mummu embed)");
  if (!info.generates) return print_memory(info, 0);
  fmt::print("chat template {}\n", info.has_chat_template ? "yes" : "no");
  fmt::print("end ids       {}\n", fmt::join(info.end_ids, ", "));
  print_memory(info, context);
}

// Nothing for a model that is not made for it; why not, where its files ask for what we lack.
void print_vectors(const Result<EmbedderInfo>& found) {
  if (!found) {
    if (found.error().code != Error::not_found)
      fmt::print("vectors       no: {}\n", found.error().message);
    return;
  }
  fmt::print("vectors       {} components, pooling {}{}, texts up to {} tokens\n", found->dimension,
             found->pooling, found->normalises ? ", length 1" : "", found->max_tokens);
  for (const EmbedPrompt& prompt : found->prompts)
    fmt::print("prompt        {}{}: {}\n", prompt.name,
               prompt.name == found->default_prompt ? " (default)" : "",
               nlohmann::json(prompt.text).dump());
}

}  // namespace

void add_check(CLI::App& app) {
  auto path = std::make_shared<std::string>();
  auto context = std::make_shared<int64_t>(0);
  auto load = std::make_shared<LoadChoice>();
  CLI::App* sub =
      app.add_subcommand("check", "Say whether a model can be loaded and what it needs");
  sub->add_option("path", *path, "A file, a folder or a name")->required();
  sub->add_option("--ctx", *context, "Context in tokens for the memory figure; 0: the model's own")
      ->check(CLI::Range(int64_t{0}, kMaxContext));
  load->add_to(*sub);
  sub->callback([path, context, load] {
    Device device = take(open_device("cpu"));
    const std::string found = find_model(*path, load->yes);
    const LoadOptions options = load->options();
    const auto vectors = Embedder::inspect(found, device, options);
    const ModelInfo info = vectors ? vectors->model : take(Model::inspect(found, device, options));
    if (*context > info.context)
      fail(fmt::format("{}: the context is {} tokens, {} were asked for", *path, info.context,
                       *context));
    print(info, *context > 0 ? *context : info.context);
    print_vectors(vectors);
  });
}

}  // namespace mummu::app
