// tonari's exchanges in place.
#include <string>

#include "keys.hpp"
#include "planners/in_place/exchange.hpp"

namespace bench::inplace {

namespace {

tonari_request prepare(const Candidate& candidate, Workload& work) {
  const bool general = candidate.algorithm == "general";
  const Keys keys{{"tonari_algorithm", general ? "auto" : candidate.algorithm},
                  {"tonari_channel", candidate.channel},
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

class Tonari : public Exchange {
 public:
  explicit Tonari(tonari_request request) : request_(request) {
    check(tonari_request_get_info(request_, &info_));
  }
  ~Tonari() override { tonari_request_free(&request_); }
  bool run() override {
    check(tonari_start(request_));
    check(tonari_wait(request_));
    return true;
  }
  std::string channel() const override { return info_.channel; }
  std::string chosen() const override { return info_.algorithm; }

 private:
  tonari_request request_;
  tonari_request_info info_{};
};

}  // namespace

std::unique_ptr<Exchange> make_tonari(const Candidate& candidate, Workload& work) {
  return std::make_unique<Tonari>(prepare(candidate, work));
}

}  // namespace bench::inplace
