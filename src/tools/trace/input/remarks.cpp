// SPDX-License-Identifier: BSD-3-Clause
#include "trace/input/remarks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tessera::trace {

namespace {

namespace fs = std::filesystem;

std::string several(std::size_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::size_t gpus(const Run& run) {
  return static_cast<std::size_t>(std::ranges::count(run.nodes, Kind::Gpu, &Node::kind));
}

std::string cpus(const Run& run) {
  return several(static_cast<std::size_t>(std::ranges::count(run.workers, Kind::Host, &Worker::kind)), "CPU worker");
}

/// The size of a buffer that would hold the whole trace [MiB].
std::uintmax_t large_enough(const fs::path& folder) {
  std::uintmax_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error))
    if (entry.path().filename().string().starts_with("prof_file")) bytes = entry.file_size(error);
  return (error ? 0 : bytes >> 20) + 1;
}

std::string about_flushes(const fs::path& folder, const PajeTrace& trace) {
  const auto times = trace.flushes == 1 ? std::string("once") : fmt::format("{} times", trace.flushes);
  return fmt::format(
      "StarPU's buffer was full {}, and the program waited {:.2g} s in total for it to be written: set "
      "STARPU_TRACE_BUFFER_SIZE to {} or more (MiB).",
      times, trace.flushing, large_enough(folder));
}

}  // namespace

std::string title_of(const Run& run) {
  std::string routines;
  for (const auto& routine : run.routines) routines += (routines.empty() ? "" : ", ") + routine.name;
  return fmt::format("{}: {} on {}{}", routines, several(run.tasks.size(), "task"),
                     gpus(run) > 0 ? several(gpus(run), "GPU") : cpus(run), run.simulated ? ", simulated" : "");
}

std::string machine_of(const Run& run) {
  return gpus(run) > 0 ? fmt::format("{}, {}", several(gpus(run), "GPU"), cpus(run)) : cpus(run);
}

std::vector<std::string> warnings_of(const fs::path& folder, const PajeTrace& trace, const RunJson& run_json,
                                     std::size_t unended) {
  std::vector<std::string> warnings;
  if (!run_json.complete)
    warnings.emplace_back("The program did not end, so the run is incomplete: it is shown as far as the trace goes.");
  else if (!trace.whole)
    warnings.emplace_back("The trace ends before the program does: the run is shown as far as the trace goes.");
  if (run_json.interruptions > 0)
    warnings.push_back(
        fmt::format("Recording was paused {} during the run: that time is shown as idle.",
                    run_json.interruptions == 1 ? "once" : fmt::format("{} times", run_json.interruptions)));
  if (unended > 0)
    warnings.push_back(fmt::format("The end of {} is missing: {} until the trace ends.", several(unended, "task"),
                                   unended == 1 ? "it is shown" : "they are shown"));
  if (trace.flushes > 0) warnings.push_back(about_flushes(folder, trace));
  return warnings;
}

}  // namespace tessera::trace
