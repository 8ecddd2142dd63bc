// SPDX-License-Identifier: BSD-3-Clause
#include "memory/mapped_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <cstdlib>
#include <limits>
#include <vector>

#include "memory/child.hpp"
#include "memory/limits.hpp"
#include "memory/shm_directory.hpp"
#include "memory/views_of_a_file.hpp"

namespace tonari::test {
namespace {

// Each in a process of its own.

TEST(MappedFileLimits, MoreThanAnybodyHas) {
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max() / page * page;
  expect_refused([&] { MappedFile::create(most, page, false); },
                 {std::to_string(most), "no process"});
  expect_refused([&] { MappedFile::create(std::uint64_t{1} << 50, page, false); },
                 {std::to_string((std::uint64_t{1} << 50) + page) + " bytes", "are left"});
}

TEST(MappedFileLimits, FileSize) {
  in_a_child([] {
    const FileLimit limit(1 << 20);
    expect_refused([] { MappedFile::create(1 << 20, page, false); }, {"RLIMIT_FSIZE", "ulimit -f"});
    EXPECT_TRUE(MappedFile::create((1 << 20) - page, page, false));
  });
}

TEST(MappedFileLimits, Descriptors) {
  if (sanitized)
    GTEST_SKIP() << "the sanitizer needs descriptors, too: it looks at memory through pipes";
  in_a_child([] {
    const File there = of_pages(1);
    const rlimit limit{0, 0};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    expect_sentence(error_of([] { of_pages(1); }), Errc::memory, {"open files", other_storage});
    expect_sentence(error_of([&] { MappedFile::open(there->name()); }), Errc::memory,
                    {"open files", other_storage});
  });
}

TEST(MappedFileLimits, AddressSpace) {
  if (sanitized) GTEST_SKIP() << "the sanitizer needs more address space than this test leaves";
  in_a_child([] {
    const File there = MappedFile::create(64 << 20, page, false);
    ASSERT_TRUE(leave_address_space(16 << 20));
    expect_refused([&] { View(*there, std::vector<FilePiece>{{0, 64 << 20}}); },
                   {"67108864 bytes in 1 pieces", "ulimit -v"});
  });
}

// Everything that was mapped for a refused view goes.
TEST(MappedFileLimits, Mappings) {
  const std::int64_t most = most_mappings();
  if (most > (std::int64_t{1} << 21))
    GTEST_SKIP() << "vm.max_map_count is " << most << ": too many to try";
  in_a_child([&] {
    const File file = of_pages(2);
    const Held before = held();
    Order order(static_cast<std::size_t>(most), 1);  // the same page everywhere
    const Error error = error_of([&] { view(*file, order); });
    EXPECT_EQ(held(), before);
    expect_sentence(error, Errc::memory,
                    {"vm.max_map_count", std::to_string(most), "subdomains per rank",
                     "storage brick instead of mapped"});
    order.resize(static_cast<std::size_t>(most - mappings_now() - 1500));
    View almost = view(*file, order);
    fill(almost, order, 9);
    EXPECT_EQ(wrong(almost, order, 9), 0u);
    EXPECT_EQ(view(*file, {0, 1}).bytes(), 2 * page) << "some are left";
    expect_sentence(error_of([&] { check_mappings(1000); }), Errc::memory, {"1000 more"});
  });
}

// A part in the middle of a mapping needs two more.
TEST(MappedFileLimits, MappingsOfAPart) {
  const std::int64_t most = most_mappings();
  if (most > (std::int64_t{1} << 21))
    GTEST_SKIP() << "vm.max_map_count is " << most << ": too many to try";
  if (sanitized) GTEST_SKIP() << "the sanitizer needs mappings, too";
  in_a_child([&] {
    const File file = of_pages(3);
    View shown = view(*file, in_order(3));
    fill(shown, in_order(3), 1);
    const View almost =
        view(*file, Order(static_cast<std::size_t>(most - mappings_now() - 100), 1));
    std::vector<View> rest;
    rest.reserve(200);
    const Error full = error_of([&] {
      while (rest.size() < 200) rest.push_back(view(*file, {1}));
    });
    expect_sentence(full, Errc::memory, {"1 more mappings", "vm.max_map_count"});
    expect_sentence(error_of([&] { shown.replace(page, *file, {0, page}); }), Errc::memory,
                    {"vm.max_map_count"});
    EXPECT_EQ(wrong(shown, in_order(3), 1), 0u) << "as it was";
    rest.clear();
    shown.replace(page, *file, {0, page});
    EXPECT_EQ(words_of(shown, 1, page)[0], message(0, 0, 1));
  });
}

TEST(MappedFileLimits, NoMemoryFiles) {
  in_a_child([&] {
    if (!refuse(SYS_memfd_create, ENOSYS)) GTEST_SKIP() << "no seccomp";
    const File file = of_pages(3);
    const View shown = view(*file, {2, 1});
    fill(shown, {2, 1}, 8);
    EXPECT_EQ(wrong(view(*MappedFile::open(file->name()), {1}), {1}, 8), 0u);
  });
}

TEST(MappedFileLimits, MemoryThatIsShort) {
  in_a_child([&] {
    if (!refuse(SYS_fallocate, ENOSPC)) GTEST_SKIP() << "no seccomp";
    expect_refused([] { of_pages(3); },
                   {"memory is short (No space left on device)", "fewer ranks"});
  });
}

// ---- TONARI_SHM_DIR

class MappedFileInDirectory : public InShmDirectory {};

TEST_F(MappedFileInDirectory, ThatCannotBeUsed) {
  setenv("TONARI_SHM_DIR", (directory + "/nowhere").c_str(), 1);
  expect_refused([] { of_pages(1); }, {directory + "/nowhere", "TONARI_SHM_DIR"});
}

// Room for a part of what is wanted; all memory is taken at the beginning, and gone when the last
// process is.
TEST_F(MappedFileInDirectory, ThatIsTooSmall) {
  Child child([&](Line& line) {
    const bool mounted = mount_20_mib(directory);
    line.tell(mounted);
    if (!mounted) return;
    const std::uint64_t room = free_bytes(directory);
    expect_refused([] { MappedFile::create(64 << 20, page, false); },
                   {std::to_string((64 << 20) + page) + " bytes",
                    directory + " has " + std::to_string(room) + " bytes free",
                    "make " + directory + " larger"});
    EXPECT_EQ(free_bytes(directory), room);

    Child owner([](Line& to_parent) {
      const File file = of_pages(100);
      to_parent.tell(file->name());
      to_parent.hear();
    });
    {
      const View shown = view(*MappedFile::open(owner.line().hear<FileName>()), backwards(100));
      EXPECT_LE(free_bytes(directory), room - 101 * page);
      owner.kill();
      fill(shown, backwards(100), 1);
      EXPECT_LE(free_bytes(directory), room - 101 * page) << "still mapped here";
    }
    EXPECT_EQ(free_bytes(directory), room);
    EXPECT_TRUE(empty());
  });
  const bool mounted = child.line().hear<bool>();
  child.finish();
  if (!mounted) GTEST_SKIP() << "a file system cannot be mounted here";
}

}  // namespace
}  // namespace tonari::test
