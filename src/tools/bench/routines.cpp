// SPDX-License-Identifier: BSD-3-Clause
#include "bench/routines.hpp"

#include "common/bad_argument.hpp"
#include "common/types.hpp"

namespace tessera::bench {

std::array<std::size_t, 3> operand_bytes(const Routine& routine, const Problem& problem) {
  constexpr double address_space = 0x1p47;
  const auto element = tools::with_type(problem.type, []<Scalar T>(T) { return sizeof(T); });
  const auto shapes = routine.shapes(problem);
  std::array<std::size_t, 3> bytes{};
  std::size_t i = 0;
  for (const auto* shape : {&shapes.A, &shapes.B, &shapes.C}) {
    const double exact =
        static_cast<double>(shape->ld) * static_cast<double>(shape->columns) * static_cast<double>(element);
    if (exact > address_space)
      throw tools::BadArgument(
          fmt::format("--size: a matrix of {} x {} elements needs {:.3g} GB, more than any address space has",
                      shape->rows, shape->columns, exact * 1e-9));
    bytes[i++] = static_cast<std::size_t>(shape->elements()) * element;
  }
  return bytes;
}

const std::vector<std::unique_ptr<Routine>>& routines() {
  static const auto table = [] {
    std::vector<std::unique_ptr<Routine>> all;
    const char *SDCZ = "sdcz", *SD = "sd", *CZ = "cz";
    static_cast<void>(SD), static_cast<void>(CZ);
#define ROUTINE(name, types, shape, alpha, beta) all.push_back(shapes::shape(#name, types));
#include "routines.def"
#undef ROUTINE
    static_cast<void>(SDCZ);
    return all;
  }();
  return table;
}

}  // namespace tessera::bench
