#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the Fortran module from the prototypes of the C header: an interface to each routine on pointers, a procedure for
sizes of each kind, and generic names.
usage: generate.py HEADER TEMPLATE OUTPUT"""
import pathlib
import re
import sys
import textwrap

import prototypes

# The letters of the BLAS for each type of option.
LETTERS = {
    "tessera_op": {"N": "TESSERA_NO_TRANS", "T": "TESSERA_TRANS", "C": "TESSERA_CONJ_TRANS"},
    "tessera_uplo": {"U": "TESSERA_UPPER", "L": "TESSERA_LOWER"},
    "tessera_diag": {"N": "TESSERA_NON_UNIT", "U": "TESSERA_UNIT"},
    "tessera_side": {"L": "TESSERA_LEFT", "R": "TESSERA_RIGHT"},
}
# Integers that a routine returns, and arrays of integers with their length.
RESULTS = {"info"}
VECTORS = {"ipiv": "max(0_{kind}, {size})"}

ELEMENT = {"s": "real(c_float)", "d": "real(c_double)",
           "c": "complex(c_float_complex)", "z": "complex(c_double_complex)"}
NUMBER = {"float": "real(c_float)", "double": "real(c_double)"}
FACTORS = {"alpha", "beta"}
INDENT = "    "


class Argument:
    """A parameter of the C function, as an argument of the Fortran procedures."""

    def __init__(self, routine, parameter, sizes):
        c_type, self.name = parameter
        self.read_only = c_type.startswith("const ")
        self.kind = None
        target = c_type.removeprefix("const ").removesuffix("*")
        pointer = c_type.endswith("*")
        of_element = target in NUMBER or target == "void" and routine.letter in "cz"
        self.type = NUMBER.get(target) or ELEMENT[routine.letter]
        if c_type in LETTERS or c_type == "tessera_layout":
            self.kind = c_type
        elif c_type == "int64_t":
            self.kind = "size"
        elif target == "int64_t" and pointer and self.name in RESULTS:
            self.kind = "result"
        elif target == "int64_t" and pointer and self.name in VECTORS:
            self.kind = "integers"
        elif of_element and pointer and f"ld{self.name.lower()}" in sizes:
            self.kind = "matrix"
        elif of_element and self.name in FACTORS and (self.read_only or not pointer):
            self.kind = "number" if pointer else "value"
        elif of_element and pointer:
            self.kind = "vector"
        if self.kind is None:
            raise SystemExit(f"tessera.h: {routine.name} has a parameter that {__file__} does not know: {c_type} {self.name}")

    def intent(self):
        return "in" if self.read_only or self.kind in ("size", "value") or self.kind in LETTERS else \
            "out" if self.kind == "result" else "inout"


def wrapped(text, indent):
    """A statement, wrapped to lines that every compiler accepts."""
    lines = textwrap.wrap(text, 112 - len(indent), break_long_words=False, break_on_hyphens=False)
    return (" &\n" + indent + "  ").join([indent + lines[0]] + lines[1:])


def c_interface(routine, arguments):
    """The interface to the C function."""
    names = ", ".join(a.name for a in arguments)
    lines = [wrapped(f"integer(c_int) function {c_name(routine)}({names}) bind(c, name='{routine.name}')", INDENT),
             INDENT + "  import :: c_int, c_int64_t, " + ", ".join(sorted({kind_of(a) for a in arguments} - {None}))]
    for a in arguments:
        if a.kind == "size":
            lines.append(f"{INDENT}  integer(c_int64_t), value :: {a.name}")
        elif a.kind == "result":
            lines.append(f"{INDENT}  integer(c_int64_t), intent(inout) :: {a.name}")
        elif a.kind == "integers":
            lines.append(f"{INDENT}  integer(c_int64_t), intent({a.intent()}) :: {a.name}(*)")
        elif a.kind == "value":
            lines.append(f"{INDENT}  {a.type}, value :: {a.name}")
        elif a.kind == "number":
            lines.append(f"{INDENT}  {a.type}, intent(in) :: {a.name}")
        elif a.kind in ("matrix", "vector"):
            lines.append(f"{INDENT}  {a.type}, intent({a.intent()}) :: {a.name}(*)")
        else:
            lines.append(f"{INDENT}  integer(c_int), value :: {a.name}")
    return lines + [INDENT + "end function"]


def kind_of(argument):
    """The kind that an interface must import for an argument."""
    return re.search(r"\((\w+)\)", argument.type)[1] if argument.kind in ("value", "number", "matrix", "vector") else None


def c_name(routine):
    return "c_" + routine.letter + routine.base


def declarations(arguments, kind):
    """The declarations of a Fortran procedure's arguments: sizes first, since arrays depend on them."""
    lines = []
    for a in sorted(arguments, key=lambda a: a.kind != "size"):
        if a.kind in LETTERS:
            declaration = f"character, intent(in) :: {a.name}"
        elif a.kind in ("size", "result"):
            declaration = f"integer({kind}), intent({a.intent()}) :: {a.name}"
        elif a.kind == "integers":
            declaration = f"integer({kind}), intent({a.intent()}) :: {a.name}(*)"
        elif a.kind == "matrix":
            declaration = f"{a.type}, intent({a.intent()}) :: {a.name}(ld{a.name.lower()}, *)"
        elif a.kind == "vector":
            declaration = f"{a.type}, intent({a.intent()}) :: {a.name}(*)"
        else:
            declaration = f"{a.type}, intent(in) :: {a.name}"
        lines.append(INDENT + declaration)
    return lines + [INDENT + "integer, intent(out), optional :: stat",
                    INDENT + "character(*), intent(inout), optional :: errmsg"]


def procedure(name, visible, kind, body):
    names = ", ".join([a.name for a in visible] + ["stat", "errmsg"])
    return [wrapped(f"subroutine {name}({names})", "  "), *declarations(visible, kind), *body, "  end subroutine", ""]


def wide_procedure(routine, arguments):
    """The procedure for sizes of 64 bits, which calls the C function."""
    visible = [a for a in arguments if a.kind != "tessera_layout"]
    given = ", ".join("TESSERA_COL_MAJOR" if a.kind == "tessera_layout"
                      else f"{a.kind.removeprefix('tessera_')}_of({a.name})" if a.kind in LETTERS
                      else a.name for a in arguments)
    results = [a.name for a in arguments if a.kind == "result"]
    body = [f"{INDENT}integer(c_int) :: code"]
    body += [f"{INDENT}{name} = no_info" for name in results]
    body += [wrapped(f"code = {c_name(routine)}({given})", INDENT)]
    body += [f"{INDENT}if (code < 0) {name} = code + 1" for name in results]
    body += [f"{INDENT}call conclude(code, 1, stat, errmsg)"]
    return procedure(routine.name + "_64", visible, "c_int64_t", body)


def narrow_procedure(routine, arguments):
    """The procedure for sizes of 32 bits, which calls the one for 64."""
    visible = [a for a in arguments if a.kind != "tessera_layout"]
    sizes = [a.name for a in visible if a.kind == "size"]
    size = "min(m, n)" if {"m", "n"} <= set(sizes) else "n"
    if {"k1", "k2", "incx"} <= set(sizes):  # laswp: the pivots of rows k1 to k2, each |incx| after the one before
        size = "merge(k1 + (k2 - k1)*abs(incx), 0_c_int32_t, k2 >= k1)"
    given, declared, before, after = [], [], [], []
    for a in visible:
        if a.kind == "size":
            given.append(f"int({a.name}, c_int64_t)")
        elif a.kind == "result":
            given.append(f"wide_{a.name}")
            declared.append(f"{INDENT}integer(c_int64_t) :: wide_{a.name}")
            after.append(f"{INDENT}{a.name} = int(wide_{a.name}, c_int32_t)")
        elif a.kind == "integers":
            length = VECTORS[a.name].format(kind="c_int32_t", size=size)
            given.append(f"wide_{a.name}")
            declared.append(f"{INDENT}integer(c_int64_t), allocatable :: wide_{a.name}(:)")
            before.append(f"{INDENT}allocate (wide_{a.name}, source=int({a.name}(:{length}), c_int64_t))")
            if not a.read_only:
                after.append(f"{INDENT}{a.name}(:size(wide_{a.name})) = int(wide_{a.name}, c_int32_t)")
        else:
            given.append(a.name)
    call = wrapped(f"call {routine.name}_64({', '.join(given + ['stat', 'errmsg'])})", INDENT)
    return procedure(routine.name, visible, "c_int32_t", declared + before + [call] + after)


def options(values):
    """The functions that convert a letter to an enumerator."""
    for c_type, letters in LETTERS.items():
        name = c_type.removeprefix("tessera_") + "_of"
        yield from [f"  pure integer(c_int) function {name}(letter)", "    character, intent(in) :: letter",
                    "    select case (letter)"]
        for letter, enumerator in letters.items():
            values[enumerator]  # must exist
            yield f"    case ('{letter}', '{letter.lower()}'); {name} = {enumerator}"
        yield from [f"    case default; {name} = illegal(letter)", "    end select", "  end function", ""]


def module(header, template):
    routines, values = prototypes.routines(header), prototypes.enumerators(header)
    names = {r.name for r in routines}
    families, parts = {}, {key: [] for key in ("INTERFACES", "PROCEDURES", "PUBLIC", "GENERICS")}
    for r in routines:
        sizes = {p.name for p in r.parameters}
        arguments = [Argument(r, p, sizes) for p in r.parameters]
        parts["INTERFACES"] += c_interface(r, arguments)
        parts["PROCEDURES"] += wide_procedure(r, arguments) + narrow_procedure(r, arguments)
        families.setdefault(r.base, []).append(r)
    for base, family in families.items():
        own = [name for r in family for name in (r.name, r.name + "_64")]
        parts["PUBLIC"].append(wrapped("public :: " + ", ".join(own), "  "))
        if f"tessera_{base}" in names:  # without its first letter, dsgesv is the name of another routine
            continue
        parts["PUBLIC"].append(f"  public :: tessera_{base}")
        parts["GENERICS"] += ["  ! " + line for line in family[0].comment.splitlines()]
        parts["GENERICS"] += [f"  interface tessera_{base}", wrapped("module procedure " + ", ".join(own), INDENT),
                              "  end interface", ""]
    parts["ENUMERATORS"] = [f"  integer(c_int), parameter :: {name} = {value}" for name, value in values.items()]
    parts["LETTERS"] = [f"""    call replace(text, '{name} ({values[name]})', "'{letter}'")"""
                        for letters in LETTERS.values() for letter, name in letters.items()]
    parts["OPTIONS"] = list(options(values))
    return re.sub(r"^@(\w+)@$", lambda place: "\n".join(parts[place[1]]).rstrip(), template, flags=re.MULTILINE)


if __name__ == "__main__":
    header, template, output = map(pathlib.Path, sys.argv[1:])
    output.write_text(module(header.read_text(), template.read_text()))
