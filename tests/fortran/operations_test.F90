! SPDX-License-Identifier: BSD-3-Clause
! The six operations in all forms, on offsets: blocks go to rank + 1, + 2 and - 1; and those in
! place, between all ranks.
#include "handles.inc"
#ifndef COUNT
#define COUNT integer
#endif
program operations_test
  USE_MPI
  use, intrinsic :: iso_fortran_env, only: real64
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_f_pointer, c_long_long
  use tonari
  use checks
  implicit none
  integer, parameter :: s = 3, offset(s) = [1, 2, -1]
  COUNT, parameter :: most = 4
  integer, parameter :: forms(3) = [1, 2, 3]
  COMM :: ring
  type(tonari_neighborhood) :: near
  integer :: k, ierror

  call begin()
  call make_ring(ring)
  call tonari_neighborhood_create_cart(ring, s, offset, MPI_INFO_NULL, near)
  call check_ranks()
  do k = 1, size(forms)
    call alltoall(forms(k))
    call alltoallv(forms(k))
    call alltoallw(forms(k))
    call allgather(forms(k))
    call allgatherv(forms(k))
    call allgatherw(forms(k))
    call alltoall_inplace(forms(k))
    call alltoallv_inplace(forms(k))
    call alltoallw_inplace(forms(k))
    call general_inplace(forms(k))
  end do
  call requests()
  call other_buffers()
  call views()
  call absolute_addresses()
  call tonari_neighborhood_free(near)
  call expect(near == TONARI_NEIGHBORHOOD_NULL, 'a freed neighborhood is null')
  call MPI_Comm_free(ring, ierror)
  call finish()

contains

  subroutine check_ranks()
    integer :: indegree, outdegree, count, targets(s), sources(s)
    call tonari_neighborhood_degrees(near, indegree, outdegree)
    call tonari_neighborhood_count(near, count)
    call expect(all([indegree, outdegree, count] == s), 'degrees')
    call tonari_neighborhood_ranks(near, targets, sources)
    call expect(all(targets == [at(1), at(2), at(-1)]), 'targets')
    call expect(all(sources == [at(-1), at(-2), at(1)]), 'sources')
  end subroutine

  ! Runs what a form has left to be run.
  subroutine complete(form, request)
    integer, intent(in) :: form
    type(tonari_request), intent(inout) :: request
    if (form == 1) return
    if (form == 3) call tonari_start(request)
    call tonari_wait(request)
    call tonari_request_free(request)
    call expect(request == TONARI_REQUEST_NULL, 'a freed request is null')
  end subroutine

  ! Block k of what this rank sends; an allgather has one block for all.
  real(real64) function sent(k, element)
    integer, intent(in) :: k, element
    sent = payload(rank, at(offset(k)), k, element)
  end function

  real(real64) function expected(k, element)
    integer, intent(in) :: k, element
    expected = payload(at(-offset(k)), rank, k, element)
  end function

  real(real64) function expected_from_all(k, element)
    integer, intent(in) :: k, element
    expected_from_all = payload(at(-offset(k)), 0, 0, element)
  end function

  subroutine alltoall(form)
    integer, intent(in) :: form
    real(real64), asynchronous :: out(most, s), in(most, s)
    type(tonari_request) :: request
    integer :: k, e
    out = reshape([((sent(k, e), e = 1, most), k = 1, s)], shape(out))
    in = -1
    if (form == 1) call tonari_alltoall(out, most, MPI_DOUBLE_PRECISION, in, most, &
                                        MPI_DOUBLE_PRECISION, near)
    if (form == 2) call tonari_ialltoall(out, most, MPI_DOUBLE_PRECISION, in, most, &
                                         MPI_DOUBLE_PRECISION, near, request)
    if (form == 3) call tonari_alltoall_init(out, most, MPI_DOUBLE_PRECISION, in, most, &
                                             MPI_DOUBLE_PRECISION, near, MPI_INFO_NULL, request)
    call complete(form, request)
    do k = 1, s
      call expect(all(in(:, k) == [(expected(k, e), e = 1, most)]), 'alltoall')
    end do
  end subroutine

  ! Block k has k elements, and lies at 5 * k.
  subroutine alltoallv(form)
    integer, intent(in) :: form
    real(real64), asynchronous :: out(0:5 * s + most), in(0:5 * s + most)
    COUNT :: counts(s)
    integer :: k, e
    integer(MPI_ADDRESS_KIND) :: displs(s)
    type(tonari_request) :: request
    counts = [1, 2, 3]
    displs = 5 * counts
    in = -1
    do k = 1, s
      out(5 * k:5 * k + k - 1) = [(sent(k, e), e = 1, k)]
    end do
    if (form == 1) call tonari_alltoallv(out, counts, displs, MPI_DOUBLE_PRECISION, in, counts, &
                                         displs, MPI_DOUBLE_PRECISION, near)
    if (form == 2) call tonari_ialltoallv(out, counts, displs, MPI_DOUBLE_PRECISION, in, counts, &
                                          displs, MPI_DOUBLE_PRECISION, near, request)
    if (form == 3) call tonari_alltoallv_init(out, counts, displs, MPI_DOUBLE_PRECISION, in, &
                                              counts, displs, MPI_DOUBLE_PRECISION, near, &
                                              MPI_INFO_NULL, request)
    call complete(form, request)
    do k = 1, s
      call expect(all(in(5 * k:5 * k + k - 1) == [(expected(k, e), e = 1, k)]), 'alltoallv')
      call expect(in(5 * k - 1) == -1 .and. in(5 * k + k) == -1, 'alltoallv leaves gaps alone')
    end do
  end subroutine

  ! Rows of a matrix are sent, and arrive as columns; the second block is two rows.
  subroutine alltoallw(form)
    integer, intent(in) :: form
    integer, parameter :: rows = 4
    real(real64), asynchronous :: out(rows, most), in(most, rows)
    DATATYPE :: row, sendtypes(s), recvtypes(s)
    COUNT :: sendcounts(s), recvcounts(s)
    integer :: e
    integer(MPI_ADDRESS_KIND) :: senddispls(s), recvdispls(s)
    type(tonari_request) :: request
    call MPI_Type_vector(int(most), 1, rows, MPI_DOUBLE_PRECISION, row, ierror)
    call MPI_Type_commit(row, ierror)
    sendtypes = row
    sendtypes(2) = MPI_DOUBLE_PRECISION
    recvtypes = MPI_DOUBLE_PRECISION
    sendcounts = [1, 2, 1]
    senddispls = 8 * [0, rows + 1, 3]   ! row 1; two elements of column 2; row 4
    recvcounts = [most, most / 2, most]
    recvdispls = 8 * most * [0, 1, 3]
    in = -1
    out = -2
    out(1, :) = [(sent(1, e), e = 1, most)]
    out(4, :) = [(sent(3, e), e = 1, most)]
    out(2:3, 2) = [sent(2, 1), sent(2, 2)]
    if (form == 1) call tonari_alltoallw(out, sendcounts, senddispls, sendtypes, in, recvcounts, &
                                         recvdispls, recvtypes, near)
    if (form == 2) call tonari_ialltoallw(out, sendcounts, senddispls, sendtypes, in, recvcounts, &
                                          recvdispls, recvtypes, near, request)
    if (form == 3) call tonari_alltoallw_init(out, sendcounts, senddispls, sendtypes, in, &
                                              recvcounts, recvdispls, recvtypes, near, &
                                              MPI_INFO_NULL, request)
    call MPI_Type_free(row, ierror)
    call complete(form, request)
    call expect(all(in(:, 1) == [(expected(1, e), e = 1, most)]), 'alltoallw, first column')
    call expect(all(in(:2, 2) == [expected(2, 1), expected(2, 2)]), 'alltoallw, second column')
    call expect(all(in(3:, 2) == -1) .and. all(in(:, 3) == -1), 'alltoallw leaves the rest alone')
    call expect(all(in(:, 4) == [(expected(3, e), e = 1, most)]), 'alltoallw, last column')
  end subroutine

  subroutine allgather(form)
    integer, intent(in) :: form
    real(real64), asynchronous :: out(most), in(most, s)
    type(tonari_request) :: request
    integer :: k, e
    out = [(payload(rank, 0, 0, e), e = 1, most)]
    in = -1
    if (form == 1) call tonari_allgather(out, most, MPI_DOUBLE_PRECISION, in, most, &
                                         MPI_DOUBLE_PRECISION, near)
    if (form == 2) call tonari_iallgather(out, most, MPI_DOUBLE_PRECISION, in, most, &
                                          MPI_DOUBLE_PRECISION, near, request)
    if (form == 3) call tonari_allgather_init(out, most, MPI_DOUBLE_PRECISION, in, most, &
                                              MPI_DOUBLE_PRECISION, near, MPI_INFO_NULL, request)
    call complete(form, request)
    do k = 1, s
      call expect(all(in(:, k) == [(expected_from_all(k, e), e = 1, most)]), 'allgather')
    end do
  end subroutine

  ! Every rank sends as many elements as its number says, and one more.
  subroutine allgatherv(form)
    integer, intent(in) :: form
    real(real64), asynchronous :: out(rank + 1), in(0:s * (ranks + 1))
    COUNT :: mine, counts(s)
    integer :: k, e
    integer(MPI_ADDRESS_KIND) :: displs(s)
    type(tonari_request) :: request
    mine = rank + 1
    counts = [at(-1), at(-2), at(1)] + 1
    displs = [0, 1, 2] * (ranks + 1)
    out = [(payload(rank, 0, 0, e), e = 1, rank + 1)]
    in = -1
    if (form == 1) call tonari_allgatherv(out, mine, MPI_DOUBLE_PRECISION, in, counts, displs, &
                                          MPI_DOUBLE_PRECISION, near)
    if (form == 2) call tonari_iallgatherv(out, mine, MPI_DOUBLE_PRECISION, in, counts, &
                                           displs, MPI_DOUBLE_PRECISION, near, request)
    if (form == 3) call tonari_allgatherv_init(out, mine, MPI_DOUBLE_PRECISION, in, counts, &
                                               displs, MPI_DOUBLE_PRECISION, near, MPI_INFO_NULL, &
                                               request)
    call complete(form, request)
    do k = 1, s
      do e = 1, int(counts(k))
        call expect(in(displs(k) + e - 1) == expected_from_all(k, e), 'allgatherv')
      end do
      call expect(in(displs(k) + counts(k)) == -1, 'allgatherv leaves gaps alone')
    end do
  end subroutine

  ! The one block arrives as rows of a matrix.
  subroutine allgatherw(form)
    integer, intent(in) :: form
    real(real64), asynchronous :: out(most), in(s, most)
    DATATYPE :: row, types(s)
    COUNT :: counts(s)
    integer :: k, e
    integer(MPI_ADDRESS_KIND) :: displs(s)
    type(tonari_request) :: request
    call MPI_Type_vector(int(most), 1, s, MPI_DOUBLE_PRECISION, row, ierror)
    call MPI_Type_commit(row, ierror)
    types = row
    counts = 1
    displs = [0, 8, 16]
    out = [(payload(rank, 0, 0, e), e = 1, most)]
    in = -1
    if (form == 1) call tonari_allgatherw(out, most, MPI_DOUBLE_PRECISION, in, counts, displs, &
                                          types, near)
    if (form == 2) call tonari_iallgatherw(out, most, MPI_DOUBLE_PRECISION, in, counts, displs, &
                                           types, near, request)
    if (form == 3) call tonari_allgatherw_init(out, most, MPI_DOUBLE_PRECISION, in, counts, &
                                               displs, types, near, MPI_INFO_NULL, request)
    call complete(form, request)
    call MPI_Type_free(row, ierror)
    do k = 1, s
      call expect(all(in(k, :) == [(expected_from_all(k, e), e = 1, most)]), 'allgatherw')
    end do
  end subroutine

  subroutine alltoall_inplace(form)
    integer, intent(in) :: form
    COUNT, parameter :: two = 2
    real(real64), asynchronous :: buf(two, 0:ranks - 1)
    type(tonari_request) :: request
    integer :: j
    do j = 0, ranks - 1
      buf(:, j) = payload(rank, j, 0, [1, 2])
    end do
    if (form == 1) call tonari_alltoall_inplace(buf, two, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, &
                                                MPI_INFO_NULL)
    if (form == 2) call tonari_ialltoall_inplace(buf, two, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, &
                                                 MPI_INFO_NULL, request)
    if (form == 3) call tonari_alltoall_inplace_init(buf, two, MPI_DOUBLE_PRECISION, &
                                                     MPI_COMM_WORLD, MPI_INFO_NULL, request)
    call complete(form, request)
    do j = 0, ranks - 1
      call expect(all(buf(:, j) == payload(j, rank, 0, [1, 2])), 'alltoall in place')
    end do
  end subroutine

  ! Ranks i and j swap i + j elements, which lie at 2 * ranks * j.
  subroutine alltoallv_inplace(form)
    integer, intent(in) :: form
    real(real64), asynchronous :: buf(0:2 * ranks - 1, 0:ranks - 1)
    COUNT :: counts(0:ranks - 1)
    integer :: j, e
    integer(MPI_ADDRESS_KIND) :: displs(0:ranks - 1)
    type(tonari_request) :: request
    buf = -1
    do j = 0, ranks - 1
      counts(j) = rank + j
      displs(j) = 2 * ranks * j
      buf(:counts(j) - 1, j) = [(payload(rank, j, 1, e), e = 1, rank + j)]
    end do
    if (form == 1) call tonari_alltoallv_inplace(buf, counts, displs, MPI_DOUBLE_PRECISION, &
                                                 MPI_COMM_WORLD, MPI_INFO_NULL)
    if (form == 2) call tonari_ialltoallv_inplace(buf, counts, displs, MPI_DOUBLE_PRECISION, &
                                                  MPI_COMM_WORLD, MPI_INFO_NULL, request)
    if (form == 3) call tonari_alltoallv_inplace_init(buf, counts, displs, MPI_DOUBLE_PRECISION, &
                                                      MPI_COMM_WORLD, MPI_INFO_NULL, request)
    call complete(form, request)
    do j = 0, ranks - 1
      call expect(all(buf(:counts(j) - 1, j) == [(payload(j, rank, 1, e), e = 1, rank + j)]), &
                  'alltoallv in place')
      call expect(all(buf(counts(j):, j) == -1), 'alltoallv in place leaves the rest alone')
    end do
  end subroutine

  ! Of a matrix, the row of each rank.
  subroutine alltoallw_inplace(form)
    integer, intent(in) :: form
    integer, parameter :: length = 3
    integer, asynchronous :: buf(0:ranks - 1, length)
    DATATYPE :: row, types(0:ranks - 1)
    COUNT :: counts(0:ranks - 1)
    integer :: j
    integer(MPI_ADDRESS_KIND) :: displs(0:ranks - 1)
    type(tonari_request) :: request
    call MPI_Type_vector(length, 1, ranks, MPI_INTEGER, row, ierror)
    call MPI_Type_commit(row, ierror)
    types = row
    counts = 1
    do j = 0, ranks - 1
      displs(j) = 4 * j
      buf(j, :) = 1000 * rank + 10 * j + [1, 2, 3]
    end do
    if (form == 1) call tonari_alltoallw_inplace(buf, counts, displs, types, MPI_COMM_WORLD, &
                                                 MPI_INFO_NULL)
    if (form == 2) call tonari_ialltoallw_inplace(buf, counts, displs, types, MPI_COMM_WORLD, &
                                                  MPI_INFO_NULL, request)
    if (form == 3) call tonari_alltoallw_inplace_init(buf, counts, displs, types, MPI_COMM_WORLD, &
                                                      MPI_INFO_NULL, request)
    call MPI_Type_free(row, ierror)
    call complete(form, request)
    do j = 0, ranks - 1
      call expect(all(buf(j, :) == 1000 * j + 10 * rank + [1, 2, 3]), 'alltoallw in place')
    end do
  end subroutine

  ! Rank i has j + 1 elements for rank j, one rank behind the other; what arrives does so, too.
  subroutine general_inplace(form)
    integer, intent(in) :: form
    real(real64), asynchronous :: buf(0:max(ranks * (ranks + 1) / 2, ranks * (rank + 1)) - 1)
    COUNT :: sendcounts(0:ranks - 1), recvcounts(0:ranks - 1)
    integer :: j, e
    integer(MPI_ADDRESS_KIND) :: senddispls(0:ranks - 1), recvdispls(0:ranks - 1)
    type(tonari_request) :: request
    do j = 0, ranks - 1
      sendcounts(j) = j + 1
      senddispls(j) = j * (j + 1) / 2
      recvcounts(j) = rank + 1
      recvdispls(j) = j * (rank + 1)
      buf(senddispls(j):senddispls(j) + j) = [(payload(rank, j, 2, e), e = 0, j)]
    end do
    if (form == 1) call tonari_alltoallv_inplace_general(buf, sendcounts, senddispls, recvcounts, &
      recvdispls, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, MPI_INFO_NULL)
    if (form == 2) call tonari_ialltoallv_inplace_general(buf, sendcounts, senddispls, recvcounts, &
      recvdispls, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    if (form == 3) call tonari_alltoallv_inplace_general_init(buf, sendcounts, senddispls, &
      recvcounts, recvdispls, MPI_DOUBLE_PRECISION, MPI_COMM_WORLD, MPI_INFO_NULL, request)
    call complete(form, request)
    do j = 0, ranks - 1
      call expect(all(buf(recvdispls(j):recvdispls(j) + rank) == &
                      [(payload(j, rank, 2, e), e = 0, rank)]), 'general, in place')
    end do
  end subroutine

  ! Two requests together, again and again, by startall and waitall or by test.
  subroutine requests()
    integer, asynchronous :: out(s, 2), in(s, 2)
    type(tonari_request) :: both(2)
    type(tonari_request_info) :: told
    INFO :: info
    logical :: flag
    integer :: step, k
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'tonari_algorithm', 'linear', ierror)
    do k = 1, 2
      call tonari_alltoall_init(out(:, k), 1, MPI_INTEGER, in(:, k), 1, MPI_INTEGER, near, info, &
                                both(k))
    end do
    call MPI_Info_free(info, ierror)
    do step = 1, 6
      out(:, 1) = 1000 * step + 10 * rank + [1, 2, 3]
      out(:, 2) = -out(:, 1)
      call tonari_startall(2, both)
      if (modulo(step, 2) == 0) then
        call tonari_waitall(2, both)
      else
        do k = 1, 2
          flag = .false.
          do while (.not. flag)
            call tonari_test(both(k), flag)
          end do
        end do
      end if
      call expect(all(in(:, 1) == 1000 * step + 10 * [at(-1), at(-2), at(1)] + [1, 2, 3]), &
                  'a request, started again')
      call expect(all(in(:, 2) == -in(:, 1)), 'the second request')
    end do
    call expect(index(tonari_request_describe(both(1)), 'linear') > 0, 'describe')
    call tonari_request_get_info(both(1), told)
    call expect(told%algorithm == 'linear' .and. len(told%reason) > 3 .and. &
                (ranks == 1 .or. (told%bytes >= 4 .and. told%messages >= 1)), 'get_info')
    call expect(told%ranks_per_core >= 1 .and. told%ranks_per_core <= ranks, 'ranks per core')
    call expect(both(1) /= both(2) .and. both(1) == both(1), 'handles are compared')
    do k = 1, 2
      call tonari_request_free(both(k))
    end do
    call expect(tonari_request_describe(both(1)) == '', 'a null request has no description')
  end subroutine

  subroutine other_buffers()
    real(real64), asynchronous :: out(s), in(s), more(s, 2), got(s)
    type(tonari_request) :: request
    call tonari_alltoall_init(out, 1, MPI_DOUBLE_PRECISION, in, 1, MPI_DOUBLE_PRECISION, near, &
                              MPI_INFO_NULL, request)
    in = -1
    more(:, 2) = [sent(1, 1), sent(2, 1), sent(3, 1)]
    call tonari_start_with(request, more(:, 2), got)
    call tonari_wait(request)
    call expect(all(got == [expected(1, 1), expected(2, 1), expected(3, 1)]) .and. all(in == -1), &
                'start_with')
    call tonari_start_with(request, more(::2, 1), got, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'not contiguous', 'start_with a section')
    call tonari_start_on(request, c_null_ptr, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'memory that the host reads', 'start_on')
    call tonari_start(request)
    call tonari_wait_on(request, c_null_ptr)
    call tonari_request_free(request)
  end subroutine

  subroutine views()
    real(real64), asynchronous :: out(most, s), in(most, s)
    real(real64), pointer :: seen(:)
    type(tonari_request) :: request
    type(c_ptr) :: place
    integer(c_long_long) :: bytes
    INFO :: info
    integer :: k, e
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'tonari_recv_view', 'yes', ierror)
    call tonari_alltoall_init(out, most, MPI_DOUBLE_PRECISION, in, most, MPI_DOUBLE_PRECISION, &
                              near, info, request)
    call MPI_Info_free(info, ierror)
    out = reshape([((sent(k, e), e = 1, most), k = 1, s)], shape(out))
    call tonari_start(request)
    call tonari_wait(request)
    do k = 1, s
      call tonari_request_recv_view(request, k, place, bytes)
      call expect(bytes == 8 * most, 'bytes of a view')
      call c_f_pointer(place, seen, [most])
      call expect(all(seen == [(expected(k, e), e = 1, most)]), 'a view')
    end do
    call tonari_request_recv_view(request, 0, place, bytes, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'block', 'views count from 1')
    call tonari_request_free(request)
  end subroutine

  ! MPI_BOTTOM is a variable in Fortran, and another one in mpi_f08 than in mpi.
  subroutine absolute_addresses()
    real(real64), asynchronous :: out(s), in(s)
    integer(MPI_ADDRESS_KIND) :: from(s), to(s)
    DATATYPE :: types(s)
    COUNT :: ones(s)
    integer :: k
    types = MPI_DOUBLE_PRECISION
    ones = 1
    do k = 1, s
      call MPI_Get_address(out(k), from(k), ierror)
      call MPI_Get_address(in(k), to(k), ierror)
      out(k) = sent(k, 1)
    end do
    call tonari_alltoallw(MPI_BOTTOM, ones, from, types, MPI_BOTTOM, ones, to, types, near)
    call MPI_Barrier(MPI_COMM_WORLD, ierror)  ! buffers are no arguments: what they hold may be kept
    call keep(in)
    call expect(all(in == [expected(1, 1), expected(2, 1), expected(3, 1)]), 'absolute addresses')
  end subroutine

  subroutine keep(values)
    real(real64), intent(inout) :: values(*)
    if (ranks < 0) values(1) = 0
  end subroutine

end program operations_test
