// SPDX-License-Identifier: BSD-3-Clause
// Finds the thing at a point of the chart, and the neighbours of a thing.
// A thing is `{row, index}`: the row's kind says whether the index is a task's or a transfer's.

const intervals = row => (row.kind === 'task' ? row.run.tasks : row.run.transfers);

const isShown = (chart, row, index) =>
  row.kind !== 'task' || chart.routineColours(row.run)[row.run.tasks.routine[index]]?.shown !== false;

const rowAt = (chart, y) => chart.rows.find(row => y >= row.y && y < row.y + row.height) ?? null;

const reachOfPointer = 3;  // pixels next to a thing that still belong to it

function thingAt(chart, x, y) {
  const row = rowAt(chart, y);
  if (!row?.lanes?.length) return null;
  const lane = row.lanes[Math.min(row.lanes.length - 1, Math.floor((y - row.y) / (row.height / row.lanes.length)))];
  const time = chart.view.time(x), reach = reachOfPointer / chart.view.scale;
  let best = null, least = reach;
  for (let i = firstAbove(lane.reach, time - reach); i < lane.items.length && lane.start[i] <= time + reach; ++i) {
    const away = Math.max(lane.start[i] - time, time - lane.end[i], 0);
    if ((away < least || best === null) && away <= reach && isShown(chart, row, lane.items[i])) {
      best = { row, index: lane.items[i] };
      least = away;
    }
    if (least === 0) break;
  }
  return best;
}

/** The box of a thing on the chart, or nothing if it is not visible. */
function boxOf(chart, { row, index }) {
  const { start, end } = intervals(row), { view } = chart;
  const lane = row.lanes.findIndex(each => each.items.includes(index));
  const height = row.height / row.lanes.length;
  const begin = Math.max(-4, view.x(start[index])), stop = Math.min(view.width + 4, view.x(end[index]));
  if (lane < 0 || stop < 0 || begin > view.width) return null;
  return { x: begin, y: row.y + lane * height, width: Math.max(1, stop - begin), height };
}

function boxOfGap(chart, { run, worker, begin, end }) {
  const row = chart.workerRow(run, worker), x = Math.max(-4, chart.view.x(begin));
  return { x, y: row.y, width: Math.min(chart.view.width + 4, chart.view.x(end)) - x, height: row.height };
}

/** The nearest visible thing after (+1) or before (-1) this one on the same row. */
function neighbour(chart, { row, index }, direction) {
  for (let i = row.items.indexOf(index) + direction; i >= 0 && i < row.items.length; i += direction) {
    if (isShown(chart, row, row.items[i])) return { row, index: row.items[i] };
  }
  return null;
}

/** The thing of a row whose middle is closest to the time. */
function nearest(chart, row, time) {
  const { start, end } = intervals(row);
  let best = null, least = Infinity;
  for (const index of row.items) {
    const away = Math.abs((start[index] + end[index]) / 2 - time);
    if (away < least && isShown(chart, row, index)) {
      best = { row, index };
      least = away;
    }
  }
  return best;
}

/** The thing to select on the next row below (+1) or above (-1) that has any. */
function onNextRow(chart, selected, direction) {
  const { start, end } = intervals(selected.row), time = (start[selected.index] + end[selected.index]) / 2;
  for (let i = chart.rows.indexOf(selected.row) + direction; chart.rows[i]; i += direction) {
    const found = chart.rows[i].lanes && nearest(chart, chart.rows[i], time);
    if (found) return found;
  }
  return null;
}

/** The first visible thing, which the keyboard selects if nothing is selected. */
function firstInSight(chart) {
  for (const row of chart.rows.filter(each => each.lanes)) {
    const { start, end } = intervals(row), { begin, end: until } = chart.view;
    const index = row.items.find(i => end[i] > begin && start[i] < until && isShown(chart, row, i));
    if (index !== undefined) return { row, index };
  }
  return null;
}
