// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <charconv>
#include <string>
#include <type_traits>

#include <tessera/types.hpp>

#include "codelet.hpp"
#include "common/of_type.hpp"

/// The arguments of tile operations as text, for a Dump. Addresses to which tasks write results are left out, because
/// they differ from run to run.
namespace tessera::codelets {

/// The shortest text from which the same number can be read.
inline std::string number_text(std::floating_point auto number) {
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), number).ptr};
}

template <typename V>
std::string value_text(const V& value) {
  if constexpr (std::is_same_v<V, common::Part>) return std::array{"all", "lower", "upper"}[static_cast<int>(value)];
  else if constexpr (std::is_enum_v<V> && sizeof(V) == 1) return std::string(1, static_cast<char>(value));
  else if constexpr (std::is_floating_point_v<V>) return number_text(value);
  else if constexpr (std::is_integral_v<V> || std::is_enum_v<V>) return std::to_string(static_cast<long long>(value));
  else return "(" + number_text(value.real()) + "," + number_text(value.imag()) + ")";
}

/// A factor (α or β), as a number of the task's type.
struct Factor {
  Number value;
  char type;
};
Factor factor(const Number& value, const auto& arguments) { return {value, arguments.work.type}; }
inline std::string value_text(const Factor& factor) {
  return common::with_type(factor.type, [&]<Scalar T>(T) { return value_text(T(factor.value)); });
}

template <typename... V>
std::string words(const V&... values) {
  std::string text;
  ((text += " " + value_text(values)), ...);
  return text;
}

inline std::string text_of(const GemmArgs& a) {
  return words(a.op_a, a.op_b, factor(a.alpha, a), factor(a.beta, a), a.first_column, a.first_term);
}
inline std::string text_of(const GemmtArgs& a) {
  return words(a.uplo, a.first_row, a.op_a, a.op_b, factor(a.alpha, a), factor(a.beta, a));
}
inline std::string text_of(const SymmArgs& a) { return words(a.side, a.uplo, factor(a.alpha, a), factor(a.beta, a)); }
inline std::string text_of(const SymmetrizeArgs& a) { return words(a.uplo, a.first_row, a.hermitian); }
inline std::string text_of(const SymmPanelArgs& a) {
  return words(a.uplo, a.first, factor(a.alpha, a), factor(a.beta, a));
}
inline std::string text_of(const SyrkArgs& a) {
  return words(a.uplo, a.first_row, a.op, factor(a.alpha, a), factor(a.beta, a));
}
inline std::string text_of(const TriangularArgs& a) {
  return words(a.side, a.uplo, a.op, a.diag, factor(a.alpha, a), a.blocked, a.sum != nullptr, a.spreads);
}
inline std::string text_of(const TriangularPanelArgs& a) {
  return text_of(static_cast<const TriangularArgs&>(a)) +
         words(a.first, a.next_first, a.next_rows, a.next_sum != nullptr) +
         (a.part == TriangularPanelArgs::Part::Product    ? " product"
          : a.part == TriangularPanelArgs::Part::Diagonal ? " diagonal"
                                                          : "");
}
inline std::string text_of(const DiagonalBlocksArgs& a) { return words(a.uplo, a.diag, a.first_row); }
inline std::string text_of(const PotrfArgs& a) { return words(a.uplo, a.first); }
inline std::string text_of(const GetrfArgs& a) { return words(a.first, a.tiles, a.place, a.blocked); }
inline std::string text_of(const PanelUpdateArgs& a) { return words(a.first, a.tiles, a.blocked); }
inline std::string text_of(const GetrfBesideUpdatesArgs& a) {
  return text_of(a.panel) + " beside" + text_of(a.update) + words(a.columns);
}
inline std::string text_of(const LaswpArgs& a) { return words(a.first, a.step, a.tiles, a.backwards); }
inline std::string text_of(const PanelSolveArgs& a) { return words(a.first, a.tiles, a.uplo, a.op); }
inline std::string text_of(const GetrfNopivArgs& a) { return words(a.unit, a.first); }
inline std::string text_of(const GrowthArgs& a) { return words(a.part, a.of); }
inline std::string text_of(const TrtriArgs& a) { return words(a.uplo, a.diag, a.blocked); }
inline std::string text_of(const LauumArgs& a) { return words(a.uplo); }
inline std::string text_of(const FindZeroArgs& a) { return words(a.row, a.first); }
inline std::string text_of(const PanelArgs& a) { return words(a.first); }
inline std::string text_of(const PanelInvertArgs& a) { return words(a.first, a.blocked); }
inline std::string text_of(const SwapColumnsArgs& a) { return words(a.distance, a.panel, a.within); }
inline std::string text_of(const ReflectorArgs& a) { return words(a.first); }
inline std::string text_of(const ClearRowsArgs& a) { return words(a.first); }
inline std::string text_of(const LarfbArgs& a) { return words(a.first, a.side, a.adjoint); }
inline std::string text_of(const GeqrfBesideUpdatesArgs& a) {
  return text_of(a.panel) + text_of(a.update) + words(a.columns);
}
inline std::string text_of(const OutcomeArgs& /*a*/) { return {}; }
inline std::string text_of(const InspectArgs& /*a*/) { return {}; }
inline std::string text_of(const ScaleArgs& a) {
  return words(a.part, a.first_row, a.real_diagonal, factor(a.beta, a));
}

}  // namespace tessera::codelets
