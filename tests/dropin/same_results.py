#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that two runs of an example have the same results within their bounds. A line has a name, a bound and values.
usage: same_results.py FILE FILE"""
import sys


def read(path):
    with open(path) as lines:
        words = [line.split() for line in lines]
    return {name: (float(bound), [float(value) for value in values]) for name, bound, *values in words}


first, second = map(read, sys.argv[1:])
only_one = first.keys() ^ second.keys()
wrong = [f"in one run only: {', '.join(only_one)}"] if only_one else []
for name in first.keys() & second.keys():
    (bound, values), (other_bound, other_values) = first[name], second[name]
    differences = [abs(x - y) for x, y in zip(values, other_values, strict=True)]
    if not all(difference <= bound + other_bound for difference in differences):  # also catches NaN
        wrong.append(f"{name}: a difference of {max(differences):.2e}, the bounds are {bound:.2e}, {other_bound:.2e}")
print(f"{len(first)} results compared")
sys.exit("\n".join(wrong) or (0 if first else "no results"))
