// SPDX-License-Identifier: BSD-3-Clause
// MPI's own ways.
#include "inplace/exchange.hpp"

namespace bench::inplace {

namespace {

class OutOfPlace : public Exchange {
 public:
  OutOfPlace(Workload& work, MPI_Comm comm) : work_(work), comm_(comm), target_(work.spare()) {}
  void run() override {
    worked_ = MPI_Alltoallv(work_.data(), work_.send.counts.data(), work_.send.offsets.data(),
                            MPI_UINT64_T, target_.get(), work_.recv.counts.data(),
                            work_.recv.offsets.data(), MPI_UINT64_T, comm_) == MPI_SUCCESS;
  }
  const Word* result(const Workload&) const override { return target_.get(); }
  bool in_place() const override { return false; }

 private:
  Workload& work_;
  MPI_Comm comm_;
  std::shared_ptr<Word[]> target_;
};

class NativeInPlace : public Exchange {
 public:
  NativeInPlace(Workload& work, MPI_Comm comm) : work_(work), comm_(comm) {}
  void run() override {
    worked_ = MPI_Alltoallv(MPI_IN_PLACE, nullptr, nullptr, MPI_DATATYPE_NULL, work_.data(),
                            work_.recv.counts.data(), work_.recv.offsets.data(), MPI_UINT64_T,
                            comm_) == MPI_SUCCESS;
  }

 private:
  Workload& work_;
  MPI_Comm comm_;
};

// Hofmann and Ruenger 2013, Fig. 3: the linear shift as the paper runs it, one MPI_Sendrecv_replace
// after the other.
class SendrecvReplace : public Exchange {
 public:
  SendrecvReplace(Workload& work, MPI_Comm comm) : work_(work), comm_(comm) {}
  void run() override {
    worked_ = true;
    for (int i = 0; i < work_.ranks; ++i) {
      const int j = (i - work_.rank + work_.ranks) % work_.ranks;
      if (j != work_.rank) worked_ = swap_with(j) && worked_;
    }
  }

 private:
  bool swap_with(int j) {
    return MPI_Sendrecv_replace(work_.data() + work_.send.offsets[j], work_.send.counts[j],
                                MPI_UINT64_T, j, 0, j, 0, comm_, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  }
  Workload& work_;
  MPI_Comm comm_;
};

}  // namespace

std::unique_ptr<Exchange> make_comparator(const std::string& algorithm, Workload& work,
                                          MPI_Comm returning) {
  if (algorithm == "native-out-of-place") return std::make_unique<OutOfPlace>(work, returning);
  if (algorithm == "native-inplace") return std::make_unique<NativeInPlace>(work, returning);
  return std::make_unique<SendrecvReplace>(work, returning);
}

}  // namespace bench::inplace
