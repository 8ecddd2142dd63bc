! SPDX-License-Identifier: BSD-3-Clause
! Grids and blocks in the order of Fortran: own cells count from 1, ghosts lie below and above.
#include "handles.inc"
program grids_test
  USE_MPI
  use, intrinsic :: iso_fortran_env, only: real32, real64, int32, int64
  use, intrinsic :: iso_c_binding, only: c_ptr, c_loc, c_f_pointer
  use tonari
  use checks
  implicit none
  integer, parameter :: n1 = 6, n2 = 4  ! own cells of a rank
  COMM :: cart
  integer :: dims(2), coords(2), ierror

  call begin()
  dims = 0
  call MPI_Dims_create(ranks, 2, dims, ierror)
  ! the first dimension is periodic, the second is not
  call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .false.], .false., cart, ierror)
  call MPI_Cart_coords(cart, rank, 2, coords, ierror)
  call exchanges()
  call own_arrays()
  call reverse()
  call pairs()
  call files()
  call parts()
  call pointers()
  call blocks()
  call MPI_Comm_free(cart, ierror)
  call finish()

contains

  type(tonari_grid_shape) function shape_of_rank(copies) result(shape)
    integer, intent(in) :: copies
    shape%dims = 2
    shape%local = .true.
    shape%cells(:2) = [n1, n2]
    shape%lower(:2) = [1, 2]
    shape%upper(:2) = [2, 1]
    shape%copies = copies
  end function

  ! Of a cell of the whole grid, whose cells count from 1; 0 beyond its border.
  elemental real(real64) function value(i, j)
    integer(int64), intent(in) :: i, j
    value = 0
    if (j < 1 .or. j > n2 * dims(2)) return
    value = 1000 * (1 + modulo(i - 1, int(n1 * dims(1), int64))) + j
  end function

  subroutine fill(u, first)
    real(real64), intent(inout) :: u(0:, -1:)
    integer(int64), intent(in) :: first(2)
    integer :: i, j
    u = 0
    do j = 1, n2
      do i = 1, n1
        u(i, j) = value(first(1) + i - 1, first(2) + j - 1)
      end do
    end do
  end subroutine

  ! All ghosts, or those along one dimension only.
  subroutine expect_ghosts(u, first, factor, faces, what)
    real(real64), intent(in) :: u(0:, -1:)
    integer(int64), intent(in) :: first(2)
    integer, intent(in) :: factor
    logical, intent(in) :: faces
    character(*), intent(in) :: what
    integer :: i, j
    logical :: corner
    do j = -1, n2 + 1
      do i = 0, n1 + 2
        corner = (i < 1 .or. i > n1) .and. (j < 1 .or. j > n2)
        if (faces .and. corner) then
          call expect(u(i, j) == 0, what // ': a corner')
        else
          call expect(u(i, j) == factor * value(first(1) + i - 1, first(2) + j - 1), what)
        end if
      end do
    end do
  end subroutine

  subroutine exchanges()
    type(tonari_grid) :: grid
    type(tonari_request) :: halo(2), faces
    type(tonari_grid_info) :: info
    type(tonari_array) :: array
    type(tonari_ghosts) :: ghosts
    INFO :: keys
    type(c_ptr) :: cell
    real(real64), pointer :: u(:, :), v(:, :), one
    integer(int64) :: first(2), cells(2)
    integer :: c
    call tonari_grid_create(cart, shape_of_rank(2), MPI_DOUBLE_PRECISION, MPI_INFO_NULL, grid)
    call tonari_grid_get_info(grid, info)
    call expect(info%dims == 2 .and. info%copies == 2 .and. info%element_bytes == 8 .and. &
                all(info%global(:2) == [n1, n2] * dims), 'info')
    call tonari_grid_get_cells(grid, 1, first, cells)
    call expect(all(first == coords * [n1, n2] + 1) .and. all(cells == [n1, n2]), 'cells')
    call tonari_grid_get_array(grid, 1, array)
    call expect(array%stride(1) == 1 .and. array%stride(2) == n1 + 3, 'strides')
    do c = 1, 2
      call tonari_grid_exchange_init(grid, c, MPI_INFO_NULL, halo(c))
    end do
    call tonari_grid_data(grid, 1, 1, 1, u)
    call tonari_grid_data(grid, 1, 2, 1, v)
    call expect(all(lbound(u) == [0, -1]) .and. all(ubound(u) == [n1 + 2, n2 + 1]), 'bounds')
    call fill(u, first)
    call fill(v, first)
    v = -v
    call tonari_start(halo(1))
    call tonari_wait(halo(1))
    call expect_ghosts(u, first, 1, .false., 'the first copy')
    call expect(v(0, 1) == 0, 'the second copy is left alone')
    call tonari_start(halo(2))
    call tonari_wait(halo(2))
    call expect_ghosts(v, first, -1, .false., 'the second copy')
    call tonari_grid_at(grid, 1, 2, 1, [0_int64, 1_int64], cell)
    call c_f_pointer(cell, one)
    call expect(associated(one, v(0, 1)), 'the address of a cell')

    ghosts%along = 1
    call fill(u, first)
    call tonari_grid_forward(grid, 1, ghosts)
    call expect_ghosts(u, first, 1, .true., 'faces, once')
    call fill(u, first)
    call MPI_Info_create(keys, ierror)
    call MPI_Info_set(keys, 'tonari_halo', 'plan', ierror)  ! shift would fill corners on its way
    call tonari_grid_forward_init(grid, 1, ghosts, keys, faces)
    call MPI_Info_free(keys, ierror)
    call tonari_start(faces)
    call tonari_wait(faces)
    call tonari_request_free(faces)
    call expect_ghosts(u, first, 1, .true., 'faces, as a request')
    call tonari_grid_free(grid, ierror)
    call expect_error(ierror, TONARI_ERR_ACTIVE, 'request', 'a grid in use')
    do c = 1, 2
      call tonari_request_free(halo(c))
    end do
    call tonari_grid_free(grid)
    call expect(grid == TONARI_GRID_NULL, 'a freed grid is null')
  end subroutine

  ! Two fields in arrays of the program, and then in others.
  subroutine own_arrays()
    type(tonari_grid) :: grid
    type(tonari_grid_shape) :: shape
    type(tonari_request) :: halo
    real(real64), target, asynchronous :: u(0:n1 + 2, -1:n2 + 1, 2), v(0:n1 + 2, -1:n2 + 1, 2)
    real(real64), pointer :: p(:, :)
    integer(int64) :: first(2), cells(2)
    shape = shape_of_rank(1)
    shape%fields = 2
    call tonari_grid_create(cart, shape, MPI_DOUBLE_PRECISION, MPI_INFO_NULL, grid, &
                            arrays=[c_loc(u(0, -1, 1)), c_loc(u(0, -1, 2))])
    call tonari_grid_get_cells(grid, 1, first, cells)
    call tonari_grid_data(grid, 1, 1, 2, p)
    call expect(associated(p, u(:, :, 2)), 'the array of the program')
    call tonari_grid_exchange_init(grid, 1, MPI_INFO_NULL, halo)
    call fill(u(:, :, 1), first)
    call fill(u(:, :, 2), first)
    u(:, :, 2) = -3 * u(:, :, 2)
    v = 5 * u
    call tonari_start(halo)
    call tonari_wait(halo)
    call expect_ghosts(u(:, :, 1), first, 1, .false., 'own arrays, field 1')
    call expect_ghosts(u(:, :, 2), first, -3, .false., 'own arrays, field 2')
    call tonari_grid_start_with(halo, [c_loc(v(0, -1, 1)), c_loc(v(0, -1, 2))])
    call tonari_wait(halo)
    call expect_ghosts(v(:, :, 1), first, 5, .false., 'other arrays, field 1')
    call expect_ghosts(v(:, :, 2), first, -15, .false., 'other arrays, field 2')
    call tonari_request_free(halo)
    call tonari_grid_free(grid)
  end subroutine

  ! Every cell and ghost is 1; then own cells are as many as they have ghosts, and one more.
  subroutine reverse()
    type(tonari_grid) :: grid
    type(tonari_request) :: request
    real(real64), pointer :: u(:, :)
    integer :: i, j, along(2)
    call tonari_grid_create(cart, shape_of_rank(1), MPI_DOUBLE_PRECISION, MPI_INFO_NULL, grid)
    call tonari_grid_data(grid, 1, 1, 1, u)
    u = 1
    call tonari_grid_reverse(grid, 1, tonari_ghosts(), MPI_SUM)
    do j = 1, n2
      do i = 1, n1
        along = 1  ! subdomains that have the cell, along each dimension
        if (i > n1 - 1) along(1) = along(1) + 1
        if (i <= 2) along(1) = along(1) + 1
        if (j > n2 - 2 .and. coords(2) < dims(2) - 1) along(2) = along(2) + 1
        if (j <= 1 .and. coords(2) > 0) along(2) = along(2) + 1
        call expect(u(i, j) == product(along), 'reverse')
      end do
    end do
    call tonari_grid_reverse_init(grid, 1, tonari_ghosts(), MPI_MAX, MPI_INFO_NULL, request)
    u = 1
    u(0, :) = 2
    call tonari_start(request)
    call tonari_wait(request)
    call tonari_request_free(request)
    call expect(all(u(n1, 1:n2) == 2) .and. all(u(1:n1 - 1, 1:n2) == 1), 'reverse, as a request')
    call tonari_grid_reverse(grid, 1, tonari_ghosts(), MPI_PROD, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'MPI_SUM', 'a product')
    call tonari_grid_free(grid)
  end subroutine

  ! A cell of two numbers, twice: their type is read, and stays, since it is predefined.
  subroutine pairs()
    type(tonari_grid) :: grid
    type(tonari_grid_shape) :: shape
    DATATYPE :: pair
    real(real64), target :: u(2, 0:n1 + 2, -1:n2 + 1)
    integer :: time
    shape = shape_of_rank(1)
    do time = 1, 2
      call MPI_Type_contiguous(2, MPI_DOUBLE_PRECISION, pair, ierror)
      call MPI_Type_commit(pair, ierror)
      call tonari_grid_create(cart, shape, pair, MPI_INFO_NULL, grid, arrays=[c_loc(u)])
      call MPI_Type_free(pair, ierror)
      u(1, :, :) = 1
      u(2, :, :) = 10
      call tonari_grid_reverse(grid, 1, tonari_ghosts(), MPI_SUM)
      call expect(all(u(1, 3:n1 - 1, 2:n2 - 2) == 1) .and. all(u(1, 1, 2:n2 - 2) == 2) .and. &
                  all(u(2, 1:n1, 1:n2) == 10 * u(1, 1:n1, 1:n2)), 'pairs of numbers')
      call tonari_grid_free(grid)
    end do
  end subroutine

  subroutine files()
    type(tonari_grid) :: grid
    real(real64), pointer :: u(:, :)
    real(real64) :: own(n1, n2), some(2, 3)
    integer(int64) :: first(2), cells(2)
    character(:), allocatable :: name
    character(200) :: folder
    integer :: unit, status
    call get_environment_variable('TMPDIR', folder, status=status)
    if (status /= 0) folder = '/tmp'
    name = trim(folder) // '/tonari-fortran-' // number_of_job() // '.npy  '
    call tonari_grid_create(cart, shape_of_rank(2), MPI_DOUBLE_PRECISION, MPI_INFO_NULL, grid)
    call tonari_grid_get_cells(grid, 1, first, cells)
    call tonari_grid_data(grid, 1, 1, 1, u)
    call fill(u, first)
    call tonari_grid_export(grid, 1, 1, 1, own)
    call expect(all(own == u(1:n1, 1:n2)), 'export')
    call tonari_grid_export(grid, 1, 1, 1, some, box=tonari_box([2, 1, 0, 0, 0], [3, 3, 0, 0, 0]))
    call expect(all(some == u(2:3, 1:3)), 'export of a box')
    call tonari_grid_import(grid, 1, 1, 1, -own)
    call expect(all(u(1:n1, 1:n2) == -own), 'import')
    own(2:3, 1:3) = 7 + rank
    call tonari_grid_import(grid, 1, 1, 1, own(2:3, 1:3) + 0, &
                            box=tonari_box([2, 1, 0, 0, 0], [3, 3, 0, 0, 0]))
    call expect(all(u(1:n1, 1:n2) == merge(own, -own, own > 0 .and. own < 7 + ranks)), &
                'import of a box')
    own = u(1:n1, 1:n2)
    call tonari_grid_save(grid, 1, 1, name)
    call tonari_grid_load(grid, 2, 1, name)
    call tonari_grid_data(grid, 1, 2, 1, u)
    call expect(all(u(1:n1, 1:n2) == own), 'load what was saved')
    call MPI_Barrier(cart, ierror)
    if (rank == 0) then
      open (newunit=unit, file=trim(name))
      close (unit, status='delete')
    end if
    call MPI_Barrier(cart, ierror)
    call tonari_grid_load(grid, 2, 1, name, ierror)
    call expect_error(ierror, TONARI_ERR_FILE, 'npy', 'no such file')
    call tonari_grid_free(grid)
  end subroutine

  ! The same on all ranks.
  function number_of_job() result(text)
    character(:), allocatable :: text
    character(20) :: word
    integer(int64) :: ticks
    call system_clock(ticks)
    call MPI_Bcast(ticks, 1, MPI_INTEGER8, 0, MPI_COMM_WORLD, ierror)
    write (word, '(i0)') ticks
    text = trim(word)
  end function

  subroutine parts()
    type(tonari_grid) :: grid
    type(tonari_box), allocatable :: boxes(:)
    integer :: k
    integer(int64) :: cells
    call tonari_grid_create(cart, shape_of_rank(1), MPI_DOUBLE_PRECISION, MPI_INFO_NULL, grid)
    call tonari_grid_boxes(grid, 1, TONARI_PART_INTERIOR, boxes)
    call expect(size(boxes) == 1, 'one interior')
    call expect(all(boxes(1)%first(:2) == [3, 2]) .and. &
                all(boxes(1)%last(:2) == [n1 - 1, n2 - 2]), 'the interior')
    call tonari_grid_boxes(grid, 1, TONARI_PART_GHOSTS, boxes)
    cells = 0
    do k = 1, size(boxes)
      cells = cells + product(boxes(k)%last(:2) - boxes(k)%first(:2) + 1)
    end do
    call expect(cells == (n1 + 3) * (n2 + 3) - n1 * n2, 'the ghosts')
    call tonari_grid_boxes(grid, 2, TONARI_PART_GHOSTS, boxes, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'subdomain', 'no second subdomain')
    call tonari_grid_free(grid)
  end subroutine

  ! Of the right type and rank only; three dimensions as well.
  subroutine pointers()
    COMM :: cube
    type(tonari_grid) :: grid
    type(tonari_grid_shape) :: shape
    real(real64), pointer :: wrong(:, :, :)
    real(real32), pointer :: flat(:, :), u(:, :, :)
    integer(int32), pointer :: whole(:, :, :)
    integer :: all_dims(3)
    all_dims = 0
    call MPI_Dims_create(ranks, 3, all_dims, ierror)
    call MPI_Cart_create(MPI_COMM_WORLD, 3, all_dims, [.true., .true., .true.], .false., cube, &
                         ierror)
    shape%dims = 3
    shape%cells(:3) = all_dims * [3, 2, 4]
    shape%lower(:3) = [1, 2, 1]
    shape%upper(:3) = [1, 2, 1]
    call tonari_grid_create(cube, shape, MPI_REAL, MPI_INFO_NULL, grid)
    call tonari_grid_data(grid, 1, 1, 1, u)
    call expect(all(lbound(u) == [0, -1, 0]) .and. all(ubound(u) == [4, 4, 5]), '3-d bounds')
    u(1:3, 1:2, 1:4) = 1 + rank
    call tonari_grid_forward(grid, 1, tonari_ghosts())
    call expect(all(u >= 1 .and. u <= ranks), '3-d ghosts')
    call tonari_grid_data(grid, 1, 1, 1, whole)
    call expect(associated(whole), 'another type of the same size')
    call tonari_grid_data(grid, 1, 1, 1, wrong, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'size', 'a pointer of another type')
    call expect(.not. associated(wrong), 'no pointer after an error')
    call tonari_grid_data(grid, 1, 1, 1, flat, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'dimensions', 'a pointer of another rank')
    call tonari_grid_data(grid, 1, 2, 1, u, ierror)
    call expect_error(ierror, TONARI_ERR_ARGUMENT, 'copy', 'no second copy')
    call tonari_grid_free(grid)
    call MPI_Comm_free(cube, ierror)
  end subroutine

  ! Two blocks per rank in a line, the second of a rank above its first; their owners take turns.
  subroutine blocks()
    integer, parameter :: length = 3
    type(tonari_blocks) :: all_blocks
    type(tonari_blocks_shape) :: shape
    type(tonari_box) :: boxes(2 * ranks)
    type(tonari_request) :: request
    type(tonari_array) :: array
    type(tonari_ghosts) :: ghosts
    INFO :: info
    integer :: owners(2 * ranks), b
    integer(int64), allocatable :: own(:)
    real(real64), target, asynchronous :: u(0:length + 1, 2), v(0:length + 1, 2)
    do b = 1, 2 * ranks
      boxes(b)%first(1) = length * (b - 1) + 1
      boxes(b)%last(1) = length * b
      owners(b) = modulo(b - 1, ranks)
    end do
    shape%dims = 1
    shape%domain%first(1) = 1
    shape%domain%last(1) = 2 * ranks * length
    shape%periodic(1) = .true.
    shape%lower(1) = 1
    shape%upper(1) = 1
    call tonari_blocks_create(MPI_COMM_WORLD, shape, boxes, owners, MPI_DOUBLE_PRECISION, &
                              MPI_INFO_NULL, all_blocks)
    call tonari_blocks_get_own(all_blocks, own)
    call expect(all(own == [rank + 1, rank + ranks + 1]), 'own blocks')
    call tonari_blocks_get_array(all_blocks, own(2), array)
    call expect(array%own(1) == length .and. array%lower(1) == 1, 'the array of a block')
    call MPI_Info_create(info, ierror)
    call MPI_Info_set(info, 'tonari_start_with', 'yes', ierror)
    call tonari_blocks_forward_init(all_blocks, [c_loc(u(0, 1)), c_loc(u(0, 2))], ghosts, info, &
                                    request)
    call MPI_Info_free(info, ierror)
    call fill_blocks(u, own, 1)
    call tonari_start(request)
    call tonari_wait(request)
    call expect_blocks(u, own, 1)
    call fill_blocks(v, own, 7)
    call tonari_blocks_start_with(request, [c_loc(v(0, 1)), c_loc(v(0, 2))])
    call tonari_wait(request)
    call expect_blocks(v, own, 7)
    call tonari_request_free(request)
    call fill_blocks(u, own, -2)
    call tonari_blocks_forward(all_blocks, [c_loc(u(0, 1)), c_loc(u(0, 2))], ghosts)
    call expect_blocks(u, own, -2)
    u = 1
    call tonari_blocks_reverse(all_blocks, [c_loc(u(0, 1)), c_loc(u(0, 2))], ghosts, MPI_SUM)
    call expect(all(u(1, :) == 2) .and. all(u(2, :) == 1) .and. all(u(3, :) == 2), &
                'reverse of blocks')
    call tonari_blocks_reverse_init(all_blocks, [c_loc(u(0, 1)), c_loc(u(0, 2))], ghosts, MPI_MIN, &
                                    MPI_INFO_NULL, request)
    u(0, :) = -4
    call tonari_start(request)
    call tonari_wait(request)
    call tonari_request_free(request)
    call expect(all(u(3, :) == -4) .and. all(u(1, :) == 1), 'reverse of blocks, as a request')
    call tonari_blocks_free(all_blocks)
    call expect(all_blocks == TONARI_BLOCKS_NULL, 'freed blocks are null')
  end subroutine

  ! Cell i of a block holds the number of its cell of the line.
  subroutine fill_blocks(u, own, factor)
    real(real64), intent(out) :: u(0:, :)
    integer(int64), intent(in) :: own(:)
    integer, intent(in) :: factor
    integer :: b, i
    u = 0
    do b = 1, 2
      u(1:3, b) = [(factor * real(3 * (own(b) - 1) + i, real64), i = 1, 3)]
    end do
  end subroutine

  subroutine expect_blocks(u, own, factor)
    real(real64), intent(in) :: u(0:, :)
    integer(int64), intent(in) :: own(:)
    integer, intent(in) :: factor
    integer :: b, i
    do b = 1, 2
      do i = 0, 4
        call expect(u(i, b) == factor * (1 + modulo(3 * (own(b) - 1) + i - 1, 6_int64 * ranks)), &
                    'ghosts of blocks')
      end do
    end do
  end subroutine

end program grids_test
