#pragma once

// What the tests of downloads share: a hub with a small model, a store, and options for both.

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "hub/test/fake_hub.h"

namespace mummu::test {

inline constexpr const char* kFolderModel = "maker/folder-model";
inline constexpr const char* kGgufModel = "maker/one-file";

struct HubBench {
  explicit HubBench(const std::string& tls_name = "") : hub(tls_name) {
    options.endpoint = hub.url;
    options.store = store.path();
    if (!tls_name.empty()) options.ca_file = hub.ca;
    options.clock = clock;
  }

  // A model of three files, one of them large for the hub.
  void put_folder_model(size_t weight_bytes = 200'000) {
    for (const char* file : {"config.json", "tokenizer.json"})
      files[file] = hub.put(kFolderModel, file, std::string("{\"of\": \"") + file + "\"}");
    files["model.safetensors"] = hub.put_random(kFolderModel, "model.safetensors", weight_bytes);
    hub.put(kFolderModel, "README.md", "not part of the model");
  }
  std::string put_gguf(size_t bytes) { return hub.put_random(kGgufModel, "m.gguf", bytes); }

  void expect_folder_model(const Downloaded& done) {
    for (const auto& [file, content] : files)
      EXPECT_TRUE(read_file(std::filesystem::path(done.path) / file) == content) << file;
  }

  FakeHub hub;
  TempFolder store;
  std::shared_ptr<ManualClock> clock = std::make_shared<ManualClock>();
  HubOptions options;
  std::map<std::string, std::string> files;
};

}  // namespace mummu::test
