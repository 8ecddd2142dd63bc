// A virtual process topology: all ranks as the points of a mesh of n dimensions, on which store and
// forward sends blocks (O. Selvitopi and C. Aykanat, "Regularizing irregularly sparse
// point-to-point communications", SC 2019; Duymuş 2021, §3.3): one hop per dimension in which
// origin and target differ, in the order of the dimensions. So a rank has at most the sum of (size
// - 1) ranks to write to.
//
//       (0,0) ---> (0,2)     dimension 0 first (the digit that counts least), then 1
//                    |
//       (1,0)      (1,2)
//
// P not a power of two. Sizes are an exact factorization of P where there is one in which no size
// is over twice another; else the mesh is the smallest that has room, as even as can be, and its
// last points are missing: the end of the last dimension. A block whose next point is missing goes
// to the one before it in the last dimension, and stays in that layer until the last stage. So the
// rank sends no more messages than if nothing were missing: what it would have sent to the missing
// point goes to one that is there. No rank receives in a stage from more than twice as many as
// without.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace tonari {

// As even as possible, descending: neighbors along the first dimension have near numbers, and in
// most patterns more to say. 1 <= n <= most_dimensions(ranks). Throws Errc::argument otherwise.
std::vector<int> virtual_topology(int ranks, int n);

int most_dimensions(int ranks);  // max(1, floor(log2 ranks))

// What users call such a mesh goes on with its dimensions: store-and-forward/2.
inline constexpr std::string_view mesh_prefix = "store-and-forward/";
// The dimensions in such a name; 0: it is none, or has no positive number.
int mesh_dimensions(std::string_view name);

class VirtualTopology {
 public:
  // sizes[0] belongs to the digit of a rank's number that counts least. Throws Errc::argument
  // unless each is at least 1 and all but the last layer exists.
  VirtualTopology(int ranks, std::span<const int> sizes);

  std::size_t dimensions() const { return sizes_.size(); }
  // Where a block for `target` that is at `at` is to be after the hop along dimension k; `at` if it
  // has none there. The hops of a block are asked for in the order of the dimensions, each from
  // where the one before led to. The routes from one rank to all others are a tree: after dimension
  // k a block is at the point that the first k + 1 digits of its target say.
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
