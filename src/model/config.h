#pragma once

// What a checkpoint says about its network, whatever format it came in, and the checks that every
// value must pass before anything is computed from it.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layer/rope.h"
#include "mummu/result.h"
#include "mummu/tokenizer.h"

namespace mummu {

struct ModelConfig {
  std::string architecture;  // the family's name
  std::string name;          // what the file calls itself; may be empty
  int64_t layers = 0, hidden = 0, ffn = 0;
  int64_t heads = 0, kv_heads = 0, head_dim = 0;
  int64_t vocab = 0;    // rows of the embedding
  int64_t context = 0;  // tokens
  double norm_eps = 0;
  RopeConfig rope;
  bool qkv_bias = false;              // q, k and v have a bias
  bool output_bias = false;           // the attention's output projection has one
  bool tied_head = false;             // the embedding is also the head
  std::vector<TokenId> end_ids = {};  // as the configuration files name them

  int64_t token_types = 0;  // encoders: kinds of token; their positions are a table, not a rotation

  bool mixture = false;            // of experts
  int64_t experts = 0, top_k = 0;  // how many there are, how many a token goes to
  bool normalise_shares = false;   // the shares of a token's experts add up to one

  std::vector<bool> attention_layers = {};  // hybrids: which layers attend; the others convolve
  int64_t conv_length = 0;                  // taps
  bool conv_bias = false;
};

// `where` is the file, for messages.
//   errors   corrupt (a value that no network can have: names key, value and what is allowed)
Result<void> check_config(const ModelConfig& config, std::string_view where);

}  // namespace mummu
