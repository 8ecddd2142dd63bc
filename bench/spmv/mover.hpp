// Ways to move packed values between ranks: what every comparator and tonari's alltoallv share.
// Packing and adding is around them (exchange.cpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "spmv/share.hpp"

namespace bench::spmv {

class Mover {
 public:
  virtual ~Mover() = default;
  virtual void start() = 0;
  virtual void wait() = 0;
  virtual std::string chosen() const { return ""; }
  virtual bool ours() const { return false; }  // made by tonari
  // its messages are sent by MPI itself, where no wrapper sees them
  virtual bool inside_mpi() const { return false; }
};

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
