#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "hub/installed.h"
#include "hub/test/bench.h"
#include "mummu/hub.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using test::HubBench;
using test::kFolderModel;
using test::kGgufModel;
using test::read_file;

TEST(Download, a_model_of_several_files_comes_as_the_hub_has_it) {
  HubBench bench;
  bench.put_folder_model();
  const auto done = download(kFolderModel, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  bench.expect_folder_model(*done);
  EXPECT_FALSE(fs::exists(fs::path(done->path) / "README.md"));
  EXPECT_EQ(done->bytes, done->fetched);
  const fs::path folder = bench.store.path("models--maker--folder-model");
  EXPECT_EQ(read_file(folder / "refs/main"), done->revision);
  EXPECT_EQ(done->path, (folder / "snapshots" / done->revision).string());
  EXPECT_TRUE(fs::is_symlink(fs::path(done->path) / "model.safetensors"));
  for (const auto& blob : fs::directory_iterator(folder / "blobs"))
    EXPECT_EQ(blob.path().extension(), "") << "left behind: " << blob.path();
}

TEST(Download, an_on_download_that_throws_a_number_ends_in_an_error) {
  HubBench bench;
  bench.put_folder_model();
  const auto thrown =
      download(kFolderModel, bench.options, [](const DownloadProgress&) -> bool { throw 7; });
  EXPECT_EQ(thrown.error().code, Error::internal);
}

TEST(Download, small_files_come_first) {
  HubBench bench;
  bench.put_folder_model();
  bench.options.files = 1;
  ASSERT_TRUE(download(kFolderModel, bench.options));
  std::vector<std::string> asked;
  for (const auto& entry : bench.hub.log())
    if (entry.at("host") == "hub") asked.push_back(entry.at("path"));
  ASSERT_EQ(asked.size(), 4u);
  EXPECT_TRUE(asked[0].starts_with("/api/models/"));
  EXPECT_TRUE(asked[3].ends_with("/model.safetensors"));
}

TEST(Download, what_is_here_is_not_fetched_again) {
  HubBench bench;
  bench.put_folder_model();
  const auto first = download(kFolderModel, bench.options);
  ASSERT_TRUE(first);
  bench.hub.clear();
  const auto again = download(kFolderModel, bench.options);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->fetched, 0);
  EXPECT_EQ(bench.hub.log().size(), 1u) << "one question whether main has moved";
  bench.hub.clear();
  bench.options.offline = true;
  ASSERT_TRUE(download(kFolderModel, bench.options));
  bench.options.offline = false;
  ASSERT_TRUE(download(std::string(kFolderModel) + "@" + first->revision, bench.options));
  EXPECT_EQ(bench.hub.log().size(), 0u) << "offline, or by its commit, nobody is asked";
}

TEST(Download, offline_and_not_here_is_not_found) {
  HubBench bench;
  bench.put_folder_model();
  bench.options.offline = true;
  const auto done = download(kFolderModel, bench.options);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::not_found);
  EXPECT_EQ(bench.hub.log().size(), 0u);
}

TEST(Download, a_large_file_comes_in_ranges) {
  HubBench bench;
  const std::string content = bench.put_gguf(5'000'000);
  bench.options.range_bytes = 1'000'000;
  bench.options.connections = 3;
  const auto done = download(kGgufModel, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
  EXPECT_EQ(done->fetched, 5'000'000);
  std::vector<std::string> ranges;
  for (const auto& entry : bench.hub.log())
    if (entry.at("host") == "hub" && entry.at("range").is_string())
      ranges.push_back(entry.at("range"));
  std::ranges::sort(ranges);
  EXPECT_EQ(ranges, (std::vector<std::string>{"bytes=0-999999", "bytes=1000000-1999999",
                                              "bytes=2000000-2999999", "bytes=3000000-3999999",
                                              "bytes=4000000-4999999"}));
}

TEST(Download, one_connection_asks_for_the_whole) {
  HubBench bench;
  const std::string content = bench.put_gguf(5'000'000);
  bench.options.range_bytes = 1'000'000;
  bench.options.connections = 1;
  const auto done = download(kGgufModel, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
  for (const auto& entry : bench.hub.log()) EXPECT_TRUE(entry.at("range").is_null());
}

TEST(Download, what_a_kill_beside_the_last_step_left_behind_is_removed) {
  HubBench bench;
  bench.put_gguf(5000);
  ASSERT_TRUE(download(kGgufModel, bench.options));
  const fs::path blobs = bench.store.path("models--maker--one-file/blobs");
  const std::string blob = fs::directory_iterator(blobs)->path().string();
  test::write_file(blob + ".part.map", "mummu-part-1 5000");
  const auto again = download(kGgufModel, bench.options);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->fetched, 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(blobs), fs::directory_iterator()), 1);
}

TEST(Download, an_empty_file_needs_no_request) {
  HubBench bench;
  bench.put_folder_model();
  bench.files["added.json"] = bench.hub.put(kFolderModel, "added.json", "");
  const auto done = download(kFolderModel, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  bench.expect_folder_model(*done);
}

TEST(Download, a_pulled_download_gives_the_same_files_and_bounded_progress) {
  HubBench bench;
  bench.put_folder_model();
  auto pull = Download::start(kFolderModel, bench.options);
  ASSERT_TRUE(pull);
  int64_t last = 0;
  while (const DownloadProgress* progress = pull->next()) {
    EXPECT_GE(progress->bytes, last);
    EXPECT_LE(progress->bytes, std::max<int64_t>(progress->total, 0));
    last = progress->bytes;
  }
  ASSERT_TRUE(pull->result());
  bench.expect_folder_model(*pull->result());
}

TEST(Download, cancelling_at_any_byte_leaves_what_the_next_one_goes_on_with) {
  HubBench bench;
  constexpr int64_t kBytes = 6 << 20;
  const std::string content = bench.put_gguf(kBytes);
  const fs::path blobs = bench.store.path("models--maker--one-file/blobs");
  for (const int64_t stop_at : {int64_t{1}, int64_t{2 << 20}, kBytes - 1}) {
    const auto stopped = download(kGgufModel, bench.options, [&](const DownloadProgress& progress) {
      return progress.bytes < stop_at;
    });
    if (stopped) break;  // the last bytes came in one piece
    EXPECT_EQ(stopped.error().code, Error::cancelled);
    EXPECT_EQ(hub::find_installed(bench.store.path(), {.repository = kGgufModel}), std::nullopt);
  }
  const auto done = download(kGgufModel, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
  EXPECT_LT(done->fetched, kBytes) << "bytes of the cancelled downloads were used";
  EXPECT_EQ(std::distance(fs::directory_iterator(blobs), fs::directory_iterator()), 1);
}

TEST(Download, a_missing_repository_revision_or_file_is_not_found) {
  HubBench bench;
  bench.put_gguf(1000);
  for (const char* name : {"maker/absent", "maker/one-file@absent", "maker/one-file:absent.gguf"}) {
    const auto done = download(name, bench.options);
    ASSERT_FALSE(done) << name;
    EXPECT_EQ(done.error().code, Error::not_found) << done.error().message;
  }
}

TEST(Download, an_unreachable_hub_is_one_error) {
  HubBench bench;
  bench.options.endpoint = "http://127.0.0.1:9";
  const auto done = download(kGgufModel, bench.options);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::io);
  EXPECT_NE(done.error().message.find("out of reach"), std::string::npos) << done.error().message;
}

TEST(Download, wrong_options_are_refused_before_anything_is_asked) {
  HubOptions options{.endpoint = "ftp://x", .store = "/nowhere"};
  EXPECT_EQ(download("a/b", options).error().code, Error::invalid);
  options = {.token = "a\r\nX: y", .store = "/nowhere"};
  EXPECT_EQ(download("a/b", options).error().code, Error::invalid);
  options = {.store = ""};
  EXPECT_EQ(download("a/b", options).error().code, Error::invalid);
}

TEST(Download, the_token_goes_to_the_hub_and_to_nobody_else) {
  HubBench bench;
  bench.put_folder_model();
  bench.options.token = "hf_secret";
  ASSERT_TRUE(download(kFolderModel, bench.options));
  int at_hub = 0, at_cdn = 0;
  for (const auto& entry : bench.hub.log()) {
    const bool hub = entry.at("host") == "hub";
    (hub ? at_hub : at_cdn) += 1;
    if (hub)
      EXPECT_EQ(entry.at("authorization"), "Bearer hf_secret");
    else
      EXPECT_TRUE(entry.at("authorization").is_null()) << "the token leaked to another host";
  }
  EXPECT_EQ(at_hub, 4);
  EXPECT_EQ(at_cdn, 1);
}

TEST(Download, one_file_of_a_url_comes_over_tls) {
  HubBench bench("127.0.0.1");
  const std::string content = bench.hub.put_random("plain", "m.gguf", 300'000);
  const std::string url = bench.hub.cdn + "/plain/plain/m.gguf";
  const auto done = download(url, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_TRUE(read_file(done->path) == content);
  EXPECT_TRUE(done->path.ends_with("/m.gguf"));
  bench.options.offline = true;
  EXPECT_TRUE(download(url, bench.options));
}

TEST(Download, a_certificate_for_another_name_is_refused) {
  HubBench bench("hub.example");
  bench.put_folder_model();
  const auto done = download(kFolderModel, bench.options);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Error::io);
  EXPECT_EQ(bench.hub.log().size(), 0u);
}

TEST(Download, an_untrusted_certificate_is_refused) {
  HubBench bench("127.0.0.1");
  bench.put_folder_model();
  bench.options.ca_file.clear();
  EXPECT_FALSE(download(kFolderModel, bench.options));
  EXPECT_EQ(bench.hub.log().size(), 0u);
}

}  // namespace
}  // namespace mummu
