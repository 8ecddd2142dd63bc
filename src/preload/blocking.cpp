// SPDX-License-Identifier: BSD-3-Clause
// The blocking neighborhood collectives: each goes through tonari or to the MPI.
#include "preload/call.hpp"
#include "preload/operations.hpp"
#include "preload/progress.hpp"
#include "preload/raise.hpp"
#include "preload/sites.hpp"

namespace tonari::preload {
namespace {

// One call of the program.
template <class Arguments, class Function>
class BlockingCall {
 public:
  BlockingCall(const Caller& caller, Function* real, const Arguments& arguments)
      : caller_(caller), real_(real), arguments_(arguments) {}

  int run() {
    if (caller_.steps_aside()) return native();
    const double begin = recording() ? now() : 0.0;
    Communicator& state = state_of(comm());
    Choice& choice = state.choice(Arguments::kind);
    if (choice.ready()) compare(comm(), state, choice);
    if (choice.tries() || recording()) [[unlikely]]
      return timed(state, choice, begin);
    return choice.next() == Way::tonari ? ours(state) : native();
  }

 private:
  MPI_Comm comm() const { return caller_.communicator(); }
  int native() const { return arguments_.native(real_, caller_.comm); }

  int timed(Communicator& state, Choice& choice, double called) {
    const bool tries = choice.tries(), first = !state.called;
    const Way way = choice.next();
    const double begin = now();
    const int rc = way == Way::tonari ? ours(state) : native();
    const double end = now();
    if (choice.tries()) choice.took(way, end - begin);
    state.called = true;
    if (recording())
      record_call({caller_.name, caller_.site, static_cast<int>(way), first,
                   arguments_.bytes(state), end - (first ? called : begin),
                   tries ? "trial" : state.why});
    return rc;
  }

  int ours(Communicator& state) {
    const int code = [&] {
      const InTonari now;
      return arguments_.exchange(state);
    }();
    if (code != TONARI_SUCCESS) [[unlikely]]
      return failed(state, code);
    state.connected = true;
    return MPI_SUCCESS;
  }

  // All ranks know of an error of the first exchange, since it is collective.
  int failed(Communicator& state, int code) {
    if (state.connected) return raise(comm(), code);
    give_up(state, "its first exchange failed");
    return native();
  }

  Caller caller_;
  Function* real_;
  const Arguments& arguments_;
};

}  // namespace
}  // namespace tonari::preload

using namespace tonari::preload;

// The body of one function: NAME is MPI's, OURS that in C++; what follows are its arguments without
// the communicator.
#define TONARI_BLOCKING(NAME, OURS, ARGUMENTS, ...)                       \
  {                                                                       \
    static auto* const real = behind<decltype(OURS)>("PMPI_" #NAME);      \
    const ARGUMENTS arguments{__VA_ARGS__};                               \
    const Caller caller{"MPI_" #NAME, __builtin_return_address(0), comm}; \
    return BlockingCall(caller, real, arguments).run();                   \
  }                                                                       \
  TONARI_ALSO_FOR_FORTRAN(NAME, OURS)

TONARI_IN_FRONT_OF(Neighbor_alltoall, neighbor_alltoall, const void* sendbuf, int sendcount,
                   Handle sendtype, void* recvbuf, int recvcount, Handle recvtype, Handle comm)
int neighbor_alltoall(const void* sendbuf, int sendcount, Handle sendtype, void* recvbuf,
                      int recvcount, Handle recvtype,
                      Handle comm) TONARI_BLOCKING(Neighbor_alltoall, neighbor_alltoall, Alltoall,
                                                   sendbuf, sendcount, sendtype, recvbuf, recvcount,
                                                   recvtype)

    TONARI_IN_FRONT_OF(Neighbor_alltoallv, neighbor_alltoallv, const void* sendbuf,
                       const int sendcounts[], const int sdispls[], Handle sendtype, void* recvbuf,
                       const int recvcounts[], const int rdispls[], Handle recvtype,
                       Handle comm) int neighbor_alltoallv(const void* sendbuf,
                                                           const int sendcounts[],
                                                           const int sdispls[], Handle sendtype,
                                                           void* recvbuf, const int recvcounts[],
                                                           const int rdispls[], Handle recvtype,
                                                           Handle comm)
        TONARI_BLOCKING(Neighbor_alltoallv, neighbor_alltoallv, Alltoallv, sendbuf, sendcounts,
                        sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype)

            TONARI_IN_FRONT_OF(
                Neighbor_alltoallw, neighbor_alltoallw, const void* sendbuf, const int sendcounts[],
                const MPI_Aint sdispls[], const void* sendtypes, void* recvbuf,
                const int recvcounts[], const MPI_Aint rdispls[], const void* recvtypes,
                Handle comm) int neighbor_alltoallw(const void* sendbuf, const int sendcounts[],
                                                    const MPI_Aint sdispls[], const void* sendtypes,
                                                    void* recvbuf, const int recvcounts[],
                                                    const MPI_Aint rdispls[], const void* recvtypes,
                                                    Handle comm)
                TONARI_BLOCKING(Neighbor_alltoallw, neighbor_alltoallw, Alltoallw, sendbuf,
                                sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls,
                                recvtypes)

                    TONARI_IN_FRONT_OF(
                        Neighbor_allgather, neighbor_allgather, const void* sendbuf, int sendcount,
                        Handle sendtype, void* recvbuf, int recvcount, Handle recvtype,
                        Handle comm) int neighbor_allgather(const void* sendbuf, int sendcount,
                                                            Handle sendtype, void* recvbuf,
                                                            int recvcount, Handle recvtype,
                                                            Handle comm)
                        TONARI_BLOCKING(Neighbor_allgather, neighbor_allgather, Allgather, sendbuf,
                                        sendcount, sendtype, recvbuf, recvcount, recvtype)

                            TONARI_IN_FRONT_OF(
                                Neighbor_allgatherv, neighbor_allgatherv, const void* sendbuf,
                                int sendcount, Handle sendtype, void* recvbuf,
                                const int recvcounts[], const int displs[], Handle recvtype,
                                Handle comm) int neighbor_allgatherv(const void* sendbuf,
                                                                     int sendcount, Handle sendtype,
                                                                     void* recvbuf,
                                                                     const int recvcounts[],
                                                                     const int displs[],
                                                                     Handle recvtype, Handle comm)
                                TONARI_BLOCKING(Neighbor_allgatherv, neighbor_allgatherv,
                                                Allgatherv, sendbuf, sendcount, sendtype, recvbuf,
                                                recvcounts, displs, recvtype)
