#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that docs/laboratory.md names every field that a description of a machine may have.
usage: fields.py SOURCE"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
reader = (root / "src/devices/simulated/read_machine.cpp").read_text()
fields = {name for names in re.findall(r"\.only\(\s*\{([^}]*)\}", reader) for name in re.findall(r'"(\w+)"', names)}
page = (root / "docs/laboratory.md").read_text()
section = page[page.index("## Describe another machine"):page.index("## What the simulation leaves out")]
missing = sorted(name for name in fields if f"`{name}`" not in section)
print(f"docs/laboratory.md does not name {', '.join(missing)}" if missing else f"{len(fields)} fields, all of them named")
sys.exit(bool(missing) or not fields)
