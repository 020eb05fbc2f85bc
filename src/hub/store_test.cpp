#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "hub/folder.h"
#include "hub/lock.h"
#include "hub/test/bench.h"
#include "mummu/model_store.h"

namespace mummu {
namespace {

namespace fs = std::filesystem;
using test::HubBench;
using test::kFolderModel;
using test::kGgufModel;
using test::read_file;
using test::write_file;

void flip_byte(const fs::path& path) {
  std::string bytes = read_file(path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(path, bytes);
}

TEST(ModelStore, an_absent_store_is_empty) {
  const ModelStore store({.store = "/nowhere/at/all"});
  EXPECT_TRUE(store.list().empty());
  EXPECT_TRUE(store.use().empty());
  EXPECT_EQ(store.find("a/b").error().code, Error::not_found);
  EXPECT_EQ(ModelStore(store).remove("a/b").error().code, Error::not_found);
}

TEST(ModelStore, what_was_downloaded_is_listed_by_a_name_that_finds_it) {
  HubBench bench;
  bench.put_folder_model();
  bench.hub.put_random(kGgufModel, "m-q4_k_m.gguf", 5000);
  bench.hub.put_random(kGgufModel, "m-q8_0.gguf", 6000);
  for (const char* name : {kFolderModel, "maker/one-file:q8_0", "maker/one-file"})
    ASSERT_TRUE(download(name, bench.options));
  ModelStore store(bench.options);
  const auto models = store.list();
  ASSERT_EQ(models.size(), 3u);
  EXPECT_EQ(models[0].name, kFolderModel);
  EXPECT_EQ(models[1].name, "maker/one-file:m-q4_k_m.gguf");
  EXPECT_EQ(models[2].name, "maker/one-file:m-q8_0.gguf");
  for (const StoredModel& model : models) {
    const auto found = store.find(model.name);
    ASSERT_TRUE(found);
    EXPECT_EQ(found->path, model.path);
  }
  EXPECT_EQ(models[2].bytes, 6000);
}

TEST(ModelStore, a_partial_download_is_no_model_but_takes_room) {
  HubBench bench;
  bench.put_folder_model(3'000'000);
  bench.hub.fault("cut", "model.safetensors",
                  {{"at", 2'000'000}, {"host", "cdn"}, {"times", 1'000'000}});
  ASSERT_FALSE(download(kFolderModel, bench.options));
  ModelStore store(bench.options);
  EXPECT_TRUE(store.list().empty());
  EXPECT_EQ(store.find(kFolderModel).error().code, Error::not_found);
  ASSERT_EQ(store.use().size(), 1u);
  EXPECT_GT(store.use()[0].part_bytes, 1'000'000);
  ASSERT_TRUE(store.remove(kFolderModel));
  EXPECT_TRUE(store.use().empty());
}

TEST(ModelStore, a_snapshot_without_one_of_its_shards_is_no_model) {
  HubBench bench;
  bench.put_folder_model();
  fs::remove(fs::path(bench.hub.root.path(kFolderModel)) / "model.safetensors");
  bench.hub.put_random(kFolderModel, "model-00001-of-00002.safetensors", 5000);
  bench.hub.put_random(kFolderModel, "model-00002-of-00002.safetensors", 5000);
  bench.hub.put(kFolderModel, "model.safetensors.index.json",
                R"({"weight_map": {"a": "model-00001-of-00002.safetensors",
                                   "b": "model-00002-of-00002.safetensors"}})");
  const auto done = download(kFolderModel, bench.options);
  ASSERT_TRUE(done) << done.error().message;
  const ModelStore store(bench.options);
  EXPECT_EQ(store.list().size(), 1u);
  fs::remove(fs::path(done->path) / "model-00002-of-00002.safetensors");
  EXPECT_EQ(store.list().size(), 0u);
  EXPECT_FALSE(store.find(kFolderModel));
}

TEST(ModelStore, a_snapshot_that_python_has_not_finished_is_no_model) {
  HubBench bench;
  bench.put_folder_model();
  const auto done = download(kFolderModel, bench.options);
  ASSERT_TRUE(done);
  const fs::path tree =
      fs::path(bench.store.path("models--maker--folder-model/trees")) / (done->revision + ".json");
  const std::string names = R"("config.json": {}, "tokenizer.json": {}, "model.safetensors": {})";
  const ModelStore store(bench.options);
  write_file(tree, R"({"files": {"README.md": {}, )" + names + "}}");
  EXPECT_EQ(store.list().size(), 1u) << "README.md is no part of the model";
  write_file(tree, R"({"files": {"chat_template.jinja": {}, )" + names + "}}");
  EXPECT_TRUE(store.list().empty());
}

TEST(ModelStore, removing_one_file_leaves_what_others_use) {
  HubBench bench;
  const std::string same = bench.hub.put_random(kGgufModel, "a-q8_0.gguf", 5000);
  bench.hub.put(kGgufModel, "b-q4_0.gguf", same);
  ASSERT_TRUE(download("maker/one-file:q8_0", bench.options));
  ASSERT_TRUE(download("maker/one-file:q4_0", bench.options));
  ModelStore store(bench.options);
  EXPECT_EQ(store.list()[0].files[0].links, 2) << "both names share one content";
  EXPECT_EQ(store.use()[0].bytes, 5000);
  EXPECT_EQ(store.remove("maker/one-file:q8_0").value(), 0);
  ASSERT_EQ(store.list().size(), 1u);
  EXPECT_TRUE(read_file(store.list()[0].path) == same);
  EXPECT_EQ(store.remove("maker/one-file:q4_0").value(), 5000);
  EXPECT_TRUE(store.list().empty());
}

TEST(ModelStore, removing_a_repository_removes_its_folder_and_nothing_else) {
  HubBench bench;
  bench.put_folder_model();
  bench.put_gguf(5000);
  ASSERT_TRUE(download(kFolderModel, bench.options));
  ASSERT_TRUE(download(kGgufModel, bench.options));
  ModelStore store(bench.options);
  EXPECT_GT(store.remove(kFolderModel).value(), 200'000);
  EXPECT_FALSE(fs::exists(bench.store.path("models--maker--folder-model")));
  EXPECT_EQ(store.list().size(), 1u);
}

TEST(ModelStore, no_name_removes_anything_outside) {
  HubBench bench;
  test::TempFolder outside;
  write_file(outside.path("blobs/kept"), "kept");
  ModelStore store(bench.options);
  for (const char* name : {"..", "../x", "/", "a/../../b", "*", "maker/*", "", "models--a--b"})
    EXPECT_FALSE(store.remove(name)) << name;
  fs::create_directory_symlink(outside.path(), bench.store.path("models--maker--link"));
  EXPECT_EQ(store.remove("maker/link").error().code, Error::invalid);
  fs::create_directories(bench.store.path("models--maker--inner"));
  fs::create_directory_symlink(outside.path("blobs"),
                               bench.store.path("models--maker--inner/blobs"));
  EXPECT_EQ(store.remove("maker/inner").error().code, Error::invalid);
  EXPECT_EQ(read_file(outside.path("blobs/kept")), "kept");
}

TEST(ModelStore, a_link_that_leaves_the_store_is_no_model) {
  HubBench bench;
  test::TempFolder outside;
  write_file(outside.path("m.gguf"), "somebody's file");
  const std::string commit(40, 'c');
  const fs::path folder = bench.store.path("models--maker--sly");
  write_file(folder / "refs/main", commit);
  fs::create_directories(folder / "snapshots" / commit);
  fs::create_symlink(outside.path("m.gguf"), folder / "snapshots" / commit / "m.gguf");
  ModelStore store(bench.options);
  EXPECT_TRUE(store.list().empty());
  EXPECT_FALSE(store.find("maker/sly"));
  ASSERT_TRUE(store.remove("maker/sly"));
  EXPECT_EQ(read_file(outside.path("m.gguf")), "somebody's file");
}

TEST(ModelStore, removing_waits_for_nobody_who_downloads) {
  HubBench bench;
  bench.put_gguf(5000);
  ASSERT_TRUE(download(kGgufModel, bench.options));
  const fs::path locks = bench.store.path(".locks/models--maker--one-file");
  hub::FileLock lock;
  ASSERT_TRUE(lock.try_take(locks / "other.lock").value());
  ModelStore store(bench.options);
  EXPECT_EQ(store.remove(kGgufModel).error().code, Error::busy);
  lock.release();
  EXPECT_TRUE(store.remove(kGgufModel));
}

TEST(ModelStore, a_changed_byte_is_found_and_healed_once) {
  HubBench bench;
  bench.put_folder_model();
  const auto done = download(kFolderModel, bench.options);
  ASSERT_TRUE(done);
  ModelStore store(bench.options);
  EXPECT_EQ(store.verify(kFolderModel)->files, 3);
  flip_byte(fs::path(done->path) / "model.safetensors");
  flip_byte(fs::path(done->path) / "config.json");
  const auto healed = store.verify(kFolderModel);
  ASSERT_TRUE(healed) << healed.error().message;
  EXPECT_EQ(healed->healed, (std::vector<std::string>{"config.json", "model.safetensors"}));
  bench.expect_folder_model(*done);
}

TEST(ModelStore, a_changed_byte_that_cannot_be_healed_is_no_model_any_more) {
  HubBench bench;
  bench.put_folder_model();
  const auto done = download(kFolderModel, bench.options);
  flip_byte(fs::path(done->path) / "model.safetensors");
  bench.options.offline = true;
  ModelStore store(bench.options);
  EXPECT_EQ(store.verify(kFolderModel).error().code, Error::corrupt);
  EXPECT_TRUE(store.list().empty());
  EXPECT_EQ(store.verify(kFolderModel).error().code, Error::not_found);
}

TEST(ModelStore, verifying_can_be_cancelled) {
  HubBench bench;
  bench.put_gguf(3'000'000);
  ASSERT_TRUE(download(kGgufModel, bench.options));
  const auto stopped =
      ModelStore(bench.options).verify(kGgufModel, [](int64_t, int64_t) { return false; });
  EXPECT_EQ(stopped.error().code, Error::cancelled);
}

TEST(ModelStore, an_on_verify_that_throws_a_number_ends_in_an_error) {
  HubBench bench;
  bench.put_folder_model();
  ASSERT_TRUE(download(kFolderModel, bench.options));
  const auto thrown =
      ModelStore(bench.options).verify(kFolderModel, [](int64_t, int64_t) -> bool { throw 7; });
  EXPECT_EQ(thrown.error().code, Error::internal);
}

}  // namespace
}  // namespace mummu
