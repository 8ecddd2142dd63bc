// SPDX-License-Identifier: BSD-3-Clause
// The hand-over of a cell between two threads. This file is also compiled with ThreadSanitizer, as
// a program of its own: see tests/CMakeLists.txt.
//
// Why nothing is lost and nothing is torn. A cell has two words besides plain payload: `last` (with
// a canary) and `mark`. A message comes "by the mark" if it was announced by mark = 1, "by the
// word" if by last != canary. The cell is free if last == canary and mark == 0, and full otherwise.
//
//   writer   free() ......... W payload ...... publish: one store (release), to last or to mark
//   reader   full() ......... R payload ...... release: one store (release), to the same word,
//                                              which puts it back
//
// 1. Turns. free -> full takes exactly one store, which only the writer makes, and only after it
//    saw the cell free; full -> free takes exactly one store, which only the reader makes, and only
//    after it saw it full. Between the two the other side makes no store at all. So the stores to
//    the cell are totally ordered: publish 0 < release 0 < publish 1 < ..., and at most one of the
//    two words differs from its free value at any time. A look that sees old values sees the state
//    before a store of the other side, which means waiting on: it can never see a state that is yet
//    to come.
// 2. free() and full() look at two words, one after the other, and the state may change between the
//    looks. free(): only the reader changes the state while the writer polls, and only from full to
//    free, by one word; the other word has its free value already. So if either look finds its word
//    not free, the cell was full then; if both find theirs free, the one word that was not has been
//    put back. full(): likewise, from free to full. Stale values do not matter either. Could the
//    writer, which polls for the release of message k, still find in `last` the canary of before
//    message k - that is, its own store overlooked? No: it is its own store, and coherence forbids
//    reading back behind it. Likewise the reader and its own releases.
// 3. Payload k is written before the release store publish k, which the acquire load in full()
//    reads, which is before payload k is read: happens-before. Payload k is read before the release
//    store release k, which the acquire load in free() reads, which is before payload k + 1 is
//    written: happens-before. The word by which k came may differ from the one by which k + 1 goes:
//    free() has loaded both, so it has loaded the one that release k stored.
// 4. release() asks the mark (relaxed) by which word the message came. The last store to the mark
//    is publish k, which full() has acquired, or an earlier release by this very reader: either is
//    visible to it, and there is no later one, since publish k + 1 waits for this release.
// 5. By the mark, `last` holds the canary because the word of the message is the canary: nobody
//    needs to write it, the reader reads it as part of the payload. By the word, `last` itself is
//    that part of the payload; bytes of it behind the message's end differ from the canary's, so a
//    message that does not fill the last word never needs the mark.
#include "memory/cell.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "memory/memory.hpp"

namespace tonari {
namespace {

using Word = Cell::Word;
constexpr std::size_t word = sizeof(Word);

#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t many = 100'000;
#else
constexpr std::uint64_t many = 1'000'000;
#endif

// Aligned memory for cells, full of what was there before.
struct Room {
  explicit Room(std::size_t bytes) : memory(bytes + Cell::alignment) {
    std::memset(memory.data(), 0x5A, memory.bytes());
    at = memory.data() +
         (Cell::alignment - reinterpret_cast<std::uintptr_t>(memory.data()) % Cell::alignment) %
             Cell::alignment;
  }
  Memory memory;
  std::byte* at;
};

// ---- one thread

std::array<std::byte, word> bytes_of(Word value) {
  std::array<std::byte, word> bytes;
  std::memcpy(bytes.data(), &value, word);
  return bytes;
}

TEST(Cell, ItsSize) {
  EXPECT_EQ(Cell::bytes_for(0), 128u);
  EXPECT_EQ(Cell::bytes_for(1), 128u);
  EXPECT_EQ(Cell::bytes_for(120), 128u) << "the mark fits behind";
  EXPECT_EQ(Cell::bytes_for(121), 256u);
  EXPECT_EQ(Cell::bytes_for(248), 256u);
}

TEST(Cell, StaysWithinItsMemory) {
  for (const bool with_canary : {false, true}) {
    for (std::size_t payload = with_canary; payload <= 400; ++payload) {
      const std::size_t bytes = Cell::bytes_for(payload);
      Room room(bytes + 64);
      const Cell cell(room.at, payload, with_canary);
      cell.clear();
      EXPECT_TRUE(cell.free());
      EXPECT_FALSE(cell.full());
      std::memset(cell.payload(), 1, with_canary ? (payload - 1) / word * word : payload);
      if (with_canary)
        cell.publish(Word{3});
      else
        cell.publish();
      EXPECT_TRUE(cell.full());
      EXPECT_FALSE(cell.free());
      cell.release();
      EXPECT_TRUE(cell.free());
      for (std::size_t i = bytes; i < bytes + 64; ++i)
        ASSERT_EQ(room.at[i], std::byte{0x5A}) << payload;
    }
  }
}

// Messages by the word and by the mark, in any order, and the message is there in full each time.
TEST(Cell, WordAndMarkInAnyOrder) {
  Room room(Cell::bytes_for(2 * word));
  const Cell cell(room.at, 2 * word, true);
  for (unsigned order = 0; order < 256; ++order) {
    cell.clear();
    for (unsigned k = 0; k < 8; ++k) {
      const Word first = k % 3 ? k : Cell::canary,
                 last = order >> k & 1 ? Cell::canary : ~Cell::canary + k;
      ASSERT_TRUE(cell.free() && !cell.full());
      std::memcpy(cell.payload(), &first, word);
      ASSERT_TRUE(cell.free() && !cell.full()) << "not announced yet";
      cell.publish(last);
      ASSERT_TRUE(!cell.free() && cell.full());
      ASSERT_EQ(std::memcmp(cell.payload(), bytes_of(first).data(), word), 0);
      ASSERT_EQ(std::memcmp(cell.payload() + word, bytes_of(last).data(), word), 0);
      cell.release();
    }
    ASSERT_TRUE(cell.free() && !cell.full());
  }
}

// ---- two threads

// Byte i of message k. Some words are the canary, the last one in a third of the messages; some
// differ from it in one byte only.
class Messages {
 public:
  explicit Messages(std::size_t bytes)
      : bytes_(bytes), last_(bytes ? (bytes - 1) / word * word : 0) {}

  std::size_t before_last() const { return last_; }
  std::size_t tail() const { return bytes_ - last_; }

  // The words of message k one after the other: write(offset, word).
  template <class Write>
  void each(std::uint64_t k, Write write) const {
    for (std::size_t at = 0; at < bytes_; at += word)
      write(at, std::min(word, bytes_ - at), value(k, at));
  }

 private:
  Word value(std::uint64_t k, std::size_t at) const {
    const Word mixed = (k * 0x9E37'79B9'7F4A'7C15 + at) * 0xBF58'476D'1CE4'E5B9;
    switch ((mixed >> 40) % 6) {
      case 0:
      case 1:
        return Cell::canary;
      case 2:
        return Cell::canary ^ (Word{0xFF} << 8 * (mixed >> 32 & 7));
      default:
        return mixed ^ mixed >> 29;
    }
  }
  std::size_t bytes_, last_;
};

// The plain accesses, byte by byte: the sanitizer does not look into every memcpy.
void store(std::byte* to, Word value, std::size_t bytes) {
  const std::array<std::byte, word> from = bytes_of(value);
  for (std::size_t i = 0; i < bytes; ++i) to[i] = from[i];
}

bool same(const std::byte* at, Word value, std::size_t bytes) {
  const std::array<std::byte, word> right = bytes_of(value);
  for (std::size_t i = 0; i < bytes; ++i)
    if (at[i] != right[i]) return false;
  return true;
}

// A delay in a few places of a hundred: none, some turns, the rest of the time slice, a sleep.
class Delays {
 public:
  Delays(unsigned seed, unsigned percent) : random_(seed), percent_(percent) {}
  void maybe() {
    const unsigned drawn = random_() % 100'000;
    if (drawn >= percent_ * 1000) return;
    if (drawn % 1000 == 0)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    else if (drawn % 100 == 1)
      sched_yield();
    else
      for (volatile unsigned turns = random_() % 300; turns > 0;) turns = turns - 1;
  }

 private:
  std::minstd_rand random_;
  unsigned percent_;
};

struct Case {
  std::size_t payload = 8;
  bool with_canary = true;
  std::uint64_t messages = 1000;
  unsigned writer_delays = 0, reader_delays = 0;  // per cent
  int cells = 2;                                  // used in turn
};

// One writer, one reader. What each says of itself is relaxed: the cells alone must carry the order
// of everything else.
class Pair {
 public:
  explicit Pair(const Case& c)
      : case_(c), messages_(c.payload), room_(c.cells * Cell::bytes_for(c.payload)) {
    for (int i = 0; i < c.cells; ++i)
      cells_.emplace_back(room_.at + i * Cell::bytes_for(c.payload), c.payload, c.with_canary)
          .clear();
  }

  std::string run() {
    std::thread writer([&] { write(); });
    read();
    writer.join();
    return complaint_of_writer_ + complaint_of_reader_;
  }

 private:
  const Cell& cell(std::uint64_t k) const { return cells_[k % cells_.size()]; }

  // Looks until something is seen, or the other side has given up, or for so long that it must be
  // lost.
  template <class Look>
  bool wait(Look look) {
    for (std::uint64_t looks = 1; !look(); ++looks) {
      if (looks % 32 == 0) sched_yield();  // there may be one core only
      if (looks % 1024 == 0 &&
          (given_up_.load(std::memory_order_relaxed) || std::chrono::steady_clock::now() > until_))
        return false;
    }
    return true;
  }

  void write() {
    Delays delays(1, case_.writer_delays);
    for (std::uint64_t k = 0; k < case_.messages; ++k) {
      const Cell& to = cell(k);
      if (!wait([&] { return to.free(); }))
        return give_up(complaint_of_writer_, "never free again", k);
      if (released_.load(std::memory_order_relaxed) + cells_.size() <= k)
        return give_up(complaint_of_writer_, "free before it was released", k);
      delays.maybe();
      Word last = ~Cell::canary;  // so that bytes behind the message differ from the canary's
      messages_.each(k, [&](std::size_t at, std::size_t bytes, Word value) {
        const bool by_publish = case_.with_canary && at == messages_.before_last();
        if (by_publish)
          std::memcpy(&last, &value, bytes);
        else
          store(to.payload() + at, value, bytes);
      });
      delays.maybe();
      published_.store(k + 1, std::memory_order_relaxed);
      if (case_.with_canary)
        to.publish(last);
      else
        to.publish();
      delays.maybe();
    }
  }

  void read() {
    Delays delays(2, case_.reader_delays);
    for (std::uint64_t k = 0; k < case_.messages; ++k) {
      const Cell& from = cell(k);
      if (!wait([&] { return from.full(); })) return give_up(complaint_of_reader_, "never came", k);
      if (published_.load(std::memory_order_relaxed) <= k)
        return give_up(complaint_of_reader_, "full before it was published", k);
      delays.maybe();
      bool right = true;
      messages_.each(k, [&](std::size_t at, std::size_t bytes, Word value) {
        right &= same(from.payload() + at, value, bytes);
      });
      if (!right) return give_up(complaint_of_reader_, "has wrong bytes", k);
      delays.maybe();  // a release that comes late, while the writer polls
      released_.store(k + 1, std::memory_order_relaxed);
      from.release();
      delays.maybe();
    }
  }

  void give_up(std::string& complaint, const char* what, std::uint64_t k) {
    complaint = "message " + std::to_string(k) + " " + what + "; ";
    given_up_.store(true, std::memory_order_relaxed);
  }

  const Case case_;
  const Messages messages_;
  Room room_;
  std::vector<Cell> cells_;
  const std::chrono::steady_clock::time_point until_ =
      std::chrono::steady_clock::now() + std::chrono::seconds(600);
  std::atomic<std::uint64_t> published_{0}, released_{0};
  std::atomic<bool> given_up_{false};
  std::string complaint_of_writer_, complaint_of_reader_;
};

class CellSizes : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Between, CellSizes, testing::Bool(),
                         [](const auto& info) { return info.param ? "Canary" : "Mark"; });

TEST_P(CellSizes, OneToTwoHundredBytes) {
  for (std::size_t payload = GetParam() ? 1 : 0; payload <= 200; ++payload)
    ASSERT_EQ(Pair({payload, GetParam(), 300, 20, 20}).run(), "") << payload << " bytes";
}

TEST_P(CellSizes, LateWriter) {
  for (std::size_t payload : {1, 8, 16, 61})
    ASSERT_EQ(Pair({payload, GetParam(), 10'000, 60, 0}).run(), "") << payload << " bytes";
}

TEST_P(CellSizes, LateReader) {
  for (std::size_t payload : {1, 8, 16, 61})
    ASSERT_EQ(Pair({payload, GetParam(), 10'000, 0, 60}).run(), "") << payload << " bytes";
}

TEST_P(CellSizes, OneCellOnly) {
  for (std::size_t payload : {3, 8, 24, 120})
    ASSERT_EQ(Pair({payload, GetParam(), 5'000, 10, 10, 1}).run(), "") << payload << " bytes";
}

TEST_P(CellSizes, SeveralCellsInTurn) {
  for (std::size_t payload : {5, 8, 1000})
    ASSERT_EQ(Pair({payload, GetParam(), 10'000, 2, 2, 4}).run(), "") << payload << " bytes";
}

TEST_P(CellSizes, Million) { ASSERT_EQ(Pair({16, GetParam(), many}).run(), ""); }

}  // namespace
}  // namespace tonari
