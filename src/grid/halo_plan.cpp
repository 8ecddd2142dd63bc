#include "grid/halo_plan.hpp"

#include <algorithm>

#include "api/handles.hpp"
#include "api/request.hpp"
#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"

namespace tonari {
namespace {

struct FreeNeighborhood {
  void operator()(tonari_neighborhood near) const { tonari_neighborhood_free(&near); }
};
using Near = std::unique_ptr<tonari_neighborhood_s, FreeNeighborhood>;

// A neighborhood is made by all ranks or by none.
void check_made(int code) {
  if (code != TONARI_SUCCESS)
    throw Error(static_cast<Errc>(code), tonari_last_error()).now_on_all_ranks();
}

std::vector<Region> used_directions(int dims, Reach reach) {
  std::vector<Region> used = directions(dims);
  if (reach == Reach::faces) std::erase_if(used, [&](Region v) { return !is_face(v, dims); });
  return used;
}

// One subdomain per rank: the same offsets everywhere, so that messages can be combined along
// dimensions.
Near offsets_near(const HaloGrid& grid, const std::vector<Region>& used) {
  const int dims = grid.shape().dims();
  std::vector<int> offsets;
  for (const Region v : used)
    for (int k = 0; k < dims; ++k) offsets.push_back(sign(v, k, dims));
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  check_made(tonari_neighborhood_create_cart(grid.context()->comm(), static_cast<int>(used.size()),
                                             offsets.data(), MPI_INFO_NULL, &near));
  return Near(near);
}

// Links are in the order of their keys at both ends, so the k-th sent to a rank is the k-th that it
// expects from here.
Near links_near(const HaloGrid& grid, const HaloEnds& ends) {
  std::vector<int> sources, targets;
  for (const HaloEnd& end : ends.receive) sources.push_back(end.link.peer);
  for (const HaloEnd& end : ends.send) targets.push_back(end.link.peer);
  tonari_neighborhood near = TONARI_NEIGHBORHOOD_NULL;
  check_made(tonari_neighborhood_create_adjacent(
      grid.context()->comm(), static_cast<int>(sources.size()), sources.data(), MPI_UNWEIGHTED,
      static_cast<int>(targets.size()), targets.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, &near));
  return Near(near);
}

// One side of the call: blocks at absolute addresses.
struct Side {
  const HaloGrid& grid;
  const HaloRequest& request;
  bool send;
  std::vector<View>& views;
  std::vector<int> counts = {};
  std::vector<MPI_Aint> places = {};
  std::vector<MPI_Datatype> types = {};
  std::vector<OwnedType> made = {};

  void add(const HaloEnd* end) {
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    const Layout bytes = end ? bytes_of(grid, request, *end, send, views) : Layout();
    if (bytes.contiguous() && bytes.bytes() <= most) {
      counts.push_back(static_cast<int>(bytes.bytes()));
      places.push_back(bytes.runs().empty() ? 0 : bytes.runs().front().offset);
      types.push_back(MPI_BYTE);
      return;
    }
    made.push_back(type_of(grid, request, *end, bytes));
    counts.push_back(1), places.push_back(0), types.push_back(made.back().get());
  }
  BufferArguments given() const {
    return w_form(MPI_BOTTOM, counts.data(), places.data(), types.data());
  }
};

const HaloEnd* find(const std::vector<HaloEnd>& ends, Region direction) {
  const auto found = std::ranges::find_if(
      ends, [&](const HaloEnd& end) { return end.link.direction == direction; });
  return found == ends.end() ? nullptr : &*found;
}

}  // namespace

std::shared_ptr<Prepared> plan_halo(const HaloGrid& grid, const HaloRequest& request, MPI_Info info,
                                    std::vector<View>& views) {
  HaloEnds ends;
  Side send{grid, request, true, views}, receive{grid, request, false, views};
  const bool by_offsets = grid.subdomains() == 1;
  const int dims = grid.shape().dims();
  const std::vector<Region> used = used_directions(dims, request.reach);
  together(grid.context()->comm(), [&] {
    ends = std::move(halo_ends(grid, request).front());
    if (by_offsets)
      for (const Region v : used) {  // what is sent in direction v comes from the opposite neighbor
        send.add(find(ends.send, v));
        receive.add(find(ends.receive, opposite(v, dims)));
      }
    else {
      for (const HaloEnd& end : ends.send) send.add(&end);
      for (const HaloEnd& end : ends.receive) receive.add(&end);
    }
  });
  const Near near = by_offsets ? offsets_near(grid, used) : links_near(grid, ends);
  return prepare(near.get(), Call{Collective::alltoall, send.given(), receive.given()},
                 Use::persistent, info, inside);
}

}  // namespace tonari
