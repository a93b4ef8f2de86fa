#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The tables and figures of BLASX (Wang et al., 2016), in simulated time; Figure 5 also on a GPU. See blasx.md."""

import collections
import csv
import json
import pathlib
import tempfile

from shared import MEGABYTE, Paper, per_gpu

paper = Paper("blasx", __doc__)

ROUTINES = ["gemm"] if paper.quick else ["gemm", "symm", "trmm", "trsm", "syr2k", "syrk"]
N = 16384
IN_CORE = 1.2  # TFLOP/s of a K40c in everest.json
PEAK = 1.43  # TFLOP/s, the paper's peak of a K40c

# The paper's Table III: mean parallel efficiency of BLASX, and of the best other library [%].
EFFICIENCY = {
    "gemm": (93.53, "PaRSEC 92.85"),
    "symm": (90.36, "XT 57.96"),
    "trmm": (88.99, "XT 82.11"),
    "trsm": (81.58, "MAGMA 77.3"),
    "syr2k": (85.54, "MAGMA 79.58"),
    "syrk": (85.54, "XT 64.21"),
}
# The paper's Table V: megabytes from and to the host, and from and to a peer, of GPU 1 to 3.
BLASX_HOST = {
    "gemm": (6895, 4768, 4462),
    "symm": (5628, 5318, 3758),
    "trmm": (4966, 4353, 2365),
    "trsm": (2751, 4622, 2575),
    "syr2k": (7281, 5905, 2969),
    "syrk": (4278, 3410, 2536),
}
BLASX_PEER = {
    "gemm": (0, 1811, 721),
    "symm": (0, 1249, 343),
    "trmm": (0, 1694, 327),
    "trsm": (0, 981, 300),
    "syr2k": (0, 2231, 1308),
    "syrk": (0, 1363, 1213),
}
OTHERS_HOST = {
    "gemm": "XT 73014, PaRSEC 20883",
    "symm": "XT 55832",
    "trmm": "XT 19827",
    "trsm": "XT 38653, MAGMA 19485",
    "syr2k": "XT 47720, MAGMA 17178",
    "syrk": "XT 36640",
}
# The paper's Table I: share of GEMM tasks [%] at N = 5K, 10K, 20K.
GEMM_SHARE = {
    "syrk": (74.5, 86.3, 92.8),
    "trsm": (68.5, 80.4, 89),
    "trmm": (69, 81.5, 92.8),
    "syr2k": (74.4, 85.4, 92.9),
    "symm": (71.7, 84.9, 92.1),
}


def table_1():
    orders = [5120, 10240, 20480][: 1 if paper.quick else 3]
    rows = []
    for routine in ["syrk"] if paper.quick else GEMM_SHARE:
        shares = []
        for n in orders:
            with tempfile.TemporaryDirectory() as folder:
                paper.simulate("everest", routine=routine, size=n, tile=1024, trace=folder)
                tasks = collections.Counter()
                with open(pathlib.Path(folder) / "tasks.csv", newline="") as file:
                    tasks.update(task["routine"] for task in csv.DictReader(file))
            # Tessera's own tasks are left out, as additions of the parts of a divided sum.
            shares.append(100 * tasks["gemm"] / (tasks["gemm"] + tasks[routine]))
        rows.append(["d" + routine] + [f"{s:.1f} / {GEMM_SHARE[routine][i]}" for i, s in enumerate(shares)])
    paper.table("table1", "Table I: share of GEMM tasks, ours / BLASX [%] (simulated)",
                [""] + [f"N = {n}" for n in orders], rows)


def mean_of_39(by_size):
    """The mean over N = 1024, 2048, …, 39936, with linear interpolation between the sizes that were simulated."""
    sizes = sorted(by_size)
    total = 0
    for n in range(1024, 39936 + 1, 1024):
        below, above = max(s for s in sizes if s <= n), min(s for s in sizes if s >= n)
        part = (n - below) / (above - below) if above > below else 0
        total += (1 - part) * by_size[below] + part * by_size[above]
    return total / 39


class Curve:
    """Rates of all routines on one and three GPUs over N."""

    def __init__(self, platform, sizes, **more):
        self.rate = {(r["routine"], r["gpus"], r["n"]): r["tflops"]
                     for r in paper.simulate(platform, routine=ROUTINES, size=sizes, gpus=[3, 1], **more)}
        self.sizes = sizes

    def mean(self, value):
        values = {n: value(n) for n in self.sizes}
        return sum(values.values()) / len(values) if paper.quick else mean_of_39(values)

    def efficiency(self, routine):
        return 100 * self.mean(lambda n: self.rate[routine, 3, n] / self.rate[routine, 1, n] / 3)

    def of_in_core(self, routine, gpus, in_core):
        return 100 * self.mean(lambda n: self.rate[routine, gpus, n] / gpus / in_core)


def table_3_and_figure_7():
    sizes = paper.sizes([4096], [1024 * i for i in (1, 2, 3, 4, 6, 9, 14, 21, 30, 39)],
                        list(range(1024, 39936 + 1, 1024)))
    tiles = Curve("everest", sizes, tile=1024)
    chosen = Curve("everest", sizes)
    with tempfile.TemporaryDirectory() as folder:
        fast = pathlib.Path(folder) / "everest-at-peak.json"
        platforms = pathlib.Path(__file__).resolve().parent.parent / "platforms"
        machine = json.loads((platforms / "everest.json").read_text())
        for curve in machine["kinds"]["Tesla K40c"]["kernels_ms"].values():
            for point in curve:
                point[1] *= IN_CORE / PEAK
        fast.write_text(json.dumps(machine))
        at_peak = Curve(fast, sizes, tile=1024)

    over = "N = 4096 alone" if paper.quick else "39 sizes" if paper.full else "39 sizes, interpolated between 10"
    paper.table(
        "table3", f"Table III: mean of T₁/(3 T₃) over {over} [%] (simulated)",
        ["", "BLASX", "best other", "ours, tiles of 1024", "ours, chosen tiles", "tiles of 1024, kernels at 1.43 TFLOP/s"],
        [[f"d{r}", *EFFICIENCY[r], *(f"{c.efficiency(r):.2f}" for c in (tiles, chosen, at_peak))] for r in ROUTINES])
    paper.table(
        "in-core", f"Mean share of the in-core DGEMM rate over {over} [%] (simulated)",
        ["", "BLASX, one GPU", "one GPU, tiles of 1024", "one GPU, chosen tiles", "three GPUs, tiles of 1024",
         "three GPUs, chosen tiles"],
        [[f"d{r}", "92.68" if r == "gemm" else "–",
          *(f"{c.of_in_core(r, gpus, IN_CORE):.2f}" for gpus in (1, 3) for c in (tiles, chosen))] for r in ROUTINES])
    paper.table(
        "figure7", "Figure 7: TFLOP/s on three GPUs over N, tiles of 1024 / chosen tiles (simulated)",
        ["N"] + [f"d{r}" for r in ROUTINES],
        [[n] + [f"{tiles.rate[r, 3, n]:.3f} / {chosen.rate[r, 3, n]:.3f}" for r in ROUTINES] for n in sizes])
    paper.chart("figure7", "Three K40c, chosen tiles (simulated)", "N", "TFLOP/s",
                [(f"d{r}", [(n, chosen.rate[r, 3, n]) for n in sizes]) for r in ROUTINES] +
                [("~in core", [(sizes[0], 3 * IN_CORE), (sizes[-1], 3 * IN_CORE)])])


def speed_up():
    rate = {r["gpus"]: r["tflops"] for r in paper.simulate("everest", routine="syr2k", size=N, gpus=[1, 2, 3], tile=1024)}
    paper.table("speed-up", f"DSYR2K of order {N}: speed-up on 2 and 3 GPUs (simulated)",
                ["", "ours", "BLASX", "MAGMA", "XT"],
                [[gpus, f"{rate[gpus] / rate[1]:.2f}", *others]
                 for gpus, others in ((2, ("1.99", "1.91", "1.83")), (3, ("2.91", "2.88", "2.16")))])


def host_bytes(row):
    """Bytes of each GPU over its host link, both ways, and over the peer link between GPU 1 and 2.

    A copy between GPU 0 and another GPU goes through the host, so it counts on both host links.
    """
    host, peer = [0] * 3, [0] * 3
    for link in row["links"]:
        ends = {link["from"], link["to"]}
        if ends == {1, 2}:
            peer[link["to"]] += link["bytes"]
        else:
            for gpu in ends - {-1}:
                host[gpu] += link["bytes"]
    return host, peer


def table_5():
    rows = []
    for row in paper.simulate("everest", routine=ROUTINES, size=N, tile=1024):
        routine, (host, peer) = row["routine"], host_bytes(row)
        theirs = sum(BLASX_HOST[routine])

        def by_gpu(values):
            return " + ".join(f"{v / MEGABYTE:.0f}" for v in values)

        rows.append([f"d{routine}", by_gpu(host), f"{sum(host) / MEGABYTE:.0f}", theirs,
                     f"{sum(host) / MEGABYTE / theirs:.2f}", OTHERS_HOST[routine], f"{sum(peer) / MEGABYTE:.0f}",
                     sum(BLASX_PEER[routine])])
    paper.table(
        "table5", f"Table V: megabytes (10⁶) at N = {N}, host links both ways, and between GPUs (simulated)",
        ["", "host, ours by GPU", "host, ours", "host, BLASX", "ours / BLASX", "host, others", "peer, ours", "peer, BLASX"],
        rows)


def figure_5():
    """A run: one GPU, with the heap and with cudaMalloc for each tile; in core, and with a quarter of the memory."""
    rows = []
    for n in paper.sizes([8192], [4096, 8192, 16384], [4096, 6144, 8192, 12288, 16384, 24576, 32768]):
        for part, limit in (("all", {}), ("a quarter", {"TESSERA_GPU_MEMORY": str(3 * n * n * 8 // 4 >> 20)})):
            results = [paper.measure({"TESSERA_GPU_HEAP": heap, **limit}, routine="gemm", size=n, gpus=1) for heap in "10"]
            if results[0] is None:
                print("\nFigure 5 is left out: it needs a GPU, and TESSERA_BENCH, which names the program tessera-bench.")
                return
            heap, driver = (r[0] for r in results)
            rows.append([n, part, *(f"{r[time]:.4f}" for time in ("first_s", "median_s") for r in (heap, driver)),
                         f"{driver['median_s'] / heap['median_s']:.2f}"])
    paper.table("figure5", "Figure 5: DGEMM on one GPU, heap and cudaMalloc [s] (measured)",
                ["N", "operands that fit", "first call, heap", "first call, cudaMalloc", "later calls, heap",
                 "later calls, cudaMalloc", "cudaMalloc / heap"], rows)


def figure_8():
    row = paper.simulate("everest", routine="gemm", size=N, tile=1024)[0]
    ends, busy = per_gpu(row, "last_end"), per_gpu(row, "busy")
    seconds = row["median_s"]
    paper.table(
        "figure8", f"Figure 8: DGEMM of order {N} on three GPUs [s] (simulated)",
        ["GPU", "computing", "waiting before its last task ends", "after its last task"],
        [[gpu, f"{busy[gpu]:.4f}", f"{ends[gpu] - busy[gpu]:.4f}", f"{seconds - ends[gpu]:.4f}"] for gpu in range(3)])
    paper.table(
        "figure8-summary", "Figure 8: what is lost [s] (simulated)", ["", "ours", "BLASX", "XT"],
        [["between the ends of the first and the last GPU", f"{max(ends) - min(ends):.4f}", "0.0391", "0.2961"],
         ["not computing, mean of the GPUs", f"{seconds - sum(busy) / 3:.4f}", "0.0575", "0.4917"]])


def figure_9():
    """What CPU workers add to the four GPUs of makalu."""
    cores = paper.sizes([8], [1, 2, 4, 6, 8, 10, 12], list(range(1, 13)))
    rows, curves = [], []
    for placement in ["scheduler"] if paper.quick else ["home", "scheduler"]:
        def run(cpus):
            return paper.simulate("makalu", routine="gemm", size=N, tile=1024, cpus=cpus, placement=placement)[0]

        without = run(0)
        points = [(0, 0)]
        for cpus in cores:
            row = run(cpus)
            added = row["tflops"] - without["tflops"]
            work = 1 - share_of_gpus(row) / share_of_gpus(without)
            rows.append([placement, cpus, f"{without['tflops']:.3f}", f"{row['tflops']:.3f}", f"{added:+.3f}",
                         f"{100 * work:.1f} %"])
            points.append((cpus, max(0, added)))
        curves.append((placement, points))
    paper.table("figure9", f"Figure 9: what CPU workers add on makalu, DGEMM of order {N} [TFLOP/s] (simulated)",
                ["placement", "CPU workers", "without", "with", "added", "share of the work"], rows)
    paper.chart("figure9", "What CPU workers add, makalu (simulated)", "CPU workers", "TFLOP/s",
                curves + [("~their rate", [(0, 0), (max(cores), 0.015 * max(cores))])])


def share_of_gpus(row):
    """The part of a DGEMM that the GPUs of makalu computed, up to a constant: the tasks of each in its time in tasks."""
    tasks_per_second = [1 / 1.88e-3] * 2 + [1 / 11.33e-3] * 2  # tiles of 1024, with the overhead of a task
    return sum(busy * rate for busy, rate in zip(per_gpu(row, "busy"), tasks_per_second))


def figure_10():
    tiles = [512, 768, 1024, 1280, 1536, 2048, 3072, 4096]
    tiles = paper.sizes([1024], tiles, [256] + tiles)
    rate = {}
    for tile in tiles:
        for row in paper.simulate("everest", routine=ROUTINES, size=N, tile=tile):
            rate[tile, row["routine"]] = row["tflops"]
    paper.table("figure10", f"Figure 10: TFLOP/s on three GPUs over the size of a tile, N = {N} (simulated)",
                ["tile"] + [f"d{r}" for r in ROUTINES], [[t] + [f"{rate[t, r]:.3f}" for r in ROUTINES] for t in tiles])
    paper.chart("figure10", f"Three K40c, N = {N} (simulated)", "tile", "TFLOP/s",
                [(f"d{r}", [(t, rate[t, r]) for t in tiles]) for r in ROUTINES])


for part in (table_1, table_3_and_figure_7, speed_up, table_5, figure_5, figure_8, figure_9, figure_10):
    part()
print(f"\n{paper.simulations} simulations")
