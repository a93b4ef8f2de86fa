#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that every commit that a Markdown file names is part of the history of the current one, so that readers can look at
the version with which a number was measured. Exits with 77 (skipped) without that history: in an unpacked archive, and in a
shallow clone.
usage: commits.py FOLDER"""
import bisect
import pathlib
import re
import subprocess
import sys

root = pathlib.Path(sys.argv[1]).resolve()
COMMIT = re.compile(r"\b(?=[0-9]*[a-f])(?=[a-f]*[0-9])[0-9a-f]{7,40}\b")  # without a letter, it may be a number


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def git(*arguments):
    try:
        return subprocess.run(["git", "-C", root, *arguments], capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError) as error:
        skip(f"git {arguments[0]}: {getattr(error, 'stderr', None) or error}")


if git("rev-parse", "--show-prefix"):
    skip(f"{root} is a folder of another repository")
if git("rev-parse", "--is-shallow-repository") == "true":
    skip("a shallow clone")
history = sorted(git("rev-list", "HEAD").split())
pages = [root / name for name in git("ls-files", "-z", "--", "*.md").split("\0") if name]
named = [(page, number, commit) for page in pages if page.exists()
         for number, line in enumerate(page.read_text().splitlines(), 1) for commit in COMMIT.findall(line)]


def known(commit):
    place = bisect.bisect_left(history, commit)
    return place < len(history) and history[place].startswith(commit)


wrong = [f"{page.relative_to(root)}:{number}: there is no commit {commit}" for page, number, commit in named
         if not known(commit)]
if named and len(wrong) == len(named):
    skip("a history that begins after all commits that the pages name")
print("\n".join(wrong) or f"{len(named)} commits, all of them in the history of HEAD")
sys.exit(bool(wrong) or not named)
