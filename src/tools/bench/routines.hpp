// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bench/problem.hpp"
#include "tile_size.hpp"

struct cublasXtContext;

namespace tessera::bench {

/// Options of the command line that not every routine takes.
struct Takes {
  bool trans_a = false, trans_b = false, side = false, uplo = false, diag = false, k = false;
};

/// All that the benchmark knows of a routine. One class per argument shape, one object per line of routines.def.
class Routine {
 public:
  Routine(std::string name, std::string types) : name_(std::move(name)), types_(std::move(types)) {}
  virtual ~Routine() = default;

  const std::string& name() const noexcept { return name_; }
  const std::string& types() const noexcept { return types_; }  ///< the letters for which it exists

  virtual Takes takes() const = 0;
  virtual double flops(const Problem&) const = 0;
  virtual Traffic compulsory(const Problem&) const = 0;
  virtual Shapes shapes(const Problem&) const = 0;

  /// The tiles that Tessera will use. @pre a Runtime lives
  virtual detail::ProductTiles tiles(const Problem&) const = 0;

  // Each returns when the result is in host memory.
  virtual void run_tessera(const Problem&, const Operands&) const = 0;
  virtual void run_openblas(const Problem&, const Operands&) const = 0;
  virtual void run_cublasxt(cublasXtContext*, const Problem&, const Operands&) const = 0;

  /// Compares C with an oracle. A, B and the C that went in are those that operands.hpp generates from the seed.
  virtual Verdict check(const Problem&, const Operands&) const = 0;

 private:
  std::string name_, types_;
};

/// Bytes of A, B and C.
/// @throws BadArgument if one of them does not fit an address space
std::array<std::size_t, 3> operand_bytes(const Routine& routine, const Problem& problem);

/// All routines of routines.def.
const std::vector<std::unique_ptr<Routine>>& routines();

/// The classes by argument shape, under the names that routines.def uses.
namespace shapes {
std::unique_ptr<Routine> product(std::string name, std::string types);
}

}  // namespace tessera::bench
