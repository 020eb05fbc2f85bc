#include "hub/choose.h"

#include <algorithm>

#include "base/fail.h"
#include "hub/text.h"

namespace mummu::hub {
namespace {

constexpr int kMaxParts = 1000;
constexpr size_t kSuffix = std::string_view("-00001-of-00003.gguf").size();

bool is_gguf(std::string_view file) { return ends_with_ignoring_case(file, ".gguf"); }

int number(std::string_view digits) {
  int value = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

// {part, of}; {0, 0}: the name of no part.
std::pair<int, int> part_of(std::string_view file) {
  if (!is_gguf(file) || file.size() <= kSuffix) return {};
  const std::string_view tail = file.substr(file.size() - kSuffix);
  if (tail[0] != '-' || tail.substr(6, 4) != "-of-") return {};
  const int part = number(tail.substr(1, 5)), of = number(tail.substr(10, 5));
  if (part < 1 || of < part || of > kMaxParts) return {};
  return {part, of};
}

bool is_word_char(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '_'; }

// GGUF models, by their first parts.
std::vector<std::string> gguf_models(const std::vector<std::string>& there) {
  std::vector<std::string> models;
  for (const std::string& file : there)
    if (is_gguf(file) && part_of(file).first <= 1 && lower(file).find("mmproj") == file.npos)
      models.push_back(file);
  std::ranges::sort(models);
  return models;
}

std::string joined(const std::vector<std::string>& files) {
  std::string out;
  for (size_t i = 0; i < files.size() && i < 12; ++i) out += (i ? ", " : "") + files[i];
  return files.size() > 12 ? out + ", ..." : out;
}

bool contains(const std::vector<std::string>& files, const std::string& file) {
  return std::ranges::find(files, file) != files.end();
}

Result<Choice> gguf_choice(const std::vector<std::string>& there, const std::string& main,
                           const std::string& where) {
  Choice choice{.files = gguf_parts(main), .main = main};
  for (const std::string& part : choice.files)
    if (!contains(there, part))
      return fail(Error::not_found, "{}: {} is missing beside {}", where, part, main);
  return choice;
}

// What a folder of transformers or sentence-transformers needs to be loaded.
bool belongs_to_folder(std::string_view file) {
  const size_t slash = file.find('/');
  if (slash != file.npos)  // the modules of sentence-transformers: 1_Pooling/config.json
    return file.substr(slash + 1) == "config.json" && file[0] >= '0' && file[0] <= '9';
  for (const char* end : {".json", ".safetensors", ".jinja", ".txt"})
    if (ends_with_ignoring_case(file, end)) return true;
  return false;
}

Result<Choice> folder_choice(const std::vector<std::string>& there, const std::string& where) {
  Choice choice;
  std::ranges::copy_if(there, std::back_inserter(choice.files), belongs_to_folder);
  const bool sharded = contains(there, "model.safetensors.index.json");
  if (!sharded && contains(there, "model.safetensors"))  // no copies in other precisions
    std::erase_if(choice.files, [](const std::string& file) {
      return file.ends_with(".safetensors") && file != "model.safetensors";
    });
  if (!contains(there, "tokenizer.json"))
    return fail(Error::unsupported, "{}: it has no tokenizer.json", where);
  return choice;
}

Result<Choice> by_quant(const std::vector<std::string>& there, const std::string& quant,
                        const std::string& where) {
  std::vector<std::string> models = gguf_models(there), found;
  std::ranges::copy_if(models, std::back_inserter(found),
                       [&](const std::string& file) { return has_quant(file, quant); });
  if (found.empty())
    return fail(Error::not_found, "{}: it has no {}; there are {}", where, quant,
                models.empty() ? "no GGUF files" : joined(models));
  if (found.size() > 1)
    return fail(Error::not_found, "{}: {} fits several files: {}", where, quant, joined(found));
  return gguf_choice(there, found[0], where);
}

}  // namespace

bool has_quant(std::string_view file, std::string_view quant) {
  const std::string text = lower(file), word = lower(quant);
  for (size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const size_t end = at + word.size();
    if ((at == 0 || !is_word_char(text[at - 1])) && end < text.size() && !is_word_char(text[end]))
      return true;
  }
  return false;
}

std::vector<std::string> gguf_parts(const std::string& file) {
  const auto [part, of] = part_of(file);
  if (part == 0) return {file};
  std::vector<std::string> parts;
  for (int i = 1; i <= of; ++i)
    parts.push_back(
        fmt::format("{}-{:05}-of-{:05}.gguf", file.substr(0, file.size() - kSuffix), i, of));
  return parts;
}

Result<Choice> choose_files(const std::vector<std::string>& there, const std::string& file,
                            const std::string& where) {
  if (contains(there, file)) return gguf_choice(there, file, where);
  if (!file.empty()) return by_quant(there, file, where);
  const bool weights =
      contains(there, "model.safetensors") || contains(there, "model.safetensors.index.json");
  if (weights && contains(there, "config.json")) return folder_choice(there, where);
  const std::vector<std::string> models = gguf_models(there);
  if (models.size() == 1) return gguf_choice(there, models[0], where);
  if (models.empty())
    return fail(Error::unsupported, "{}: it holds neither safetensors nor GGUF files", where);
  auto choice = by_quant(there, "q4_k_m", where);
  if (choice) return choice;
  return fail(Error::not_found, "{}: which one? append :FILE or :QUANTISATION, there are {}", where,
              joined(models));
}

}  // namespace mummu::hub
