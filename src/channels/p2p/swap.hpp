// SPDX-License-Identifier: BSD-3-Clause
// Swaps by MPI point to point. A window of chunks is on its way, each with a copy of the outgoing
// bytes in temporary memory. So incoming bytes can be received straight into their place (Hofmann
// 2013, section 3.4, applied to chunks instead of whole blocks). Non-contiguous data needs a second
// chunk.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "channels/swap.hpp"
#include "mpi/owned_comm.hpp"

namespace tonari {

// The temporary memory of a rank, in chunks of one size. Each swap takes as many as it was granted.
class ChunkPool {
 public:
  // `chunk` is not 0. Throws std::bad_alloc.
  ChunkPool(std::size_t chunk, std::size_t count);
  std::size_t chunk() const { return chunk_; }
  std::size_t count() const { return count_; }
  std::byte* take() {
    std::byte* const taken = free_.back();
    free_.pop_back();
    return taken;
  }
  void give(std::byte* chunk) { free_.push_back(chunk); }

 private:
  std::size_t chunk_, count_;
  std::unique_ptr<std::byte[]> memory_;
  std::vector<std::byte*> free_;
};

// `granted` is the number of the pool's chunks that it may hold at any time: at least 1, or 2 if
// the block is not contiguous and a chunk has several bytes. `tag` is the same at both ends, and
// unique among what the pair has under way.
std::unique_ptr<Swap> make_p2p_swap(const SwapBlock& block, std::shared_ptr<ChunkPool> pool,
                                    std::size_t granted, std::shared_ptr<const OwnedComm> comm,
                                    int tag);

}  // namespace tonari
