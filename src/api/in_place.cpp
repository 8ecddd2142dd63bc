#include "api/in_place.hpp"

#include <algorithm>
#include <array>
#include <iomanip>

#include "api/handles.hpp"
#include "api/in_place_blocks.hpp"
#include "api/settings.hpp"
#include "channels/datatype.hpp"
#include "channels/mpi_error.hpp"
#include "engine/agree.hpp"
#include "engine/comm_context.hpp"
#include "engine/general_exchange.hpp"
#include "engine/in_place.hpp"

namespace tonari {
namespace {

enum class Sort : std::uint64_t { symmetric, general };

std::shared_ptr<SharedComm> shared_for(MPI_Comm comm) {
  int between = 0;
  check_mpi(MPI_Comm_test_inter(comm, &between), "MPI_Comm_test_inter");
  if (between)
    fail(Errc::argument,
         "the communicator is an intercommunicator; in-place exchanges need an intracommunicator, "
         "such as MPI_Intercomm_merge makes");
  return SharedComm::of(comm);
}

// One agreement about errors of any rank, and about what ranks have to do alike.
void agree_on_call(MPI_Comm comm, const std::optional<Error>& error, Sort sort,
                   const InPlaceSettings& settings, MPI_Info info) {
  const std::vector<bool> same = agree(
      comm, error, std::array<Ballot, 2>{static_cast<std::uint64_t>(sort), settings.fingerprint()});
  if (!same[0])
    fail(Errc::mismatch,
         "some ranks call a symmetric in-place exchange where others call the general one");
  if (!same[1]) fail_on_different_settings(comm, info);
}

// ---- symmetric

std::vector<Bytes> sizes_of(const std::vector<SwapBlock>& blocks) {
  std::vector<Bytes> sizes;
  for (const SwapBlock& block : blocks) sizes.push_back(block.bytes);
  return sizes;
}

// ---- general

// In units of the type's extent from buf.
struct Region {
  std::int64_t first, count;
  std::size_t peer;
};

void check_regions(const char* side, const Given& given, std::size_t ranks, int rank) {
  std::vector<Region> regions;
  for (std::size_t j = 0; j < ranks; ++j)
    if (given.counts[j] > 0) regions.push_back({given.displacements[j], given.counts[j], j});
  std::ranges::sort(regions, {}, &Region::first);
  for (std::size_t k = 1; k < regions.size(); ++k)
    // both not negative: it fits
    if (regions[k].first - regions[k - 1].first < regions[k - 1].count)
      fail(Errc::buffers, "on rank ", rank, " ", side, " blocks ", regions[k - 1].peer, " and ",
           regions[k].peer, " overlap each other");
}

std::int64_t slots_end(const Given& given, std::size_t ranks) {
  std::int64_t end = 0;
  for (std::size_t j = 0; j < ranks; ++j)
    if (given.counts[j] > 0)
      end = std::max<std::int64_t>(
          end, checked_add<std::int64_t>(given.displacements[j], given.counts[j], "displacement"));
  return end;
}

GeneralProblem read_general(const Given& send, const Given& recv, const Context& context) {
  const auto ranks = static_cast<std::size_t>(context.ranks());
  check_buffer(send);
  // null arrays, negative counts
  read_blocks("send", ranks, send), read_blocks("receive", ranks, recv);
  check_displacements("send ", send, ranks), check_displacements("receive ", recv, ranks);
  check_regions("send", send, ranks, context.rank()),
      check_regions("receive", recv, ranks, context.rank());
  GeneralProblem problem;
  MPI_Aint low = 0, extent = 0;
  check_mpi(MPI_Type_get_extent(send.type, &low, &extent), "MPI_Type_get_extent");
  problem.element = std::make_shared<const Layout>(flatten(1, send.type));
  problem.extent = extent;
  const std::int64_t slots = std::max(slots_end(send, ranks), slots_end(recv, ranks));
  if (slots > 0 && problem.element->bytes() > 0) {
    if (!send.buffer) fail(Errc::argument, "buf is null, but there are elements to move");
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

// ---- both

void describe(Prepared& prepared, const InPlaceSettings& settings, const std::string& how) {
  prepared.reason = settings.order ? "forced" : "fixed rule";
  const std::string ways = prepared.exchange->ways();
  prepared.description = text(
      "in-place all-to-all between ", prepared.context->ranks(),
      " ranks\nchosen: ", prepared.algorithm, " ", prepared.channel, " (", prepared.reason,
      ")\nsends: ", prepared.exchange->messages(), " messages",
      ways.empty() ? "" : text(" (", ways, ")"), ", ", prepared.exchange->bytes(), " bytes; holds ",
      prepared.exchange->scratch_bytes(), " bytes of ", settings.memory, " that it may\n", how);
}

std::shared_ptr<Prepared> with_handle(const std::shared_ptr<Context>& context) {
  auto prepared = std::make_shared<Prepared>();
  prepared->context = context;
  prepared->spare = std::make_unique<tonari_request_s>();
  return prepared;
}

void drive_by_thread(Prepared& prepared, const InPlaceSettings& settings) {
  if (settings.progress_thread)
    prepared.exchange = std::make_unique<DrivenExchange>(std::move(prepared.exchange),
                                                         prepared.context->progress_thread());
}

}  // namespace

std::shared_ptr<Prepared> prepare_symmetric(const Given& blocks, MPI_Comm comm, MPI_Info info,
                                            bool has_place) {
  const double start = MPI_Wtime();
  const std::shared_ptr<SharedComm> shared = shared_for(comm);
  std::shared_ptr<Context> context;
  InPlaceSettings settings;
  std::vector<SwapBlock> swapped;
  const std::optional<Error> error = caught([&] {
    context = context_on(shared);
    if (!has_place) fail(Errc::argument, "the place for the new request is null");
    settings = read_in_place_settings(info);
    swapped = read_swap_blocks(blocks, static_cast<std::size_t>(context->ranks()), context->rank());
  });
  agree_on_call(shared->comm(), error, Sort::symmetric, settings, info);
  std::shared_ptr<Prepared> prepared;
  together(context->comm(), [&] {
    const std::vector<Bytes> sizes = sizes_of(swapped);
    compare_pairs(*context, sizes, sizes);
    Bytes largest = 0;
    for (int j = 0; j < context->ranks(); ++j)
      if (j != context->rank()) largest = std::max(largest, sizes[static_cast<std::size_t>(j)]);
    SwapSettings how{settings.order.value_or(SwapOrder::hierarchical_sets),
                     settings.channel != "p2p-packed",
                     settings.memory,
                     0,
                     largest,
                     settings.timeout};
    look_round(context->comm(), how);
    InPlace made = make_symmetric(*context, swapped, how);
    prepared = with_handle(context);
    prepared->exchange = std::move(made.exchange);
    prepared->algorithm = name(how.order);
    prepared->channel = made.channel;
    drive_by_thread(*prepared, settings);
    describe(*prepared, settings,
             text(made.refusal.empty() ? "" : "channel shared is not used: " + made.refusal + "\n",
                  "chunks of at most ", made.chunk, " bytes where they go by MPI\n"));
  });
  prepared->init = MPI_Wtime() - start;
  return prepared;
}

std::shared_ptr<Prepared> prepare_general(const Given& send, const Given& recv, MPI_Comm comm,
                                          MPI_Info info, bool has_place) {
  const double start = MPI_Wtime();
  const std::shared_ptr<SharedComm> shared = shared_for(comm);
  std::shared_ptr<Context> context;
  InPlaceSettings settings;
  GeneralProblem problem;
  const std::optional<Error> error = caught([&] {
    context = context_on(shared);
    if (!has_place) fail(Errc::argument, "the place for the new request is null");
    settings = read_in_place_settings(info);
    if (settings.order_by_key)
      fail(Errc::algorithm, "tonari_algorithm (TONARI_INPLACE_ALGORITHM) is '",
           name(settings.order.value_or(SwapOrder::hierarchical_sets)),
           "', an order of symmetric swaps; leave it out of the general exchange");
    settings.order.reset();
    problem = read_general(send, recv, *context);
  });
  agree_on_call(shared->comm(), error, Sort::general, settings, info);
  std::shared_ptr<Prepared> prepared;
  together(context->comm(), [&] {
    const Bytes element = problem.element->bytes();
    compare_pairs(*context, in_bytes(problem.send_counts, element),
                  in_bytes(problem.recv_counts, element));
    context->reserve_tags(GeneralExchange::tags);
    prepared = with_handle(context);
    const WaitPolicy wait{context->node()->crowded(), settings.timeout};
    prepared->exchange = std::make_unique<GeneralExchange>(
        context->shared_comm(), context->first_tag(), std::move(problem), settings.memory, wait);
    prepared->algorithm = "general";
    prepared->channel = "p2p-packed";
    drive_by_thread(*prepared, settings);
    describe(*prepared, settings, "");
  });
  context->take_tags(GeneralExchange::tags);
  prepared->init = MPI_Wtime() - start;
  return prepared;
}

}  // namespace tonari
