#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The recipe for Spack, with a stand-in for Spack, and the file for containers: whether they fit CMakeLists.txt and the
sources. usage: recipes.py SOURCE"""
import itertools
import pathlib
import re
import shlex
import subprocess
import sys
import types
import unittest

source = pathlib.Path(sys.argv[1])
CMAKE = "\n".join(file.read_text() for pattern in ("CMakeLists.txt", "src/**/CMakeLists.txt", "src/**/*.cmake")
                  for file in sorted(source.glob(pattern)))

# What CMake looks for, by its name in Spack; None: it comes with another one, or only tests of ours need it.
SPACK_NAMES = {"PkgConfig": "pkgconfig", "Threads": None, "nlohmann_json": "nlohmann-json", "hwloc": "hwloc",
               "openblas": "openblas", "CUDAToolkit": "cuda", "MPI": "mpi", "CLI11": "cli11", "fmt": "fmt", "cairo": "cairo",
               "Python3": "python", "starpu-1.4": "starpu", "starpumpi-1.4": "starpu", "simgrid": None,
               "OpenCL": "opencl", "clblast": "clblast"}


class Recipe:
    """The content of a recipe, for one choice of variants."""

    def __init__(self):
        self.versions, self.variants, self.dependencies, self.conditions = [], {}, {}, []

    def module(self):
        recipe = self

        class Condition:
            def __init__(self, condition):
                recipe.conditions.append(condition)

            def __enter__(self):
                return self

            def __exit__(self, *_):
                return None

        class CMakePackage:
            run_tests = False

            def define(self, name, value):
                if isinstance(value, (list, tuple)):
                    value = ";".join(value)
                return f"-D{name}={value}"

            def define_from_variant(self, name, variant):
                assert variant in recipe.variants, variant
                return self.define(name, f"+{variant}" in self.spec)

        def depends_on(spec, when="", type=("build", "link")):
            words = spec.split()
            recipe.dependencies.setdefault(re.match(r"[a-z][-a-z0-9]*", words[0])[0], []).append((spec, when, type))
            recipe.conditions.append(when)

        def variant(name, default, description):
            assert isinstance(default, bool) and description
            recipe.variants[name] = default

        def conflicts(spec, when="", msg=""):
            assert spec and msg
            recipe.conditions.append(when)

        module = types.ModuleType("spack.package")
        module.CMakePackage, module.CudaPackage = CMakePackage, type("CudaPackage", (), {})
        module.depends_on, module.variant, module.conflicts, module.when = depends_on, variant, conflicts, Condition
        module.version = lambda number: recipe.versions.append(number)
        return module


class Spec(str):
    """A package with its variants, for example "tessera +mpi ~cuda"."""
    variants = {"cuda_arch": types.SimpleNamespace(value=("80", "90"))}


class Spack(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.recipe = Recipe()
        sys.modules["spack"] = types.ModuleType("spack")
        sys.modules["spack.package"] = cls.recipe.module()
        file = source / "packaging/spack/packages/tessera/package.py"
        read = {}
        exec(compile(file.read_text(), str(file), "exec"), read)
        cls.package = read["Tessera"]

    def test_repository(self):
        self.assertRegex((source / "packaging/spack/repo.yaml").read_text(), r"^repo:\n  namespace: \w+\n$")
        self.assertTrue(self.package.__doc__)

    def test_version(self):
        self.assertEqual(self.recipe.versions, re.findall(r"^project\(tessera VERSION ([\d.]+)", CMAKE, re.MULTILINE))

    def test_all_that_cmake_looks_for(self):
        wanted = re.findall(r"^ *find_package\((\w+)", CMAKE, re.MULTILINE)
        for names in re.findall(r"^ *pkg_check_modules\(\w+ ([^)]*)\)", CMAKE, re.MULTILINE):
            wanted += [re.split("[<>=]", name)[0] for name in names.split() if name not in
                       ("REQUIRED", "QUIET", "IMPORTED_TARGET", "GLOBAL")]
        self.assertGreater(len(wanted), 10)
        for name in wanted:
            self.assertIn(name, SPACK_NAMES, "CMake looks for it")
            if SPACK_NAMES[name]:
                self.assertIn(SPACK_NAMES[name], self.recipe.dependencies)

    def test_conditions_name_variants(self):
        for condition in filter(None, self.recipe.conditions):
            for name in re.findall(r"[+~](\w+)", condition):
                self.assertIn(name, {*self.recipe.variants, "cuda"}, condition)

    def test_cmake_of_the_recipe_is_new_enough(self):
        (needed,) = re.findall(r"^cmake_minimum_required\(VERSION ([\d.]+)\)", CMAKE, re.MULTILINE)
        self.assertEqual([spec for spec, _, _ in self.recipe.dependencies["cmake"]], [f"cmake@{needed}:"])

    def test_options_exist(self):
        options = set(re.findall(r"(?:option\(|set\()(TESSERA_\w+)(?= [^)]*CACHE| \")", CMAKE, re.DOTALL))
        options |= set(re.findall(r"option\((TESSERA_\w+)", CMAKE))
        names = [*self.recipe.variants, "cuda"]
        for chosen in itertools.product("+~", repeat=len(names)):
            package = self.package()
            package.spec = Spec("tessera " + " ".join(sign + name for sign, name in zip(chosen, names)))
            with self.subTest(spec=package.spec):
                values = dict(re.fullmatch(r"-D(\w+)=(.*)", each).groups() for each in package.cmake_args())
                self.assertLessEqual(set(values), options)
                self.assertEqual(values["TESSERA_CUDA"], "ON" if "+cuda" in package.spec else "OFF")
                self.assertEqual(values["TESSERA_MPI"], "ON" if "+mpi" in package.spec else "OFF")
                self.assertEqual(values["TESSERA_TOOLS"], str("+tools" in package.spec))
                self.assertEqual(values.get("TESSERA_CUDA_ARCHITECTURES"), "80;90" if "+cuda" in package.spec else None)


class Container(unittest.TestCase):
    """The instructions of packaging/Containerfile: (word, rest of the line)."""

    @classmethod
    def setUpClass(cls):
        text = re.sub(r"^#.*\n", "", (source / "packaging/Containerfile").read_text(), flags=re.MULTILINE)
        lines = [line.strip() for line in text.replace("\\\n", " ").splitlines()]
        cls.instructions = [tuple(line.split(None, 1)) for line in lines if line]

    def of(self, word):
        return [rest for first, rest in self.instructions if first == word]

    def test_instructions_are_known(self):
        self.assertLessEqual({word for word, _ in self.instructions},
                             {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "USER", "CMD"})
        self.assertEqual([word for word, _ in self.instructions[:2]], ["ARG", "FROM"])

    def test_stages_are_there(self):
        stages = [match[1] for match in (re.search(r" AS (\w+)$", rest) for rest in self.of("FROM")) if match]
        self.assertEqual(len(self.of("FROM")), len(stages) + 1)
        for rest in self.of("COPY"):
            for stage in re.findall(r"--from=(\S+)", rest):
                self.assertIn(stage, stages)
        for image in re.findall(r"^BASE=(.*)$", "\n".join(self.of("ARG")), re.MULTILINE):
            self.assertRegex(image, r"^\w+:\d", "an image without a version changes by itself")

    def test_sources_are_there_and_complete(self):
        copied = [word for rest in self.of("COPY") if "--from" not in rest for word in rest.split()[:-1]]
        for each in copied:
            self.assertTrue((source / each).exists(), each)
        named = set(re.findall(r"^ *(?:add_subdirectory|include)\(([a-z]+)[/)]", (source / "CMakeLists.txt").read_text(),
                               re.MULTILINE))
        self.assertGreaterEqual(set(copied), {"CMakeLists.txt", "CMakePresets.json", "run", "LICENSE", "packaging"})
        self.assertLessEqual(named - {"examples", "tests"}, set(copied))  # `./run package` builds neither

    def test_commands_are_those_of_a_shell(self):
        for command in self.of("RUN"):
            subprocess.run(["sh", "-n", "-c", command], check=True)
        for words in (shlex.split(command) for command in self.of("RUN") if "apt-get install" in command):
            self.assertLessEqual({"--yes", "--no-install-recommends", "/var/lib/apt/lists/*"}, set(words))
        self.assertEqual(self.of("USER"), ["nobody"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
