// SPDX-License-Identifier: BSD-3-Clause
// A vector of the lists that codes have of their neighbors: what to send, and how many values come
// (tonari_vector_create_from_neighbors).
#pragma once

#include "vector/lists.hpp"

namespace tonari {

// The lists for, or from, one rank after the other.
struct ListsByRank {
  int lists;
  const int* ranks;
  Numbers counts;
  Numbers places;  // of all lists, one behind the other
};

class NeighborLists final : public VectorLists {
 public:
  NeighborLists(std::int64_t owned, ListsByRank sends, ListsByRank receives)
      : owned_(owned), sends_(sends), receives_(receives) {}

  void check(int ranks) const override;
  std::int64_t owned() const override { return owned_; }
  ListedNeeds needs(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own) const override;

 private:
  void send(BspComm& bsp, std::int64_t first) const;

  std::int64_t owned_;
  ListsByRank sends_, receives_;
};

}  // namespace tonari
