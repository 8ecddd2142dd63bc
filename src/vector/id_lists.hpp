// A vector of values that the program names by any numbers (tonari_vector_create_from_ids).
#pragma once

#include "vector/lists.hpp"

namespace tonari {

struct IdList {
  std::int64_t count;
  const std::int64_t* ids;
  const int* places;  // null: in the order of the list
};

class IdLists final : public VectorLists {
 public:
  IdLists(IdList owned, IdList needed) : owned_(owned), needed_(needed) {}

  void check(int ranks) const override;
  std::int64_t owned() const override;
  std::vector<std::int64_t> needs(RankGroup& group, const OwnedRanges& ranges,
                                  OwnedRange own) const override;
  std::vector<std::int64_t> ghost_places() const override;

 private:
  IdList owned_, needed_;
};

}  // namespace tonari
