// SPDX-License-Identifier: BSD-3-Clause
// Formats numbers. Units are decimal: 1 GB = 10⁹ bytes.

const timeUnits = [{ name: 's', size: 1 }, { name: 'ms', size: 1e-3 }, { name: 'µs', size: 1e-6 }];
const byteUnits = [{ name: 'TB', size: 1e12 }, { name: 'GB', size: 1e9 }, { name: 'MB', size: 1e6 },
                   { name: 'kB', size: 1e3 }, { name: 'B', size: 1 }];
const rateUnits = byteUnits.map(({ name, size }) => ({ name: `${name}/s`, size }));
const flopUnits = [{ name: 'TFLOP/s', size: 1e12 }, { name: 'GFLOP/s', size: 1e9 }, { name: 'MFLOP/s', size: 1e6 }];

/** The largest unit in which the value is at least 1, else the smallest. */
const unitFor = (units, value) => units.find(unit => Math.abs(value) >= unit.size) ?? units[units.length - 1];

/** Four significant digits with separated thousands: "1 234", "12.34". */
function digits(value, count = 4) {
  if (!Number.isFinite(value)) return '–';
  const whole = Math.max(1, Math.floor(Math.log10(Math.abs(value) || 1)) + 1);
  return fixed(value, Math.max(0, count - whole));
}

function fixed(value, decimals) {
  if (value === null || !Number.isFinite(value)) return '–';
  const [whole, fraction] = Math.abs(value).toFixed(decimals).split('.');
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, '\u202f');  // narrow no-break space
  const text = fraction === undefined ? grouped : `${grouped}.${fraction}`;
  return value < 0 && Number(Math.abs(value).toFixed(decimals)) !== 0 ? `−${text}` : text;
}

function quantity(units, value, count) {
  const unit = unitFor(units, value);
  return `${digits(value / unit.size, count)} ${unit.name}`;
}

const timeText = (seconds, count = 4) => (seconds === 0 ? '0 s' : quantity(timeUnits, seconds, count));
const bytesText = bytes => (bytes < 1000 ? `${bytes} B` : quantity(byteUnits, bytes, 4));
const rateText = rate => quantity(rateUnits, rate, 3);
const flopsText = rate => quantity(flopUnits, rate, 4);
const countText = count => fixed(count, 0);
const percentText = share => (Number.isFinite(share) ? `${fixed(100 * share, 1)} %` : '–');
const share = (part, whole) => (whole > 0 ? part / whole : 0);
