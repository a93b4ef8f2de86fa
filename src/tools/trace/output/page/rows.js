// SPDX-License-Identifier: BSD-3-Clause
// Places the rows of the chart. Rows of workers and links hold lanes of things; other rows hold a series.

const heights = { heading: 30, title: 22, gpu: 26, cpu: 18, cpuOfMany: 13, link: 18, linkOfMany: 13,
                  series: 46, space: 3 };

function workerRows(run) {
  const many = run.workers.filter(worker => worker.kind === 'cpu').length > 12;
  const height = worker => (worker.kind === 'gpu' ? heights.gpu : many ? heights.cpuOfMany : heights.cpu);
  return run.shown.map(i => ({
    kind: 'task', run, worker: i, label: run.workers[i].name,
    note: percentText(share(run.workers[i].computing, run.span)), height: height(run.workers[i]),
    items: Int32Array.from(run.taskRows[i]), lanes: run.workerLanes[i],
  }));
}

function linkRows(run) {
  const height = run.links.length > 16 ? heights.linkOfMany : heights.link;
  return run.links.map((link, i) => ({
    kind: 'transfer', run, link: i, label: link.name, note: bytesText(link.bytes), height,
    items: Int32Array.from(run.transferRows[i]), lanes: run.linkLanes[i],
  }));
}

function seriesRow(run, label, series, text, colour) {
  const top = series.value.reduce((most, value) => Math.max(most, value), 0);
  return { kind: 'series', run, label, note: `max ${text(top)}`, height: heights.series, series, top, text, colour };
}

const memoryRows = run => run.memory.map(use =>
  seriesRow(run, run.nodes[use.node]?.name ?? `node ${use.node}`, use, bytesText, '--memory'));

const countRows = run => [seriesRow(run, 'ready', run.ready, countText, '--ready'),
                          seriesRow(run, 'running', run.running, countText, '--running')];

/** The rows of all runs from top to bottom, each with its `y`, and the total height. */
function layOut(runs) {
  const rows = [];
  for (const run of runs) {
    const heading = { kind: 'heading', run, label: run.title, number: run.number, height: heights.heading };
    if (runs.length > 1) rows.push(heading);
    const groups = [['Workers', workerRows(run)], ['Links', linkRows(run)], ['Memory in use', memoryRows(run)],
                    ['Tasks', countRows(run)]];
    for (const [title, members] of groups.filter(group => group[1].length > 0)) {
      rows.push({ kind: 'title', run, label: title, height: heights.title }, ...members);
    }
  }
  let y = 0;
  for (const row of rows) {
    row.y = y;
    y += row.height + heights.space;
  }
  return { rows, height: y };
}
