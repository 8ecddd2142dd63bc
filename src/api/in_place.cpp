#include "api/in_place.hpp"

#include <algorithm>
#include <iomanip>

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

std::shared_ptr<Context> context_for(MPI_Comm comm) {
  int between = 0;
  check_mpi(MPI_Comm_test_inter(comm, &between), "MPI_Comm_test_inter");
  if (between) fail(Errc::argument, "the communicator is an intercommunicator; in-place exchanges need an intracommunicator, such as MPI_Intercomm_merge makes");
  return context_of(comm);
}

// One agreement about errors of any rank, and about what ranks have to do alike.
void agree_on_call(Context& context, const std::optional<Error>& error, Sort sort, const InPlaceSettings& settings) {
  const std::vector<bool> same = agree(context.comm(), error, std::vector<Ballot>{static_cast<std::uint64_t>(sort), settings.fingerprint()});
  if (!same[0]) fail(Errc::mismatch, "some ranks call a symmetric in-place exchange where others call the general one");
  if (!same[1]) fail(Errc::mismatch, "ranks gave different info keys or environment variables (TONARI_...); they must be the same on all ranks");
}

void check_buffer(const Given& given) {
  if (given.buffer == MPI_IN_PLACE) fail(Errc::argument, "buf is MPI_IN_PLACE; give the buffer itself");
}

void check_displacements(const char* side, const Given& given, std::size_t ranks) {
  if (!given.displacements) return;  // missing where they are needed: said when they are read
  for (std::size_t j = 0; j < ranks; ++j)
    if (given.displacements[j] < 0)
      fail(Errc::argument, side, "displacement ", j, " is ", given.displacements[j], "; in place they are counted from buf and must not be negative");
}

// ---- symmetric

void check_blocks(const std::vector<Block>& blocks, int rank) {
  std::vector<Placed> placed;
  std::vector<Layout> whole(blocks.size());
  for (std::size_t j = 0; j < blocks.size(); ++j) {
    const Block& b = blocks[j];
    if (b.bytes == 0) continue;
    if (!b.layout) whole[j].add(0, b.bytes);
    else if (overlaps_itself(*b.layout)) fail(Errc::buffers, "on rank ", rank, " the datatype of block ", j, " has elements that overlap each other");
    placed.push_back({reinterpret_cast<std::uintptr_t>(b.address), b.layout ? b.layout : &whole[j], static_cast<std::uint32_t>(j), true});
  }
  Overlap overlap;
  if (find_overlap(placed, overlap))
    fail(Errc::buffers, "on rank ", rank, " blocks ", placed[overlap.first].block, " and ", placed[overlap.second].block,
         " overlap; in place each block is sent and received, and must share no byte with another");
}

// The block for the rank itself does not move, but must not overlap another, as in MPI.
Binding read_blocks(const Given& given, const Context& context) {
  const auto ranks = static_cast<std::size_t>(context.ranks());
  check_buffer(given);
  check_displacements("", given, ranks);
  Arguments arguments;
  arguments.recvbuf = const_cast<void*>(given.buffer);
  arguments.recv = tonari::read_blocks("block", ranks, given);
  Binding binding = bind(arguments);
  constexpr std::uintptr_t first_page = 4096;
  for (std::size_t j = 0; j < ranks; ++j) {
    const Block& b = binding.recv[j];
    if (b.bytes > 0 && reinterpret_cast<std::uintptr_t>(b.address) + static_cast<std::uintptr_t>(b.layout ? b.layout->span().first : 0) < first_page)
      fail(Errc::argument, "block ", j, " has ", b.bytes, " bytes, but buf is null");
  }
  check_blocks(binding.recv, context.rank());
  return binding;
}

std::vector<Bytes> sizes_of(const std::vector<Block>& blocks) {
  std::vector<Bytes> sizes;
  for (const Block& b : blocks) sizes.push_back(b.bytes);
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
    if (regions[k].first - regions[k - 1].first < regions[k - 1].count)  // both not negative: it fits
      fail(Errc::buffers, "on rank ", rank, " ", side, " blocks ", regions[k - 1].peer, " and ", regions[k].peer, " overlap each other");
}

// How many elements one element's bytes reach over: if none of so many in a row overlap, no two do.
std::int64_t reach(const Layout& element, std::ptrdiff_t extent) {
  const auto [low, high] = element.span();
  return (high - low + extent - 1) / extent;
}

std::int64_t slots_end(const Given& given, std::size_t ranks) {
  std::int64_t end = 0;
  for (std::size_t j = 0; j < ranks; ++j)
    if (given.counts[j] > 0) end = std::max<std::int64_t>(end, checked_add<std::int64_t>(given.displacements[j], given.counts[j], "displacement"));
  return end;
}

GeneralProblem read_general(const Given& send, const Given& recv, const Context& context) {
  const auto ranks = static_cast<std::size_t>(context.ranks());
  check_buffer(send);
  tonari::read_blocks("send", ranks, send), tonari::read_blocks("receive", ranks, recv);  // null arrays, negative counts
  check_displacements("send ", send, ranks), check_displacements("receive ", recv, ranks);
  check_regions("send", send, ranks, context.rank()), check_regions("receive", recv, ranks, context.rank());
  GeneralProblem problem;
  MPI_Aint low = 0, extent = 0;
  check_mpi(MPI_Type_get_extent(send.type, &low, &extent), "MPI_Type_get_extent");
  problem.element = std::make_shared<const Layout>(flatten(1, send.type));
  problem.extent = extent;
  const std::int64_t slots = std::max(slots_end(send, ranks), slots_end(recv, ranks));
  if (slots > 0 && problem.element->bytes() > 0) {
    if (!send.buffer) fail(Errc::argument, "buf is null, but there are elements to move");
    if (extent <= 0) fail(Errc::argument, "the extent of the type is ", extent, " bytes; displacements in units of it need a positive one");
    const std::int64_t together = std::min(slots, reach(*problem.element, extent));
    if (overlaps_itself(flatten(static_cast<MPI_Count>(std::max<std::int64_t>(together, 1)), send.type)))
      fail(Errc::buffers, "on rank ", context.rank(), " elements of the datatype overlap each other");
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
  for (std::uint64_t count : counts) bytes.push_back(checked_multiply<Bytes>(count, element, "size of a block"));
  return bytes;
}

// ---- both

void describe(Prepared& prepared, const InPlaceSettings& settings, const std::string& how) {
  prepared.reason = settings.order ? "forced" : "fixed rule";
  const std::string ways = prepared.exchange->ways();
  prepared.description = text("in-place all-to-all between ", prepared.context->ranks(), " ranks\nchosen: ", prepared.algorithm, " ", prepared.channel, " (",
                              prepared.reason, ")\nsends: ", prepared.exchange->messages(), " messages", ways.empty() ? "" : text(" (", ways, ")"), ", ",
                              prepared.exchange->bytes(), " bytes; holds ", prepared.exchange->scratch_bytes(), " bytes of ", settings.memory,
                              " that it may\n", how);
}

void drive_by_thread(Prepared& prepared, const InPlaceSettings& settings) {
  if (settings.progress_thread) prepared.exchange = std::make_unique<DrivenExchange>(std::move(prepared.exchange), prepared.context->progress_thread());
}

}  // namespace

std::shared_ptr<Prepared> prepare_symmetric(const Given& blocks, MPI_Comm comm, MPI_Info info, bool has_place) {
  const double start = MPI_Wtime();
  const auto prepared = std::make_shared<Prepared>();
  Context& context = *(prepared->context = context_for(comm));
  InPlaceSettings settings;
  Binding binding;
  const std::optional<Error> error = caught([&] {
    if (!has_place) fail(Errc::argument, "the place for the new request is null");
    settings = read_in_place_settings(info);
    binding = read_blocks(blocks, context);
  });
  agree_on_call(context, error, Sort::symmetric, settings);
  const std::vector<Bytes> sizes = sizes_of(binding.recv);
  compare_pairs(context, sizes, sizes);

  SwapSettings how{settings.order.value_or(SwapOrder::hierarchical_sets), settings.channel != "p2p-packed", settings.memory,
                   0, *std::ranges::max_element(sizes), settings.timeout};
  look_round(context.comm(), how);
  InPlace made = make_symmetric(context, binding.recv, how);
  together(context.comm(), [&] {
    prepared->held = std::move(binding.layouts);
    prepared->exchange = std::move(made.exchange);
    prepared->algorithm = name(how.order);
    prepared->channel = made.channel;
    drive_by_thread(*prepared, settings);
    describe(*prepared, settings, text(made.refusal.empty() ? "" : "channel shared is not used: " + made.refusal + "\n", "chunks of at most ", made.chunk,
                                       " bytes where they go by MPI\n"));
  });
  prepared->init = MPI_Wtime() - start;
  return prepared;
}

std::shared_ptr<Prepared> prepare_general(const Given& send, const Given& recv, MPI_Comm comm, MPI_Info info, bool has_place) {
  const double start = MPI_Wtime();
  const auto prepared = std::make_shared<Prepared>();
  Context& context = *(prepared->context = context_for(comm));
  InPlaceSettings settings;
  GeneralProblem problem;
  const std::optional<Error> error = caught([&] {
    if (!has_place) fail(Errc::argument, "the place for the new request is null");
    settings = read_in_place_settings(info);
    if (settings.order_by_key)
      fail(Errc::algorithm, "tonari_algorithm (TONARI_INPLACE_ALGORITHM) is '", name(settings.order.value_or(SwapOrder::hierarchical_sets)),
           "', an order of symmetric swaps; leave it out of the general exchange");
    settings.order.reset();
    problem = read_general(send, recv, context);
  });
  agree_on_call(context, error, Sort::general, settings);
  const Bytes element = problem.element->bytes();
  std::vector<Bytes> given, expected;
  together(context.comm(), [&] { given = in_bytes(problem.send_counts, element), expected = in_bytes(problem.recv_counts, element); });
  compare_pairs(context, given, expected);

  context.reserve_tags(GeneralExchange::tags);
  together(context.comm(), [&] {
    const WaitPolicy wait{context.node()->crowded(), settings.timeout};
    prepared->exchange = std::make_unique<GeneralExchange>(context.shared_comm(), context.first_tag(), std::move(problem), settings.memory, wait);
    prepared->algorithm = "general";
    prepared->channel = "p2p-packed";
    drive_by_thread(*prepared, settings);
    describe(*prepared, settings, "");
  });
  context.take_tags(GeneralExchange::tags);
  prepared->init = MPI_Wtime() - start;
  return prepared;
}

}  // namespace tonari
