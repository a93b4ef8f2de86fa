// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "trace/analysis/analysis.hpp"

/// The output files of a run. Each function throws RuntimeError with the file and the reason if it cannot write. A file
/// is either complete or absent.
namespace tessera::trace {

/// A run with its analysis, and its name in a comparison.
struct Explained {
  Run run;
  Analysis analysis;
};

/// Writes page/report.html as one self-contained file with style, script and data. Two runs share one time axis,
/// followed by a table of differences.
void write_page(const std::filesystem::path& file, const std::vector<Explained>& runs);

/// Writes the chart as a figure for papers: workers, links, memory and tasks over time.
void write_svg(const std::filesystem::path& file, const Explained& run);
void write_png(const std::filesystem::path& file, const Explained& run);

/// Writes a trace for ViTE: rows for memories, with arrows for copies between them, then for workers and for links.
void write_for_vite(const std::filesystem::path& file, const Run& run);

/// Columns: job,name,routine,operand,row,column,step,worker,node,submitted,ready,start,end,flops,after
void write_tasks_csv(const std::filesystem::path& file, const Run& run);
/// Columns: link,from,to,operand,row,column,bytes,start,end,reason
void write_transfers_csv(const std::filesystem::path& file, const Run& run);

/// Writes a trace for Perfetto and chrome://tracing.
void write_chrome_trace(const std::filesystem::path& file, const Explained& run);

/// The text that tessera-trace prints about a run.
std::string summary(const Explained& run);

/// The table of differences, with the second run relative to the first.
std::string comparison(const Explained& first, const Explained& second);

}  // namespace tessera::trace
