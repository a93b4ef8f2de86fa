// SPDX-License-Identifier: BSD-3-Clause
#include "workload/routines.hpp"

#include "shared/bad_argument.hpp"
#include "shared/types.hpp"

namespace tessera::bench {

namespace {

double element_size(char type) {
  return tools::with_type(type, []<Scalar T>(T) { return static_cast<double>(sizeof(T)); });
}

bool is_complex_type(char type) {
  return tools::with_type(type, []<Scalar T>(T) { return is_complex<T>; });
}

}  // namespace

std::string Routine::why_not(const Problem& p) const {
  if (entry_.types.find(p.type) == std::string::npos)
    return fmt::format("--type: '{}' does not exist for {} ({})", p.type, entry_.name, entry_.types);
  const auto allowed = ops(p.type);
  if (takes().trans_a && arguments::illegal_op(1, "op", p.op_a, allowed).position != 0)
    return fmt::format("--trans: '{}' does not exist for {}{} (n, {})", p.op_a == Op::Trans ? 't' : 'c', p.type,
                       entry_.name, allowed == arguments::Ops::Hermitian ? 'c' : 't');
  for (const auto& [option, value, kind] :
       {std::tuple{"--alpha", p.alpha, entry_.alpha}, {"--beta", p.beta, entry_.beta}})
    if (value.imag() != 0 && kind != ScalarKind::None && (kind == ScalarKind::Real || !is_complex_type(p.type)))
      return fmt::format("{}: '{},{}' is complex, but {}{} takes a real number", option, value.real(), value.imag(),
                         p.type, entry_.name);
  return "";
}

double Routine::flops(const Problem& p) const {
  if (p.alpha == 0.0) return 0;
  const double one = tools::with_type(p.type, []<Scalar T>(T) { return flops_per_multiply_add<T>; });
  return one * volume(p).multiply_adds;
}

Traffic Routine::compulsory(const Problem& p) const {
  const auto elements = volume(p);
  const bool computes = p.alpha != 0.0, reads_result = entry_.beta == ScalarKind::None ? computes : p.beta != 0.0;
  const double in = (computes ? elements.inputs : 0) + (reads_result ? elements.result : 0);
  return {element_size(p.type) * in, element_size(p.type) * elements.result};
}

std::array<std::size_t, 3> operand_bytes(const Routine& routine, const Problem& problem) {
  constexpr double address_space = 0x1p47;
  const auto element = element_size(problem.type);
  const auto shapes = routine.shapes(problem);
  std::array<std::size_t, 3> bytes{};
  std::size_t i = 0;
  for (const auto* shape : {&shapes.A, &shapes.B, &shapes.C}) {
    const double exact = static_cast<double>(shape->ld) * static_cast<double>(shape->columns) * element;
    if (exact > address_space)
      throw tools::BadArgument(
          fmt::format("--size: a matrix of {} x {} elements needs {:.3g} GB, which exceeds the address space",
                      shape->rows, shape->columns, exact * 1e-9));
    bytes[i++] = static_cast<std::size_t>(exact);
  }
  return bytes;
}

const std::vector<std::unique_ptr<Routine>>& routines() {
  static const auto table = [] {
    std::vector<std::unique_ptr<Routine>> all;
    const char *SDCZ = "sdcz", *CZ = "cz";
#define ROUTINE(name, types, shape, alpha, beta) \
  all.push_back(shapes::shape({#name, types, ScalarKind::alpha, ScalarKind::beta}));
#include "routines/routines.def"
#undef ROUTINE
    return all;
  }();
  return table;
}

}  // namespace tessera::bench
