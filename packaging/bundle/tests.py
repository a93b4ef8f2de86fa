#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""usage: tests.py LIST SOURCE STAGE

Reads ctest's list of the tests of preset release, copies the test programs into the bundle in STAGE, and prints, for
run-tests, a line of bash for each test.

The bundle contains a test if its command is a program from the build folder, and if it names no file outside that folder.
Paths in the build folder that are neither programs nor libraries become paths in a scratch folder. Tests that need a
compiler or the source tree are left out. The loader's search path is not changed, since it may lead to CUDA."""
import json
import os
import re
import shutil
import sys

listing, source, stage = sys.argv[1:]
build = f"{source}/build/release"

def place(path):
    relative = os.path.relpath(path, build)
    if os.path.isfile(f"{stage}/{relative}") or relative in ("bin", "lib"):
        return f"$root/{relative}"
    if not os.path.isfile(path):
        return f"$scratch/{relative}"
    if not os.access(path, os.X_OK):
        raise LookupError(path)
    target = f"libexec/tessera/tests/{os.path.basename(path)}"
    shutil.copy(path, f"{stage}/{target}")
    return f"$root/{target}"

def word(text):
    literal_or_path = re.split(f"({re.escape(build)}(?:/[^:;,=]*)?)", text)
    for i, part in enumerate(literal_or_path):
        if i % 2:
            literal_or_path[i] = place(part)
        elif source in part:
            raise LookupError(part)
        else:
            literal_or_path[i] = re.sub(r'([\\"$`])', r"\\\1", part)
    return '"' + "".join(literal_or_path) + '"'

def line(test):
    properties = {p["name"]: p["value"] for p in test.get("properties", [])}
    command = test.get("command", ["no command"])
    if not command[0].startswith(build + "/"):
        raise LookupError(command[0])
    if "ENVIRONMENT_MODIFICATION" in properties or properties.get("DISABLED"):
        raise LookupError("disabled, or its environment is modified")
    regex = lambda name: word("|".join(properties.get(name, [])))
    environment = [v for v in properties.get("ENVIRONMENT", []) if not v.startswith("LD_LIBRARY_PATH=")]
    return " ".join([
        "check", word(test["name"]), word(" ".join(properties.get("LABELS", []))),
        str(int(properties.get("TIMEOUT", 1500))), str(int(properties.get("WILL_FAIL", False))),
        str(properties.get("SKIP_RETURN_CODE", "none")), regex("SKIP_REGULAR_EXPRESSION"),
        regex("PASS_REGULAR_EXPRESSION"), regex("FAIL_REGULAR_EXPRESSION"),
        "env", *map(word, environment), *map(word, command)])

left_out = []
with open(listing) as file:
    for test in json.load(file)["tests"]:
        try:
            print(line(test))
        except LookupError as reason:
            left_out.append(f"{test['name']} ({reason})")
if left_out:
    print("tests left out of the bundle:", *left_out, sep="\n  ", file=sys.stderr)
