// The JSON of embed_test.h.

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/embed_test.h"

namespace mummu::test {

std::vector<std::string> read_texts(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> texts;
  for (std::string line; std::getline(file, line);)
    texts.push_back(nlohmann::json::parse(line).get<std::string>());
  EXPECT_FALSE(texts.empty()) << path;
  return texts;
}

nlohmann::json EmbedFolder::read(const char* file) const {
  return nlohmann::json::parse(std::ifstream(folder_ / file));
}

void EmbedFolder::write(const char* file, const nlohmann::json& value) const {
  std::ofstream(folder_ / file) << value.dump();
}

void EmbedFolder::patch(const char* file, const char* change) const {
  nlohmann::json value = read(file);
  value.merge_patch(nlohmann::json::parse(change));
  write(file, value);
}

}  // namespace mummu::test
