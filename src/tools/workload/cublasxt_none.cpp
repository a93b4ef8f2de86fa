// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/error.hpp>

#include "workload/other_libraries.hpp"

namespace tessera::bench {

namespace {

[[noreturn]] void refuse() { throw RuntimeError("this program was built without CUDA"); }

}  // namespace

bool CublasXt::available() { return false; }
CublasXt::CublasXt(std::vector<int> /*devices*/) { refuse(); }
CublasXt::~CublasXt() = default;
void CublasXt::set_block(Index /*block*/) {}

CuBlas::CuBlas(int /*device*/) { refuse(); }
CuBlas::~CuBlas() = default;

// No object of these classes exists.
struct CuSolver::State {};
CuSolver::CuSolver(int /*device*/) { refuse(); }
CuSolver::~CuSolver() = default;
void CuSolver::factorize(char, Uplo, Index, void*, Index, Index, void*, Index) {}
void CuSolver::factorize_with_pivots(char, Index, Index, void*, Index, int*, Index, void*, Index) {}
void CuSolver::factorize_by_reflectors(char, Index, Index, void*, Index, void*, Index, void*, Index) {}
void CuSolver::invert(char, Inversion, Uplo, Diag, Index, void*, Index) {}

struct CuSolverMg::State {};
CuSolverMg::CuSolverMg(const std::vector<int>& /*devices*/, Index /*block*/) { refuse(); }
CuSolverMg::~CuSolverMg() = default;
void CuSolverMg::factorize(char, Index, void*, Index) {}
void CuSolverMg::factorize_with_pivots(char, Index, Index, void*, Index, int*) {}

}  // namespace tessera::bench
