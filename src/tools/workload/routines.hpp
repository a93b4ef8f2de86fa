// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "blas/arguments.hpp"
#include "tiling/plan.hpp"
#include "workload/problem.hpp"

struct cublasXtContext;

namespace tessera::bench {

/// Command line options that not every routine takes.
struct Takes {
  bool trans_a = false, trans_b = false, side = false, uplo = false, diag = false, m = false, k = false, beta = true;
};

/// The kinds of a scalar argument.
enum class ScalarKind { None, Real, Full };

/// A line of routines.def, without the argument shape.
struct Entry {
  std::string name, types;  ///< the letters of its types
  ScalarKind alpha, beta;
};

/// Which other libraries have the routine.
struct Peers {
  bool openblas = true, cublasxt = true;
};

/// Operation and element counts of a call with α ≠ 0.
struct Volume {
  double multiply_adds;  ///< half of LAPACK's flops for real types
  double inputs;         ///< elements of A and B that are read, without the unread half of diagonal tiles
  double result;         ///< elements of C that are computed
};

/// Everything that the benchmarks know about a routine. There is one class per argument shape and one object per line
/// of routines.def.
class Routine {
 public:
  explicit Routine(Entry entry) : entry_(std::move(entry)) {}
  virtual ~Routine() = default;
  Routine(const Routine&) = delete;
  Routine& operator=(const Routine&) = delete;

  const std::string& name() const noexcept { return entry_.name; }

  virtual Takes takes() const = 0;
  virtual Peers peers() const { return {}; }
  /// Why the routine does not support the problem: a sentence that starts with the option at fault. "" if it does.
  std::string why_not(const Problem& problem) const;

  /// LAPACK's count for real types (Working Note 41, without the lower-order terms caused by α and β), four times that
  /// for complex types, and 0 if α = 0.
  double flops(const Problem& problem) const;
  Traffic compulsory(const Problem& problem) const;
  virtual Shapes shapes(const Problem& problem) const = 0;

  /// An upper bound of the factor by which one call changes the magnitude of C.
  virtual double growth(const Problem& problem) const { return std::abs(problem.beta); }

  /// The plan that Tessera makes. @pre a Runtime exists
  virtual detail::Plan plan_of(const Problem& problem) const = 0;

  // Each function returns when the result is in host memory.
  virtual void run_tessera(const Problem& problem, const Operands& operands) const = 0;
  virtual void run_openblas(const Problem& problem, const Operands& operands) const = 0;
  virtual void run_cublasxt(cublasXtContext* handle, const Problem& problem, const Operands& operands) const = 0;

  /// Compares C with an oracle. A, B and the old C are generated from the seed again, see generated.hpp.
  virtual Verdict check(const Problem& problem, const Operands& operands) const = 0;

 protected:
  virtual Volume volume(const Problem& problem) const = 0;
  /// The supported operations on A.
  virtual arguments::Ops ops(char /*type*/) const { return arguments::Ops::All; }

  /// Tells symm from hemm, syrk from herk and syr2k from her2k.
  bool hermitian() const { return entry_.name.starts_with("he"); }

 private:
  Entry entry_;
};

/// Bytes of A, B and C.
/// @throws BadArgument if one of them exceeds the address space
std::array<std::size_t, 3> operand_bytes(const Routine& routine, const Problem& problem);

/// All routines of routines.def.
const std::vector<std::unique_ptr<Routine>>& routines();

/// One class per argument shape, named as in routines.def.
namespace shapes {
std::unique_ptr<Routine> product(Entry entry);
std::unique_ptr<Routine> triangle_product(Entry entry);
std::unique_ptr<Routine> symmetric(Entry entry);
std::unique_ptr<Routine> rank_k(Entry entry);
std::unique_ptr<Routine> rank_2k(Entry entry);
std::unique_ptr<Routine> triangular(Entry entry);
}  // namespace shapes

}  // namespace tessera::bench
