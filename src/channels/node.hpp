// SPDX-License-Identifier: BSD-3-Clause
// The ranks that share memory with this one.
#pragma once

#include <mpi.h>

#include <cerrno>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "memory/process.hpp"
#include "memory/wait.hpp"

namespace tonari {

class Node {
 public:
  // Collective over `members`, whose ranks share memory, in the order of their numbers. `rank` is
  // this process's number in the communicator that ranks() counts in. `ready` is called when this
  // rank has all memory that it needs until it has met the others, who would wait for it.
  Node(MPI_Comm members, std::int32_t rank, const std::function<void()>& ready = [] {});
  // Collective over all ranks of `comm`, which need no communicator of their node then: those of
  // them that run on this one's system, and of these the ones in `among`, unless that is empty.
  // Null on all ranks if one of them does not know its system.
  static std::shared_ptr<const Node> on_one_system(MPI_Comm comm,
                                                   std::span<const std::int32_t> among,
                                                   const std::function<void()>& ready);

  const std::vector<std::int32_t>& ranks() const { return ranks_; }  // ascending
  std::size_t index(std::int32_t rank) const;  // in ranks(); ranks().size() if it is elsewhere
  bool here(std::int32_t rank) const { return index(rank) < ranks_.size(); }
  std::int64_t process(std::size_t k) const { return processes_[k]; }
  bool ended(std::size_t k) const { return watches_[k] && watches_[k]->ended(); }
  // The same after an attempt to read or write its memory that failed with this errno: a process
  // that ends loses its memory a moment before it counts as ended.
  bool ended(std::size_t k, int error) const { return error == ESRCH || ended(k); }

  // that take turns on a processor, counting those of the whole job; 1: each has its own
  int ranks_per_core() const { return ranks_per_core_; }
  // more ranks than processors
  bool crowded() const { return ranks_per_core_ > 1; }
  // of others on the node, by process_vm_readv, and writes it by process_vm_writev
  bool reads_memory() const { return reads_; }

 private:
  struct Card;
  Node(std::span<const Card> cards, std::size_t me);

  std::vector<std::int32_t> ranks_;
  std::vector<std::int64_t> processes_;
  std::vector<std::shared_ptr<const Watch>> watches_;  // null: of this process
  int ranks_per_core_ = 1;
  bool reads_ = false;
};

}  // namespace tonari
