#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hérault et al., distributed, in simulated time: the tables and the picture of traces/distributed.md.

usage: traces/distributed.py PROGRAM FOLDER [bytes | long | solves | lu | GRID...]

distributed.sh starts it. PROGRAM is tessera-simulate-mpi. Writes FOLDER/distributed.json, and for grids FOLDER/rate.svg.
bytes: counted bytes next to the predicted ones. long: products of many chunks. solves: inputs sent early and held back. lu:
LU with partial pivoting on one to 16 nodes. Results that are already in the folder are not simulated again.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here / "papers"))
from shared import line_chart  # noqa: E402

TILE, PEAK, GPUS = 1024, 7200, 3
MEMORY = 226  # MiB: 1/64 of 90 % of a V100, for matrices of an eighth of the order
TILES = (4, 6, 8)  # of C in each direction, for a process; up to 7 fit the GPUs as one block
ONE, TWO = "--look-ahead 1", "--look-ahead 2"  # as in the paper: all of C in one block, or in several
BYTES = [("2x2", 906, 8, ONE), ("2x2", 906, 12, ONE), ("1x2", 452, 6, ONE), ("2x1", 452, 6, ONE),
         ("2x2", 906, 8, f"{TWO} --block 2x4 --chunk 1"),
         ("2x2", 226, 8, f"{ONE} --chunk 1"), ("2x2", 452, 12, f"{ONE} --chunk 2"),
         ("2x2", 452, 12, f"{TWO} --block 3x6 --chunk 1"), ("2x3", 226, 12, f"{ONE} --chunk 1"),
         ("2x2", 226, 8, ONE), ("2x2", 226, 12, ONE), ("2x2", 226, 14, ONE), ("2x2", 226, 16, TWO), ("2x3", 226, 12, ONE),
         ("3x3", 226, 12, ONE), ("4x4", 58, 8, ONE)]
LONG = [("3x3", 58, 12), ("4x4", 58, 8), ("5x5", 58, 10)]
SOLVES = [("trsm", grid) for grid in ("1x2", "1x4", "1x8", "2x2", "2x1", "4x1")] + [("getrs_nopiv", "2x2")] + [
    ("getrs", grid) for grid in ("1x2", "1x4", "1x8")]
LU = [("1x2", (1024, 512)), ("1x4", (1024, 512)), ("1x8", (1024, 512)), ("1x16", (1024, 512)), ("1x32", (512,))]
ORDER = 16384  # of solves and factorizations


class Results:
    """Rows of a file. Missing rows are simulated."""

    def __init__(self, file):
        self.file = file
        self.rows = json.loads(file.read_text()) if file.exists() else []

    def row(self, grid, memory, tiles, how, steal=True):
        """A product. @param tiles  of the matrices in each direction"""
        key = {"grid": grid, "gpu_memory": memory, "tiles": tiles, "how": how, "steal": steal}
        return self.find(key, grid, TILE * tiles, TILE, ["--gpu-memory", str(memory), *how.split()], steal)

    def solver(self, routine, grid, tile=TILE, how=""):
        key = {"solver": routine, "grid": grid, "tile": tile, "how": how}
        return self.find(key, grid, ORDER, tile, ["--routine", routine, *how.split()])

    def find(self, key, *how):
        known = next((row for row in self.rows if key.items() <= row.items()), None)
        if not known:
            known = {**simulate(*how), **key}
            self.rows.append(known)
            new = self.file.with_suffix(".new")  # a run that is stopped must not leave half of the file
            new.write_text(json.dumps(self.rows, indent=1))
            new.replace(self.file)
        return known


def processor_time():
    """Seconds of all simulations so far: on a busy machine, more time passes."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def simulate(grid, size, tile, how, steal=True):
    p, q = map(int, grid.split("x"))
    before = processor_time()
    out = subprocess.run([sys.argv[1], "--platform", "summit", "--nodes", str((p * q + 1) // 2), "--grid", grid,
                          "--size", str(size), "--tile", str(tile), "--repeat", "1", "--json", "-", *how], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                         env={**os.environ, "TESSERA_SCHED": "" if steal else "-steal"}).stdout
    row = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    # The most that any simulation so far has taken: those of a list become larger.
    most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    return {**row, "took": round(processor_time() - before, 1), "most_memory": round(most, 1)}


def loaded(row):
    return row["device"]["bytes_from_host"] + row["device"]["bytes_from_peers"]


def received(row):
    return sum(row["bytes_received"]) / len(row["bytes_received"])


def share(row):
    return 100 * row["gflops"] / (row["p"] * row["q"] * GPUS * PEAK)


def table(rows):
    print("| grid | GPUs | N | b×c, d | case | ℓ | TFLOP/s | share of 7.2 TFLOP/s per GPU | received, model [GB] |"
          " loaded by a GPU / model | from peers |")
    print("|" + "---|" * 11)
    for row in rows:
        cut, device = row["cut"], row["device"]
        print(f"| {row['p']}×{row['q']} | {row['p'] * row['q'] * GPUS} | {row['n']} | {cut['b']}×{cut['c']}, {cut['d']} | ({cut['case']}) | "
              f"{cut['look_ahead'] if cut['holds_back'] else 'all early'} | {row['gflops'] * 1e-3:.1f} | {share(row):.1f} % | "
              f"{received(row) * 1e-9:.2f}, {row['bytes_received_model'] * 1e-9:.2f} | {loaded(row) / device['bytes_loaded_model']:.2f} | "
              f"{100 * device['bytes_from_peers'] / loaded(row):.0f} % |")


def bytes_table(results):
    print("| grid | GPU memory [MiB] | N | b×c, d | case | received, model [MB] | loaded by a GPU [MB] |"
          " of which from peers [MB] | model of loads [MB] | even columns [MB] | loaded / model of loads |"
          " the same without stealing |")
    print("|" + "---|" * 12)
    for grid, memory, tiles, how in BYTES:
        row = results.row(grid, memory, tiles, how)
        cut, model = row["cut"], row["device"]["bytes_loaded_model"]
        ratio, alone = loaded(row) / model, ""
        if abs(ratio - 1) > 0.05:
            alone = f"{loaded(results.row(grid, memory, tiles, how, steal=False)) / model:.3f}"
        print(f"| {grid.replace('x', '×')} | {memory} | {row['n']} | {cut['b']}×{cut['c']}, {cut['d']} | ({cut['case']}) | "
              f"{received(row) * 1e-6:.1f}, {row['bytes_received_model'] * 1e-6:.1f} | {loaded(row) * 1e-6:.1f} | "
              f"{row['device']['bytes_from_peers'] * 1e-6:.1f} | {model * 1e-6:.1f} | "
              f"{row['device']['bytes_loaded_model_even'] * 1e-6:.1f} | {ratio:.3f} | {alone} |")


def long_table(results):
    print("| grid | GPU memory [MiB] | N | b×c, d | chunks | ℓ | TFLOP/s | share of 7.2 TFLOP/s per GPU | received, model [MB] |"
          " simulation [s of a core] |")
    print("|" + "---|" * 10)
    for grid, memory, tiles in LONG:
        for how in [f"--look-ahead {ahead}" for ahead in (1, 2, 3, 5)] + ["--send-early"]:
            row = results.row(grid, memory, tiles, how)
            cut = row["cut"]
            print(f"| {grid.replace('x', '×')} | {memory} | {row['n']} | {cut['b']}×{cut['c']}, {cut['d']} | "
                  f"{cut['blocks'] * cut['chunks']} | {cut['look_ahead'] if cut['holds_back'] else 'all early'} | "
                  f"{row['gflops'] * 1e-3:.1f} | {share(row):.1f} % | {received(row) * 1e-6:.0f}, "
                  f"{row['bytes_received_model'] * 1e-6:.0f} | {row['took']:.0f} |", flush=True)


def solves_table(results):
    print("| routine | grid | early [ms] | held back [ms] | ratio | received, early and held back [MB] |")
    print("|" + "---|" * 6)
    for routine, grid in SOLVES:
        early, held = (results.solver(routine, grid, how=how) for how in ("--send-early", "--hold-back"))
        print(f"| d{routine} | {grid.replace('x', '×')} | {1e3 * early['seconds']:.1f} | {1e3 * held['seconds']:.1f} | "
              f"{held['seconds'] / early['seconds']:.2f} | {received(early) * 1e-6:.0f}, {received(held) * 1e-6:.0f} |", flush=True)


def lu_table(results):
    print("| nodes | grid | GPUs | tile 1024 [ms] | tile 512 [ms] | all GPUs at 7.2 TFLOP/s [ms] |")
    print("|" + "---|" * 6)
    for grid, tiles in LU:
        count = int(grid.split("x")[1])
        times = {tile: f"{1e3 * results.solver('getrf', grid, tile)['seconds']:.0f}" for tile in tiles}
        print(f"| {(count + 1) // 2} | {grid.replace('x', '×')} | {count * GPUS} | {times.get(1024, '')} | {times[512]} | "
              f"{2e-6 * ORDER ** 3 / 3 / (count * GPUS * PEAK):.0f} |", flush=True)


def grids_table(results, folder, grids):
    rows = [results.row(grid, MEMORY, tiles * int(grid.split("x")[0]), how) for grid in grids for tiles in TILES
            for how in [f"--look-ahead {ahead}" for ahead in (1, 2, 3)] + ["--send-early"]]
    rows.sort(key=lambda r: (r["p"] * r["q"], r["tiles"], not r["cut"]["holds_back"], r["cut"]["look_ahead"]))
    table(rows)
    curves = []
    for how in sorted({r["how"] for r in rows}):
        for tiles in TILES:
            points = [(r["p"] * r["q"] * GPUS, share(r)) for r in rows if r["how"] == how and r["tiles"] == tiles * r["p"]]
            if points:
                curves.append((f"{'early' if 'early' in how else 'ℓ = ' + how.split()[-1]}, {tiles} tiles", points))
    (folder / "rate.svg").write_text(line_chart("DGEMM on Summit, scaled (simulated)", "GPUs", "% of 7.2 TFLOP/s per GPU", curves))


def main(folder, what):
    folder.mkdir(parents=True, exist_ok=True)
    results = Results(folder / "distributed.json")
    if what == ["bytes"]:
        bytes_table(results)
    elif what == ["long"]:
        long_table(results)
    elif what == ["solves"]:
        solves_table(results)
    elif what == ["lu"]:
        lu_table(results)
    else:
        grids_table(results, folder, what)


main(pathlib.Path(sys.argv[2]), sys.argv[3:] or ["2x2", "3x3", "4x4"])
