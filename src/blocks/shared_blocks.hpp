// SPDX-License-Identifier: BSD-3-Clause
// A block-structured grid: all blocks, and how this rank's arrays of its own ones lie.
#pragma once

#include <mpi.h>

#include <memory>

#include "cells/cell_type.hpp"
#include "layout/array_cells.hpp"
#include "layout/blocks.hpp"
#include "request/agree_on_arguments.hpp"
#include "request/kept.hpp"
#include "tonari/blocks.h"

namespace tonari {

struct BlocksShape {
  BlockList blocks;
  CellType cell;
  int fields = 1;
  ArrayOrder order = ArrayOrder::c;
};

class SharedBlocks {
 public:
  SharedBlocks(std::shared_ptr<Context> context, BlocksShape shape);
  SharedBlocks(const SharedBlocks&) = delete;
  SharedBlocks& operator=(const SharedBlocks&) = delete;

  Context& context() const { return *context_; }
  const std::shared_ptr<Context>& shared_context() const { return context_; }
  const BlockList& blocks() const { return shape_.blocks; }
  const BlocksShape& shape() const { return shape_; }
  const BlockFinder& finder() const { return finder_; }
  const std::vector<std::size_t>& own() const { return own_; }  // numbers, ascending
  std::size_t arrays() const { return own_.size() * static_cast<std::size_t>(shape_.fields); }
  Bytes array_bytes(std::size_t block) const;
  // among the arrays of the program
  std::size_t array_of(std::size_t block, int field) const;
  KeptCalls& kept() { return kept_; }

 private:
  std::shared_ptr<Context> context_;
  BlocksShape shape_;
  BlockFinder finder_;
  std::vector<std::size_t> own_;
  KeptCalls kept_;
};

// Collective: what tonari_blocks_create says.
std::unique_ptr<tonari_blocks_s> make_blocks(MPI_Comm comm, const tonari_blocks_shape* shape,
                                             MPI_Info info, Output output);

}  // namespace tonari

struct tonari_blocks_s final : tonari::SharedBlocks {
  using SharedBlocks::SharedBlocks;
};
