#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of Hérault et al. (2019) with a single process, in simulated time: DGEMM of order 70,000 on one to
six V100 of a Summit node. See herault.md."""

import json
import math
import pathlib
import tempfile

from shared import Paper, per_gpu

paper = Paper("herault", __doc__)

PEAK = 7.2  # TFLOP/s of DGEMM on a V100, the paper's
MEMORY = 16.9e9  # bytes of a V100 in summit-node.json
USED = 0.9  # the part of it that Tessera uses


def order(tile):
    return tile * math.ceil(70000 / tile)


def model(tile, gpus):
    """The paper's number of tiles that all GPUs load, for one process: the case, its name, and (A, B, C) tiles."""
    nt, room = order(tile) // tile, USED * MEMORY / (8 * tile * tile)
    block = nt if nt * nt / gpus <= 0.75 * room else math.isqrt(int(0.75 * room * gpus))
    passes = math.ceil(nt / block)  # X and Y
    inner = block * block / gpus

    def loads(a, b):
        return a * nt * nt * gpus, b * nt * nt, nt * nt

    if nt * nt + nt * nt / gpus + inner <= room:
        return "a", loads(1, 1)
    if block + block * nt / gpus + inner <= room:
        return "b", loads(passes, 1)
    return "c", loads(passes, passes)


def simulated():
    """Rows by tile and number of GPUs. Small tiles mean many tasks, so they are simulated for fewer numbers of GPUs."""
    plan = paper.sizes({4096: [6]},
                       {1024: [1, 3, 6], 1536: range(1, 7), 2048: range(1, 7), 3072: range(1, 7), 4096: range(1, 7)},
                       {t: range(1, 7) for t in (1024, 1280, 1536, 2048, 3072, 4096)})
    rows = {}
    for tile, gpus in plan.items():
        for row in paper.simulate("summit-node", routine="gemm", size=order(tile), tile=tile, gpus=list(gpus)):
            rows[tile, row["gpus"]] = row
    return rows


def at_plateau():
    """Tiles of 1024 with kernels that are as fast as those of 4096, and 10 µs for a task: the paper's plateau."""
    machine = json.loads((pathlib.Path(__file__).resolve().parent.parent / "platforms/summit-node.json").read_text())
    kind = machine["kinds"]["Tesla V100"]
    kind["task_overhead_us"] = 10
    kind["kernels_ms"]["gemm"] = [[n, 2e-9 * n**3 / PEAK] for n in (1024, 2048, 4096)]
    tile = 4096 if paper.quick else 1024
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "summit-node-at-plateau.json"
        file.write_text(json.dumps(machine))
        found = paper.simulate(file, routine="gemm", size=order(tile), tile=tile, gpus=[6] if paper.quick else [3, 6])
    paper.table("plateau", "DGEMM with kernels at 7.2 TFLOP/s from tiles of 1024 on, and 10 µs for a task (simulated)",
                ["tile", "GPUs", "TFLOP/s by GPU", "of 7.2 TFLOP/s"],
                [[tile, r["gpus"], f"{r['tflops'] / r['gpus']:.2f}", f"{100 * r['tflops'] / r['gpus'] / PEAK:.1f} %"]
                 for r in found])


def rates_and_loads():
    rows = simulated()
    tiles = sorted({t for t, _ in rows})

    paper.table(
        "rate", "DGEMM, TFLOP/s by GPU, and share of 7.2 TFLOP/s (simulated)",
        ["tile", "N"] + [f"{g} GPU{'s' if g > 1 else ''}" for g in range(1, 7)],
        [[t, order(t)] + [f"{rows[t, g]['tflops'] / g:.2f}, {100 * rows[t, g]['tflops'] / g / PEAK:.1f} %" if (t, g) in rows
                          else "–" for g in range(1, 7)] for t in tiles])
    if not paper.quick:
        paper.chart("rate", "DGEMM of order 70,000 on a Summit node (simulated)", "tile", "% of 7.2 TFLOP/s",
                    [(f"{g} GPU{'s' if g > 1 else ''}",
                      [(t, 100 * rows[t, g]["tflops"] / g / PEAK) for t in tiles if (t, g) in rows]) for g in range(1, 7)] +
                    [(f"~paper, {who}: {share}", [(tiles[0], share), (tiles[-1], share)])
                     for who, share in (("1 to 3", 95), ("4 to 6", 85))], from_zero=False)

    table = []
    for (t, g), row in sorted(rows.items()):
        case, loads = model(t, g)
        size = 8 * t * t
        host, peers = row["bytes_h2d"] / size, row["bytes_d2d"] / size
        table.append([t, g, f"({case})", f"{sum(loads):.0f}", f"{host + peers:.0f}", f"{(host + peers) / sum(loads):.2f}",
                      f"{host:.0f}", f"{100 * peers / (host + peers):.0f} %", f"{row['bytes_h2d'] / row['bytes_min_h2d']:.2f}"])
    paper.table("loads", "Tiles that the GPUs load, against the paper's model (simulated)",
                ["tile", "GPUs", "case", "model [tiles]", "ours [tiles]", "ours / model", "ours, from the host [tiles]",
                 "ours, share from peers", "from the host / least"], table)

    busy = [[t, g, " ".join(f"{100 * b / row['median_s']:.1f}" for b in per_gpu(row, "busy"))] for (t, g), row in sorted(rows.items())]
    paper.table("busy", "Share of the time that each GPU computes [%] (simulated)", ["tile", "GPUs", "GPU 0, 1, …"], busy)


paper.do((rates_and_loads, at_plateau))
