// SPDX-License-Identifier: BSD-3-Clause
#include "trace/analysis/analysis.hpp"

#include "trace/analysis/gaps.hpp"
#include "trace/analysis/path.hpp"
#include "trace/analysis/series.hpp"
#include "trace/analysis/traffic.hpp"

namespace tessera::trace {

Analysis analyse(const Run& run) {
  const Lookups lookups(run);
  Analysis analysis;
  analysis.ready = ready_tasks(lookups);
  analysis.running = running_tasks(lookups);

  constexpr std::size_t most = 10;
  auto gaps = find_gaps(lookups, most);
  analysis.workers = std::move(gaps.workers);
  analysis.worst_gaps = std::move(gaps.worst);
  for (auto& gap : analysis.worst_gaps) gap.text = explain(lookups, analysis.ready, gap);

  for (int worker = 0; worker < std::ssize(run.workers); ++worker)
    analysis.tasks_of_worker.push_back(lookups.tasks_of(worker).size());
  for (const auto& task : run.tasks)
    if (lookups.started(task)) analysis.flops += task.flops;

  analysis.links = use_of_links(lookups);
  analysis.operands = traffic_of_operands(lookups);
  analysis.hits = hits_of(lookups);

  auto followed = follow_back(lookups);
  followed.path.longest_chain = longest_chain(lookups);
  analysis.bounds = bounds_of(lookups, analysis.links, followed.path.longest_chain);
  followed.path.text = explain(lookups, followed, analysis.bounds);
  analysis.path = std::move(followed.path);

  thin(analysis.ready.time, analysis.ready.count, run.span);
  thin(analysis.running.time, analysis.running.count, run.span);
  return analysis;
}

}  // namespace tessera::trace
