// SPDX-License-Identifier: BSD-3-Clause
// Submits a call on matrices for which tessera-simulate has no options, and writes what it submits.
//
// usage: tessera-simulate … --program matrix-calls -- CALL --dump FOLDER
#include <starpu.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>

#include <tessera/blas3.hpp>
#include <tessera/lapack.hpp>
#include <tessera/runtime.hpp>

#include "sinks/dump.hpp"

namespace {

using namespace tessera;

/// A matrix of zeros. Simulated tasks access no elements.
class Zeros {
 public:
  Zeros(Index m, Index n, TileSize tile)
      : memory_(std::calloc(static_cast<std::size_t>(m * n), sizeof(double)), std::free),
        matrix(static_cast<double*>(memory_.get()), m, n, m, tile) {}

 private:
  std::unique_ptr<void, void (*)(void*)> memory_;

 public:
  const Matrix<double> matrix;  // after the memory, which it uses until it is destroyed
};

constexpr Index n = 4000, columns = 1500, tile = 1024, panel = 512;
Zeros square() { return {n, n, {tile, tile}}; }
Zeros panels() { return {n, n, {n, panel}}; }
Zeros tall() { return {n, columns, {n, panel}}; }

/// What `call` submits.
std::string dump(const std::function<void()>& call) {
  const sinks::Dump dump;
  call();
  return dump.text();
}

std::string potrs(Uplo uplo) {
  const auto A = square();
  const Zeros B(n, columns, {tile, panel});
  return dump([&] { potrs(uplo, A.matrix, B.matrix); });
}

std::string getrs(Op op) {
  const auto A = panels(), B = tall();
  const auto pivots = getrf(A.matrix).pivots;
  return dump([&] { getrs(op, A.matrix, pivots, B.matrix); });
}

std::string laswp(Index incx) {
  const auto A = panels(), B = tall();
  const auto pivots = getrf(A.matrix).pivots;
  return dump([&] { laswp(B.matrix, pivots, incx); });
}

std::string getri() {
  const auto A = panels();
  const auto pivots = getrf(A.matrix).pivots;
  return dump([&] { getri(A.matrix, pivots); });
}

std::string unmqr(Side side, Op op) {
  const auto A = panels();
  const auto C = side == Side::Left ? tall() : Zeros(columns, n, {panel, n});
  const auto reflectors = geqrf(A.matrix);
  return dump([&] { unmqr(side, op, A.matrix, reflectors, C.matrix); });
}

std::string ungqr() {
  const auto A = tall();
  const auto reflectors = geqrf(A.matrix);
  return dump([&] { ungqr(A.matrix, reflectors); });
}

std::string gesv_nopiv() {
  const auto A = square();
  const Zeros B(n, columns, {tile, panel});
  Growth growth;
  return dump([&] { gesv_nopiv(A.matrix, B.matrix, &growth); });
}

std::string getrs_nopiv(Op op) {
  const auto A = square();
  const Zeros B(n, columns, {tile, panel});
  return dump([&] { getrs_nopiv(op, A.matrix, B.matrix); });
}

/// The product of some tiles of a transposed view and some tiles of a matrix, added to some tiles.
std::string gemm_of_views() {
  const auto A = square(), B = square(), C = square();
  return dump([&] {
    gemm(Op::NoTrans, Op::Trans, 2.0, A.matrix.transposed().view(0, 2, 1, 4), B.matrix.view(1, 3, 1, 4), 1.0,
         C.matrix.view(1, 3, 1, 3));
  });
}

/// The output is a transposed view.
std::string gemm_into_transpose() {
  const auto A = square(), B = square(), C = square();
  return dump([&] { gemm(Op::NoTrans, Op::NoTrans, 1.0, A.matrix, B.matrix, 0.0, C.matrix.transposed()); });
}

std::string trsm_of_views(Side side) {
  const auto A = square(), B = square();
  return dump([&] {
    trsm(side, Uplo::Upper, Op::NoTrans, Diag::NonUnit, 1.0, A.matrix.transposed().view(1, 3, 1, 3),
         side == Side::Left ? B.matrix.view(0, 2, 1, 4) : B.matrix.view(1, 4, 0, 2));
  });
}

std::string potrf_of_views() {
  const auto A = square();
  return dump([&] { potrf(Uplo::Lower, A.matrix.transposed().view(1, 4, 1, 4)); });
}

std::string getrf_nopiv_of_views() {
  const auto A = square();
  return dump([&] { getrf_nopiv(A.matrix.transposed().view(0, 3, 0, 3)); });
}

const std::map<std::string, std::function<std::string()>> calls{
    {"potrs-l", [] { return potrs(Uplo::Lower); }},
    {"potrs-u", [] { return potrs(Uplo::Upper); }},
    {"getrs-n", [] { return getrs(Op::NoTrans); }},
    {"getrs-t", [] { return getrs(Op::Trans); }},
    {"laswp", [] { return laswp(1); }},
    {"laswp-backwards", [] { return laswp(-1); }},
    {"getri", getri},
    {"unmqr-ln", [] { return unmqr(Side::Left, Op::NoTrans); }},
    {"unmqr-lt", [] { return unmqr(Side::Left, Op::Trans); }},
    {"unmqr-rn", [] { return unmqr(Side::Right, Op::NoTrans); }},
    {"unmqr-rt", [] { return unmqr(Side::Right, Op::Trans); }},
    {"ungqr", ungqr},
    {"gesv_nopiv", gesv_nopiv},
    {"getrs_nopiv-n", [] { return getrs_nopiv(Op::NoTrans); }},
    {"getrs_nopiv-t", [] { return getrs_nopiv(Op::Trans); }},
    {"gemm-views", gemm_of_views},
    {"gemm-into-transpose", gemm_into_transpose},
    {"trsm-views-l", [] { return trsm_of_views(Side::Left); }},
    {"trsm-views-r", [] { return trsm_of_views(Side::Right); }},
    {"potrf-views", potrf_of_views},
    {"getrf_nopiv-views", getrf_nopiv_of_views},
};

}  // namespace

int main(int argc, char** argv) {  // starpu.h renames it; StarPU's own main calls it in simulated time
  if (argc != 4 || !calls.contains(argv[1]) || std::string(argv[2]) != "--dump") {
    std::cerr << "usage: matrix-calls CALL --dump FOLDER\n";
    return 2;
  }
  const Runtime runtime;
  std::ofstream(std::filesystem::path(argv[3]) / argv[1]) << calls.at(argv[1])();
  return 0;
}
