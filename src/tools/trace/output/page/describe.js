// SPDX-License-Identifier: BSD-3-Clause
// Describes a thing or a point of the chart by a name and facts, for the tooltip and the details.

function describe(chart, { row, index }) {
  return row.kind === 'task' ? describeTask(row.run, index) : describeTransfer(row.run, index);
}

/** A time on the axis, with enough digits to tell ticks of the trace apart. */
const instantText = (run, seconds) => (Number.isNaN(seconds) ? '–'
  : run.span >= 1 ? `${fixed(seconds, 6)} s` : `${fixed(seconds * 1e3, 4)} ms`);

function describeTask(run, i) {
  const { worker, submitted, ready, start, end, job } = run.tasks;
  return {
    name: taskName(run, i),
    colour: run.routines[run.tasks.routine[i]]?.colour,
    facts: [
      ['worker', run.workers[worker[i]].name],
      ['submitted', instantText(run, submitted[i])],
      ['ready', instantText(run, ready[i])],
      ['start', instantText(run, start[i])],
      ['end', instantText(run, end[i])],
      ['duration', timeText(end[i] - start[i])],
      ['from ready to start', Number.isNaN(ready[i]) ? '–' : timeText(Math.max(0, start[i] - ready[i]))],
      ['job', String(job[i])],
    ],
  };
}

function describeTransfer(run, i) {
  const { link, operand, row, column, bytes, start, end, reason } = run.transfers, seconds = end[i] - start[i];
  return {
    name: tileName(operand[i], row[i], column[i]),
    operand: operand[i],
    facts: [
      ['link', run.links[link[i]].name],
      ['bytes', bytesText(bytes[i])],
      ['rate', seconds > 0 ? rateText(bytes[i] / seconds) : '–'],
      ['start', instantText(run, start[i])],
      ['end', instantText(run, end[i])],
      ['duration', timeText(seconds)],
      ['why', reasons[reason[i]] ?? '–'],
    ],
  };
}

/** Describes a point without a thing: the value of a series, or the interval without a task. */
function describePoint(chart, row, time) {
  const { run } = row;
  if (time > run.span) return null;
  if (row.kind === 'series') {
    const at = firstAbove(row.series.time, time) - 1, value = at < 0 ? 0 : row.series.value[at];
    const name = row.colour === '--memory' ? `Memory of ${row.label}` : `Tasks ${row.label}`;
    return { name, facts: [['at', instantText(run, time)], ['value', row.text(value)], ['most', row.text(row.top)]] };
  }
  return row.kind === 'task' ? describeGap(row, time) : null;
}

function describeGap(row, time) {
  const { run, items } = row, { start, end } = run.tasks;
  const worst = run.gaps.find(gap => gap.worker === row.worker && gap.begin <= time && time <= gap.end);
  if (worst) return { name: `Gap on ${row.label}: ${timeText(worst.end - worst.begin)}`, facts: [], text: worst.text };
  const next = items.findIndex(i => start[i] > time);
  const from = next === 0 || items.length === 0 ? 0 : end[items[next < 0 ? items.length - 1 : next - 1]];
  const until = next < 0 ? run.span : start[items[next]];
  if (time < from || time > until) return null;  // a task is here, but hidden by a filter
  const facts = [['from', instantText(run, from)], ['until', instantText(run, until)],
                 ['length', timeText(until - from)]];
  return { name: `No task on ${row.label}`, facts };
}

/** The elements of a description: the name with its colour, and a list of facts. */
function descriptionElements(chart, { name, facts, colour, operand, text }) {
  const heading = element('strong', { class: 'thing' });
  const css = colour ?? (operand && chart.theme.operand(operand).css);
  if (css) heading.append(swatch(css));
  heading.append(name);
  const list = element('dl', {}, facts.map(([term, value]) =>
    element('div', {}, [element('dt', {}, [term]), element('dd', { 'data-fact': term }, [value])])));
  return [heading, ...(facts.length ? [list] : []), ...(text ? [element('p', {}, [text])] : [])];
}
