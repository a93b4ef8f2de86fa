#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The experiments of Wu and JaJa (2016): DGEMM from pageable memory, larger than the GPUs, in simulated time, and on the
GPUs of this machine if --bench names tessera-bench. See wu-jaja.md."""

from shared import Paper

paper = Paper("wu-jaja", __doc__)

NATIVE = {"sandy-kepler": 1053, "nehalem-tesla": 75.3}  # GFLOP/s of DGEMM in core on one GPU, the paper's
LINK = {"sandy-kepler": 5.7, "nehalem-tesla": 5.3}  # GB/s, the slower direction, in which the paper's unit is 2^30
K = 1024

sizes = paper.sizes([10], [1, 2, 4, 6, 8, 12, 16, 24, 36, 52], range(1, 53))  # thousands of 1024


def row_of(platform, **options):
    return {(row["m"] // 1024, row["gpus"], row["memory"]): row for memory in ("pinned", "pageable")
            for row in paper.simulate(platform, gpus=[1, 2], memory=memory, **options)}


def cells(row, platform):
    gflops, native = 1e3 * row["tflops"], NATIVE[platform] * row["gpus"]
    return f"{rounded(gflops)}, {100 * gflops / native:.1f} %"


def rounded(gflops):
    return f"{gflops:.0f}" if gflops > 200 else f"{gflops:.1f}"


def measured_rate(part, title, platform, rows):
    head = ["N"] + [f"{g} GPU{'s' if g > 1 else ''}, {memory}" for g in (1, 2) for memory in ("pageable", "pinned")]
    table = [[f"{n}K"] + [cells(rows[n, g, memory], platform) for g in (1, 2) for memory in ("pageable", "pinned")]
             for n in sizes]
    paper.table(part, title, head, table)
    if not paper.quick:
        paper.chart(part, title.split(":")[0] + " (simulated)", "N / 1024", "GFLOP/s",
                    [(f"{g} GPU{'s' if g > 1 else ''}, {memory}", [(n, 1e3 * rows[n, g, memory]["tflops"]) for n in sizes])
                     for g in (1, 2) for memory in ("pageable", "pinned")] +
                    [(f"~native, {g}", [(0, g * NATIVE[platform]), (max(sizes), g * NATIVE[platform])]) for g in (1, 2)])


def first_above(rows, gpus, share, platform):
    reached = [n for n in sizes if 1e3 * rows[n, gpus, "pageable"]["tflops"] >= share * gpus * NATIVE[platform]]
    return f"{reached[0]}K" if reached else "not reached"


def curves():
    summary = []
    for platform, name in (("sandy-kepler", "Sandy-Kepler"), ("nehalem-tesla", "Nehalem-Tesla")):
        cubes = row_of(platform, size=[1024 * n for n in sizes])
        flat = {}
        for n in sizes:
            flat |= row_of(platform, m=1024 * n, n=1024 * n, k=K)
        measured_rate(f"{platform}-cubes", f"DGEMM on {name}, M = N = K: GFLOP/s, and share of the native rate (simulated)",
                      platform, cubes)
        measured_rate(f"{platform}-flat", f"DGEMM on {name}, M = N, K = 1024: GFLOP/s, and share of the native rate (simulated)",
                      platform, flat)
        for gpus in (1, 2):
            for what, rows in (("M = N = K", cubes), ("K = 1024", flat)):
                best = max(1e3 * rows[n, gpus, "pageable"]["tflops"] for n in sizes)
                summary.append([name, gpus, what, f"{NATIVE[platform] * gpus:g}", rounded(best),
                                first_above(rows, gpus, 0.9, platform), first_above(rows, gpus, 0.95, platform)])
    paper.table("summary", "Where the native rate is reached, from pageable memory [GFLOP/s] (simulated)",
                ["machine", "GPUs", "", "native", "largest", "90 % from N =", "95 % from N ="], summary)


def bounds():
    bound = []
    for platform, name in (("sandy-kepler", "Sandy-Kepler"), ("nehalem-tesla", "Nehalem-Tesla")):
        least = 4 * 1e9 * NATIVE[platform] / (LINK[platform] * 2 ** 30)
        bound.append([name, f"1/{least:.0f}", f"{3 * least:.0f}", "yes" if 1 / K < 1 / least else "no"])
    paper.table("bound", "The bound of 1/m + 1/n + 1/k", ["machine", "bound", "smallest cube", "K = 1024 is large enough"], bound)


def on_a_gpu():
    """The curves from malloc'ed memory on one GPU of this machine, as a share of the in-core rate."""
    orders = paper.sizes([8], [1, 2, 4, 8, 16, 24, 32], [1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32])
    for part, what, depth in (("run-cubes", "M = N = K", ""), ("run-flat", "M = N, K = 1024", f"x{K}")):
        sizes = [f"{1024 * n}x{1024 * n}{depth or f'x{1024 * n}'}" for n in orders]
        runs = {memory: {row["m"]: row for row in paper.measure({}, gpus=1, memory=memory, repeat=3, size=sizes)}
                for memory in ("pageable", "pinned")}
        table = []
        for m in sorted(runs["pinned"]):
            arithmetic = runs["pinned"][m]["limit_parts_s"]["arithmetic"]  # of the call at the in-core rate
            table.append([m] + [f"{runs[memory][m]['tflops']:.1f}, {100 * arithmetic / runs[memory][m]['median_s']:.0f} %"
                                for memory in ("pageable", "pinned")])
        paper.table(part, f"DGEMM on one GPU of this machine, {what}: TFLOP/s, and share of the in-core rate (run)",
                    ["N", "from malloc'ed memory", "pinned"], table)


paper.do((curves, bounds), [on_a_gpu])
