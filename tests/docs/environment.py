#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the variables in the tables of docs/environment.md with those that the sources read, both ways.
usage: environment.py SOURCE_FOLDER"""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
OF_TESTS = "TESSERA_TEST_"


def text_of(*patterns):
    return "\n".join(path.read_text() for pattern in patterns for path in sorted(root.glob(pattern)) if path.is_file())


LIST = "src/common/known_variables.hpp"


def in_list():
    """The variables that the programs know of, when they look for mistyped names."""
    return re.findall(r'"(TESSERA_[A-Z_]*[A-Z])"', (root / LIST).read_text())


def in_code():
    """String literals that are a whole name, but for the enumerators of the C interface, which messages print."""
    code = text_of("src/**/*.[ch]pp", "codelets/**/*.[ch]pp")
    for file in (LIST, "src/common/old_variables.hpp"):
        code = code.replace((root / file).read_text(), "")
    code += text_of("src/python/**/*.py")
    names = set(re.findall(r'"(TESSERA_[A-Z_]*[A-Z])"', code))
    return names - set(re.findall(r"\b(TESSERA_[A-Z_]+) =", text_of("include/tessera/*.h")))


def in_scripts():
    """Variables that a script expands; none of its own start with TESSERA_."""
    return set(re.findall(r"\$\{?(TESSERA_[A-Z_]*[A-Z])\b", text_of("run", "packaging/**/*.sh", "traces/*.sh")))


def in_tables():
    page = (root / "docs/environment.md").read_text()
    first_cells = re.findall(r"^\|([^|]*)\|", page, re.MULTILINE)
    names = [name for cell in first_cells for name in re.findall(r"`(TESSERA_[A-Z_]+)`", cell)]
    return names


read = {name for name in in_code() | in_scripts() if not name.startswith(OF_TESTS)}
documented = in_tables()
mistakes = [f"{name} is read, but docs/environment.md does not list it" for name in sorted(read - set(documented))]
mistakes += [f"{name} is in docs/environment.md, but nothing reads it" for name in sorted(set(documented) - read)]
listed = in_list()
of_page = sorted(set(documented))
if listed != of_page:
    mistakes.append(f"{LIST} does not have, in this order: {', '.join(of_page)}")
mistakes += [f"{name} is listed twice" for name in sorted(set(documented)) if documented.count(name) > 1]
print("\n".join(mistakes) or f"{len(read)} variables are read, and docs/environment.md lists each")
sys.exit(bool(mistakes))
