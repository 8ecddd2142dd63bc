! SPDX-License-Identifier: BSD-3-Clause
! A program that knows nothing of tonari, and exchanges with both sides of a ring by hand, in any of
! the three forms of MPI for Fortran (BINDING_). tests/python/test_advise.py looks for the places
! that comments name. Payloads differ by rank, side, element and step.
program halo
#if defined(BINDING_mpi_f08)
  use mpi_f08
#elif defined(BINDING_mpi)
  use mpi
#endif
  implicit none
#if defined(BINDING_mpif)
  include 'mpif.h'
#endif
  integer, parameter :: cells = 384, steps = 30
#if defined(BINDING_mpi_f08)
  type(MPI_Request) :: requests(4)
#else
  integer :: requests(4)
#endif
  integer :: rank, ranks, step, side, element, error, near(2), wrong
  double precision :: out(cells, 2), in(cells, 2)

  call MPI_Init(error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  near = [modulo(rank - 1, ranks), modulo(rank + 1, ranks)]
  wrong = 0
  do step = 1, steps
    in = -1
    do side = 1, 2
      out(:, side) = [(value_of(rank, side, element, step), element = 1, cells)]
    end do
    do side = 1, 2
      call MPI_Irecv(in(1, side), cells, MPI_DOUBLE_PRECISION, near(side), 3 - side, &
                     MPI_COMM_WORLD, requests(side), error)
    end do
    do side = 1, 2
      call MPI_Isend(out(1, side), cells, MPI_DOUBLE_PRECISION, near(side), side, &
                     MPI_COMM_WORLD, requests(2 + side), error)
    end do
    call MPI_Waitall(4, requests, MPI_STATUSES_IGNORE, error) ! site: Fortran
    do side = 1, 2
      do element = 1, cells
        if (in(element, side) /= value_of(near(side), 3 - side, element, step)) wrong = 1
      end do
    end do
  end do
  if (rank == 0 .and. wrong == 0) print '(a)', 'halo: done'
  call MPI_Finalize(error)
  if (wrong /= 0) error stop 1
contains
  double precision function value_of(from, side, element, step)
    integer, intent(in) :: from, side, element, step
    value_of = 1d6 * from + 1d5 * side + 1d2 * element + step
  end function
end program
