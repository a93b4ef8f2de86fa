// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <memory>
#include <utility>

#include <tessera/matrix.hpp>

#include "common/not_copyable.hpp"
#include "workload/problem.hpp"

namespace tessera::bench {

/// A call on matrices without host memory. Their tiles are on the GPUs that own them, where earlier calls leave them.
class SpreadCall : common::NotCopyable {
 public:
  virtual ~SpreadCall() = default;

  /// Copies the operands from host memory to the tiles.
  virtual void fill() const = 0;
  /// Returns when the tiles have their results.
  virtual void run() const = 0;
  /// Copies C to host memory.
  virtual void bring_back() const = 0;
  /// The tile size of C.
  virtual TileSize tile() const = 0;
};

/// @tparam Submit  (A, B, C): submits the tasks
template <Scalar T, typename Submit>
class SpreadCallOf final : public SpreadCall {
 public:
  SpreadCallOf(const Shapes& shapes, const Operands& host, const std::array<TileSize, 3>& tiles, Submit submit)
      : A_(shapes.A, host.A, tiles[0]), B_(shapes.B, host.B, tiles[1]), C_(shapes.C, host.C, tiles[2]),
        submit_(std::move(submit)) {}

  void fill() const override {
    for (const auto* operand : {&A_, &B_, &C_}) copy(operand->on_host(), operand->spread);
  }
  void run() const override {
    submit_(A_.spread, B_.spread, C_.spread);
    C_.spread.wait();
  }
  void bring_back() const override { copy(C_.spread, C_.on_host()); }
  TileSize tile() const override { return {C_.spread.mb(), C_.spread.nb()}; }

 private:
  struct Spread {
    Shape shape;
    T* host;
    TileSize tile;
    Matrix<T> spread{shape.rows, shape.columns, tile};

    Spread(const Shape& of, void* data, TileSize size) : shape(of), host(static_cast<T*>(data)), tile(size) {}
    /// The destructor waits for copies.
    Matrix<T> on_host() const { return {host, shape.rows, shape.columns, shape.ld, {spread.mb(), spread.nb()}}; }
  };

  Spread A_, B_, C_;
  Submit submit_;
};

/// @param host   the operands in host memory, from which the tiles are filled
/// @param tiles  tile sizes of A, B and C
template <Scalar T, typename Submit>
std::unique_ptr<SpreadCall> spread_call(const Shapes& shapes, const Operands& host,
                                        const std::array<TileSize, 3>& tiles, Submit submit) {
  return std::make_unique<SpreadCallOf<T, Submit>>(shapes, host, tiles, std::move(submit));
}

}  // namespace tessera::bench
