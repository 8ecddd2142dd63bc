// SPDX-License-Identifier: BSD-3-Clause
#include "neighborhood/promises.hpp"

#include <algorithm>

#include "engine/run/forwarded_sizes.hpp"
#include "engine/wait/agree.hpp"
#include "neighborhood/problem.hpp"
#include "neighborhood/sizes.hpp"

namespace tonari {
namespace {

constexpr const char* key = "cdag_exact_byte_communications";

// Blocks of these sizes, without any memory.
std::vector<Block> blocks_of(const std::vector<Bytes>& sizes) {
  std::vector<Block> blocks;
  for (Bytes bytes : sizes) blocks.push_back({nullptr, nullptr, bytes});
  return blocks;
}

std::vector<Bytes> in_order(const std::vector<int>& weights,
                            const std::vector<std::int32_t>& numbers) {
  std::vector<Bytes> sizes;
  for (std::int32_t number : numbers)
    sizes.push_back(number < 0 ? 0 : static_cast<Bytes>(weights[number]));
  return sizes;
}

// Changes the program's order to that of topology.vertex.
BlockSizes in_our_order(const LocalTopology& topology, const TopologyLists& lists) {
  if (topology.given)
    return {in_order(lists.target_weights, topology.send_blocks),
            in_order(lists.source_weights, topology.recv_blocks)};
  return {{lists.target_weights.begin(), lists.target_weights.end()},
          {lists.source_weights.begin(), lists.source_weights.end()}};
}

// The sizes of the edges that leave this rank and end somewhere.
std::vector<Bytes> leaving(const Context& context, const BlockSizes& edges) {
  std::vector<Bytes> sizes;
  for (std::size_t i = 0; i < edges.send.size(); ++i)
    if (context.vertex().targets[i] >= 0) sizes.push_back(edges.send[i]);
  return sizes;
}

void compare_ends(Context& context, const TopologyLists& lists) {
  const BlockSizes weights{{lists.target_weights.begin(), lists.target_weights.end()},
                           {lists.source_weights.begin(), lists.source_weights.end()}};
  const Vertex& vertex = as_given(context.topology());
  BspComm& bsp = context.shared().bsp();
  bsp.run_collectively([&] {
    const std::optional<Error> error =
        compare_sizes(bsp, std::span(&vertex, 1), Collective::alltoall, std::span(&weights, 1));
    if (error) fail(error->code(), key, ": by its weights ", error->what());
  });
}

bool everywhere(Context& context, bool here) {
  const Ballot ballot = here;
  return agree(context.comm(), std::nullopt, std::span(&ballot, 1))[0] && here;
}

// Prepares sizes, variants, the choice, and the sizes of forwarded blocks.
void plan_ahead(Context& context, RememberedChoices& choices, Collective collective) {
  ExactSizes& exact = *context.exact_sizes();
  ExactSizes::Known& known = exact.of(collective);
  Binding binding;
  binding.send = blocks_of(exact.edges.send);
  binding.recv = blocks_of(exact.edges.recv);
  if (collective == Collective::allgather) {
    const std::vector<Bytes> sizes = leaving(context, exact.edges);
    binding.send = blocks_of({sizes.empty() ? 0 : sizes.front()});
    if (!everywhere(context,
                    std::ranges::adjacent_find(sizes, std::ranges::not_equal_to()) == sizes.end()))
      return;
  }
  known.possible = true;
  known.sizes = sizes_of_equal_ends(context, collective, binding);
  binding.uniform = known.sizes.bytes;
  for (bool contiguous : {true, false}) {  // it is not known yet how blocks lie
    const Problem problem = problem_of(context, collective, known.sizes, contiguous);
    std::vector<Candidate> chosen{choices.of(context, problem, context.settings()).candidate};
    // later calls find it, where requests share one
    if (!chosen.front().planned) context.graph_for_request();
    exchange_forwarded_sizes(context, chosen, problem, context.settings(), binding);
  }
}

}  // namespace

void check_weights(const TopologyLists& lists, int rank) {
  if (!lists.weighted)
    fail(Errc::argument, key, " promises that weights are the bytes of every edge, but rank ", rank,
         " gives no weights; make the neighborhood with ",
         "tonari_neighborhood_create_adjacent and weights, or from a distributed graph that has "
         "them");
  const auto check = [&](const std::vector<int>& weights, const char* what) {
    for (std::size_t i = 0; i < weights.size(); ++i)
      if (weights[i] < 0)
        fail(Errc::argument, "the weight of ", what, " ", i, " of rank ", rank, " is ", weights[i],
             "; with ", key, " weights are bytes and must not be negative");
  };
  check(lists.target_weights, "destination");
  check(lists.source_weights, "source");
}

void promise_exact_sizes(Context& context, RememberedChoices& choices, const TopologyLists& lists) {
  run_collectively(context.comm(), [&] {
    compare_ends(context, lists);
    context.promise({in_our_order(context.topology(), lists), {}});
    for (Collective collective : {Collective::alltoall, Collective::allgather}) {
      try {
        run_collectively(context.comm(), [&] { plan_ahead(context, choices, collective); });
      } catch (const Error& error) {
        // the requested algorithm may not exist for this collective; all ranks find out
        if (error.code() != Errc::algorithm) throw;
      }
    }
  });
}

void check_exact_sizes(Context& context, Collective collective, const Binding& binding) {
  const LocalTopology& topology = context.topology();
  const BlockSizes& promised = context.exact_sizes()->edges;
  const auto check = [&](Buffer side, std::size_t i, Bytes actual, Bytes expected) {
    if (actual == expected) return;
    fail(Errc::promise, side == Buffer::send ? "send" : "receive", " block ",
         given_number(topology, side, i), " of rank ", context.rank(), " has ", actual,
         " bytes, but ", key, " promises ", expected, " for its edge");
  };
  for (std::size_t i = 0; i < promised.send.size(); ++i)
    if (topology.vertex.targets[i] >= 0)
      check(Buffer::send, i, binding.send[collective == Collective::alltoall ? i : 0].bytes,
            promised.send[i]);
  for (std::size_t j = 0; j < promised.recv.size(); ++j)
    if (topology.vertex.sources[j] >= 0)
      check(Buffer::recv, j, binding.recv[j].bytes, promised.recv[j]);
}

}  // namespace tonari
