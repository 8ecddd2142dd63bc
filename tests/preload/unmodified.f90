! SPDX-License-Identifier: BSD-3-Clause
! A program that knows nothing of tonari, in any of the three forms of MPI for Fortran (BINDING_).
! Ranks on a line send two numbers to each side; payloads differ by rank, side, element and round.
program unmodified
#if defined(BINDING_mpi_f08)
  use mpi_f08
#elif defined(BINDING_mpi)
  use mpi
#endif
  implicit none
#if defined(BINDING_mpif)
  include 'mpif.h'
#endif
#if defined(BINDING_mpi_f08)
  type(MPI_Comm) :: line
  type(MPI_Request) :: request
  type(MPI_Status) :: status
#else
  integer :: line, request, status(MPI_STATUS_SIZE)
#endif
  integer :: rank, ranks, round, error, extents(1)
  integer :: out(4), in(4)
  logical :: closed(1)

  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  extents(1) = ranks
  closed(1) = .false.
  call MPI_Cart_create(MPI_COMM_WORLD, 1, extents, closed, .false., line, error)
  call MPI_Comm_rank(line, rank, error)
  do round = 1, 20
    call fill
    call MPI_Neighbor_alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, line, error)
    call check
    call fill
    call MPI_Ineighbor_alltoall(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, line, request, error)
    call MPI_Wait(request, status, error)
    call check
  end do
  call MPI_Comm_free(line, error)
  call MPI_Finalize(error)

contains

  integer function payload(from, side, element)
    integer, intent(in) :: from, side, element
    payload = ((from * 2 + side) * 2 + element) * 100 + round
  end function

  subroutine fill
    integer :: side, element
    in = -7
    do side = 0, 1
      do element = 0, 1
        out(2 * side + element + 1) = payload(rank, side, element)
      end do
    end do
  end subroutine

  ! What comes from the left was sent to the right; beyond the ends there is nobody.
  subroutine check
    integer :: side, element, from, expected
    do side = 0, 1
      from = rank - 1 + 2 * side
      do element = 0, 1
        expected = -7
        if (from >= 0 .and. from < ranks) expected = payload(from, 1 - side, element)
        if (in(2 * side + element + 1) /= expected) then
          print *, 'rank', rank, 'got', in, 'in round', round
          call MPI_Abort(MPI_COMM_WORLD, 1, error)
        end if
      end do
    end do
  end subroutine
end program
