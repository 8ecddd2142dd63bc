// SPDX-License-Identifier: BSD-3-Clause
#include "vector/make_vector.hpp"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "engine/comm/read_topology.hpp"
#include "engine/tune/contest.hpp"
#include "engine/wait/agree.hpp"
#include "request/settings.hpp"
#include "vector/find_needs.hpp"
#include "vector/planned_route.hpp"
#include "vector/request.hpp"
#include "vector/route_scheme.hpp"

namespace tonari {
namespace {

Settings read_vector_settings(MPI_Info info) {
  Settings settings = read_settings(info, where::any_request | where::vectors);
  settings.route = read_route_name(settings.route);
  settings.tune = at_init(settings.tune);
  return settings;
}

Error repeated_ghost(const RepeatedPlace& repeat, int rank) {
  return Error(Errc::argument,
               text("rank ", rank, " lists place ", repeat.place,
                    " of its ghosts twice (positions ", repeat.first, " and ", repeat.second,
                    "); a forward exchange can bring one value there only"));
}

std::vector<std::string> routes_to_try(const Settings& settings, const Context& context) {
  if (settings.route != "auto") return {settings.route};
  std::vector<std::string> names{"direct"};
  if (context.ranks() >= 4) names.emplace_back("store-and-forward/2");
  if (context.several_nodes() && context.shares_memory()) names.emplace_back("node");
  return names;
}

// Collective over `bsp`. Finds what the fastest route depends on.
std::string question(BspComm& bsp, OwnedRange own, std::span<const std::int64_t> needs) {
  Hash hash;
  hash.word(own.first).word(own.count);
  for (const std::int64_t index : needs) hash.word(index);
  const auto print = static_cast<Word>(hash.value() >> 24);  // room for the sum of many
  return text("route|", std::hex, bsp.sum(print));
}

// Collective, in the scope of `bsp`.
VectorPatterns find_patterns(const Context& context, BspComm& bsp, const FoundNeeds& found,
                             bool lists_places, const std::string& name) {
  const auto pattern_by = [&](const VectorRoute& route) {
    VectorPattern pattern = discover(bsp, found.ranges, found.own, found.needs.indices, route);
    if (lists_places) list_places(pattern, found.needs.places);
    return pattern;
  };
  if (!scheme_of(name)) return {pattern_by(VectorRoute::named(name, context))};
  const PlannedRoutes planned = plan_routes(bsp, found.ranges, found.needs.indices, name);
  return {pattern_by(planned.values), pattern_by(planned.sums)};
}

// A route is timed on a forward exchange of one vector of doubles. Algorithms and channels are
// measured, too, as for any request: a route is as fast as they are, and what is measured is
// remembered for the requests to come.
struct TimedRoute {
  std::unique_ptr<SharedVector> vector = nullptr;
  std::vector<double> owned = {}, ghosts = {};
  std::shared_ptr<Prepared> forward = nullptr;

  Exchange& exchange() {
    owned.resize(static_cast<std::size_t>(vector->pattern().owned));
    ghosts.resize(static_cast<std::size_t>(vector->pattern().ghost_count));
    const tonari_vector_field field{{}, owned.data(), ghosts.data(), {}};
    const VectorCall call{Direction::forward, MPI_OP_NULL, 1, &field};
    forward = prepare_vector(*vector, call, MPI_INFO_NULL, inside);
    return *forward->exchange;
  }
};

// Collective, together on the communicator.
std::unique_ptr<SharedVector> by_fastest_route(const std::shared_ptr<SharedComm>& shared,
                                               const VectorLists& lists, const Settings& settings) {
  shared->update_nodes();
  const auto context = std::make_shared<Context>(shared);
  BspComm& bsp = shared->bsp();
  const FoundNeeds found = find_needs(*context, bsp, lists);
  Alternatives routes{routes_to_try(settings, *context), {}, {}};
  if (routes.names.size() > 1)
    bsp.run_collectively([&] { routes.question = question(bsp, found.own, found.needs.indices); });
  std::vector<TimedRoute> timed(routes.names.size());
  routes.make = [&](std::size_t k) {
    const std::string& name = routes.names[k];
    bsp.run_collectively([&] {
      timed[k].vector = std::make_unique<SharedVector>(
          context, name, find_patterns(*context, bsp, found, lists.lists_places(), name));
    });
  };
  routes.timed = [&](std::size_t k) -> Exchange& { return timed[k].exchange(); };
  return std::move(timed[decide(*context, settings.tune, routes).winner].vector);
}

}  // namespace

std::unique_ptr<SharedVector> make_vector(MPI_Comm comm, const VectorLists& lists, MPI_Info info,
                                          Output output, const std::optional<Error>& wrong) {
  require_intracommunicator(comm);  // all ranks know
  const std::shared_ptr<SharedComm> shared = SharedComm::of(comm);
  Settings settings;
  const std::optional<Error> error = wrong_argument(output, [&] {
    if (wrong) throw *wrong;
    lists.check(shared->ranks());
    settings = read_vector_settings(info);
  });
  // requests on the vector compare the rest
  agree_on_arguments(shared->comm(), info, error,
                     std::array{Alike{fingerprint(settings, where::vectors), other_settings},
                                Alike{static_cast<std::uint64_t>(settings.tune), other_settings}});
  std::unique_ptr<SharedVector> made;
  run_collectively(shared->comm(), [&] {
    made = by_fastest_route(shared, lists, settings);
    if (const auto repeat = find_repeat(made->pattern().ghost_places))
      made->forbid_forward(repeated_ghost(*repeat, made->context().rank()));
  });
  return made;
}

}  // namespace tonari
