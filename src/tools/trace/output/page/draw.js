// SPDX-License-Identifier: BSD-3-Clause
// Draws the chart: rows, marks and rulers. Lengths are CSS pixels unless noted otherwise.

function colourOf(css) {
  const [red, green, blue] = [1, 3, 5].map(at => parseInt(css.slice(at, at + 2), 16));
  const linear = part => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return { css, red, green, blue, ink: luminance > 0.18 ? '#000000' : '#ffffff', shown: true };
}

/** The colours of the style sheet, for the light or the dark scheme. */
function readTheme() {
  const style = getComputedStyle(document.documentElement);
  const theme = name => style.getPropertyValue(name).trim();
  const operands = { A: '--operand-a', B: '--operand-b', C: '--operand-c' };
  theme.operand = letter => colourOf(theme(operands[letter] ?? '--operand-x'));
  return theme;
}

function fitCanvas(canvas, width, height, ratio) {
  canvas.style.width = `${width}px`;
  canvas.style.height = `${height}px`;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
}

function blank(canvas, ratio) {
  const context = canvas.getContext('2d');
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, canvas.width / ratio, canvas.height / ratio);
  return context;
}

/** The vertical range of the chart that is in the window, extended by a margin. */
function sightOf(canvas, margin = 0) {
  const top = canvas.getBoundingClientRect().top;
  return { top: -top - margin, bottom: innerHeight - top + margin };
}

/** Whether scrolling has brought a part of the chart into the window that was not drawn. */
function showsUndrawn({ gantt, height, drawnSight: drawn }) {
  const { top, bottom } = sightOf(gantt);
  return Math.max(top, 0) < drawn.top || Math.min(bottom, height) > drawn.bottom;
}

const drawnMargin = 300;  // rows further away from the window are not drawn

function drawChart(chart) {
  const { gantt, view, ratio, theme, rows, strip } = chart;
  const context = blank(gantt, ratio);
  const sight = chart.printing ? { top: 0, bottom: Infinity } : sightOf(gantt, drawnMargin);
  chart.drawnSight = sight;
  context.font = theme('--chart-font');
  context.textBaseline = 'middle';
  drawBands(chart, context, sight);
  chart.drawn = { task: 0, transfer: 0 };
  for (const row of rows) {
    if (row.y > sight.bottom || row.y + row.height < sight.top) continue;
    if (row.lanes) drawThings(chart, context, strip, row);
    if (row.kind === 'series') drawSeries(chart, context, row);
  }
  if (chart.showGaps) chart.runs.forEach(run => drawGaps(chart, context, run));
  if (chart.showPath) chart.runs.forEach(run => drawPath(chart, context, run));
  drawSelection(chart, context);
  drawAxis(chart);
  drawOverview(chart);
}

function drawBands(chart, context, sight) {
  const { view, theme, rows, height } = chart;
  context.fillStyle = theme('--band');
  for (const row of rows) {
    if (row.lanes || row.kind === 'series') context.fillRect(0, row.y, view.width, row.height);
  }
  context.fillStyle = theme('--grid');
  const top = Math.max(0, sight.top), bottom = Math.min(height, sight.bottom);
  for (const tick of ticksOf(view)) context.fillRect(Math.round(view.x(tick.time)), top, 1, bottom - top);
  for (const row of rows.filter(each => each.kind === 'heading' || each.kind === 'title')) {
    context.clearRect(0, row.y - heights.space, view.width, row.height + heights.space);
  }
  for (const run of chart.runs) shadeAfter(chart, context, run);
}

/** Marks the end of the shorter one of two runs. */
function shadeAfter(chart, context, run) {
  const { view, theme, rows } = chart, own = rows.filter(row => row.run === run), last = own[own.length - 1];
  const x = view.x(run.span), top = own[0].y;
  if (x >= view.width) return;
  context.fillStyle = theme('--axis');
  context.fillRect(Math.round(x), top, 1, last.y + last.height - top);
}

function drawThings(chart, context, strip, row) {
  const { view, ratio } = chart, { run, lanes, kind } = row;
  const name = kind === 'task' ? i => taskName(run, i)
    : i => tileName(run.transfers.operand[i], run.transfers.row[i], run.transfers.column[i]);
  const colours = kind === 'task' ? chart.routineColours(run) : chart.operandColours(run);
  const height = row.height / Math.max(1, lanes.length), top = y => Math.round(y * ratio) / ratio;
  lanes.forEach((lane, i) => {
    const begin = top(row.y + i * height), end = top(row.y + (i + 1) * height) - (lanes.length > 1 ? 1 / ratio : 0);
    chart.drawn[kind] += drawLane(context, strip, view, ratio, lane, colours, begin, end - begin, name);
  });
}

function hatching(chart, context) {
  const tile = document.createElement('canvas'), size = 6;
  tile.width = tile.height = size * chart.ratio;
  const brush = tile.getContext('2d');
  brush.scale(chart.ratio, chart.ratio);
  brush.strokeStyle = chart.theme('--gap');
  brush.lineWidth = 1.25;
  brush.beginPath();
  for (const x of [-size, 0, size]) {
    brush.moveTo(x, size);
    brush.lineTo(x + size, 0);
  }
  brush.stroke();
  const pattern = context.createPattern(tile, 'repeat');
  pattern.setTransform(new DOMMatrix().scale(1 / chart.ratio));
  return pattern;
}

function drawGaps(chart, context, run) {
  const { view } = chart;
  chart.hatch ??= hatching(chart, context);
  run.gaps.forEach(gap => {
    const row = chart.workerRow(run, gap.worker), x = view.x(gap.begin), end = view.x(gap.end);
    if (!row || end < 0 || x > view.width) return;
    const begin = Math.max(-2, x), width = Math.max(1.5, Math.min(view.width + 2, end) - begin);
    context.fillStyle = chart.hatch;
    context.fillRect(begin, row.y, width, row.height);
    context.strokeStyle = chart.theme('--gap');
    context.lineWidth = 1;
    context.strokeRect(begin + 0.5, row.y + 0.5, Math.max(1, width - 1), row.height - 1);
  });
}

/** Outlines the tasks of the path and connects them by lines, unless the lines would hide the chart. */
function drawPath(chart, context, run) {
  const { view } = chart, { pathLane: path } = run, steps = [];
  for (let i = Math.max(0, firstAbove(path.reach, view.begin) - 1); i < path.items.length; ++i) {
    steps.push({ row: chart.workerRow(run, run.tasks.worker[path.items[i]]),
                 begin: clampX(view.x(path.start[i]), view), end: clampX(view.x(path.end[i]), view) });
    if (path.start[i] > view.end) break;  // the line to this one may still be visible
  }
  const sparse = steps.length < view.width / densestPath;
  const narrow = step => step.end - step.begin < 4;
  underline(chart, context, run, steps.filter(narrow));
  const line = new Path2D();
  if (sparse) steps.forEach((step, i) => { if (i > 0) connect(line, steps[i - 1], step); });
  for (const step of steps.filter(each => !narrow(each))) {
    line.rect(step.begin + 0.75, step.row.y + 0.75, step.end - step.begin - 1.5, step.row.height - 1.5);
  }
  context.lineJoin = 'round';
  for (const [colour, width] of [['--panel', 3.5], ['--path', 1.5]]) {
    context.strokeStyle = chart.theme(colour);
    context.lineWidth = width;
    context.stroke(line);
  }
}

const densestPath = 7;  // pixels per task

/** A line from the end of a task to the start of the next one, between the middles of their rows. */
function connect(line, from, to) {
  line.moveTo(from.end, from.row.y + from.row.height / 2);
  line.lineTo(to.begin, to.row.y + to.row.height / 2);
}

/** Marks things too narrow for an outline by a line at the bottom of their row. */
function underline(chart, context, run, steps) {
  const { strip, ratio } = chart, colour = colourOf(chart.theme('--path'));
  for (const [row, own] of Map.groupBy(steps, step => step.row)) {
    own.forEach(({ begin, end }) => strip.add(begin * ratio, Math.max(end, begin + 0.5) * ratio, colour));
    strip.draw(context, ratio, row.y + row.height - 3, 3);
  }
}

/** Limits coordinates outside of the canvas: huge coordinates are slow to draw. */
const clampX = (x, view) => Math.min(view.width + 1000, Math.max(-1000, x));

function drawSelection(chart, context) {
  const box = chart.selected ? boxOf(chart, chart.selected) : chart.gap && boxOfGap(chart, chart.gap);
  if (!box) return;
  for (const [colour, grow, width] of [['--panel', 1.5, 3], ['--accent', 1.5, 2]]) {
    context.strokeStyle = chart.theme(colour);
    context.lineWidth = width;
    context.strokeRect(box.x - grow, box.y - grow, box.width + 2 * grow, box.height + 2 * grow);
  }
}

function drawAxis(chart) {
  const { axis, view, theme, ratio } = chart, context = blank(axis, ratio), bottom = axis.height / ratio;
  context.font = theme('--chart-font');
  context.textBaseline = 'middle';
  for (const tick of ticksOf(view)) {
    const x = Math.round(view.x(tick.time)), width = context.measureText(tick.text).width;
    context.fillStyle = theme('--axis');
    context.fillRect(x, bottom - 6, 1, 6);
    context.fillStyle = theme('--dim');
    if (x + width / 2 <= view.width) context.fillText(tick.text, Math.max(0, x - width / 2), bottom - 15);
  }
}

/** Draws the running tasks of the longest run as a whole, with a frame around the visible part. */
function drawOverview(chart) {
  const { overview, view, theme, ratio } = chart, context = blank(overview, ratio), height = overview.height / ratio;
  const whole = new View(view.span);
  whole.width = view.width;
  context.fillStyle = theme('--band');
  context.fillRect(0, 0, view.width, height);
  const longest = chart.runs.find(run => run.span === view.span) ?? chart.runs[0];
  chart.overviewPicture ??= overviewArea(longest, whole, height);
  context.fillStyle = theme('--running-area');
  context.fill(chart.overviewPicture);
  const begin = whole.x(view.begin), end = whole.x(view.end);
  context.strokeStyle = theme('--accent');
  context.lineWidth = 2;
  context.strokeRect(Math.min(begin, view.width - 3) + 1, 1, Math.max(1, end - begin - 2), height - 2);
}

function overviewArea(run, view, height) {
  const { time, value } = run.running, area = new Path2D(), top = value.reduce((a, b) => Math.max(a, b), 1);
  const sums = new Float64Array(Math.ceil(view.width));
  time.forEach((from, i) => spread(sums, view.x(from), view.x(time[i + 1] ?? run.span), value[i]));
  sums.forEach((mean, x) => area.rect(x, height * (1 - mean / top), 1, height * mean / top));
  return area;
}

/** Adds a value to each pixel column, weighted by the part of the column in which it holds. */
function spread(sums, begin, end, value) {
  for (let x = Math.max(0, Math.floor(begin)); x < Math.min(sums.length, end); ++x) {
    sums[x] += value * (Math.min(end, x + 1) - Math.max(begin, x));
  }
}
