// Swaps by MPI point to point: a window of chunks on their way, each with a copy of what goes out
// in temporary memory, so that what comes in can be received straight into its place (Hofmann and
// Ruenger 2013, section 3.4, applied to chunks instead of whole blocks). Data that is spread out
// needs a second chunk.
#pragma once

#include <mpi.h>

#include <memory>
#include <vector>

#include "channels/owned_comm.hpp"
#include "channels/swap.hpp"

namespace tonari {

// The temporary memory of a rank, in chunks of one size. Swaps take from it what they were granted.
class ChunkPool {
 public:
  // chunk: not 0. Throws std::bad_alloc.
  ChunkPool(std::size_t chunk, std::size_t count);
  std::size_t chunk() const { return chunk_; }
  std::size_t count() const { return count_; }
  std::size_t free() const { return free_.size(); }
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

// granted: chunks of the pool that it may hold at any time; at least 1, or 2 if the block is spread
// out and a chunk has more than one byte. tag: the same at both ends, unique among what the pair
// has under way.
std::unique_ptr<Swap> make_p2p_swap(const SwapBlock& block, std::shared_ptr<ChunkPool> pool,
                                    std::size_t granted, std::shared_ptr<const OwnedComm> comm,
                                    int tag);

}  // namespace tonari
