// SPDX-License-Identifier: BSD-3-Clause
// Assembles the page. The scripts of this folder are one module, in which this one comes last.

const byId = id => document.getElementById(id);

/** The state of the chart: the runs, the view, the filters, the selection, and the canvases. */
function makeChart(runs) {
  const names = [...new Set(runs.flatMap(run => run.routines.map(routine => routine.name)))];
  const chart = {
    runs, view: new View(Math.max(...runs.map(run => run.span))), ...layOut(runs),
    shown: new Map(names.map(name => [name, true])), showPath: true, showGaps: true, selected: null, gap: null,
    gantt: byId('gantt'), axis: byId('axis'), overview: byId('overview'), labels: byId('labels'),
    crosshair: byId('crosshair'), hoverBox: byId('hover-box'), tooltip: byId('tooltip'), details: byId('details'),
    strip: new Strip(), pixels: new Pixels(), theme: readTheme(), printing: false,
    drawnSight: { top: 0, bottom: 0 },
    drawn: { task: 0, transfer: 0 }, frames: 0, drawing: 0,  // for the tests: visible things, and milliseconds per frame
  };
  const byWorker = new Map(runs.map(run => [run, []]));
  chart.rows.filter(row => row.kind === 'task').forEach(row => { byWorker.get(row.run)[row.worker] = row; });
  chart.workerRow = (run, worker) => byWorker.get(run)[worker];
  makeColours(chart);
  chart.requestDraw = drawOnce(chart);
  return chart;
}

/** Computes the colours once per theme, because every frame needs them. */
function makeColours(chart) {
  const routines = new Map(), operands = new Map();
  for (const run of chart.runs) {
    const colour = routine => ({ ...colourOf(routine.colour), shown: chart.shown.get(routine.name) });
    routines.set(run, run.routines.map(colour));
    operands.set(run, run.letters.map(letter => chart.theme.operand(letter)));
  }
  chart.routineColours = run => routines.get(run);
  chart.operandColours = run => operands.get(run);
}

/** Draws the chart in the next frame, once for any number of requests. */
function drawOnce(chart) {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      const begin = performance.now();
      drawChart(chart);
      if (chart.frames === 0) performance.mark('tessera-drawn');
      chart.drawing = performance.now() - begin;
      ++chart.frames;
    });
  };
}

function resize(chart) {
  const width = Math.max(120, byId('plot').clientWidth - chart.labels.offsetWidth);
  const highest = 16000;  // browsers leave higher canvases blank
  chart.ratio = Math.min(devicePixelRatio || 1, highest / chart.height);
  chart.view.width = width;
  fitCanvas(chart.gantt, width, chart.height, chart.ratio);
  fitCanvas(chart.axis, width, 24, chart.ratio);
  fitCanvas(chart.overview, width, 22, chart.ratio);
  chart.strip.resize(chart.gantt.width);
  forget(chart);
  chart.requestDraw();
}

/** Discards the drawings that depend on size and theme. */
function forget(chart) { chart.hatch = chart.overviewPicture = null; }

function changeTheme(chart) {
  chart.theme = readTheme();
  makeColours(chart);
  forget(chart);
  fillOperandLegend(chart);
  chart.requestDraw();
}

function fillLabels(chart) {
  const part = (kind, said) => (said ? [element('span', { class: kind }, [String(said)])] : []);
  for (const row of chart.rows) {
    const title = row.note ? `${row.label}: ${row.note}` : row.label;
    const data = { 'data-kind': row.kind, 'data-run': row.run.number };
    const label = element('div', { class: `label ${row.kind}`, title, ...data },
                          [...part('run-number', row.number), ...part('name', row.label), ...part('note', row.note)]);
    label.style.top = `${row.y}px`;
    label.style.height = `${row.height}px`;
    if (row.height < 16) label.classList.add('small');
    chart.labels.append(label);
  }
  byId('plot').style.height = `${chart.height}px`;
}

function fillFilter(chart) {
  const colours = new Map(chart.runs.flatMap(run => run.routines.map(routine => [routine.name, routine.colour])));
  for (const name of chart.shown.keys()) {
    const box = element('input', { type: 'checkbox', 'data-routine': name, checked: '' });
    box.addEventListener('change', () => {
      chart.shown.set(name, box.checked);
      makeColours(chart);
      chart.requestDraw();
    });
    byId('routine-filter').append(element('label', {}, [box, swatch(colours.get(name)), name]));
  }
}

function fillOperandLegend(chart) {
  const letters = [...new Set(chart.runs.flatMap(run => run.letters))].sort();
  const name = letter => (letter === '-' ? 'other' : letter);
  const entry = letter => element('span', {}, [swatch(chart.theme.operand(letter).css), name(letter)]);
  byId('operand-legend').replaceChildren(...(letters.length ? ['Transfers of', ...letters.map(entry)] : []));
}

function listenToMarks(chart) {
  for (const [id, key] of [['show-path', 'showPath'], ['show-gaps', 'showGaps']]) {
    chart[key] = byId(id).checked;
    byId(id).addEventListener('change', event => {
      chart[key] = event.target.checked;
      chart.requestDraw();
    });
  }
}

function listenToSurroundings(chart) {
  new ResizeObserver(() => resize(chart)).observe(byId('plot'));
  addEventListener('scroll', () => { if (showsUndrawn(chart)) chart.requestDraw(); }, { passive: true });
  addEventListener('resize', chart.requestDraw);  // more rows may have become visible
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => changeTheme(chart));
  matchMedia('print').addEventListener('change', event => {
    chart.printing = event.matches;
    changeTheme(chart);
    drawChart(chart);  // printing does not wait for the next frame
  });
}

/** Shows a gap and its neighbourhood, and describes it. */
function jumpTo(chart, run, gap) {
  const row = chart.workerRow(run, gap.worker), room = (gap.end - gap.begin) * 0.75;
  chart.selected = null;
  chart.gap = { run, ...gap };
  change(chart, view => view.show(gap.begin - room, gap.end + room));
  chart.details.replaceChildren(...descriptionElements(chart, describeGap(row, (gap.begin + gap.end) / 2)));
  byId('timeline').scrollIntoView();
  scrollToRow(chart, row);
  chart.gantt.focus({ preventScroll: true });
}

function start() {
  const { runs: documents, differences } = JSON.parse(byId('data').textContent);
  byId('data').remove();  // frees megabytes that are no longer needed
  const runs = documents.map((run, i) => readRun(run, i + 1));
  fillHead(byId('head'), runs);
  fillSummary(byId('summary'), runs);
  const chart = makeChart(runs);
  fillLabels(chart);
  fillFilter(chart);
  fillOperandLegend(chart);
  fillTables(byId('tables'), runs, differences ?? [], (run, gap) => jumpTo(chart, run, gap));
  listen(chart);
  listenToMarks(chart);
  listenToSurroundings(chart);
  select(chart, null);
  resize(chart);
  // For the tests and for debugging in the console.
  window.tesseraReport = { chart, runs, boxOf: thing => boxOf(chart, thing) };
}

start();
