#include "inplace/exchange.hpp"

namespace bench::inplace {

const std::vector<std::string>& known_algorithms() {
  static const std::vector<std::string> all{
      "native-out-of-place", "native-inplace", "sendrecv-replace", "auto",
      "mpich-order",         "linear-shift",   "hierarchical-sets"};
  return all;
}

std::unique_ptr<Exchange> make_exchange(const Candidate& candidate, Workload& work,
                                        MPI_Comm returning) {
  return candidate.budget ? make_tonari(candidate, work)
                          : make_comparator(candidate.algorithm, work, returning);
}

}  // namespace bench::inplace
