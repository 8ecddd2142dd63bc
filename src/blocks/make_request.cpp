// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/make_request.hpp"

#include "blocks/sides.hpp"
#include "engine/wait/agree.hpp"
#include "neighborhood/inner_call.hpp"

namespace tonari {
namespace {

void describe(const SharedBlocks& blocks, const BlocksRequest& request, double start,
              std::shared_ptr<Prepared> inner, Prepared& prepared) {
  prepared.tell_of([inner = std::move(inner)](ChoiceReport& all) {
    const std::string& described = inner->describe_now();
    all = inner->chosen;
    return described;
  });
  prepared.recording.operation = request.reverse ? "reverse blocks" : "blocks";
  prepared.recording.label =
      text(request.reverse ? "reverse" : "forward", " exchange of ", blocks.blocks().size(),
           " blocks, ", blocks.blocks().dims, " dimensions");
  prepared.buffers = StartBuffers("it was made without the info key tonari_start_with=yes");
  prepared.describe(start, text(request.reverse ? "reverse" : "forward", " exchange of ",
                                blocks.own().size(), " of ", blocks.blocks().size(), " blocks, ",
                                blocks.blocks().dims, " dimensions"));
}

// Starts may replace them, if the program said that they will.
void free_arrays(const SharedBlocks& blocks, const BlocksRequest& request, Prepared& prepared) {
  const BlocksShape& shape = blocks.shape();
  std::vector<StartBuffer> arrays;
  for (const std::size_t block : blocks.own()) {
    const Bytes bytes = blocks.array_bytes(block);
    for (int f = 0; f < shape.fields; ++f) {
      const std::size_t n = arrays.size();
      std::byte* const base = request.arrays[n];
      arrays.push_back({space_of_array(n), text("arrays[", n, "]"), base});
      arrays.back().touch({base, nullptr, bytes});
    }
  }
  prepared.buffers = StartBuffers("blocks_start_with", std::move(arrays), [](Shifts) {
    fail(Errc::buffers, "two of the arrays overlap; they must share no byte");
  });
}

}  // namespace

std::shared_ptr<Prepared> build_blocks(SharedBlocks& blocks, const BlocksRequest& request,
                                       double start, MPI_Info info, Use use,
                                       const Settings& settings) {
  std::shared_ptr<Prepared> prepared;
  const MPI_Comm comm = blocks.context().comm();
  run_collectively(comm, [&] {
    prepared = std::make_shared<Prepared>(blocks.shared_context());
    BlocksSides sides =
        sides_of(blocks, request, settings.start_with ? Pieces::by_array : Pieces::joined);
    const OwnedNeighborhood near = make_adjacent(comm, sides.receive.peers, sides.send.peers);
    const std::shared_ptr<Prepared> inner =
        prepare({Collective::alltoall, sides.send.blocks.given(), sides.receive.blocks.given(),
                 near.get(), info},
                use_of_part(use, settings.progress_thread), inside,
                request.reverse ? ReadsBlocks::where_they_arrive : ReadsBlocks::in_buffer);
    sides.contributions.read_by(inner->arrivals);
    std::shared_ptr<Exchange> exchange{inner, inner->exchange.get()};
    if (request.reverse)
      prepared->exchange = std::make_unique<CombiningExchange>(
          std::move(exchange), std::make_shared<Contributions>(std::move(sides.contributions)),
          request.reduction);
    else
      prepared->exchange = std::make_unique<WrappedExchange>(std::move(exchange));
    if (use == Use::persistent && settings.progress_thread) prepared->drive_by_thread();
    describe(blocks, request, start, inner, *prepared);
    if (settings.start_with) free_arrays(blocks, request, *prepared);
  });
  return prepared;
}

}  // namespace tonari
