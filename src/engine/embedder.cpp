// Texts to ids, ids packed into steps, steps to vectors.

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "base/edge.h"
#include "base/fail.h"
#include "engine/embed_config.h"
#include "engine/vector_forward.h"
#include "file/quote.h"
#include "model/load.h"
#include "mummu/embed.h"
#include "text/encode.h"
#include "text/tokenizer_impl.h"

namespace mummu {

struct Embedder::Impl {
  Model model;
  EmbedderInfo info;
  Pool pool = Pool::mean;
  std::unique_ptr<VectorForward> forward{};
  Tensor vectors{};  // (most_texts, dimension) f32

  Result<Embeddings> embed(std::span<const std::string_view> texts, const EmbedOptions& options);
};

namespace {

Result<EmbedConfig> read_config(const std::string& path) {
  std::error_code ignored;
  const auto status = std::filesystem::status(path, ignored);
  if (!std::filesystem::exists(status))
    return fail(Error::not_found, "{}: no such file or folder", path);
  if (std::filesystem::is_directory(status) || path.ends_with(".safetensors") ||
      path.ends_with(".json"))
    return read_embed_folder(path);
  MUMMU_TRY(const Gguf file, Gguf::open(path));
  return read_embed_gguf(file);
}

// What the tokenizer would have to do besides what its own file says.
Result<void> check_tokenizer(const EmbedConfig& config, const Tokenizer& tokenizer,
                             const std::string& path) {
  if (config.lower_case) {
    MUMMU_TRY(const auto upper, tokenizer.encode("ABC XYZ"));
    MUMMU_TRY(const auto lower, tokenizer.encode("abc xyz"));
    if (upper != lower)
      return fail(Error::unsupported,
                  "{}: do_lower_case is set, and the tokenizer keeps upper case; that is not "
                  "supported",
                  path);
  }
  const auto& truncation = tokenizer.impl().truncation;
  const bool cuts_left = truncation && truncation->left;
  if (config.cuts_left.value_or(cuts_left) != cuts_left)
    return fail(Error::unsupported,
                "{}: truncation_side of tokenizer_config.json is not that of tokenizer.json; that "
                "is not supported",
                path);
  return {};
}

Result<int64_t> longest_text(const EmbedConfig& config, const ModelInfo& model,
                             const Tokenizer& tokenizer, const std::string& path) {
  const int64_t otherwise = std::min(config.tokenizer_tokens, model.context);
  const int64_t tokens = config.max_tokens > 0 ? config.max_tokens : otherwise;
  if (tokens > model.context)
    return fail(Error::corrupt, "{}: texts are cut after {} tokens, the model has {} positions",
                path, tokens, model.context);
  MUMMU_TRY(const auto added, tokenizer.encode(""));
  if (tokens <= std::ssize(added))
    return fail(Error::corrupt, "{}: texts are cut after {} tokens, the tokenizer adds {}", path,
                tokens, added.size());
  return tokens;
}

Result<EmbedderInfo> make_info(const EmbedConfig& config, const ModelInfo& model,
                               const Tokenizer& tokenizer, const std::string& path) {
  if (config.columns != 0 && config.columns != model.hidden)
    return fail(Error::corrupt, "{}: pooling of {} components, the model has {}", path,
                config.columns, model.hidden);
  MUMMU_TRY(check_tokenizer(config, tokenizer, path));
  EmbedderInfo info{.model = model,
                    .dimension = model.hidden,
                    .max_tokens = 0,
                    .pooling = std::string(name(config.pool)),
                    .normalises = config.normalises,
                    .prompts = config.prompts,
                    .default_prompt = config.default_prompt};
  MUMMU_TRY(info.max_tokens, longest_text(config, model, tokenizer, path));
  return info;
}

Result<Embedder> load_all(const std::string& path, const Device& device,
                          const LoadOptions& options) {
  MUMMU_TRY(const EmbedConfig config, read_config(path));
  MUMMU_TRY(auto load, ModelLoad::plan(config.checkpoint, device, options));
  MUMMU_TRY(auto info, make_info(config, load.info(), load.tokenizer(), path));
  MUMMU_TRY(auto model, load.run(path, options));
  auto impl = std::make_unique<Embedder::Impl>(
      Embedder::Impl{.model = std::move(model), .info = std::move(info), .pool = config.pool});
  impl->info.model = impl->model.info();
  const Model::Impl& loaded = impl->model.impl();
  MUMMU_TRY(impl->forward, make_vector_forward(loaded, config.pool, impl->info.max_tokens));
  MUMMU_TRY(impl->vectors,
            loaded.ops->make(DType::f32, impl->forward->most_texts(), impl->info.dimension));
  return Embedder(std::move(impl));
}

// The ids of one text, cut as asked.
struct Text {
  std::vector<TokenId> ids;
  bool cut = false;
};

// What an embed call needs of its options, resolved.
struct Plan {
  std::string prompt;
  int64_t max_tokens = 0;
  bool normalise = false;
};

Result<std::string> resolve_prompt(const EmbedderInfo& info, const EmbedOptions& options) {
  if (options.prompt) return *options.prompt;
  const std::string& wanted =
      options.prompt_name.empty() ? info.default_prompt : options.prompt_name;
  if (wanted.empty()) return std::string();
  std::string names;
  for (const EmbedPrompt& prompt : info.prompts) {
    if (prompt.name == wanted) return prompt.text;
    names += (names.empty() ? "" : ", ") + quote(prompt.name);
  }
  return fail(Error::invalid, "no prompt is called {}; {}", quote(wanted),
              names.empty() ? "the model has none" : "there are " + names);
}

Result<Plan> plan_call(const EmbedderInfo& info, const EmbedOptions& options) {
  if (options.max_tokens < 0 || options.max_tokens > info.max_tokens)
    return fail(Error::invalid, "max_tokens is {}, expected 1 to {}, or 0", options.max_tokens,
                info.max_tokens);
  Plan plan;
  MUMMU_TRY(plan.prompt, resolve_prompt(info, options));
  plan.max_tokens = options.max_tokens > 0 ? options.max_tokens : info.max_tokens;
  plan.normalise = options.normalise.value_or(info.normalises);
  return plan;
}

Result<Text> encode(const Tokenizer& tokenizer, const Plan& plan, std::string_view text,
                    int64_t index) {
  auto ids = encode_behind(tokenizer, plan.prompt, text, {});
  if (ids && std::ssize(*ids) > plan.max_tokens) {
    ids = encode_behind(tokenizer, plan.prompt, text, {.max_tokens = plan.max_tokens});
    if (ids) return Text{*std::move(ids), true};
  }
  if (!ids) return fail(ids.error().code, "text {}: {}", index, ids.error().message);
  if (ids->empty())
    return fail(Error::invalid, "text {} is empty, and the tokenizer adds nothing to it", index);
  return Text{*std::move(ids), false};
}

// The texts of one step, packed.
struct Pack {
  std::vector<TokenId> ids;
  std::vector<int64_t> lengths;

  bool takes(const Text& text, const VectorForward& forward) const {
    return lengths.empty() || (std::ssize(lengths) < forward.most_texts() &&
                               std::ssize(ids) + std::ssize(text.ids) <= forward.most_tokens());
  }
  void add(const Text& text) {
    ids.insert(ids.end(), text.ids.begin(), text.ids.end());
    lengths.push_back(std::ssize(text.ids));
  }
  void clear() {
    ids.clear();
    lengths.clear();
  }
};

// One call, step by step.
class Call {
 public:
  Call(Embedder::Impl& embedder, const Plan& plan, const EmbedOptions& options, int64_t total)
      : embedder_(embedder), plan_(plan), options_(options), total_(total) {
    out_.dimension = embedder.info.dimension;
    out_.values.resize(static_cast<size_t>(total * out_.dimension));
  }

  Result<void> add(std::string_view view) {
    MUMMU_TRY(const Text text, encode(embedder_.model.tokenizer(), plan_, view, out_.size()));
    if (!pack_.takes(text, *embedder_.forward)) MUMMU_TRY(step());
    pack_.add(text);
    out_.tokens.push_back(std::ssize(text.ids));
    out_.cut.push_back(text.cut);
    return {};
  }

  Result<Embeddings> finish() {
    if (!pack_.lengths.empty()) MUMMU_TRY(step());
    return std::move(out_);
  }

 private:
  Result<void> step() {
    if (options_.on_progress && !options_.on_progress({.texts = done_, .total = total_}))
      return fail(Error::cancelled, "embedding was cancelled after {} of {} texts", done_, total_);
    const auto texts = std::ssize(pack_.lengths);
    Ops& ops = *embedder_.model.impl().ops;
    const View vectors = embedder_.vectors.rows(0, texts);
    MUMMU_TRY(embedder_.forward->run(pack_.ids, pack_.lengths, vectors));
    if (plan_.normalise) {
      ops.start();
      ops.l2_norm(vectors, vectors);
      MUMMU_TRY(ops.finish());
    }
    const auto to = std::span(out_.values)
                        .subspan(static_cast<size_t>(done_ * out_.dimension),
                                 static_cast<size_t>(texts * out_.dimension));
    ops.download(vectors, to.data());
    MUMMU_TRY(check_finite(to));
    done_ += texts;
    pack_.clear();
    return {};
  }

  Result<void> check_finite(std::span<const float> values) const {
    const auto bad =
        std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
    if (bad == values.end()) return {};
    return fail(Error::corrupt, "text {}: its vector is not finite",
                done_ + (bad - values.begin()) / out_.dimension);
  }

  Embedder::Impl& embedder_;
  const Plan& plan_;
  const EmbedOptions& options_;
  int64_t total_;
  int64_t done_ = 0;  // texts whose vectors are in out_
  Pack pack_;
  Embeddings out_;
};

}  // namespace

Result<Embeddings> Embedder::Impl::embed(std::span<const std::string_view> texts,
                                         const EmbedOptions& options) {
  MUMMU_TRY(const Plan plan, plan_call(info, options));
  Call call(*this, plan, options, std::ssize(texts));
  for (std::string_view text : texts) MUMMU_TRY(call.add(text));
  return call.finish();
}

Embedder::Embedder(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Embedder::Embedder(Embedder&&) noexcept = default;
Embedder& Embedder::operator=(Embedder&&) noexcept = default;
Embedder::~Embedder() = default;

Result<Embedder> Embedder::load(const std::string& path, const Device& device,
                                LoadOptions options) {
  return at_edge([&] { return load_all(path, device, options); });
}

Result<EmbedderInfo> Embedder::inspect(const std::string& path, const Device& device,
                                       LoadOptions options) {
  return at_edge([&]() -> Result<EmbedderInfo> {
    MUMMU_TRY(const EmbedConfig config, read_config(path));
    MUMMU_TRY(const auto load, ModelLoad::plan(config.checkpoint, device, options));
    return make_info(config, load.info(), load.tokenizer(), path);
  });
}

const EmbedderInfo& Embedder::info() const { return impl_->info; }
const Tokenizer& Embedder::tokenizer() const { return impl_->model.tokenizer(); }

Result<Embeddings> Embedder::embed(std::span<const std::string_view> texts,
                                   const EmbedOptions& options) {
  return at_edge([&] { return impl_->embed(texts, options); });
}

Result<Embeddings> Embedder::embed(std::span<const std::string> texts,
                                   const EmbedOptions& options) {
  return at_edge([&] {
    const std::vector<std::string_view> views(texts.begin(), texts.end());
    return impl_->embed(views, options);
  });
}

Result<Embeddings> Embedder::embed(std::initializer_list<std::string_view> texts,
                                   const EmbedOptions& options) {
  return embed(std::span(texts.begin(), texts.size()), options);
}

}  // namespace mummu
