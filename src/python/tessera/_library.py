# SPDX-License-Identifier: BSD-3-Clause
"""libtessera.so: where it is, its functions, and its errors."""
import ctypes
import os
import pathlib
import re
import signal

SONAME = "libtessera.so.0"

# The functions of tessera.h on pointers: their types and arguments, named as in the header. `real` marks scalars that are
# real for complex matrices, too.
ROUTINES = {
    "gemm": ("sdcz", "layout op_a op_b m n k alpha A lda B ldb beta C ldc"),
    "gemmt": ("sdcz", "layout uplo op_a op_b n k alpha A lda B ldb beta C ldc"),
    "symm": ("sdcz", "layout side uplo m n alpha A lda B ldb beta C ldc"),
    "hemm": ("cz", "layout side uplo m n alpha A lda B ldb beta C ldc"),
    "syrk": ("sdcz", "layout uplo op n k alpha A lda beta C ldc"),
    "herk": ("cz", "layout uplo op n k real:alpha A lda real:beta C ldc"),
    "syr2k": ("sdcz", "layout uplo op n k alpha A lda B ldb beta C ldc"),
    "her2k": ("cz", "layout uplo op n k alpha A lda B ldb real:beta C ldc"),
    "trmm": ("sdcz", "layout side uplo op diag m n alpha A lda B ldb"),
    "trsm": ("sdcz", "layout side uplo op diag m n alpha A lda B ldb"),
    "trtrs": ("sdcz", "layout uplo op diag n nrhs A lda B ldb info"),
    "potrf": ("sdcz", "layout uplo n A lda info"),
    "potrs": ("sdcz", "layout uplo n nrhs A lda B ldb"),
    "posv": ("sdcz", "layout uplo n nrhs A lda B ldb info"),
    "getrf": ("sdcz", "layout m n A lda ipiv info"),
    "getrs": ("sdcz", "layout op n nrhs A lda ipiv B ldb"),
    "gesv": ("sdcz", "layout n nrhs A lda ipiv B ldb info"),
    "getrf_nopiv": ("sdcz", "layout m n A lda growth info"),
    "getrs_nopiv": ("sdcz", "layout op n nrhs A lda B ldb"),
    "gesv_nopiv": ("sdcz", "layout n nrhs A lda B ldb growth info"),
    "trtri": ("sdcz", "layout uplo diag n A lda info"),
    "lauum": ("sdcz", "layout uplo n A lda"),
    "potri": ("sdcz", "layout uplo n A lda info"),
    "getri": ("sdcz", "layout n A lda ipiv info"),
    "geqrf": ("sdcz", "layout m n A lda tau"),
    "ormqr": ("sd", "layout side op m n k A lda tau C ldc"),
    "unmqr": ("cz", "layout side op m n k A lda tau C ldc"),
    "orgqr": ("sd", "layout m n k A lda tau"),
    "ungqr": ("cz", "layout m n k A lda tau"),
    "gels": ("sdcz", "layout op m n nrhs A lda B ldb info"),
    "laswp": ("sdcz", "layout n A lda k1 k2 ipiv incx"),
}
OPTIONS = {
    "layout": {"C": 101, "F": 102},
    "op": {"N": 111, "T": 112, "C": 113},
    "uplo": {"U": 121, "L": 122},
    "diag": {"N": 131, "U": 132},
    "side": {"L": 141, "R": 142},
}
OPTIONS["op_a"] = OPTIONS["op_b"] = OPTIONS["op"]
# The names that differ in Python.
NAMES = {"op": "trans", "op_a": "trans_a", "op_b": "trans_b", "A": "a", "B": "b", "C": "c"}


class Error(Exception):
    """Base class of this package's exceptions."""


class ArgumentError(Error, ValueError):
    """An argument is illegal, and nothing was changed. `routine`, `argument` and `problem` are the parts of the message."""

    def __init__(self, routine, argument, problem):
        super().__init__(f"{routine}: {argument} {problem}")
        self.routine, self.argument, self.problem = routine, argument, problem


class RuntimeFailure(Error, RuntimeError):
    """The machine or StarPU failed."""


def without_signals(start):
    """Calls a function with the signals of this thread blocked. Threads that it starts inherit the mask, so signals for the
    program reach the program's own threads. Faults stay unblocked, as in the library."""
    faults = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS}
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals() - faults)
    try:
        return start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def load():
    """Opens the library that TESSERA_LIBRARY names, otherwise the one in the prefix in which this package is installed,
    otherwise the one that the loader finds."""
    named = os.environ.get("TESSERA_LIBRARY")
    beside = pathlib.Path(__file__).resolve().parents[3] / SONAME  # PREFIX/lib, from PREFIX/lib/tessera/python/tessera
    place = named or (str(beside) if beside.exists() else SONAME)
    try:
        return without_signals(lambda: ctypes.CDLL(place))
    except OSError as error:
        raise ImportError(f"tessera cannot load its library: {error}. TESSERA_LIBRARY may name the file {SONAME}; it is "
                          + (f"{named!r} now." if named else f"not set, and there is no {beside}.")) from error


def argument_types(routine, letter):
    """The C types of a routine's arguments for one type of elements."""
    real = ctypes.c_float if letter in "sc" else ctypes.c_double
    for argument in ROUTINES[routine][1].split():
        if argument in OPTIONS:
            yield ctypes.c_int
        elif argument == "info":
            yield ctypes.POINTER(ctypes.c_int64)
        elif argument in ("A", "B", "C", "ipiv", "tau", "growth"):
            yield ctypes.c_void_p
        elif argument in ("alpha", "beta"):
            yield real if letter in "sd" else ctypes.c_void_p
        else:
            yield real if argument.startswith("real:") else ctypes.c_int64


def functions():
    """The functions of this library, by routine and type. An older library may lack some."""
    found = {}
    for routine, (letters, _) in ROUTINES.items():
        for letter in letters:
            function = getattr(library, f"tessera_{letter}{routine}", None)
            if function is not None:
                function.argtypes = list(argument_types(routine, letter))
                function.restype = ctypes.c_int
                found[routine, letter] = function
    return found


def explain(status, routine):
    """Raises the exception for a status. The library's message contains the C function, and the position and name of the
    argument."""
    message = library.tessera_last_error().decode()
    parts = re.fullmatch(r"\w+: argument \d+ \((\w+)\) (.*)", message, re.DOTALL)
    if status < 0 and parts:
        raise ArgumentError(routine, NAMES.get(parts[1], parts[1]), parts[2])
    raise RuntimeFailure(message)


def number(routine, name, value, letter, c_type):
    """alpha or beta as the C function takes it: complex numbers are passed by address."""
    by_address = c_type is ctypes.c_void_p
    try:
        z = complex(value)
    except (TypeError, ValueError):
        raise ArgumentError(routine, name, f"is {value!r}, must be a number") from None
    if not by_address and z.imag != 0:
        raise ArgumentError(routine, name, f"is {value!r}, must be real here")
    if not by_address:
        return c_type(z.real)
    return ((ctypes.c_float if letter == "c" else ctypes.c_double) * 2)(z.real, z.imag)


def call(routine, letter, **values):
    """Calls the function of this name and type. `values` are its arguments, named as in the header: a letter for an option,
    an array and its leading dimension for a matrix. Returns info, or 0 if the function has none."""
    function = functions_by_type.get((routine, letter))
    if function is None:
        raise RuntimeFailure(f"{routine}: this libtessera.so has no tessera_{letter}{routine}")
    info, arguments = ctypes.c_int64(0), []
    for argument, c_type in zip(ROUTINES[routine][1].split(), function.argtypes):
        name = argument.split(":")[-1]
        if name in OPTIONS:
            arguments.append(OPTIONS[name][values[name]])
        elif name == "info":
            arguments.append(info)
        elif name in ("alpha", "beta"):
            arguments.append(number(routine, name, values[name], letter, c_type))
        elif name in ("lda", "ldb", "ldc"):
            arguments.append(values[name[2].upper()][1])
        elif name in ("A", "B", "C"):
            arguments.append(values[name][0].ctypes.data)
        elif name in ("ipiv", "tau"):
            arguments.append(values[name].ctypes.data)
        else:
            arguments.append(values[name])
    checked(routine, function(*arguments))
    return info.value


def checked(routine, status):
    """Raises the exception for the status that a function has returned."""
    if status != 0:
        explain(status, routine)


def init(cpus=-1, gpus=-1):
    """Starts StarPU, or joins it if it runs. Optional, since the first routine starts what it needs. Each call needs a call
    of `finalize`. -1 stands for the number in TESSERA_CPUS or TESSERA_DEVICES, or if these are not set, for all useful ones."""
    checked("init", library.tessera_init(cpus, gpus))


def finalize():
    """Ends what `init` began. The last of nested calls waits for all submitted work, and stops what the first `init` started;
    the others return at once. Without `init`, stops what the first routine started."""
    checked("finalize", library.tessera_finalize())


def host_register(address, size):
    """Pins memory, so GPUs can copy from and to it directly. `tessera.pinned` does this for arrays."""
    checked("host_register", library.tessera_host_register(address, size))


def host_unregister(address):
    """Undoes `host_register`."""
    checked("host_unregister", library.tessera_host_unregister(address))


def version():
    """The version of libtessera.so."""
    return library.tessera_version().decode()


library = load()
library.tessera_last_error.restype = library.tessera_version.restype = ctypes.c_char_p
library.tessera_init.argtypes = [ctypes.c_int, ctypes.c_int]
library.tessera_host_register.argtypes = [ctypes.c_void_p, ctypes.c_int64]
library.tessera_host_unregister.argtypes = [ctypes.c_void_p]
library.tessera_keep.argtypes = library.tessera_changed_part.argtypes = [ctypes.c_char, ctypes.c_void_p] + 3 * [ctypes.c_int64]
library.tessera_forget.argtypes = [ctypes.c_void_p]
functions_by_type = functions()
