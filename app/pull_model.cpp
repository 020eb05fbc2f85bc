#include "pull_model.h"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "command.h"

namespace mummu::app {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int64_t kLarge = 1'000'000'000;    // bytes that somebody may not want to fetch
constexpr double kBetween_s[] = {0.1, 0.5};  // two frames of a bar, two lines of JSON

// Draws a progress at most so many times a second.
class Meter {
 public:
  Meter(std::string name, bool json)
      : name_(std::move(name)), json_(json), terminal_(isatty(STDERR_FILENO) != 0) {}

  void show(const DownloadProgress& progress) {
    const auto now = Clock::now();
    if (std::chrono::duration<double>(now - last_).count() < kBetween_s[json_]) return;
    last_ = now;
    if (json_)
      print_json(progress);
    else if (terminal_)
      draw(progress);
  }

  void clear() const {
    if (terminal_ && !json_) fmt::print(stderr, "\r\x1b[K");
  }

 private:
  double rate(const DownloadProgress& progress) const {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    return seconds > 0 ? static_cast<double>(progress.fetched) / seconds : 0;
  }

  void draw(const DownloadProgress& progress) const {
    std::string line = name_;
    if (progress.total > 0) {
      const int percent = static_cast<int>(progress.bytes * 100 / progress.total);
      line += fmt::format(" [{:<20}] {:3} %  {} of {}", std::string(percent / 5, '='), percent,
                          human_bytes(progress.bytes), human_bytes(progress.total));
    }
    if (const double bytes = rate(progress); bytes > 0) {
      const auto left =
          static_cast<int64_t>(static_cast<double>(progress.total - progress.bytes) / bytes);
      line += fmt::format("  {}/s  {}:{:02} left", human_bytes(static_cast<int64_t>(bytes)),
                          left / 60, left % 60);
    }
    if (!progress.note.empty()) line += "  " + progress.note;
    fmt::print(stderr, "\r\x1b[K{}", line);
  }

  void print_json(const DownloadProgress& progress) const {
    nlohmann::ordered_json out;
    out["bytes"] = progress.bytes;
    out["total"] = progress.total;
    out["files"] = progress.files;
    out["files_done"] = progress.files_done;
    out["note"] = progress.note;
    fmt::print("{}\n", out.dump());
    std::fflush(stdout);
  }

  std::string name_;
  bool json_, terminal_;
  Clock::time_point start_ = Clock::now(), last_{};
};

bool confirm(const std::string& name, int64_t bytes) {
  fmt::print(stderr, "\r\x1b[K{}: {} to download. Go on? [Y/n] ", name, human_bytes(bytes));
  std::string answer;
  for (int c = 0; (c = std::getchar()) != '\n';) {
    if (c == EOF) return false;
    answer += static_cast<char>(c);
  }
  return answer.empty() || answer[0] == 'y' || answer[0] == 'Y';
}

bool is_wanted(const std::string& name, Ask ask, int64_t bytes) {
  const bool terminal = isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
  const int64_t most = ask == Ask::always ? 0 : kLarge;
  return ask == Ask::never || !terminal || bytes <= most || confirm(name, bytes);
}

}  // namespace

Downloaded pull_model(const std::string& name, Ask ask, bool json) {
  watch_interrupt();
  HubOptions options = hub_options();
  options.hash_thread = true;
  Download pull = take(Download::start(name, options));
  Meter meter(name, json);
  bool asked = false;
  while (const DownloadProgress* progress = pull.next()) {
    if (!asked && progress->total > 0) {
      asked = true;
      if (!is_wanted(name, ask, progress->total - progress->bytes)) pull.cancel();
    }
    if (interrupted()) pull.cancel();
    meter.show(*progress);
  }
  meter.clear();
  return take(pull.result());
}

}  // namespace mummu::app
