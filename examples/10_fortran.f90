! SPDX-License-Identifier: BSD-3-Clause
! Fortran: a product, and a system of linear equations. The calls use all cores or all GPUs, and return when the results
! are in place. The arguments are the same as in the BLAS and LAPACK.
program fortran_example
  use, intrinsic :: iso_fortran_env, only: real64
  use tessera
  implicit none
  integer, parameter :: m = 500, n = 400, k = 300
  real(real64), allocatable :: A(:, :), B(:, :), C(:, :), M0(:, :), factors(:, :), X(:, :)
  integer, allocatable :: pivots(:)
  integer :: i, info
  logical :: right

  allocate (A(m, k), B(k, n), C(m, n), M0(n, n), X(n, k))
  call random_number(A)
  call random_number(B)
  C = 1

  ! C <- 0.5 A B + 2 C
  call tessera_gemm('N', 'N', m, n, k, 0.5_real64, A, m, B, k, 2.0_real64, C, m)
  right = report('product', maxval(abs(C - (0.5 * matmul(A, B) + 2))), 1e-12_real64 * k)

  ! M0 X = B^T, by LU with partial pivoting. The diagonal is large, so M0 is far from singular.
  call random_number(M0)
  do i = 1, n
    M0(i, i) = M0(i, i) + n
  end do
  allocate (factors, source=M0)
  allocate (pivots(n))
  X = transpose(B)
  call tessera_gesv(n, k, factors, n, pivots, X, n, info)
  if (info /= 0) error stop 'singular'
  right = report('solution', maxval(abs(matmul(M0, X) - transpose(B))), 1e-12_real64 * n) .and. right

  if (.not. right) error stop 1

contains

  logical function report(what, error, bound)
    character(*), intent(in) :: what
    real(real64), intent(in) :: error, bound
    report = error <= bound  ! false for NaN
    print '(a10, es10.2, a)', what, error, merge('  right', '  WRONG', report)
  end function
end program
