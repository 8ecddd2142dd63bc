#include "engine/passing.hpp"

#include <algorithm>
#include <map>

#include "channels/mpi_error.hpp"
#include "channels/p2p.hpp"
#include "engine/agree.hpp"
#include "engine/plan_exchange.hpp"

namespace tonari {
namespace {

using Passing = std::shared_ptr<const std::vector<Bytes>>;

std::vector<Block> blocks_of_eight(std::uint64_t* words, std::size_t count) {
  std::vector<Block> blocks;
  for (std::size_t k = 0; k < count; ++k) blocks.push_back({reinterpret_cast<std::byte*>(words + k), nullptr, 8});
  return blocks;
}

// Sends the size of every block along with the plan, all scratch blocks being receive blocks, where they stay.
std::vector<Bytes> run_with_sizes(Context& context, const Scheme& scheme, const Settings& settings, const Binding& binding) {
  std::vector<std::uint64_t> mine, theirs;
  std::unique_ptr<Exchange> exchange;
  context.reserve_tags(scheme.tags());
  together(context.comm(), [&] {
    const Plan plan = scheme.plan(context.rank(), {Storage::separate, settings.ports});
    for (const Block& b : binding.send) mine.push_back(b.bytes);
    theirs.resize(binding.recv.size() + plan.scratch_like().size());
    Binding sizes;
    sizes.send = blocks_of_eight(mine.data(), mine.size());
    sizes.recv = blocks_of_eight(theirs.data(), theirs.size());
    P2pProgram program = compile_packed(plan.with_scratch_received(static_cast<std::uint32_t>(binding.recv.size())), sizes, 0);
    exchange = std::make_unique<PlanExchange>(plan, std::move(program), context.shared_comm(), PlanExchange::Options{context.first_tag(), false});
  });
  exchange->start();
  exchange->wait();
  check_mpi(MPI_Barrier(context.comm()), "MPI_Barrier");  // the tags are free again
  return {theirs.begin() + static_cast<std::ptrdiff_t>(binding.recv.size()), theirs.end()};
}

bool any_rank(Context& context, bool mine) {
  int any = mine;
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, context.comm()), "MPI_Allreduce");
  return any;
}

Passing learn(Context& context, const Scheme& scheme, const Problem& problem, const Settings& settings, const Binding& binding) {
  const Plan plan = scheme.plan(context.rank(), {Storage::separate, settings.ports});
  const auto like = plan.scratch_like();
  const bool is_foreign = std::find(like.begin(), like.end(), foreign) != like.end();
  if (!problem.sizes.bytes.empty())
    return is_foreign ? std::make_shared<const std::vector<Bytes>>(like.size(), problem.sizes.bytes.front()) : nullptr;
  if (!any_rank(context, !like.empty())) return nullptr;
  return std::make_shared<const std::vector<Bytes>>(run_with_sizes(context, scheme, settings, binding));
}

}  // namespace

void learn_passing(Context& context, std::vector<Candidate>& candidates, const Problem& problem, const Settings& settings, const Binding& binding) {
  std::map<std::tuple<std::string, std::string, int>, Passing> now;
  auto& learnt = context.exact_sizes() ? context.exact_sizes()->of(problem.collective).passing : now;  // the sizes will be the same again
  for (Candidate& c : candidates) {
    if (!c.scheme || c.passing) continue;
    const auto [entry, fresh] = learnt.try_emplace({c.algorithm(), c.variant(), settings.ports});
    if (fresh) entry->second = learn(context, *c.scheme, problem, settings, binding);
    c.passing = entry->second;
  }
}

Plan plan_of(const Candidate& candidate, const Settings& settings, int rank) {
  // In turns in receive blocks and scratch only where blocks that meet there have one size.
  const bool alternate = candidate.channel.via == Via::typed && !candidate.passing;
  return candidate.scheme->plan(rank, {alternate ? Storage::alternate : Storage::separate, settings.ports});
}

}  // namespace tonari
