// SPDX-License-Identifier: BSD-3-Clause
// A request of tonari's for a workload.
#pragma once

#include <cstring>
#include <string>

#include "candidate.hpp"
#include "tonari_way.hpp"

namespace bench {

// Algorithm, variant and channel.
inline std::string label(const tonari_request_info& info) {
  std::string label = info.algorithm;
  if (std::strlen(info.variant)) label += std::string("/") + info.variant;
  label += std::string("/") + info.channel;
  return std::strlen(info.channel_detail) ? label + "/" + info.channel_detail : label;
}

class TonariCandidate : public TonariWay<Candidate> {
 public:
  using TonariWay::TonariWay;
  std::string chosen() const override { return label(info()); }
  std::string reason() const override { return info().reason; }
  double predicted() const override { return info().predicted_seconds; }
  bool inside_mpi() const override { return std::strcmp(info().channel, "mpi") == 0; }
  bool ours() const override { return !inside_mpi(); }
};

}  // namespace bench
