// SPDX-License-Identifier: BSD-3-Clause
#include "memory/segment.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "memory/child.hpp"
#include "memory/held.hpp"
#include "memory/limits.hpp"
#include "memory/shared_file.hpp"
#include "memory/shm_directory.hpp"
#include "support/errors.hpp"

namespace tonari::test {
namespace {

static_assert(std::is_trivially_copyable_v<SegmentName>);

char message(std::size_t i, int salt) {
  return static_cast<char>(i * 31 + i / 251 + static_cast<std::size_t>(salt));
}

void fill(const Segment& segment, int salt) {
  for (std::size_t i = 0; i < segment.bytes(); ++i)
    segment.data()[i] = static_cast<std::byte>(message(i, salt));
}

std::size_t wrong(const Segment& segment, int salt) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < segment.bytes(); ++i)
    wrong += segment.data()[i] != static_cast<std::byte>(message(i, salt));
  return wrong;
}

// create(bytes) throws a sentence with these parts, and leaves nothing.
void expect_refused(std::size_t bytes, const std::vector<std::string>& parts) {
  const LeavesNothing check;
  const Error error = error_of([&] { Segment::create(bytes); });
  expect_sentence(error, Errc::memory, parts);
  expect_sentence(error, Errc::memory, {"TONARI_CHANNEL=p2p-packed"});
}

void expect_unattachable(const SegmentName& name, const std::vector<std::string>& parts) {
  const LeavesNothing check;
  const Error error = error_of([&] { Segment::attach(name); });
  expect_sentence(error, Errc::memory, parts);
  expect_sentence(error, Errc::memory, {"TONARI_CHANNEL=p2p-packed"});
}

TEST(Segment, IsZeroedAlignedAndItsOwn) {
  const LeavesNothing check;
  for (std::size_t bytes : {0, 1, 63, 64, 65, 4095, 4096, 100'000}) {
    const Segment segment = Segment::create(bytes);
    ASSERT_TRUE(segment);
    EXPECT_EQ(segment.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(segment.data()) % Segment::reserved, 0u);
    for (std::size_t i = 0; i < bytes; ++i) ASSERT_EQ(segment.data()[i], std::byte{0});
    const SegmentName name = segment.name();
    fill(segment, 1);
    EXPECT_EQ(wrong(segment, 1), 0u);
    EXPECT_EQ(segment.name().number, name.number)
        << "what belongs to the segment itself is out of the user's way";
  }
  EXPECT_NE(Segment::create(10).name().number, Segment::create(10).name().number);
}

TEST(Segment, MovesAndEnds) {
  const LeavesNothing check;
  Segment a = Segment::create(1000), b = Segment::create(2000);
  const Held both = held();
  EXPECT_EQ(both.descriptors, check.before.descriptors + 2);
  EXPECT_EQ(both.mappings, check.before.mappings + 2);
  std::byte* const at = b.data();
  a = std::move(b);
  EXPECT_EQ(a.data(), at);
  EXPECT_EQ(a.bytes(), 2000u);
  EXPECT_FALSE(b);
  EXPECT_EQ(held().mappings, check.before.mappings + 1);
  Segment& itself = a;
  a = std::move(itself);
  EXPECT_EQ(a.data(), at);
  Segment c = std::move(a);
  a = Segment();
  fill(c, 2);
  c.finish_attach();
  c.finish_attach();
  EXPECT_EQ(held().descriptors, check.before.descriptors);
  EXPECT_EQ(wrong(c, 2), 0u) << "a closed door does not end it";
}

// Nothing is left to be done when it is first used: neither memory nor an entry of the page table.
TEST(Segment, FirstTouchesTakeNoPageFault) {
  if (sanitized) GTEST_SKIP() << "the sanitizer has pages of its own for ours";
  const std::size_t pages = 4096;
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const Segment made = Segment::create(pages * page), attached = Segment::attach(made.name());
  for (const Segment* segment : {&made, &attached}) {
    rusage before{}, after{};
    getrusage(RUSAGE_SELF, &before);
    for (std::size_t i = 0; i < pages; ++i) segment->data()[i * page] = std::byte{1};
    getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_minflt - before.ru_minflt, static_cast<long>(pages / 64));
  }
}

// ---- sharing

TEST(Segment, CarriesBothWays) {
  Child child([](Line& line) {
    const LeavesNothing check;
    const Segment segment = Segment::attach(line.hear<SegmentName>());
    EXPECT_EQ(segment.bytes(), 100'000u);
    EXPECT_EQ(wrong(segment, 3), 0u);
    EXPECT_EQ(held().descriptors, check.before.descriptors) << "who attached needs no descriptor";
    EXPECT_EQ(segment.name().descriptor, -1);
    fill(segment, 4);
    line.tell('r');
    line.hear();
  });
  const Segment segment = Segment::create(100'000);
  fill(segment, 3);
  child.line().tell(segment.name());
  child.line().hear();
  EXPECT_EQ(wrong(segment, 4), 0u);
  child.line().tell('e');
  child.finish();
}

TEST(Segment, LivesOnWhereItIsMapped) {
  Child owner([](Line& line) {
    const Segment segment = Segment::create(5000);
    fill(segment, 5);
    line.tell(segment.name());
    line.hear();
  });
  const Segment segment = Segment::attach(owner.line().hear<SegmentName>());
  owner.kill();
  EXPECT_EQ(wrong(segment, 5), 0u);
  fill(segment, 6);
  EXPECT_EQ(wrong(segment, 6), 0u);
}

TEST(Segment, CannotBeFoundAfterItsOwnerOrItsDoor) {
  Child owner([](Line& line) {
    Segment segment = Segment::create(5000);
    line.tell(segment.name());
    line.hear();
    segment.finish_attach();
    EXPECT_EQ(segment.name().descriptor, -1);
    line.tell('c');
    line.hear();
  });
  const SegmentName name = owner.line().hear<SegmentName>();
  EXPECT_TRUE(Segment::attach(name));
  owner.line().tell('c');
  owner.line().hear();
  expect_unattachable(name, {"5000 bytes", std::to_string(name.process), "ended"});
  owner.kill();
  expect_unattachable(name, {"5000 bytes", std::to_string(name.process), "ended"});
}

TEST(Segment, AnotherIsNotTakenForIt) {
  const Segment segment = Segment::create(5000), other = Segment::create(5000),
                larger = Segment::create(50'000);
  const SegmentName right = segment.name();
  EXPECT_TRUE(Segment::attach(right));
  auto with = [&](auto member, auto value) {
    SegmentName name = right;
    name.*member = value;
    return name;
  };
  expect_unattachable(with(&SegmentName::number, right.number + 1), {"another segment"});
  expect_unattachable(with(&SegmentName::descriptor, other.name().descriptor), {"another segment"});
  expect_unattachable(with(&SegmentName::descriptor, larger.name().descriptor),
                      {"bytes instead of"});
  expect_unattachable(with(&SegmentName::bytes, 50'000), {"bytes instead of"});
  expect_unattachable(with(&SegmentName::bytes, std::numeric_limits<std::uint64_t>::max()),
                      {"makes no sense"});
  expect_unattachable(with(&SegmentName::descriptor, -1), {"makes no sense"});
  expect_unattachable(with(&SegmentName::descriptor, 100'000), {"does not exist"});
  expect_unattachable(with(&SegmentName::process, 0), {"makes no sense"});
  expect_unattachable(with(&SegmentName::process, std::int64_t{1} << 40), {"does not exist"});
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  expect_unattachable(with(&SegmentName::descriptor, ends[0]), {"is no memory"});
  close(ends[0]), close(ends[1]);
  // it has inherited the descriptor, and so the very same file
  Child stranger([&](Line& line) { line.hear(); });
  EXPECT_TRUE(Segment::attach(with(&SegmentName::process, stranger.process())));
}

// Another user neither sees the number nor opens the file; a file that was given away is not
// believed either.
TEST(Segment, IsForOneUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can become somebody else";
  const Segment segment = Segment::create(5000);
  struct stat about{};
  ASSERT_EQ(fstat(segment.name().descriptor, &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600u);
  Child other([&](Line&) {
    const SegmentName name = segment.name();
    ASSERT_EQ(setresuid(65534, 65534, 65534), 0);
    expect_unattachable(name, {"cannot be opened"});
  });
  other.finish();
  ASSERT_EQ(fchown(segment.name().descriptor, 65534, 65534), 0);
  expect_unattachable(segment.name(), {"another user"});
}

TEST(Segment, NobodyTakesItsPagesAway) {
  const Segment segment = Segment::create(50'000);
  ASSERT_EQ(ftruncate(segment.name().descriptor, 0), -1);
  EXPECT_EQ(errno, EPERM);
  fill(segment, 7);
  EXPECT_EQ(wrong(segment, 7), 0u);
}

// ---- limits: each in a process of its own

TEST(SegmentLimits, MoreThanAnybodyHas) {
  expect_refused(std::numeric_limits<std::size_t>::max(),
                 {std::to_string(std::numeric_limits<std::size_t>::max())});
  expect_refused(std::numeric_limits<std::ptrdiff_t>::max(), {"no process"});
  expect_refused((std::size_t{1} << 50) - Segment::reserved,
                 {std::to_string(std::size_t{1} << 50) + " bytes", "are left"});
}

TEST(SegmentLimits, FileSize) {
  in_a_child([] {
    const rlimit limit{1 << 20, 1 << 20};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    expect_refused(1 << 20, {"1048576 bytes", "RLIMIT_FSIZE", "ulimit -f"});  // and no SIGXFSZ
    EXPECT_TRUE(Segment::create((1 << 20) - Segment::reserved));
  });
}

TEST(SegmentLimits, Descriptors) {
  if (sanitized)
    GTEST_SKIP() << "the sanitizer needs descriptors, too: it looks at memory through pipes";
  in_a_child([] {
    const Segment there = Segment::create(100);
    const rlimit limit{0, 0};
    ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
    expect_sentence(error_of([] { Segment::create(100); }), Errc::memory,
                    {"bytes", "open files", "TONARI_CHANNEL=p2p-packed"});
    expect_sentence(error_of([&] { Segment::attach(there.name()); }), Errc::memory,
                    {"open files", "TONARI_CHANNEL=p2p-packed"});
  });
}

TEST(SegmentLimits, AddressSpace) {
  if (sanitized) GTEST_SKIP() << "the sanitizer needs more address space than this test leaves";
  in_a_child([] {
    const Segment there = Segment::create(64 << 20);
    ASSERT_TRUE(leave_address_space(16 << 20));
    expect_refused(64 << 20, {"cannot be mapped", "ulimit -v"});
    expect_unattachable(there.name(), {"ulimit -v"});
  });
}

// A signal all the time: older kernels give up their work each time, and have to come to an end
// nevertheless.
TEST(SegmentLimits, Signals) {
  in_a_child([] {
    struct sigaction ignore{};
    ignore.sa_handler = [](int) {};
    ASSERT_EQ(sigaction(SIGALRM, &ignore, nullptr), 0);
    const itimerval often{{0, 1000}, {0, 1000}};
    ASSERT_EQ(setitimer(ITIMER_REAL, &often, nullptr), 0);
    for (int k = 0; k < 5; ++k) EXPECT_TRUE(Segment::create(48 << 20));
  });
}

TEST(SegmentLimits, NoMemoryFiles) {
  for (const int error : {ENOSYS, EPERM}) {
    in_a_child([&] {
      const Segment before = Segment::create(100);
      if (!refuse(SYS_memfd_create, error)) GTEST_SKIP() << "no seccomp";
      ASSERT_EQ(syscall(SYS_memfd_create, "x", 0), -1);
      const Segment segment = Segment::create(10'000);
      fill(segment, 8);
      EXPECT_EQ(wrong(Segment::attach(segment.name()), 8), 0u);
    });
  }
}

// ---- TONARI_SHM_DIR

class SegmentInDirectory : public InShmDirectory {};

TEST_F(SegmentInDirectory, HasNoNameThere) {
  const LeavesNothing check;
  Child child([](Line& line) {
    const Segment segment = Segment::attach(line.hear<SegmentName>());
    EXPECT_EQ(wrong(segment, 9), 0u);
    fill(segment, 10);
  });
  const Segment segment = Segment::create(100'000);
  EXPECT_TRUE(empty());
  const std::string file = "/proc/self/fd/" + std::to_string(segment.name().descriptor);
  EXPECT_EQ(std::filesystem::read_symlink(file).string().rfind(directory, 0), 0u)
      << "the file is not where it was wanted";
  EXPECT_NE(
      linkat(AT_FDCWD, file.c_str(), AT_FDCWD, (directory + "/name").c_str(), AT_SYMLINK_FOLLOW), 0)
      << "it can be given a name";
  fill(segment, 9);
  child.line().tell(segment.name());
  child.finish();
  EXPECT_EQ(wrong(segment, 10), 0u);
}

TEST_F(SegmentInDirectory, LeavesNothingWhenKilled) {
  Child owner([](Line& line) {
    const Segment segment = Segment::create(100'000);
    line.tell(segment.name());
    line.hear();
  });
  const SegmentName name = owner.line().hear<SegmentName>();
  EXPECT_TRUE(Segment::attach(name));
  owner.kill();
  EXPECT_TRUE(empty());
  expect_unattachable(name, {"ended"});
}

TEST_F(SegmentInDirectory, ThatCannotBeUsed) {
  setenv("TONARI_SHM_DIR", (directory + "/nowhere").c_str(), 1);
  expect_refused(1000, {directory + "/nowhere", "TONARI_SHM_DIR"});
  setenv("TONARI_SHM_DIR", "/proc", 1);
  expect_refused(1000, {"/proc", "TONARI_SHM_DIR"});
  EXPECT_EQ(
      wrong_shared_directory(),
      "TONARI_SHM_DIR is '/proc', where no file can be made (Operation not supported); it must "
      "be a directory in memory (tmpfs), or ranks share no memory");
  setenv("TONARI_SHM_DIR", directory.c_str(), 1);
  EXPECT_EQ(wrong_shared_directory(), std::nullopt);
  setenv("TONARI_SHM_DIR", "", 1);  // as if it were not set
  EXPECT_TRUE(Segment::create(1000));
}

// Room for a part of what is wanted, which is given back.
TEST_F(SegmentInDirectory, ThatIsTooSmall) {
  Child child([&](Line& line) {
    const bool mounted = mount_20_mib(directory);
    line.tell(mounted);
    if (!mounted) return;
    const std::uint64_t room = free_bytes(directory);
    expect_refused((64 << 20) - Segment::reserved,
                   {"67108864 bytes", directory + " has " + std::to_string(room) + " bytes free",
                    "make " + directory + " larger"});
    EXPECT_EQ(free_bytes(directory), room);
    {
      const Segment segment = Segment::create(100'000);
      EXPECT_LT(free_bytes(directory), room);
      expect_refused(20 << 20, {std::to_string(free_bytes(directory)) + " bytes free"});
      fill(segment, 11);
      EXPECT_EQ(wrong(Segment::attach(segment.name()), 11), 0u);
    }
    EXPECT_EQ(free_bytes(directory), room);

    Child owner([](Line& to_parent) {
      const Segment segment = Segment::create(200'000);
      to_parent.tell('m');
      to_parent.hear();
    });
    owner.line().hear();
    EXPECT_LT(free_bytes(directory), room);
    owner.kill();
    EXPECT_EQ(free_bytes(directory), room) << "memory of a killed process";
  });
  const bool mounted = child.line().hear<bool>();
  child.finish();
  if (!mounted) GTEST_SKIP() << "a file system cannot be mounted here";
}

}  // namespace
}  // namespace tonari::test
