// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What libtessera_blas writes to TESSERA_BLAS_LOG: lines of JSON, of each process a header first.
namespace tessera::info {

enum class Place { Host, Devices };

/// m, n and k, as far as the routine has them. None at all: calls of many shapes.
using Shape = std::array<std::optional<std::int64_t>, 3>;

/// Calls of one routine with one shape in one place; the numbers are totals.
struct Calls {
  std::string routine;
  Shape shape;
  Place place = Place::Host;
  std::uint64_t calls = 0;
  std::optional<double> seconds;  ///< nothing: not known, as no such call was timed
  double flops = 0, bytes = 0;
  std::optional<double> host_seconds;  ///< what the host took, or would have by estimate; nothing: not known
};

struct Process {
  std::int64_t id = 0;
  std::string program, host_blas;
  std::string devices;  ///< "": they were not started
  std::string trouble;  ///< "": none
  double seconds = 0;   ///< from its first call to its end
  std::vector<Calls> calls;
};

/// A line that says nothing.
struct Damaged {
  std::size_t line = 0;
  std::string why;
};

struct Log {
  std::vector<Process> processes;
  std::vector<Damaged> damaged;
};

/// @param first_line  number of the first line in its file
Log read_log(std::string_view text, std::size_t first_line = 1);

/// The calls of all processes by routine, shape and place, those that took the longest first.
/// A time is known where it is known of all that are summed.
std::vector<Calls> summed(const Log& log);

/// Adds to the numbers of `sum`.
void add(Calls& sum, const Calls& more);

}  // namespace tessera::info
