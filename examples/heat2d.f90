! SPDX-License-Identifier: BSD-3-Clause
! The heat equation on a plate whose left edge is hot: each cell becomes the mean of its four
! neighbors, again and again, on a grid in the order of Fortran. Each rank compares its cells with
! those of a plate that it computes alone.
program heat2d
  use, intrinsic :: iso_fortran_env, only: real64, int64
  use mpi_f08
  use tonari
  implicit none
  integer, parameter :: n(2) = [48, 40], steps = 100
  type(MPI_Comm) :: cart
  type(tonari_grid) :: grid
  type(tonari_grid_shape) :: shape
  type(tonari_request) :: halo(2)
  real(real64), pointer :: u(:, :), v(:, :)
  integer(int64) :: first(2), cells(2)
  integer :: ranks, rank, dims(2), t, copy
  real(real64) :: difference

  call MPI_Init()
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  dims = 0
  call MPI_Dims_create(ranks, 2, dims)
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .false., cart)
  call MPI_Comm_rank(cart, rank)

  shape%dims = 2
  shape%cells(:2) = n    ! of the whole grid
  shape%lower(:2) = 1    ! one layer of ghost cells on each side
  shape%upper(:2) = 1
  shape%copies = 2       ! old and new
  call tonari_grid_create(cart, shape, MPI_DOUBLE_PRECISION, MPI_INFO_NULL, grid)
  do copy = 1, 2
    call tonari_grid_exchange_init(grid, copy, MPI_INFO_NULL, halo(copy))
  end do

  ! Own cells are u(1:cells(1), 1:cells(2)), and ghosts lie around them.
  call tonari_grid_get_cells(grid, 1, first, cells)
  do t = 1, steps
    call tonari_grid_data(grid, 1, 2 - modulo(t, 2), 1, u)
    call tonari_grid_data(grid, 1, 1 + modulo(t, 2), 1, v)
    if (first(1) == 1) u(0, :) = 1   ! ghosts beyond the border belong to the program
    call step(u, v)
    call tonari_start(halo(1 + modulo(t, 2)))
    call tonari_wait(halo(1 + modulo(t, 2)))
  end do

  difference = maxval(abs(v(1:cells(1), 1:cells(2)) - alone()))
  call MPI_Allreduce(MPI_IN_PLACE, difference, 1, MPI_DOUBLE_PRECISION, MPI_MAX, cart)
  if (rank == 0) print '(i0,a,es8.1)', ranks, ' ranks, largest difference from one rank: ', &
                       difference
  if (difference > 1d-12) call MPI_Abort(cart, 1)

  do copy = 1, 2
    call tonari_request_free(halo(copy))
  end do
  call tonari_grid_free(grid)
  call MPI_Comm_free(cart)
  call MPI_Finalize()

contains

  ! Arrays have one layer of ghost cells.
  subroutine step(old, new)
    real(real64), intent(in) :: old(0:, 0:)
    real(real64), intent(inout) :: new(0:, 0:)
    integer :: i, j
    do j = 1, ubound(old, 2) - 1
      do i = 1, ubound(old, 1) - 1
        new(i, j) = (old(i - 1, j) + old(i + 1, j) + old(i, j - 1) + old(i, j + 1)) / 4
      end do
    end do
  end subroutine

  ! The cells of this rank, of a plate without neighbors.
  function alone() result(part)
    real(real64) :: part(cells(1), cells(2))
    real(real64) :: old(0:n(1) + 1, 0:n(2) + 1), new(0:n(1) + 1, 0:n(2) + 1)
    integer :: t
    old = 0
    old(0, :) = 1
    new = old
    do t = 1, steps
      call step(old, new)
      old = new
    end do
    part = new(first(1):first(1) + cells(1) - 1, first(2):first(2) + cells(2) - 1)
  end function

end program heat2d
