// SPDX-License-Identifier: BSD-3-Clause
#include "memory/whole_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "base/error.hpp"
#include "memory/child.hpp"
#include "memory/taken_file.hpp"

namespace tonari::test {
namespace {

class WholeFile : public testing::Test {
 protected:
  WholeFile() { std::filesystem::create_directory(folder); }
  ~WholeFile() override { std::filesystem::remove_all(folder); }
  std::filesystem::path folder =
      std::filesystem::temp_directory_path() / text("tonari-whole-", ::getpid());
  std::string path = folder / "file";
};

TEST_F(WholeFile, IsReplacedAndReadWhole) {
  EXPECT_EQ(read_file(path, 100), std::nullopt);
  for (const std::string& content : {std::string("first\0part", 10), std::string()}) {
    EXPECT_TRUE(replace_file(path, content));
    EXPECT_EQ(read_file(path, 10), content);
  }
  EXPECT_TRUE(replace_file(path, "eleven byte"));
  EXPECT_EQ(read_file(path, 10), std::nullopt);
  struct stat status;
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
}

TEST_F(WholeFile, IsARegularOne) {
  EXPECT_EQ(read_file(folder, 100), std::nullopt);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(read_file(path, 100), std::nullopt);  // and does not wait
  EXPECT_FALSE(replace_file(folder / "none" / "file", "x"));
}

// Not the same file once more: the same open one, with its place in it.
TEST(TakenFile, IsTheOpenOneOfAnotherProcess) {
  Child child([](Line& line) {
    const OpenFile here(::fileno(std::tmpfile()));
    ASSERT_EQ(::write(here.descriptor(), "abc", 3), 3);
    line.tell(here.descriptor());
    line.hear();
    EXPECT_EQ(::lseek(here.descriptor(), 0, SEEK_CUR), 5);
  });
  const auto descriptor = child.line().hear<int>();
  EXPECT_FALSE(take_file(child.process(), 1 << 20));
  const OpenFile taken = take_file(child.process(), descriptor);
  if (!taken && errno == EPERM) GTEST_SKIP() << "the system does not allow it";
  ASSERT_TRUE(taken);
  EXPECT_EQ(::write(taken.descriptor(), "de", 2), 2);
  child.line().tell('w');
  child.finish();
}

}  // namespace
}  // namespace tonari::test
