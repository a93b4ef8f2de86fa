// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "blas/call.hpp"
#include "tiling/plan.hpp"
#include "workload/problem.hpp"

struct cublasXtContext;

namespace tessera::bench {

/// Command line options that not every routine takes.
struct Takes {
  bool trans_a = false, trans_b = false, side = false, uplo = false, diag = false, m = false, k = false, beta = true;
};

/// Which other libraries have the routine.
struct Peers {
  bool openblas = true, cublasxt = true;
};

/// Everything that the benchmarks know about a routine. There is one class per argument shape and one object per line
/// of routines.def.
class Routine {
 public:
  explicit Routine(blas::Routine which) : which_(which), name_(properties().name) {}
  virtual ~Routine() = default;
  Routine(const Routine&) = delete;
  Routine& operator=(const Routine&) = delete;

  const std::string& name() const noexcept { return name_; }

  Takes takes() const;
  virtual Peers peers() const { return {}; }
  /// Why the routine does not support the problem: a sentence that starts with the option at fault. "" if it does.
  std::string why_not(const Problem& problem) const;

  /// As blas::flops, but 0 if α = 0.
  double flops(const Problem& problem) const;
  blas::Traffic compulsory(const Problem& problem) const;
  Shapes shapes(const Problem& problem) const;

  /// An upper bound of the factor by which one call changes the magnitude of C.
  virtual double growth(const Problem& problem) const { return std::abs(problem.beta); }

  /// The plan that Tessera makes. @pre a Runtime exists
  virtual detail::Plan plan_of(const Problem& problem) const = 0;

  // Each function returns when the result is in host memory.
  void run_tessera(const Problem& problem, const Operands& operands) const;
  void run_openblas(const Problem& problem, const Operands& operands) const;
  void run_cublasxt(cublasXtContext* handle, const Problem& problem, const Operands& operands) const;

  /// Compares C with an oracle. A, B and the old C are generated from the seed again, see generated.hpp.
  virtual Verdict check(const Problem& problem, const Operands& operands) const = 0;

 protected:
  const blas::Properties& properties() const { return blas::properties(which_); }
  bool hermitian() const { return properties().is_hermitian(); }

 private:
  template <typename Library>
  void run(const Library& library, const Problem& problem, const Operands& operands) const;

  blas::Routine which_;
  std::string name_;
};

/// Bytes of A, B and C.
/// @throws BadArgument if one of them exceeds the address space
std::array<std::size_t, 3> operand_bytes(const Routine& routine, const Problem& problem);

/// All routines of routines.def.
const std::vector<std::unique_ptr<Routine>>& routines();

/// One class per argument shape, named as in routines.def.
namespace shapes {
#define SHAPE(name) std::unique_ptr<Routine> name(blas::Routine which);
SHAPES(SHAPE)
#undef SHAPE
}  // namespace shapes

}  // namespace tessera::bench
