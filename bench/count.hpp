// Counting messages where they are sent.
#pragma once

#include <mpi.h>

#include <functional>
#include <optional>

namespace bench {

struct Sent {
  long others = 0;  // to other ranks
  long self = 0;    // to the rank itself
};

// Counts the point-to-point sends this process makes while `exchange` runs, by wrappers around MPI's functions (MPI 4.1, chapter 15). Sends to
// MPI_PROC_NULL are none. What collectives send inside of MPI is not seen.
Sent count_calls(const std::function<void()>& exchange);

// Counts what leaves MPI itself, so that messages inside of its collectives are seen: in Open MPI by its monitoring layer, which must have been
// switched on for the whole run (OMPI_MCA_pml_monitoring_enable=1); in MPICH over UCX by standing in front of UCX's send.
class Wire {
 public:
  explicit Wire(MPI_Comm comm);  // [collective] tries it with messages whose number is known
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;
  bool sees_others() const { return others_; }
  bool sees_self() const { return self_; }
  Sent count(const std::function<void()>& exchange) const;  // meaningful only where it sees

 private:
  Sent read() const;

  int rank_ = 0;
  bool others_ = false;
  bool self_ = false;
  struct Source;
  Source* source_ = nullptr;
};

}  // namespace bench
