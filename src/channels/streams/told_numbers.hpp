// SPDX-License-Identifier: BSD-3-Clause
// How the receivers of blocks number them, told to the senders: errors at both ends name the same
// block. Nobody waits for that. The numbers are there by the time they are needed, because they
// were sent before any block.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "mpi/owned_comm.hpp"

namespace tonari {

class ToldNumbers {
 public:
  ToldNumbers(std::shared_ptr<const OwnedComm> comm, int tag) : comm_(std::move(comm)), tag_(tag) {}
  ~ToldNumbers();
  ToldNumbers(const ToldNumbers&) = delete;
  ToldNumbers& operator=(const ToldNumbers&) = delete;

  // Before tell(): of blocks from a peer, and how many blocks go to it.
  void add(int peer, std::span<const std::uint32_t> mine, std::size_t theirs);
  // Starts all messages. It needs no memory.
  void tell();
  // Those of the peer that was added as the k-th one, once its message has come. It waits for at
  // most a second; then, and before tell(), there are none.
  std::span<const std::uint32_t> of(std::size_t k);

 private:
  struct Peer {
    int rank;
    std::vector<std::uint32_t> mine, theirs;
  };
  std::shared_ptr<const OwnedComm> comm_;
  int tag_;
  std::vector<Peer> peers_;
  std::vector<MPI_Request> requests_;  // of each peer: received, sent
};

}  // namespace tonari
