// SPDX-License-Identifier: BSD-3-Clause
#include "blocks/request.hpp"

#include <array>

#include "base/hash.hpp"
#include "blocks/sides.hpp"
#include "engine/wait/agree.hpp"
#include "neighborhood/inner_call.hpp"
#include "request/request_record.hpp"
#include "request/settings.hpp"

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

// Collective.
std::shared_ptr<Prepared> build(SharedBlocks& blocks, const BlocksRequest& request, double start,
                                MPI_Info info, Use use, const Settings& settings) {
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

// A call with this rank's arrays, and the exchange that all ranks have kept for it, if any.
struct Asked {
  CallNumber number = {};
  std::shared_ptr<Prepared> kept = {};
};

// Collective: what the program asks for, if it is right and the same everywhere.
Asked agree_on_call(SharedBlocks& blocks, const BlocksCall& call, MPI_Info info, Output output,
                    BlocksRequest& request, Settings& settings) {
  Asked asked;
  const auto things = [&] {
    const auto [direction, ghosts, reduction] = alike(blocks, request);
    const std::array all{direction, ghosts, reduction,
                         Alike{fingerprint(settings), other_settings}};
    asked.number.call = number_of(all);
    return with_votes(all, votes_for(asked.number, &blocks.kept()));
  };
  const Compared compared = agree_on_arguments(
      blocks.context().comm(), info, output,
      [&] {
        request.reverse = call.direction == Direction::reverse;
        request = read_request(blocks, call);
        settings = read_settings(info);
        Hash arrays;
        for (const std::byte* array : request.arrays)
          arrays.word(reinterpret_cast<std::uintptr_t>(array));
        asked.number.buffers = arrays.value();
      },
      things);
  asked.kept = blocks.kept().take(compared);
  return asked;
}

}  // namespace

std::shared_ptr<Prepared> prepare_blocks(SharedBlocks& blocks, const BlocksCall& call,
                                         MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  BlocksRequest request;
  Settings settings;
  agree_on_call(blocks, call, info, output, request, settings);
  return build(blocks, request, start, info, Use::persistent, settings);
}

void run_blocks(SharedBlocks& blocks, const BlocksCall& call) {
  const double start = MPI_Wtime();
  BlocksRequest request;
  Settings settings;
  const Asked asked = agree_on_call(blocks, call, MPI_INFO_NULL, inside, request, settings);
  std::shared_ptr<Prepared> prepared = asked.kept;
  if (!prepared) {
    prepared = build(blocks, request, start, MPI_INFO_NULL, Use::one_shot, settings);
    blocks.kept().put(asked.number, prepared);
  }
  run_to_end(*recorded(std::move(prepared), CalledBy::one_shot));
}

}  // namespace tonari
