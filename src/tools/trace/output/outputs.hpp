// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>

#include "trace/analysis/analysis.hpp"

/// The files that are made of a run. All throw RuntimeError, with the file and the reason, if it cannot be written: a
/// file is whole, or not there.
namespace tessera::trace {

/// A run, what was found out about it, and how it is called beside another one.
struct Explained {
  Run run;
  Analysis analysis;
};

/// One page without any other file: page/report.html with its style, its script, and the data. With two runs: both on
/// one time axis, and a table of differences.
void write_page(const std::filesystem::path& file, const std::vector<Explained>& runs);

/// The Gantt chart of workers and links, memory and tasks over time, for papers.
void write_svg(const std::filesystem::path& file, const Explained& run);
void write_png(const std::filesystem::path& file, const Explained& run);

/// For ViTE: what StarPU has made for it, `starpus`, without what covers the tasks there (arrows, events, bandwidths,
/// the states of drivers and memories), with our names and colours, and with each task's name among its fields.
void write_for_vite(const std::filesystem::path& file, const std::filesystem::path& starpus, const Run& run);

/// job,name,routine,operand,row,column,step,worker,node,submitted,ready,start,end,flops,after
void write_tasks_csv(const std::filesystem::path& file, const Run& run);
/// link,from,to,operand,row,column,bytes,start,end,reason
void write_transfers_csv(const std::filesystem::path& file, const Run& run);

/// For Perfetto and chrome://tracing.
void write_chrome_trace(const std::filesystem::path& file, const Explained& run);

}  // namespace tessera::trace
