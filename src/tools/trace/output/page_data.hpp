// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <nlohmann/json.hpp>

#include "trace/analysis/analysis.hpp"

namespace tessera::trace {

/// The data of report.html for a run, in the format that page/report.js reads. Times of tasks, transfers, memory and
/// series are whole ticks; all other times are seconds. Memory and series are thinned to some thousand points that keep
/// all peaks.
/// ```
/// title, command, machine, policy: text   simulated: bool   warnings: [text]   tick: 1e-7 [s]   span: s   flops
/// workers:  [{name, kind: "cpu"|"gpu", node, tasks, computing, data, overhead, idle}]
/// nodes:    [{name, kind: "host"|"gpu"}]
/// routines: [{name, colour: "#rrggbb", tasks, seconds, flops}]
/// links:    [{name, from, to, bytes, transfers, busy, rate: bytes/s or null, operands: {"A": bytes, …}}]
/// tasks:     {job, routine, worker, output: "CC…" one letter a task, row, column, step, submitted, ready, start, end:
/// [..]}
///            (-1: none; only tasks that have started, in the order of their starts)
/// transfers: {link, operand: "AB…", row, column, bytes, start, end, reason: 0 fetch | 1 prefetch | 2 write back: [..]}
/// memory:   [{node, time: [..], bytes: [..]}]
/// ready, running: {time: [..], count: [..]}
/// operands: [{name: "A", in, least_in, out, least_out, between_gpus}]
/// hits:     {own, peer, host}
/// path:     {tasks: [index into tasks], computing, data, overhead, idle, longest_chain, text}
/// bounds:   [{name, seconds}]
/// gaps:     [{worker, begin, end, cause: "data"|"dependency"|"submission"|"overhead"|"nothing left", next: index or
/// -1, text}]
/// ```
nlohmann::ordered_json page_data(const Run& run, const Analysis& analysis);

/// The table that compares two runs: `[{what, unit, first, second}]` with numbers or null.
nlohmann::ordered_json differences(const Run& first, const Analysis& of_first, const Run& second,
                                   const Analysis& of_second);

}  // namespace tessera::trace
