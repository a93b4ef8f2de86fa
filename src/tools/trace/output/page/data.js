// SPDX-License-Identifier: BSD-3-Clause
// Converts the JSON of page_data.hpp for the page: columns become typed arrays, times become seconds.

const reasons = ['fetched for a task that waits', 'prefetched', 'written back from a full memory'];

/**
 * Things on one line of the chart, in the order of their starts.
 * `reach` is the latest end so far. It never decreases, even if things overlap, so it can be searched.
 */
class Lane {
  constructor(items, starts, ends, colours) {
    this.items = Int32Array.from(items);
    this.start = Float64Array.from(this.items, i => starts[i]);
    this.end = Float64Array.from(this.items, i => ends[i]);
    this.colour = Uint16Array.from(this.items, i => colours[i]);
    this.reach = new Float64Array(this.items.length);
    let latest = -Infinity;
    this.end.forEach((end, i) => { this.reach[i] = latest = Math.max(latest, end); });
  }
}

/** The first index with a value above the limit; the numbers must not decrease. */
function firstAbove(sorted, limit) {
  let low = 0, high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] > limit) high = middle; else low = middle + 1;
  }
  return low;
}

/** Groups the indices of things by row and keeps their order. */
function groupBy(rows, count) {
  const groups = Array.from({ length: count }, () => []);
  rows.forEach((row, i) => groups[row]?.push(i));
  return groups;
}

const mostLanes = 4;

/** Puts each transfer of a link on the first free lane, or else on the lane that becomes free first, since transfers may overlap. */
function lanesOf(items, starts, ends, colours) {
  const lanes = [], free = [];
  for (const i of items) {
    let lane = free.findIndex(time => time <= starts[i]);
    if (lane < 0) lane = free.length < mostLanes ? free.push(0) - 1 : free.indexOf(Math.min(...free));
    (lanes[lane] ??= []).push(i);
    free[lane] = ends[i];
  }
  return lanes.map(lane => new Lane(lane, starts, ends, colours));
}

function readTasks(json, tick) {
  const times = ticks => Float64Array.from(ticks, t => (t < 0 ? NaN : t * tick));
  const { job, routine, worker, output, row, column, step } = json;
  return { count: job.length, job, output, routine: Int16Array.from(routine), worker: Int32Array.from(worker),
           row, column, step, submitted: times(json.submitted), ready: times(json.ready), start: times(json.start),
           end: times(json.end) };
}

function readTransfers(json, tick) {
  const times = ticks => Float64Array.from(ticks, t => t * tick);
  const { link, operand, row, column, bytes, reason } = json;
  return { count: link.length, link: Int32Array.from(link), operand, row, column, bytes, reason,
           start: times(json.start), end: times(json.end) };
}

const readSeries = (json, values, tick) =>
  ({ time: Float64Array.from(json.time, t => t * tick), value: Float64Array.from(values) });

/** Converts a run. The short parts of the JSON are not converted. */
function readRun(json, number) {
  const tasks = readTasks(json.tasks, json.tick), transfers = readTransfers(json.transfers, json.tick);
  tasks.end.forEach((end, i) => { if (!(end >= tasks.start[i])) tasks.end[i] = json.span; });
  const letters = [...new Set(transfers.operand)].sort();
  const letterOf = Array.from(transfers.operand, letter => letters.indexOf(letter));
  const taskRows = groupBy(tasks.worker, json.workers.length);
  const transferRows = groupBy(transfers.link, json.links.length);
  return {
    ...json, number, tasks, transfers, letters, taskRows, transferRows,
    workerLanes: taskRows.map(items => [new Lane(items, tasks.start, tasks.end, tasks.routine)]),
    pathLane: new Lane(json.path.tasks, tasks.start, tasks.end, tasks.routine),
    linkLanes: transferRows.map(items => lanesOf(items, transfers.start, transfers.end, letterOf)),
    memory: json.memory.map(use => ({ node: use.node, ...readSeries(use, use.bytes, json.tick) })),
    ready: readSeries(json.ready, json.ready.count, json.tick),
    running: readSeries(json.running, json.running.count, json.tick),
  };
}

const tileName = (letter, row, column) => {
  const operand = letter === '-' ? 'tile' : letter;
  return row < 0 || column < 0 ? operand : `${operand}(${row},${column})`;
};

/** The name as in tasks.csv. */
function taskName(run, i) {
  const { job, routine, output, row, column, step } = run.tasks;
  const name = run.routines[routine[i]]?.name ?? 'task', known = output[i] !== '-' || row[i] >= 0;
  const place = known ? ` ${tileName(output[i], row[i], column[i])}` : job[i] !== 0 ? ` ${job[i]}` : '';
  return name + place + (step[i] < 0 ? '' : ` k=${step[i]}`);
}

/** Seconds of each routine, by worker. */
function secondsByRoutine(run) {
  const sums = run.workers.map(() => new Float64Array(run.routines.length));
  const { worker, routine, start, end } = run.tasks;
  for (let i = 0; i < run.tasks.count; ++i) if (routine[i] >= 0) sums[worker[i]][routine[i]] += end[i] - start[i];
  return sums;
}
