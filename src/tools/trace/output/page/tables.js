// SPDX-License-Identifier: BSD-3-Clause
// Creates the tables of a run.

const states = ['computing', 'data', 'overhead', 'idle'];
const stateNames = { computing: 'computing', data: 'waiting for data', overhead: 'overhead', idle: 'idle' };

/** The unit of a column, chosen for its largest value. */
function columnUnit(units, values) {
  const largest = Math.max(0, ...values);
  const unit = unitFor(units, largest / 10 || units[0].size);
  return { name: unit.name, show: value => fixed(value / unit.size, largest / unit.size >= 1000 ? 1 : 3) };
}

const secondsUnit = span => columnUnit(timeUnits, [span]);
const idOf = (run, name) => `${name}-${run.number}`;

/** The computing time divided by routine, in the routines' colours. */
function stateParts(shares, span, routines, seconds) {
  const sum = seconds?.reduce((a, b) => a + b, 0);
  const computing = sum > 0
    ? routines.map((routine, i) => ({ name: routine.name, kind: 'computing', css: routine.colour,
                                      part: share(shares.computing * seconds[i] / sum, span) }))
    : [{ name: 'computing', kind: 'computing', part: share(shares.computing, span) }];
  return [...computing, ...states.slice(1).map(state =>
    ({ name: stateNames[state], kind: state, part: share(shares[state], span) }))];
}

/** The total of all workers of a kind. */
function sumOfWorkers(run, kind, seconds) {
  const all = run.workers.map((worker, i) => ({ ...worker, seconds: seconds[i] }));
  const members = all.filter(worker => worker.kind === kind);
  const sum = state => members.reduce((total, worker) => total + worker[state], 0);
  return { name: kind === 'gpu' ? 'all GPUs' : 'all CPUs', of: members.length, tasks: sum('tasks'),
           span: run.span * members.length,
           seconds: run.routines.map((_, i) => members.reduce((total, worker) => total + worker.seconds[i], 0)),
           ...Object.fromEntries(states.map(state => [state, sum(state)])) };
}

function workersTable(run) {
  const seconds = secondsByRoutine(run), unit = secondsUnit(run.span);
  const rows = run.shown.map(i => ({ ...run.workers[i], span: run.span, seconds: seconds[i] }));
  const sums = ['gpu', 'cpu'].map(kind => sumOfWorkers(run, kind, seconds)).filter(sum => sum.of > 1);
  const ofState = state => [
    number(stateNames[state], row => row[state], unit.show, unit.name),
    number('', row => share(row[state], row.span), percentText, '', 'percent')];
  return table(idOf(run, 'workers'), 'Where the time of each worker went', [
    text('worker', row => row.name), number('tasks', row => row.tasks, countText), ...states.flatMap(ofState),
    text('', row => stackedBar(stateParts(row, row.span, run.routines, row.seconds)), 'wide'),
  ], rows, sums);
}

const mostBounds = 6;

/** The largest rows, and the number of the others. */
function boundsTable(run) {
  const unit = secondsUnit(run.span), shown = run.bounds.slice(0, mostBounds), rest = run.bounds.length - shown.length;
  const made = table(idOf(run, 'bounds'), 'Lower bounds of the time', [
    text('bound', row => row.name), number('at least', row => row.seconds, unit.show, unit.name),
    number('of the run', row => share(row.seconds, run.span), percentText),
    text('', row => stackedBar([{ name: row.name, kind: 'bound', part: share(row.seconds, run.span) }]), 'wide'),
  ], shown);
  if (rest > 0) {
    const most = timeText(run.bounds[mostBounds].seconds, 3);
    const said = rest > 1 ? `and ${rest} others of ${most} and less` : `and another one of ${most}`;
    made.append(element('p', { class: 'dim more' }, [said]));
  }
  return made;
}

function routinesTable(run) {
  const unit = secondsUnit(Math.max(0, ...run.routines.map(routine => routine.seconds)));
  const all = run.routines.reduce((sum, routine) => sum + routine.seconds, 0);
  const name = row => element('span', {}, [swatch(row.colour), row.name]);
  return table(idOf(run, 'routines'), 'Routines', [
    text('routine', name), number('tasks', row => row.tasks, countText),
    number('time', row => row.seconds, unit.show, unit.name),
    number('', row => share(row.seconds, all), percentText, '', 'percent'),
    number('mean', row => (row.tasks ? row.seconds / row.tasks : null), value => timeText(value, 3)),
    number('rate', row => (row.seconds > 0 && row.flops > 0 ? row.flops / row.seconds : null), flopsText, 'a worker'),
  ], run.routines);
}

function linksTable(run) {
  const unit = columnUnit(byteUnits, run.links.map(link => link.bytes));
  const letters = [...new Set(run.links.flatMap(link => Object.keys(link.operands)))].sort();
  const all = { name: 'all links', bytes: 0, transfers: 0, busy: null, rate: null, operands: {} };
  for (const link of run.links) {
    all.bytes += link.bytes;
    all.transfers += link.transfers;
    for (const letter of letters) all.operands[letter] = (all.operands[letter] ?? 0) + (link.operands[letter] ?? 0);
  }
  const ofOperand = letter =>
    number(letter === '-' ? 'other' : letter, row => row.operands[letter] ?? 0, unit.show, unit.name);
  const mean = row => (row.busy > 0 ? row.bytes / row.busy : null);
  return table(idOf(run, 'links'), 'Bytes by link and operand', [
    text('link', row => row.name), number('bytes', row => row.bytes, unit.show, unit.name),
    ...letters.map(ofOperand),
    number('transfers', row => row.transfers, countText),
    number('busy', row => (row.busy === null ? null : share(row.busy, run.span)), percentText),
    number('while busy', mean, value => fixed(value / 1e9, 1), 'GB/s'),
    number('of its rate', row => (row.rate && mean(row) ? mean(row) / row.rate : null), percentText),
  ], run.links, run.links.length > 1 ? [all] : []);
}

function operandsTable(run) {
  const unit = columnUnit(byteUnits, run.operands.flatMap(each => [each.in, each.out, each.between_gpus]));
  const times = (value, least) => (least > 0 ? value / least : null), timesText = value => `${fixed(value, 2)} ×`;
  const bytes = (head, key) => number(head, row => row[key], unit.show, unit.name);
  const ratio = (key, least) => number('', row => times(row[key], row[least]), timesText, '', 'percent');
  return table(idOf(run, 'operands'), 'Bytes of each operand against the least that any schedule must move', [
    text('operand', row => (row.name === '-' ? 'other' : row.name)),
    bytes('in', 'in'), bytes('least', 'least_in'), ratio('in', 'least_in'),
    bytes('out', 'out'), bytes('least', 'least_out'), ratio('out', 'least_out'),
    bytes('between GPUs', 'between_gpus'),
  ], run.operands);
}

function hitsTable(run) {
  const { own, peer, host } = run.hits, all = own + peer + host;
  const rows = [{ name: 'in its own memory (L1)', count: own, kind: 'hit-own' },
                { name: 'copied from another GPU (L2)', count: peer, kind: 'hit-peer' },
                { name: 'copied from the host', count: host, kind: 'hit-host' }];
  return table(idOf(run, 'hits'), 'Where tasks on GPUs found the tiles that they read', [
    text('tile', row => row.name), number('reads', row => row.count, countText),
    number('', row => share(row.count, all), percentText, '', 'percent'),
    text('', row => stackedBar([{ name: row.name, kind: row.kind, part: share(row.count, all) }]), 'wide'),
  ], rows);
}

/** @param jump  function that shows a gap on the chart */
function gapsTable(run, jump) {
  const lengthOf = gap => gap.end - gap.begin, unit = secondsUnit(run.span);
  const length = unitFor(timeUnits, Math.max(0, ...run.gaps.map(lengthOf)) / 10);
  const button = gap => {
    const name = run.workers[gap.worker].name;
    const made = element('button', { type: 'button', class: 'jump', title: 'Show on the chart' }, [name]);
    made.addEventListener('click', () => jump(run, gap));
    return made;
  };
  return table(idOf(run, 'gaps'), 'The ten worst gaps', [
    text('worker', button), number('length', lengthOf, value => fixed(value / length.size, 3), length.name),
    number('from', gap => gap.begin, unit.show, unit.name), text('cause', gap => gap.cause, 'cause'),
    text('what happened', gap => gap.text, 'prose'),
  ], run.gaps);
}

/** The comparison of two runs: `[{what, unit, first, second}]`. */
function differencesTable(rows) {
  const largest = row => Math.max(Math.abs(row.first ?? 0), Math.abs(row.second ?? 0));
  const fourDigits = value => Math.max(0, 3 - Math.floor(Math.log10(value || 1)));
  const decimals = row => ({ '%': 1, '': 0 })[row.unit] ?? fourDigits(largest(row));
  const show = (value, row) => fixed(value, decimals(row));
  const both = row => row.first !== null && row.second !== null;
  const signed = (value, row) => (value > 0 ? `+${show(value, row)}` : show(value, row));
  return table('differences', 'What differs', [
    text('', row => row.what), text('', row => row.unit, 'dim'),
    number('run 1', row => row.first, show), number('run 2', row => row.second, show),
    number('difference', row => (both(row) ? row.second - row.first : null), signed),
    number('', row => (both(row) && row.first && row.unit !== '%' ? row.second / row.first - 1 : null),
           value => (value > 0 ? '+' : '') + percentText(value), '', 'percent'),
  ], rows);
}
