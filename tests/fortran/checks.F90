! SPDX-License-Identifier: BSD-3-Clause
! What the tests of the Fortran module share: checks, and payloads that differ.
#include "handles.inc"
module checks
  USE_MPI
  use tonari
  implicit none
  integer :: rank, ranks

contains

  subroutine begin()
    integer :: ierror
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
  end subroutine

  subroutine finish()
    integer :: ierror
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a)', 'passed'
    call MPI_Finalize(ierror)
  end subroutine

  subroutine expect(holds, what)
    logical, intent(in) :: holds
    character(*), intent(in) :: what
    integer :: ierror
    if (holds) return
    print '(a,i0,2a)', 'rank ', rank, ' fails: ', what
    call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
  end subroutine

  ! The code, and a part of the sentence.
  subroutine expect_error(code, wanted, words, what)
    integer, intent(in) :: code, wanted
    character(*), intent(in) :: words, what
    call expect(code == wanted, what // ': ' // tonari_error_string(code))
    call expect(index(tonari_last_error(), words) > 0, what // ': ' // tonari_last_error())
  end subroutine

  ! Different for every sender, receiver, block and element.
  elemental real(kind(1d0)) function payload(from, to, block, element)
    integer, intent(in) :: from, to, block, element
    payload = 1d6 * from + 1d4 * to + 1d2 * block + element
  end function

  ! A periodic line of all ranks.
  subroutine make_ring(ring)
    COMM, intent(out) :: ring
    integer :: ierror
    call MPI_Cart_create(MPI_COMM_WORLD, 1, [ranks], [.true.], .false., ring, ierror)
  end subroutine

  integer function at(offset)
    integer, intent(in) :: offset
    at = modulo(rank + offset, ranks)
  end function

end module checks
