# SPDX-License-Identifier: BSD-3-Clause
"""Shared by the scripts of the papers: arguments, simulations, tables in Markdown, and charts in SVG.

Each script is called as SCRIPT [--quick|--full] [--runs] [--simulate PROGRAM] [--trace PROGRAM] [--bench PROGRAM] [--part PART...] OUTPUT. It
prints its tables, writes OUTPUT/PAPER-*.csv and OUTPUT/PAPER-*.svg, and fails if a simulation fails.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

MEGABYTE = 1e6


class Paper:
    """A run of a script: its name, how much it does, and where it writes its files."""

    def __init__(self, name, description):
        parser = argparse.ArgumentParser(prog=f"{name}.py", description=description)
        much = parser.add_mutually_exclusive_group()
        much.add_argument("--quick", action="store_true", help="one row or point of everything")
        much.add_argument("--full", action="store_true", help="all sizes of the paper instead of ten")
        parser.add_argument("--runs", action="store_true", help="only what is measured on a GPU")
        parser.add_argument("--simulate", metavar="PROGRAM", help="tessera-simulate; only --runs needs none")
        parser.add_argument("--trace", metavar="PROGRAM", help="tessera-trace (default: beside tessera-simulate)")
        parser.add_argument("--bench", metavar="PROGRAM", help="tessera-bench, where there is a GPU")
        parser.add_argument("--part", metavar="PART", action="append",
                            help="only this function of the script, such as figure_8; may be repeated")
        parser.add_argument("output", type=pathlib.Path, help="the folder for CSV files and charts")
        arguments = parser.parse_args()
        self.name, self.output = name, arguments.output
        self.quick, self.full, self.runs = arguments.quick, arguments.full, arguments.runs
        self.chosen = arguments.part
        self.simulator, self.explain, self.bench = arguments.simulate, arguments.trace, arguments.bench
        if not (self.runs or self.simulator):
            parser.error("--simulate must name the program tessera-simulate; ./run papers does")
        self.simulations = 0
        self.output.mkdir(parents=True, exist_ok=True)

    def do(self, parts, on_gpu=()):
        """Calls the functions of all parts, or of the chosen ones. Those in `on_gpu` need a GPU."""
        known = [part.__name__ for part in (*parts, *on_gpu)]
        if unknown := set(self.chosen or ()) - set(known):
            sys.exit(f"{self.name}: --part: there is no {', '.join(sorted(unknown))}; there are {', '.join(known)}")

        def run(some):
            for part in some:
                if self.chosen is None or part.__name__ in self.chosen:
                    part()

        if not self.runs:
            run(parts)
        if self.bench:
            run(on_gpu)
        elif on_gpu:
            print("\nWhat is measured on a GPU is left out: --bench, which names tessera-bench, is not given.")
        print(f"\n{self.simulations} simulations")

    def sizes(self, quick, usual, full):
        return quick if self.quick else full if self.full else usual

    def simulate(self, platform, environment=None, **options):
        """The JSON rows of tessera-simulate, with these environment variables in addition. Options are its arguments; a list
        becomes a list with commas. Cores compute nothing unless `cpus` says so, as in the papers."""
        options = {"cpus": 0, **options}
        rows = self._rows([self.simulator, "--platform", str(platform), "--brief"], options, environment or {})
        self.simulations += len(rows)
        return rows

    def trace(self, platform, **options):
        """The row of one simulation, and its tasks and transfers: rows of the tables that docs/traces.md describes."""
        with tempfile.TemporaryDirectory() as folder:
            row = self.simulate(platform, {"TESSERA_TRACE": folder}, **options)[0]
            explain = self.explain or pathlib.Path(self.simulator).with_name("tessera-trace")
            subprocess.run([explain, folder], stdout=subprocess.DEVNULL, check=True)
            tables = []
            for name in ("tasks.csv", "transfers.csv"):
                with open(pathlib.Path(folder) / name, newline="") as file:
                    tables.append(list(csv.DictReader(file)))
            return row, *tables

    def _rows(self, command, options, environment):
        for option, value in options.items():
            values = value if isinstance(value, (list, tuple, range)) else [value]
            command += ["--" + option.replace("_", "-"), ",".join(str(v) for v in values)]
        with tempfile.TemporaryDirectory() as folder:
            result = pathlib.Path(folder) / "rows.json"
            done = subprocess.run(command + ["--json", str(result)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  env={**os.environ, **environment})
            if done.returncode != 0:
                sys.exit(f"{self.name}: {' '.join(command)} failed:\n{done.stdout.decode(errors='replace')}")
            return [json.loads(line) for line in result.read_text().splitlines()]

    def measure(self, environment, program=None, **options):
        """The JSON rows of tessera-bench, or of the program of this name beside it, with these environment variables in addition.

        @pre there is a --bench
        """
        path = self.bench if program is None else str(pathlib.Path(self.bench).with_name(program))
        if not pathlib.Path(path).exists():
            sys.exit(f"{self.name}: {path} does not exist; --bench must be in the bin folder of a build")
        return self._rows([path], options, environment)

    def table(self, part, title, head, rows):
        """Prints a table, and writes it to PAPER-PART.csv. Numbers in it are already text."""
        print(f"\n**{title}**\n")
        print("| " + " | ".join(head) + " |")
        print("|" + "---|" * len(head))
        for row in rows:
            print("| " + " | ".join(str(cell) for cell in row) + " |")
        with open(self.output / f"{self.name}-{part}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(head)
            writer.writerows(rows)

    def chart(self, part, title, x, y, curves, **style):
        """Writes PAPER-PART.svg. A curve is a name and its points; a name that starts with '~' is dashed."""
        (self.output / f"{self.name}-{part}.svg").write_text(line_chart(title, x, y, curves, **style))

    def timeline(self, part, title, lanes):
        """Writes PAPER-PART.svg. A lane is a name and its intervals [s]."""
        (self.output / f"{self.name}-{part}.svg").write_text(timeline(title, lanes))


def per_gpu(row, field):
    return [gpu[field] for gpu in row["per_gpu"]]


def times(rows):
    """Start and end of tasks or transfers [s], of those that ended."""
    return [(float(row["start"]), float(row["end"])) for row in rows if row["start"] and row["end"]]


def covered(intervals):
    """The length of the union of intervals."""
    total, end = 0, -math.inf
    for first, last in sorted(intervals):
        total += max(0, last - max(first, end))
        end = max(end, last)
    return total


def round_step(largest, most):
    """The smallest of 1, 2, 5, 10, … that divides the axis into at most `most` parts."""
    step = 10.0 ** -9
    while True:
        for factor in (1, 2, 5):
            if largest / (step * factor) <= most:
                return step * factor
        step *= 10


COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")


class Axis:
    """Whole steps that contain all values, and places along `length`."""

    def __init__(self, values, from_zero, length):
        least, most = 0 if from_zero else min(values), max(values)
        self.step = round_step(most - least, 8)
        self.begin, self.end = least // self.step * self.step, math.ceil(most / self.step - 1e-9) * self.step
        self.length = length

    def place(self, value):
        return self.length * (value - self.begin) / (self.end - self.begin)

    def ticks(self):
        return [self.begin + i * self.step for i in range(round((self.end - self.begin) / self.step) + 1)]


def line_chart(title, x, y, curves, markers=True, from_zero=True):
    """An SVG with one line for each curve, and a legend at the right."""
    width, height, left, top, right, bottom = 640, 360, 60, 34, 170, 48
    points = [p for _, curve in curves for p in curve]
    across = Axis([p[0] for p in points], from_zero, width - left - right)
    along = Axis([p[1] for p in points], from_zero, height - top - bottom)

    def place(p):
        return left + across.place(p[0]), height - bottom - along.place(p[1])

    def text(px, py, words, anchor="middle", more=""):
        return f'<text x="{px:.1f}" y="{py:.1f}" text-anchor="{anchor}"{more}>{escape(words)}</text>'

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text((left + width - right) / 2, 20, title, more=' font-weight="bold"'),
        text((left + width - right) / 2, height - 10, x),
        text(16, (top + height - bottom) / 2, y, more=f' transform="rotate(-90 16 {(top + height - bottom) / 2:.1f})"'),
    ]
    grid = '<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>'
    for value in across.ticks():
        px = place((value, along.begin))[0]
        out += [grid % (px, top, px, height - bottom), text(px, height - bottom + 16, f"{value:.6g}")]
    for value in along.ticks():
        py = place((across.begin, value))[1]
        out += [grid % (left, py, width - right, py), text(left - 6, py + 4, f"{value:.6g}", "end")]
    for i, (name, curve) in enumerate(curves):
        dash = ' stroke-dasharray="5 4"' if name.startswith("~") else ""
        colour = "#777" if dash else COLOURS[i % len(COLOURS)]
        path = " ".join("%.1f,%.1f" % place(p) for p in curve)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        if markers and not dash:
            out += ['<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>' % (*place(p), colour) for p in curve]
        py = top + 10 + 18 * i
        out.append(f'<line x1="{width - right + 10}" y1="{py}" x2="{width - right + 32}" y2="{py}" stroke="{colour}" '
                   f'stroke-width="2"{dash}/>')
        out.append(text(width - right + 38, py + 4, name.lstrip("~"), "start"))
    return "\n".join(out + ["</svg>\n"])


def timeline(title, lanes):
    """An SVG with a row for each lane, and a bar in it for each interval. Bars that would touch are drawn as one."""
    width, left, right, top, row = 900, 190, 12, 34, 26
    height = top + row * len(lanes) + 34
    across = Axis([end for _, lane in lanes for _, end in lane], True, width - left - right)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{width / 2:.1f}" y="20" text-anchor="middle" font-weight="bold">{escape(title)}</text>',
    ]
    for i, (name, lane) in enumerate(lanes):
        py, colour = top + row * i, COLOURS[i % 3]
        out.append(f'<text x="{left - 8}" y="{py + 17}" text-anchor="end">{escape(name)}</text>')
        bars = []
        for start, end in sorted((left + across.place(max(0, a)), left + across.place(b)) for a, b in lane):
            if bars and start - bars[-1][1] < 0.25:
                bars[-1][1] = max(bars[-1][1], end)
            else:
                bars.append([start, end])
        path = "".join(f"M{a:.2f} {py + 4}H{b:.2f}V{py + row - 4}H{a:.2f}z" for a, b in bars)
        out.append(f'<path d="{path}" fill="{colour}"/>')
    for value in across.ticks():
        px, bottom = left + across.place(value), height - 30
        out += [f'<line x1="{px:.1f}" y1="{bottom}" x2="{px:.1f}" y2="{bottom + 5}" stroke="black"/>',
                f'<text x="{px:.1f}" y="{bottom + 20}" text-anchor="middle">{value:.6g} s</text>']
    return "\n".join(out + ["</svg>\n"])
