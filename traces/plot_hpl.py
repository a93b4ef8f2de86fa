#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the rates that tessera-hpl, or HPL itself, has printed, over N.

usage: traces/plot_hpl.py NAME=OUTPUT... --picture FILE.svg

NAME is the label of a line, OUTPUT a file with what the program has printed. Of several block sizes, the fastest counts. Systems
that were solved wrongly, or not at all, do not count.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "papers"))
from shared import line_chart  # noqa: E402

# A row, and the lines up to the next one, which tell whether its solution is right.
ROW = re.compile(r"^W\w+ +(\d+) +\d+ +\d+ +\d+ +[\d.]+ +([\d.]+e[+-]\d+)(.*?)(?=^W|\Z)", re.MULTILINE | re.DOTALL)


def rates(output):
    """TFLOP/s by N."""
    best = {}
    for n, gflops, below in ROW.findall(pathlib.Path(output).read_text()):
        if "FAILED" not in below and "Error code returned by solve" not in below:
            best[int(n)] = max(best.get(int(n), 0), float(gflops) / 1e3)
    if not best:
        sys.exit(f"plot_hpl.py: {output} has no line of HPL's table for a right solution")
    return sorted(best.items())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", metavar="NAME=OUTPUT")
    parser.add_argument("--picture", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    curves = []
    for run in arguments.runs:
        name, separator, output = run.partition("=")
        if not separator:
            parser.error(f"'{run}' must be NAME=OUTPUT")
        curves.append((name, rates(output)))
    arguments.picture.write_text(line_chart("HPL: rate over N", "N", "TFLOP/s", curves))


main()
