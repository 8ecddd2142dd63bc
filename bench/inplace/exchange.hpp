// What is compared: every way to do the same exchange behind one face.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planners/in_place/workload.hpp"

namespace bench::inplace {

// What is asked for. MPI's own ways have neither budget nor channel.
struct Candidate {
  std::string algorithm;
  std::optional<long long> budget{};
  std::string channel = "mpi";
};

class Exchange {
 public:
  virtual ~Exchange() = default;
  virtual bool run() = 0;  // the whole exchange; false if MPI says that it failed
  virtual const Word* result(const Workload& work) const { return work.data(); }
  virtual bool in_place() const { return true; }
  virtual std::string channel() const { return "mpi"; }
  virtual std::string chosen() const { return ""; }  // by auto
};

const std::vector<std::string>& known_algorithms();
bool is_ours(const Candidate& candidate);

// [collective] The exchange of the workload's blocks; comparators on a communicator that returns
// errors. Throws tonari::Error on every rank alike.
std::unique_ptr<Exchange> make_exchange(const Candidate& candidate, Workload& work,
                                        MPI_Comm returning);
std::unique_ptr<Exchange> make_comparator(const std::string& algorithm, Workload& work,
                                          MPI_Comm returning);
std::unique_ptr<Exchange> make_tonari(const Candidate& candidate, Workload& work);

}  // namespace bench::inplace
