// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/ostream.h>

#include "common/whole_file.hpp"
#include "trace/output/outputs.hpp"

namespace tessera::trace {

namespace {

/// Quotes a field as RFC 4180 requires.
std::string quoted(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? "\"\"" : std::string(1, c);
  return result + '"';
}

// Unknown values are empty fields.
std::string number(int value) { return value == none ? "" : std::to_string(value); }
std::string letter(char operand) { return operand == '-' ? "" : std::string(1, operand); }
std::string time(double seconds, double span) { return seconds <= span ? fmt::format("{:.9f}", seconds) : ""; }

std::string jobs(const Run& run, const std::vector<int>& tasks) {
  std::string result;
  for (const int task : tasks) result += (result.empty() ? "" : " ") + std::to_string(run.tasks[task].job);
  return result;
}

const char* name(Transfer::Reason reason) {
  switch (reason) {
  case Transfer::Reason::Fetch: return "fetch";
  case Transfer::Reason::Prefetch: return "prefetch";
  case Transfer::Reason::WriteBack: break;
  }
  return "write back";
}

}  // namespace

void write_tasks_csv(const std::filesystem::path& file, const Run& run) {
  common::WholeFile whole(file);
  auto& out = whole.stream();
  out << "job,name,routine,operand,row,column,step,worker,node,submitted,ready,start,end,flops,after\n";
  for (const auto& task : run.tasks) {
    const bool started = task.worker != none;
    const auto worker = started ? run.workers[task.worker].name : "";
    const auto node = started ? run.nodes[run.workers[task.worker].node].name : "";
    const auto routine = task.routine == none ? "" : run.routines[task.routine].name;
    fmt::print(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", task.job, quoted(name_of(run, task)),
               quoted(routine), letter(task.output), number(task.row), number(task.column), number(task.step),
               quoted(worker), quoted(node), time(task.submitted, run.span), time(task.ready, run.span),
               started ? time(task.start, run.span) : "", started ? time(task.end, run.span) : "", task.flops,
               jobs(run, task.after));
  }
  whole.commit();
}

void write_transfers_csv(const std::filesystem::path& file, const Run& run) {
  common::WholeFile whole(file);
  auto& out = whole.stream();
  out << "link,from,to,operand,row,column,bytes,start,end,reason\n";
  const Tile unknown;
  for (const auto& transfer : run.transfers) {
    const auto& tile = transfer.tile == none ? unknown : run.tiles[transfer.tile];
    fmt::print(out, "{},{},{},{},{},{},{},{},{},{}\n", quoted(link_name(run, transfer.from, transfer.to)),
               quoted(run.nodes[transfer.from].name), quoted(run.nodes[transfer.to].name), letter(transfer.operand),
               number(tile.row), number(tile.column), transfer.bytes, time(transfer.start, run.span),
               time(transfer.end, run.span), name(transfer.reason));
  }
  whole.commit();
}

}  // namespace tessera::trace
