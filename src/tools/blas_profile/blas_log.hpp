// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The log that libtessera_blas writes to TESSERA_BLAS_LOG: lines of JSON. Each process writes a header before its
/// calls.
namespace tessera::blas_profile {

enum class Place { Host, Devices };

/// m, n, k and nrhs, as far as the routine has these sizes; no routine has both k and nrhs. A row without sizes sums up
/// calls of many shapes.
using Shape = std::array<std::optional<std::int64_t>, 4>;

/// Totals of the calls of one routine with one shape in one place.
struct Calls {
  std::string routine;
  Shape shape;
  Place place = Place::Host;
  std::uint64_t calls = 0;
  std::optional<double> seconds;  ///< empty: no such call was timed
  double flops = 0, bytes = 0;
  std::optional<double> host_seconds;  ///< measured or estimated time on the host; empty: unknown
  double reused_bytes = 0;             ///< of `bytes`: were on the devices already
};

struct Process {
  std::int64_t id = 0;
  std::string program, host_blas;
  std::string devices;  ///< "": the devices were not started
  std::string trouble;  ///< "": none
  std::string foreign;  ///< a BLAS whose calls bypass the drop-in; "": none
  double seconds = 0;   ///< from the first call to the end of the process
  std::vector<Calls> calls;
};

/// An invalid line.
struct Damaged {
  std::size_t line = 0;
  std::string why;
};

struct Log {
  std::vector<Process> processes;
  std::vector<Damaged> damaged;
};

/// @param first_line  number of the first line within its file
Log read_log(std::string_view text, std::size_t first_line = 1);

/// Sums the calls of all processes by routine, shape and place, and sorts them by time, longest first. The sum of times
/// is unknown if any of them is.
std::vector<Calls> summed(const Log& log);

/// Adds the numbers of `more` to `sum`.
void add(Calls& sum, const Calls& more);

}  // namespace tessera::blas_profile
