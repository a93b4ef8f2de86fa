#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program, which must succeed, and compares numbers that it prints.

usage: figures.py [--line TEXT NUMBER...]... -- PROGRAM ARGUMENT...

For each --line, a single line of the output must contain TEXT, followed by the given NUMBERs; further numbers on this line
are ignored. A number may differ by a unit of its last decimal. A word in place of a NUMBER matches anything.
"""
import re
import subprocess
import sys

number = re.compile(r"[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?")


def as_number(word):
    return float(word) if number.fullmatch(word) else None


def close(expected, found):
    unit = 10.0 ** -len(expected.partition(".")[2])
    return abs(float(expected) - found) <= 1.001 * unit * ("." in expected)


def mistake(output, text, expected):
    """The error in the line that contains the text, or nothing."""
    lines = [line for line in output.splitlines() if text in line]
    if len(lines) != 1:
        return f"{len(lines)} lines contain '{text}', must be one"
    found = [float(word) for word in number.findall(lines[0].split(text, 1)[1])]
    if len(found) < len(expected):
        return f"'{lines[0]}' has {len(found)} numbers, must have {len(expected)}"
    for word, value in zip(expected, found):
        if as_number(word) is not None and not close(word, value):
            return f"'{lines[0]}' has {value:g} in the place of {word}"
    return None


def main(arguments):
    checks, command = [], []
    while arguments:
        word = arguments.pop(0)
        if word == "--":
            command = arguments
            break
        if word == "--line":
            checks.append((arguments.pop(0), []))
        else:
            checks[-1][1].append(word)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(done.stdout, end="")
    mistakes = [] if done.returncode == 0 else [f"it ended with status {done.returncode}"]
    mistakes += filter(None, (mistake(done.stdout, text, expected) for text, expected in checks))
    print(*(f"wrong: {words}" for words in mistakes), sep="\n")
    return 1 if mistakes or not checks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
