// SPDX-License-Identifier: BSD-3-Clause
#include "inplace/exchange.hpp"

#include "planners/registry.hpp"

namespace bench::inplace {

const std::vector<std::string>& known_algorithms() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names{"native-out-of-place", "native-inplace", "sendrecv-replace",
                                   "auto", "one-shot"};
    for (std::string& order : tonari::algorithm_names(tonari::AppliesTo::in_place))
      names.push_back(std::move(order));
    return names;
  }();
  return all;
}

std::unique_ptr<Exchange> make_exchange(const Candidate& candidate, Workload& work,
                                        MPI_Comm returning) {
  return candidate.budget ? make_tonari(candidate, work)
                          : make_comparator(candidate.algorithm, work, returning);
}

}  // namespace bench::inplace
