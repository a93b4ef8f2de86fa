#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The experiment of Itu et al.: SGEMM of order 2048 in n slices of A and B on a GTX 260, in simulated time, and on a GPU
of this machine if --bench names tessera-bench. See itu.md."""

from shared import Paper

paper = Paper("itu", __doc__)

N = 2048
FLOPS = 2 * N ** 3
# By number of slices, ms: total, kernels, copies, hidden copies
THEIRS = {1: (94.32, 80.97, 13.35, None), 2: (92.62, 88.03, 8.97, 4.38), 4: (91.28, 88.95, 8.96, 6.63)}
LINK = 5.61e9  # bytes/s of gtx-260.json


def parts(row):
    """Total, kernels, copies, hidden [ms], and GFLOPS."""
    total, kernels = 1e3 * row["median_s"], 1e3 * row["per_gpu"][0]["busy"]
    copies = 1e3 * (row["bytes_h2d"] + row["bytes_d2h"]) / LINK
    return [f"{total:.2f}", f"{kernels:.2f}", f"{copies:.2f}", f"{max(0.0, kernels + copies - total):.2f}", f"{FLOPS / total * 1e-6:.0f}"]


def on_gtx_260():
    common = {"type": "s", "size": N, "beta": 0}
    table = []
    for slices in paper.sizes([2], [1, 2, 4, 8], [1, 2, 4, 8, 16]):
        row = paper.simulate("gtx-260", slices=slices, **common)[0]
        ours = parts(row)
        if slices in THEIRS:
            total, kernels, copies, hidden = THEIRS[slices]
            theirs = [f"{total:.2f}", f"{kernels:.2f}", f"{copies:.2f}", "–" if hidden is None else f"{hidden:.2f}",
                      f"{FLOPS / total * 1e-6:.0f}"]
            apart = f"{100 * (1e3 * row['median_s'] / total - 1):+.1f} %"
        else:
            theirs, apart = ["–"] * 5, "–"
        table.append([f"{slices} slices" if slices > 1 else "1 slice"] + [f"{a} / {b}" for a, b in zip(ours, theirs)] + [apart])
    own = paper.simulate("gtx-260", **common)[0]
    table.append([f"Tessera's tiles, {own['tile']} × {own['tile_n']}, k = {own['tile_k']}"] + parts(own) + ["–"])
    paper.table("slices", "SGEMM 2048 on a GTX 260 [ms]: simulated / paper",
                ["", "total", "kernels", "copies", "hidden copies", "real GFLOPS", "total against the paper's"], table)


def on_a_gpu():
    rows = paper.measure({}, slices=[1, 2, 4, 8], type="s", repeat=5,
                         size=paper.sizes([2048], [2048, 16384], [2048, 4096, 8192, 16384]))

    def milliseconds(seconds):
        return "–" if seconds is None else f"{1e3 * seconds:.2f}"

    paper.table("run", "SGEMM on a GPU of this machine [ms] (run)",
                ["N", "slices", "total", "kernels", "copies", "hidden copies", "real GFLOPS"],
                [[row["m"], row["slices"] or "Tessera"] +
                 [milliseconds(row[part]) for part in ("total_s", "kernels_s", "copies_s")] +
                 [milliseconds(None if row["kernels_s"] is None else row["kernels_s"] + row["copies_s"] - row["total_s"]),
                  f"{row['gflops']:.0f}"] for row in rows])


paper.do([on_gtx_260], [on_a_gpu])
