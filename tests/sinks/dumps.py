#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares what calls submit with reference texts: operations, tiles, owners, priorities, requests, messages.

usage: dumps.py [--write] PROGRAM CALLS FOLDER

CALLS has a line for each call: its name, and the arguments of PROGRAM, which has an option --dump. PROGRAM may have
arguments of its own. The text of call NAME
is FOLDER/NAME.txt. After an intended change of an algorithm, --write replaces the texts.
"""
import difflib
import pathlib
import shlex
import subprocess
import sys
import tempfile

LINES_SHOWN = 40


def dump_of(program, arguments):
    with tempfile.TemporaryDirectory() as folder:
        ended = subprocess.run([*shlex.split(program), *arguments, "--dump", folder], capture_output=True, text=True, check=False)
        if ended.returncode != 0:
            sys.exit(f"{program} {shlex.join(arguments)}: exit status {ended.returncode}\n{ended.stderr}")
        (file,) = pathlib.Path(folder).iterdir()
        return file.read_text()


def show_difference(before, now):
    changes = list(difflib.unified_diff(before.splitlines(), now.splitlines(), "before", "now", lineterm="", n=1))
    print(*changes[:LINES_SHOWN], *(["…"] if len(changes) > LINES_SHOWN else []), sep="\n")


def main(arguments):
    writes = arguments[:1] == ["--write"]
    program, calls, folder = arguments[writes:]
    compared = different = 0
    for line in pathlib.Path(calls).read_text().splitlines():
        words = shlex.split(line, comments=True)
        if not words:
            continue
        now = dump_of(program, words[1:])
        file = pathlib.Path(folder) / f"{words[0]}.txt"
        before = file.read_text() if file.exists() else ""
        compared += 1
        if writes:
            file.write_text(now)
        elif now != before:
            different += 1
            print(f"{words[0]}: {shlex.join(words[1:])}")
            show_difference(before, now)
    print(f"{compared} calls kept" if writes else f"{compared} calls, of which {different} submit something else than before")
    return 0 if compared > 0 and different == 0 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
