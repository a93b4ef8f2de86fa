// SPDX-License-Identifier: BSD-3-Clause
#include "host_pieces.hpp"

#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include "common/of_type.hpp"
#include "common/triangle.hpp"
#include "host.hpp"

namespace tessera::dropin {

namespace {

using blas::Extent;
using blas::Member;
using common::Part;

/// The largest size of a piece: large enough for full speed, and small enough to copy its operands. Matrices with such
/// leading dimensions have few columns.
constexpr Index longest = 65536;

/// The offset of element (i, j) of op(X) in memory [elements].
Index offset(Op op, Index i, Index j, Index ld) { return op == Op::NoTrans ? i + j * ld : j + i * ld; }

/// An operand of a piece.
template <Scalar T>
struct Operand {
  T* data;
  Index& ld;  ///< leading dimension in the piece's Call
  Index m, n;
  Part part;  ///< the part that the routine references
  bool read, written;

  /// The number of elements that must be copied. 0 if the leading dimension fits, if there is only one column, or if
  /// the operand is not referenced.
  Index copied() const { return ld > blas::arguments::largest_int && n > 1 && (read || written) ? m * n : 0; }
};

template <Scalar T>
void copy(const Operand<T>& x, const T* from, Index from_ld, T* to, Index to_ld) {
  for (Index j = 0; j < x.n; j++) {
    const Index begin = x.part == Part::Lower ? j : 0, end = x.part == Part::Upper ? j + 1 : x.m;
    std::copy(from + begin + j * from_ld, from + end + j * from_ld, to + begin + j * to_ld);
  }
}

template <Scalar T>
class Pieces {
 public:
  Pieces(const HostBlas& host, const Call& call) : host_(host), call_(call) {
    if (!reads_inputs(call)) call_.k = 0;  // OpenBLAS may access A and B even if alpha is 0
    if (has(call.shape(), Member::k)) k_ = std::clamp<Index>(call_.k, 1, longest);
    if (can_cut(Extent::n)) n_ = std::min(n_, longest);
    if (can_cut(Extent::m)) m_ = std::min(m_, longest);
  }

  bool compute() {
    auto first = piece(0, 0, 0);
    const auto operands = operands_of(first);
    for (std::size_t x = 0; x < operands.size(); x++)
      if (const Index count = operands[x].copied(); count > 0) {
        copies_[x].reset(new (std::nothrow) T[static_cast<std::size_t>(count)]);
        if (copies_[x] == nullptr) return false;
      }
    for (const auto& operand : operands) operand.ld = std::max<Index>(1, operand.m);
    if (!fits(first)) return false;  // such a large triangle fits into no memory
    for (Index l = 0; l == 0 || l < call_.k; l += k_)
      for (Index j = 0; j < call_.n; j += n_)
        for (Index i = 0; i == 0 || i < call_.m; i += m_) compute(piece(i, j, l));
    return true;
  }

 private:
  /// The piece that starts in row i and column j of the result, and at index l of the sum.
  Call piece(Index i, Index j, Index l) const {
    static constexpr T one{1};
    auto p = call_;
    p.m = std::min(m_, call_.m - i), p.n = std::min(n_, call_.n - j), p.k = std::min(k_, call_.k - l);
    const auto begin = [&](Extent which) {  // start of the piece; a triangle is never cut
      return which == Extent::m ? i : which == Extent::n ? j : which == Extent::k ? l : 0;
    };
    const auto first = [&](const void* data, const blas::Operand& operand, Index ld) {
      return static_cast<const T*>(data) + offset(operand.op, begin(operand.rows), begin(operand.columns), ld);
    };
    const auto [A, B, C] = operands(call_);
    p.A = first(p.A, A, p.lda), p.C = const_cast<T*>(first(p.C, C, p.ldc));
    if (B.exists) p.B = first(p.B, B, p.ldb);
    if (l > 0) p.beta = &one;
    return p;
  }

  /// Whether a size may be cut, because no triangle extends along it.
  bool can_cut(Extent which) const {
    const auto along = call_.side == Side::Left ? Extent::m : Extent::n;
    return std::ranges::none_of(operands(call_), [&](const blas::Operand& operand) {
      return operand.triangle && which == (operand.rows == Extent::order ? along : operand.rows);
    });
  }

  std::array<Operand<T>, 3> operands_of(Call& p) const {
    const auto [A, B, C] = matrices(p);
    const auto [a, b, c] = operands(p);
    const auto part = [&](const blas::Operand& operand) {
      return operand.triangle ? common::part_of(p.uplo) : Part::All;
    };
    const auto writable = [](const void* data) { return const_cast<T*>(static_cast<const T*>(data)); };
    const bool reads = reads_inputs(p);
    return {{{writable(p.A), p.lda, A.m, A.n, part(a), reads, false},
             {writable(p.B), p.ldb, B.m, B.n, part(b), reads, false},
             {writable(p.C), p.ldc, C.m, C.n, part(c), reads_result(p), true}}};
  }

  void compute(Call p) const {
    const auto operands = operands_of(p);
    const Index ldc = p.ldc;
    T* data[3];
    for (std::size_t x = 0; x < operands.size(); x++) {
      const auto& operand = operands[x];
      const Index compact = std::max<Index>(1, operand.m);
      const bool copies = operand.copied() > 0;
      data[x] = copies ? copies_[x].get() : operand.data;
      if (copies && operand.read) copy<T>(operand, operand.data, operand.ld, data[x], compact);
      if (operand.ld > blas::arguments::largest_int) operand.ld = compact;
    }
    p.A = data[0], p.B = data[1], p.C = data[2];
    host_(p);
    if (const auto& C = operands[2]; data[2] != C.data) copy<T>(C, data[2], p.ldc, C.data, ldc);
  }

  const HostBlas& host_;
  Call call_;
  /// Maximum sizes of a piece.
  Index m_ = std::max<Index>(1, call_.m), n_ = std::max<Index>(1, call_.n), k_ = 1;
  std::unique_ptr<T[]> copies_[3];  ///< copies of operands whose leading dimension is too large
};

template <Scalar T>
void triangle(const HostBlas& host, const Call& c) {
  constexpr int leaf = 64;
  static constexpr T zero{};
  const T beta = *static_cast<const T*>(c.beta);
  const auto A = [&](Index i) { return static_cast<const T*>(c.A) + (c.op_a == Op::NoTrans ? i : i * c.lda); };
  const auto B = [&](Index j) { return static_cast<const T*>(c.B) + (c.op_b == Op::NoTrans ? j * c.ldb : j); };
  const auto C = [&](Index i, Index j) { return static_cast<T*>(c.C) + i + j * c.ldc; };
  const auto product = [&](Index i, Index j, Index m, Index n, const void* factor, T* result, Index ld) {
    auto part = c;
    part.routine = blas::Routine::gemm;
    part.m = m, part.n = n, part.A = A(i), part.B = B(j), part.beta = factor, part.C = result, part.ldc = ld;
    host(part);
  };
  const bool lower = c.uplo == Uplo::Lower;
  std::vector<T> square(static_cast<std::size_t>(leaf) * leaf);
  common::cut_triangle(
      c.uplo, static_cast<int>(c.n), leaf,
      [&](const common::Rectangle& r) { product(r.i, r.j, r.m, r.n, c.beta, C(r.i, r.j), c.ldc); },
      [&](int first, int n) {
        product(first, first, n, n, &zero, square.data(), leaf);
        for (int j = 0; j < n; j++)
          for (int i = lower ? j : 0; i < (lower ? n : j + 1); i++) {
            T& element = *C(first + i, first + j);
            const T sum = square[static_cast<std::size_t>(i + j * leaf)];
            element = beta == T{} ? sum : sum + beta * element;  // with beta = 0, C is not read
          }
      });
}

}  // namespace

bool compute_large(const HostBlas& host, const Call& call) {
  return common::with_type(call.type, [&]<Scalar T>(T) { return Pieces<T>(host, call).compute(); });
}

void gemmt_by_gemm(const HostBlas& host, const Call& call) {
  common::with_type(call.type, [&]<Scalar T>(T) { triangle<T>(host, call); });
}

}  // namespace tessera::dropin
