! SPDX-License-Identifier: BSD-3-Clause
! usage: mpirun -n P*Q test-scalapack-fortran P Q: calls Tessera by the names that a Fortran compiler makes of tessera_pdgemm
! and tessera_pdgetrf, and compares the results with ScaLAPACK's.
program test_scalapack
  use, intrinsic :: iso_c_binding, only: c_int, c_null_ptr, c_ptr
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  interface
    integer(c_int) function mpi_init_in_c(argc, argv, required, provided) bind(c, name='MPI_Init_thread')
      import
      type(c_ptr), value :: argc, argv
      integer(c_int), value :: required
      integer(c_int) :: provided
    end function
  end interface
  integer, external :: numroc
  external :: blacs_get, blacs_gridinit, blacs_gridinfo, blacs_exit, descinit
  external :: pdgemm, pdgetrf, pdgetrs, tessera_pdgemm, tessera_pdgetrf, tessera_pdgetrs
  integer, parameter :: n = 130, nb = 16, multiple = 3
  character(20) :: argument
  real(real64), allocatable :: A(:, :), B(:, :), C(:, :), D(:, :), F(:, :), G(:, :)
  integer, allocatable :: ours(:), theirs(:)
  integer :: context, p, q, row, column, rows, columns, desc(9), info, i, j
  integer(c_int) :: level
  logical :: right = .true.

  if (mpi_init_in_c(c_null_ptr, c_null_ptr, int(multiple, c_int), level) /= 0) error stop 'MPI'
  call get_command_argument(1, argument)
  read (argument, *) p
  call get_command_argument(2, argument)
  read (argument, *) q
  call blacs_get(-1, 0, context)
  call blacs_gridinit(context, 'Row', p, q)
  call blacs_gridinfo(context, p, q, row, column)
  rows = numroc(n, nb, row, 0, p)
  columns = numroc(n, nb, column, 0, q)
  call descinit(desc, n, n, nb, nb, 0, 0, context, max(1, rows), info)
  allocate (A(rows, columns), B(rows, columns), C(rows, columns), ours(rows + nb), theirs(rows + nb))
  do j = 1, columns
    do i = 1, rows
      A(i, j) = sin(0.37_real64 * (global(i, row, p) + 1) * (global(j, column, q) + 2))
      if (mod(nint(global(i, row, p)) + 5, n) == nint(global(j, column, q))) A(i, j) = n  ! a row below becomes the pivot
      B(i, j) = cos(3 * global(i, row, p) + 0.3_real64 * global(j, column, q))
      C(i, j) = i - j
    end do
  end do
  F = A
  G = A

  D = C
  call tessera_pdgemm('T', 'N', n, n, n, 0.5d0, A, 1, 1, desc, B, 1, 1, desc, 2d0, C, 1, 1, desc)
  call pdgemm('T', 'N', n, n, n, 0.5d0, A, 1, 1, desc, B, 1, 1, desc, 2d0, D, 1, 1, desc)
  call check('tessera_pdgemm', maxval(abs(C - D)) < 1d-11)

  call tessera_pdgetrf(n, n, F, 1, 1, desc, ours, info)
  call check('tessera_pdgetrf: info', info == 0)
  call pdgetrf(n, n, G, 1, 1, desc, theirs, info)
  call check('tessera_pdgetrf: pivots', all(ours(:rows) == theirs(:rows)))
  call check('tessera_pdgetrf', maxval(abs(F - G)) < 1d-9)

  C = B
  D = B
  call tessera_pdgetrs('N', n, n, F, 1, 1, desc, ours, C, 1, 1, desc, info)
  call pdgetrs('N', n, n, G, 1, 1, desc, theirs, D, 1, 1, desc, info)
  call check('tessera_pdgetrs', maxval(abs(C - D)) < 1d-7 * maxval(abs(D)))
  if (.not. right) error stop 1
  call blacs_exit(0)

contains

  subroutine check(what, is_right)
    character(*), intent(in) :: what
    logical, intent(in) :: is_right
    if (is_right) return
    print '(a, a, 2i3)', what, ' is wrong in process', row, column
    right = .false.
  end subroutine

  real(real64) function global(local, process, processes)
    integer, intent(in) :: local, process, processes
    global = ((local - 1) / nb * processes + process) * nb + mod(local - 1, nb)
  end function
end program
