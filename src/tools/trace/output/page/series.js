// SPDX-License-Identifier: BSD-3-Clause
// Draws a value over time pixel by pixel. Steps are exactly vertical, and the cost of a frame does not depend on their
// number.

/** The highest value in each pixel column of the view. */
function highestInColumns(series, view, columns) {
  const { time, value } = series, highest = new Float64Array(columns), length = view.length / columns;
  let i = firstAbove(time, view.begin) - 1, now = i < 0 ? 0 : value[i];
  for (let column = 0; column < columns; ++column) {
    const end = view.begin + (column + 1) * length;
    let high = now;
    while (i + 1 < time.length && time[i + 1] < end) {
      now = value[++i];
      if (now > high) high = now;
    }
    highest[column] = high;
  }
  return highest;
}

/** "#rrggbb" or "#rrggbbaa" as a pixel of ImageData, whose bytes are red, green, blue, opacity. */
function pixelOf(css) {
  const bytes = [1, 3, 5, 7].map(at => parseInt(css.slice(at, at + 2) || 'ff', 16));
  return new Uint32Array(new Uint8Array(bytes).buffer)[0];
}

/** An image that is filled pixel by pixel, and used for one row after another. */
class Pixels {
  constructor() {
    this.canvas = document.createElement('canvas');
    this.context = this.canvas.getContext('2d', { willReadFrequently: true });
  }

  clear(width, height) {
    if (this.image?.width !== width || this.image?.height !== height) {
      this.canvas.width = width;
      this.canvas.height = height;
      this.image = this.context.createImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    }
    this.pixels.fill(0);
  }

  fill(column, top, bottom, pixel) {
    for (let at = top * this.image.width + column; top < bottom; ++top, at += this.image.width) this.pixels[at] = pixel;
  }

  draw(context, y, ratio) {
    this.context.putImageData(this.image, 0, 0);
    context.drawImage(this.canvas, 0, y, this.image.width / ratio, this.image.height / ratio);
  }
}

function drawSeries(chart, context, row) {
  const { view, theme, ratio, pixels } = chart;
  const area = pixelOf(theme(`${row.colour}-area`)), line = pixelOf(theme(row.colour));
  const width = chart.gantt.width, height = Math.round(row.height * ratio), thick = Math.max(1, Math.round(ratio));
  const until = Math.min(width, Math.ceil(view.x(row.run.span) * ratio));
  const highest = highestInColumns(row.series, view, width);
  const full = height - 4 * ratio - thick, topOf = value => height - thick - Math.round(share(value, row.top) * full);
  pixels.clear(width, height);
  for (let column = 0, before = topOf(highest[0]); column < until; ++column) {
    const top = topOf(highest[column]);
    pixels.fill(column, top, height, area);
    pixels.fill(column, Math.min(top, before), Math.max(top, before) + thick, line);
    before = top;
  }
  pixels.draw(context, Math.round(row.y * ratio) / ratio, ratio);
}
