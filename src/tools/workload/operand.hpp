// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <tessera/types.hpp>

#include "workload/generated.hpp"
#include "workload/wide.hpp"

namespace tessera::bench {

/// How the matrix that a routine means differs from the stored one.
enum class Form {
  General,     ///< not at all
  Symmetric,   ///< the triangle that is not stored mirrors the one that is
  Hermitian,   ///< the triangle that is not stored is the conjugate mirror of the one that is
  Triangular,  ///< the triangle that is not stored is 0
  Zero,        ///< all elements are 0
};
enum class Diagonal { Stored, Real, Ones };

template <Scalar T>
T conjugated(T x) {
  if constexpr (is_complex<T>) return std::conj(x);
  else return x;
}

/// op(A) of a stored matrix, element by element, as the routines interpret it.
template <Scalar T>
struct Operand {
  Op op = Op::NoTrans;
  const T* data = nullptr;  ///< null: the elements are generated again
  Index ld = 1;
  std::uint64_t seed = 0;
  Form form = Form::General;
  Uplo uplo = Uplo::Lower;  ///< the stored triangle
  Diagonal diagonal = Diagonal::Stored;
  int operand = 2;             ///< without data: the operand that is generated again
  Index well_conditioned = 0;  ///< without data: the order of the well-conditioned matrix; 0: not such a matrix

  Operand transposed(bool conjugate) const {
    auto result = *this;
    result.op = op != Op::NoTrans ? Op::NoTrans : conjugate ? Op::ConjTrans : Op::Trans;
    return result;
  }

  T stored(Index i, Index j) const {
    if (data != nullptr) return data[i + j * ld];
    const Index index = i + j * ld;
    const bool padding = i >= well_conditioned;
    return padding ? generated_element<T>(seed, operand, index)
                   : well_conditioned_element<T>(seed, operand, index, i, j, well_conditioned);
  }

  /// The element of A itself.
  T meant(Index i, Index j) const {
    if (form == Form::Zero) return {};
    if (i == j && diagonal != Diagonal::Stored) return diagonal == Diagonal::Ones ? T(1) : T(std::real(stored(i, i)));
    if (form == Form::General || (uplo == Uplo::Lower ? i >= j : i <= j)) return stored(i, j);
    if (form == Form::Triangular) return {};
    return form == Form::Hermitian ? conjugated(stored(j, i)) : stored(j, i);
  }

  T element(Index i, Index j) const {
    if (op == Op::NoTrans) return meant(i, j);
    return op == Op::ConjTrans ? conjugated(meant(j, i)) : meant(j, i);
  }

  bool columns_are_contiguous() const { return op == Op::NoTrans; }
  Wide<T> operator()(Index i, Index j) const { return widen(element(i, j)); }
};

}  // namespace tessera::bench
