// SPDX-License-Identifier: BSD-3-Clause
// Ways to move packed values between ranks: what every comparator and tonari's alltoallv share.
// Packing and adding is around them (exchanges.cpp, products.cpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "harness.hpp"
#include "spmv/share.hpp"

namespace bench::spmv {

class Mover : public Way {
 public:
  virtual void start() = 0;
  virtual void wait() = 0;
  void run() override {
    start();
    wait();
  }
};

// A mover with what goes on around it: `run` gets it.
template <class Run>
class Moved : public Way {
 public:
  Moved(std::unique_ptr<Mover> mover, Run run) : mover_(std::move(mover)), run_(std::move(run)) {}
  void run() override { run_(*mover_); }
  std::string chosen() const override { return mover_->chosen(); }
  bool ours() const override { return mover_->ours(); }
  bool inside_mpi() const override { return mover_->inside_mpi(); }

 private:
  std::unique_ptr<Mover> mover_;
  Run run_;
};

// Null without a mover.
template <class Run>
std::unique_ptr<Way> moved(std::unique_ptr<Mover> mover, Run run) {
  if (!mover) return nullptr;
  return std::make_unique<Moved<Run>>(std::move(mover), std::move(run));
}

// From where to where; all of doubles.
struct Move {
  MPI_Comm comm;
  const Blocks& out;
  const double* send;
  const Blocks& in;
  double* recv;
};

// [collective] Null: not in this MPI, or the algorithm does not apply here. Throws tonari::Error on
// every rank alike.
std::unique_ptr<Mover> make_mover(const std::string& name, const std::string& tune,
                                  const Move& move);

// Which there are.
const std::vector<std::string>& native_names();
const std::vector<std::string>& irecv_names();
const std::vector<std::string>& algorithm_names();  // auto, and tonari's for graphs

}  // namespace bench::spmv
