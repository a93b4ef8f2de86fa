// SPDX-License-Identifier: BSD-3-Clause
// Handles mouse, keyboard and buttons.

const zoomStep = 1.5, panStep = 0.15;

/** The position of the pointer on the chart. offsetX and offsetY would be rounded. */
function pointOf(chart, event) {
  const { left, top } = chart.gantt.getBoundingClientRect();
  return { x: event.clientX - left, y: event.clientY - top };
}

function change(chart, act) {
  act(chart.view);
  hideTooltip(chart);
  chart.requestDraw();
}

const zoomMiddle = (chart, factor) => change(chart, view => view.zoom(factor, (view.begin + view.end) / 2));
const panBy = (chart, part) => change(chart, view => view.pan(part * view.length));

function listen(chart) {
  listenToWheel(chart);
  listenToDrag(chart);
  listenToPointer(chart);
  listenToKeys(chart);
  listenToOverview(chart);
  const press = (id, act) => document.getElementById(id).addEventListener('click', act);
  press('zoom-in', () => zoomMiddle(chart, zoomStep));
  press('zoom-out', () => zoomMiddle(chart, 1 / zoomStep));
  press('zoom-reset', () => change(chart, view => view.reset()));
  press('pan-left', () => panBy(chart, -panStep));
  press('pan-right', () => panBy(chart, panStep));
}

function listenToWheel(chart) {
  chart.gantt.addEventListener('wheel', event => {
    event.preventDefault();
    const unit = [1, 16, 400][event.deltaMode];
    const along = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    change(chart, view => {
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) view.pan(along * unit / view.scale);
      else view.zoom(Math.exp(-event.deltaY * unit / 400), view.time(pointOf(chart, event).x));
    });
  }, { passive: false });
}

/** Dragging moves the chart in time, and scrolls the page vertically because the wheel zooms. */
function listenToDrag(chart) {
  const { gantt } = chart;
  let last = null, far = false;
  gantt.addEventListener('pointerdown', event => {
    if (event.button !== 0) return;
    gantt.setPointerCapture(event.pointerId);
    last = { x: event.clientX, y: event.clientY };
    far = false;
  });
  gantt.addEventListener('pointermove', event => {
    if (!last) return;
    far ||= Math.hypot(event.clientX - last.x, event.clientY - last.y) > 3;
    if (!far) return;
    gantt.classList.add('dragged');
    scrollBy(0, last.y - event.clientY);
    change(chart, view => view.pan((last.x - event.clientX) / view.scale));
    last = { x: event.clientX, y: event.clientY };
  });
  gantt.addEventListener('pointerup', event => {
    const { x, y } = pointOf(chart, event);
    if (last && !far) select(chart, thingAt(chart, x, y));
    last = null;
    gantt.classList.remove('dragged');
  });
  gantt.addEventListener('pointercancel', () => { last = null; });
}

function listenToPointer(chart) {
  chart.gantt.addEventListener('pointermove', event => {
    if (!chart.gantt.classList.contains('dragged')) hover(chart, event);
  });
  chart.gantt.addEventListener('pointerleave', () => hideTooltip(chart));
}

function hover(chart, event) {
  const { view, crosshair } = chart, { x, y } = pointOf(chart, event);
  const row = rowAt(chart, y), thing = thingAt(chart, x, y);
  const told = thing ? describe(chart, thing) : row && describePoint(chart, row, view.time(x));
  crosshair.hidden = false;
  crosshair.style.left = `${chart.gantt.offsetLeft + x}px`;
  placeHoverBox(chart, thing);
  if (told) showTooltip(chart, event, told);
  else chart.tooltip.hidden = true;
}

function placeHoverBox(chart, thing) {
  const box = thing && boxOf(chart, thing);
  chart.hoverBox.hidden = !box;
  if (!box) return;
  const left = Math.max(0, box.x), right = Math.min(chart.view.width, box.x + box.width);
  Object.assign(chart.hoverBox.style, { left: `${chart.gantt.offsetLeft + left}px`, top: `${box.y}px`,
                                        width: `${right - left}px`, height: `${box.height}px` });
}

function showTooltip(chart, event, told) {
  const { tooltip } = chart;
  tooltip.replaceChildren(...descriptionElements(chart, told));
  tooltip.hidden = false;
  const { width, height } = tooltip.getBoundingClientRect(), away = 14;
  const left = event.clientX + away + width < innerWidth ? event.clientX + away : event.clientX - away - width;
  const top = event.clientY + away + height < innerHeight ? event.clientY + away : event.clientY - away - height;
  tooltip.style.transform = `translate(${Math.max(0, left)}px, ${Math.max(0, top)}px)`;
}

function hideTooltip(chart) {
  chart.tooltip.hidden = chart.crosshair.hidden = chart.hoverBox.hidden = true;
}

function select(chart, thing) {
  chart.selected = thing;
  chart.gap = null;
  chart.details.replaceChildren(...(thing ? descriptionElements(chart, describe(chart, thing)) : [idleDetails()]));
  chart.requestDraw();
}

const idleDetails = () => element('span', { class: 'dim' }, ['Click a task or a transfer to keep its facts here.']);

/** Selects a thing by keyboard and makes it visible. */
function moveTo(chart, thing) {
  if (!thing) return;
  const { start, end } = intervals(thing.row);
  chart.view.include(start[thing.index], end[thing.index]);
  hideTooltip(chart);
  select(chart, thing);
  scrollToRow(chart, thing.row);
}

function scrollToRow(chart, row) {
  const top = chart.gantt.getBoundingClientRect().top + row.y, room = 90;
  if (top < room) scrollBy(0, top - room);
  else if (top + row.height + room > innerHeight) scrollBy(0, top + row.height + room - innerHeight);
}

function step(chart, move) { moveTo(chart, chart.selected ? move(chart.selected) : firstInSight(chart)); }

function zoomToSelected(chart) {
  if (!chart.selected) return;
  const { start, end } = intervals(chart.selected.row), i = chart.selected.index, room = 2 * (end[i] - start[i]);
  change(chart, view => view.show(start[i] - room, end[i] + room));
}

const keys = {
  '+': chart => zoomMiddle(chart, zoomStep),
  '=': chart => zoomMiddle(chart, zoomStep),
  '-': chart => zoomMiddle(chart, 1 / zoomStep),
  '0': chart => change(chart, view => view.reset()),
  Home: chart => change(chart, view => view.reset()),
  ArrowLeft: chart => panBy(chart, -panStep),
  ArrowRight: chart => panBy(chart, panStep),
  PageUp: chart => panBy(chart, -0.9),
  PageDown: chart => panBy(chart, 0.9),
  ArrowUp: chart => step(chart, selected => onNextRow(chart, selected, -1)),
  ArrowDown: chart => step(chart, selected => onNextRow(chart, selected, 1)),
  n: chart => step(chart, selected => neighbour(chart, selected, 1)),
  p: chart => step(chart, selected => neighbour(chart, selected, -1)),
  f: chart => zoomToSelected(chart),
  Enter: chart => zoomToSelected(chart),
  Escape: chart => select(chart, null),
};

function listenToKeys(chart) {
  chart.gantt.addEventListener('keydown', event => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act(chart);
  });
}

/** Pressing or dragging on the overview moves the visible part there. */
function listenToOverview(chart) {
  const { overview } = chart;
  const centre = event => change(chart, view => {
    const time = event.offsetX / view.width * view.span;
    view.show(time - view.length / 2, time + view.length / 2);
  });
  overview.addEventListener('pointerdown', event => {
    overview.setPointerCapture(event.pointerId);
    centre(event);
  });
  overview.addEventListener('pointermove', event => {
    if (overview.hasPointerCapture(event.pointerId)) centre(event);
  });
}
