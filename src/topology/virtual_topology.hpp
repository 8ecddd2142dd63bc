// SPDX-License-Identifier: BSD-3-Clause
// A virtual process topology: all ranks as the points of a mesh of n dimensions, on which store and
// forward sends blocks (Selvitopi and Aykanat 2019; Duymuş 2021, §3.3). A block takes one hop per
// dimension in which origin and target differ, in the order of the dimensions. So a rank writes to
// at most the sum of (size - 1) ranks.
//
//       (0,0) ---> (0,2)     dimension 0 first (the digit that counts least), then 1
//                    |
//       (1,0)      (1,2)
//
// If P has an exact factorization in which no size exceeds twice another, the sizes are that one.
// Otherwise the mesh is the smallest that has room, as even as can be. Its last points, at the end
// of the last dimension, are then missing. A block whose next point is missing goes to the point
// before it in the last dimension, and stays in that layer until the last stage. So a rank sends no
// more messages than on a full mesh: messages to missing points go to existing ones. No rank
// receives in a stage from more than twice as many ranks as on a full mesh.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tonari {

// Sizes that are as even as possible, descending: neighbors along the first dimension have near
// numbers, which exchange more in most patterns. Throws Errc::argument unless 1 <= n <=
// most_dimensions(ranks).
std::vector<int> virtual_topology(int ranks, int n);

int most_dimensions(int ranks);  // max(1, floor(log2 ranks))

// What users call such a mesh goes on with its dimensions: store-and-forward/2.
inline constexpr std::string_view mesh_prefix = "store-and-forward/";
// The dimensions in such a name; 0: it is none, or has no positive number.
int mesh_dimensions(std::string_view name);

class VirtualTopology {
 public:
  // sizes[0] belongs to the least significant digit of a rank's number. Throws Errc::argument
  // unless each is at least 1 and all but the last layer exists.
  VirtualTopology(int ranks, std::span<const int> sizes);

  std::size_t dimensions() const { return sizes_.size(); }
  // Where a block for `target` that is at `at` goes along dimension k; `at` if it makes no hop
  // there. Ask in the order of the dimensions, each time from where the hop before led. The routes
  // from one rank to all others are a tree: after dimension k, a block is where the first k + 1
  // digits of its target say.
  std::int32_t next(std::int32_t at, std::int32_t target, std::size_t k) const {
    const std::int32_t own = at / stride_[k] % sizes_[k], wanted = target / stride_[k] % sizes_[k];
    at += (wanted - own) * stride_[k];
    return at < ranks_ ? at : at - stride_.back();
  }

 private:
  std::int32_t ranks_;
  std::vector<std::int32_t> sizes_, stride_;
};

}  // namespace tonari
