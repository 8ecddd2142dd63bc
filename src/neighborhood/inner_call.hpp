// SPDX-License-Identifier: BSD-3-Clause
// What grids and vectors need to exchange by neighborhoods that the library makes for itself.
#pragma once

#include <memory>
#include <vector>

#include "mpi/large_type.hpp"
#include "mpi/owned_type.hpp"
#include "mpi/type_of_bytes.hpp"
#include "neighborhood/handles.hpp"
#include "neighborhood/request.hpp"

namespace tonari {

struct FreeNeighborhood {
  void operator()(tonari_neighborhood near) const { tonari_neighborhood_free(&near); }
};
using OwnedNeighborhood = std::unique_ptr<tonari_neighborhood_s, FreeNeighborhood>;

// Collective. make(&near) is a call that makes one on all ranks or on none.
template <class Make>
OwnedNeighborhood make_neighborhood(Make make) {
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  if (const int code = make(&near); code != TONARI_SUCCESS)
    throw Error(static_cast<Errc>(code), tonari_last_error()).now_on_all_ranks();
  return OwnedNeighborhood(near);
}

// Collective.
inline OwnedNeighborhood make_adjacent(MPI_Comm comm, const std::vector<int>& sources,
                                       const std::vector<int>& targets,
                                       MPI_Info info = MPI_INFO_NULL) {
  return make_neighborhood([&](tonari_neighborhood* near) {
    return tonari_neighborhood_create_adjacent(
        comm, static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
        static_cast<int>(targets.size()), targets.data(), MPI_UNWEIGHTED, info, near);
  });
}

// One side of a call: blocks at absolute addresses.
class AbsoluteBlocks {
 public:
  void add(MPI_Aint address, MPI_Count count, MPI_Datatype type, SpaceId space) {
    addresses_.push_back(address), counts_.push_back(count), types_.push_back(type);
    spaces_.push_back(space);
  }
  void add(MPI_Aint address, OwnedType type, SpaceId space) {
    owned_.push_back(std::move(type));
    add(address, 1, owned_.back().get(), space);
  }
  // Bytes at absolute addresses, all in this space.
  void add(const Layout& bytes, SpaceId space) {
    if (bytes.contiguous())
      add(bytes.runs().empty() ? 0 : bytes.runs().front().offset,
          static_cast<MPI_Count>(bytes.bytes()), MPI_BYTE, space);
    else
      add(0, type_of_bytes(bytes), space);
  }
  MPI_Aint address(std::size_t k) const { return addresses_[k]; }
  MPI_Count count(std::size_t k) const { return counts_[k]; }
  MPI_Datatype type(std::size_t k) const { return types_[k]; }
  BufferArguments given() const {
    BufferArguments all = w_form(MPI_BOTTOM, counts_.data(), addresses_.data(), types_.data());
    all.spaces = spaces_.data();
    return all;
  }

 private:
  std::vector<MPI_Count> counts_;
  std::vector<MPI_Aint> addresses_;
  std::vector<MPI_Datatype> types_;
  std::vector<OwnedType> owned_;
  std::vector<SpaceId> spaces_;
};

}  // namespace tonari
