// SPDX-License-Identifier: BSD-3-Clause
// Creates elements and tables.

function element(tag, attributes = {}, children = []) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function swatch(css) {
  const made = element('span', { class: 'swatch', 'aria-hidden': 'true' });
  made.style.background = css;
  return made;
}

/** A bar of the parts of a whole: `[{name, part: 0…1, kind: its class, css: its colour if the class has none}]`. */
function stackedBar(parts) {
  const said = parts.filter(each => each.part > 0).map(each => `${each.name} ${percentText(each.part)}`).join(', ');
  const bar = element('span', { class: 'bar', role: 'img', 'aria-label': said, title: said });
  for (const { part, kind, css } of parts) {
    const piece = element('span', { class: kind });
    piece.style.width = `${100 * part}%`;
    if (css) piece.style.backgroundColor = css;
    bar.append(piece);
  }
  return bar;
}

/** A table column of texts or elements. */
const text = (head, cell, kind) => ({ head, cell, kind });

/** A table column of numbers: scripts read `value`, people read `show`. */
const number = (head, value, show, unit, kind = '') => ({ head, value, show, unit, kind: `number ${kind}` });

function headCell({ head, unit, kind }) {
  const cell = head ? element('th', { scope: 'col', class: kind }, [head]) : element('td', { class: kind });
  if (unit) cell.append(element('span', { class: 'unit' }, [` ${unit}`]));
  return cell;
}

/** The head of a column is repeated in each cell, since narrow windows show no line of heads. */
function bodyCell(column, row, first) {
  const head = column.unit ? `${column.head} [${column.unit}]` : column.head;
  const content = column.value ? null : column.cell(row);
  const raw = column.value?.(row);
  const shown = column.value ? (raw === null || raw === undefined ? '–' : column.show(raw, row)) : content;
  return element(first ? 'th' : 'td', { class: column.kind, scope: first ? 'row' : undefined,
                                        'data-value': raw ?? undefined,
                                        'data-head': head || undefined }, [shown ?? '']);
}

/** @param sums  further rows, below a line */
function table(id, caption, columns, rows, sums = []) {
  const line = row => element('tr', {}, columns.map((column, i) => bodyCell(column, row, i === 0)));
  const made = element('table', { id }, [
    element('caption', {}, [caption]),
    element('thead', {}, [element('tr', {}, columns.map(headCell))]),
    element('tbody', {}, rows.map(line)),
  ]);
  if (sums.length) made.append(element('tfoot', {}, sums.map(line)));
  return element('div', { class: 'table', 'data-table': id }, [made]);
}
