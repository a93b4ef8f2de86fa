#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The tables and figures of BLASX (Wang et al., 2016), in simulated time, and some on a GPU. See blasx.md."""

import collections
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

from blasx_numbers import BLASX_HOST, BLASX_PEER, EFFICIENCY, GEMM_SHARE, OTHERS_HOST
from shared import MEGABYTE, Paper, covered, per_gpu, times

paper = Paper("blasx", __doc__)

ROUTINES = ["gemm"] if paper.quick else ["gemm", "symm", "trmm", "trsm", "syr2k", "syrk"]
N = 16384
IN_CORE = 1.2  # TFLOP/s of a K40c in everest.json
PEAK = 1.43  # TFLOP/s, the paper's peak of a K40c


def table_1():
    orders = [5120, 10240, 20480][: 1 if paper.quick else 3]
    rows = []
    for routine in ["syrk"] if paper.quick else GEMM_SHARE:
        shares = []
        for n in orders:
            tasks = collections.Counter(t["routine"] for t in paper.trace("everest", routine=routine, size=n, tile=1024)[1])
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
    rows, by_gpu = [], []
    for row in paper.simulate("everest", routine=ROUTINES, size=N, tile=1024):
        routine = row["routine"]
        host, peer = ([b / MEGABYTE for b in by_link] for by_link in host_bytes(row))
        theirs, others = BLASX_HOST[routine], OTHERS_HOST[routine]
        rows.append([f"d{routine}", f"{sum(host):.0f}", sum(theirs), f"{sum(host) / sum(theirs):.2f}",
                     ", ".join(f"{name} {sum(values)}" for name, values in others.items()), f"{sum(peer):.0f}",
                     sum(BLASX_PEER[routine])])
        ours = {"ours": [f"{h:.0f}" + (f" + {p:.0f}" if p > 0 else "") for h, p in zip(host, peer)],
                "BLASX": [f"{h}" + (f" + {p}" if p > 0 else "") for h, p in zip(theirs, BLASX_PEER[routine])]}
        by_gpu += [[f"d{routine}", name, *values] for name, values in {**ours, **others}.items()]
    paper.table("table5", f"Table V: megabytes (10⁶) at N = {N}, host links both ways, and between GPUs (simulated)",
                ["", "host, ours", "host, BLASX", "ours / BLASX", "host, others", "peer, ours", "peer, BLASX"], rows)
    paper.table("table5-by-gpu", "Table V by GPU: megabytes from and to the host + from a peer (ours simulated)",
                ["", "", "GPU 0", "GPU 1", "GPU 2"], by_gpu)


def figure_5():
    """A run: one GPU, with the heap and with cudaMalloc for each tile; in core, and with a quarter of the memory."""
    rows = []
    for n in paper.sizes([8192], [4096, 8192, 16384], [4096, 6144, 8192, 12288, 16384, 24576, 32768]):
        for part, limit in (("all", {}), ("a quarter", {"TESSERA_GPU_MEMORY": str(3 * n * n * 8 // 4 >> 20)})):
            results = [paper.measure({"TESSERA_GPU_HEAP": heap, **limit}, routine="gemm", size=n, gpus=1) for heap in "10"]
            heap, driver = (r[0] for r in results)
            rows.append([n, part, *(f"{r[time]:.4f}" for time in ("first_s", "median_s") for r in (heap, driver)),
                         f"{driver['median_s'] / heap['median_s']:.2f}"])
    paper.table("figure5", "Figure 5: DGEMM on one GPU, heap and cudaMalloc [s] (measured)",
                ["N", "operands that fit", "first call, heap", "first call, cudaMalloc", "later calls, heap",
                 "later calls, cudaMalloc", "cudaMalloc / heap"], rows)


def use(computed, copied, seconds):
    """Of a GPU in a call: the seconds in which it computes, communicates, communicates beside no task, and does neither."""
    computing, either = covered(computed), covered(computed + copied)
    return computing, covered(copied), either - computing, seconds - either


def figure_8():
    """The time of each GPU by kind. A GPU communicates while a tile is on its way to it or from it."""
    rows, losses = [], []
    for routine in ROUTINES:
        row, tasks, transfers = paper.trace("everest", routine=routine, size=N, tile=1024)
        seconds, ends, used = row["median_s"], [], []
        for node in sorted({task["node"] for task in tasks if task["node"]}):
            computed = times(t for t in tasks if t["node"] == node)
            ends.append(max(end for _, end in computed))
            used.append(use(computed, times(t for t in transfers if node in (t["from"], t["to"])), seconds))
            rows.append([f"d{routine}", node] + [f"{x:.4f}" for x in used[-1]])
        mean_exposed = sum(u[2] for u in used) / len(used)
        idle = seconds - sum(u[0] for u in used) / len(used)
        losses.append([f"d{routine}", f"{seconds:.4f}"] +
                      [f"{x:.4f}, {100 * x / seconds:.1f} %" for x in (max(ends) - min(ends), mean_exposed, idle)])
    losses += [["dgemm, BLASX", "–", "0.0391", "0.0575", "–"], ["dgemm, XT", "–", "0.2961", "0.4917", "–"]]
    paper.table("figure8", f"Figure 8: seconds of each GPU, N = {N} (simulated)",
                ["", "GPU", "computing", "communicating", "communicating while no task runs", "neither"], rows)
    paper.table("figure8-summary", "Figure 8: what is lost (simulated) [s, share of the time]",
                ["", "time [s]", "from the end of the first GPU to the end of the last",
                 "communicating while no task runs, mean", "not computing, mean"], losses)


class Profile:
    """A call on one GPU as CUDA's profiler sees it. Times are in seconds from the start of the call."""

    def __init__(self, library, routine, **options):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "profile.csv"
            row = paper.measure({"CUDA_INJECTION64_PATH": str(library), "GPU_PROFILE": str(file)}, routine=routine, size=N,
                                gpus=1, repeat=1, warmup=0, **options)[-1]
            with open(file, newline="") as rows:
                events = [(e["kind"], int(e["start_ns"]), int(e["end_ns"])) for e in csv.DictReader(rows)]
        self.seconds = row["median_s"]
        # The measured call is the last one, and ends with its last kernel or copy.
        begin = max(end for _, _, end in events) - 1e9 * self.seconds
        self.events = [(kind, 1e-9 * (start - begin), 1e-9 * (end - begin)) for kind, start, end in events if start >= begin]

    def of(self, *kinds):
        return [(start, end) for kind, start, end in self.events if kind in kinds]


def figure_1():
    """A run: profiles of Tessera and cuBLAS-XT on one GPU."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        library = pathlib.Path(folder) / "gpu_profile.so"
        cuda = pathlib.Path("/usr/local/cuda")
        done = subprocess.run(["cc", "-O2", "-shared", "-fPIC", f"-I{cuda}/include", f"-I{cuda}/extras/CUPTI/include",
                               pathlib.Path(__file__).with_name("gpu_profile.c"), "-o", library, f"-L{cuda}/lib64",
                               f"-L{cuda}/extras/CUPTI/lib64", "-lcupti"])
        if done.returncode != 0:
            sys.exit("blasx: figure_1 needs a C compiler and CUPTI, which is part of the CUDA Toolkit")
        for routine in ROUTINES:
            profiles = {"Tessera": Profile(library, routine)}
            for block in (2048, 4096):
                profiles[f"cuBLAS-XT, blocks of {block}"] = Profile(library, routine, against="cublasxt", xt_block=block)
            for name, profile in profiles.items():
                used = use(profile.of("kernel"), profile.of("in", "out", "copy"), profile.seconds)
                rows.append([f"d{routine}", name, f"{profile.seconds:.4f}"] + [f"{x:.4f}" for x in used])
            if routine == "gemm":
                best = min(list(profiles.values())[1:], key=lambda profile: profile.seconds)
                lanes = [(f"{name}: {what}", profile.of(kind)) for name, profile in (("Tessera", profiles["Tessera"]),
                                                                                   ("cuBLAS-XT", best))
                         for what, kind in (("copies in", "in"), ("kernels", "kernel"), ("copies out", "out"))]
                paper.timeline("figure1", f"DGEMM, N = {N}, one GPU (run)", lanes)
    paper.table("figure1", f"Figure 1: seconds of a GPU, N = {N} (run)",
                ["", "", "time", "computing", "communicating", "communicating while no kernel runs", "neither"], rows)


def single_precision():
    """A run: six routines in single precision on one GPU, and cuBLAS-XT with the better of two block sizes."""
    rows = []
    for n in paper.sizes([8192], [8192, 16384], [4096, 8192, 16384, 32768]):
        rate = {(r["routine"], r["library"]): r["tflops"]
                for r in paper.measure({}, routine=ROUTINES, type="s", size=n, gpus=1, repeat=3, against="cublasxt",
                                       xt_block=[2048, 4096])}
        for routine in ROUTINES:
            ours, theirs = rate[routine, "tessera"], rate[routine, "cublasxt"]
            rows.append([n, f"s{routine}", f"{ours:.1f}", f"{theirs:.1f}", f"{ours / theirs:.2f}"])
    paper.table("single", "Single precision on one GPU [TFLOP/s] (run)", ["N", "", "ours", "cuBLAS-XT", "ours / XT"], rows)


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
            points.append((100 * work, added))
        if placement == "scheduler":  # with the others, CPU workers compute nothing
            curves.append(("added", points))
    paper.table("figure9", f"Figure 9: what CPU workers add on makalu, DGEMM of order {N} [TFLOP/s] (simulated)",
                ["placement", "CPU workers", "without", "with", "added", "share of the work"], rows)
    share = curves[0][1][-1][0]
    paper.chart("figure9", "What CPU workers add, makalu (simulated)", "share of the work given to CPU workers [%]", "TFLOP/s",
                curves + [("~share × rate", [(0, 0), (share, share / 100 * without["tflops"])])])


def share_of_gpus(row):
    """The relative speeds of makalu's GPUs in a DGEMM, up to a constant: each GPU's tasks per time spent in tasks."""
    tasks_per_second = [1 / 1.88e-3] * 2 + [1 / 11.33e-3] * 2  # tiles of 1024, with the overhead of a task
    return sum(busy * rate for busy, rate in zip(per_gpu(row, "busy"), tasks_per_second))


def tile_sizes(rows_of, part, where):
    """Figure 10 at two orders.

    @param rows_of  a function of a size of tiles and the orders: the rows of all routines
    """
    tiles, orders = [512, 768, 1024, 1280, 1536, 2048, 3072, 4096], [N // 2, N]
    tiles = paper.sizes([1024], tiles, [256] + tiles)
    rate = {(t, r["n"], r["routine"]): r["tflops"] for t in tiles for r in rows_of(t, orders)}
    for n in orders:
        paper.table(f"{part}-{n}", f"Figure 10: TFLOP/s over the size of a tile, N = {n} ({where})",
                    ["tile"] + [f"d{r}" for r in ROUTINES], [[t] + [f"{rate[t, n, r]:.3f}" for r in ROUTINES] for t in tiles])
        paper.chart(f"{part}-{n}", f"N = {n} ({where})", "tile", "TFLOP/s",
                    [(f"d{r}", [(t, rate[t, n, r]) for t in tiles]) for r in ROUTINES])


def figure_10():
    tile_sizes(lambda tile, orders: paper.simulate("everest", routine=ROUTINES, size=orders, tile=tile), "figure10",
               "three K40c, simulated")


def figure_10_on_a_gpu():
    tile_sizes(lambda tile, orders: paper.measure({}, routine=ROUTINES, size=orders, tile=tile, gpus=1, repeat=2, warmup=0),
               "figure10-run", "one GPU, run")


paper.do((table_1, table_3_and_figure_7, speed_up, table_5, figure_8, figure_9, figure_10),
         (figure_1, figure_5, figure_10_on_a_gpu, single_precision))
