// SPDX-License-Identifier: BSD-3-Clause
// Fortran's names of what is watched. The MPI's bindings call the C functions, so these only tell
// from where the program calls: mpi_isend_ (mpif.h and module mpi), mpi_isend_f08_ and, with
// descriptors of arrays, mpi_isend_f08ts_ (module mpi_f08). All arguments are addresses.
#include "watch/watched_call.hpp"

namespace tonari::watch {
namespace {

class CalledFrom {
 public:
  explicit CalledFrom(const void* site) { fortran_site = site; }
  ~CalledFrom() { fortran_site = nullptr; }
  CalledFrom(const CalledFrom&) = delete;
  CalledFrom& operator=(const CalledFrom&) = delete;
};

}  // namespace
}  // namespace tonari::watch

using namespace tonari::watch;

#define TONARI_2(T) T a, T b
#define TONARI_3(T) TONARI_2(T), T c
#define TONARI_4(T) TONARI_3(T), T d
#define TONARI_5(T) TONARI_4(T), T e
#define TONARI_6(T) TONARI_5(T), T f
#define TONARI_7(T) TONARI_6(T), T g
#define TONARI_8(T) TONARI_7(T), T h
#define TONARI_10(T) TONARI_8(T), T i, T j
#define TONARI_13(T) TONARI_10(T), T k, T l, T m

#define TONARI_FORTRAN_AS(symbol, ours, count)                            \
  extern "C" TONARI_VISIBLE void ours(TONARI_##count(void*)) asm(symbol); \
  void ours(TONARI_##count(void*)) {                                      \
    static auto* const real = behind<decltype(ours)>(symbol);             \
    const CalledFrom now(__builtin_return_address(0));                    \
    real(TONARI_##count());                                               \
  }
#define TONARI_FORTRAN(name, count)                                 \
  TONARI_FORTRAN_AS("mpi_" #name "_", fortran_##name, count)        \
  TONARI_FORTRAN_AS("mpi_" #name "_f08_", fortran_08_##name, count) \
  TONARI_FORTRAN_AS("mpi_" #name "_f08ts_", fortran_08ts_##name, count)

TONARI_FORTRAN(send, 7)
TONARI_FORTRAN(ssend, 7)
TONARI_FORTRAN(rsend, 7)
TONARI_FORTRAN(bsend, 7)
TONARI_FORTRAN(isend, 8)
TONARI_FORTRAN(issend, 8)
TONARI_FORTRAN(irsend, 8)
TONARI_FORTRAN(ibsend, 8)
TONARI_FORTRAN(recv, 8)
TONARI_FORTRAN(irecv, 8)
TONARI_FORTRAN(sendrecv, 13)
TONARI_FORTRAN(sendrecv_replace, 10)
TONARI_FORTRAN(send_init, 8)
TONARI_FORTRAN(ssend_init, 8)
TONARI_FORTRAN(rsend_init, 8)
TONARI_FORTRAN(bsend_init, 8)
TONARI_FORTRAN(recv_init, 8)
TONARI_FORTRAN(start, 2)
TONARI_FORTRAN(startall, 3)
TONARI_FORTRAN(wait, 3)
TONARI_FORTRAN(waitall, 4)
TONARI_FORTRAN(waitany, 5)
TONARI_FORTRAN(waitsome, 6)
TONARI_FORTRAN(test, 4)
TONARI_FORTRAN(testall, 5)
TONARI_FORTRAN(testany, 6)
TONARI_FORTRAN(testsome, 6)
TONARI_FORTRAN(pack, 8)
TONARI_FORTRAN(unpack, 8)
TONARI_FORTRAN(alltoallv, 10)
TONARI_FORTRAN(alltoallw, 10)
