! SPDX-License-Identifier: BSD-3-Clause
! tonari: sparse collective communication on MPI. The Fortran interface, as source: your compiler
! makes the module that it can read (docs/howto/fortran.md).
!
!     use mpi_f08
!     use tonari
!     type(tonari_neighborhood) :: near
!     type(tonari_request) :: swap
!     call tonari_neighborhood_create_cart(cart, s, offsets, MPI_INFO_NULL, near)
!     call tonari_alltoall_init(sendbuf, 8, MPI_REAL, recvbuf, 8, MPI_REAL, near, &
!                               MPI_INFO_NULL, swap)
!     do step = 1, steps
!       call tonari_start(swap)
!       call compute_interior()
!       call tonari_wait(swap)
!       call compute_border()
!     end do
!     call tonari_request_free(swap)
!     call tonari_neighborhood_free(near)
!
! Procedures have the names and the order of arguments of the C headers, and the headers say what
! they mean. What differs:
!  - Handles of MPI are those of mpi_f08, or integers (use mpi). Buffers are any variables that are
!    contiguous in memory.
!  - ierror is optional and last but for other optional arguments. Without it, an error prints its
!    sentence and ends the program.
!  - Counts are default integers, or of kind MPI_COUNT_KIND where C has a function with _c.
!  - Ranks count from 0, as in MPI, and so do displacements. All that is numbered in other ways
!    counts from 1: indices and places of vectors, cells, copies, fields, subdomains, and blocks.
!
! Define TONARI_WITHOUT_MPI_F08 where the MPI has no module mpi_f08.
#include "c_types.inc"
#include "c_calls.inc"
#include "types.inc"
#include "border.inc"
#include "requests.inc"
#include "grids.inc"

! The same procedures for both kinds of handles, and those with counts for integers of both sizes.
! A macro has the word module, too: CMake's Makefiles take what stands behind it for a name.
#ifndef TONARI_WITHOUT_MPI_F08
#define MODULE_OF_CALLS module tonari_f08_calls
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define OP type(MPI_Op)
#define INFO type(MPI_Info)
#define NUMBER(handle) handle%MPI_VAL
#define USE_HANDLES use mpi_f08, only: MPI_Comm, MPI_Datatype, MPI_Op, MPI_Info
#include "calls.inc"
#define MODULE_OF_SMALL_EXCHANGES module tonari_f08_exchanges
#define MODULE_OF_LARGE_EXCHANGES module tonari_f08_large_exchanges
#include "both_counts.inc"
#undef MODULE_OF_SMALL_EXCHANGES
#undef MODULE_OF_LARGE_EXCHANGES
#undef MODULE_OF_CALLS
#undef COMM
#undef DATATYPE
#undef OP
#undef INFO
#undef NUMBER
#undef USE_HANDLES
#endif
#define MODULE_OF_CALLS module tonari_integer_calls
#define COMM integer
#define DATATYPE integer
#define OP integer
#define INFO integer
#define NUMBER(handle) handle
#define USE_HANDLES use, intrinsic :: iso_c_binding, only: c_int
#include "calls.inc"
#define MODULE_OF_SMALL_EXCHANGES module tonari_integer_exchanges
#define MODULE_OF_LARGE_EXCHANGES module tonari_integer_large_exchanges
#include "both_counts.inc"
#undef MODULE_OF_SMALL_EXCHANGES
#undef MODULE_OF_LARGE_EXCHANGES

! Pointers to the cells of grids and to messages, by type.
#define MODULE_OF_POINTERS module tonari_real32_pointers
#define ELEMENT real(real32)
#include "pointers.inc"
#undef MODULE_OF_POINTERS
#undef ELEMENT
#define MODULE_OF_POINTERS module tonari_real64_pointers
#define ELEMENT real(real64)
#include "pointers.inc"
#undef MODULE_OF_POINTERS
#undef ELEMENT
#define MODULE_OF_POINTERS module tonari_complex32_pointers
#define ELEMENT complex(real32)
#include "pointers.inc"
#undef MODULE_OF_POINTERS
#undef ELEMENT
#define MODULE_OF_POINTERS module tonari_complex64_pointers
#define ELEMENT complex(real64)
#include "pointers.inc"
#undef MODULE_OF_POINTERS
#undef ELEMENT
#define MODULE_OF_POINTERS module tonari_int32_pointers
#define ELEMENT integer(int32)
#include "pointers.inc"
#undef MODULE_OF_POINTERS
#undef ELEMENT
#define MODULE_OF_POINTERS module tonari_int64_pointers
#define ELEMENT integer(int64)
#include "pointers.inc"

module tonari
  use tonari_types
  use tonari_requests
  use tonari_grids
#ifndef TONARI_WITHOUT_MPI_F08
  use tonari_f08_calls
  use tonari_f08_exchanges
  use tonari_f08_large_exchanges
#endif
  use tonari_integer_calls
  use tonari_integer_exchanges
  use tonari_integer_large_exchanges
  use tonari_real32_pointers
  use tonari_real64_pointers
  use tonari_complex32_pointers
  use tonari_complex64_pointers
  use tonari_int32_pointers
  use tonari_int64_pointers
  implicit none
end module tonari
