// Every fault of the fake hub at every class of byte position: a download ends with the hub's bytes
// or in one clear error, and then the next one succeeds.

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <nlohmann/json.hpp>

#include "hub/installed.h"
#include "hub/test/bench.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::HubBench;
using test::kFolderModel;
using test::kGgufModel;
using test::read_file;

constexpr int64_t kBytes = 300'000;
constexpr int kForever = 1'000'000;
constexpr int64_t kPositions[] = {0, kBytes / 2, kBytes - 1};

// Drives a download; when the hub has fallen silent in a request, 31 s pass, and again if that
// request is still its last one twenty rounds later: it may have been the last bytes that were
// late.
Result<Downloaded> download_with_stalls(HubBench& bench, const std::string& name) {
  auto pull = Download::start(name, bench.options);
  if (!pull) return std::move(pull).error();
  int64_t last = -1, rounds = 0;
  size_t requests = 0;  // when 31 s passed
  while (const DownloadProgress* progress = pull->next()) {
    const bool moved = std::exchange(last, progress->fetched) != last;
    const json log = moved ? json() : bench.hub.log();
    if (log.empty() || !log.back().value("stalled", false)) continue;
    if (log.size() == requests && ++rounds < 20) continue;
    requests = log.size();
    rounds = 0;
    bench.clock->advance(std::chrono::seconds(31));
  }
  return pull->result();
}

void expect_nothing_installed(const HubBench& bench, const std::string& name) {
  EXPECT_EQ(hub::find_installed(bench.store.path(), {.repository = name}), std::nullopt);
}

void expect_clear(const Error& error, Error::Code code, const std::string& says) {
  EXPECT_EQ(error.code, code) << error.message;
  EXPECT_NE(error.message.find(says), std::string::npos) << error.message;
  EXPECT_EQ(error.message.find('\n'), std::string::npos) << error.message;
}

TEST(Fault, one_at_any_byte_is_overcome) {
  HubBench bench;
  const std::string content = bench.put_gguf(kBytes);
  const json kinds[] = {{{"kind", "cut"}},
                        {{"kind", "reset"}},
                        {{"kind", "drip"}},
                        {{"kind", "flip"}},
                        {{"kind", "length"}, {"by", 7}},
                        {{"kind", "short"}, {"by", 1}},
                        {{"kind", "long"}, {"by", 1}}};
  for (const json& kind : kinds)
    for (const int64_t at : kPositions) {
      const std::string what = kind.dump() + " at " + std::to_string(at);
      bench.hub.clear();
      json more = kind;
      more.update({{"at", at}, {"host", "cdn"}});
      bench.hub.fault(kind.at("kind"), "m.gguf", more);
      fs::remove_all(bench.store.path("models--maker--one-file"));
      const auto done = download(kGgufModel, bench.options);
      ASSERT_TRUE(done) << what << ": " << done.error().message;
      EXPECT_TRUE(read_file(done->path) == content) << what;
    }
}

TEST(Fault, a_break_costs_no_byte_that_had_come) {
  HubBench bench;
  bench.put_gguf(kBytes);
  for (const char* kind : {"cut", "reset"}) {
    bench.hub.clear();
    bench.hub.fault(kind, "m.gguf", {{"at", kBytes / 2}, {"times", 3}, {"host", "cdn"}});
    fs::remove_all(bench.store.path("models--maker--one-file"));
    const auto done = download(kGgufModel, bench.options);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_LE(done->fetched, std::string(kind) == "cut" ? kBytes : 2 * kBytes) << kind;
  }
}

TEST(Fault, a_hub_that_falls_silent_is_left_after_30_s_of_the_clock) {
  HubBench bench;
  const std::string content = bench.put_gguf(kBytes);
  for (const int64_t at : kPositions) {
    bench.hub.clear();
    bench.hub.fault("stall", "m.gguf", {{"at", at}, {"host", "cdn"}});
    fs::remove_all(bench.store.path("models--maker--one-file"));
    const auto before = bench.clock->now();
    const auto done = download_with_stalls(bench, kGgufModel);
    ASSERT_TRUE(done) << at << ": " << done.error().message;
    EXPECT_TRUE(read_file(done->path) == content) << at;
    EXPECT_GE(bench.clock->now() - before, std::chrono::seconds(30)) << at;
  }
}

TEST(Fault, ranges_that_break_go_on_where_each_stood) {
  HubBench bench;
  bench.options.range_bytes = 100'000;
  bench.options.connections = 3;
  const std::string content = bench.put_gguf(kBytes);
  for (const int64_t at : kPositions) {
    bench.hub.clear();
    bench.hub.fault("cut", "m.gguf", {{"at", at}, {"host", "cdn"}});
    fs::remove_all(bench.store.path("models--maker--one-file"));
    const auto done = download(kGgufModel, bench.options);
    ASSERT_TRUE(done) << at << ": " << done.error().message;
    EXPECT_TRUE(read_file(done->path) == content) << at;
    EXPECT_EQ(done->fetched, kBytes) << at;
  }
}

TEST(Fault, the_whole_instead_of_a_range_begins_again_without_ranges) {
  HubBench bench;
  bench.options.range_bytes = 100'000;
  const std::string content = bench.put_gguf(kBytes);
  bench.hub.fault("ignore_range", "m.gguf", {{"times", kForever}, {"host", "cdn"}});
  const auto done = download(kGgufModel, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
}

TEST(Fault, a_range_from_another_place_is_not_taken) {
  HubBench bench;
  bench.options.range_bytes = 100'000;
  const std::string content = bench.put_gguf(kBytes);
  bench.hub.fault("range", "m.gguf", {{"times", 1}, {"host", "cdn"}});
  const auto done = download(kGgufModel, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
}

TEST(Fault, wrong_bytes_twice_are_corrupt_and_nothing_stays) {
  HubBench bench;
  bench.put_gguf(kBytes);
  for (const char* kind : {"flip", "short", "long"}) {
    bench.hub.clear();
    bench.hub.fault(kind, "m.gguf",
                    {{"at", kBytes - 1}, {"by", 1}, {"times", kForever}, {"host", "cdn"}});
    const auto done = download(kGgufModel, bench.options);
    ASSERT_FALSE(done) << kind;
    expect_clear(done.error(), Error::corrupt, "m.gguf");
    expect_nothing_installed(bench, kGgufModel);
    EXPECT_TRUE(fs::is_empty(bench.store.path("models--maker--one-file/blobs"))) << kind;
  }
}

TEST(Fault, a_thread_that_hashes_sees_the_same) {
  HubBench bench;
  bench.options.hash_thread = true;
  bench.options.range_bytes = 100'000;
  const std::string content = bench.put_gguf(kBytes);
  for (const char* kind : {"flip", "cut", "reset"}) {
    bench.hub.clear();
    bench.hub.fault(kind, "m.gguf", {{"at", kBytes / 2}, {"times", 3}, {"host", "cdn"}});
    fs::remove_all(bench.store.path("models--maker--one-file"));
    const auto done = download(kGgufModel, bench.options);
    ASSERT_TRUE(done) << kind << ": " << done.error().message;
    EXPECT_TRUE(read_file(done->path) == content) << kind;
    EXPECT_EQ(done->fetched, kind == std::string_view("flip") ? 2 * kBytes : kBytes) << kind;
  }
  bench.hub.fault("flip", "m.gguf", {{"at", 0}, {"times", kForever}, {"host", "cdn"}});
  fs::remove_all(bench.store.path("models--maker--one-file"));
  const auto refused = download(kGgufModel, bench.options);
  ASSERT_FALSE(refused);
  expect_clear(refused.error(), Error::corrupt, "m.gguf");
}

TEST(Fault, wrong_bytes_in_a_small_file_are_seen_by_its_git_id) {
  HubBench bench;
  bench.put_folder_model();
  bench.hub.fault("flip", "config.json", {{"at", 1}, {"times", kForever}});
  const auto done = download(kFolderModel, bench.options);
  ASSERT_FALSE(done);
  expect_clear(done.error(), Error::corrupt, "config.json");
  expect_nothing_installed(bench, kFolderModel);
}

TEST(Fault, a_busy_hub_is_asked_again_when_it_says) {
  HubBench bench;
  const std::string content = bench.put_gguf(kBytes);
  const auto before = bench.clock->now();
  bench.hub.fault("status", "/api/", {{"status", 429}, {"after", 17}, {"times", 2}});
  bench.hub.fault("status", "m.gguf", {{"status", 503}, {"after", 5}, {"host", "hub"}});
  bench.hub.fault("status", "m.gguf", {{"status", 500}, {"host", "cdn"}});
  std::string note;
  const auto done = download(kGgufModel, bench.options, [&](const DownloadProgress& progress) {
    if (note.empty()) note = progress.note;
    return true;
  });
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
  EXPECT_GE(bench.clock->now() - before, std::chrono::seconds(2 * 17 + 5));
  EXPECT_EQ(note, "the hub answered 429, again in 17.0 s");
}

TEST(Fault, what_does_not_end_is_one_clear_error) {
  HubBench bench;
  bench.put_gguf(kBytes);
  struct Case {
    const char* kind;
    const char* on;
    json more;
    Error::Code code;
    const char* says;
  };
  const Case cases[] = {
      {"status", "/api/", {{"status", 500}}, Error::io, "500"},
      {"status", "/api/", {{"status", 429}}, Error::busy, "429"},
      {"status", "/api/", {{"status", 429}, {"after", 9999}}, Error::busy, "9999 s"},
      {"status", "/api/", {{"status", 401}}, Error::invalid, "HF_TOKEN"},
      {"status", "/api/", {{"status", 403}}, Error::invalid, "403"},
      {"status", "/api/", {{"status", 410}}, Error::io, "410"},
      {"status", "m.gguf", {{"status", 404}}, Error::not_found, "404"},
      {"loop", "/api/", {}, Error::io, "redirects"},
      {"loop", "m.gguf", {}, Error::io, "redirects"},
      {"headers", "/api/", {{"bytes", 90'000}}, Error::io, "headers"},
      {"headers", "m.gguf", {{"bytes", 300'000}}, Error::io, "headers"},
      {"body", "/api/", {{"bytes", 100'000'000}}, Error::corrupt, "16 MB"},
      {"cut", "m.gguf", {{"at", 0}}, Error::io, "in a row"},
      {"reset", "m.gguf", {{"at", 0}}, Error::io, "in a row"},
      {"redirect", "/api/", {{"to", "file:///etc/passwd"}}, Error::io, "file"},
      {"redirect", "m.gguf", {{"to", "ftp://127.0.0.1/x"}}, Error::io, "ftp"},
  };
  for (const Case& c : cases) {
    bench.hub.clear();
    json more = c.more;
    more["times"] = kForever;
    bench.hub.fault(c.kind, c.on, more);
    const auto done = download(kGgufModel, bench.options);
    ASSERT_FALSE(done) << c.kind << ' ' << c.on;
    expect_clear(done.error(), c.code, c.says);
    expect_nothing_installed(bench, kGgufModel);
    bench.hub.clear();
  }
  EXPECT_TRUE(download(kGgufModel, bench.options)) << "no fault is left, nothing hinders";
}

TEST(Fault, a_huge_answer_is_left_before_it_is_read) {
  HubBench bench;
  bench.put_gguf(kBytes);
  bench.hub.fault("body", "/api/", {{"bytes", 100'000'000}});
  ASSERT_FALSE(download(kGgufModel, bench.options));
  EXPECT_LT(bench.hub.log()[0].at("sent").get<int64_t>(), 40'000'000);
}

TEST(Fault, a_redirect_from_https_to_http_is_refused) {
  HubBench plain, bench("127.0.0.1");
  bench.put_gguf(kBytes);
  bench.options.token = "hf_secret";
  bench.hub.fault("redirect", "m.gguf", {{"to", plain.hub.url + "/x"}, {"times", kForever}});
  const auto done = download(kGgufModel, bench.options);
  ASSERT_FALSE(done);
  expect_clear(done.error(), Error::io, "from https to http");
  EXPECT_EQ(plain.hub.log().size(), 0u);
}

TEST(Fault, a_redirect_of_the_listing_to_another_host_takes_no_token_along) {
  HubBench bench;
  bench.put_gguf(kBytes);
  bench.options.token = "hf_secret";
  bench.hub.fault("redirect", "/api/",
                  {{"to", bench.hub.cdn + "/api/models/" + kGgufModel}, {"host", "hub"}});
  ASSERT_TRUE(download(kGgufModel, bench.options));
  int at_cdn = 0;
  for (const auto& entry : bench.hub.log())
    if (entry.at("host") == "cdn") at_cdn += entry.at("authorization").is_null() ? 1 : 1000;
  EXPECT_EQ(at_cdn, 2);
}

TEST(Fault, hostile_file_names_are_refused_and_nothing_is_written) {
  HubBench bench;
  bench.put_folder_model();
  using namespace std::string_literals;
  for (const std::string& name :
       {"../../evil.json"s, "/tmp/evil.json"s, "evil\0.json"s, "nul.json"s, "a\\..\\evil.json"s}) {
    const json file = {{"rfilename", name}, {"size", 1}, {"blobId", std::string(40, 'a')}};
    bench.hub.command(
        {{"cmd", "listing"}, {"repository", kFolderModel}, {"siblings", json::array({file})}});
    const auto done = download(kFolderModel, bench.options);
    ASSERT_FALSE(done) << name;
    expect_clear(done.error(), Error::corrupt, "file name");
    EXPECT_TRUE(fs::is_empty(bench.store.path())) << name;
  }
}

TEST(Fault, a_disk_that_is_too_small_is_seen_before_the_first_byte) {
  HubBench bench;
  const json file = {{"rfilename", "m.gguf"},
                     {"size", int64_t{1} << 55},
                     {"blobId", std::string(40, 'a')},
                     {"lfs", {{"sha256", std::string(64, 'a')}}}};
  bench.put_gguf(kBytes);
  bench.hub.command(
      {{"cmd", "listing"}, {"repository", kGgufModel}, {"siblings", json::array({file})}});
  const auto done = download(kGgufModel, bench.options);
  ASSERT_FALSE(done);
  expect_clear(done.error(), Error::io, "disk full");
  EXPECT_EQ(bench.hub.log().size(), 1u);
}

TEST(Fault, a_disk_that_fills_up_is_one_error_and_the_rest_comes_later) {
  HubBench bench;
  const std::string content = bench.put_gguf(3'000'000);
  struct rlimit whole = {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &whole), 0);
  std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {.rlim_cur = 2'000'000, .rlim_max = whole.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  const auto full = download(kGgufModel, bench.options);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &whole), 0);
  ASSERT_FALSE(full);
  expect_clear(full.error(), Error::io, "disk full");
  expect_nothing_installed(bench, kGgufModel);
  const auto done = download(kGgufModel, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
  EXPECT_LT(done->fetched, 1'500'000);
}

TEST(Fault, a_part_that_was_tampered_with_is_found_out_and_fetched_again) {
  HubBench bench;
  const std::string content = bench.put_gguf(3'000'000);
  bench.hub.fault("cut", "m.gguf", {{"at", 2'500'000}, {"host", "cdn"}, {"times", 1}});
  const auto stopped = download(kGgufModel, bench.options, [](const DownloadProgress& progress) {
    return progress.bytes < 2'000'000;
  });
  ASSERT_FALSE(stopped);
  const fs::path blobs = bench.store.path("models--maker--one-file/blobs");
  for (const auto& entry : fs::directory_iterator(blobs))
    if (entry.path().extension() == ".part") {
      std::string bytes = read_file(entry.path());
      bytes[100] = static_cast<char>(bytes[100] ^ 1);
      test::write_file(entry.path(), bytes);
    }
  const auto done = download(kGgufModel, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
}

}  // namespace
}  // namespace mummu
