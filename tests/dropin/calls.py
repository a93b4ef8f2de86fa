#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the calls in a log of TESSERA_BLAS_LOG, and fails if they are not the expected ones. Right results alone would
prove nothing, since they could come from the host BLAS.
usage: calls.py LOG devices|host ROUTINE[=CALLS]...
  expects that each ROUTINE was called, exactly CALLS times if given (several numbers for one routine are added up), and
  that all calls that compute anything ran at the given place"""
import collections
import json
import sys


def read(path):
    """Returns the calls by routine and place, the empty calls by routine, and the errors in the log."""
    calls, idle, trouble = collections.Counter(), collections.Counter(), []
    with open(path) as lines:
        for line in map(json.loads, lines):
            if "routine" not in line:
                trouble += [f"{line['program']}: {line['trouble']}"] if line.get("trouble") else []
            elif line["flops"] == 0:
                idle[line["routine"]] += line["calls"]
            else:
                calls[line["routine"], line["place"]] += line["calls"]
    return calls, idle, trouble


path, place, *wanted = sys.argv[1:]
other = {"devices": "host", "host": "devices"}[place]
try:
    calls, idle, wrong = read(path)
except FileNotFoundError:
    sys.exit("there is no log: nothing came through us")

expected = collections.Counter()
for word in wanted:
    routine, _, number = word.partition("=")
    expected[routine] += int(number or 0)
for routine, number in expected.items():
    came = calls[routine, place] + calls[routine, other] + idle[routine]
    if not calls[routine, place]:
        wrong.append(f"no call of {routine} went to: {place}")
    elif number and came != number:
        wrong.append(f"{number} calls of {routine} were made, {came} came through us")
wrong += [f"{n} calls of {routine} went to: {where}" for (routine, where), n in calls.items() if where == other]

print(f"{place}:", ", ".join(f"{n} {routine}" for (routine, where), n in sorted(calls.items()) if where == place))
sys.exit("\n".join(wrong) or 0)
