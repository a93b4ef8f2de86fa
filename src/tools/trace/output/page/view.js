// SPDX-License-Identifier: BSD-3-Clause
// The visible part of the time axis, and its ticks.

class View {
  constructor(span) {
    this.span = span || 1e-6;
    this.shortest = Math.max(this.span * 1e-8, 2e-7);
    this.width = 1;  // of the chart, in CSS pixels
    this.reset();
  }

  reset() {
    this.begin = 0;
    this.end = this.span;
    return this;
  }

  get length() { return this.end - this.begin; }
  get scale() { return this.width / this.length; }
  x(time) { return (time - this.begin) * this.scale; }
  time(x) { return this.begin + x / this.scale; }

  /** Shows an interval, limited to the run and to a minimum length. */
  show(begin, end) {
    const length = Math.max(this.shortest, end - begin);
    if (length >= this.span * (1 - 1e-12)) return this.reset();
    const middle = (begin + end) / 2;
    this.begin = Math.min(Math.max(0, middle - length / 2), this.span - length);
    this.end = this.begin + length;
    return this;
  }

  pan(seconds) { this.show(this.begin + seconds, this.end + seconds); }

  /** Zooms. A factor above 1 magnifies; the time `around` keeps its position. */
  zoom(factor, around) {
    const length = Math.min(this.span, Math.max(this.shortest, this.length / factor));
    const begin = around - (around - this.begin) * length / this.length;
    this.show(begin, begin + length);
  }

  /** Makes an interval visible with a margin, moving the view as little as possible. */
  include(begin, end) {
    const room = 0.05 * this.length;
    if (end - begin + 2 * room > this.length) this.show(begin - (end - begin) / 10, end + (end - begin) / 10);
    else if (begin - room < this.begin) this.pan(begin - room - this.begin);
    else if (end + room > this.end) this.pan(end + room - this.end);
  }
}

/** The smallest step of 1, 2 or 5 times a power of ten. */
function niceStep(atLeast) {
  const power = 10 ** Math.floor(Math.log10(atLeast));
  return power * [1, 2, 5, 10].find(factor => factor * power >= atLeast * (1 - 1e-9));
}

/** Times and texts of the ticks, about `distance` pixels apart. */
function ticksOf(view, distance = 96) {
  const step = niceStep(distance / view.scale);
  const unit = unitFor(timeUnits, view.end * (1 - 1e-9));
  const decimals = Math.max(0, -Math.floor(Math.log10(step / unit.size) + 1e-9));
  const ticks = [];
  for (let i = Math.ceil(view.begin / step - 1e-9); i * step <= view.end; ++i) {
    ticks.push({ time: i * step, text: `${fixed(i * step / unit.size, decimals)} ${unit.name}` });
  }
  return ticks;
}
