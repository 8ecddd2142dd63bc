// SPDX-License-Identifier: BSD-3-Clause
#include "select/scheduled_registry.hpp"

namespace tonari {

std::vector<std::string> ScheduledRegistry::algorithms() const {
  std::vector<std::string> all = inner_->algorithms();
  all.emplace_back(scheduled_name);
  return all;
}

std::vector<VariantPtr> ScheduledRegistry::variants(const std::string& algorithm,
                                                    Collective collective, double block_bytes,
                                                    const std::optional<std::string>& named,
                                                    std::string& reason) {
  if (algorithm != scheduled_name)
    return inner_->variants(algorithm, collective, block_bytes, named, reason);
  reason.clear();
  if (const auto known = planned_.find(collective); known != planned_.end()) return {known->second};
  std::map<Collective, VariantPtr> fresh;
  bsp_.run_collectively([&] {
    GraphVariant variant =
        scheduled_variant(bsp_, std::span(&vertex_, 1), std::span(&own_, 1), collective);
    variant.gather(bsp_);
    fresh.emplace(collective, std::make_shared<const GraphVariant>(std::move(variant)));
  });
  planned_.merge(fresh);
  return {planned_.at(collective)};
}

}  // namespace tonari
