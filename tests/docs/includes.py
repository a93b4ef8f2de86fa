#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that no file includes a file from a room above its own, or of another kind of device except the CPU, that there
are no cycles of includes, and that there are no cycles of translation units that need each other's symbols. In a unity
build, an object contains several files of a room, so the last check applies to rooms.
usage: includes.py SOURCE_FOLDER OBJECT_FILE..."""
import os
import pathlib
import re
import subprocess
import sys

# From top to bottom, as in CONTRIBUTING.md. Rooms on the same level do not include each other.
ROOMS = [("c", "dropin", "tools"), ("distributed",), ("routines",), ("plan",), ("algorithms",), ("sinks",), ("tile",),
         ("runtime",), ("machine",), ("codelets",), ("devices",), ("memory",), ("scheduler",), ("blas",), ("common",)]
DEPTH = {room: depth for depth, rooms in enumerate(ROOMS) for room in rooms}
NOT_OURS = ("package",)  # folders of src/ without C++

root = pathlib.Path(sys.argv[1]).resolve()
sources = [path for folder in ("src", "codelets", "include") for path in sorted((root / folder).rglob("*"))
           if path.suffix in (".cpp", ".hpp", ".h", ".def", ".cu", ".cuh")]
known = set(sources)


def name(path):
    return str(path.relative_to(root))


def room(path):
    parts = path.relative_to(root).parts
    return parts[1] if parts[0] == "src" else parts[0]


def kind(path):
    """The kind of device that a file belongs to; empty if it is for all kinds."""
    parts = path.relative_to(root).parts
    return parts[2] if parts[:2] == ("src", "devices") and len(parts) > 3 else ""


def included(path):
    """The files of the source tree that this one includes."""
    folders = (path.parent, root, root / "src", root / "src/tools", root / "include")
    for include in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', path.read_text(), re.MULTILINE):
        found = [file for folder in folders if (file := pathlib.Path(os.path.normpath(folder / include))) in known]
        yield from found[:1]


def cycles(edges):
    """The strongly connected components (Tarjan's algorithm)."""
    order, low, stack, groups = {}, {}, [], []

    def visit(node):
        order[node] = low[node] = len(order)
        stack.append(node)
        for other in edges.get(node, ()):
            if other not in order:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == order[node]:
            group = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(group) > 1 or node in edges.get(node, ()):
                groups.append(sorted(group))

    for node in edges:
        if node not in order:
            visit(node)
    return groups


def room_of_object(path):
    """The room of an object of a unity build. CMakeLists.txt names the groups of files after their room."""
    return re.split("[/_]", re.sub("^(Unity/unity_|src/)", "", path))[0]


def symbols_needed(objects):
    """For each translation unit (in a unity build: each room), the others that define symbols that it needs."""
    unity = any("/Unity/" in path for path in objects)
    unit_of = room_of_object if unity else str
    defined, needed = {}, {}
    for line in subprocess.run(["nm", "-A", *objects], capture_output=True, text=True, check=True).stdout.splitlines():
        file, rest = line.split(":", 1)
        kind, symbol = rest[16:].split()[:2]
        unit = unit_of(re.sub(r"\.o$", "", file.split(".dir/")[-1]))
        if kind == "U":
            needed.setdefault(unit, set()).add(symbol)
        elif kind in "TDBRVWu":
            defined.setdefault(symbol, set()).add(unit)
    return {unit: {other for symbol in symbols for other in defined.get(symbol, ())} - {unit}
            for unit, symbols in needed.items()}


sys.setrecursionlimit(10000)
edges = {path: set(included(path)) for path in sources}
wrong = [f"{name(path)}: its room {room(path)} is not in the list of rooms" for path in sources
         if room(path) not in DEPTH and room(path) not in NOT_OURS and room(path) != "include"]
wrong += [f"{name(path)}: includes {name(other)}, of the room {room(other)}"
          for path in sources for other in sorted(edges[path])
          if room(path) != room(other) and room(path) in DEPTH and DEPTH.get(room(other), len(ROOMS)) <= DEPTH[room(path)]]
wrong += [f"{name(path)}: includes {name(other)}, of another kind of device" for path in sources if kind(path)
          for other in sorted(edges[path]) if kind(other) not in ("", "cpu", kind(path))]
wrong += ["these files include each other: " + ", ".join(map(name, group)) for group in cycles(edges)]
units = symbols_needed(sys.argv[2:]) if len(sys.argv) > 2 else {}
wrong += ["no object files were given"] * (not units)
wrong += ["these need each other's symbols: " + ", ".join(group) for group in cycles(units)]
print("\n".join(wrong) or f"{len(sources)} files and {len(units)} translation units: all of them lead down")
sys.exit(bool(wrong) or not sources)
