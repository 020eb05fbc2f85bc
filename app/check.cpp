// mummu check PATH: can we load it, what is in it, what memory it takes.

#include "command.h"

namespace mummu::app {

namespace {

void print(const ModelInfo& info, int64_t context) {
  fmt::print("architecture  {}\n", info.architecture);
  if (!info.name.empty()) fmt::print("name          {}\n", info.name);
  fmt::print("format        {} ({})\n", info.format, info.weight_types);
  fmt::print("parameters    {:.1f} M\n", static_cast<double>(info.parameters) / 1e6);
  fmt::print(
      "shape         layers {}, hidden {}, ffn {}, heads {}, kv_heads {}, head_dim {}, vocab {}\n",
      info.layers, info.hidden, info.ffn, info.heads, info.kv_heads, info.head_dim, info.vocab);
  fmt::print("context       {}\n", info.context);
  fmt::print("chat template {}\n", info.has_chat_template ? "yes" : "no");
  fmt::print("end ids       {}\n", fmt::join(info.end_ids, ", "));
  const int64_t kv = context * info.kv_bytes_per_token;
  fmt::print("weights       {} stored, {} in memory\n", human_bytes(info.file_bytes),
             human_bytes(info.packed_bytes));
  fmt::print("kv cache      {} for {} tokens (f16)\n", human_bytes(kv), context);
  fmt::print("memory        {}\n", human_bytes(info.packed_bytes + kv));
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
    const ModelInfo info = take(Model::inspect(
        find_model(*path), device, {.log = warnings(), .quantize = load->quantize}));
    if (*context > info.context)
      fail(fmt::format("{}: the context is {} tokens, {} were asked for", *path, info.context,
                       *context));
    print(info, *context > 0 ? *context : info.context);
  });
}

}  // namespace mummu::app
