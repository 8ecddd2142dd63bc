// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo_plan.hpp"

#include <algorithm>
#include <optional>

#include "engine/wait/agree.hpp"
#include "engine/wait/no_messages.hpp"
#include "neighborhood/inner_call.hpp"
#include "request/staged_exchange.hpp"

namespace tonari {
namespace {

// Directions in which something is sent. All subdomains have the same widths.
std::vector<Region> used_directions(const HaloGrid& grid, const HaloRequest& request) {
  const int dims = grid.shape().dims();
  std::vector<Region> used = directions(dims);
  std::erase_if(used, [&](Region v) {
    return !request.reach.has(grid.box(0), request.reverse ? v : opposite(v, dims));
  });
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
  Views& views;
  std::optional<Arrivals>& arrivals;  // of a reverse exchange
  AbsoluteBlocks blocks = {};

  void add(const std::vector<const HaloEnd*>& ends) {
    for (const HaloEnd* end : ends)
      if (arrivals && !send)
        add_arrival(*arrivals, end, blocks);
      else
        add_block(grid, request, end, send, blocks, views);
  }
};

const HaloEnd* find(const std::vector<HaloEnd>& ends, Region direction) {
  const auto found = std::ranges::find_if(
      ends, [&](const HaloEnd& end) { return end.link.direction == direction; });
  return found == ends.end() ? nullptr : &*found;
}

// Where no rank has a message for another one.
std::shared_ptr<Prepared> no_messages(const HaloGrid& grid) {
  auto prepared = std::make_shared<Prepared>(grid.context());
  prepared->exchange = std::make_unique<NoMessages>();
  prepared->host_sends = false;
  prepared->chosen.channel = "device";
  return prepared;
}

std::shared_ptr<Prepared> with_own(std::shared_ptr<Prepared> prepared, OwnMessages own) {
  if (!own.copies) return prepared;
  auto* staged = dynamic_cast<StagedExchange*>(prepared->by_stream);
  if (!staged) {
    auto around =
        std::make_unique<StagedExchange>(std::shared_ptr<Exchange>(std::move(prepared->exchange)),
                                         StagedSides(), prepared->by_stream);
    prepared->by_stream = staged = around.get();
    prepared->exchange = std::move(around);
  }
  staged->copy_own(std::move(own.copies), own.count);
  return prepared;
}

}  // namespace

OwnMessages take_own(const HaloGrid& grid, const HaloRequest& request, HaloEnds& ends) {
  const auto is_own = [&](const HaloEnd& end) { return end.link.peer == grid.rank(); };
  std::vector<PlacedCopy> copies;
  const auto placed = [&](const HaloEnd& end, bool own) {
    Views none;
    return PlacedBytes{bytes_of(grid, request, end, own, none), space_of(grid, end.link.subdomain)};
  };
  for (const HaloEnd& end : ends.receive) {
    if (!is_own(end)) continue;
    const HaloEnd& from = *std::ranges::lower_bound(
        ends.send, end.link.key, {}, [](const HaloEnd& other) { return other.link.key; });
    copies.push_back({placed(end, false), placed(from, true)});
  }
  std::erase_if(ends.send, is_own), std::erase_if(ends.receive, is_own);
  // ghosts that are the surface need no copy, but streams are ordered as behind one
  if (copies.empty() && grid.spared_on_device() == 0) return {};
  const std::size_t count = copies.size();
  return {std::make_shared<LaunchedCopies>(grid.device().devices, grid.device().number,
                                           std::move(copies)),
          count};
}

void add_arrival(const Arrivals& arrivals, const HaloEnd* end, AbsoluteBlocks& blocks) {
  const std::uint64_t all = end ? arrivals.bytes(*end) : 0;
  blocks.add(end ? reinterpret_cast<MPI_Aint>(arrivals.place(*end)) : 0,
             static_cast<MPI_Count>(all), MPI_BYTE, fixed_space);
}

void add_block(const HaloGrid& grid, const HaloRequest& request, const HaloEnd* end, bool send,
               AbsoluteBlocks& blocks, Views& views) {
  const Layout bytes =
      end ? bytes_of(grid, request, *end, send != request.reverse, views) : Layout();
  const SpaceId space = end ? space_of(grid, end->link.subdomain) : fixed_space;
  if (bytes.contiguous())
    blocks.add(bytes, space);
  else
    blocks.add(0, type_of(grid, request, *end, bytes), space);
}

std::shared_ptr<Prepared> plan_halo(const HaloGrid& grid, const HaloRequest& request, Use use,
                                    MPI_Info info, std::size_t contenders, HaloMemory& memory) {
  HaloEnds ends;
  OwnMessages own;
  std::optional<Arrivals> arrivals;
  Side send{grid, request, true, memory.views, arrivals},
      receive{grid, request, false, memory.views, arrivals};
  const bool by_offsets = grid.subdomains() == 1;
  const int dims = grid.shape().dims();
  const std::vector<Region> used = used_directions(grid, request);
  run_collectively(grid.context()->comm(), [&] {
    ends = std::move(halo_ends(grid, request).front());
    if (grid.device()) own = take_own(grid, request, ends);
    if (request.reverse) arrivals.emplace(grid, request, ends, memory.views);
    std::vector<const HaloEnd*> out, in;
    if (by_offsets)
      for (const Region v : used) {  // what is sent in direction v comes from the opposite neighbor
        out.push_back(find(ends.send, v));
        in.push_back(find(ends.receive, opposite(v, dims)));
      }
    else {
      for (const HaloEnd& end : ends.send) out.push_back(&end);
      for (const HaloEnd& end : ends.receive) in.push_back(&end);
    }
    send.add(out), receive.add(in);
    if (arrivals) memory.contributions = std::move(arrivals->contributions);
  });
  // the same on all ranks, which have the same widths, and neighbors along the same dimensions
  if (grid.all_on_device() && ends.send.empty() && ends.receive.empty())
    return with_own(no_messages(grid), std::move(own));
  const OwnedNeighborhood near = by_offsets ? offsets_near(grid, used) : links_near(grid, ends);
  const Call call{
      Collective::alltoall, send.blocks.given(), receive.blocks.given(), near.get(), info,
      grid.some_on_device()};
  const ReadsBlocks reads =
      request.reverse ? ReadsBlocks::where_they_arrive : ReadsBlocks::in_buffer;
  const std::shared_ptr<Prepared> prepared = prepare(call, use, inside, reads, contenders);
  if (!request.reverse) return with_own(prepared, std::move(own));
  memory.contributions.read_by(prepared->arrivals);
  return prepared;
}

}  // namespace tonari
