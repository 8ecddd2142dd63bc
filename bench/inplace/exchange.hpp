// SPDX-License-Identifier: BSD-3-Clause
// What is compared: every way to do the same exchange behind one face.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "harness.hpp"
#include "inplace/workload.hpp"

namespace bench::inplace {

// What is asked for. MPI's own ways have neither budget nor channel.
struct Candidate {
  std::string algorithm;
  std::optional<long long> budget{};
  std::string requested_channel = "mpi";
};

class Exchange : public Way {
 public:
  bool worked() const { return worked_; }  // MPI did not say that the last run failed
  virtual const Word* result(const Workload& work) const { return work.data(); }
  virtual bool in_place() const { return true; }

 protected:
  bool worked_ = true;
};

const std::vector<std::string>& known_algorithms();

// [collective] The exchange of the workload's blocks; comparators on a communicator that returns
// errors. Throws tonari::Error on every rank alike.
std::unique_ptr<Exchange> make_exchange(const Candidate& candidate, Workload& work,
                                        MPI_Comm returning);
std::unique_ptr<Exchange> make_comparator(const std::string& algorithm, Workload& work,
                                          MPI_Comm returning);
std::unique_ptr<Exchange> make_tonari(const Candidate& candidate, Workload& work);

}  // namespace bench::inplace
