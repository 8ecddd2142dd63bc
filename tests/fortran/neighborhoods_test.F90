! SPDX-License-Identifier: BSD-3-Clause
! Neighborhoods of lists, of targets alone, and of communicators with a topology.
#include "handles.inc"
program neighborhoods_test
  USE_MPI
  use tonari
  use checks
  implicit none
  integer :: ierror

  call begin()
  call adjacent()
  call promised_sizes()
  call from_destinations()
  call from_graph()
  call from_cart()
  call versions()
  call finish()

contains

  ! Each rank sends its number, and the number of the block, along every edge.
  subroutine exchange(near, targets, what)
    type(tonari_neighborhood), intent(inout) :: near
    integer, intent(in) :: targets(:)
    character(*), intent(in) :: what
    integer :: indegree, outdegree, k
    integer, allocatable :: out(:, :), in(:, :), to(:), from(:)
    call tonari_neighborhood_degrees(near, indegree, outdegree)
    call expect(outdegree == size(targets), what // ': outdegree')
    allocate(out(3, outdegree), in(3, indegree), to(outdegree), from(indegree))
    call tonari_neighborhood_ranks(near, to, from)
    call expect(all(to == targets), what // ': targets')
    do k = 1, outdegree
      out(:, k) = [rank, to(k), k]
    end do
    in = -1
    call tonari_alltoall(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, near)
    call expect(all(in(1, :) == from) .and. all(in(2, :) == rank) .and. all(in(3, :) > 0), what)
    call tonari_neighborhood_free(near)
  end subroutine

  ! To the next one and twice to itself; with the weights of both spellings.
  subroutine adjacent()
    type(tonari_neighborhood) :: near
    integer :: ones(3)
    ones = 1
    call tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 3, [rank, at(-1), rank], &
      MPI_UNWEIGHTED, 3, [at(1), rank, rank], MPI_UNWEIGHTED, MPI_INFO_NULL, near)
    call exchange(near, [at(1), rank, rank], 'adjacent')
    call tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 3, [rank, at(-1), rank], ones, 3, &
      [at(1), rank, rank], ones, MPI_INFO_NULL, near)
    call exchange(near, [at(1), rank, rank], 'adjacent with weights')
  end subroutine

  ! Weights are bytes: those that are given arrive in C.
  subroutine promised_sizes()
    type(tonari_neighborhood) :: near
    type(tonari_request) :: request
    INFO :: info
    integer :: out(4), in(4)
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'cdag_exact_byte_communications', 'true', ierror)
    call tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 1, [at(-1)], [16], 1, [at(1)], [16], &
                                             info, near)
    out = 10 * rank + [1, 2, 3, 4]
    call tonari_alltoall(out, 4, MPI_INTEGER, in, 4, MPI_INTEGER, near)
    call expect(all(in == 10 * at(-1) + [1, 2, 3, 4]), 'promised sizes')
    call tonari_alltoall_init(out, 3, MPI_INTEGER, in, 3, MPI_INTEGER, near, MPI_INFO_NULL, &
                              request, ierror)
    call expect_error(ierror, TONARI_ERR_PROMISE, '16', 'other sizes than promised')
    call tonari_neighborhood_free(near)
    call tonari_neighborhood_create_adjacent(MPI_COMM_WORLD, 1, [at(-1)], MPI_UNWEIGHTED, 1, &
                                             [at(1)], MPI_UNWEIGHTED, info, near, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'weight', 'promised sizes without weights')
    call expect(near == TONARI_NEIGHBORHOOD_NULL, 'no neighborhood after an error')
    call MPI_Info_free(info, ierror)
  end subroutine

  subroutine from_destinations()
    type(tonari_neighborhood) :: near
    call tonari_neighborhood_create_from_destinations(MPI_COMM_WORLD, 2, [at(1), 0], &
                                                      MPI_INFO_NULL, near)
    call exchange(near, [at(1), 0], 'from destinations')
  end subroutine

  subroutine from_graph()
    COMM :: graph
    type(tonari_neighborhood) :: near
    call MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, [at(-1)], MPI_UNWEIGHTED, 1, [at(1)], &
                                        MPI_UNWEIGHTED, MPI_INFO_NULL, .false., graph, ierror)
    call tonari_neighborhood_create_from_comm(graph, MPI_INFO_NULL, near)
    call MPI_Comm_free(graph, ierror)
    call exchange(near, [at(1)], 'from a distributed graph')
  end subroutine

  subroutine from_cart()
    COMM :: ring
    type(tonari_neighborhood) :: near
    integer, asynchronous :: out(2), in(2)
    call make_ring(ring)
    call tonari_neighborhood_create_from_comm(ring, MPI_INFO_NULL, near)
    out = 10 * rank + [1, 2]
    call tonari_alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, near)
    call expect(all(in == [10 * at(-1) + 2, 10 * at(1) + 1]), 'from a Cartesian communicator')
    call tonari_neighborhood_free(near)
    call MPI_Comm_free(ring, ierror)
  end subroutine

  subroutine versions()
    integer :: major, minor, patch
    character(20) :: word
    call tonari_version(major, minor, patch)
    write (word, '(i0,a,i0,a,i0)') major, '.', minor, '.', patch
    call expect(trim(word) == tonari_version_string(), 'versions')
  end subroutine

end program neighborhoods_test
