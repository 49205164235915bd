# SPDX-License-Identifier: MIT
"""The C libraries, and the exception for their errors."""

import ctypes
import io
import os


class Error(OSError):
    """A library call failed. `errno`, `strerror` and `filename` are those of OSError."""


def text_of(data):
    """The text of bytes from a file, which need not be UTF-8. It can have control characters."""
    return data.decode("utf-8", "backslashreplace")


def failure(result, filename=None, text=None):
    """The exception for a negative errno that a library has returned."""
    return Error(-result, text or os.strerror(-result), filename)


def checked(number, most=2**64 - 1, least=0):
    """Returns NUMBER if it is in the range; ctypes would cut a number that is too large."""
    if not least <= number <= most:
        raise OverflowError(f"{number} does not fit into {most.bit_length() + (least < 0)} bits")
    return number


def c_text(text):
    """TEXT as bytes for a function that reads up to a NUL."""
    data = text.encode()
    if 0 in data:
        raise ValueError(f"{text!r} has a NUL")
    return data


def _has_plain_descriptor(file):
    """
    True if the descriptor of FILE has the same data as FILE. Files of lzma.open() and of HTTP have
    descriptors with other data.
    """
    file = getattr(file, "raw", file)
    return hasattr(file, "fileno") and not isinstance(file, io.BufferedIOBase)


def _take_back(file, fd):
    """Sets the position of FD, the descriptor of FILE, to that of FILE, which may have read ahead."""
    if isinstance(getattr(file, "raw", None), io.FileIO):
        try:
            os.lseek(fd, file.tell(), os.SEEK_SET)
        except OSError:
            pass  # a pipe


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
    file = getattr(file, "buffer", file)
    number = -1
    if _has_plain_descriptor(file):
        try:
            number = file.fileno()
        except (AttributeError, OSError):
            pass
    if number < 0:
        return -1, bytes(file.read()), name
    fd = os.dup(number)
    _take_back(file, fd)
    return fd, None, name


class Library:
    """
    A C library, with the functions of a table: name -> (result, arguments...).

    Functions whose names are in `waiting` can take long, and run without the interpreter's lock.
    The other functions never wait, and so keep the lock: a thread that gave up the lock could wait
    long to get it back.
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
