#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The manual pages and the completions for bash: groff renders each page without a warning, and they have all options that
the programs print and all variables of docs/environment.md.
usage: manual.py SHARE SOURCE PROGRAM..."""
import pathlib
import re
import subprocess
import sys
import unittest

share, source = map(pathlib.Path, sys.argv[1:3])
programs = [pathlib.Path(program) for program in sys.argv[3:]]


def rendered(page):
    """The text of a page without hyphenation of lines, and what groff complains about."""
    made = subprocess.run(["groff", "-ww", "-K", "utf8", "-man", "-T", "utf8", "-P-cbou", "-rLL=200n", page],
                          capture_output=True, text=True, check=True)
    return made.stdout, made.stderr


def printed(program, option):
    return subprocess.run([program, option], capture_output=True, text=True, check=True).stdout


def completed(program, *words):
    """What bash offers for the last word of a command line."""
    script = (f'. "$0"; COMP_WORDS=("$@"); COMP_CWORD={len(words)}; _{program.name.replace("-", "_")}; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    file = share / "bash-completion/completions" / program.name
    made = subprocess.run(["bash", "-euc", script, file, program.name, *words], capture_output=True, text=True, check=True)
    assert made.stderr == "", made.stderr
    return made.stdout.split()


class Manual(unittest.TestCase):
    def test_programs(self):
        self.assertTrue(programs)
        for program in programs:
            with self.subTest(program=program.name):
                text, complaints = rendered(share / "man/man1" / f"{program.name}.1")
                self.assertEqual(complaints, "")
                options = set(re.findall(r"^  (-\S+)", printed(program, "--help"), re.MULTILINE))
                names = {name for names in options for name in names.split(",")}
                self.assertLessEqual(max(len(line) for line in printed(program, "--help").splitlines()), 100)
                self.assertLess({"--help", "--version"}, names)
                listed = re.findall(r"^ +(-.*)", text, re.MULTILINE)
                self.assertLessEqual(names, {name for line in listed for name in re.findall(r"-[-\w]+", line)})
                self.assertIn(printed(program, "--help").splitlines()[0].split()[1], text)
                self.assertRegex(text, r"\n +3 +the machine or StarPU failed")
                self.assertEqual(set(completed(program, "-")), names)

    def test_values_are_completed(self):
        for program in programs:
            if program.name == "tessera-mpi-bench":
                self.assertEqual(completed(program, "--routine", "getr"), ["getrf_nopiv", "getrs_nopiv", "getrf", "getrs"])
                self.assertEqual(completed(program, "--type", ""), ["s", "d", "c", "z"])
            elif program.name != "tessera-trace":  # which has no option with values
                self.assertEqual(completed(program, "--placement", ""), ["home", "owner", "scheduler"])
                self.assertEqual(completed(program, "--placement", "o"), ["owner"])
                self.assertEqual(completed(program, "--tile", ""), [])
                self.assertEqual(completed(program, "--policy", "te"), ["tessera"])
            if program.name == "tessera-bench":
                self.assertEqual(completed(program, "--routine", "getrf"), ["getrf", "getrf_nopiv"])
                self.assertEqual(completed(program, "--against", ""), ["cublas", "cublasxt", "cusolver", "openblas"])
                self.assertEqual(completed(program, "--memory", ""), ["pinned", "pageable", "managed", "device", "spread"])

    def test_version(self):
        for program in programs:
            self.assertRegex(printed(program, "--version"), rf"^{program.name} \d+\.\d+\.\d+\n$")

    def test_environment(self):
        text, complaints = rendered(share / "man/man7/tessera-environment.7")
        self.assertEqual(complaints, "")
        page = (source / "docs/environment.md").read_text()
        documented = re.findall(r"^\| `([A-Z]+_[A-Z_]+)`", page, re.MULTILINE)
        self.assertGreater(len(documented), 30)
        self.assertEqual(documented, re.findall(r"^ {7}([A-Z]+_[A-Z_]+)(?: |$)", text, re.MULTILINE))
        self.assertNotRegex(text, r"`|\]\(|\*\*")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
