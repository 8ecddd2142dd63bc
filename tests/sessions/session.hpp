// SPDX-License-Identifier: BSD-3-Clause
// A session of MPI 4 and its communicator, in a program that never calls MPI_Init. Functions are
// looked for when the program runs: headers older than the MPI do not have them.
#pragma once

#include <mpi.h>

#include <type_traits>

namespace sessions {

// Ends the program with this sentence unless `holds`.
void require(bool holds, const char* sentence);

class Session {
 public:
  static bool supported();  // by this MPI

  Session();
  ~Session();  // calls MPI_Session_finalize
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // Of all processes of the job. Collective; the caller frees it.
  MPI_Comm comm() const;

 private:
  // Open MPI's handles are pointers, and so are those of the standard ABI.
  std::conditional_t<std::is_integral_v<MPI_Comm>, MPI_Comm, void*> handle_{};
};

}  // namespace sessions
