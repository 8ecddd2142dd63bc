// SPDX-License-Identifier: BSD-3-Clause
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
  std::string chosen() const override { return info().algorithm; }
};

// tonari's blocking call.
class OneShot : public Exchange {
 public:
  OneShot(const Candidate& candidate, Workload& work)
      : work_(work),
        channel_(candidate.requested_channel),
        keys_{{"tonari_channel", channel_},
              {"tonari_inplace_memory", std::to_string(candidate.budget.value_or(0))}} {}
  void run() override {
    check(tonari_alltoallv_inplace(work_.data(), work_.send.counts.data(),
                                   work_.send.wide_offsets.data(), MPI_UINT64_T, work_.comm,
                                   keys_.get()));
  }
  std::string channel() const override { return channel_; }
  bool ours() const override { return true; }

 private:
  Workload& work_;
  std::string channel_;
  Keys keys_;
};

}  // namespace

std::unique_ptr<Exchange> make_tonari(const Candidate& candidate, Workload& work) {
  if (candidate.algorithm == "one-shot") return std::make_unique<OneShot>(candidate, work);
  return std::make_unique<Tonari>(prepare(candidate, work));
}

}  // namespace bench::inplace
