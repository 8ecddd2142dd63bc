#include "grid/halo_plan.hpp"

#include <algorithm>

#include "api/inner_call.hpp"
#include "engine/agree.hpp"

namespace tonari {
namespace {

std::vector<Region> used_directions(int dims, Reach reach) {
  std::vector<Region> used = directions(dims);
  if (reach == Reach::faces) std::erase_if(used, [&](Region v) { return !is_face(v, dims); });
  return used;
}

// One subdomain per rank: the same offsets everywhere, so that messages can be combined along
// dimensions.
OwnedNeighborhood offsets_near(const HaloGrid& grid, const std::vector<Region>& used) {
  const int dims = grid.shape().dims();
  std::vector<int> offsets;
  for (const Region v : used)
    for (int k = 0; k < dims; ++k) offsets.push_back(sign(v, k, dims));
  return make_neighborhood([&](tonari_neighborhood* near) {
    return tonari_neighborhood_create_cart(grid.context()->comm(), static_cast<int>(used.size()),
                                           offsets.data(), MPI_INFO_NULL, near);
  });
}

// Links are in the order of their keys at both ends, so the k-th sent to a rank is the k-th that it
// expects from here.
OwnedNeighborhood links_near(const HaloGrid& grid, const HaloEnds& ends) {
  std::vector<int> sources, targets;
  for (const HaloEnd& end : ends.receive) sources.push_back(end.link.peer);
  for (const HaloEnd& end : ends.send) targets.push_back(end.link.peer);
  return make_adjacent(grid.context()->comm(), sources, targets);
}

// One direction of a call's blocks; a missing end is an empty block.
struct Side {
  const HaloGrid& grid;
  const HaloRequest& request;
  bool send;
  std::vector<View>& views;
  AbsoluteBlocks blocks = {};

  void add(const HaloEnd* end) {
    constexpr std::uint64_t most = std::uint64_t{1} << 30;
    const Layout bytes = end ? bytes_of(grid, request, *end, send, views) : Layout();
    const SpaceId space = end ? space_of(grid, end->link.subdomain) : fixed_space;
    if (bytes.contiguous() && bytes.bytes() <= most)
      blocks.add(bytes.runs().empty() ? 0 : bytes.runs().front().offset,
                 static_cast<int>(bytes.bytes()), MPI_BYTE, space);
    else
      blocks.add(0, type_of(grid, request, *end, bytes), space);
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
  run_collectively(grid.context()->comm(), [&] {
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
  const OwnedNeighborhood near = by_offsets ? offsets_near(grid, used) : links_near(grid, ends);
  return prepare(near.get(),
                 Call{Collective::alltoall, send.blocks.given(), receive.blocks.given()},
                 Use::persistent, info, inside);
}

}  // namespace tonari
