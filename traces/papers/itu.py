#!/usr/bin/env -S python3 -B
# SPDX-License-Identifier: BSD-3-Clause
"""The experiment of Itu et al.: SGEMM of order 2048 in n slices of A and B on a GTX 260, in simulated time, and on a GPU
of this machine if --bench names tessera-bench, beside which itu-slices is. See itu.md."""

from xml.sax.saxutils import escape

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


COLOURS = {"A": "#e69f00", "B": "#009e73", "C": "#cc79a7", "kernel": "#3b6ea5"}


def schedule(slices):
    """The paper's two streams, computed from its own times of kernels and copies: operations as (name, start, end) [ms]. The
    GPU has one copy engine, which takes the copies in the order in which they are issued."""
    kernels, copies = THEIRS[slices][1] / slices ** 2, THEIRS[slices][2] / (3 * slices)
    engine, arrived, first, second = 0, {}, [], []

    def copy(stream, name, i, after=0):
        nonlocal engine
        start = max(engine, after)
        engine = arrived[name, i] = start + copies
        stream.append((name, start, engine))

    copy(first, "A", 0), copy(first, "B", 0)
    for name in ("B", "A"):
        for i in range(1, slices):
            copy(second, name, i)
    time = 0
    for i in range(slices):
        for j in range(slices):
            start = max(time, arrived["A", i], arrived["B", j])
            time = start + kernels
            first.append(("kernel", start, time))
        copy(second, "C", i, time)
    return [("stream 1", first), ("stream 2", second)]


def simulated(**options):
    """What the simulated GPU and its link do, from the first copy on: operations as (name, start, end) [ms]."""
    _, tasks, transfers = paper.trace("gtx-260", type="s", size=N, beta=0, **options)
    begin = min(float(row["start"]) for row in transfers)

    def operations(rows, name):
        return [(name(row), 1e3 * (float(row["start"]) - begin), 1e3 * (float(row["end"]) - begin)) for row in rows]

    return [("kernels", operations(tasks, lambda row: "kernel")), ("link", operations(transfers, lambda row: row["operand"]))]


def timelines():
    """Writes itu-timelines.svg: the tables 2 to 4 as rows over time, as the paper describes them and as they are simulated."""
    left, width, height, most = 86, 620, 14, 96  # pixels, and ms
    out, y = [], 22
    groups = [(f"{n} slice{'s' if n > 1 else ''}: {what}", rows) for n in THEIRS
              for what, rows in (("the paper's schedule, computed from its times", schedule(n)), ("simulated", simulated(slices=n)))]
    for title, rows in groups + [("Tessera's tiles: simulated", simulated())]:
        end = max(operation[2] for _, operations in rows for operation in operations)
        out.append(f'<text x="{left}" y="{y}" font-weight="bold">{escape(title)}, {end:.2f} ms</text>')
        y += 6
        for name, operations in rows:
            out.append(f'<text x="{left - 6}" y="{y + 11}" text-anchor="end">{name}</text>')
            out += [f'<rect x="{left + width * a / most:.2f}" y="{y}" width="{width * (b - a) / most:.2f}" height="{height}" '
                    f'fill="{COLOURS[kind]}" stroke="white" stroke-width="0.4"/>' for kind, a, b in operations]
            y += height + 3
        y += 22
    for ms in range(0, most, 10):
        x = left + width * ms / most
        out.append(f'<path d="M{x:.1f} 26V{y - 20}" stroke="#0003"/><text x="{x:.1f}" y="{y - 6}" text-anchor="middle">{ms}{" ms" if ms + 10 > most - 6 else ""}</text>')
    for i, (name, colour) in enumerate(COLOURS.items()):
        x = left + 110 * i
        out.append(f'<rect x="{x}" y="{y + 6}" width="12" height="12" fill="{colour}"/><text x="{x + 18}" y="{y + 16}">'
                   f'{name if name == "kernel" else "copy of " + name}</text>')
    (paper.output / "itu-timelines.svg").write_text(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {left + width + 10} {y + 26}" font-family="sans-serif" font-size="11">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(line + chr(10) for line in out)}</svg>\n')


def on_a_gpu():
    rows = paper.measure({}, "itu-slices", slices=[1, 2, 4, 8], type="s", repeat=5,
                         size=paper.sizes([2048], [2048, 16384], [2048, 4096, 8192, 16384]))

    def milliseconds(seconds):
        return "–" if seconds is None else f"{1e3 * seconds:.2f}"

    paper.table("run", "SGEMM on a GPU of this machine [ms] (run)",
                ["N", "slices", "total", "kernels", "copies", "hidden copies", "real GFLOPS"],
                [[row["m"], row["slices"] or "Tessera"] +
                 [milliseconds(row[part]) for part in ("total_s", "kernels_s", "copies_s")] +
                 [milliseconds(None if row["kernels_s"] is None else row["kernels_s"] + row["copies_s"] - row["total_s"]),
                  f"{row['gflops']:.0f}"] for row in rows])


paper.do([on_gtx_260] + [timelines] * (not paper.quick), [on_a_gpu])
