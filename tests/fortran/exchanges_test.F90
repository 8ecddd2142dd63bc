! SPDX-License-Identifier: BSD-3-Clause
! Messages that nobody expects, and groups.
#include "handles.inc"
program exchanges_test
  USE_MPI
  use, intrinsic :: iso_fortran_env, only: real64, int32, int64
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer, c_long_long, c_intptr_t
  use tonari
  use checks
  implicit none
  integer :: form, ierror

  call begin()
  do form = 1, 3
    call group(form)
  end do
  call sparse()
  call sparse_later()
  call finish()

contains

  subroutine complete(form, request)
    integer, intent(in) :: form
    type(tonari_request), intent(inout) :: request
    if (form == 1) return
    if (form == 3) call tonari_start(request)
    call tonari_wait(request)
    call tonari_request_free(request)
  end subroutine

  ! Rank i has i + 1 elements for rank 0, and none for the next one.
  subroutine sparse()
    type(tonari_messages) :: messages
    integer, pointer :: sources(:)
    integer(int64), pointer :: counts(:)
    integer(c_intptr_t), pointer :: displs(:)
    real(real64), pointer :: values(:)
    character(:), allocatable :: algorithm
    type(c_ptr) :: base
    integer(c_long_long) :: total
    real(real64) :: out(rank + 1)
    integer :: e, k, from
    out = [(payload(rank, 0, 3, e), e = 1, rank + 1)]
    call tonari_sparse_alltoallv(2, [0, at(1)], [integer(int64) :: rank + 1, 0], &
                                 MPI_DOUBLE_PRECISION, out, MPI_COMM_WORLD, MPI_INFO_NULL, messages)
    call tonari_messages_get(messages, sources, counts, displs, algorithm)
    call expect(size(sources) == merge(ranks + 1, 1, rank == 0), 'as many messages as were sent')
    call expect(count(sources == at(-1)) >= 1 .and. len(algorithm) > 0, 'an empty message')
    call tonari_messages_data(messages, values)
    call tonari_messages_data(messages, base, total)
    call expect(total == size(values) .and. total == sum(counts), 'the total')
    do k = 1, size(sources)
      from = sources(k)
      call expect(counts(k) == 0 .or. counts(k) == from + 1, 'a count')
      if (counts(k) > 0) &
        call expect(all(values(displs(k) + 1:displs(k) + counts(k)) == &
                        [(payload(from, 0, 3, e), e = 1, from + 1)]), 'a message')
    end do
    call tonari_messages_free(messages)
    call expect(messages == TONARI_MESSAGES_NULL, 'freed messages are null')
    call tonari_messages_get(messages, sources, counts, displs, ierror=ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'nothing has arrived', 'null messages')
  end subroutine

  ! The second element first, to the next rank.
  subroutine sparse_later()
    type(tonari_messages), target, asynchronous :: messages
    type(tonari_request) :: request
    integer(int32), pointer :: values(:)
    integer, asynchronous :: out(2)
    out = 10 * rank + [1, 2]
    call tonari_sparse_ialltoallv(2, [at(1), at(1)], [1_int64, 1_int64], MPI_INTEGER, out, &
                                  MPI_COMM_WORLD, MPI_INFO_NULL, messages, request, &
                                  senddispls=[1_c_intptr_t, 0_c_intptr_t])
    call tonari_wait(request)
    call tonari_request_free(request)
    call tonari_messages_data(messages, values)
    call expect(all(values == 10 * at(-1) + [2, 1]), 'messages that come later')
    call tonari_messages_free(messages)
  end subroutine

  ! Two exchanges of one neighborhood with one message.
  subroutine group(form)
    integer, intent(in) :: form
    COMM :: ring
    type(tonari_neighborhood) :: near
    type(tonari_request) :: all, none
    integer, asynchronous :: out(2), in(2)
    real(real64), asynchronous :: numbers(1), got(1)
    call make_ring(ring)
    call tonari_neighborhood_create_cart(ring, 1, [1], MPI_INFO_NULL, near)
    out = 10 * rank + [1, 2]
    numbers = payload(rank, at(1), 4, 1)
    call tonari_group_start(ring)
    call tonari_alltoall_init(out, 2, MPI_INTEGER, in, 2, MPI_INTEGER, near, MPI_INFO_NULL, none)
    call expect(none == TONARI_REQUEST_NULL, 'a call in a group makes no request')
    call tonari_allgather_init(numbers, 1, MPI_DOUBLE_PRECISION, got, 1, MPI_DOUBLE_PRECISION, &
                               near, MPI_INFO_NULL, none)
    if (form == 1) call tonari_group_run(MPI_INFO_NULL)
    if (form == 2) call tonari_group_irun(MPI_INFO_NULL, all)
    if (form == 3) call tonari_group_end(MPI_INFO_NULL, all)
    call complete(form, all)
    call expect(sum(in) == 20 * at(-1) + 3 .and. in(2) == in(1) + 1, 'the first call of a group')
    call expect(got(1) == payload(at(-1), rank, 4, 1), 'the second call of a group')
    call tonari_neighborhood_free(near)
    call MPI_Comm_free(ring, ierror)
  end subroutine

end program exchanges_test
