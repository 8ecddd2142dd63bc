! SPDX-License-Identifier: BSD-3-Clause
! What is wrong on one rank only, all ranks hear of in one sentence. Without ierror it ends the
! program: with an argument this one shows it.
#include "handles.inc"
program errors_test
  USE_MPI
  use, intrinsic :: iso_fortran_env, only: real64
  use tonari
  use checks
  implicit none
  COMM :: ring, none
  type(tonari_neighborhood) :: near, no_neighborhood
  type(tonari_request) :: request
  real(real64), asynchronous :: out(4), in(4)
  real(real64) :: field(4, 4)
  integer :: ierror, odd

  if (command_argument_count() > 0) then
    call tonari_neighborhood_create_from_comm(MPI_COMM_WORLD, MPI_INFO_NULL, near, ierror)
    print '(i0,2a)', ierror, ' ', tonari_last_error()
  end if
  call begin()
  call make_ring(ring)
  call tonari_neighborhood_create_cart(ring, 1, [1], MPI_INFO_NULL, near)
  if (command_argument_count() > 0) then
    call tonari_neighborhood_create_cart(ring, -1, [1], MPI_INFO_NULL, near)
    call expect(.false., 'an error without ierror ends the program')
  end if
  odd = ranks / 2  ! one rank that does what others do not
  field = 0
  out = 0
  in = 0
  call handles()
  call arguments()
  call buffers()
  call requests()
  call blocks()
  call grids()
  call tonari_alltoall(out, 1, MPI_DOUBLE_PRECISION, in, 1, MPI_DOUBLE_PRECISION, near, ierror)
  call expect(ierror == TONARI_SUCCESS, 'the neighborhood can be used after errors')
  call tonari_neighborhood_free(near)
  call MPI_Comm_free(ring, ierror)
  call finish()

contains

  subroutine handles()
    none = MPI_COMM_NULL
    call tonari_neighborhood_create_cart(none, 1, [1], MPI_INFO_NULL, no_neighborhood, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'MPI_COMM_NULL', 'no communicator')
    call tonari_neighborhood_create_cart(MPI_COMM_WORLD, 1, [1], MPI_INFO_NULL, no_neighborhood, &
                                         ierror)
    call expect_error(ierror, TONARI_ERR_TOPOLOGY, '', 'no topology')
    call tonari_alltoall(out, 1, MPI_DOUBLE_PRECISION, in, 1, MPI_DOUBLE_PRECISION, &
                         no_neighborhood, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, '`near` is NULL', 'no neighborhood')
    call tonari_start(TONARI_REQUEST_NULL, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, '`request` is NULL', 'no request')
  end subroutine

  subroutine arguments()
    DATATYPE :: type
    type = MPI_DOUBLE_PRECISION
    if (rank == odd) type = MPI_DATATYPE_NULL
    call init(1, type, 1)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'MPI_DATATYPE_NULL', 'no type on one rank')
    call init(merge(-3, 1, rank == odd), MPI_DOUBLE_PRECISION, 1)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, '-3', 'a negative count on one rank')
    call init(1, MPI_DOUBLE_PRECISION, merge(2, 1, rank == odd))
    call expect_error(ierror, TONARI_ERR_MISMATCH, 'rank', 'another size on one rank')
    call expect(request == TONARI_REQUEST_NULL, 'no request after an error')
    call expect(tonari_error_string(TONARI_ERR_MISMATCH) == 'ranks disagree', 'words for a code')
    call tonari_neighborhood_create_cart(ring, 1, [merge(2, 1, rank == odd .and. ranks > 1)], &
                                         MPI_INFO_NULL, no_neighborhood, ierror)
    if (ranks > 1) call expect_error(ierror, TONARI_ERR_MISMATCH, 'offset', 'another offset')
    if (ranks == 1) call tonari_neighborhood_free(no_neighborhood)
  end subroutine

  subroutine init(sendcount, type, recvcount)
    integer, intent(in) :: sendcount, recvcount
    DATATYPE, intent(in) :: type
    call tonari_alltoall_init(out, sendcount, type, in, recvcount, MPI_DOUBLE_PRECISION, near, &
                              MPI_INFO_NULL, request, ierror)
  end subroutine

  ! A row of a matrix on one rank: it is not contiguous, and nobody copies it.
  subroutine buffers()
    if (rank == odd) then
      call tonari_alltoall_init(field(2, :), 4, MPI_DOUBLE_PRECISION, in, 4, MPI_DOUBLE_PRECISION, &
                                near, MPI_INFO_NULL, request, ierror)
    else
      call init(4, MPI_DOUBLE_PRECISION, 4)
    end if
    call expect_error(ierror, TONARI_ERR_ARGUMENT, '`sendbuf` is an array that is not contiguous', &
                      'a row on one rank')
    if (rank == odd) then
      call tonari_alltoall_init(out, 4, MPI_DOUBLE_PRECISION, in(::2), 4, MPI_DOUBLE_PRECISION, &
                                near, MPI_INFO_NULL, request, ierror)
    else
      call init(4, MPI_DOUBLE_PRECISION, 4)
    end if
    call expect_error(ierror, TONARI_ERR_ARGUMENT, '`recvbuf` is an array that is not contiguous', &
                      'every other element on one rank')
    call tonari_alltoall(field(2, :), 4, MPI_DOUBLE_PRECISION, in, 4, MPI_DOUBLE_PRECISION, near, &
                         ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'not contiguous', 'a row in a one-shot call')
    call tonari_alltoall(MPI_IN_PLACE, 1, MPI_DOUBLE_PRECISION, in, 1, MPI_DOUBLE_PRECISION, near, &
                         ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'MPI_IN_PLACE', 'MPI_IN_PLACE has no meaning')
    call tonari_alltoall_inplace(MPI_IN_PLACE, 1, MPI_DOUBLE_PRECISION, ring, MPI_INFO_NULL, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, '`buf` is MPI_IN_PLACE', 'in place without data')
    call tonari_alltoall_inplace(field(2, :), 1, MPI_DOUBLE_PRECISION, ring, MPI_INFO_NULL, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, '`buf` is an array that is not', 'in place')
    call tonari_alltoall(MPI_BOTTOM, 1, MPI_DOUBLE_PRECISION, in, 1, MPI_DOUBLE_PRECISION, near, &
                         ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'NULL', 'MPI_BOTTOM is address 0')
  end subroutine

  subroutine requests()
    call init(1, MPI_DOUBLE_PRECISION, 1)
    call expect(ierror == TONARI_SUCCESS, 'init')
    call tonari_start(request)
    call tonari_start(request, ierror)
    call expect_error(ierror, TONARI_ERR_ACTIVE, 'already started', 'started twice')
    call tonari_request_free(request, ierror)
    call expect_error(ierror, TONARI_ERR_ACTIVE, '', 'freed while active')
    call expect(request /= TONARI_REQUEST_NULL, 'it stays valid')
    call tonari_wait(request)
    call tonari_request_free(request)
  end subroutine

  ! One rank has more owners than boxes.
  subroutine blocks()
    type(tonari_blocks) :: none_made
    type(tonari_blocks_shape) :: shape
    type(tonari_box) :: boxes(ranks)
    integer :: k
    do k = 1, ranks
      boxes(k)%first(1) = k
      boxes(k)%last(1) = k
    end do
    shape%dims = 1
    shape%domain%first(1) = 1
    shape%domain%last(1) = ranks
    shape%lower(1) = 1
    call tonari_blocks_create(MPI_COMM_WORLD, shape, boxes, &
                              [(k, k=0, ranks - merge(0, 1, rank == odd))], MPI_DOUBLE_PRECISION, &
                              MPI_INFO_NULL, none_made, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'each box has one owner', 'too many owners')
  end subroutine

  ! One rank asks for memory that there is not.
  subroutine grids()
    type(tonari_grid) :: none_made
    type(tonari_grid_shape) :: shape
    shape%dims = 1
    shape%cells(1) = 4 * ranks
    shape%lower(1) = 1
    shape%memory = merge(7, TONARI_MEMORY_HOST, rank == odd)
    call tonari_grid_create(ring, shape, MPI_DOUBLE_PRECISION, MPI_INFO_NULL, none_made, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'shape.memory is 7', 'no such memory')
    shape%memory = TONARI_MEMORY_HOST
    shape%device = merge(3, 0, rank == odd)
    call tonari_grid_create(ring, shape, MPI_DOUBLE_PRECISION, MPI_INFO_NULL, none_made, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'shape.device is 3', 'a device for the host')
    shape%memory = TONARI_MEMORY_DEVICE
    shape%device = 1000
    call tonari_grid_create(ring, shape, MPI_DOUBLE_PRECISION, MPI_INFO_NULL, none_made, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'device', 'no such device')
  end subroutine

end program errors_test
