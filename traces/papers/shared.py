# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts of the papers share: arguments, simulations, tables in Markdown, and charts in SVG.

Each script is called as SCRIPT [--quick|--full] OUTPUT. It prints its tables, writes OUTPUT/PAPER-*.csv and
OUTPUT/PAPER-*.svg, and fails if a simulation fails. TESSERA_SIMULATE names the program tessera-simulate.
"""

import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from xml.sax.saxutils import escape

MEGABYTE = 1e6


class Paper:
    """One run of a script: its name, how much it shall do, and where its files go."""

    def __init__(self, name, description):
        parser = argparse.ArgumentParser(prog=f"{name}.py", description=description)
        much = parser.add_mutually_exclusive_group()
        much.add_argument("--quick", action="store_true", help="one row or point of everything")
        much.add_argument("--full", action="store_true", help="all sizes of the paper instead of ten")
        parser.add_argument("output", type=pathlib.Path, help="the folder for CSV files and charts")
        arguments = parser.parse_args()
        self.name, self.output = name, arguments.output
        self.quick, self.full = arguments.quick, arguments.full
        self.simulations = 0
        self.output.mkdir(parents=True, exist_ok=True)

    def sizes(self, quick, usual, full):
        return quick if self.quick else full if self.full else usual

    def simulate(self, platform, **options):
        """The JSON rows of tessera-simulate. Options are its arguments; a list becomes a list with commas."""
        program = os.environ.get("TESSERA_SIMULATE")
        if not program:
            sys.exit(f"{self.name}: TESSERA_SIMULATE must name the program tessera-simulate; ./run papers sets it")
        rows = self._rows([program, "--platform", str(platform), "--brief"], options, {})
        self.simulations += len(rows)
        return rows

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

    def measure(self, environment, **options):
        """The JSON rows of tessera-bench, with these environment variables in addition. None without TESSERA_BENCH."""
        program = os.environ.get("TESSERA_BENCH")
        return self._rows([program], options, environment) if program else None

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

    def chart(self, part, title, x, y, curves):
        """Writes PAPER-PART.svg. A curve is a name and its points; a name that starts with '~' is dashed."""
        (self.output / f"{self.name}-{part}.svg").write_text(line_chart(title, x, y, curves))


def per_gpu(row, field):
    return [gpu[field] for gpu in row["per_gpu"]]


def round_step(largest, most):
    """The smallest of 1, 2, 5, 10, … that divides the axis into at most `most` parts."""
    step = 10.0 ** -9
    while True:
        for factor in (1, 2, 5):
            if largest / (step * factor) <= most:
                return step * factor
        step *= 10


COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b", "#e377c2", "#7f7f7f")


def line_chart(title, x, y, curves):
    """An SVG with one line for each curve, and a legend at the right. Both axes start at 0."""
    width, height, left, top, right, bottom = 640, 360, 60, 34, 170, 48
    points = [p for _, curve in curves for p in curve]
    step_x, step_y = round_step(max(p[0] for p in points), 8), round_step(max(p[1] for p in points), 8)
    end_x, end_y = max(p[0] for p in points) * 1.02, (max(p[1] for p in points) // step_y + 1) * step_y

    def place(p):
        return (left + (width - left - right) * p[0] / end_x, height - bottom - (height - top - bottom) * p[1] / end_y)

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
    for axis, step, end in ((0, step_x, end_x), (1, step_y, end_y)):
        for i in range(int(end / step + 1e-9) + 1):
            value = i * step
            px, py = place((value, 0) if axis == 0 else (0, value))
            line = (px, top, px, height - bottom) if axis == 0 else (left, py, width - right, py)
            out.append('<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="#ddd"/>' % line)
            out.append(text(px, height - bottom + 16, f"{value:g}") if axis == 0 else text(left - 6, py + 4, f"{value:g}", "end"))
    for i, (name, curve) in enumerate(curves):
        colour, dash = COLOURS[i % len(COLOURS)], ' stroke-dasharray="5 4"' if name.startswith("~") else ""
        path = " ".join("%.1f,%.1f" % place(p) for p in curve)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        if not dash:
            out += ['<circle cx="%.1f" cy="%.1f" r="2.5" fill="%s"/>' % (*place(p), colour) for p in curve]
        py = top + 10 + 18 * i
        out.append(f'<line x1="{width - right + 10}" y1="{py}" x2="{width - right + 32}" y2="{py}" stroke="{colour}" '
                   f'stroke-width="2"{dash}/>')
        out.append(text(width - right + 38, py + 4, name.lstrip("~"), "start"))
    return "\n".join(out + ["</svg>\n"])
