// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "arguments.hpp"
#include "problem.hpp"
#include "tile_size.hpp"

struct cublasXtContext;

namespace tessera::bench {

/// Options of the command line that not every routine takes.
struct Takes {
  bool trans_a = false, trans_b = false, side = false, uplo = false, diag = false, m = false, k = false, beta = true;
};

/// What a scalar may be.
enum class ScalarKind { None, Real, Full };

/// A line of routines.def, but for the argument shape.
struct Entry {
  std::string name, types;  ///< the letters for which it exists
  ScalarKind alpha, beta;
};

/// The other libraries that have a routine.
struct Peers {
  bool openblas = true, cublasxt = true;
};

/// What a call with α ≠ 0 comes to.
struct Volume {
  double multiply_adds;  ///< half of LAPACK's flops for real types
  double inputs;         ///< elements of A and B that are read; the unread half of diagonal tiles is left out
  double result;         ///< elements of C that are computed
};

/// All that the benchmark knows of a routine. One class per argument shape, one object per line of routines.def.
class Routine {
 public:
  explicit Routine(Entry entry) : entry_(std::move(entry)) {}
  virtual ~Routine() = default;
  Routine(const Routine&) = delete;
  Routine& operator=(const Routine&) = delete;

  const std::string& name() const noexcept { return entry_.name; }

  virtual Takes takes() const = 0;
  virtual Peers peers() const { return {}; }
  /// Why there is no such call, in a sentence that begins with the option to blame; "" if there is.
  std::string why_not(const Problem& problem) const;

  /// LAPACK's count for real types (Working Note 41, without the terms of lower order that only α and β cause), four
  /// times as many for complex ones; 0 if α = 0.
  double flops(const Problem& problem) const;
  Traffic compulsory(const Problem& problem) const;
  virtual Shapes shapes(const Problem& problem) const = 0;

  /// C may be larger or smaller by this factor after a call.
  virtual double growth(const Problem& problem) const { return std::abs(problem.beta); }

  /// The tiles that Tessera will use. @pre a Runtime lives
  virtual detail::ProductTiles tiles(const Problem& problem) const = 0;

  // Each returns when the result is in host memory.
  virtual void run_tessera(const Problem& problem, const Operands& operands) const = 0;
  virtual void run_openblas(const Problem& problem, const Operands& operands) const = 0;
  virtual void run_cublasxt(cublasXtContext* handle, const Problem& problem, const Operands& operands) const = 0;

  /// Compares C with an oracle. A, B and the C that went in are those that operands.hpp generates from the seed.
  virtual Verdict check(const Problem& problem, const Operands& operands) const = 0;

 protected:
  virtual Volume volume(const Problem& problem) const = 0;
  /// Which operations on A there are.
  virtual arguments::Ops ops(char /*type*/) const { return arguments::Ops::All; }

  /// The BLAS's own distinction: symm and hemm, syrk and herk, syr2k and her2k.
  bool hermitian() const { return entry_.name.starts_with("he"); }

 private:
  Entry entry_;
};

/// Bytes of A, B and C.
/// @throws BadArgument if one of them does not fit an address space
std::array<std::size_t, 3> operand_bytes(const Routine& routine, const Problem& problem);

/// All routines of routines.def.
const std::vector<std::unique_ptr<Routine>>& routines();

/// The classes by argument shape, under the names that routines.def uses.
namespace shapes {
std::unique_ptr<Routine> product(Entry entry);
std::unique_ptr<Routine> triangle_product(Entry entry);
std::unique_ptr<Routine> symmetric(Entry entry);
std::unique_ptr<Routine> rank_k(Entry entry);
std::unique_ptr<Routine> rank_2k(Entry entry);
std::unique_ptr<Routine> triangular(Entry entry);
}  // namespace shapes

}  // namespace tessera::bench
