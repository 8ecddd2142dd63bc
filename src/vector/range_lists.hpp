// SPDX-License-Identifier: BSD-3-Clause
// A vector whose indices the program numbers: a range on each rank (tonari_vector_create).
#pragma once

#include "vector/lists.hpp"

namespace tonari {

class RangeLists final : public VectorLists {
 public:
  RangeLists(OwnedRange own, std::int64_t needed, const std::int64_t indices[])
      : own_(own), needed_(needed), indices_(indices) {}

  void check(int ranks) const override;
  std::int64_t owned() const override { return own_.count; }
  std::optional<OwnedRange> own_range() const override { return own_; }
  ListedNeeds needs(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own) const override;
  bool lists_places() const override { return false; }

 private:
  OwnedRange own_;
  std::int64_t needed_;
  const std::int64_t* indices_;
};

}  // namespace tonari
