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
  TONARI_FORTRAN_AS(#name "_", in_front_of_##name, count)           \
  TONARI_FORTRAN_AS(#name "_f08_", in_front_of_##name##_f08, count) \
  TONARI_FORTRAN_AS(#name "_f08ts_", in_front_of_##name##_f08ts, count)

TONARI_FORTRAN(mpi_send, 7)
TONARI_FORTRAN(mpi_ssend, 7)
TONARI_FORTRAN(mpi_rsend, 7)
TONARI_FORTRAN(mpi_bsend, 7)
TONARI_FORTRAN(mpi_isend, 8)
TONARI_FORTRAN(mpi_issend, 8)
TONARI_FORTRAN(mpi_irsend, 8)
TONARI_FORTRAN(mpi_ibsend, 8)
TONARI_FORTRAN(mpi_recv, 8)
TONARI_FORTRAN(mpi_irecv, 8)
TONARI_FORTRAN(mpi_sendrecv, 13)
TONARI_FORTRAN(mpi_sendrecv_replace, 10)
TONARI_FORTRAN(mpi_send_init, 8)
TONARI_FORTRAN(mpi_ssend_init, 8)
TONARI_FORTRAN(mpi_rsend_init, 8)
TONARI_FORTRAN(mpi_bsend_init, 8)
TONARI_FORTRAN(mpi_recv_init, 8)
TONARI_FORTRAN(mpi_start, 2)
TONARI_FORTRAN(mpi_startall, 3)
TONARI_FORTRAN(mpi_wait, 3)
TONARI_FORTRAN(mpi_waitall, 4)
TONARI_FORTRAN(mpi_waitany, 5)
TONARI_FORTRAN(mpi_waitsome, 6)
TONARI_FORTRAN(mpi_test, 4)
TONARI_FORTRAN(mpi_testall, 5)
TONARI_FORTRAN(mpi_testany, 6)
TONARI_FORTRAN(mpi_testsome, 6)
TONARI_FORTRAN(mpi_pack, 8)
TONARI_FORTRAN(mpi_unpack, 8)
TONARI_FORTRAN(mpi_alltoallv, 10)
TONARI_FORTRAN(mpi_alltoallw, 10)
