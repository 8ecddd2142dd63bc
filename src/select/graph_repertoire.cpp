#include "select/graph_repertoire.hpp"

#include <cmath>

#include "base/error.hpp"
#include "base/hash.hpp"
#include "planners/registry.hpp"

namespace tonari {
namespace {

class GraphScheme final : public Scheme {
 public:
  GraphScheme(const char* algorithm, GraphWay& way, const Vertex& vertex, Collective collective,
              const Traffic& traffic, std::uint64_t likeness)
      : Scheme(algorithm, way.variant),
        vertex_(vertex),
        collective_(collective),
        relay_(std::move(way.relays.front())),
        ports_(way.ports),
        traffic_(traffic),
        likeness_(likeness) {}

  std::size_t rounds() const override {
    return static_cast<std::size_t>(ports_ > 0 ? traffic_.stages
                                               : std::max(traffic_.most_out, traffic_.most_in));
  }
  std::size_t messages() const override { return static_cast<std::size_t>(traffic_.most_out); }
  std::size_t hops() const override { return static_cast<std::size_t>(traffic_.most_blocks_out); }
  std::size_t tags() const override { return static_cast<std::size_t>(traffic_.stages); }
  std::uint64_t likeness() const override { return likeness_; }

  Plan plan(int rank, EmitOptions options) const override {
    if (rank != vertex_.rank)
      fail(Errc::internal, "rank ", vertex_.rank, " was asked for the plan of rank ", rank);
    return emit(vertex_, collective_, relay_, options.ports > 0 ? options.ports : ports_);
  }

  // From the busiest rank's messages and blocks, and the longest way: no rank knows all plans.
  double price(const Sizes& sizes, const LogGP& m, ChannelCost channel) const override {
    const auto out = static_cast<double>(traffic_.most_out),
               in = static_cast<double>(traffic_.most_in);
    if (traffic_.messages == 0) return 0;
    const auto blocks = static_cast<double>(traffic_.most_blocks_out + traffic_.most_blocks_in);
    const double message = sizes.average * static_cast<double>(traffic_.blocks) /
                           static_cast<double>(traffic_.messages);
    const double segments =
        channel.segment > 0
            ? std::max(1.0, std::ceil(message / static_cast<double>(channel.segment)))
            : 1;
    const bool combined = traffic_.blocks > traffic_.messages;
    double processor = (out + in) * segments * m.o;
    if (channel.typed)
      processor += combined ? blocks * m.typed_block : 0;
    else if (combined)
      processor += blocks * (m.copy_block + sizes.average * m.copy_byte);
    const double busiest =
        static_cast<double>(std::max(traffic_.most_blocks_out, traffic_.most_blocks_in)) *
        sizes.average;
    const double network = std::max(out, in) * segments * m.g + busiest * m.G;
    const bool waits = message / segments > static_cast<double>(m.eager);
    return std::max(processor, network) +
           static_cast<double>(traffic_.stages) * (m.L + (waits ? m.rendezvous : 0));
  }

 private:
  const Vertex& vertex_;
  Collective collective_;
  Relay relay_;
  int ports_;
  Traffic traffic_;
  std::uint64_t likeness_;
};

// Equal only if all ranks have the same hops in the same order: where a planner finds nothing to
// do, it does what linear does. Collective.
std::uint64_t likeness_of(World& world, const GraphWay& way, std::int32_t rank) {
  Hash hash;
  hash.word(rank).word(way.ports);
  for (const std::vector<Hop>* hops : {&way.relays.front().out, &way.relays.front().in}) {
    hash.word(hops->size());
    for (const Hop& hop : *hops)
      hash.word(hop.stage).word(hop.peer).word(hop.block.origin).word(hop.block.block);
  }
  // room for the sum of many
  return static_cast<std::uint64_t>(world.sum(static_cast<Word>(hash.value() >> 24)));
}

}  // namespace

std::vector<std::string> GraphRepertoire::algorithms() const {
  return algorithm_names(AppliesTo::graphs);
}

GraphRepertoire::Planned GraphRepertoire::plan(const GraphPlanner& algorithm,
                                               const GraphTask& task) {
  Planned planned;
  planned.reason = algorithm.applicable(facts_, task);
  if (!planned.reason.empty()) return planned;
  for (GraphWay& way : algorithm.ways(world_, std::span(&vertex_, 1), facts_, task)) {
    const Traffic traffic = gather_traffic(world_, way);
    const std::uint64_t likeness = likeness_of(world_, way, vertex_.rank);
    planned.schemes.push_back(std::make_shared<const GraphScheme>(
        algorithm.name, way, vertex_, task.collective, traffic, likeness));
  }
  return planned;
}

std::vector<SchemePtr> GraphRepertoire::schemes(const std::string& algorithm, Collective collective,
                                                double block_bytes, std::string& reason) {
  const GraphPlanner& found = find_graph_planner(algorithm);
  const int size_class =
      block_bytes < 1 ? 0 : 1 + static_cast<int>(std::lround(2 * std::log2(block_bytes)));
  const Question key(algorithm, collective, size_class);
  auto known = planned_.find(key);
  if (known == planned_.end()) {
    // linear looks at no machine: it must not be the reason to measure one
    const GraphTask task{collective, block_bytes, algorithm == "linear" ? LogGP{} : machine_()};
    std::map<Question, Planned> fresh;
    world_.together([&] { fresh.emplace(key, plan(found, task)); });
    planned_.merge(fresh);  // by all ranks or by none: it decides who plans with the others
    known = planned_.find(key);
  }
  reason = known->second.reason;
  return known->second.schemes;
}

}  // namespace tonari
