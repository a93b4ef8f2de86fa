#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the measurements of traces/campaign.sh and prints them as a table for traces/h200.md.

usage: traces/plot_campaign.py FOLDER... --pictures DIR

FOLDER is the output of campaign.sh, one per machine. DIR/ROUTINE.png plots TFLOP/s over n for Tessera, for cuBLAS-XT and for
the limit of all resources at once, all on the same number of GPUs. With several machines, points are medians, and bars
show the range.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402


NAME = re.compile(r"(pinned|pageable|out-of-core)-\d+-\d+\.json")  # names given by campaign.sh


def read(folders):
    """All measurements. 'series' is the first part of the file's name."""
    rows = []
    for folder in folders:
        files = sorted(f for f in folder.glob("*.json") if NAME.fullmatch(f.name))
        if not files:
            sys.exit(f"plot_campaign.py: {folder} has no pinned-GPUS-N.json: it is not an output of campaign.sh")
        for file in files:
            for line in file.read_text().splitlines():
                rows.append({**json.loads(line), "series": file.stem.rsplit("-", 2)[0]})
    return rows


def tflops_of_limit(row):
    return row["tflops"] * row["median_s"] / row["limit_at_once_s"]


def curve(rows, value):
    """Maps n to (median, minimum, maximum)."""
    by_size = {}
    for row in rows:
        by_size.setdefault(row["n"], []).append(value(row))
    return {n: (statistics.median(v), min(v), max(v)) for n, v in sorted(by_size.items())}


def draw(axes, points, label, **style):
    if not points:
        return
    n = list(points)
    middle = [p[0] for p in points.values()]
    spread = [[p[0] - p[1] for p in points.values()], [p[2] - p[0] for p in points.values()]]
    axes.errorbar(n, middle, yerr=spread, label=label, capsize=3, **style)


def picture(rows, routine, gpus, folder):
    chosen = [r for r in rows if r["routine"] == routine and r["gpus"] == gpus and r["series"] == "pinned"]
    ours = [r for r in chosen if r["library"] == "tessera"]
    figure, axes = plt.subplots(figsize=(6, 4), dpi=100)
    draw(axes, curve(ours, tflops_of_limit), "limit, all at once", color="0.6", linestyle="--")
    draw(axes, curve(ours, lambda r: r["tflops"]), "Tessera", color="C0", marker="o")
    xt = [r for r in chosen if r["library"] == "cublasxt"]
    draw(axes, curve(xt, lambda r: r["tflops"]), "cuBLAS-XT", color="C1", marker="s")
    if routine == "gemm":
        for series, label, style in (("pageable", "pageable memory", ":"), ("out-of-core", "a quarter of the memory", "-.")):
            part = [r for r in rows if (r["series"], r["routine"], r["gpus"]) == (series, "gemm", gpus)]
            draw(axes, curve(part, lambda r: r["tflops"]), label, color="C0", linestyle=style, marker=".")
    sizes = sorted({r["n"] for r in chosen})
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.set_ylim(bottom=0)
    axes.set_xlabel("n")
    axes.set_ylabel("TFLOP/s")
    axes.set_title(f"d{routine}, {gpus} GPU{'s' if gpus > 1 else ''}, pinned memory")
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(folder / f"{routine}.png", metadata={"Software": None})
    plt.close(figure)


def table(rows):
    print("| | GPUs | n | TFLOP/s | of the limit | at once | cuBLAS-XT | bytes in / minimum | first call / later calls | error / bound |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    keys = sorted({(r["series"], r["routine"], r["gpus"], r["n"]) for r in rows if r["library"] == "tessera"})
    for series, routine, gpus, n in keys:
        same = [r for r in rows if (r["routine"], r["gpus"], r["n"], r["series"]) == (routine, gpus, n, series)]
        ours = [r for r in same if r["library"] == "tessera"]
        xt = [r["tflops"] for r in same if r["library"] == "cublasxt"]

        def middle(value):
            return statistics.median(value(r) for r in ours)

        def share(limit):
            known = [r[limit] for r in ours if r[limit] is not None]
            return f"{100 * statistics.median(known):.0f} %" if known else "doubtful"

        def excess():
            known = [r["bytes_h2d"] / r["bytes_min_h2d"] for r in ours if r["bytes_min_h2d"]]
            return f"{statistics.median(known):.3g}" if known else "-"  # cores computed a part, or nothing was copied

        errors = [r["error"] / r["bound"] for r in ours if r["error"] is not None]
        print(
            f"| d{routine}{'' if series == 'pinned' else ', ' + series} | {gpus} | {n} "
            f"| {middle(lambda r: r['tflops']):.3g} | {share('fraction_of_limit')} | {share('fraction_of_limit_at_once')} "
            f"| {format(statistics.median(xt), '.3g') if xt else '-'} "
            f"| {excess()} "
            f"| {middle(lambda r: r['first_s'] / r['median_s']):.2f} "
            f"| {format(max(errors), '.1g') if errors else 'not checked'} |"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", nargs="+", type=pathlib.Path)
    parser.add_argument("--pictures", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    rows = read(arguments.folder)
    arguments.pictures.mkdir(parents=True, exist_ok=True)
    gpus = max(r["gpus"] for r in rows)
    for routine in sorted({r["routine"] for r in rows}):
        picture(rows, routine, gpus, arguments.pictures)
    table(rows)


if __name__ == "__main__":
    main()
