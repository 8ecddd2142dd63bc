// SPDX-License-Identifier: BSD-3-Clause
#include "engine/run/forwarded_sizes.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "channels/p2p/program.hpp"
#include "engine/run/plan_exchange.hpp"
#include "engine/wait/agree.hpp"
#include "planners/graphs/graph_planner.hpp"

namespace tonari {
namespace {

using Forwarded = std::shared_ptr<const std::vector<Bytes>>;
using Key = std::tuple<std::string, std::string, int>;  // as in ExactSizes

std::vector<Block> blocks_of_eight(std::uint64_t* words, std::size_t count) {
  std::vector<Block> blocks;
  for (std::size_t k = 0; k < count; ++k)
    blocks.push_back({reinterpret_cast<std::byte*>(words + k), nullptr, 8});
  return blocks;
}

// Sends the size of every block along the plan. Scratch blocks become receive blocks, so that their
// sizes stay there.
std::vector<Bytes> run_with_sizes(Context& context, const Variant& variant,
                                  const Settings& settings, const Binding& binding) {
  std::vector<std::uint64_t> mine, theirs;
  std::unique_ptr<Exchange> exchange;
  context.reserve_tags(variant.tags());
  run_collectively(context.comm(), [&] {
    const Plan plan = variant.plan(context.rank(), {Storage::separate, settings.ports});
    for (const Block& b : binding.send) mine.push_back(b.bytes);
    theirs.resize(binding.recv.size() + plan.scratch_like().size());
    Binding sizes;
    sizes.send = blocks_of_eight(mine.data(), mine.size());
    sizes.recv = blocks_of_eight(theirs.data(), theirs.size());
    P2pProgram program = compile_packed(
        plan.with_scratch_received(static_cast<std::uint32_t>(binding.recv.size())), sizes, {});
    exchange = std::make_unique<PlanExchange>(plan, std::move(program), context.shared_comm(),
                                              PlanExchange::Options{context.first_tag(), false});
  });
  exchange->start();
  exchange->wait();
  stay_together(context.comm());  // the tags are free again
  return {theirs.begin() + static_cast<std::ptrdiff_t>(binding.recv.size()), theirs.end()};
}

// A variant with unknown sizes, and its scratch blocks.
struct Unknown {
  Key key;
  const Variant* variant;
  std::vector<std::uint32_t> like = {};  // on this rank
  bool anywhere = false;                 // whether any rank has scratch blocks
};

// Every rank makes its own plans.
void look_at_plans(const Context& context, std::vector<Unknown>& variants,
                   const Settings& settings) {
  for (Unknown& unknown : variants) {
    const Plan plan = unknown.variant->plan(context.rank(), {Storage::separate, settings.ports});
    unknown.like.assign(plan.scratch_like().begin(), plan.scratch_like().end());
  }
}

// Collective: the same, and finds out who has scratch blocks. If a rank cannot, all throw.
void look_everywhere(const Context& context, std::vector<Unknown>& variants,
                     const Settings& settings) {
  std::vector<Ballot> some(variants.size(), 0);
  const std::optional<Error> error = error_of([&] {
    look_at_plans(context, variants, settings);
    for (std::size_t k = 0; k < variants.size(); ++k) some[k] = !variants[k].like.empty();
  });
  const std::vector<bool> same = agree(context.comm(), error, some);
  for (std::size_t k = 0; k < variants.size(); ++k)
    variants[k].anywhere = some[k].value || !same[k];
}

// The sizes that all ranks have by the numbers of blocks tell those of scratch blocks. A variant by
// hops does not say which numbers wait where: then all must be alike.
bool follow_from_numbers(const Unknown& unknown, const std::vector<Bytes>& bytes) {
  if (bytes.empty()) return false;
  return !dynamic_cast<const GraphVariant*>(unknown.variant) ||
         std::ranges::adjacent_find(bytes, std::not_equal_to()) == bytes.end();
}

Forwarded learn(Context& context, const Unknown& unknown, const Problem& problem,
                const Settings& settings, const Binding& binding) {
  const std::vector<std::uint32_t>& like = unknown.like;
  if (follow_from_numbers(unknown, problem.sizes.bytes)) {
    const bool is_foreign = std::find(like.begin(), like.end(), foreign) != like.end();
    return is_foreign ? std::make_shared<const std::vector<Bytes>>(like.size(),
                                                                   problem.sizes.bytes.front())
                      : nullptr;
  }
  if (!unknown.anywhere) return nullptr;
  return std::make_shared<const std::vector<Bytes>>(
      run_with_sizes(context, *unknown.variant, settings, binding));
}

}  // namespace

void exchange_forwarded_sizes(Context& context, std::vector<Candidate>& candidates,
                              const Problem& problem, const Settings& settings,
                              const Binding& binding) {
  std::map<Key, Forwarded> now, fresh;
  // later calls would learn the same sizes
  auto& learned =
      context.exact_sizes() ? context.exact_sizes()->of(problem.collective).forwarded : now;
  const auto key = [&](const Candidate& c) {
    return Key{c.algorithm(), c.variant(), settings.ports};
  };
  const auto asked = [](const Candidate& c) { return c.planned && !c.sizes_known; };
  std::vector<Unknown> unknown;
  for (const Candidate& c : candidates)
    if (asked(c) && !learned.contains(key(c)) &&
        std::none_of(unknown.begin(), unknown.end(),
                     [&](const Unknown& u) { return u.key == key(c); }))
      unknown.push_back({key(c), c.planned.get()});
  // where all blocks have known sizes nobody needs to ask
  if (std::ranges::all_of(
          unknown, [&](const Unknown& u) { return follow_from_numbers(u, problem.sizes.bytes); }))
    look_at_plans(context, unknown, settings);
  else
    look_everywhere(context, unknown, settings);
  for (const Unknown& u : unknown)
    fresh.emplace(u.key, learn(context, u, problem, settings, binding));
  // on all ranks or on none: it decides who asks the others
  if (!fresh.empty() && context.exact_sizes()) stay_together(context.comm());
  learned.merge(fresh);
  for (Candidate& c : candidates)
    if (asked(c)) {
      c.forwarded = learned.at(key(c));
      c.sizes_known = true;
    }
}

}  // namespace tonari
