#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Hérault et al., distributed, in simulated time: the tables and the picture of traces/distributed.md.

usage: traces/distributed.py PROGRAM FOLDER [GRID...]

distributed.sh starts it. PROGRAM is tessera-simulate-mpi. Writes FOLDER/distributed.json and FOLDER/rate.svg. Results that
are in the folder are not simulated again.
"""
import json
import pathlib
import subprocess
import sys
import time

here = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(here / "papers"))
from shared import line_chart  # noqa: E402

TILE, PEAK, GPUS = 1024, 7200, 3
MEMORY = 226  # MiB: 1/64 of 90 % of a V100, for matrices of an eighth of the order
TILES = (4, 6, 8)  # of C in each direction, for a process; up to 7 fit the GPUs as one block


def simulate(p, q, tiles, how):
    processes = p * q
    start = time.time()
    out = subprocess.run([sys.argv[1], "--platform", "summit", "--nodes", str((processes + 1) // 2), "--grid", f"{p}x{q}",
                          "--gpu-memory", str(MEMORY), "--size", str(tiles * p * TILE), "--tile", str(TILE), "--repeat", "1",
                          "--json", "-", *how], check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    row = json.loads(next(line for line in out.splitlines() if line.startswith("{")))
    return {**row, "how": " ".join(how), "tiles": tiles, "took": round(time.time() - start, 1)}


def share(row):
    return 100 * row["gflops"] / (row["p"] * row["q"] * GPUS * PEAK)


def table(rows):
    print("| grid | GPUs | N | b×c, d | case | ℓ | TFLOP/s | of 7.2 a GPU | received, model [GB] | loaded by a GPU, of the model's |"
          " from peers |")
    print("|" + "---|" * 11)
    for row in rows:
        cut, device = row["cut"], row["device"]
        loaded = device["bytes_from_host"] + device["bytes_from_peers"]
        received = sum(row["bytes_received"]) / len(row["bytes_received"])
        print(f"| {row['p']}×{row['q']} | {row['p'] * row['q'] * GPUS} | {row['n']} | {cut['b']}×{cut['c']}, {cut['d']} | ({cut['case']}) | "
              f"{cut['look_ahead'] if cut['holds_back'] else 'all early'} | {row['gflops'] * 1e-3:.1f} | {share(row):.1f} % | "
              f"{received * 1e-9:.2f}, {row['bytes_received_model'] * 1e-9:.2f} | {loaded / device['bytes_loaded_model']:.2f} | "
              f"{100 * device['bytes_from_peers'] / loaded:.0f} % |")


def main(folder, grids):
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "distributed.json"
    rows = json.loads(file.read_text()) if file.exists() else []
    known = {(r["p"], r["q"], r["tiles"], r["how"]) for r in rows}
    for grid in grids:
        p, q = map(int, grid.split("x"))
        for tiles in TILES:
            for how in [["--look-ahead", str(ahead)] for ahead in (1, 2, 3)] + [["--send-early"]]:
                if (p, q, tiles, " ".join(how)) not in known:
                    rows.append(simulate(p, q, tiles, how))
                    file.write_text(json.dumps(rows, indent=1))
    rows.sort(key=lambda r: (r["p"] * r["q"], r["tiles"], not r["cut"]["holds_back"], r["cut"]["look_ahead"]))
    table(rows)
    curves = []
    for how in sorted({r["how"] for r in rows}):
        for tiles in TILES:
            points = [(r["p"] * r["q"] * GPUS, share(r)) for r in rows if r["how"] == how and r["tiles"] == tiles]
            if points:
                curves.append((f"{'early' if 'early' in how else 'ℓ = ' + how.split()[-1]}, {tiles} tiles", points))
    (folder / "rate.svg").write_text(line_chart("DGEMM on Summit, scaled (simulated)", "GPUs", "% of 7.2 TFLOP/s a GPU", curves))


main(pathlib.Path(sys.argv[2]), sys.argv[3:] or ["2x2", "3x3", "4x4"])
