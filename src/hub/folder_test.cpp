#include "hub/folder.h"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "file/test_writer.h"

namespace mummu::hub {
namespace {

namespace fs = std::filesystem;

TEST(RepositoryFolder, is_named_to_the_end_by_several_at_once) {
  const test::TempFolder store;
  const RepositoryFolder folder(store.path(), {.repository = "maker/model"});
  ASSERT_TRUE(folder.make());
  const std::string commits[] = {std::string(40, 'a'), std::string(40, 'b')};
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&, thread] {
        for (int i = 0; i < 50; ++i) {
          const std::string& commit = commits[(thread + i) % 2];
          const auto recorded = folder.record("main", commit);
          EXPECT_TRUE(recorded) << recorded.error().message;
          const auto linked = folder.link(commit, "sub/m.gguf", i % 2 == 0 ? "etag" : "other");
          EXPECT_TRUE(linked) << linked.error().message;
        }
      });
  }
  EXPECT_TRUE(folder.commit("main").has_value());
  for (const auto& entry : fs::recursive_directory_iterator(folder.path()))
    EXPECT_NE(entry.path().extension(), ".new") << entry.path();
}

}  // namespace
}  // namespace mummu::hub
