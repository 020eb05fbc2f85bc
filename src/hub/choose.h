#pragma once

// Which files of a repository make the model that was asked for, and whether a set of files on this
// disk is a whole model. Both see file names only.

#include <string>
#include <string_view>
#include <vector>

#include "mummu/result.h"

namespace mummu::hub {

struct Choice {
  std::vector<std::string> files{};
  std::string main{};  // the file to load; empty: the folder
};

// `file` is a file of the repository, a quantisation ("q4_k_m") or empty: then the safetensors
// folder, else the only GGUF model, else the one in q4_k_m.
//   errors   not_found (says what there is), unsupported (nothing here can be loaded)
Result<Choice> choose_files(const std::vector<std::string>& there, const std::string& file,
                            const std::string& where);

// The first part of a GGUF model and all its parts, as its name says: "x-00001-of-00003.gguf".
std::vector<std::string> gguf_parts(const std::string& file);

// Whether a name has this quantisation as a word of its own, whatever its case.
bool has_quant(std::string_view file, std::string_view quant);

}  // namespace mummu::hub
