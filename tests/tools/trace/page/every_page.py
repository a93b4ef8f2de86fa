# SPDX-License-Identifier: BSD-3-Clause
"""Tests that every page must pass."""
from collections import Counter

from browser import Page, requests_in, rows_of, seconds, sums


class EveryPage(Page):
    """`tables` names the folders of the runs' tables."""
    tables = ("",)

    def runs(self):
        for number, folder in enumerate(self.tables, 1):
            yield number, rows_of(self.folder / folder / "tasks.csv"), rows_of(self.folder / folder / "transfers.csv")

    def test_loads_without_a_complaint_and_without_a_network(self):
        self.assertEqual(self.browser.get_log("browser"), [])
        asked = list(requests_in(self.browser.get_log("performance")))
        self.assertTrue(asked)
        self.assertEqual([url for url in asked if not url.startswith(("file:", "data:"))], [])

    def test_shows_all_workers_and_links(self):
        for number, tasks, transfers in self.runs():
            labels = self.js("return [...document.querySelectorAll(`.label[data-run='${arguments[0]}']`)]"
                             ".map(label => [label.dataset.kind, label.querySelector('.name').textContent])", number)
            names = lambda kind: sorted(name for of, name in labels if of == kind)
            self.assertEqual(names("task"), sorted({task["worker"] for task in tasks}))
            self.assertEqual(names("transfer"), sorted({transfer["link"] for transfer in transfers}))

    def test_sums_of_workers_are_those_of_the_table(self):
        for number, tasks, _ in self.runs():
            computing, count = sums(tasks, lambda t: t["worker"], seconds), Counter(t["worker"] for t in tasks)
            for row in self.table(f"workers-{number}"):
                self.assertAlmostEqual(row["#computing"], computing[row["worker"]], delta=1e-8 * (1 + count[row["worker"]]))
                self.assertEqual(row["#tasks"], count[row["worker"]])
            span = self.js("return tesseraReport.runs[arguments[0] - 1].span", number)
            for worker in self.js("return tesseraReport.runs[arguments[0] - 1].workers", number):
                parts = sum(worker[part] for part in ("computing", "data", "overhead", "idle"))
                self.assertAlmostEqual(parts, span, delta=1e-6 * span)

    def test_sums_of_routines_are_those_of_the_table(self):
        for number, tasks, _ in self.runs():
            computing, count = sums(tasks, lambda t: t["routine"], seconds), Counter(t["routine"] for t in tasks)
            rows = self.table(f"routines-{number}")
            self.assertEqual({row["routine"]: row["#tasks"] for row in rows}, dict(count))
            for row in rows:
                self.assertAlmostEqual(row["#time"], computing[row["routine"]], delta=1e-8 * (1 + count[row["routine"]]))

    def test_bytes_of_links_are_those_of_the_table(self):
        for number, _, transfers in self.runs():
            by_link = sums(transfers, lambda t: t["link"], lambda t: int(t["bytes"]))
            by_operand = sums(transfers, lambda t: (t["link"], t["operand"]), lambda t: int(t["bytes"]))
            rows = self.table(f"links-{number}")
            self.assertEqual({row["link"]: row["#bytes"] for row in rows}, by_link)
            for row in rows:
                for operand in "ABC":
                    self.assertEqual(row["#" + operand], by_operand.get((row["link"], operand), 0))
            self.assertEqual(sum(by_link.values()), float(self.js(
                "return document.querySelector(`[data-run='${arguments[0]}'] [data-figure=bytes]`).dataset.value", number)))

    def test_numbers_shown_are_those_behind_them(self):
        units = {"s": 1, "ms": 1e-3, "µs": 1e-6, "TB": 1e12, "GB": 1e9, "MB": 1e6, "kB": 1e3, "B": 1, "": 1}
        cells = self.js("""
            return [...document.querySelectorAll('table')].flatMap(table => [...table.tBodies[0].rows].flatMap(row =>
              [...row.cells].filter(cell => cell.dataset.value).map((cell, i) =>
                [cell.textContent, Number(cell.dataset.value),
                 table.tHead.rows[0].cells[cell.cellIndex].querySelector('.unit')?.textContent.trim() ?? ''])))""")
        compared = 0
        for shown, value, unit in cells:
            plain = shown.replace("\u202f", "").replace("−", "-")
            try:
                number = float(plain)
            except ValueError:
                continue  # the cell has a unit of its own
            if unit in units:
                digits = len(plain.split(".")[1]) if "." in plain else 0
                self.assertAlmostEqual(number, value / units[unit], delta=0.5001 * 10 ** -digits,
                                       msg=(shown, value, unit))
                compared += 1
        self.assertGreater(compared, 20)

    def test_fits_into_the_window(self):
        for width in (1280, 1920):
            self.browser.set_window_size(width, 1000)
            self.drawn()
            self.assertLessEqual(self.js("return document.documentElement.scrollWidth - innerWidth"), 0, width)
            shown = self.js("return [...document.querySelectorAll('.table')].filter(t => t.scrollWidth > t.clientWidth)"
                            ".map(t => t.dataset.table)")
            self.assertEqual(shown, [], f"tables that need to be scrolled at {width}")
        self.browser.set_window_size(1280, 1000)
