// SPDX-License-Identifier: BSD-3-Clause
// A candidate of a comparison: every way to do the same exchange has this interface.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness.hpp"
#include "workload.hpp"

namespace bench {

class Candidate : public Way {
 public:
  // Before and after an exchange that is verified; all ranks prepare at the same time.
  virtual void prepare(Workload& work) { work.poison(); }
  virtual bool correct(const Workload& work) const { return work.correct(); }
  virtual std::string reason() const { return ""; }  // of auto's choice
  virtual double predicted() const { return 0; }     // seconds; 0: the model was not asked
};

// Makes candidates of one pattern; owns what they share: the communicator with MPI's graph topology
// and tonari's neighborhood.
class Candidates {
 public:
  Candidates(const Place& place, const Options& options);  // [collective]
  ~Candidates();
  Candidates(const Candidates&) = delete;
  Candidates& operator=(const Candidates&) = delete;

  // [collective] Null if the candidate does not exist in this MPI or does not apply and was not
  // asked for by name. Throws tonari::Error on every rank alike.
  std::unique_ptr<Candidate> make(const std::string& name, const Workload& work);
  const std::vector<std::string>& names() const { return names_; }

 private:
  struct Shared;
  std::unique_ptr<Shared> shared_;
  std::vector<std::string> names_;
  bool by_name_;  // those that do not apply are errors
};

// The makers, one file each.
bool is_native(const std::string& name);
bool is_irecv(const std::string& name);
bool is_floor(const std::string& name);
// null: not in this MPI
std::unique_ptr<Candidate> make_native(const std::string& name, const Workload& work,
                                       MPI_Comm graph);
std::unique_ptr<Candidate> make_irecv(const std::string& name, const Workload& work);
// [collective] null: the ranks share no memory
std::unique_ptr<Candidate> make_floor(const Workload& work);

}  // namespace bench
