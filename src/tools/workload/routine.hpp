// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "algorithms/plan.hpp"
#include "blas/call.hpp"
#include "common/not_copyable.hpp"
#include "machine/machine.hpp"
#include "workload/problem.hpp"

struct cublasXtContext;

namespace tessera::bench {

class CuBlas;
class CuSolver;
class CuSolverMg;
class SpreadCall;

/// Command line options that not all routines accept.
struct Takes {
  bool trans_a = false, trans_b = false, side = false, uplo = false, diag = false, m = false, k = false, beta = true;
};

/// The routines that invert a matrix given its factors, or are part of such an inversion.
enum class Inversion { Trtri, Lauum, Potri, Getri };

/// Which other libraries have the routine, apart from cuSOLVER. cuBLAS-XT has the same routines as cuBLAS.
struct Peers {
  bool openblas = true, cublas = true;
};

/// The machine on which a call is planned: that of the Runtime. @pre a Runtime exists
const machine::Machine& machine_for(const Problem& problem);

/// Everything that the benchmarks know about a routine.
class Routine : common::NotCopyable {
 public:
  explicit Routine(std::string name) : name_(std::move(name)) {}
  virtual ~Routine() = default;

  const std::string& name() const noexcept { return name_; }

  virtual Takes takes() const = 0;
  virtual Peers peers() const { return {}; }
  /// Why the routine does not support the problem: a sentence that starts with the option at fault. "" if it does.
  virtual std::string why_not(const Problem& problem) const;
  /// Whether `spread` makes a call.
  virtual bool can_be_spread() const { return false; }

  /// Whether described machines specify how long the tile operations take.
  virtual bool can_be_simulated() const { return true; }
  /// Whether it factorizes panels of full height. Described machines may lack the times of these.
  virtual bool factorizes_panels() const { return false; }
  /// Whether cores can factorize its panels while devices update others.
  virtual bool has_panels_for_cores() const { return false; }

  /// Like blas::flops, but 0 if α = 0.
  virtual double flops(const Problem& problem) const = 0;
  /// The compulsory traffic between the host and the GPUs. CUDA may keep managed memory on a GPU.
  blas::Traffic compulsory(const Problem& problem) const {
    return problem.in_host_memory() ? traffic(problem) : blas::Traffic{};
  }
  /// The traffic between the first GPU and the others if it has the operands, and the others compute everything. Zero
  /// if the operands are elsewhere: tiles on their owners need not move, and CUDA may keep managed memory on all GPUs.
  blas::Traffic between_gpus(const Problem& problem) const {
    return problem.memory == Memory::Device ? traffic(problem) : blas::Traffic{};
  }
  virtual Shapes shapes(const Problem& problem) const = 0;

  /// An upper bound of the factor by which one call changes the magnitude of C. Infinite if each call needs the C from
  /// before the first one, so that C must be restored before each call.
  virtual double growth(const Problem& problem) const = 0;

  /// The plan that Tessera makes on a machine.
  virtual algorithms::Plan plan_of(const Problem& problem, const machine::Machine& machine) const = 0;
  /// The plan on the Runtime's machine. @pre a Runtime exists
  algorithms::Plan plan_of(const Problem& problem) const;
  /// Whether the plan covers the whole call, and not only the factorization with which the call begins.
  virtual bool is_planned_whole() const { return true; }

  /// Measured time of the longest chain of tasks [s]; 0 if the routine is not a factorization. @pre a Runtime exists
  /// @param operands  those of a finished call. They may be overwritten
  /// @param rate      rate of products on one device [flop/s]
  virtual double critical_path(const Problem& /*problem*/, const Operands& /*operands*/, double /*rate*/) const {
    return 0;
  }

  // Each function returns when the result is in the memory of C.
  virtual void run_tessera(const Problem& problem, const Operands& operands) const = 0;
  /// The call on tiles that stay on the GPUs that own them. @pre  a Runtime exists
  /// @param operands  in host memory, to fill the tiles; they outlive the call
  virtual std::unique_ptr<SpreadCall> spread(const Problem& problem, const Operands& operands) const;
  virtual void run_openblas(const Problem& /*problem*/, const Operands& /*operands*/) const {}
  virtual void run_cublasxt(cublasXtContext* /*handle*/, const Problem& /*problem*/,
                            const Operands& /*operands*/) const {}
  /// @pre  the GPU can access the operands
  virtual void run_cublas(CuBlas& /*blas*/, const Problem& /*problem*/, const Operands& /*operands*/) const {}
  /// Whether cuSOLVER has the routine for this problem.
  virtual bool has_cusolver(const Problem& /*problem*/) const { return false; }
  /// Runs on one GPU, with copies to the GPU and back unless the operands are there.
  virtual void run_cusolver(CuSolver& /*solver*/, const Problem& /*problem*/, const Operands& /*operands*/) const {}
  /// Whether cuSOLVERMg, which runs on several GPUs, has the routine for this problem.
  virtual bool has_cusolver_mg(const Problem& /*problem*/) const { return false; }
  virtual void run_cusolver_mg(CuSolverMg& /*solver*/, const Problem& /*problem*/, const Operands& /*operands*/) const {
  }

  /// Compares C with an oracle. A, B and the old C are generated from the seed again, see `generated`.
  virtual Verdict check(const Problem& problem, const Operands& operands) const = 0;

 private:
  /// The compulsory traffic if all operands are in host memory.
  virtual blas::Traffic traffic(const Problem& problem) const = 0;

  std::string name_;
};

/// Sizes of A, B and C [bytes].
/// @throws BadArgument if one of them exceeds the address space
std::array<std::size_t, 3> operand_bytes(const Routine& routine, const Problem& problem);

/// All routines of routines.def, the factorizations, the solves and the inverses.
const std::vector<std::unique_ptr<Routine>>& routines();

/// A routine of routines.def.
std::unique_ptr<Routine> blas_routine(blas::Routine which);
/// potrf, or posv if it solves as well.
std::unique_ptr<Routine> cholesky(bool solves);
/// getrf, or gesv if it solves as well.
std::unique_ptr<Routine> lu(bool solves);
/// geqrf, or gels if it solves as well.
std::unique_ptr<Routine> qr(bool solves);
/// trtrs.
std::unique_ptr<Routine> triangular_system();
/// getrf_nopiv.
std::unique_ptr<Routine> lu_nopiv();
/// trtri, lauum, potri or getri.
std::unique_ptr<Routine> inverse(Inversion which);

/// The routines and problems to run: every routine with every problem that it supports.
struct ChosenProblems {
  std::vector<const Routine*> routines;
  std::vector<Problem> problems;  ///< types × sizes; a routine may not support all of them
  std::optional<Memory> memory;   ///< empty: pinned; in tessera-bench without CUDA GPUs, pageable

  /// Each routine with each problem that it supports.
  std::vector<std::pair<const Routine*, const Problem*>> calls() const {
    std::vector<std::pair<const Routine*, const Problem*>> all;
    for (const auto* routine : routines)
      for (const auto& problem : problems)
        if (routine->why_not(problem).empty()) all.emplace_back(routine, &problem);
    return all;
  }

  void settle(Memory chosen) {
    memory = chosen;
    for (auto& problem : problems) problem.memory = chosen;
  }
};

}  // namespace tessera::bench
