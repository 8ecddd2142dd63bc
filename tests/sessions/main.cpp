// SPDX-License-Identifier: BSD-3-Clause
// A program with sessions and without MPI_Init. It says what it does:
//   tonari [SESSIONS]  exchanges of every kind, in so many sessions one after the other
//   mpi                neighborhood collectives of the MPI
//   leak               the same, and nobody frees their communicator
#include <cstdio>
#include <cstdlib>
#include <string>

#include "sessions/exchanges.hpp"
#include "sessions/session.hpp"

using namespace sessions;

namespace {

void exchange(const std::string& how, MPI_Comm comm) {
  if (how != "tonari") return with_mpi(comm, how != "leak");
  with_tonari(comm);
  require(refuses_without_mpi(), "MPI_COMM_WORLD is taken without MPI_Init");
}

}  // namespace

int main(int argc, char** argv) {
  require(Session::supported(), "this MPI has no sessions");
  require(refuses_without_mpi(), "a communicator is taken before MPI runs");
  const std::string how = argc > 1 ? argv[1] : "tonari";
  const int count = argc > 2 ? std::atoi(argv[2]) : 1;
  for (int k = 0; k < count; ++k) {
    const Session session;
    MPI_Comm comm = session.comm();
    exchange(how, comm);
    MPI_Comm_free(&comm);
  }
  std::puts("all is right");
}
