// SPDX-License-Identifier: BSD-3-Clause
// Memory that all ranks of a communicator share. Of the benchmark's own making: what it measures
// with is not what is measured.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>

namespace bench {

class NodeMemory {
 public:
  // [collective] Zeroed, aligned to pages; a page lies near the rank that touches it first. Nothing
  // if the ranks are on different nodes, or if the system does not let them share: the same answer
  // on all ranks. It has no name, so nothing is left behind however the ranks end.
  static std::optional<NodeMemory> share(MPI_Comm comm, std::size_t bytes);

  NodeMemory(NodeMemory&& other) noexcept;
  NodeMemory& operator=(NodeMemory&& other) = delete;
  ~NodeMemory();
  std::byte* data() const { return data_; }

 private:
  NodeMemory(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  std::byte* data_;
  std::size_t bytes_;
};

}  // namespace bench
