// SPDX-License-Identifier: BSD-3-Clause
// The general in-place all-to-all over MPI point to point. It does what Rearrangement
// (planners/in_place/rearrangement.hpp) wants asked, sent and moved.
//
//      receiver                                             sender
//      parks what is in the way
//      asks: {offset, size} -- tag 1 or 2 --------------->  takes the next question, from whomever
//      place  <------------------------- tag 0, in parts -  from where these bytes lie now
//
// Contiguous bytes travel straight from and to their place; others go through a chunk. So both ends
// may cut parts as they like: the receiver sees from their lengths how much is still to come. It
// posts one receive per sender, so parts of one sender stay in order.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <memory>
#include <vector>

#include "copy/moves.hpp"
#include "engine/wait/polled_exchange.hpp"
#include "memory/memory.hpp"
#include "planners/in_place/rearrangement.hpp"
#include "planners/in_place/slot_memory.hpp"

namespace tonari {

// The arguments of this rank. Displacements and counts are in elements; element k has the bytes of
// `element`, relative to base + k * extent. No two elements share a byte.
struct GeneralProblem {
  std::byte* base = nullptr;
  std::ptrdiff_t extent = 0;
  std::shared_ptr<const Layout> element;
  std::vector<std::uint64_t> send_counts, recv_counts;
  std::vector<std::int64_t> send_displs, recv_displs;
};

class GeneralExchange final : public PolledExchange<GeneralExchange> {
 public:
  static constexpr int tags = 3;  // first_tag .. first_tag + 2 of comm belong to this exchange

  // Not collective; all ranks of comm make one, with equally numbered tags. A rank sends as many
  // bytes as the other receives. `memory` is for blocks on their way, in bytes; 0 counts as 1. It
  // allocates no more than it could use. Throws Errc::argument, overflow or buffers (about this
  // rank's arguments alone), and std::bad_alloc.
  GeneralExchange(std::shared_ptr<const OwnedComm> comm, int first_tag,
                  const GeneralProblem& problem, std::uint64_t memory, WaitPolicy wait,
                  std::shared_ptr<const Node> node = nullptr);
  ~GeneralExchange() override;

  void start() override;
  // The number in the last exchange, with questions; before the first one, the fewest possible. It
  // depends on which rank is ready when.
  int messages() const override { return messages_; }
  Bytes bytes() const override { return bytes_; }
  std::size_t scratch_bytes() const override { return memory_.bytes(); }
  std::size_t book_bytes() const override { return most_books_; }
  void awaits(Awaited& awaited) const override;
  // bytes that the last exchange copied inside this rank
  std::uint64_t bytes_parked() const { return machine_.parked_in_all(); }

 private:
  static constexpr int window = 8;  // pieces asked for, and parts being sent, at a time
  static constexpr int no_chunk = -1;
  // first index into requests_
  enum Role { question = 0, answer = window, part = 2 * window, all_roles = 3 * window };

  using Words = std::array<std::uint64_t, 2>;  // of a question: offset, size
  struct Asked {
    Rearrangement::Piece piece = {};
    std::uint64_t got = 0;     // bytes
    std::uint64_t number = 0;  // ascending; 0 if nothing is asked for here
    int chunk = no_chunk;
  };
  struct Sending {
    Slots place;  // free when the part has been sent; empty if it lies in a chunk
    int chunk = no_chunk;
  };

  static Blocks blocks_of(const GeneralProblem& problem);
  void count_books();
  friend PolledExchange;
  bool finished() const { return active_ == 0 && machine_.complete(); }
  bool advance();
  void progress() const {}  // each look does it
  void check_peers() const;
  bool complete_some();
  bool ask_some();
  bool ask();
  void serve_myself(const Rearrangement::Piece& piece);
  void send_question(int index);
  void post_receive(int sender);
  void part_came(int index, const MPI_Status& status);
  bool answer_some();
  bool next_question();
  bool send_part();
  int free_index(int role) const;
  int take_chunk(int role);
  std::byte* chunk(int index) const {
    return chunks_ + static_cast<std::size_t>(index) * chunk_bytes_;
  }

  int first_tag_, rank_;
  std::shared_ptr<const Node> node_;
  std::vector<std::int32_t> partners_;  // ranks that it sends to or receives from
  SlotMemory slots_;
  // 0 if nothing is to be packed or the memory is too small
  std::uint64_t chunk_bytes_;
  Rearrangement machine_;
  Memory memory_;  // room, then chunks: two to send from, two to receive in
  std::byte* chunks_ = nullptr;
  std::array<bool, 4> chunk_used_ = {};
  Bytes bytes_ = 0;
  std::atomic<int> messages_ = 0;  // a progress thread may count while the program asks

  std::atomic<std::size_t> most_books_ = 0;

  // questions of the next exchange may arrive during this one, so they have another tag
  int parity_ = 0;
  int active_ = 0;  // requests
  std::array<MPI_Request, all_roles> requests_;
  std::array<int, all_roles> completed_;
  std::array<MPI_Status, all_roles> statuses_;
  std::unique_ptr<std::array<Words, window>> questions_;
  std::array<Asked, window> asked_;
  std::array<Sending, window> sending_;
  std::uint64_t asked_in_all_ = 0;
  int answering_ = 0;  // this rank, as long as places_ are left
  std::vector<Slots> places_;
  std::size_t next_place_ = 0;
  std::vector<Rearrangement::Park> parks_;
};

}  // namespace tonari
