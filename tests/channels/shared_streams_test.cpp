// SPDX-License-Identifier: BSD-3-Clause
// Single copies of what the sender writes by streaming stores until it sends: what the receiver
// reads there is never older.
#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "channels/shared/link.hpp"
#include "support/mpi_main.hpp"
#include "support/streams.hpp"

namespace tonari {
namespace {

using test::everywhere, test::world_rank, test::world_size;

using Word = std::uint64_t;

// Two ranks, each with a message to the other that is read where it lies.
class SharedStreams : public testing::Test {
 protected:
  static constexpr std::size_t words = 16 * 1024 / sizeof(Word);  // of a message
  static constexpr std::size_t anew = 64;                         // that are written each time

  void SetUp() override {
    if (world_size() != 2) GTEST_SKIP() << "for two ranks";
    const auto node = std::make_shared<const Node>(MPI_COMM_WORLD, world_rank());
    if (!everywhere(node->reads_memory()))
      GTEST_SKIP() << "the system lets no process read another's memory";
    constexpr Bytes bytes = words * sizeof(Word);
    const std::vector<EdgeMessage> message{{1 - world_rank(), 0, bytes}};
    link_ = std::make_unique<SharedLink>(node, world_rank(), message, message,
                                         SharedLimits{.single_copy = bytes});
    std::vector<SegmentName> names(2);
    const SegmentName mine = link_->segment();
    MPI_Allgather(&mine, sizeof mine, MPI_BYTE, names.data(), sizeof mine, MPI_BYTE,
                  MPI_COMM_WORLD);
    ASSERT_TRUE(link_->attach({{0, names[0]}, {1, names[1]}}));
    MPI_Barrier(MPI_COMM_WORLD);
    const Piece from{reinterpret_cast<std::uintptr_t>(out_.data()), bytes};
    const Piece to{reinterpret_cast<std::uintptr_t>(in_.data()), bytes};
    link_->out(0).bound({&from, 1});
    link_->in(0).bound({&to, 1});
  }

  static Word content(int rank, int round, std::size_t k) {
    return static_cast<Word>(round) << 32 | static_cast<Word>(rank) << 16 | k;
  }

  // What fills no whole line stays longest where no other core sees it. The start of the message
  // is read first, so that is written last.
  void send(int round) {
    while (!link_->out(0).may_write(0, round % 2)) std::this_thread::yield();
    for (std::size_t k = anew; k > 0; k -= 2)
      test::stream(&out_[k - 2], content(world_rank(), round, k - 2));
    link_->out(0).written(0, round % 2);
  }
  long receive(int round) {
    for (int looks = 1; !link_->in(0).arrived(0, round % 2); ++looks)
      if (looks % 16384 == 0) std::this_thread::yield();  // ranks may have to share a core
    long stale = 0;
    for (std::size_t k = 0; k < anew; k += 2)
      stale += in_[k] != content(1 - world_rank(), round, k);
    link_->in(0).taken(0, round % 2);
    return stale;
  }

  std::vector<Word> out_ = std::vector<Word>(words), in_ = out_;
  std::unique_ptr<SharedLink> link_;
};

// By turns: who has sent waits for the answer without anything that would empty its core's buffers.
TEST_F(SharedStreams, ASingleCopyIsNeverOlder) {
  const long stale = test::stale_in_rounds([&](int round) {
    if (world_rank() == 0) send(round);
    const long found = receive(round);
    if (world_rank() == 1) send(round);
    return found;
  });
  EXPECT_EQ(stale, 0) << "words";
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace tonari
