// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <tessera/error.hpp>

#include "common/of_type.hpp"
#include "workload/routine.hpp"

namespace tessera::bench {

/// Calls a function of LAPACK with the workspace that it asks for.
/// @param call  (work, elements) → info
template <Scalar T, typename Call>
Index with_workspace(Call call) {
  T best{};
  call(&best, -1);
  std::vector<T> work(static_cast<std::size_t>(std::max(std::real(best), Real<T>(1))));
  return call(work.data(), static_cast<int>(std::ssize(work)));
}

/// The common part of factorizations, of the solves that begin with one, and of inverses. The matrix is C. A solve has
/// it in A, and k right-hand sides in C.
class Factorization : public Routine {
 public:
  Factorization(std::string name, bool solves) : Routine(std::move(name)), solves_(solves) {}
  Peers peers() const override { return {.openblas = true, .cublas = false}; }
  bool has_cusolver(const Problem& /*p*/) const override { return true; }
  double flops(const Problem& p) const final { return common::flops_of_multiply_add(p.type) * multiply_adds(p); }
  Shapes shapes(const Problem& p) const final {
    auto factors = matrix(p);
    factors.ld = std::max<Index>(1, factors.rows) + p.ld_pad;
    if (!solves_) return {{}, {}, factors};
    factors.overwritten = true;
    const Index rows = std::max(factors.rows, factors.columns);
    return {factors, {}, {rows, p.k, std::max<Index>(1, rows) + p.ld_pad}};
  }
  double growth(const Problem& /*p*/) const final { return std::numeric_limits<double>::infinity(); }
  bool is_planned_whole() const override { return !solves_; }

 protected:
  bool solves() const { return solves_; }
  double right_hand_sides(const Problem& p) const { return solves_ ? static_cast<double>(p.k) : 0; }
  /// The shape of the matrix, without its leading dimension.
  virtual Shape matrix(const Problem& p) const = 0;
  virtual double multiply_adds(const Problem& p) const = 0;
  /// The elements of the matrix that the routine uses.
  virtual double used_elements(const Problem& p) const {
    const auto shape = matrix(p);
    return static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
  }
  const Shape& shape_of_matrix(const Shapes& s) const { return solves_ ? s.A : s.C; }
  void* address_of_matrix(const Operands& o) const { return solves_ ? o.A : o.C; }
  /// Calls a routine with operands of the problem's type. Sizes of type Index select Tessera, and sizes of type int the
  /// host's LAPACK, whose functions otherwise have the same arguments.
  /// @param call  (nrhs, A, lda, B, ldb) → info
  /// @throws RuntimeError if the info is not 0
  template <typename Size, typename Call>
  void run(const Problem& p, const Operands& o, const char* problem, Call call) const {
    const auto s = shapes(p);
    const auto info = common::with_type(p.type, [&]<Scalar T>(T) -> Index {
      return call(static_cast<Size>(p.k), static_cast<T*>(address_of_matrix(o)),
                  static_cast<Size>(shape_of_matrix(s).ld), static_cast<T*>(o.C), static_cast<Size>(s.C.ld));
    });
    require_success(info, problem);
  }
  void require_success(Index info, const char* problem) const {
    if (info != 0) throw RuntimeError(name() + ": " + problem + ", info = " + std::to_string(info));
  }

 private:
  /// The used elements in both directions, with the right-hand sides in and the solutions out.
  blas::Traffic traffic(const Problem& p) const final {
    const auto shape = matrix(p);
    const auto bytes = [&](Index rows) {
      const double elements = used_elements(p) + static_cast<double>(rows) * right_hand_sides(p);
      return elements * static_cast<double>(common::size_of(p.type));
    };
    return {bytes(shape.rows), bytes(std::max(shape.rows, shape.columns))};
  }

  bool solves_;
};

}  // namespace tessera::bench
