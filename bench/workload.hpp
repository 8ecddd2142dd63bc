// SPDX-License-Identifier: BSD-3-Clause
// One exchange to be timed: communicator, blocks, buffers, and what must be in them afterwards.
#pragma once

#include <mpi.h>

#include <vector>

#include "blocks.hpp"
#include "options.hpp"
#include "topology/vertex.hpp"

namespace bench {

// The communication pattern: an isomorphic neighborhood on a grid of ranks, or a graph.
struct Place {
  MPI_Comm cart = MPI_COMM_NULL;  // for graphs without a topology
  int rank = 0;
  int ranks = 1;
  std::vector<int> dims;
  tonari::Pattern pattern;
  std::vector<int> flat;     // offsets as tonari_neighborhood_create_cart takes them
  std::vector<int> targets;  // rank or MPI_PROC_NULL, one per offset
  std::vector<int> sources;
  std::size_t neighbors = 0;          // the most that a rank sends to
  std::vector<int> origins;           // receive block j is send block origins[j] of its source
  std::vector<tonari::Vertex> graph;  // all ranks'; empty: a grid

  explicit Place(const Options& options);  // [collective]
  ~Place();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  bool everywhere() const { return complete; }  // no MPI_PROC_NULL on any rank
  bool sends_to_itself() const { return self; }

 private:
  void stand_on_grid(const Options& options);
  bool complete = true;
  bool self = false;  // on any rank
};

// Those that exist: without MPI_PROC_NULL.
std::vector<int> existing(const std::vector<int>& ranks);

// Of all ranks, which place.cart numbers alike: on Open MPI 5 a graph made of a Cartesian
// communicator stays half a grid.
MPI_Comm distributed_graph(const std::vector<int>& sources, const std::vector<int>& targets);

// Counts, displacements and types as MPI's calls want them.
struct Arguments {
  std::vector<int> counts;
  std::vector<int> displs;        // elements of MPI_BYTE, for MPI's v forms
  std::vector<MPI_Aint> offsets;  // bytes, for w forms and tonari's v forms
  std::vector<MPI_Datatype> types;
};

struct BufferPair {
  const void* send;
  void* recv;
};

class Workload {
 public:
  Workload(const Place& place, const Options& options, std::size_t bytes);
  ~Workload();
  Workload(const Workload&) = delete;
  Workload& operator=(const Workload&) = delete;

  const Place& place;
  const Operation operation;
  const std::size_t bytes;
  BufferPair buffers() const { return {send_, recv_}; }
  const void* send() const { return send_; }
  void* recv() const { return recv_; }
  std::size_t send_bytes() const { return blocks_.send_bytes; }  // of the buffers
  std::size_t recv_bytes() const { return blocks_.recv_bytes; }
  const Arguments& send_arguments() const { return send_arguments_; }
  const Arguments& recv_arguments() const { return recv_arguments_; }
  std::size_t total_bytes() const;  // sent by this rank, all blocks

  static unsigned char* allocate(std::size_t size);  // by pages; to be freed by std::free

  // payload into the send buffer, and something that no payload contains into the receive buffer
  void poison();
  bool correct() const;  // [local] every byte of both buffers is what direct delivery leaves there
  // [local] The same where receive blocks may lie elsewhere: at[j] is the place of block j in the
  // receive buffer, or another one where its bytes lie contiguous. What else is in the receive
  // buffer is not looked at. Blocks that nobody sends are left out.
  bool correct(const std::vector<const void*>& at) const;

 private:
  bool sent_unchanged() const;
  bool block_correct(std::size_t block, const void* at) const;
  void initial(int rank, std::vector<unsigned char>& send, std::vector<unsigned char>& recv) const;

  Blocks blocks_;
  unsigned char* send_ = nullptr;
  unsigned char* recv_ = nullptr;
  Arguments send_arguments_;
  Arguments recv_arguments_;
  std::vector<unsigned char> expected_send_, expected_recv_, initial_recv_;
};

}  // namespace bench
