// SPDX-License-Identifier: BSD-3-Clause
// Draws the things of a lane. Things wider than two device pixels become rectangles. All others are mixed into an image
// that is one pixel high. The cost of a frame is therefore bounded by the width of the chart.

/** Mixes the colours of narrow things, weighted by the part of each pixel column that they cover. */
class Strip {
  constructor() {
    this.canvas = document.createElement('canvas');
    this.context = this.canvas.getContext('2d', { willReadFrequently: true });
  }

  resize(columns) {
    this.columns = this.canvas.width = columns;
    this.canvas.height = 1;
    this.sums = new Float32Array(4 * columns);
    this.image = this.context.createImageData(columns, 1);
    this.clear();
  }

  clear() {
    this.first = this.columns;
    this.last = -1;
  }

  add(begin, end, colour) {
    let column = Math.max(0, Math.floor(begin));
    const last = Math.min(this.columns - 1, Math.floor(end));
    if (column < this.first) this.first = column;
    if (last > this.last) this.last = last;
    for (; column <= last; ++column) {
      const cover = Math.min(end, column + 1) - Math.max(begin, column), at = 4 * column;
      this.sums[at] += cover * colour.red;
      this.sums[at + 1] += cover * colour.green;
      this.sums[at + 2] += cover * colour.blue;
      this.sums[at + 3] += cover;
    }
  }

  /** Draws the image and clears it for the next lane. */
  draw(context, ratio, y, height) {
    const { sums, image, first, last } = this;
    if (last < first) return;
    image.data.fill(0);
    for (let at = 4 * first; at <= 4 * last; at += 4) {
      const cover = sums[at + 3];
      if (cover <= 0) continue;
      for (let part = 0; part < 3; ++part) image.data[at + part] = sums[at + part] / cover;
      image.data[at + 3] = 255 * Math.min(1, Math.max(cover, 0.12));  // keeps the shortest tasks visible
    }
    sums.fill(0, 4 * first, 4 * last + 4);
    this.context.putImageData(image, 0, 0);
    const columns = last - first + 1;
    context.imageSmoothingEnabled = false;
    context.drawImage(this.canvas, first, 0, columns, 1, first / ratio, y, columns / ratio, height);
    this.clear();
  }
}

const narrow = 2;  // device pixels

/**
 * @param colours  of the lane, `{css, ink, red, green, blue, shown}` by number
 * @param name     text for a thing that is wide enough to carry it
 * @return         number of visible things
 */
function drawLane(context, strip, view, ratio, lane, colours, y, height, name) {
  const scale = view.scale * ratio;
  const wide = colours.map(() => []);
  let drawn = 0;
  for (let i = firstAbove(lane.reach, view.begin); i < lane.items.length && lane.start[i] < view.end; ++i) {
    const colour = colours[lane.colour[i]];
    if (!colour?.shown) continue;
    ++drawn;
    const begin = (lane.start[i] - view.begin) * scale, end = (lane.end[i] - view.begin) * scale;
    if (end - begin >= narrow) wide[lane.colour[i]].push(i);
    else strip.add(begin, end, colour);
  }
  strip.draw(context, ratio, y, height);
  wide.forEach((things, number) => drawWide(context, view, ratio, lane, things, colours[number], y, height, name));
  return drawn;
}

function drawWide(context, view, ratio, lane, things, colour, y, height, name) {
  const snap = x => Math.round(x * ratio) / ratio;
  for (const i of things) {
    const begin = snap(Math.max(-4, view.x(lane.start[i]))), end = snap(Math.min(view.width + 4, view.x(lane.end[i])));
    const seam = end - begin > 4 ? 1 / ratio : 0;  // separates neighbours of the same colour
    context.fillStyle = colour.css;
    context.fillRect(begin, y, end - begin - seam, height);
    if (height >= 12 && end - begin > 40) drawName(context, begin, end, y, height, colour, name(lane.items[i]));
  }
}

const letterWidth = 6.1;

/** The longest form of the name that fits: "gemm C(3,5) k=7", "C(3,5) k=7", "C(3,5)", or nothing. */
function drawName(context, begin, end, y, height, colour, name) {
  const left = Math.max(begin, 0) + 5, letters = Math.floor((end - left - 4) / letterWidth);
  const place = name.slice(name.indexOf(' ') + 1);
  const text = [name, place, place.split(' ')[0]].find(each => each.length <= letters);
  if (!text) return;
  context.fillStyle = colour.ink;
  context.fillText(text, left, y + height / 2 + 0.5);
}
