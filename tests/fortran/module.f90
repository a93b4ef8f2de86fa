! SPDX-License-Identifier: BSD-3-Clause
! The Fortran module: each type, each kind of argument, both kinds of integers, and what becomes of errors. With the
! argument `stop`, an illegal call without `stat`, which ends the program; with `variable`, a wrong value of TESSERA_TILE.
program test_module
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use tessera
  implicit none
  integer, parameter :: n = 40, k = 30, ld = n + 3
  real(real64) :: reals(ld, n, 2)
  complex(real64) :: Z(ld, n), W(ld, n)
  complex(real32) :: V(ld, n)
  integer :: failures = 0
  character(20) :: argument

  call get_command_argument(1, argument)
  if (argument == 'stop') then
    call tessera_gemm('N', 'N', n, n, k, 1d0, reals(:, :, 1), 1, reals(:, :, 2), ld, 0d0, reals(:, :, 2), ld)
    stop 'it went on'
  end if
  if (argument == 'variable') then
    call wrong_variable
    stop
  end if

  call random_number(reals)
  Z = cmplx(reals(:, :, 1), reals(:, :, 2), real64)
  W = cmplx(reals(:, :, 2), -reals(:, :, 1), real64)
  V = cmplx(Z, kind=real32)
  call products
  call submatrix
  call updates
  call triangles
  call cholesky
  call lu
  call least_squares
  call illegal
  call runtime
  if (failures > 0) error stop 1

contains

  subroutine check(what, right)
    character(*), intent(in) :: what
    logical, intent(in) :: right
    if (.not. right) print '(a)', 'WRONG: '//what
    if (.not. right) failures = failures + 1
  end subroutine

  logical function near(X, Y, bound)
    complex(real64), intent(in) :: X(:, :), Y(:, :)
    real(real64), intent(in) :: bound
    near = maxval(abs(X - Y)) <= bound
  end function

  subroutine products
    real(real64) :: A(ld, n), B(ld, n), C(ld, n), expected(k, n)
    complex(real64) :: F(ld, n), expected_z(k, n)
    complex(real32) :: G(ld, n)
    real(real32) :: S(ld, n)
    A = reals(:, :, 1)
    B = reals(:, :, 2)
    C = 1
    expected = 2 * matmul(transpose(A(:n, :k)), B(:n, :)) + 3
    call tessera_gemm('t', 'n', k, n, n, 2d0, A, ld, B, ld, 3d0, C, ld)
    call check('dgemm', maxval(abs(C(:k, :) - expected)) < 1d-12 .and. all(C(k + 1:, :) == 1))
    C = 1
    call tessera_gemm('T', 'N', int(k, int64), int(n, int64), int(n, int64), 2d0, A, int(ld, int64), B, &
                      int(ld, int64), 3d0, C, int(ld, int64))
    call check('dgemm with sizes of 64 bits', maxval(abs(C(:k, :) - expected)) < 1d-12)
    S = 1
    call tessera_gemm('T', 'N', k, n, n, 2., real(A, real32), ld, real(B, real32), ld, 3., S, ld)
    call check('sgemm', maxval(abs(S(:k, :) - expected)) < 1e-3)
    expected_z = (0d0, 1d0) * matmul(conjg(transpose(Z(:n, :k))), W(:n, :))
    F = huge(1d0)
    call tessera_gemm('C', 'N', k, n, n, (0d0, 1d0), Z, ld, W, ld, (0d0, 0d0), F, ld)
    call check('zgemm', near(F(:k, :), expected_z, 1d-12))
    call tessera_gemm('C', 'N', k, n, n, (0., 1.), V, ld, cmplx(W, kind=real32), ld, (0., 0.), G, ld)
    call check('cgemm', near(cmplx(G(:k, :), kind=real64), expected_z, 1d-3))
  end subroutine

  subroutine submatrix
    real(real64) :: C(ld, n), expected(10, 10)
    C = 0
    expected = matmul(reals(3:12, 5:9, 1), reals(7:11, 2:11, 2))
    call tessera_dgemm('N', 'N', 10, 10, 5, 1d0, reals(3, 5, 1), ld, reals(7, 2, 2), ld, 0d0, C(4, 6), ld)
    call check('submatrices', maxval(abs(C(4:13, 6:15) - expected)) < 1d-12 .and. &
               abs(sum(C) - sum(expected)) < 1d-10)
  end subroutine

  ! alpha and beta of herk and beta of her2k are real.
  subroutine updates
    complex(real64) :: H(ld, n), expected(n, n)
    integer :: j
    H = 1
    call tessera_herk('L', 'N', n, k, 2d0, Z, ld, 3d0, H, ld)
    expected = 2 * matmul(Z(:n, :k), conjg(transpose(Z(:n, :k)))) + 3
    call check('zherk', all([(near(H(j:n, j:j), expected(j:, j:j), 1d-12), j = 1, n)]))
    call check('the other triangle', all([(all(H(:j - 1, j) == 1), j = 1, n)]))
    H = 1
    call tessera_her2k('U', 'N', n, k, (2d0, 1d0), Z, ld, W, ld, 3d0, H, ld)
    expected = (2d0, 1d0) * matmul(Z(:n, :k), conjg(transpose(W(:n, :k))))
    expected = expected + conjg(transpose(expected)) + 3
    call check('zher2k', all([(near(H(:j, j:j), expected(:j, j:j), 1d-11), j = 1, n)]))
  end subroutine

  subroutine triangles
    complex(real64) :: A(ld, n), X(ld, n)
    integer :: j
    A = Z
    do j = 1, n
      A(j, j) = n
      A(:j - 1, j) = 0
    end do
    X = W
    call tessera_trsm('L', 'L', 'C', 'N', n, k, (2d0, 0d0), A, ld, X, ld)
    call check('ztrsm', near(matmul(conjg(transpose(A(:n, :))), X(:n, :k)), 2 * W(:n, :k), 1d-10))
    call tessera_trmm('L', 'L', 'C', 'N', n, k, (0.5d0, 0d0), A, ld, X, ld)
    call check('ztrmm', near(X(:n, :k), W(:n, :k), 1d-10))
  end subroutine

  subroutine cholesky
    complex(real32) :: A(ld, n), X(ld, n)
    complex(real64) :: S(n, n)
    integer :: i, info
    integer(int64) :: wide_info
    S = matmul(Z(:n, :), conjg(transpose(Z(:n, :))))
    do i = 1, n
      S(i, i) = S(i, i) + n
    end do
    A(:n, :) = cmplx(S, kind=real32)
    X = V
    call tessera_posv('U', n, k, A, ld, X, ld, info)
    call check('cposv', info == 0 .and. near(matmul(S, cmplx(X(:n, :k), kind=real64)), cmplx(V(:n, :k), kind=real64), 1d-3))
    A(:n, :) = cmplx(S, kind=real32)
    A(7, 7) = -1
    call tessera_potrf('L', n, A, ld, info)
    call check('info of cpotrf', info == 7)
    A(:n, :) = cmplx(S, kind=real32)
    A(7, 7) = -1
    call tessera_potrf('L', int(n, int64), A, int(ld, int64), wide_info)
    call check('info of 64 bits', wide_info == 7)
  end subroutine

  ! By gels, and by its steps.
  subroutine least_squares
    real(real64) :: A(ld, n), B(ld, n), Q(ld, n), X(ld, n), tau(k)
    integer, parameter :: nrhs = 5
    integer :: i, info
    A = reals(:, :, 1)
    B = reals(:, :, 2)
    call tessera_gels('N', n, k, nrhs, A, ld, B, ld, info)
    Q = reals(:, :, 1)
    X = reals(:, :, 2)
    call tessera_geqrf(n, k, Q, ld, tau)
    call tessera_ormqr('L', 'T', n, nrhs, k, Q, ld, tau, X, ld)
    call check('dgels', info == 0)
    call tessera_trtrs('U', 'N', 'N', k, nrhs, Q, ld, X, ld, info)
    call check('dgeqrf, dormqr and dtrtrs', info == 0 .and. maxval(abs(X(:k, :nrhs) - B(:k, :nrhs))) < 1d-11)
    X(:n, :nrhs) = matmul(reals(:n, :k, 1), B(:k, :nrhs)) - reals(:n, :nrhs, 2)
    call check('the normal equations', maxval(abs(matmul(transpose(reals(:n, :k, 1)), X(:n, :nrhs)))) < 1d-11)
    call tessera_orgqr(n, k, k, Q, ld, tau)
    X(:k, :k) = matmul(transpose(Q(:n, :k)), Q(:n, :k))
    do i = 1, k
      X(i, i) = X(i, i) - 1
    end do
    call check('dorgqr', maxval(abs(X(:k, :k))) < 1d-12)
    Q(:, 7) = 0
    call tessera_trtrs('L', 'N', 'N', k, nrhs, Q, ld, X, ld, info)
    call check('info of dtrtrs', info == 7)
  end subroutine

  subroutine lu
    real(real64) :: A(ld, n), x(n), transposed(n)
    integer(int32) :: pivots(n), info
    integer(int64) :: wide_pivots(n), wide_info
    A = reals(:, :, 1)
    x = reals(:n, 1, 2)
    call tessera_dgesv(n, 1, A, ld, pivots, x, n, info)
    call check('dgesv of a vector', info == 0 .and. maxval(abs(matmul(reals(:n, :, 1), x) - reals(:n, 1, 2))) < 1d-10)
    transposed = reals(:n, 1, 2)
    call tessera_dgetrs('T', n, 1, A, ld, pivots, transposed, n)
    call check('dgetrs', maxval(abs(matmul(transpose(reals(:n, :, 1)), transposed) - reals(:n, 1, 2))) < 1d-10)
    A = reals(:, :, 1)
    call tessera_getrf(int(n, int64), int(n, int64), A, int(ld, int64), wide_pivots, wide_info)
    call check('pivots of 64 bits', wide_info == 0 .and. all(wide_pivots == pivots))
    A = reals(:, :, 1)
    call tessera_laswp(k, A, ld, 1, n, pivots, 1)
    call tessera_laswp(int(k, int64), A, int(ld, int64), 1_int64, int(n, int64), wide_pivots, -1_int64)
    call check('dlaswp back and forth', all(A == reals(:, :, 1)))
    call tessera_laswp(n, A, ld, 3, 4, [0, 0, 7, 0, 9], 2)
    call check('dlaswp', all(A([3, 4, 7, 9], :) == reals([7, 9, 3, 4], :, 1)))
    A = 0
    call tessera_getrf(n, n, A, ld, pivots, info)
    call check('info of dgetrf', info == 1)
  end subroutine

  subroutine illegal
    real(real64) :: C(ld, n)
    integer :: stat, info, pivots(n)
    character(200) :: message
    message = 'as before'
    C = 1
    call tessera_gemm('N', 'N', n, n, k, 1d0, reals(:, :, 1), ld, reals(:, :, 2), ld, 0d0, C, ld, stat, message)
    call check('no error', stat == 0 .and. message == 'as before')
    call tessera_gemm('N', 'N', n, n, k, 1d0, reals(:, :, 1), 39, reals(:, :, 2), ld, 0d0, C, ld, stat, message)
    call check('lda: '//message, stat == -8 .and. message == 'tessera_dgemm: argument 8 (lda) is 39, must be at least 40')
    call tessera_gemm('N', 'x', n, n, k, 1d0, reals(:, :, 1), ld, reals(:, :, 2), ld, 0d0, C, ld, stat, message)
    call check('op_b: '//message, stat == -2 .and. message == "tessera_dgemm: argument 2 (op_b) is 'X', must be 'N', 'T' or 'C'")
    call tessera_trsm('L', 'y', 'N', 'N', n, n, 1d0, reals(:, :, 1), ld, C, ld, stat, message)
    call check('uplo: '//message, stat == -2 .and. message == "tessera_dtrsm: argument 2 (uplo) is 'Y', must be 'U' or 'L'")
    call tessera_syrk('U', 'C', n, n, (1d0, 0d0), Z, ld, (0d0, 0d0), W, ld, stat, message)
    call check('op: '//message, stat == -2 .and. &
               index(message, "tessera_zsyrk: argument 2 (op) is 'C', must be NoTrans ('N')") == 1)
    call tessera_getrf(-1, n, C, ld, pivots, info, stat, message)
    call check('m: '//message, stat == -1 .and. info == -1 .and. index(message, 'tessera_dgetrf: argument 1 (m) is -1') == 1)
    call tessera_init(cpus=-2, stat=stat, errmsg=message)
    call check('cpus: '//message, stat == -1 .and. index(message, 'tessera_init: argument 1 (cpus) is -2') == 1)
  end subroutine

  subroutine wrong_variable
    integer :: stat
    character(200) :: message
    message = ''
    call tessera_init(stat=stat, errmsg=message)
    if (stat <= 0 .or. index(message, "TESSERA_TILE is 'abc'") == 0) error stop 'not explained: '//message
  end subroutine

  subroutine kept
    real(real64), allocatable :: A(:, :), C(:, :)
    real(real64) :: expected(n, n)
    integer :: stat
    character(100) :: message
    integer(int64) :: rows, lda
    rows = n
    lda = ld
    A = reals(:, :, 1)
    C = reals(:, :, 2)
    call tessera_keep('d', A, rows, rows, lda)
    call tessera_gemm('N', 'N', n, n, n, 1d0, A, ld, reals(:, :, 2), ld, 0d0, C, ld)
    A(3, 4) = 7
    call tessera_changed_part('d', A(3, 4), 1_int64, 1_int64, lda)
    A(5, 6) = 8
    call tessera_changed(A)
    expected = matmul(A(:n, :), reals(:n, :, 2))
    call tessera_gemm('N', 'N', n, n, n, 1d0, A, ld, reals(:, :, 2), ld, 0d0, C, ld)
    call check('kept', maxval(abs(C(:n, :) - expected)) < 1d-12)
    call tessera_forget(A)
    call tessera_forget(A, stat)
    call check('not kept', stat == -1)
    call tessera_keep('d', A, rows, rows, 1_int64, stat, message)
    call check('lda: '//message, stat == -5 .and. index(message, 'tessera_keep: argument 5 (ld') == 1)
  end subroutine

  subroutine runtime
    integer :: stat
    call check('version', len(tessera_version()) >= 5)
    call tessera_init(cpus=1)
    call tessera_wait
    call tessera_host_register(reals, storage_size(reals) / 8 * size(reals, kind=int64))
    call tessera_host_register(reals, 8_int64, stat)
    call check('registered twice', stat == -1)
    call tessera_host_unregister(reals)
    call tessera_host_unregister(reals, stat)
    call check('not registered', stat == -1)
    call kept
    call tessera_finalize
    call tessera_finalize(stat)
    call check('nothing to finalize', stat > 0)
  end subroutine
end program
