// SPDX-License-Identifier: BSD-3-Clause
#include "memory/mapped_file.hpp"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "memory/child.hpp"
#include "memory/limits.hpp"
#include "memory/views_of_a_file.hpp"

namespace tonari::test {
namespace {

// Sets some aside while a test runs, where that is possible. One test at a time on this machine.
class MappedFileHuge : public testing::Test {
 protected:
  static constexpr std::int64_t needed = 9;  // one more than a file of eight

  void SetUp() override {
    for (std::size_t size : huge_pages())
      if (size <= (std::size_t{4} << 20)) huge = size;  // of 1 GiB they would be too many bytes
    if (huge == 0) GTEST_SKIP() << "this kernel has no huge pages of at most 4 MiB";
    const std::string name = huge_pages_file(huge);
    lock = open(name.c_str(), O_RDWR | O_CLOEXEC);
    if (lock < 0) GTEST_SKIP() << name << " cannot be written (" << strerror(errno) << ")";
    ASSERT_EQ(flock(lock, LOCK_EX), 0);
    std::ifstream(name) >> before;
    set_aside(before + needed);
    if (free_huge_pages(huge) < needed)
      GTEST_SKIP() << "the kernel does not find " << needed << " huge pages of " << huge
                   << " bytes";
  }
  void TearDown() override {
    if (lock < 0) return;
    set_aside(before);
    close(lock);
  }
  void set_aside(std::int64_t pages) {
    const std::string number = std::to_string(pages) + "\n";
    EXPECT_EQ(pwrite(lock, number.data(), number.size(), 0), static_cast<ssize_t>(number.size()));
  }

  std::size_t huge = 0;
  int lock = -1;
  std::int64_t before = 0;
};

TEST_F(MappedFileHuge, ShowsTheSameMemoryInEveryOrder) {
  const std::uint64_t pages = 8;
  const Held nothing = held();
  const std::int64_t free = free_huge_pages(huge);
  {
    Child child([&](Line& line) {
      const File file = MappedFile::open(line.hear<FileName>());
      EXPECT_TRUE(file->huge());
      const View shown = view(*file, {5, 2, 5});
      EXPECT_EQ(wrong(shown, {5, 2, 5}, 1, huge), 0u);
      fill(shown, {5, 2, 5}, 2, huge);
    });
    setenv("TONARI_SHM_DIR", "/nowhere", 1);
    File file = MappedFile::create(pages * huge, huge, true);
    unsetenv("TONARI_SHM_DIR");
    EXPECT_TRUE(file->huge());
    EXPECT_EQ(free_huge_pages(huge), free - static_cast<std::int64_t>(pages) - 1)
        << "taken at the beginning";
    const Order order{7, 0, 3, 4, 2, 1, 6, 5, 5, 0};
    View shown = view(*file, order);
    EXPECT_EQ(held().mappings, nothing.mappings + runs(order));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(shown.data()) % huge, 0u);
    fill(shown, order, 1, huge);
    child.line().tell(file->name());
    child.finish();
    EXPECT_EQ(wrong(view(*file, {2, 5}), {2, 5}, 2, huge), 0u);
    EXPECT_EQ(wrong(view(*file, {0, 1, 3}), {0, 1, 3}, 1, huge), 0u);
    shown.replace(2 * huge, *file, {huge, huge});
    EXPECT_EQ(words_of(shown, 2, huge)[1], message(1, 1, 1));

    FileName name = file->name();
    name.huge = 0;
    EXPECT_EQ(error_of([&] { MappedFile::open(name); }).code(), Errc::memory);
    file.reset();
    EXPECT_EQ(words_of(shown, 0, huge)[1], message(7, 1, 1));
  }
  EXPECT_EQ(held(), nothing);
  EXPECT_EQ(free_huge_pages(huge), free);
}

TEST_F(MappedFileHuge, TooFew) {
  const std::int64_t free = free_huge_pages(huge);
  const Held nothing = held();
  const auto pages = static_cast<std::uint64_t>(free);  // one is needed for the number
  expect_sentence(error_of([&] { MappedFile::create(pages * huge, huge, true); }), Errc::memory,
                  {std::to_string(free + 1) + " huge pages", std::to_string(free) + " are free",
                   huge_pages_file(huge), "without huge pages"});
  in_a_child([&] {
    if (!refuse(SYS_fallocate, ENOSPC)) GTEST_SKIP() << "no seccomp";
    expect_refused([&] { MappedFile::create(huge, huge, true); },
                   {"are short (No space left on device)", huge_pages_file(huge)});
  });
  in_a_child([&] {
    if (!refuse(SYS_memfd_create, EPERM)) GTEST_SKIP() << "no seccomp";
    expect_refused([&] { MappedFile::create(huge, huge, true); },
                   {"no memory file", "without huge pages"});
  });
  EXPECT_EQ(held(), nothing);
  EXPECT_EQ(free_huge_pages(huge), free);
}

}  // namespace
}  // namespace tonari::test
