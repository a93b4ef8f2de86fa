#!/usr/bin/python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of Bogdanov and Efremov: edges split evenly, inverses of whole tiles, DTRSM and HPL on three cards with
two GPUs each, in simulated time; inverses on this machine's processor, and edges on its GPU. See bogdanov.md."""

import triangle_inverses
from shared import Paper

paper = Paper("bogdanov", __doc__)

PLATFORM = "hd-6990"
KERNEL = 0.402  # TFLOP/s of DGEMM on a GPU of hd-6990.json
STEP = 64
EDGES = ("ragged", "even")


def largest_drop(rate):
    """The largest slowdown of a size compared with the next smaller one, and this size."""
    sizes = sorted(rate)
    return max((1 - rate[n] / rate[before], n) for before, n in zip(sizes, sizes[1:]))


def describe(rate):
    drop, n = largest_drop(rate)
    return [f"{sum(rate.values()) / len(rate):.3f}", f"{100 * drop:.1f} %", n]


def edge_rows(label, curves):
    return [[*label, edges] + describe(curves[edges]) for edges in EDGES]


EDGE_HEAD = ["edges", "mean TFLOP/s", "largest drop", "at n ="]


def simulated_edges():
    """Rate of DGEMM over n in steps of 64, over three heights of a tile, with both kinds of edges."""
    rows = []
    for gpus, tile, first in ((1, 2048, 2), (6, 1024, 6), (6, None, 6)):
        height = tile or 1024
        few = range(first * height + height - STEP, first * height + height + 3 * STEP, STEP)
        sizes = list(paper.sizes(few, *[range(first * height, (first + 3) * height + 1, STEP)] * 2))
        fixed = {"tile": tile} if tile else {}
        curves = {edges: {r["n"]: r["tflops"] for r in paper.simulate(
            PLATFORM, {"TESSERA_TILE_EDGES": edges}, routine="gemm", size=sizes, gpus=gpus, **fixed)} for edges in EDGES}
        rows += edge_rows([gpus, tile or "chosen", f"{sizes[0]} to {sizes[-1]}"], curves)
        if not paper.quick:
            what = f"tiles of {tile}" if tile else "chosen tiles"
            paper.chart(f"edges-{gpus}-{tile or 'chosen'}", f"DGEMM, {gpus} GPU{'s' if gpus > 1 else ''}, {what} (simulated)",
                        "n", "TFLOP/s", [(edges, sorted(curves[edges].items())) for edges in EDGES],
                        markers=False, from_zero=False)
    paper.table("edges", f"DGEMM on {PLATFORM} over n in steps of {STEP} (simulated)",
                ["GPUs", "tile", "n"] + EDGE_HEAD, rows)


def measured_edges():
    """The same on one GPU of this machine."""
    rows = []
    for tile in (1024, 2048):
        sizes = list(paper.sizes(range(3 * tile, 3 * tile + 3 * STEP, STEP), range(2 * tile, 3 * tile + 1, STEP),
                                 range(2 * tile, 5 * tile + 1, STEP)))
        curves = {}
        for edges in EDGES:
            found = paper.measure({"TESSERA_TILE_EDGES": edges}, routine="gemm", size=sizes, gpus=1, tile=tile, repeat=5)
            curves[edges] = {r["n"]: r["tflops"] for r in found}
        rows += edge_rows([tile, f"{sizes[0]} to {sizes[-1]}"], curves)
        if not paper.quick:
            paper.chart(f"edges-run-{tile}", f"DGEMM, one GPU of this machine, tiles of {tile} (run)", "n", "TFLOP/s",
                        [(edges, sorted(curves[edges].items())) for edges in EDGES], markers=False, from_zero=False)
    paper.table("edges-run", f"DGEMM on one GPU of this machine over n in steps of {STEP} (run)",
                ["tile", "n"] + EDGE_HEAD, rows)


def inverses():
    """Solves with one tile by inverses of blocks of its diagonal, up to the whole tile."""
    order, columns = paper.sizes((256, 32), (2048, 256), (4096, 512))
    head, rows = triangle_inverses.accuracy(order, columns=32)
    paper.table("inverse-accuracy", f"Largest residual, tile of order {order}, single precision (run, on the processor)",
                head, rows)
    head, rows = triangle_inverses.times(order, columns)
    paper.table("inverse-time", f"A tile of order {order}, {columns} right-hand sides, double precision, one core [ms] (run)",
                head, rows)


def solves():
    """DTRSM compared with DGEMM."""
    sizes = paper.sizes([4096], [4096, 8192, 12288, 16384, 24576, 32768, 49152],
                        [4096 * i for i in range(1, 15)])
    rate = {(r["routine"], r["n"]): r["tflops"]
            for r in paper.simulate(PLATFORM, routine=["gemm", "trsm"], size=sizes, gpus=6)}
    paper.table("solves", "DGEMM and DTRSM on six GPUs, chosen tiles, TFLOP/s and share of the kernel's rate (simulated)",
                ["n", "dgemm", "dtrsm", "dtrsm / dgemm"],
                [[n] + [f"{rate[r, n]:.3f}, {100 * rate[r, n] / 6 / KERNEL:.0f} %" for r in ("gemm", "trsm")] +
                 [f"{100 * rate['trsm', n] / rate['gemm', n]:.0f} %"] for n in sizes])


def hpl():
    """HPL's rate, with the factorization without and with pivoting. The solve is left out: n² of n³ operations. With
    pivoting, the cores factorize the panels."""
    sizes = paper.sizes([4096], [8192, 16384, 32768, 49152, 81920], [8192 * i for i in range(1, 11)])
    gpus = paper.sizes([6], [1, 2, 4, 6], [1, 2, 3, 4, 5, 6])
    head = ["n"] + [f"{g} GPU{'s' if g > 1 else ''}" for g in gpus]
    what = "[TFLOP/s], and share of the kernel's rate"

    def rates(routine, cpus, **options):
        """The text of a cell by order and number of GPUs."""
        cells = {}
        for r in paper.simulate(PLATFORM, routine=routine, cpus=cpus, **options):
            rate = 1e-12 * (2 * r["n"] ** 3 / 3 + 1.5 * r["n"] ** 2) / r["median_s"]
            cells[r["n"], r["gpus"]] = f"{rate:.3f}, {100 * rate / r['gpus'] / KERNEL:.0f} %"
        return cells

    def by_gpus(name, title, cells):
        paper.table(name, title, head, [[n] + [cells[n, g] for g in gpus] for n in sizes])

    by_gpus("getrf-chosen", f"HPL's rate with pivoting {what}, panels chosen by the library (simulated)",
            rates("getrf", 1, size=sizes, gpus=gpus))
    widths, some = paper.sizes([512], [256, 512, 1024], [256, 512, 1024]), sizes[:4]
    fixed = {width: rates("getrf", 1, size=some, gpus=6, tile=width) for width in widths}
    paper.table("getrf-widths", f"HPL's rate with pivoting {what}, by the width of panels, six GPUs (simulated)",
                ["n", *map(str, widths)], [[n] + [fixed[width][n, 6] for width in widths] for n in some])
    for tile in paper.sizes([None], [None, 2048], [None, 512, 1024, 2048, 4096]):
        by_gpus(f"getrf_nopiv-{tile or 'chosen'}",
                f"HPL's rate without pivoting {what}, {f'tiles of {tile}' if tile else 'tiles chosen by the library'} (simulated)",
                rates("getrf_nopiv", 0, size=sizes, gpus=gpus, **({"tile": tile} if tile else {})))


paper.do((simulated_edges, inverses, solves, hpl), (measured_edges,))
