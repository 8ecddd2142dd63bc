// SPDX-License-Identifier: BSD-3-Clause
// A vector of values that the program names by any numbers (tonari_vector_create_from_ids).
#pragma once

#include "vector/lists.hpp"

namespace tonari {

struct IdList {
  std::int64_t count;
  const std::int64_t* ids;
  Numbers places;  // null: in the order of the list
};

class IdLists final : public VectorLists {
 public:
  IdLists(IdList owned, IdList needed) : owned_(owned), needed_(needed) {}

  void check(int ranks) const override;
  std::int64_t owned() const override;
  ListedNeeds needs(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own) const override;

 private:
  IdList owned_, needed_;
};

// Values with ids that several ranks have (tonari_vector_create_shared): the lowest of these owns
// one, the others need it, all at the same place of an array.
class SharedIdLists final : public VectorLists {
 public:
  explicit SharedIdLists(IdList values) : values_(values) {}

  void check(int ranks) const override;
  std::int64_t owned() const override;
  ListedNeeds needs(BspComm& bsp, const OwnedRanges& ranges, OwnedRange own) const override;

 private:
  IdList values_;
};

}  // namespace tonari
