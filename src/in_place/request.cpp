// SPDX-License-Identifier: BSD-3-Clause
#include "in_place/request.hpp"

#include <algorithm>
#include <array>

#include "engine/comm/comm_context.hpp"
#include "engine/wait/agree.hpp"
#include "in_place/general_exchange.hpp"
#include "in_place/in_place_choice.hpp"
#include "in_place/read_call.hpp"
#include "mpi/datatype.hpp"
#include "mpi/mpi_error.hpp"
#include "neighborhood/known_side.hpp"
#include "request/buffer.hpp"
#include "request/kept.hpp"
#include "request/settings.hpp"

namespace tonari {
namespace {

enum class InPlaceKind : std::uint64_t { symmetric, general };

// A channel that leads to other nodes, or uses derived datatypes, stands for the nearest one that
// in-place exchanges have.
Settings read_in_place(MPI_Info info) {
  Settings settings = read_settings(info, where::in_place);
  if (settings.channel.starts_with("shared"))
    settings.channel = "shared";
  else if (settings.channel != "auto")
    settings.channel = "p2p-packed";
  settings.tune = at_init(settings.tune);
  return settings;
}

// A one-shot call that may come again, on whatever buffer.
struct SwapCall {
  bool same(const BufferArguments& given) const {
    const bool lies = given.buffer == buffer || (given.buffer && buffer);
    return lies && given.buffer != MPI_IN_PLACE && !on_gpu(given.buffer) && known.same(given);
  }

  KnownSide known;
  const void* buffer = nullptr;
  Settings settings;
  bool no_keys = false;  // settings are the environment's, not read for the same call again
};

struct SwapCalls final : FamilyObject {
  bool stays() const override { return false; }
  Kept<SwapCall, 1> kept;  // memory is for one at a time
};
using Votes = decltype(SwapCalls::kept)::Votes;

std::shared_ptr<SharedComm> shared_for(MPI_Comm comm) {
  int between = 0;
  check_mpi(MPI_Comm_test_inter(comm, &between), "MPI_Comm_test_inter");
  if (between)
    fail(Errc::argument,
         "`comm` is an intercommunicator; in-place exchanges need an intracommunicator, "
         "such as MPI_Intercomm_merge makes");
  return SharedComm::of(comm);
}

// What an in-place call brings, beside its blocks.
struct InPlaceInit {
  const double start = MPI_Wtime();
  std::shared_ptr<SharedComm> shared;
  std::shared_ptr<Context> context = nullptr;
  Settings settings = {};

  // Collective. read: settings and blocks; returns whether this rank has kept an exchange for the
  // call.
  template <class Read>
  Compared agree(MPI_Info info, Output output, InPlaceKind kind, Read read) {
    Votes votes{};
    return agree_on_arguments(
        shared->comm(), info, output,
        [&] {
          context = context_on(shared);
          votes = read();
        },
        [&] {
          return with_votes(
              std::array{Alike{static_cast<std::uint64_t>(kind),
                               "some ranks call a symmetric in-place exchange where others call "
                               "the general one"},
                         Alike{fingerprint(settings), other_settings}},
              votes);
        });
  }

  // Last.
  void describe(Prepared& prepared, const Decision& decision) const {
    if (settings.progress_thread) prepared.drive_by_thread();
    prepared.recording.operation = "in-place all-to-all";
    prepared.chosen.follow(decision);
    if (settings.inplace_algorithm != "auto" && decision.reason == "fixed rule")
      prepared.chosen.reason = "forced";
    prepared.describe(start, text("in-place all-to-all between ", context->ranks(), " ranks"),
                      prepared.chosen.algorithm + " " + prepared.chosen.channel,
                      text("may hold ", settings.inplace_memory, " bytes\n", decision.details));
  }
};

// ---- symmetric

std::vector<Bytes> sizes_of(const std::vector<SwapBlock>& blocks) {
  std::vector<Bytes> sizes;
  for (const SwapBlock& block : blocks) sizes.push_back(block.bytes);
  return sizes;
}

// ---- general

// In units of the type's extent from buf.
struct BlockRegion {
  std::int64_t first, count;
  std::size_t peer;
};

void check_regions(const char* side, const BufferArguments& given, std::size_t ranks, int rank) {
  std::vector<BlockRegion> regions;
  for (std::size_t j = 0; j < ranks; ++j)
    if (given.counts[j] > 0) regions.push_back({given.displacements[j], given.counts[j], j});
  std::ranges::sort(regions, {}, &BlockRegion::first);
  for (std::size_t k = 1; k < regions.size(); ++k)
    // both not negative: it fits
    if (regions[k].first - regions[k - 1].first < regions[k - 1].count)
      fail(Errc::buffers, "on rank ", rank, " ", side, " blocks ", regions[k - 1].peer, " and ",
           regions[k].peer, " overlap each other");
}

std::int64_t slots_end(const BufferArguments& given, std::size_t ranks) {
  std::int64_t end = 0;
  for (std::size_t j = 0; j < ranks; ++j)
    if (given.counts[j] > 0)
      end = std::max<std::int64_t>(
          end, checked_add<std::int64_t>(given.displacements[j], given.counts[j], "displacement"));
  return end;
}

GeneralProblem read_general(const BufferArguments& send, const BufferArguments& recv,
                            const Context& context) {
  const auto ranks = static_cast<std::size_t>(context.ranks());
  check_buffer(send);
  if (send.type == MPI_DATATYPE_NULL) fail(Errc::argument, "`type` is MPI_DATATYPE_NULL");
  // null arrays, negative counts
  read_blocks("send", ranks, send), read_blocks("recv", ranks, recv);
  check_displacements("send", send, ranks), check_displacements("recv", recv, ranks);
  check_regions("send", send, ranks, context.rank()),
      check_regions("receive", recv, ranks, context.rank());
  GeneralProblem problem;
  MPI_Aint low = 0, extent = 0;
  check_mpi(MPI_Type_get_extent(send.type, &low, &extent), "MPI_Type_get_extent");
  problem.element = std::make_shared<const Layout>(flatten(1, send.type));
  problem.extent = extent;
  const std::int64_t slots = std::max(slots_end(send, ranks), slots_end(recv, ranks));
  if (slots > 0 && problem.element->bytes() > 0) {
    if (!send.buffer) fail(Errc::argument, "`buf` is NULL, but there are elements to move");
    if (extent <= 0)
      fail(Errc::argument, "the extent of the type is ", extent,
           " bytes; displacements in units of it need a positive one");
    check_place(send.buffer, 0, span_of(*problem.element, slots, extent));
    if (elements_overlap(*problem.element, extent, static_cast<std::uint64_t>(slots)))
      fail(Errc::buffers, "on rank ", context.rank(),
           " elements of the datatype overlap each other");
  }
  problem.base = static_cast<std::byte*>(const_cast<void*>(send.buffer));
  for (std::size_t j = 0; j < ranks; ++j) {
    const bool moves = problem.element->bytes() > 0;
    problem.send_counts.push_back(moves ? static_cast<std::uint64_t>(send.counts[j]) : 0);
    problem.recv_counts.push_back(moves ? static_cast<std::uint64_t>(recv.counts[j]) : 0);
    problem.send_displs.push_back(send.displacements[j]);
    problem.recv_displs.push_back(recv.displacements[j]);
  }
  return problem;
}

std::vector<Bytes> in_bytes(const std::vector<std::uint64_t>& counts, Bytes element) {
  std::vector<Bytes> bytes;
  for (std::uint64_t count : counts)
    bytes.push_back(checked_multiply<Bytes>(count, element, "size of a block"));
  return bytes;
}

}  // namespace

std::shared_ptr<Prepared> prepare_symmetric(const BufferArguments& blocks, MPI_Comm comm, Use use,
                                            MPI_Info info, Output output) {
  InPlaceInit init{.shared = shared_for(comm)};
  Settings& settings = init.settings;
  SwapProblem problem;
  const auto read = [&] {
    const auto ranks = static_cast<std::size_t>(init.context->ranks());
    problem.blocks = read_swap_blocks(blocks, ranks, init.context->rank());
    if (use == Use::one_shot) return;
    problem.tune = settings.tune;
    problem.typed = {const_cast<void*>(blocks.buffer), read_blocks("", ranks, blocks),
                     blocks.form == Form::regular};
  };
  SwapCalls* calls = nullptr;  // not null for a one-shot call
  SwapCall call;
  const void* buffer = nullptr;  // of the kept exchange
  const Compared compared = init.agree(info, output, InPlaceKind::symmetric, [&] {
    Votes votes{};
    FamilyObjects& families = init.shared->families();
    if (use == Use::one_shot) calls = families.find<SwapCalls>();
    if (use == Use::one_shot && !calls) calls = &families.add(std::make_unique<SwapCalls>());
    if (calls)
      votes = calls->kept.votes([&](const SwapCall& known, const std::shared_ptr<Prepared>& made) {
        if (made.use_count() > 1 || made->running() || made->broken() || !known.same(blocks))
          return false;
        settings = known.no_keys && info == MPI_INFO_NULL ? known.settings : read_in_place(info);
        buffer = known.buffer;
        return settings == known.settings;
      });
    if (!votes[0]) settings = read_in_place(info), read();
    return votes;
  });
  if (std::shared_ptr<Prepared> kept = calls ? calls->kept.take(compared) : nullptr) {
    kept->rebind(std::array{std::ptrdiff_t{0}, distance(buffer, blocks.buffer), std::ptrdiff_t{0}});
    return kept;
  }
  Context& context = *init.context;
  std::shared_ptr<Prepared> prepared;
  run_collectively(context.comm(), [&] {
    if (problem.blocks.empty()) read();  // another rank does not know the call
    const std::vector<Bytes> sizes = sizes_of(problem.blocks);
    compare_pairs(context, sizes, sizes);
    if (calls) calls->kept.clear();  // its memory goes first
    context.reserve_tags(1);
    problem.order = swap_order_named(settings.inplace_algorithm);
    problem.any_channel = settings.channel == "auto";
    ChosenSwaps chosen = choose_swaps(context, std::move(problem),
                                      {.shared = settings.channel != "p2p-packed",
                                       .memory = settings.inplace_memory,
                                       .timeout = settings.timeout});
    prepared = std::make_shared<Prepared>(init.context);
    prepared->exchange = std::move(chosen.exchange);
    prepared->chosen.algorithm = chosen.algorithm;
    prepared->chosen.channel = chosen.channel;
    init.describe(*prepared, chosen.decision);
    if (calls)
      call = {KnownSide(blocks, static_cast<std::size_t>(context.ranks())), blocks.buffer, settings,
              info == MPI_INFO_NULL};
  });
  context.take_tags(1);
  if (calls && !settings.progress_thread) calls->kept.put(std::move(call), prepared);
  return prepared;
}

std::shared_ptr<Prepared> prepare_general(const BufferArguments& send, const BufferArguments& recv,
                                          MPI_Comm comm, MPI_Info info, Output output) {
  InPlaceInit init{.shared = shared_for(comm)};
  Settings& settings = init.settings;
  GeneralProblem problem;
  init.agree(info, output, InPlaceKind::general, [&] {
    settings = read_in_place(info);
    constexpr const Setting& order = setting("TONARI_INPLACE_ALGORITHM");
    if (const auto key = value_of(info, order); key && *key != "auto")
      fail(Errc::algorithm, name_of(order), " is '", *key,
           "', an order of symmetric swaps; leave it out of the general exchange");
    settings.inplace_algorithm = "auto";
    problem = read_general(send, recv, *init.context);
    return Votes{};
  });
  Context& context = *init.context;
  std::shared_ptr<Prepared> prepared;
  run_collectively(context.comm(), [&] {
    const Bytes element = problem.element->bytes();
    compare_pairs(context, in_bytes(problem.send_counts, element),
                  in_bytes(problem.recv_counts, element));
    context.reserve_tags(GeneralExchange::tags);
    prepared = std::make_shared<Prepared>(init.context);
    const WaitPolicy wait{context.node()->crowded(), settings.timeout};
    prepared->exchange = std::make_unique<GeneralExchange>(
        context.shared_comm(), context.first_tag(), std::move(problem), settings.inplace_memory,
        wait, context.node());
    prepared->chosen.algorithm = "general";
    prepared->chosen.channel = "p2p-packed";
    init.describe(*prepared, by_fixed_rule);
  });
  context.take_tags(GeneralExchange::tags);
  return prepared;
}

}  // namespace tonari
