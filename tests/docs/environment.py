#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the tables of docs/environment.md agree with src/common/variables.def, that the sources read exactly the
variables in it, and that docs/policy.md lists the options of the policy.
usage: environment.py [--write] SOURCE_FOLDER    --write: changes the tables of docs/environment.md"""
import pathlib
import re
import sys

write = sys.argv[1:2] == ["--write"]
root = pathlib.Path(sys.argv[-1])
OF_TESTS = "TESSERA_TEST_"
TABLES = {"src/common/variables.def", "src/common/variables.hpp", "src/common/old_variables.hpp"}
HEAD = "| variable | values | default | what it sets |\n|---|---|---|---|\n"


def text_of(*patterns):
    return "\n".join(path.read_text() for pattern in patterns for path in sorted(root.glob(pattern))
                     if path.is_file() and str(path.relative_to(root)) not in TABLES)


def in_table():
    """The rows of the table by heading: macro, name of the field or constant, variable, and row of the page."""
    parts = {}
    for part in re.split(r"^// ## ", (root / "src/common/variables.def").read_text(), flags=re.MULTILINE)[1:]:
        title, entries = part.split("\n", 1)
        rows = parts[title] = []
        for macro, name, variable, kind, arguments, default, meaning in re.findall(
                r'^(FIELD|VARIABLE)\((\w+), "(\w+)", (\w+)\((.*?)\),\s*"(.*?)",\s*"(.*?)"\)$', entries, re.MULTILINE | re.DOTALL):
            rows.append((macro, name, variable, f"| `{variable}` | {values(kind, arguments)} | {default} | {in_one(meaning)} |"))
        if len(rows) != len(re.findall(r"^\w+\(", entries, re.MULTILINE)):
            sys.exit(f"variables.def: a row below '{title}' has another form")
    return parts


def in_one(strings):
    """C++ joins adjacent strings."""
    return re.sub(r'"\n\s*"', "", strings)


def values(kind, arguments):
    if kind == "words":
        return ", ".join(f"`{word}`" for word in arguments.strip('"').split("|"))
    if kind == "numbers":
        return " to ".join(re.sub("([A-Z_]+)", r"`\1`", number) for number in arguments.split(", "))
    return "MiB" if kind == "mebibytes" else arguments.strip('"')


def in_code(rows):
    """Variables whose names are string literals (except the enumerators of the C interface, which messages print), variables
    whose constants are used, and variables with a field of RuntimeOptions, all of which src/runtime/start_options.cpp reads."""
    code = text_of("src/**/*.[ch]pp", "codelets/**/*.[ch]pp")
    names = set(re.findall(r'"(TESSERA_[A-Z_]*[A-Z])"', code + text_of("src/python/**/*.py")))
    names -= set(re.findall(r"\b(TESSERA_[A-Z_]+) =", text_of("include/tessera/*.h")))
    constants = set(re.findall(r"variables::(\w+)", code))
    return names | {variable for macro, name, variable, _ in rows if macro == "FIELD" or name in constants}


def in_scripts():
    """Variables that a script expands. No script defines variables that start with TESSERA_."""
    return set(re.findall(r"\$\{?(TESSERA_[A-Z_]*[A-Z])\b", text_of("run", "packaging/**/*.sh", "traces/*.sh")))


def in_policy():
    """The options of the policy with their defaults: keys of a table, and members."""
    members = re.findall(r"^  (?:int|bool|Locality) (\w+) = (?:Locality::)?(\w+);",
                         text_of("src/scheduler/ideas/options.hpp"), re.MULTILINE)
    keys = re.findall(r'\{"([a-z-]+)", &Options::', text_of("src/scheduler/ideas/options.cpp"))
    defaults = {name.replace("_", "-"): {"true": "on", "false": "off"}.get(value, value.lower()) for name, value in members}
    return [(key, defaults.get(key)) for key in keys]


parts = in_table()
rows = [row for part in parts.values() for row in part]
listed = {variable for _, _, variable, _ in rows}
read = {name for name in in_code(rows) | in_scripts() if not name.startswith(OF_TESTS)}
mistakes = [f"{name} is read, but variables.def does not list it" for name in sorted(read - listed)]
mistakes += [f"{name} is in variables.def, but nothing reads it" for name in sorted(listed - read)]
page = file = (root / "docs/environment.md").read_text()
for title, part in parts.items():
    table = HEAD + "\n".join(row for *_, row in part) + "\n"
    page, found = re.subn(rf"(^## {re.escape(title)}\n.*?){re.escape(HEAD)}(?:\|[^\n]*\n)*", lambda m: m[1] + table, page, count=1,
                          flags=re.MULTILINE | re.DOTALL)
    if not found:
        mistakes.append(f"docs/environment.md has no table below '## {title}'")
if write:
    (root / "docs/environment.md").write_text(page)
elif page != file:
    mistakes.append("the tables of docs/environment.md are not those of variables.def: run environment.py --write")
mistakes += [f"docs/environment.md names {name}, which is not in variables.def"
             for name in sorted(set(re.findall(r"TESSERA_[A-Z_0-9]+", page)) - listed)]
options = re.findall(r"^\| `([a-z-]+)` \| (\w+) \|", (root / "docs/policy.md").read_text(), re.MULTILINE)
if options != in_policy():
    mistakes.append(f"docs/policy.md does not have these options, in this order: {in_policy()}")
print("\n".join(mistakes) or f"{len(read)} variables are read, and docs/environment.md lists each")
sys.exit(bool(mistakes))
