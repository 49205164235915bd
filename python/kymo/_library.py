# SPDX-License-Identifier: MIT
"""The C libraries, and the exception for their errors."""

import ctypes
import os


class Error(OSError):
    """A library call failed. `errno`, `strerror` and `filename` are those of OSError."""


def text_of(data):
    """The text of bytes from a file, which need not be UTF-8. It can have control characters."""
    return data.decode("utf-8", "backslashreplace")


def failure(result, filename=None, text=None):
    """The exception for a negative errno that a library has returned."""
    return Error(-result, text or os.strerror(-result), filename)


def open_file(file):
    """
    Opens FILE: a path, a descriptor, or a file object. Returns a descriptor, which is the caller's,
    or -1; the bytes of a file object that has no descriptor; and the name of the file, or None.
    """
    if isinstance(file, int):
        return os.dup(file), None, None
    if isinstance(file, (str, bytes, os.PathLike)):
        return os.open(file, os.O_RDONLY | os.O_CLOEXEC), None, os.fspath(file)
    name = getattr(file, "name", None)
    try:
        number = file.fileno()
    except (AttributeError, OSError):
        return -1, bytes(file.read()), name
    return os.dup(number), None, name


class Library:
    """
    A C library, with the functions of a table: name -> (result, arguments...).

    Functions whose names are in `waiting` can take long, and run without the interpreter's lock.
    The others never wait, and a thread that gave up the lock for them could wait to get it back.
    """

    def __init__(self, file, package, functions, waiting=()):
        try:
            short, long = ctypes.PyDLL(file), ctypes.CDLL(file)
        except OSError as error:
            raise ImportError(f"cannot load {file} (package {package}): {error}") from error
        for name, (result, *arguments) in functions.items():
            try:
                function = getattr(long if name in waiting else short, name)
            except AttributeError:
                raise ImportError(
                    f"{file} has no function {name}: update the package {package}"
                ) from None
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)
