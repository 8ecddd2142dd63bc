// The ranks that share memory with this one.
#pragma once

#include <mpi.h>

#include <memory>
#include <string>
#include <vector>

#include "channels/owned_comm.hpp"
#include "memory/process.hpp"
#include "memory/wait.hpp"

namespace tonari {

class Node {
 public:
  // Collective over comm; `ranks`: those of comm on this rank's node, ascending, the same list on all of them, and this rank among them.
  Node(MPI_Comm comm, std::vector<std::int32_t> ranks);

  MPI_Comm comm() const { return comm_->get(); }  // of the node's ranks, in the order of ranks()
  const std::vector<std::int32_t>& ranks() const { return ranks_; }
  std::size_t index(std::int32_t rank) const;      // in ranks(); ranks().size() if it is elsewhere
  bool here(std::int32_t rank) const { return index(rank) < ranks_.size(); }
  std::int64_t process(std::size_t k) const { return processes_[k]; }
  bool ended(std::size_t k) const { return watches_[k].ended(); }

  bool crowded() const { return crowded_; }          // more ranks than processors
  bool can_read_processes() const { return reads_; }  // every rank the memory of every other, process_vm_readv

 private:
  std::shared_ptr<const OwnedComm> comm_;
  std::vector<std::int32_t> ranks_;
  std::vector<std::int64_t> processes_;
  std::vector<Watch> watches_;
  bool crowded_ = false, reads_ = false;
};

}  // namespace tonari
