// SPDX-License-Identifier: BSD-3-Clause
#include "memory/process.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "memory/child.hpp"
#include "memory/limits.hpp"

namespace tonari {
namespace {

using test::Child, test::Line;

void listen(Line& line) { line.hear(); }

// A process with this number that has just ended and that nobody remembers.
pid_t nobody() {
  Child child([](Line&) {});
  child.finish();
  return child.process();
}

// Until it has ended but not been waited for.
void end_without_wait(Child& child) {
  child.line().tell('e');
  siginfo_t about{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child.process()), &about, WEXITED | WNOWAIT), 0);
}

// Also run where the system refuses pidfd_open.
void watch_lives_and_deaths() {
  EXPECT_FALSE(Watch().ended()) << "nobody is watched";
  EXPECT_FALSE(Watch(this_process()).ended());
  EXPECT_FALSE(Watch(getppid()).ended());
  EXPECT_TRUE(Watch(nobody()).ended());
  EXPECT_TRUE(Watch(0).ended());
  EXPECT_TRUE(Watch(-1).ended());
  EXPECT_TRUE(Watch((std::int64_t{1} << 32) + this_process()).ended());

  Child child(listen);
  Watch watch(child.process());
  for (int k = 0; k < 3; ++k) EXPECT_FALSE(watch.ended());
  end_without_wait(child);
  EXPECT_TRUE(watch.ended()) << "a zombie";
  EXPECT_TRUE(Watch(child.process()).ended()) << "a zombie that is watched from now on";
  child.finish();
  EXPECT_TRUE(watch.ended());

  Child killed(listen);
  Watch other(killed.process());
  watch = std::move(other);
  Watch moved(std::move(watch));
  EXPECT_FALSE(moved.ended());
  killed.kill();
  EXPECT_TRUE(moved.ended());
}

std::size_t descriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    ++count;
  return count;
}

TEST(Watch, LivesAndDeaths) {
  const std::size_t before = descriptors();
  watch_lives_and_deaths();
  EXPECT_EQ(descriptors(), before);
}

TEST(Watch, OnAKernelWithoutDescriptorsOfProcesses) {
  for (const int error : {ENOSYS, EPERM}) {
    Child child([&](Line&) {
      if (!test::refuse(SYS_pidfd_open, error)) GTEST_SKIP() << "no seccomp";
      ASSERT_EQ(syscall(SYS_pidfd_open, getpid(), 0), -1);
      const std::size_t before = descriptors();
      watch_lives_and_deaths();
      EXPECT_EQ(descriptors(), before);
    });
    child.finish();
  }
}

// The system can be told which number comes next.
void watch_a_number_that_is_used_again() {
  Child first(listen);
  const Watch watch(first.process());
  first.kill();
  // longer than a tick of the clock by which beginnings are told
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (!(std::ofstream("/proc/sys/kernel/ns_last_pid") << first.process() - 1 << std::flush))
      break;
    Child second(listen);
    if (second.process() != first.process()) continue;
    EXPECT_TRUE(watch.ended()) << "it is another one";
    EXPECT_FALSE(Watch(second.process()).ended());
    return;
  }
  GTEST_SKIP() << "numbers cannot be chosen here";
}

TEST(Watch, ANumberThatIsUsedAgain) { watch_a_number_that_is_used_again(); }

TEST(Watch, ANumberThatIsUsedAgainOnAnOldKernel) {
  Child child([&](Line&) {
    if (!test::refuse(SYS_pidfd_open, ENOSYS)) GTEST_SKIP() << "no seccomp";
    watch_a_number_that_is_used_again();
  });
  child.finish();
}

// ---- read_process, write_process

class Reading : public testing::Test {
 protected:
  static constexpr std::size_t size = 100'000;

  void SetUp() override {
    theirs.resize(size), mine.resize(size);
    std::generate(theirs.begin(), theirs.end(),
                  [&] { return static_cast<unsigned char>(random()); });
  }
  // The child has the same bytes at the same place, and there this process forgets them: what
  // arrives comes from the child.
  std::vector<unsigned char> forget() {
    std::vector<unsigned char> known = theirs;
    std::fill(theirs.begin(), theirs.end(), 0);
    return known;
  }
  std::size_t up_to(std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  }

  // `bytes` cut into at most most_pieces pieces, some of them empty, with gaps of at most `gap`
  // between them, in any order.
  std::vector<Piece> cut(const std::vector<unsigned char>& memory, std::size_t bytes,
                         std::size_t pieces) {
    std::vector<std::size_t> cuts{0, bytes};
    for (std::size_t k = 1; k < pieces; ++k) cuts.push_back(up_to(bytes));
    std::sort(cuts.begin(), cuts.end());
    const std::size_t gap = (memory.size() - bytes) / pieces;
    std::size_t at = reinterpret_cast<std::uintptr_t>(memory.data());
    std::vector<Piece> result;
    for (std::size_t k = 0; k < pieces; ++k) {
      at += up_to(gap);
      result.push_back({at, cuts[k + 1] - cuts[k]});
      at += cuts[k + 1] - cuts[k];
    }
    std::shuffle(result.begin(), result.end(), random);
    return result;
  }

  std::mt19937 random{5};
  std::vector<unsigned char> theirs, mine;
};

// Byte by byte: what the copy should do to `memory`.
void copy_by_hand(const std::vector<Piece>& to, std::vector<unsigned char>& here,
                  const std::vector<unsigned char>& here_now, const std::vector<Piece>& from,
                  const std::vector<unsigned char>& there,
                  const std::vector<unsigned char>& there_now) {
  std::vector<unsigned char> stream;
  for (const Piece& piece : from)
    for (std::uint64_t i = 0; i < piece.bytes; ++i)
      stream.push_back(
          there[piece.address - reinterpret_cast<std::uintptr_t>(there_now.data()) + i]);
  std::size_t next = 0;
  for (const Piece& piece : to)
    for (std::uint64_t i = 0; i < piece.bytes; ++i)
      here[piece.address - reinterpret_cast<std::uintptr_t>(here_now.data()) + i] = stream[next++];
}

TEST_F(Reading, AnyPieces) {
  Child child(listen);
  const std::vector<unsigned char> known = forget();
  for (int k = 0; k < 400; ++k) {
    const std::size_t bytes = up_to(k % 4 ? 300 : 90'000);
    const std::vector<Piece> to = cut(mine, bytes, 1 + up_to(most_pieces - 1)),
                             from = cut(theirs, bytes, 1 + up_to(most_pieces - 1));
    std::fill(mine.begin(), mine.end(), 0xAA);
    std::vector<unsigned char> expected = mine;
    copy_by_hand(to, expected, mine, from, known, theirs);
    const int result = read_process(child.process(), to, from);
    if (result == EPERM) GTEST_SKIP() << "the system does not allow it";
    ASSERT_EQ(result, 0);
    ASSERT_EQ(mine, expected) << "nothing but the pieces changes";
  }
  EXPECT_EQ(read_process(child.process(), {}, {}), 0);
}

TEST_F(Reading, WhatIsWrittenIsThereAndNothingElse) {
  Child child(listen);
  std::vector<unsigned char> expected = forget();
  const Piece all{reinterpret_cast<std::uintptr_t>(theirs.data()), size};
  for (int k = 0; k < 100; ++k) {
    const std::size_t bytes = up_to(k % 4 ? 300 : 90'000);
    const std::vector<Piece> to = cut(theirs, bytes, 1 + up_to(most_pieces - 1)),
                             from = cut(mine, bytes, 1 + up_to(most_pieces - 1));
    std::generate(mine.begin(), mine.end(), [&] { return static_cast<unsigned char>(random()); });
    copy_by_hand(to, expected, theirs, from, mine, mine);
    const int result = write_process(child.process(), to, from);
    if (result == EPERM) GTEST_SKIP() << "the system does not allow it";
    ASSERT_EQ(result, 0);
    std::vector<unsigned char> there(size);
    const Piece here{reinterpret_cast<std::uintptr_t>(there.data()), size};
    ASSERT_EQ(read_process(child.process(), {&here, 1}, {&all, 1}), 0);
    ASSERT_EQ(there, expected) << "nothing but the pieces changes";
  }
  const Piece nowhere{8, 10}, ten{reinterpret_cast<std::uintptr_t>(mine.data()), 10};
  EXPECT_EQ(write_process(child.process(), {&nowhere, 1}, {&ten, 1}), EFAULT);
  EXPECT_EQ(write_process(child.process(), {&all, 1}, {&ten, 1}), EINVAL);
  EXPECT_EQ(write_process(nobody(), {&ten, 1}, {&ten, 1}), ESRCH);
}

TEST_F(Reading, ListsThatDoNotMatch) {
  const auto at = reinterpret_cast<std::uintptr_t>(mine.data());
  const Piece five{at, 5}, six{at + 100, 6};
  EXPECT_EQ(read_process(this_process(), {&five, 1}, {&six, 1}), EINVAL);
  EXPECT_EQ(read_process(this_process(), {}, {&six, 1}), EINVAL);
  const std::vector<Piece> many(most_pieces + 1, Piece{at, 1}), as_many(most_pieces, Piece{at, 1});
  const Piece sum{at + 100, most_pieces + 1};
  EXPECT_EQ(read_process(this_process(), {&sum, 1}, many), EINVAL);
  EXPECT_EQ(read_process(this_process(), many, {&sum, 1}), EINVAL);
}

TEST_F(Reading, NoSuchProcess) {
  const Piece piece{reinterpret_cast<std::uintptr_t>(mine.data()), 5};
  EXPECT_EQ(read_process(nobody(), {&piece, 1}, {&piece, 1}), ESRCH);
  EXPECT_EQ(read_process(0, {&piece, 1}, {&piece, 1}), ESRCH);
  EXPECT_EQ(read_process((std::int64_t{1} << 32) + this_process(), {&piece, 1}, {&piece, 1}),
            ESRCH);
}

// Some pages, then nothing: the system delivers a part first. Both as one piece and as several.
TEST_F(Reading, AddressesThatAreNotThere) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* const area =
      mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(area, MAP_FAILED);
  std::fill_n(static_cast<unsigned char*>(area), 4 * page, 7);
  ASSERT_EQ(munmap(static_cast<char*>(area) + 3 * page, page), 0);
  Child child(listen);
  const auto there = reinterpret_cast<std::uintptr_t>(area),
             here = reinterpret_cast<std::uintptr_t>(mine.data());
  const Piece to{here, 4 * page}, all{there, 4 * page}, last{there + 3 * page, 10}, ten{here, 10};
  const int result = read_process(child.process(), {&to, 1}, {&all, 1});
  if (result == EPERM) GTEST_SKIP() << "the system does not allow it";
  EXPECT_EQ(result, EFAULT);
  EXPECT_EQ(read_process(child.process(), {&ten, 1}, {&last, 1}), EFAULT);
  const Piece pieces[] = {{there, page}, {there + page, 2 * page}, {there + 3 * page, page}};
  EXPECT_EQ(read_process(child.process(), {&to, 1}, pieces), EFAULT);
  const Piece good[] = {{there, page}, {there + page, 2 * page}, {there, page}};
  EXPECT_EQ(read_process(child.process(), {&to, 1}, good), 0);
  EXPECT_EQ(std::count(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(4 * page), 7),
            static_cast<std::ptrdiff_t>(4 * page));
  const Piece nowhere{8, 10}, near{there, 10};
  EXPECT_EQ(read_process(child.process(), {&nowhere, 1}, {&near, 1}), EFAULT) << "on this side";
  EXPECT_EQ(munmap(area, 3 * page), 0);
}

// A little memory that is mapped again and again, as if it were much.
class Repeated {
 public:
  static constexpr std::size_t window = std::size_t{1} << 26, bytes = 33 * window;

  Repeated() {
    const int file = memfd_create("window", MFD_CLOEXEC);
    EXPECT_EQ(ftruncate(file, window), 0);
    at_ = static_cast<unsigned char*>(
        mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (std::size_t at = 0; at < bytes; at += window)
      EXPECT_NE(mmap(at_ + at, window, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0),
                MAP_FAILED);
    close(file);
  }
  Repeated(const Repeated&) = delete;
  ~Repeated() { munmap(at_, bytes); }
  unsigned char& operator[](std::size_t i) { return at_[i]; }
  std::uint64_t address(std::size_t i) const { return reinterpret_cast<std::uintptr_t>(at_ + i); }

 private:
  unsigned char* at_;
};

// The system stops a little before 2 GiB, in the middle of pieces on both sides; then comes another
// piece.
TEST_F(Reading, MoreThanTwoGibibytes) {
  if (sizeof(void*) < 8) GTEST_SKIP() << "no room";
  constexpr std::size_t much = (std::size_t{1} << 31) + 100, shift = 12'345;
  auto message = [](std::size_t i) { return static_cast<unsigned char>(i * 7 + i / 1021); };
  Repeated source, target;
  for (std::size_t i = 0; i < Repeated::window; ++i) source[i] = message(i);
  Child child(listen);
  const std::vector<unsigned char> known = forget();
  const Piece to[] = {{target.address(0), shift}, {target.address(shift), much - shift + size}};
  const Piece from[] = {{source.address(0), much},
                        {reinterpret_cast<std::uintptr_t>(theirs.data()), size}};
  const int result = read_process(child.process(), to, from);
  if (result == EPERM) GTEST_SKIP() << "the system does not allow it";
  ASSERT_EQ(result, 0);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < Repeated::window; ++i)
    wrong += target[i] != (i >= 100 && i < 100 + size ? known[i - 100] : message(i));
  EXPECT_EQ(wrong, 0u);
}

}  // namespace
}  // namespace tonari
