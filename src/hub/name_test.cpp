#include "hub/name.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "hub/catalog.h"
#include "hub/choose.h"
#include "hub/folder.h"
#include "hub/hash.h"
#include "hub/listing.h"
#include "hub/test/fake_hub.h"
#include "hub/text.h"
#include "mummu/hub.h"

namespace mummu::hub {
namespace {

TEST(HubName, a_repository_may_have_a_revision_and_a_file) {
  const auto plain = parse_name("Qwen/Qwen2.5-0.5B-Instruct");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->repository, "Qwen/Qwen2.5-0.5B-Instruct");
  EXPECT_EQ(plain->revision, "main");
  EXPECT_EQ(plain->file, "");
  const auto full = parse_name("a/b@refs/pr/1:sub/x.gguf");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->repository, "a/b");
  EXPECT_EQ(full->revision, "refs/pr/1");
  EXPECT_EQ(full->file, "sub/x.gguf");
  EXPECT_EQ(to_string(*full), "a/b@refs/pr/1:sub/x.gguf");
}

TEST(HubName, the_catalog_knows_the_default_model_and_its_quantisations) {
  const auto name = parse_name("SmolLM2-135M-Instruct");
  ASSERT_TRUE(name);
  EXPECT_EQ(name->revision, "ab810cf68114990406fdf996510dd3d3c6adbdf5");
  EXPECT_EQ(name->file, "SmolLM2-135M-Instruct.Q4_1.gguf");
  EXPECT_TRUE(is_hex(name->sha256, 64));
  const auto quant = parse_name("qwen3-4b:q4_k_m");
  ASSERT_TRUE(quant);
  EXPECT_EQ(to_string(*quant), "Qwen/Qwen3-4B-GGUF:q4_k_m");
  EXPECT_EQ(parse_name("all-minilm-l6-v2:q4_k_m").error().code, Error::invalid);
}

TEST(HubName, the_catalog_and_the_script_mean_the_same_default_model) {
  const std::string script = test::read_file(MUMMU_SOURCE_DIR "/tool/fetch_models.sh");
  const auto name = parse_name("smollm2-135m-instruct");
  for (const std::string& part : {name->repository, name->revision, name->file, name->sha256})
    EXPECT_NE(script.find("=" + part + "\n"), std::string::npos) << part;
}

TEST(HubName, every_catalog_entry_is_sound) {
  EXPECT_GE(catalog().size(), 9u);
  for (const CatalogEntry& entry : catalog()) {
    EXPECT_TRUE(is_repository(entry.repository)) << entry.name;
    EXPECT_TRUE(is_revision(entry.revision)) << entry.name;
    EXPECT_TRUE(entry.gguf.empty() || is_repository(entry.gguf)) << entry.name;
    EXPECT_TRUE(entry.sha256.empty() || is_hex(entry.sha256, 64)) << entry.name;
    EXPECT_EQ(find_in_catalog(entry.name), &entry) << "a name stands twice";
  }
}

TEST(HubName, an_unknown_word_lists_the_known_ones) {
  const auto name = parse_name("no-such-model");
  ASSERT_FALSE(name);
  EXPECT_EQ(name.error().code, Error::invalid);
  EXPECT_NE(name.error().message.find("smollm2-135m-instruct"), std::string::npos);
}

TEST(HubName, what_could_leave_the_store_is_refused) {
  using namespace std::string_literals;
  for (const char* bad : {"",
                          "../x",
                          "a/..",
                          "a/b@../c",
                          "a/b:../c",
                          "a/b:/etc/passwd",
                          "a/b/c",
                          "/a/b",
                          "a--b/c",
                          "-a/b",
                          "a/b@",
                          "a/b:",
                          "a/b:nul",
                          "a/b:x/con.txt",
                          "a b/c",
                          "a/b@x:y:z",
                          "http://host/x.gguf",
                          "ftp://host/x",
                          "https://host",
                          "https:///x",
                          "https://u@host/x",
                          "https://host/",
                          "https://host/a/..",
                          "a/b@x\ny"}) {
    const auto name = parse_name(bad);
    EXPECT_FALSE(name) << bad;
    EXPECT_TRUE(name || name.error().message.find('\n') == std::string::npos) << bad;
  }
  EXPECT_FALSE(parse_name("a/b:c\0d"s));
  EXPECT_FALSE(parse_name(std::string(5000, 'a')));
}

TEST(HubName, a_folder_of_the_store_says_its_repository) {
  const auto name = parse_name("Qwen/Qwen2.5-0.5B");
  EXPECT_EQ(folder_name(*name), "models--Qwen--Qwen2.5-0.5B");
  EXPECT_EQ(repository_of_folder("models--Qwen--Qwen2.5-0.5B"), "Qwen/Qwen2.5-0.5B");
  for (const char* bad : {"models--x", "datasets--a--b", "models--..--b", "models--a--b--c"})
    EXPECT_EQ(repository_of_folder(bad), "") << bad;
}

TEST(HubChoice, a_folder_of_safetensors_comes_before_gguf) {
  const auto choice = choose_files(
      {"config.json", "model.safetensors", "tokenizer.json", "README.md", "pytorch_model.bin",
       "x.gguf", "chat_template.jinja", "consolidated.safetensors", "onnx/model.json"},
      "", "a/b");
  ASSERT_TRUE(choice);
  EXPECT_EQ(choice->main, "");
  EXPECT_EQ(choice->files, (std::vector<std::string>{"config.json", "model.safetensors",
                                                     "tokenizer.json", "chat_template.jinja"}));
}

TEST(HubChoice, a_quantisation_is_a_whole_word_of_the_file_name) {
  EXPECT_TRUE(has_quant("Qwen3-4B-Q4_K_M.gguf", "q4_k_m"));
  EXPECT_TRUE(has_quant("SmolLM2.Q4_K_M-00001-of-00002.gguf", "Q4_K_M"));
  EXPECT_FALSE(has_quant("Qwen3-4B-IQ4_K_M.gguf", "q4_k_m"));
  EXPECT_FALSE(has_quant("Qwen3-4B-Q4_K_M.gguf", "q4_k"));
}

TEST(HubChoice, split_files_belong_together) {
  const std::vector<std::string> there = {"m-q8_0-00001-of-00002.gguf",
                                          "m-q8_0-00002-of-00002.gguf", "m-q4_k_m.gguf"};
  const auto split = choose_files(there, "q8_0", "a/b");
  ASSERT_TRUE(split);
  EXPECT_EQ(split->files.size(), 2u);
  EXPECT_EQ(split->main, there[0]);
  EXPECT_EQ(choose_files(there, "", "a/b")->main, "m-q4_k_m.gguf");
  EXPECT_FALSE(choose_files({there[0]}, "q8_0", "a/b"));
  EXPECT_NE(choose_files(there, "q2_k", "a/b").error().message.find("m-q4_k_m.gguf"),
            std::string::npos);
}

TEST(HubListing, file_names_of_a_stranger_are_refused) {
  const std::string commit(40, 'a'), id(40, 'b');
  for (const char* name : {"../x", "/etc/passwd", "a/../b", "a\\\\b", "x\\u0000y", "nul",
                           "COM1.txt", "a//b", "./a", "c:x", "a\\nb", ""}) {
    const auto listing = parse_listing(R"({"sha":")" + commit + R"(","siblings":[{"rfilename":")" +
                                           name + R"(","size":1,"blobId":")" + id + R"("}]})",
                                       "hub");
    ASSERT_FALSE(listing) << name;
    EXPECT_EQ(listing.error().code, Error::corrupt) << name;
  }
}

TEST(HubHash, both_hashes_are_those_of_their_makers) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Hash git(Hash::Kind::git_blob, 6);  // git hash-object of "hello\n"
  git.add(std::as_bytes(std::span("hello\n", 6)));
  EXPECT_EQ(git.hex(), "ce013625030ba8dba906f756967f9e9ca394464a");
}

TEST(HubOptions, the_environment_says_where_hub_and_store_are) {
  ::setenv("HF_ENDPOINT", "https://mirror.example/", 1);
  ::setenv("HF_TOKEN", "secret", 1);
  ::setenv("HF_HUB_OFFLINE", "ON", 1);
  ::unsetenv("MUMMU_HOME");
  ::unsetenv("HF_HUB_CACHE");
  ::setenv("HF_HOME", "/hf", 1);
  const HubOptions options = hub_options();
  EXPECT_EQ(options.endpoint, "https://mirror.example");
  EXPECT_EQ(options.token, "secret");
  EXPECT_EQ(options.store, "/hf/hub");
  EXPECT_TRUE(options.offline);
  ::setenv("HF_HUB_CACHE", "/cache", 1);
  EXPECT_EQ(hub_options().store, "/cache");
  ::setenv("MUMMU_HOME", "/home", 1);
  EXPECT_EQ(hub_options().store, "/home");
}

}  // namespace
}  // namespace mummu::hub
