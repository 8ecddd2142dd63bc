// SPDX-License-Identifier: BSD-3-Clause
// Adds a few numbers of all ranks without a collective call. Calls on one communicator must come in
// the same order on all ranks, and starts of different requests need not. So the numbers travel by
// messages of their own tag, up a binary tree of the ranks and back down:
//
//            0         A rank sends to its parent when it has heard from its children, and to its
//         1     2      children when it has heard from its parent. Nothing waits: advance() looks.
//        3 4   5 6
#pragma once

#include <mpi.h>

#include <array>
#include <memory>
#include <span>

#include "engine/wait/awaited.hpp"
#include "mpi/owned_comm.hpp"

namespace tonari {

class TreeSum {
 public:
  static constexpr std::size_t most_numbers = 16;

  // Local; `tag` belongs to it on all ranks.
  TreeSum(std::shared_ptr<const OwnedComm> comm, int tag);
  // One that is under way has failed: what it still sends is given up.
  ~TreeSum();
  TreeSum(const TreeSum&) = delete;
  TreeSum& operator=(const TreeSum&) = delete;

  // All ranks start equally many. Does not block; none is under way.
  void start(std::span<const double> numbers);
  bool under_way() const { return stage_ != Stage::idle; }
  MPI_Comm comm() const { return comm_->get(); }
  // Returns whether anything moved. Throws Errc::mpi, and Errc::peer if a rank has given up.
  bool advance();
  // The ranks of the tree that are waited for.
  void awaits(Awaited& awaited, const Node* node) const;
  // After it, until the next start; bitwise the same on all ranks.
  std::span<const double> sums() const { return memory_->sums; }

  // This rank takes no further part: others that come to depend on it hear of it.
  void give_up();

 private:
  enum class Stage { idle, gathering, waiting, telling };
  using Numbers = std::array<double, most_numbers + 1>;  // the last says that a rank has given up
  // Must stay where MPI was told that it is.
  struct Memory {
    std::array<Numbers, 2> from_children{};
    Numbers sums{};
  };

  void pass_up();
  void pass_down();
  bool complete(std::span<MPI_Request> requests);
  void send(const Numbers& numbers, int rank, MPI_Request& request);
  void receive(Numbers& numbers, int rank, MPI_Request& request);
  void check(const Numbers& numbers) const;
  static bool arrived(MPI_Request request);
  std::span<const int> children() const { return std::span(children_).first(child_count_); }

  std::shared_ptr<const OwnedComm> comm_;
  int tag_, parent_ = MPI_PROC_NULL;
  std::array<int, 2> children_{};
  std::size_t child_count_ = 0;
  Stage stage_ = Stage::idle;
  std::unique_ptr<Memory> memory_ = std::make_unique<Memory>();
  std::array<MPI_Request, 2> incoming_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<MPI_Request, 3> outgoing_{MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

}  // namespace tonari
