// SPDX-License-Identifier: BSD-3-Clause
// Counting messages where they are sent.
#pragma once

#include <mpi.h>

#include <functional>

namespace bench {

struct Sent {
  long others = 0;      // to other ranks
  long self = 0;        // to the rank itself
  long long bytes = 0;  // of both; only where calls are counted
};

// Counts the point-to-point sends this process makes while `exchange` runs, by wrappers around
// MPI's functions (MPI 4.1, chapter 15). Sends to MPI_PROC_NULL are none. What collectives send
// inside of MPI is not seen.
Sent count_calls(const std::function<void()>& exchange);

// Counts what leaves MPI itself, so that messages inside of its collectives are seen
// (wire_<mpi>.cpp says how).
class Wire {
 public:
  // [collective] tries it with messages whose number is known
  explicit Wire(MPI_Comm comm);
  bool sees_others() const { return others_; }  // messages to other ranks
  bool sees_self() const { return self_; }      // messages of a rank to itself
  // the two kinds; otherwise all are counted as sent to others
  bool tells_apart() const { return apart_; }
  Sent count(const std::function<void()>& exchange) const;

 private:
  bool others_ = false;
  bool self_ = false;
  bool apart_ = false;
};

}  // namespace bench
