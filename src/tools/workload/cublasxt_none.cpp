// SPDX-License-Identifier: BSD-3-Clause
#include <tessera/error.hpp>

#include "workload/other_libraries.hpp"

namespace tessera::bench {

bool CublasXt::available() { return false; }
CublasXt::CublasXt(std::vector<int> /*devices*/) { throw RuntimeError("this program was built without CUDA"); }
CublasXt::~CublasXt() = default;
void CublasXt::set_block(Index /*block*/) {}

CuBlas::CuBlas(int /*device*/) { throw RuntimeError("this program was built without CUDA"); }
CuBlas::~CuBlas() = default;

struct CuSolver::State {};
CuSolver::CuSolver(int /*device*/) { throw RuntimeError("this program was built without CUDA"); }
CuSolver::~CuSolver() = default;
void CuSolver::factorize(char /*type*/, Uplo /*uplo*/, Index /*n*/, void* /*A*/, Index /*lda*/, Index /*nrhs*/,
                         void* /*B*/, Index /*ldb*/) {}
void CuSolver::factorize_with_pivots(char /*type*/, Index /*m*/, Index /*n*/, void* /*A*/, Index /*lda*/,
                                     int* /*pivots*/, Index /*nrhs*/, void* /*B*/, Index /*ldb*/) {}

struct CuSolverMg::State {};
CuSolverMg::CuSolverMg(const std::vector<int>& /*devices*/, Index /*block*/) {
  throw RuntimeError("this program was built without CUDA");
}
CuSolverMg::~CuSolverMg() = default;

}  // namespace tessera::bench
