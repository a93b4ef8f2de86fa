// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <charconv>
#include <complex>
#include <string>
#include <type_traits>

#include <tessera/types.hpp>

#include "codelet.hpp"

/// The arguments of tile operations as text, for a Dump. Addresses where tasks store findings are left out, because
/// they differ from run to run.
namespace tessera::codelets {

/// The shortest text that is read back as the same number.
inline std::string number_text(std::floating_point auto number) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

template <typename V>
std::string value_text(const V& value) {
  if constexpr (std::is_same_v<V, Part>) return std::array{"all", "lower", "upper"}[static_cast<int>(value)];
  else if constexpr (std::is_enum_v<V> && sizeof(V) == 1) return std::string(1, static_cast<char>(value));
  else if constexpr (std::is_floating_point_v<V>) return number_text(value);
  else if constexpr (std::is_integral_v<V> || std::is_enum_v<V>) return std::to_string(static_cast<long long>(value));
  else return "(" + number_text(value.real()) + "," + number_text(value.imag()) + ")";
}

template <typename... V>
std::string words(const V&... values) {
  std::string text;
  ((text += " " + value_text(values)), ...);
  return text;
}

template <Scalar T>
std::string text_of(const GemmArgs<T>& a) {
  return words(a.op_a, a.op_b, a.alpha, a.beta, a.first_column, a.first_term);
}
template <Scalar T>
std::string text_of(const GemmtArgs<T>& a) {
  return words(a.uplo, a.first_row, a.op_a, a.op_b, a.alpha, a.beta);
}
template <Scalar T>
std::string text_of(const SymmArgs<T>& a) {
  return words(a.side, a.uplo, a.alpha, a.beta);
}
template <Scalar T>
std::string text_of(const SymmPanelArgs<T>& a) {
  return words(a.uplo, a.first, a.alpha, a.beta);
}
template <Scalar T>
std::string text_of(const SyrkArgs<T>& a) {
  return words(a.uplo, a.first_row, a.op, a.alpha, a.beta);
}
template <Scalar T>
std::string text_of(const Syr2kArgs<T>& a) {
  return words(a.uplo, a.first_row, a.op, a.alpha, a.beta);
}
template <Scalar T>
std::string text_of(const TriangularArgs<T>& a) {
  return words(a.side, a.uplo, a.op, a.diag, a.alpha, a.blocked, a.sum != nullptr, a.spreads);
}
template <Scalar T>
std::string text_of(const TriangularPanelArgs<T>& a) {
  return text_of<T>(static_cast<const TriangularArgs<T>&>(a)) +
         words(a.first, a.next_first, a.next_rows, a.next_sum != nullptr);
}
template <Scalar T>
std::string text_of(const DiagonalBlocksArgs<T>& a) {
  return words(a.uplo, a.diag, a.first_row);
}
template <Scalar T>
std::string text_of(const PotrfArgs<T>& a) {
  return words(a.uplo, a.first);
}
inline std::string text_of(const GetrfArgs& a) { return words(a.first, a.tiles, a.place, a.blocked); }
inline std::string text_of(const PanelUpdateArgs& a) { return words(a.first, a.tiles, a.blocked); }
inline std::string text_of(const GetrfBesideUpdatesArgs& a) {
  return text_of(a.panel) + " beside" + text_of(a.update) + words(a.columns);
}
inline std::string text_of(const LaswpArgs& a) { return words(a.first, a.step, a.tiles, a.backwards); }
inline std::string text_of(const PanelSolveArgs& a) { return words(a.first, a.tiles, a.uplo, a.op); }
inline std::string text_of(const GetrfNopivArgs& a) { return words(a.unit, a.first); }
inline std::string text_of(const GrowthArgs& a) { return words(a.part, a.of); }
template <Scalar T>
std::string text_of(const TrtriArgs<T>& a) {
  return words(a.uplo, a.diag, a.blocked);
}
template <Scalar T>
std::string text_of(const LauumArgs<T>& a) {
  return words(a.uplo);
}
inline std::string text_of(const FindZeroArgs& a) { return words(a.row, a.first); }
inline std::string text_of(const PanelMultiplyArgs& a) { return words(a.first); }
inline std::string text_of(const PanelInvertArgs& a) { return words(a.first, a.blocked); }
inline std::string text_of(const SplitPanelArgs& a) { return words(a.first); }
inline std::string text_of(const SwapColumnsArgs& a) { return words(a.distance, a.panel, a.within); }
inline std::string text_of(const ReflectorArgs& a) { return words(a.first); }
inline std::string text_of(const ClearRowsArgs& a) { return words(a.first); }
inline std::string text_of(const LarfbArgs& a) { return words(a.first, a.side, a.adjoint); }
inline std::string text_of(const OutcomeArgs& /*a*/) { return {}; }
template <Scalar T>
std::string text_of(const InspectArgs<T>& /*a*/) {
  return {};
}
template <Scalar T>
std::string text_of(const ScaleArgs<T>& a) {
  return words(a.part, a.first_row, a.real_diagonal, a.beta);
}
template <Scalar T>
std::string text_of(const AddArgs<T>& a) {
  return words(a.part, a.first_row, a.real_diagonal, a.beta);
}

}  // namespace tessera::codelets
