#include "blocks/request.hpp"

#include <array>

#include "api/contributions.hpp"
#include "api/inner_call.hpp"
#include "api/read_ghosts.hpp"
#include "api/settings.hpp"
#include "base/hash.hpp"
#include "engine/agree.hpp"

namespace tonari {
namespace {

// What a call asks for, read.
struct BlocksRequest {
  bool reverse = false;
  Reach reach;
  Reduction reduction = {};
  std::vector<std::byte*> arrays;
  Settings settings;
};

BlocksRequest read_request(const SharedBlocks& blocks, const BlocksCall& call, MPI_Info info) {
  BlocksRequest request;
  request.reverse = call.direction == Direction::reverse;
  request.reach = read_ghosts(
      call.ghosts, GridBox{blocks.blocks().dims, {}, blocks.blocks().lower, blocks.blocks().upper});
  if (request.reverse) {
    require_number(blocks.shape().cell.number);
    request.reduction = reduction_of(blocks.shape().cell.number, call.op);
  }
  if (blocks.arrays() > 0) require(call.arrays, "arrays");
  for (std::size_t i = 0; i < blocks.arrays(); ++i) {
    if (!call.arrays[i])
      fail(Errc::argument, "array ", i, " of ", blocks.arrays(), " (own blocks x fields) is NULL");
    request.arrays.push_back(static_cast<std::byte*>(call.arrays[i]));
  }
  request.settings = read_settings(info, {});
  return request;
}

// The cells of a message at one of its ends: link by link, field by field.
Layout cells_of(const SharedBlocks& blocks, const BlocksRequest& request,
                const BlockMessage& message, bool own) {
  const BlocksShape& shape = blocks.shape();
  Layout all;
  for (const BlockLink& link : message.links) {
    const std::size_t block = own ? link.from : link.to;
    for (int f = 0; f < shape.fields; ++f)
      all.add(
          bytes_of_cells(
              shape.blocks.box(block), shape.order, own ? link.own : link.ghosts, shape.cell.bytes,
              reinterpret_cast<std::ptrdiff_t>(request.arrays[blocks.array_of(block, f)])),
          0);
  }
  constexpr std::uint64_t most = std::uint64_t{1} << 30;
  if (all.bytes() > most)
    fail(Errc::overflow, "ghosts between this rank and rank ", message.peer, " have ", all.bytes(),
         " bytes, but a message takes at most ", most,
         "; exchange fewer fields, or narrower ghosts, at once");
  return all;
}

// One direction of an exchange between neighbors: a message for each peer.
struct Side {
  std::vector<int> peers = {};
  AbsoluteBlocks blocks = {};
};

Side side_of(const SharedBlocks& blocks, const BlocksRequest& request,
             const std::vector<BlockMessage>& messages, bool own) {
  Side side;
  for (const BlockMessage& message : messages) {
    side.peers.push_back(message.peer);
    side.blocks.add(cells_of(blocks, request, message, own), fixed_space);
  }
  return side;
}

// Where what is combined arrives. What this rank has itself needs no message.
Side arrivals_of(const SharedBlocks& blocks, const BlocksRequest& request, BlockMessages& messages,
                 Contributions& contributions) {
  Side side;
  std::vector<std::size_t> numbers;
  const auto is_local = [&](const BlockMessage& message) {
    return message.peer == blocks.context().rank();
  };
  for (const BlockMessage& message : messages.send) {
    Layout cells = cells_of(blocks, request, message, true);
    if (is_local(message)) {
      contributions.add_local(std::move(cells), fixed_space,
                              cells_of(blocks, request, message, false), fixed_space);
      continue;
    }
    side.peers.push_back(message.peer);
    numbers.push_back(contributions.add(std::move(cells), fixed_space));
  }
  contributions.allocate();
  for (const std::size_t number : numbers)
    side.blocks.add(reinterpret_cast<MPI_Aint>(contributions.arrival(number)),
                    static_cast<int>(contributions.bytes(number)), MPI_BYTE, fixed_space);
  std::erase_if(messages.receive, is_local);
  return side;
}

// What the messages' exchange reports is what there is to report.
std::string take_over(Prepared& inner, Prepared& prepared) {
  inner.describe_now();
  prepared.undecided = inner.undecided;
  prepared.algorithm = inner.algorithm, prepared.variant = inner.variant;
  prepared.channel = inner.channel, prepared.channel_detail = inner.channel_detail;
  prepared.predicted = inner.predicted, prepared.measured = inner.measured;
  prepared.lost = inner.lost, prepared.rounds = inner.rounds, prepared.times = inner.times,
  prepared.reason = inner.reason;
  return inner.description;
}

void describe(const SharedBlocks& blocks, const BlocksRequest& request, double start,
              std::shared_ptr<Prepared> inner, Prepared& prepared) {
  prepared.tell_of([inner = std::move(inner)](Prepared& all) { return take_over(*inner, all); });
  prepared.fixed = "it is bound to the arrays of its blocks";
  prepared.describe(start, text(request.reverse ? "reverse" : "forward", " exchange of ",
                                blocks.own().size(), " of ", blocks.blocks().size(), " blocks, ",
                                blocks.blocks().dims, " dimensions"));
}

// Collective.
std::shared_ptr<Prepared> build(SharedBlocks& blocks, const BlocksRequest& request, double start,
                                MPI_Info info, Use use) {
  std::shared_ptr<Prepared> prepared;
  const MPI_Comm comm = blocks.context().comm();
  run_collectively(comm, [&] {
    prepared = std::make_shared<Prepared>(blocks.shared_context());
    BlockMessages messages =
        block_messages(blocks.blocks(), blocks.finder(), blocks.context().rank(), request.reach);
    Contributions contributions;
    const Side receive = request.reverse ? arrivals_of(blocks, request, messages, contributions)
                                         : side_of(blocks, request, messages.receive, false);
    const Side send = side_of(blocks, request, request.reverse ? messages.receive : messages.send,
                              !request.reverse);
    const OwnedNeighborhood near = make_adjacent(comm, receive.peers, send.peers);
    const std::shared_ptr<Prepared> inner =
        prepare(near.get(), Call{Collective::alltoall, send.blocks.given(), receive.blocks.given()},
                use, info, inside);
    std::shared_ptr<Exchange> exchange{inner, inner->exchange.get()};
    if (request.reverse)
      prepared->exchange = std::make_unique<CombiningExchange>(
          std::move(exchange), std::move(contributions), request.reduction);
    else
      prepared->exchange = std::make_unique<WrappedExchange>(std::move(exchange));
    if (use != Use::once && request.settings.progress_thread) prepared->drive_by_thread();
    describe(blocks, request, start, inner, *prepared);
  });
  return prepared;
}

// Numbers for a call and for this rank's arrays, and the exchange that all ranks have kept for
// them: 0 if there is none.
struct Asked {
  std::uint64_t call = 0, arrays = 0;
  std::size_t kept = 0;
};

// Collective: what the program asks for, if it is right and the same everywhere.
Asked agree_on_call(SharedBlocks& blocks, const BlocksCall& call, MPI_Info info, Output output,
                    BlocksRequest& request) {
  Asked asked;
  const auto things = [&] {
    Hash ghosts;
    ghosts.word(static_cast<std::uint64_t>(request.reach.along));
    for (int k = 0; k < blocks.blocks().dims; ++k)
      ghosts.word(request.reach.lower[k]).word(request.reach.upper[k]);
    std::array all{
        Alike{static_cast<std::uint64_t>(call.direction),
              "some ranks call a forward exchange where others call a reverse one"},
        Alike{ghosts.value() & largest_ballot,
              "ranks asked for different ghosts; `ghosts` must be the same on all ranks"},
        Alike{static_cast<std::uint64_t>(request.reduction.number),
              "ranks gave different operations; they must be the same on all ranks"},
        Alike{request.settings.fingerprint(), other_settings}, Alike{0}};
    Hash number;
    for (const Alike& thing : all) number.word(thing.ballot.value);
    asked.call = number.value();
    all.back().ballot = blocks.kept().find(asked.call, asked.arrays);
    return all;
  };
  const Compared compared = agree_on_arguments(
      blocks.context().comm(), info, output,
      [&] {
        request = read_request(blocks, call, info);
        Hash arrays;
        for (const std::byte* array : request.arrays)
          arrays.word(reinterpret_cast<std::uintptr_t>(array));
        asked.arrays = arrays.value();
      },
      things);
  if (compared.same.back()) asked.kept = compared.said.back();
  return asked;
}

}  // namespace

std::shared_ptr<Prepared> prepare_blocks(SharedBlocks& blocks, const BlocksCall& call,
                                         MPI_Info info, Output output) {
  const double start = MPI_Wtime();
  BlocksRequest request;
  agree_on_call(blocks, call, info, output, request);
  const Use use = request.settings.progress_thread ? Use::persistent : Use::part;
  return build(blocks, request, start, info, use);
}

void run_blocks(SharedBlocks& blocks, const BlocksCall& call) {
  const double start = MPI_Wtime();
  BlocksRequest request;
  const Asked asked = agree_on_call(blocks, call, MPI_INFO_NULL, inside, request);
  std::shared_ptr<Prepared> prepared = blocks.kept().get(asked.kept);
  if (!prepared) {
    prepared = build(blocks, request, start, MPI_INFO_NULL, Use::once);
    blocks.kept().keep(asked.call, prepared, asked.arrays);
  }
  run_to_end(*prepared);
}

}  // namespace tonari
