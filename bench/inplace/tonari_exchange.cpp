// tonari's exchanges in place.
#include <string>

#include "inplace/exchange.hpp"
#include "tonari_way.hpp"

namespace bench::inplace {

namespace {

tonari_request prepare(const Candidate& candidate, Workload& work) {
  const bool general = candidate.algorithm == "general";
  const Keys keys{{"tonari_algorithm", general ? "auto" : candidate.algorithm},
                  {"tonari_channel", candidate.requested_channel},
                  {"tonari_inplace_memory", std::to_string(candidate.budget.value_or(0))}};
  tonari_request request = TONARI_REQUEST_NULL;
  const int* const counts = work.send.counts.data();
  const MPI_Aint* const offsets = work.send.wide_offsets.data();
  if (general)
    check(tonari_alltoallv_inplace_general_init(
        work.data(), counts, offsets, work.recv.counts.data(), work.recv.wide_offsets.data(),
        MPI_UINT64_T, work.comm, keys.get(), &request));
  else
    check(tonari_alltoallv_inplace_init(work.data(), counts, offsets, MPI_UINT64_T, work.comm,
                                        keys.get(), &request));
  return request;
}

class Tonari : public TonariWay<Exchange> {
 public:
  using TonariWay::TonariWay;
  std::string chosen() const override { return info_.algorithm; }
};

}  // namespace

std::unique_ptr<Exchange> make_tonari(const Candidate& candidate, Workload& work) {
  return std::make_unique<Tonari>(prepare(candidate, work));
}

}  // namespace bench::inplace
