// SPDX-License-Identifier: BSD-3-Clause
#include "trace/output/page_data.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string_view>

#include "common/whole_file.hpp"
#include "trace/analysis/parts.hpp"
#include "trace/output/outputs.hpp"
#include "trace/output/page/assets.hpp"

namespace tessera::trace {

namespace {

using Json = nlohmann::ordered_json;

constexpr double tick = 1e-7;
std::int64_t ticks(double seconds) { return std::llround(seconds / tick); }

Json ticks(const std::vector<double>& times) {
  Json column = Json::array();
  for (const double time : times) column.push_back(ticks(time));
  return column;
}

template <class Items>
Json list(const Items& items, auto row) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < items.size(); ++i) rows.push_back(row(items[i], i));
  return rows;
}

/// A column of integers with one value per item.
template <class Items>
Json column(const Items& items, const std::vector<int>& which, auto value) {
  Json numbers = Json::array();
  for (const int i : which) numbers.push_back(value(items[i]));
  return numbers;
}

const char* name(Gap::Cause cause) {
  switch (cause) {
  case Gap::Cause::Data: return "data";
  case Gap::Cause::Dependency: return "dependency";
  case Gap::Cause::Submission: return "submission";
  case Gap::Cause::Overhead: return "overhead";
  case Gap::Cause::NothingLeft: break;
  }
  return "nothing left";
}

void add_shares(Json& row, const Shares& shares) {
  row["computing"] = shares.computing, row["data"] = shares.data;
  row["overhead"] = shares.overhead, row["idle"] = shares.idle;
}

/// The tasks that have started, in the order of their starts.
std::vector<int> shown_tasks(const Lookups& lookups) {
  const auto& tasks = lookups.run.tasks;
  std::vector<int> shown;
  for (int i = 0; i < std::ssize(tasks); ++i)
    if (lookups.started(tasks[i])) shown.push_back(i);
  std::ranges::stable_sort(shown, {}, [&](int i) { return tasks[i].start; });
  return shown;
}

Json workers(const Run& run, const Analysis& analysis) {
  return list(run.workers, [&](const Worker& worker, std::size_t i) {
    Json row{{"name", worker.name},
             {"kind", worker.kind == Kind::Gpu ? "gpu" : "cpu"},
             {"node", worker.node},
             {"tasks", analysis.tasks_of_worker[i]}};
    add_shares(row, analysis.workers[i]);
    return row;
  });
}

Json routines(const Lookups& lookups, const std::vector<int>& shown) {
  struct Sum {
    std::size_t tasks = 0;
    double seconds = 0, flops = 0;
  };
  const auto& run = lookups.run;
  std::vector<Sum> sums(run.routines.size());
  for (const int i : shown)
    if (const auto& task = run.tasks[i]; task.routine != none) {
      auto& sum = sums[task.routine];
      ++sum.tasks, sum.seconds += lookups.end(task) - lookups.start(task), sum.flops += task.flops;
    }
  return list(run.routines, [&](const Routine& routine, std::size_t i) {
    return Json{{"name", routine.name},
                {"colour", fmt::format("#{:06x}", routine.colour)},
                {"tasks", sums[i].tasks},
                {"seconds", sums[i].seconds},
                {"flops", sums[i].flops}};
  });
}

Json links(const Run& run, const Analysis& analysis) {
  return list(analysis.links, [&](const LinkUse& link, std::size_t) {
    Json rate, operands = Json::object();
    for (const auto& known : run.counted.links)
      if (known.from == link.from && known.to == link.to && known.rate > 0) rate = known.rate;
    for (const auto& [operand, bytes] : link.by_operand) operands[std::string(1, operand)] = bytes;
    return Json{{"name", link_name(run, link.from, link.to)},
                {"from", link.from},
                {"to", link.to},
                {"bytes", link.bytes},
                {"transfers", link.transfers},
                {"busy", link.busy},
                {"rate", std::move(rate)},
                {"operands", std::move(operands)}};
  });
}

Json tasks(const Lookups& lookups, const std::vector<int>& shown) {
  std::string outputs;
  for (const int i : shown) outputs += lookups.run.tasks[i].output;
  const auto of = [&](auto value) { return column(lookups.run.tasks, shown, value); };
  return {{"job", of([](const Task& task) { return task.job; })},
          {"routine", of([](const Task& task) { return task.routine; })},
          {"worker", of([](const Task& task) { return task.worker; })},
          {"output", outputs},
          {"row", of([](const Task& task) { return task.row; })},
          {"column", of([](const Task& task) { return task.column; })},
          {"step", of([](const Task& task) { return task.step; })},
          {"submitted", of([&](const Task& task) { return ticks(lookups.submitted(task)); })},
          {"ready", of([&](const Task& task) { return ticks(lookups.ready(task)); })},
          {"start", of([&](const Task& task) { return ticks(lookups.start(task)); })},
          {"end", of([&](const Task& task) { return ticks(lookups.end(task)); })}};
}

Json transfers(const Lookups& lookups, const Analysis& analysis) {
  const auto& run = lookups.run;
  std::map<std::pair<int, int>, std::size_t> link;
  for (const auto& used : analysis.links) link.emplace(std::pair(used.from, used.to), link.size());
  std::vector<int> all(run.transfers.size());
  std::string operands;
  for (int i = 0; i < std::ssize(all); ++i) all[i] = i, operands += run.transfers[i].operand;
  const auto of = [&](auto value) { return column(run.transfers, all, value); };
  const auto of_tile = [&](int Tile::*place) {
    return of([&, place](const Transfer& moved) { return moved.tile == none ? none : run.tiles[moved.tile].*place; });
  };
  return {{"link", of([&](const Transfer& moved) {
             return link.at({moved.from, moved.to});
           })},
          {"operand", operands},
          {"row", of_tile(&Tile::row)},
          {"column", of_tile(&Tile::column)},
          {"bytes", of([](const Transfer& moved) { return moved.bytes; })},
          {"start", of([&](const Transfer& moved) { return ticks(lookups.start(moved)); })},
          {"end", of([&](const Transfer& moved) { return ticks(lookups.end(moved)); })},
          {"reason", of([](const Transfer& moved) { return static_cast<int>(moved.reason); })}};
}

Json memory(const Run& run) {
  return list(run.memory, [&](MemoryUse use, std::size_t) {
    thin(use.time, use.bytes, run.span);
    return Json{{"node", use.node}, {"time", ticks(use.time)}, {"bytes", use.bytes}};
  });
}

Json series(const Series& series) { return {{"time", ticks(series.time)}, {"count", series.count}}; }

Json operands(const Analysis& analysis) {
  return list(analysis.operands, [](const OperandTraffic& operand, std::size_t) {
    return Json{{"name", std::string(1, operand.operand)},
                {"in", operand.in},
                {"least_in", operand.least_in},
                {"out", operand.out},
                {"least_out", operand.least_out},
                {"between_gpus", operand.between_gpus}};
  });
}

}  // namespace

Json page_data(const Run& run, const Analysis& analysis) {
  const Lookups lookups(run);
  const auto shown = shown_tasks(lookups);
  std::vector<int> place(run.tasks.size(), none);  // position of each task among the shown ones
  for (int i = 0; i < std::ssize(shown); ++i) place[shown[i]] = i;

  Json path;
  path["tasks"] = Json::array();
  for (const int task : analysis.path.tasks) path["tasks"].push_back(place[task]);
  add_shares(path, analysis.path.parts);
  path["longest_chain"] = analysis.path.longest_chain, path["text"] = analysis.path.text;

  const auto gap_row = [&](const Gap& gap, std::size_t) {
    return Json{{"worker", gap.worker},
                {"begin", gap.begin},
                {"end", gap.end},
                {"cause", name(gap.cause)},
                {"next", gap.next == none ? none : place[gap.next]},
                {"text", gap.text}};
  };
  const auto node_row = [](const Node& node, std::size_t) {
    return Json{{"name", node.name}, {"kind", node.kind == Kind::Gpu ? "gpu" : "host"}};
  };
  return {{"title", run.title},
          {"command", run.command},
          {"machine", run.machine},
          {"policy", run.policy},
          {"simulated", run.simulated},
          {"warnings", run.warnings},
          {"tick", tick},
          {"span", run.span},
          {"flops", analysis.flops},
          {"workers", workers(run, analysis)},
          {"shown", analysis.shown_workers},
          {"nodes", list(run.nodes, node_row)},
          {"routines", routines(lookups, shown)},
          {"links", links(run, analysis)},
          {"tasks", tasks(lookups, shown)},
          {"transfers", transfers(lookups, analysis)},
          {"memory", memory(run)},
          {"ready", series(analysis.ready)},
          {"running", series(analysis.running)},
          {"operands", operands(analysis)},
          {"hits", {{"own", analysis.hits.own}, {"peer", analysis.hits.peer}, {"host", analysis.hits.host}}},
          {"path", std::move(path)},
          {"bounds", list(analysis.bounds,
                          [](const Bound& bound, std::size_t) {
                            return Json{{"name", bound.name}, {"seconds", bound.seconds}};
                          })},
          {"gaps", list(analysis.worst_gaps, gap_row)}};
}

namespace {

using Json = nlohmann::ordered_json;

Json document(const std::vector<Explained>& runs) {
  Json all{{"runs", Json::array()}, {"differences", Json::array()}};
  for (const auto& [run, analysis] : runs) all["runs"].push_back(page_data(run, analysis));
  if (runs.size() == 2) all["differences"] = differences(runs[0].run, runs[0].analysis, runs[1].run, runs[1].analysis);
  return all;
}

/// Escapes JSON for use in a page, where "</script" or "<!--" would end the script or change its meaning. '<' occurs
/// only in JSON strings, where it can be escaped.
std::string for_page(const Json& json) {
  const auto text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string escaped;
  escaped.reserve(text.size());
  for (const char c : text)
    if (c == '<') escaped += "\\u003c";
    else escaped += c;
  return escaped;
}

/// Replaces "{{style}}", "{{data}}" and "{{script}}" in the page, which occur in this order.
std::string filled(std::string_view page, std::string_view style, std::string_view data, std::string_view script) {
  std::string result;
  result.reserve(page.size() + style.size() + data.size() + script.size());
  const std::pair<std::string_view, std::string_view> places[] = {
      {"{{style}}", style}, {"{{data}}", data}, {"{{script}}", script}};
  for (const auto& [place, text] : places) {
    const auto at = page.find(place);
    result.append(page.substr(0, at)).append(text);
    page.remove_prefix(at + place.size());
  }
  return result.append(page);
}

}  // namespace

void write_page(const std::filesystem::path& file, const std::vector<Explained>& runs) {
  common::write_whole(file, filled(page::html, page::style, for_page(document(runs)), page::script));
}

}  // namespace tessera::trace
