#include "model/load.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/fail.h"
#include "text/chat_template.h"
#include "text/gguf_vocabulary.h"
#include "text/tokenizer_json.h"

namespace mummu {

namespace {

// The end ids of the configuration and of the tokenizer together.
std::vector<TokenId> all_end_ids(const ModelConfig& config, const Tokenizer& tokenizer) {
  std::vector<TokenId> ids = config.end_ids;
  for (TokenId id : tokenizer.end_ids())
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) ids.push_back(id);
  return ids;
}

Result<void> check_tokenizer(const ModelConfig& config, const Tokenizer& tokenizer,
                             const std::string& path, const LogSink& log) {
  if (tokenizer.vocab() > config.vocab)
    return fail(Error::corrupt, "{}: the tokenizer has {} tokens, the embedding {} rows", path,
                tokenizer.vocab(), config.vocab);
  for (TokenId id : config.end_ids)
    if (id >= tokenizer.vocab())
      return fail(Error::corrupt, "{}: end-of-sequence id {} is outside the tokenizer's {} tokens",
                  path, id, tokenizer.vocab());
  const auto eos = tokenizer.eos();
  const auto& ids = config.end_ids;
  if (log && eos && !ids.empty() && std::find(ids.begin(), ids.end(), *eos) == ids.end())
    log(LogLevel::warning,
        fmt::format("{}: the tokenizer's end-of-sequence id is {}, the configuration has {}; "
                    "each of them ends an answer",
                    path, *eos, fmt::join(ids, ", ")));
  return {};
}

Result<Tokenizer> load_tokenizer(const Checkpoint& checkpoint) {
  const Gguf* gguf = std::get_if<Gguf>(&checkpoint.file);
  return gguf ? tokenizer_from_gguf(*gguf) : tokenizer_from_json(checkpoint.text_path);
}

// Nothing where the checkpoint has no template.
Result<std::optional<ChatTemplate>> load_template(const Checkpoint& checkpoint) {
  const Gguf* gguf = std::get_if<Gguf>(&checkpoint.file);
  MUMMU_TRY(auto found,
            gguf ? find_chat_templates(*gguf) : find_chat_templates(checkpoint.text_path));
  if (found.templates.empty()) return std::optional<ChatTemplate>();
  MUMMU_TRY(auto parsed, ChatTemplate::parse(std::move(found.templates), std::move(found.tokens)));
  return std::optional<ChatTemplate>(std::move(parsed));
}

std::optional<DType> packed_type(Quantize quantize) {
  if (quantize == Quantize::q8_0) return DType::q8_0;
  if (quantize == Quantize::q4_0) return DType::q4_0;
  return {};
}

std::vector<std::string> paths(const TensorTable& table) {
  std::vector<std::string> out;
  for (const FileReader& file : table.files()) out.push_back(file.path());
  return out;
}

// An embedding that is not the head too is hardly read.
int64_t read_bytes_per_token(const ModelConfig& config, const WeightPlan& plan,
                             const Decoder& decoder) {
  int64_t bytes = plan.packed_bytes();
  if (!config.tied_head) bytes -= plan.packed_bytes_of(decoder.embedding);
  if (config.mixture)
    bytes -= plan.expert_bytes() / config.experts * (config.experts - config.top_k);
  return bytes;
}

ModelInfo make_info(const Checkpoint& checkpoint, const WeightPlan& plan, const Model::Impl& impl) {
  const ModelConfig& config = checkpoint.config;
  return {.architecture = config.architecture,
          .name = config.name,
          .format = checkpoint.format == Format::gguf ? "gguf" : "safetensors",
          .weight_types = plan.types(),
          .layers = config.layers,
          .hidden = config.hidden,
          .ffn = config.ffn,
          .heads = config.heads,
          .kv_heads = config.kv_heads,
          .head_dim = config.head_dim,
          .vocab = config.vocab,
          .parameters = plan.parameters(),
          .context = config.context,
          .files = paths(checkpoint.table()),
          .file_bytes = plan.file_bytes(),
          .packed_bytes = plan.packed_bytes(),
          .read_bytes_per_token = read_bytes_per_token(config, plan, impl.decoder),
          .kv_bytes_per_token = impl.decoder.page_bytes(DType::f16) / kPageTokens,
          .generates = impl.encoder == nullptr && impl.decoder.has_head,
          .has_chat_template = impl.chat_template.has_value(),
          .end_ids = all_end_ids(config, impl.tokenizer)};
}

// What a few tokens came to: logits, or a vector.
Result<void> check_numbers(std::span<const float> numbers, const std::string& path) {
  for (float number : numbers)
    if (!std::isfinite(number))
      return fail(Error::corrupt, "{}: the model computes numbers that are not finite", path);
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  if (*low == *high && numbers.size() > 1)
    return fail(Error::corrupt, "{}: the model computes the same number everywhere", path);
  return {};
}

void bind(const Checkpoint& checkpoint, WeightPlan& plan, Model::Impl& impl) {
  const Family& family = *checkpoint.family;
  if (family.bind) return family.bind(checkpoint.config, plan, impl.decoder);
  impl.encoder = std::make_unique<Encoder>();
  family.bind_encoder(checkpoint.config, plan, *impl.encoder);
}

}  // namespace

Result<ModelLoad> ModelLoad::plan(const std::string& path, const Device& device,
                                  const LoadOptions& options) {
  ModelLoad load;
  MUMMU_TRY(auto checkpoint, open_checkpoint(path));
  load.checkpoint_ = std::make_unique<Checkpoint>(std::move(checkpoint));
  const ModelConfig& config = load.checkpoint_->config;

  load.plan_ = std::make_unique<WeightPlan>(load.checkpoint_->table(), load.checkpoint_->format,
                                            device.ops(), packed_type(options.quantize));
  MUMMU_TRY(auto tokenizer, load_tokenizer(*load.checkpoint_));
  MUMMU_TRY(check_tokenizer(config, tokenizer, path, options.log));
  MUMMU_TRY(auto chat_template, load_template(*load.checkpoint_));
  load.impl_ =
      std::make_unique<Model::Impl>(Model::Impl{.info = {},
                                                .decoder = {},
                                                .encoder = {},
                                                .ops = &device.ops(),
                                                .tokenizer = std::move(tokenizer),
                                                .chat_template = std::move(chat_template)});
  bind(*load.checkpoint_, *load.plan_, *load.impl_);
  MUMMU_TRY(load.plan_->check());
  load.impl_->info = make_info(*load.checkpoint_, *load.plan_, *load.impl_);

  const int64_t memory = device.info().memory_bytes;
  if (memory > 0 && load.plan_->packed_bytes() > memory)
    return fail(Error::no_memory, "{}: the weights take {} bytes, the device has {}", path,
                load.plan_->packed_bytes(), memory);
  load.load_ = std::make_unique<WeightLoad>(*load.plan_, device.ops());
  return load;
}

Result<bool> ModelLoad::step() { return load_->step(); }

Result<Model> ModelLoad::run(const std::string& path, const LoadOptions& options) {
  // Long enough to keep threads busy, and short enough to tell progress and to be stopped.
  const int64_t step_bytes = std::min(int64_t{16} << 20, progress().total / 8);
  for (bool more = true; more;) {
    if (options.on_progress && !options.on_progress(progress()))
      return fail(Error::cancelled, "{}: the load was cancelled", path);
    MUMMU_TRY(more, load_->step(step_bytes));
  }
  return finish();
}

Result<Model> ModelLoad::finish() {
  impl_->info.packed_bytes = load_->packed_bytes();
  const std::string& path = checkpoint_->table().files().front().path();
  MUMMU_TRY(impl_->encoder ? check_alive(*impl_->ops, *impl_->encoder, path)
                           : check_alive(*impl_->ops, impl_->decoder, path));
  return Model(std::move(impl_));
}

Result<void> check_alive(Ops& ops, const Decoder& decoder, const std::string& path) {
  // They stretch a turn, so they are one or more; half leaves room for roundings.
  for (float divisor : decoder.rope.divisors)
    if (!std::isfinite(divisor) || divisor < 0.5F)
      return fail(Error::corrupt, "{}: a rope divisor is {}", path, divisor);

  const auto last = static_cast<TokenId>(decoder.vocab() - 1);
  const std::array<TokenId, 3> ids = {0, std::min<TokenId>(1, last), last};
  constexpr std::array<int32_t, 3> kPositions = {0, 1, 2};
  constexpr std::array<int32_t, 1> kPages = {0};
  const auto tokens = static_cast<size_t>(std::min<int64_t>(3, decoder.context()));
  const Segment segment{.tokens = static_cast<int64_t>(tokens), .pages = kPages};
  const std::array<int32_t, 1> wanted = {static_cast<int32_t>(tokens) - 1};

  MUMMU_TRY(auto state, decoder.make_state(ops, {.pages = 1, .tokens = 3, .wanted = 1}));
  std::vector<float> logits(static_cast<size_t>(decoder.vocab()));
  MUMMU_TRY(decoder.run(ops, state,
                        {.ids = std::span(ids).first(tokens),
                         .positions = std::span(kPositions).first(tokens),
                         .segments = {&segment, 1},
                         .wanted = wanted},
                        logits));
  return check_numbers(logits, path);
}

Result<void> check_alive(Ops& ops, const Encoder& encoder, const std::string& path) {
  const auto last = static_cast<TokenId>(encoder.vocab() - 1);
  const std::array<TokenId, 3> ids = {0, std::min<TokenId>(1, last), last};
  const std::array<int64_t, 1> length = {std::min<int64_t>(3, encoder.context())};
  const auto tokens = static_cast<size_t>(length[0]);
  MUMMU_TRY(auto state, encoder.make_state(ops, length[0], 1));
  MUMMU_TRY(const Tensor out, ops.make(DType::f32, 1, encoder.hidden));
  MUMMU_TRY(encoder.run(ops, state, std::span(ids).first(tokens), length, Pool::mean, out.view()));
  std::vector<float> vector(static_cast<size_t>(encoder.hidden));
  ops.download(out.view(), vector.data());
  return check_numbers(vector, path);
}

}  // namespace mummu
