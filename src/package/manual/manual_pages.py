#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the manual page of a program and its completion for bash from what its --help prints, and the page on environment
variables from docs/environment.md. Exit codes come from docs/programs.md.
usage: manual_pages.py program PROGRAM VERSION DOCS PAGE COMPLETION
       manual_pages.py environment VERSION DOCS PAGE"""
import itertools
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

COLUMN = 30  # column of the texts of options; if an option reaches it, its text is on the next line
PLAIN = {".": r"\&.", "'": r"\&'"}  # at the beginning of a line, these would begin a request


class Option(NamedTuple):
    names: list  # e.g. ["-h", "--help"]; empty for an argument without a name
    value: str  # the form of its value, e.g. "NAME ..."
    remarks: str  # e.g. "Excludes: --size"
    text: str


def escaped(text):
    """Converts text to groff's syntax. Hyphens become minus signs, which can be copied to a command line."""
    text = text.replace("\\", r"\e").replace("-", r"\-")
    return PLAIN.get(text[:1], text[:1]) + text[1:]


def wrapped(text):
    """Wraps a paragraph, because groff warns about long lines."""
    lines, line = [], ""
    for word in text.split():
        if line and len(line) + len(word) > 100:
            lines.append(line)
            line = ""
        line += (" " if line else "") + word
    return "\n".join(escaped(each) for each in lines + [line])


def header(name, section, version, what):
    return [f'.TH {escaped(name)} {section} "" "Tessera {version}" "Tessera"', ".nh", ".ad l",
            ".SH NAME", f"{escaped(name)} \\- {escaped(what)}"]


# --- programs ----------------------------------------------------------------------------------------------------------

def parse_option(left, text):
    words = re.match(r"(?P<names>-\S+(?:,-\S+)*)?\s*(?P<value>.*?)\s*(?P<remarks>(?:REQUIRED|Excludes:|Needs:).*)?$", left)
    names = words["names"].split(",") if words["names"] else []
    return Option(names, words["value"], words["remarks"] or "", text)


def parse_help(text):
    """The parts of a help text: description, usage, options by the title of their group, and footer."""
    lines = text.rstrip().splitlines()
    usage = next(i for i, line in enumerate(lines) if line.startswith("Usage: "))
    groups, footer, title = {}, [], None
    rest = lines[usage + 1:]
    for i, line in enumerate(rest):
        if footer:
            footer.append(line)
        elif re.fullmatch(r"\S.*:", line):
            title = line[:-1]
        elif line.startswith(" " * COLUMN):
            continue  # read with the line above
        elif line.startswith("  "):
            left, text = (line, "") if len(line) <= COLUMN or line[COLUMN - 1] != " " else (line[:COLUMN], line[COLUMN:])
            more = [each.strip() for each in itertools.takewhile(lambda each: each.startswith(" " * COLUMN), rest[i + 1:])]
            groups.setdefault(title, []).append(parse_option(left.strip(), " ".join([text, *more]).strip()))
        elif line.strip():
            footer.append(line)
    return " ".join(lines[:usage]), lines[usage].removeprefix("Usage: "), groups, " ".join(footer)


def values_of(option):
    """The values that an option's text lists at its beginning, for example "home, owner or scheduler"."""
    listed = re.match(r"(\w+(?:, \w+)* or \w+|\w+(?:, (?!or )\w+)+(?:, or '\w+')?)(?=[ ,:;(]|$)", option.text)
    return re.findall(r"\w+", re.sub(r"\bor\b", "", listed[1])) if listed else []


def table_after(page, heading):
    """The rows of the first table below a heading of a Markdown page."""
    part = f"\n{page}".split(f"\n{heading}\n", 1)[1]
    rows = re.search(r"^\|[^\n]*\n\|[-|]+\n((?:\|[^\n]*\n)+)", part, re.MULTILINE)[1]
    return [cells(line) for line in rows.splitlines()]


def cells(line):
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def see_also(docs, name):
    """The names of the other pages."""
    programs = table_after((docs / "programs.md").read_text(), "# The programs")
    pages = [(cell.strip("`"), 1) for cell, _ in programs] + [("tessera-environment", 7)]
    others = [f".BR {escaped(page)} ({section})" for page, section in pages if page != name]
    return [".SH SEE ALSO", ",\n".join(others)]


def program_page(name, version, docs, text):
    description, usage, groups, footer = parse_help(text)
    first, _, rest = description.partition(". ")
    lines = header(name, 1, version, first[0].lower() + first[1:].rstrip("."))
    lines += [".SH SYNOPSIS", f".B {escaped(usage.split()[0])}", escaped(" ".join(usage.split()[1:]))]
    lines += [".SH DESCRIPTION", wrapped(description)]
    lines += [".PP", wrapped("The text in parentheses behind an option is its default.")]
    if footer:
        lines += [".PP", wrapped(footer)]
    lines += [".SH OPTIONS"]
    for title, options in groups.items():
        if title not in ("Options", "Positionals"):
            lines.append(f".SS {escaped(title)}")
        for option in options:
            tag = ", ".join(rf"\fB{escaped(each)}\fR" for each in option.names)
            value = re.sub(r" TEXT$", "", option.value)
            lines += [".TP", (tag + (" " if tag and value else "") + (rf"\fI{escaped(value)}\fR" if value else "")),
                      wrapped(option.text or "see above")]
            if option.remarks:
                lines += [".br", wrapped(option.remarks.capitalize() + ".")]
    lines += [".SH EXIT STATUS"]
    page = (docs / "programs.md").read_text()
    for code, meaning in table_after(page, "## Exit codes"):
        lines += [".TP", rf"\fB{code}\fR", wrapped(as_text(meaning) + ".")]
    if "--blas" in text:
        lines += [".PP", wrapped(as_text(page.rstrip().rsplit("\n\n", 1)[1]))]
    lines += see_also(docs, name)
    return "\n".join(lines) + "\n"


def completion(name, text):
    """A completion for bash: options, and values where the help lists them."""
    _, _, groups, _ = parse_help(text)
    options = [option for members in groups.values() for option in members]
    function = "_" + name.replace("-", "_")
    names = [each for option in options for each in option.names]
    lines = ["# SPDX-License-Identifier: BSD-3-Clause", f"{function}() {{",
             '  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}',
             "  COMPREPLY=()", "  case $before in"]
    by_value = {}  # options by the values that bash offers for them
    for option in options:
        if option.names and option.value:
            offered = ("-f" if re.search(r"FILE|FOLDER|DIR", option.value) else "-c" if "PROGRAM" in option.value
                       else f"-W '{' '.join(values_of(option))}'")
            by_value.setdefault(offered, []).extend(option.names)
    lines += [f"    {' | '.join(names_of)}) mapfile -t COMPREPLY < <(compgen {offered} -- \"$word\"); return ;;"
              for offered, names_of in by_value.items()]
    lines += ["  esac", "  if [[ $word == -* ]]; then",
              f"    mapfile -t COMPREPLY < <(compgen -W '{' '.join(names)}' -- \"$word\")", "  else",
              "    mapfile -t COMPREPLY < <(compgen -f -- \"$word\")", "  fi", "}",
              f"complete -o filenames -F {function} {name}"]
    return "\n".join(lines) + "\n"


# --- the environment ---------------------------------------------------------------------------------------------------

def as_text(markdown):
    """Markdown without links and markup. A link within the page becomes its text."""
    text = re.sub(r"\[`?([^]]*?)`?\]\([^)]*\)", r"\1", markdown)
    return text.replace("`", "").replace("**", "")


def environment_page(version, docs):
    page = (docs / "environment.md").read_text()
    lines = header("tessera-environment", 7, version, "environment variables that Tessera reads")
    lines += [".SH DESCRIPTION"]
    heads = []
    for block in re.split(r"\n\n+", page.split("\n", 1)[1].strip()):
        if block.startswith("#"):
            level, title = block.split(" ", 1)
            lines.append(f".{'SH' if level == '##' else 'SS'} {escaped(as_text(title).upper() if level == '##' else as_text(title))}")
        elif block.startswith("|"):
            rows = [cells(line) for line in block.splitlines()]
            heads = rows[0][1:]
            for first, *others in rows[2:]:
                lines += [".TP", rf"\fB{escaped(as_text(first))}\fR"]
                said = [f"{head}: {text}" if head else text for head, text in zip(heads, others) if text]
                lines.append("\n.br\n".join(wrapped(as_text(each) + ("" if each.endswith(".") else ".")) for each in said))
        else:
            if not lines[-1].startswith(".S"):
                lines.append(".PP")
            lines.append(wrapped(as_text(block)))
    lines += see_also(docs, "tessera-environment")
    return "\n".join(lines) + "\n"


def main(kind, *arguments):
    if kind == "program":
        program, version, docs, page, completed = arguments
        name = pathlib.Path(program).name
        text = subprocess.run([program, "--help"], check=True, capture_output=True, text=True).stdout
        pathlib.Path(page).write_text(program_page(name, version, pathlib.Path(docs), text))
        pathlib.Path(completed).write_text(completion(name, text))
    else:
        version, docs, page = arguments
        pathlib.Path(page).write_text(environment_page(version, pathlib.Path(docs)))


if __name__ == "__main__":
    main(*sys.argv[1:])
