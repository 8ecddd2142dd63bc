#include "select/routed_repertoire.hpp"

#include "base/hash.hpp"
#include "planners/registry.hpp"

namespace tonari {
namespace {

constexpr std::size_t most_simulated_hops = 40'000;  // above that the estimate has to do

// A rank in the middle of the grid stands for all.
int middle(const Grid& grid) {
  Vec position;
  for (int j = 0; j < grid.dimensions(); ++j) position[j] = grid.size(j) / 2;
  return grid.rank(position);
}

class RoutedScheme final : public Scheme {
 public:
  explicit RoutedScheme(Schedule schedule)
      : Scheme(schedule.algorithm(), schedule.variant()), schedule_(std::move(schedule)) {}

  std::size_t rounds() const override { return schedule_.rounds(); }
  std::size_t messages() const override { return schedule_.rounds(); }
  std::size_t hops() const override { return schedule_.hops(); }
  std::size_t tags() const override { return schedule_.rounds(); }
  // Equally many rounds and hops: on the usual patterns the same steps, or others that cost the
  // same.
  std::uint64_t likeness() const override {
    return Hash().word(schedule_.rounds()).word(schedule_.hops()).value();
  }
  Plan plan(int rank, EmitOptions options) const override { return schedule_.plan(rank, options); }

  double price(const Sizes& sizes, const LogGP& machine, ChannelCost channel) const override {
    if (schedule_.hops() > most_simulated_hops || sizes.bytes.empty())
      return estimate(schedule_, sizes.average, machine, channel);
    const Plan plan = schedule_.plan(middle(schedule_.near().grid), {Storage::separate, 0});
    const auto bytes = [&](Slice s) -> std::uint64_t {
      if (schedule_.collective() == Collective::allgather) return sizes.bytes[0];
      return sizes.bytes[s.buffer == Buffer::scratch ? plan.scratch_like()[s.block] : s.block];
    };
    return simulate(std::span(&plan, 1), bytes, machine, channel);
  }

 private:
  Schedule schedule_;
};

}  // namespace

std::vector<std::string> RoutedRepertoire::algorithms() const {
  return algorithm_names(AppliesTo::offsets);
}

std::vector<SchemePtr> RoutedRepertoire::schemes(const std::string& algorithm,
                                                 Collective collective, double,
                                                 std::string& reason) {
  const OffsetPlanner& found = find_offset_planner(algorithm);
  reason = found.applicable(*near_, collective);
  if (!reason.empty()) return {};
  const std::pair key(algorithm, collective);
  if (const auto known = planned_.find(key); known != planned_.end()) return known->second;
  std::vector<SchemePtr> all;
  for (Schedule& schedule : found.schedules(near_, collective))
    all.push_back(std::make_shared<const RoutedScheme>(std::move(schedule)));
  return planned_.emplace(key, std::move(all)).first->second;
}

}  // namespace tonari
