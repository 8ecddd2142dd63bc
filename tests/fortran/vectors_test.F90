! SPDX-License-Identifier: BSD-3-Clause
! Vectors of every kind: indices and places count from 1.
#include "handles.inc"
program vectors_test
  USE_MPI
  use, intrinsic :: iso_fortran_env, only: real32, real64, int64
  use, intrinsic :: iso_c_binding, only: c_loc
  use tonari
  use checks
  implicit none
  integer, parameter :: n = 3  ! indices of a rank
  integer :: ierror

  call begin()
  call ranges()
  call components()
  call types()
  call neighbors()
  call ids()
  call shared()
  call boxes()
  call fields()
  call errors()
  call finish()

contains

  ! The value of a global index.
  elemental real(real64) function value(index)
    integer(int64), intent(in) :: index
    value = 100 + 7 * index
  end function

  integer(int64) function first(of_rank)
    integer, intent(in) :: of_rank
    first = n * of_rank + 1
  end function

  ! Needs the first index of the next rank, the last one of the rank before, and one of its own.
  subroutine make(vector, needed)
    type(tonari_vector), intent(out) :: vector
    integer(int64), intent(out) :: needed(3)
    needed = [first(at(1)), first(at(-1)) + n - 1, first(rank) + 1]
    call tonari_vector_create(MPI_COMM_WORLD, first(rank), int(n, int64), 3_int64, needed, &
                              MPI_INFO_NULL, vector)
  end subroutine

  subroutine ranges()
    type(tonari_vector) :: vector
    type(tonari_vector_facts) :: facts
    type(tonari_request) :: fill
    integer(int64) :: needed(3)
    real(real64), asynchronous :: x(n), ghosts(3), y(n)
    integer :: k
    call make(vector, needed)
    x = [(value(first(rank) + k), k = 0, n - 1)]
    ghosts = -1
    call tonari_vector_forward(vector, MPI_DOUBLE_PRECISION, x, ghosts)
    call expect(all(ghosts == value(needed)), 'forward')
    call tonari_vector_forward_init(vector, MPI_DOUBLE_PRECISION, x, ghosts, MPI_INFO_NULL, fill)
    x = 2 * x
    call tonari_start(fill)
    call tonari_wait(fill)
    call expect(all(ghosts == 2 * value(needed)), 'forward, as a request')
    y = -x
    call tonari_start_with(fill, y, ghosts)
    call tonari_wait(fill)
    call expect(all(ghosts == -2 * value(needed)), 'forward of another array')
    call tonari_request_free(fill)

    ! ghosts 1 and 3 of all ranks are for the first two indices, ghost 2 for the last one
    x = 0
    ghosts = [10d0, 200d0, 3000d0] * (rank + 1)
    call tonari_vector_reverse(vector, MPI_DOUBLE_PRECISION, MPI_SUM, ghosts, x)
    call expect(all(x == [10d0 * (at(-1) + 1), 3000d0 * (rank + 1), 200d0 * (at(1) + 1)]), &
                'reverse')
    call tonari_vector_reverse_init(vector, MPI_DOUBLE_PRECISION, MPI_MAX, ghosts, x, &
                                    MPI_INFO_NULL, fill)
    x = 1d9
    ghosts(2) = 2d9
    call tonari_start(fill)
    call tonari_wait(fill)
    call tonari_request_free(fill)
    call expect(all(x == [1d9, 1d9, 2d9]), 'reverse, as a request')

    call tonari_vector_get_facts(vector, facts)
    call expect(facts%route == 'direct' .and. facts%owned_length == n .and. &
                facts%ghost_length == 3, 'facts')
    call tonari_vector_free(vector)
    call expect(vector == TONARI_VECTOR_NULL, 'a freed vector is null')
  end subroutine

  ! Two components of each index, in two vectors that lie further apart.
  subroutine components()
    type(tonari_vector) :: vector
    integer(int64) :: needed(3)
    real(real64), asynchronous :: x(2, n, 2), ghosts(2, 4, 2)
    integer :: k, v
    call make(vector, needed)
    do v = 1, 2
      do k = 1, n
        x(:, k, v) = value(first(rank) + k - 1) + [1000d0, 2000d0] * v
      end do
    end do
    ghosts = -1
    call tonari_vector_forward(vector, MPI_DOUBLE_PRECISION, x, ghosts, &
                               values=tonari_vector_values(components=2, vectors=2, ghost_stride=8))
    do v = 1, 2
      do k = 1, 3
        call expect(all(ghosts(:, k, v) == value(needed(k)) + [1000d0, 2000d0] * v), 'components')
      end do
      call expect(all(ghosts(:, 4, v) == -1), 'strides')
    end do
    call tonari_vector_free(vector)
  end subroutine

  ! Numbers of Fortran are those of C with as many bytes.
  subroutine types()
    type(tonari_vector) :: vector
    integer(int64) :: needed(3)
    integer :: whole(n), ghosts(3)
    integer(int64) :: long(n), long_ghosts(3)
    real(real32) :: short(n), short_ghosts(3)
    complex(real64) :: z(n), z_ghosts(3)
    call make(vector, needed)
    whole = 5
    ghosts = [1, 2, 3] * (rank + 1)
    call tonari_vector_reverse(vector, MPI_INTEGER, MPI_SUM, ghosts, whole)
    call expect(all(whole == 5 + [at(-1) + 1, 3 * (rank + 1), 2 * (at(1) + 1)]), 'MPI_INTEGER')
    long = 2_int64**40
    long_ghosts = ghosts
    call tonari_vector_reverse(vector, MPI_INTEGER8, MPI_MIN, long_ghosts, long)
    call expect(all(long == whole - 5), 'MPI_INTEGER8')
    short = 0
    short_ghosts = real(ghosts, real32)
    call tonari_vector_reverse(vector, MPI_REAL, MPI_SUM, short_ghosts, short)
    call expect(all(nint(short) == whole - 5), 'MPI_REAL')
    z = 0
    z_ghosts = cmplx(ghosts, -ghosts, real64)
    call tonari_vector_reverse(vector, MPI_DOUBLE_COMPLEX, MPI_SUM, z_ghosts, z)
    call expect(all(z == cmplx(whole - 5, 5 - whole, real64)), 'MPI_DOUBLE_COMPLEX')
    call tonari_vector_reverse(vector, MPI_DOUBLE_COMPLEX, MPI_MAX, z_ghosts, z, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'complex', 'complex numbers have no maximum')
    call tonari_vector_free(vector)
  end subroutine

  ! Lists of places: 2 and 3 go to the next rank, which wants them behind its own values.
  subroutine neighbors()
    type(tonari_vector) :: vector
    real(real64) :: x(n + 2), y(5)
    call tonari_vector_create_from_neighbors(MPI_COMM_WORLD, int(n, int64), 1, [at(1)], [2], &
                                             [2, 3], 1, [at(-1)], [2], MPI_INFO_NULL, vector)
    x(:n) = payload(rank, 0, 0, [1, 2, 3])
    call tonari_vector_forward(vector, MPI_DOUBLE_PRECISION, x(:n), x(n + 1:))
    call expect(all(x(n + 1:) == payload(at(-1), 0, 0, [2, 3])), 'lists of neighbors')
    call tonari_vector_free(vector)
    call tonari_vector_create_from_neighbors(MPI_COMM_WORLD, int(n, int64), 1, [at(1)], [2], &
                                             [1, 3], 1, [at(-1)], [2], MPI_INFO_NULL, vector, &
                                             recv_places=[5, 4])
    y = -1
    y(:n) = payload(rank, 1, 1, [1, 2, 3])
    call tonari_vector_forward(vector, MPI_DOUBLE_PRECISION, y, y)
    call expect(all(y(4:5) == payload(at(-1), 1, 1, [3, 1])), 'places of neighbors')
    call tonari_vector_free(vector)
  end subroutine

  ! Ids with gaps, which lie the other way round; ghosts at every other place.
  subroutine ids()
    type(tonari_vector) :: vector
    integer(int64) :: own(2), needed(2)
    real(real64) :: x(2), ghosts(4)
    own = 1000_int64 * rank - [7, 3]
    needed = 1000_int64 * at(1) - [3, 7]
    call tonari_vector_create_from_ids(MPI_COMM_WORLD, 2_int64, own, 2_int64, needed, &
                                       MPI_INFO_NULL, vector, owned_places=[2, 1], &
                                       ghost_places=[1, 3])
    x = [value(own(2)), value(own(1))]
    ghosts = -1
    call tonari_vector_forward(vector, MPI_DOUBLE_PRECISION, x, ghosts)
    call expect(all(ghosts(1::2) == value(needed)) .and. all(ghosts(2::2) == -1), 'ids')
    call tonari_vector_free(vector)
  end subroutine

  ! Every rank has an id of its own; all have id 99.
  subroutine shared()
    type(tonari_vector) :: vector
    type(tonari_request) :: request
    real(real64), asynchronous :: x(3)
    call tonari_vector_create_shared(MPI_COMM_WORLD, 2_int64, [99_int64, 100_int64 + rank], &
                                     MPI_INFO_NULL, vector, places=[3, 1])
    x = [10d0, -1d0, 1d0 + rank]
    call tonari_vector_combine(vector, MPI_DOUBLE_PRECISION, MPI_SUM, x, x)
    call expect(all(x == [10d0, -1d0, ranks * (ranks + 1) / 2d0]), 'combine')
    call tonari_vector_combine_init(vector, MPI_DOUBLE_PRECISION, MPI_MIN, x, x, MPI_INFO_NULL, &
                                    request)
    x(3) = -rank
    call tonari_start(request)
    call tonari_wait(request)
    call tonari_request_free(request)
    call expect(x(3) == 1 - ranks, 'combine, as a request')
    call tonari_vector_free(vector)
  end subroutine

  ! A line of boxes of two cells: their end nodes are shared; cells have one neighbor on each side.
  subroutine boxes()
    COMM :: ring
    type(tonari_vector) :: vector
    real(real64) :: nodes(3), cells(4)
    call make_ring(ring)
    call tonari_vector_create_box_nodes(ring, [2], MPI_INFO_NULL, vector)
    nodes = 1
    call tonari_vector_combine(vector, MPI_DOUBLE_PRECISION, MPI_SUM, nodes, nodes)
    call expect(all(nodes == [2, 1, 2]), 'nodes of boxes')
    call tonari_vector_free(vector)
    call tonari_vector_create_box_cells(ring, [2], 1, 0, MPI_INFO_NULL, vector)
    cells(:2) = payload(rank, 2, 2, [1, 2])
    call tonari_vector_forward(vector, MPI_DOUBLE_PRECISION, cells(:2), cells(3:))
    call expect(all(cells(3:) == [payload(at(-1), 2, 2, 2), payload(at(1), 2, 2, 1)]), &
                'cells of boxes')
    call tonari_vector_free(vector)
    call MPI_Comm_free(ring, ierror)
  end subroutine

  ! Numbers of two types in one message, in all directions.
  subroutine fields()
    type(tonari_vector) :: vector
    type(tonari_vector_field) :: field(2)
    type(tonari_request) :: request
    integer(int64) :: needed(3)
    real(real64), target, asynchronous :: x(n), ghosts(3)
    integer, target, asynchronous :: whole(2, n), whole_ghosts(2, 3)
    integer :: k
    call make(vector, needed)
    field(1) = tonari_field(x, ghosts, MPI_DOUBLE_PRECISION)
    field(2) = tonari_field(whole, whole_ghosts, MPI_INTEGER, tonari_vector_values(components=2))
    x = [(value(first(rank) + k), k = 0, n - 1)]
    whole(1, :) = nint(x)
    whole(2, :) = -nint(x)
    call tonari_vector_forward_fields(vector, 2, field)
    call expect_filled(ghosts, whole_ghosts, needed)
    call tonari_vector_forward_fields_init(vector, 2, field, MPI_INFO_NULL, request)
    ghosts = 0
    whole_ghosts = 0
    call tonari_start(request)
    call tonari_wait(request)
    call tonari_request_free(request)
    call expect_filled(ghosts, whole_ghosts, needed)

    x = 0
    whole = 0
    ghosts = 1
    whole_ghosts = 3
    call tonari_vector_reverse_fields(vector, 2, field, MPI_SUM)
    call expect(all(x == 1) .and. all(whole == 3), 'reverse of fields')
    call tonari_vector_reverse_fields_init(vector, 2, field, MPI_SUM, MPI_INFO_NULL, request)
    call tonari_start(request)
    call tonari_wait(request)
    call tonari_request_free(request)
    call expect(all(x == 2) .and. all(whole == 6), 'reverse of fields, as a request')
    call tonari_vector_combine_fields(vector, 2, field, MPI_SUM)
    call expect(all(x == 3) .and. all(ghosts == 3) .and. all(whole_ghosts == 9), &
                'combine of fields')
    call tonari_vector_combine_fields_init(vector, 2, field, MPI_SUM, MPI_INFO_NULL, request)
    call tonari_start(request)
    call tonari_wait(request)
    call tonari_request_free(request)
    call expect(all(x == 6) .and. all(ghosts == 6) .and. all(whole_ghosts == 18), &
                'combine of fields, as a request')
    call tonari_vector_free(vector)
  end subroutine

  subroutine expect_filled(ghosts, whole, needed)
    real(real64), intent(in) :: ghosts(3)
    integer, intent(in) :: whole(2, 3)
    integer(int64), intent(in) :: needed(3)
    call expect(all(ghosts == value(needed)) .and. all(whole(1, :) == nint(value(needed))) .and. &
                all(whole(2, :) == -nint(value(needed))), 'forward of fields')
  end subroutine

  subroutine errors()
    type(tonari_vector) :: vector
    integer(int64) :: needed(3)
    real(real64) :: x(n), table(3, 3)
    call tonari_vector_create(MPI_COMM_WORLD, first(rank), int(n, int64), 1_int64, &
                              [int(n * ranks + 1, int64)], MPI_INFO_NULL, vector, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'rank', 'an index behind the last one')
    call make(vector, needed)
    x = 0
    table = 0
    call tonari_vector_forward(vector, MPI_DOUBLE_PRECISION, x, table(2, :), ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, '`ghosts` is an array that is not contiguous', &
                      'a row for ghosts')
    call tonari_vector_free(vector)
  end subroutine

end program vectors_test
