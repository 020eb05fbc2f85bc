#pragma once

// A loaded model: weights packed on a Device, tokenizer and chat template. It is const after load,
// so any number of threads may use it; the engines that step it belong to one thread each. The
// Device must outlive it, it must outlive its Engines.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mummu/chat.h"
#include "mummu/device.h"
#include "mummu/export.h"
#include "mummu/log.h"
#include "mummu/result.h"
#include "mummu/tokenizer.h"

namespace mummu {

struct ModelInfo {
  std::string architecture{};  // "llama"
  std::string name{};          // what the file calls itself; may be empty
  std::string format{};        // "gguf" or "safetensors"
  std::string weight_types{};  // what the packed matrices hold, most bytes first: "Q4_1, Q8_0"
  int64_t layers = 0, hidden = 0, ffn = 0, heads = 0, kv_heads = 0, head_dim = 0, vocab = 0;
  int64_t parameters = 0;
  int64_t context = 0;               // tokens the checkpoint was made for
  std::vector<std::string> files{};  // that hold the weights
  int64_t file_bytes = 0;            // weights as stored
  int64_t packed_bytes = 0;          // weights as they lie in the device's memory
  int64_t read_bytes_per_token = 0;  // of those, by a decode of one token: the experts it chooses
  int64_t kv_bytes_per_token = 0;    // at the default KV type (f16)
  bool generates = true;             // false: made for vectors only; an Embedder loads it
  bool has_chat_template = false;
  std::vector<TokenId> end_ids{};  // end-of-sequence ids, from the files
};

// A load goes through these; bytes count the weights read so far.
struct LoadProgress {
  int64_t bytes = 0;
  int64_t total = 0;
};

// What matrices of F32, F16 and BF16 become at load, so that they take a quarter or an eighth of
// F32. Every matrix whose rows are a multiple of 32 long, embedding and head included; not norms,
// biases, convolution kernels and the routers of experts, nor what the file has quantised already.
// The bytes are those of the gguf package's own quantisers.
enum class Quantize { none, q8_0, q4_0 };

struct LoadOptions {
  // Called between tensors on the loading thread; return false to cancel.
  std::function<bool(const LoadProgress&)> on_progress{};
  LogSink log = {};
  Quantize quantize = Quantize::none;
};

class MUMMU_API Model {
 public:
  // Loads a GGUF file, a safetensors file or a folder that holds config.json beside its weights.
  // Everything is planned and checked before the first weight is read: missing, extra and misshapen
  // tensors are one error that lists them all.
  //   errors   not_found, corrupt, unsupported (names what is needed and what is known), no_memory,
  //   cancelled, io
  static Result<Model> load(const std::string& path, const Device& device,
                            LoadOptions options = {});

  // What load would find, without reading the weights: all its checks but the payload.
  static Result<ModelInfo> inspect(const std::string& path, const Device& device,
                                   LoadOptions options = {});

  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;
  ~Model();

  const ModelInfo& info() const;
  const Tokenizer& tokenizer() const;
  const ChatTemplate* chat_template() const;  // null when the checkpoint has none
  DeviceInfo device() const;

  struct Impl;
  const Impl& impl() const { return *impl_; }
  explicit Model(std::unique_ptr<const Impl> impl);

 private:
  std::unique_ptr<const Impl> impl_;
};

}  // namespace mummu
