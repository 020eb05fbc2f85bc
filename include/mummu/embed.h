#pragma once

// Texts to vectors whose distances say how alike the texts are. An Embedder owns the weights of an
// encoder, or of a decoder that was trained for this, and does what sentence-transformers' files
// beside them ask for: how the tokens of a text become one vector, whether that has length 1, what
// is put before a text, after how many tokens a text is cut. A text's vector is the same bits alone
// and in any company, on any number of threads and any instruction set. One thread at a time, and
// only one of a Device's engines and embedders at a time; the Device must outlive it. It starts no
// thread.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mummu/device.h"
#include "mummu/export.h"
#include "mummu/model.h"
#include "mummu/result.h"

namespace mummu {

// What a checkpoint wants put before a text that is meant for one use ("query", "document").
struct EmbedPrompt {
  std::string name{};
  std::string text{};
};

struct EmbedderInfo {
  ModelInfo model{};
  int64_t dimension = 0;  // components of a vector
  int64_t max_tokens =
      0;  // of a text with its prompt and what the tokenizer adds; more are cut off
  std::string
      pooling{};  // "mean", "cls", "max", "lasttoken", "weightedmean", "mean_sqrt_len_tokens"
  bool normalises = false;  // vectors have length 1
  std::vector<EmbedPrompt> prompts{};
  std::string default_prompt{};  // the name of the prompt that is used unasked; empty: none is
};

// How far a call has come.
struct EmbedProgress {
  int64_t texts = 0;
  int64_t total = 0;
};

struct EmbedOptions {
  // One of the checkpoint's prompts, by name; empty: its default prompt, if it names one.
  std::string prompt_name{};
  // Put before every text instead; "" puts nothing there. Its control tokens are control tokens, as
  // those of the checkpoint's prompts are: not for strangers' text.
  std::optional<std::string> prompt{};
  // Cut texts after fewer tokens than the checkpoint asks for; 0: as it asks.
  int64_t max_tokens = 0;
  // Whether vectors get length 1, if not as the checkpoint asks.
  std::optional<bool> normalise{};
  // Called between steps on the calling thread; return false to cancel.
  std::function<bool(const EmbedProgress&)> on_progress{};
};

// The vectors of a call, in the order of its texts.
struct Embeddings {
  int64_t dimension = 0;
  std::vector<float> values{};    // (texts, dimension), row-major
  std::vector<int64_t> tokens{};  // (texts): how many were computed of each
  std::vector<bool> cut{};        // (texts): whether it had more

  int64_t size() const { return static_cast<int64_t>(tokens.size()); }
  //   requires 0 <= i < size()
  std::span<const float> operator[](int64_t i) const {
    return std::span(values).subspan(static_cast<size_t>(i * dimension),
                                     static_cast<size_t>(dimension));
  }
};

class MUMMU_API Embedder {
 public:
  // Loads a folder of sentence-transformers (modules.json beside or above the checkpoint), or a
  // GGUF file that names its pooling. GGUF has no word on length: such vectors get length 1.
  //   errors   not_found (also where nothing says how to pool), corrupt, unsupported (names what is
  //            needed and what is known), no_memory, cancelled, io
  static Result<Embedder> load(const std::string& path, const Device& device,
                               LoadOptions options = {});

  // What load would find, without reading the weights: all its checks but the payload.
  static Result<EmbedderInfo> inspect(const std::string& path, const Device& device,
                                      LoadOptions options = {});

  Embedder(Embedder&&) noexcept;
  Embedder& operator=(Embedder&&) noexcept;
  ~Embedder();

  const EmbedderInfo& info() const;
  const Tokenizer& tokenizer() const;

  // One vector a text (UTF-8). Texts of any lengths share a step, one after another, nothing is
  // padded. What looks like a control token in a text stays text. No texts give no vectors; an
  // empty text has the vector of what the tokenizer adds.
  //   errors   invalid (not UTF-8, an unknown prompt_name, max_tokens above the checkpoint's or
  //            below what the tokenizer adds, a text without a token: names the text), no_memory,
  //            corrupt (a vector that is not finite), cancelled, device_lost
  Result<Embeddings> embed(std::span<const std::string_view> texts,
                           const EmbedOptions& options = {});
  Result<Embeddings> embed(std::span<const std::string> texts, const EmbedOptions& options = {});
  Result<Embeddings> embed(std::initializer_list<std::string_view> texts,
                           const EmbedOptions& options = {});

  struct Impl;
  explicit Embedder(std::unique_ptr<Impl> impl);

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace mummu
