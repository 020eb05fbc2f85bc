#pragma once

// For tests: a small Qwen2 with the real Qwen2 vocabulary and chat template, and weights that are
// drawn from the counter-based generator, the same on every machine.

#include <string>

namespace mummu::test {

// The bytes of the model as a GGUF file.
//   vocabulary   ggml-vocab-qwen2.gguf of the fixtures: a GGUF file without tensors
std::string drawn_qwen2(const std::string& vocabulary);

}  // namespace mummu::test
