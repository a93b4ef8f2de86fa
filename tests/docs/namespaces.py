#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that each room, `codelets/` or a folder of `src/`, is a namespace of the same name. There are three exceptions:
`tessera` has the public functions, which only source files define; `tessera::detail` has the names that the public
headers declare there; and a file may declare classes of other rooms ahead.
usage: namespaces.py SOURCE_FOLDER"""
import pathlib
import re
import sys

NAMES = {"devices": "device",  # because tessera::devices() is a public function
         "shared": "tools", "workload": "bench"}  # of src/tools/, where each folder is a room
KINDS = ("cpu", "cuda", "opencl", "simulated")  # of devices, each a folder

root = pathlib.Path(sys.argv[1])
NOT_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|R"\(.*?\)"|"(?:[^"\\\n]|\\.)*"|(?<!\w)\'(?:[^\'\\\n]|\\.)+\''
                      r'|^[ \t]*#(?:\\\n|[^\n])*', re.DOTALL | re.MULTILINE)
NAMESPACE = re.compile(r"\bnamespace\s+(?:(\w+(?:::\w+)*)\s*)?\{")


def blocks(text, outer=()):
    """The named namespaces of a text, each as its path and the text that is in no namespace within it."""
    at, own = 0, ""
    while opened := NAMESPACE.search(text, at):
        depth, end = 1, opened.end()
        while depth:
            depth, end = depth + {"{": 1, "}": -1}.get(text[end], 0), end + 1
        if opened[1]:
            yield from blocks(text[opened.end():end - 1], (*outer, *opened[1].split("::")))
        own += text[at:opened.start()]
        at = end
    yield outer, own + text[at:]


def code(path):
    return NOT_CODE.sub("", path.read_text())


def statements(text):
    """The declarations of a namespace, without bodies."""
    before = None
    while text != before:
        before, text = text, re.sub(r"\{[^{}]*\}(\s*[,)])?", lambda body: body[1] or ";", text)  # an argument or a body
    return [statement for part in text.split(";") if (statement := part.strip())]


public = "|".join(name for path in (root / "include/tessera").glob("*.hpp") for names, own in blocks(code(path))
                  if names == ("tessera", "detail") for name in re.findall(r"\b(?:class|struct) (\w+)", own))
OF_PUBLIC = re.compile(rf"(template <.*> )?(class|struct) ({public})\b|.*\b({public})::|[A-Z_]+\(|namespace |using ", re.DOTALL)


def problem(path, names, own):
    """What is wrong with declarations in a namespace; None if nothing."""
    parts = path.relative_to(root).parts
    folder = "codelets" if parts[0] == "codelets" else parts[2] if parts[1] == "tools" else parts[1]
    room = NAMES.get(folder, folder)
    if all(re.fullmatch(r"(class|struct|enum class) \w+", statement) for statement in statements(own)):
        return None
    if names == ("tessera",):
        return None if path.suffix == ".cpp" else "is for public names"
    if names == ("tessera", "detail"):
        return None if all(map(OF_PUBLIC.match, statements(own))) else "is for names that public headers declare there"
    if names[:2] != ("tessera", room):
        return f"is not tessera::{room}"
    if room == "device" and names[2:] and names[2] in KINDS and names[2] != parts[2]:
        return f"belongs to another kind of device than {parts[2]}"
    return None


files = [path for folder in ("src", "codelets") for path in sorted((root / folder).rglob("*"))
         if path.suffix in (".cpp", ".hpp", ".cu", ".cuh")]
wrong = [f"{path.relative_to(root)}: {'::'.join(names)} {what}" for path in files for names, own in blocks(code(path))
         if names and (what := problem(path, names, own))]
print("\n".join(wrong) or f"{len(files)} files, each in the namespace of its room")
sys.exit(bool(wrong) or not files or not public)
