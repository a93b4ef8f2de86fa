#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that every relative link in a Markdown file leads to a file of the source tree, and to a heading that exists; and
that every path in code font that begins with a folder of the source tree leads to something. In the folder of installed
pages, checks only the links.
usage: links.py FOLDER"""
import os
import pathlib
import re
import sys
import urllib.parse

root = pathlib.Path(sys.argv[1]).resolve()
LINK = re.compile(r'!?\[[^\]]*\]\(([^)\s]+)(?:\s+"[^"]*")?\)|<img[^>]*\ssrc="([^"]+)"')


def pages():
    found = []
    for folder, folders, files in os.walk(root):  # rglob would fail if another test removes a folder of the build
        folders[:] = [name for name in folders if name not in ("build", ".git")]
        found += [pathlib.Path(folder, name) for name in files if name.endswith(".md")]
    return sorted(found)


def without_code(text):
    text = re.sub(r"^( *)```.*?^\1```", "", text, flags=re.MULTILINE | re.DOTALL)
    return re.sub(r"`(?:[^`\n]|\n(?!\n))*`", lambda code: code.group().replace("[", " ").replace("]", " "), text)


def anchors(page):
    """The anchors of a page's headings, as GitHub and GitLab generate them."""
    found = set()
    for heading in re.findall(r"^#+ +(.*?) *$", without_code(page.read_text()), re.MULTILINE):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", heading).replace(" ", "-")
        name, repeated = anchor, 0
        while name in found:
            repeated += 1
            name = f"{anchor}-{repeated}"
        found.add(name)
    return found


def mistake(page, target):
    """What is wrong with a link, or None."""
    if re.match(r"[a-z]+:", target):
        return None  # to another site
    path, _, anchor = urllib.parse.unquote(target).partition("#")
    file = pathlib.Path(os.path.normpath(page.parent / path)) if path else page
    if root not in file.parents and file != root:
        return "leads out of the source tree"
    if not file.exists():
        return "leads to a file that does not exist"
    if anchor and file.suffix == ".md" and anchor not in anchors(file):
        return "leads to a heading that does not exist"
    return None


def named_paths(page):
    return re.findall(r"`((?:codelets|docs|examples|include|src|tests|traces)/[\w./*-]+)`", page.read_text())


links = [(page, a or b) for page in pages() for a, b in LINK.findall(without_code(page.read_text()))]
wrong = [f"{page.relative_to(root)}: {target} {why}" for page, target in links if (why := mistake(page, target))]
if (root / "src").exists():
    wrong += [f"{page.relative_to(root)}: there is no {path}"
              for page in pages() for path in named_paths(page) if not list(root.glob(path.rstrip("/")))]
print("\n".join(wrong) or f"{len(links)} links, all of them lead somewhere")
sys.exit(bool(wrong) or not links)
