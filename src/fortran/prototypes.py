# SPDX-License-Identifier: BSD-3-Clause
"""The routines on pointers of include/tessera/tessera.h, read from their prototypes. Code in
other languages that depends on the list of routines is generated from them, or compared with them."""
import re
from typing import NamedTuple

TOKEN = re.compile(r"/\*\*(?P<comment>.*?)\*/|tessera_status\s+(?P<name>tessera_\w+)\s*\((?P<parameters>[^)]*)\)\s*;", re.DOTALL)
PARAMETER = re.compile(r"(?P<type>(?:const )?\w+\*?) (?P<name>\w+)")


class Parameter(NamedTuple):
    type: str  # as in the header, e.g. "const float*"
    name: str


class Routine(NamedTuple):
    name: str  # of the function, e.g. "tessera_dgemm"
    letter: str  # of its type: s, d, c or z
    base: str  # without the letter, e.g. "gemm"
    parameters: list
    comment: str  # its comment in the header


def _parameters(function, text):
    found = []
    for part in text.split(","):
        words = PARAMETER.fullmatch(" ".join(part.split()))
        if words is None:
            raise SystemExit(f"tessera.h: {function} has a parameter of a form that {__file__} does not know: {part.strip()}")
        found.append(Parameter(words["type"], words["name"]))
    return found


def routines(header):
    """The functions on pointers: those that begin with a layout."""
    found, comment = [], ""
    for token in TOKEN.finditer(header):
        if token["name"] is None:
            if not token["comment"].startswith(("<", "@")):  # a trailing comment of a member, or a group mark
                comment = "\n".join(line.strip(" *") for line in token["comment"].strip().splitlines())
            continue
        if not re.match(r"\s*tessera_layout\b", token["parameters"]):
            continue
        parts = re.fullmatch(r"tessera_([sdcz])(\w+)", token["name"])
        if parts is None:
            raise SystemExit(f"tessera.h: {token['name']} has a layout, but no type among s, d, c and z in its name")
        parameters = _parameters(token["name"], token["parameters"])
        found.append(Routine(token["name"], parts[1], parts[2], parameters, comment))
    if not found:
        raise SystemExit("tessera.h: no function begins with a layout")
    return found


def enumerators(header):
    """The options: names and values."""
    return {name: int(value) for name, value in re.findall(r"\b(TESSERA_[A-Z_]+) = (1\d\d)\b", header)}
