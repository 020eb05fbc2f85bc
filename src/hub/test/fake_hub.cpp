#include "hub/test/fake_hub.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <vector>

extern char** environ;

namespace mummu::test {

FakeHub::FakeHub(const std::string& tls_name) {
  int to[2], from[2];
  if (::pipe2(to, O_CLOEXEC) != 0 || ::pipe2(from, O_CLOEXEC) != 0) std::abort();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to[0], 0);
  posix_spawn_file_actions_adddup2(&actions, from[1], 1);
  std::string script = MUMMU_SOURCE_DIR "/src/hub/test/fake_hub.py", folder = root.path();
  std::vector<std::string> words = {"python3", script, folder};
  if (!tls_name.empty()) words.insert(words.end(), {"--tls", tls_name});
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  if (::posix_spawnp(&pid_, "python3", &actions, nullptr, arguments.data(), environ) != 0)
    std::abort();
  posix_spawn_file_actions_destroy(&actions);
  ::close(to[0]);
  ::close(from[1]);
  in_ = to[1];
  out_ = from[0];
  const auto places = nlohmann::json::parse(read_line());
  url = places.at("hub");
  cdn = places.at("cdn");
  ca = places.at("ca");
}

FakeHub::~FakeHub() {
  ::close(in_);
  ::close(out_);
  ::waitpid(pid_, nullptr, 0);
}

std::string FakeHub::read_line() {
  std::string line;
  for (char c = 0; ::read(out_, &c, 1) == 1 && c != '\n';) line += c;
  return line;
}

nlohmann::json FakeHub::command(const nlohmann::json& words) {
  const std::string line = words.dump() + "\n";
  if (::write(in_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) std::abort();
  return nlohmann::json::parse(read_line());
}

void FakeHub::fault(const std::string& kind, const std::string& on, const nlohmann::json& more) {
  nlohmann::json words = {{"cmd", "fault"}, {"kind", kind}, {"on", on}};
  words.update(more);
  command(words);
}

nlohmann::json FakeHub::log() { return command({{"cmd", "log"}}); }
int64_t FakeHub::sent_bytes() {
  int64_t sum = 0;
  for (const auto& entry : log())
    if (entry.at("path").get<std::string>().find("/api/") == std::string::npos)
      sum += entry.at("sent").get<int64_t>();
  return sum;
}

void FakeHub::clear() { command({{"cmd", "clear"}}); }

std::string FakeHub::put(const std::string& repository, const std::string& file,
                         std::string content) {
  write_file(root.path(repository + "/" + file), content);
  return content;
}

std::string FakeHub::put_random(const std::string& repository, const std::string& file,
                                size_t size) {
  std::mt19937_64 random(std::hash<std::string>()(repository + file));
  std::string content(size, '\0');
  for (size_t i = 0; i < size; i += 8) {
    const uint64_t word = random();
    for (size_t j = i; j < std::min(size, i + 8); ++j)
      content[j] = static_cast<char>(word >> (8 * (j - i)));
  }
  return put(repository, file, std::move(content));
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void write_file(const std::filesystem::path& path, const std::string& content) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << content;
}

}  // namespace mummu::test
