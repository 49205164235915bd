# SPDX-License-Identifier: MIT
"""Trace points (trace-db): written, read and queried with libkymo."""

import collections
import ctypes
import enum
import errno
import os
import threading
from ctypes import CFUNCTYPE, POINTER, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t
from ctypes import c_uint32, c_uint64, c_void_p

from kymo._library import Library, c_text, checked, failure, open_file, text_of

_RESULT = CFUNCTYPE(c_int, c_void_p, c_void_p)

_c = Library(
    "libkymo.so.0",
    "libkymo0",
    {
        "kymo_writer_new": (c_int, POINTER(c_void_p), c_int),
        "kymo_writer_free": (c_void_p, c_void_p),
        "kymo_writer_add_name": (c_int, c_void_p, c_char_p),
        "kymo_writer_add_type": (c_int, c_void_p, c_int, c_int, c_uint32),
        "kymo_writer_begin": (c_int, c_void_p),
        "kymo_writer_statement": (c_int, c_void_p, c_uint64),
        "kymo_writer_buffer": (c_int, c_void_p, c_uint64, c_uint64),
        "kymo_writer_unsigned": (c_int, c_void_p, c_int, c_int, c_uint64),
        "kymo_writer_signed": (c_int, c_void_p, c_int, c_int, c_int64),
        "kymo_writer_float": (c_int, c_void_p, c_int, c_int, c_double),
        "kymo_writer_pointer": (c_int, c_void_p, c_int, c_int, c_uint64),
        "kymo_writer_blob": (c_int, c_void_p, c_int, c_int, c_char_p, c_size_t),
        "kymo_writer_auxiliary": (c_int, c_void_p, c_uint64),
        "kymo_writer_end_point": (c_int, c_void_p),
        "kymo_writer_bytes": (c_void_p, c_void_p, POINTER(c_size_t)),
        "kymo_writer_flush": (c_int, c_void_p, c_int),
        "kymo_points_load_fd": (c_int, POINTER(c_void_p), c_int),
        "kymo_points_load_memory": (c_int, POINTER(c_void_p), c_char_p, c_size_t),
        "kymo_points_free": (c_void_p, c_void_p),
        "kymo_points_damage": (c_char_p, c_void_p, POINTER(c_uint64)),
        "kymo_points_layout": (c_int, c_void_p),
        "kymo_points_count": (c_uint64, c_void_p),
        "kymo_cursor_new": (c_int, POINTER(c_void_p), c_void_p),
        "kymo_cursor_free": (c_void_p, c_void_p),
        "kymo_cursor_next": (c_int, c_void_p, POINTER(c_void_p)),
        "kymo_point_number": (c_uint64, c_void_p),
        "kymo_point_statement": (c_uint64, c_void_p),
        "kymo_point_auxiliaries": (c_size_t, c_void_p),
        "kymo_point_auxiliary": (c_uint64, c_void_p, c_size_t),
        "kymo_point_variables": (c_size_t, c_void_p),
        "kymo_point_name": (c_char_p, c_void_p, c_size_t),
        "kymo_point_type": (c_char_p, c_void_p, c_size_t),
        "kymo_point_format": (c_int, c_void_p, c_size_t),
        "kymo_point_unsigned": (c_uint64, c_void_p, c_size_t),
        "kymo_point_signed": (c_int64, c_void_p, c_size_t),
        "kymo_point_float": (c_double, c_void_p, c_size_t),
        "kymo_point_blob": (c_void_p, c_void_p, c_size_t, POINTER(c_size_t)),
        "kymo_point_buffer_size": (c_bool, c_void_p, c_size_t, POINTER(c_uint64)),
        "kymo_query_new": (c_int, POINTER(c_void_p)),
        "kymo_query_free": (c_void_p, c_void_p),
        "kymo_query_declare": (c_int, c_void_p, c_char_p),
        "kymo_query_set_expression": (c_int, c_void_p, c_char_p),
        "kymo_query_add_soft": (c_int, c_void_p, c_char_p),
        "kymo_query_set_statement": (None, c_void_p, c_uint64, c_uint64),
        "kymo_query_set_seed": (None, c_void_p, c_uint32),
        "kymo_query_set_limit": (None, c_void_p, c_uint64),
        "kymo_query_set_keep_duplicates": (None, c_void_p, c_bool),
        "kymo_query_error": (c_char_p, c_void_p, POINTER(c_size_t)),
        "kymo_query_variables": (c_size_t, c_void_p),
        "kymo_query_variable_name": (c_char_p, c_void_p, c_size_t),
        "kymo_query_run": (c_int, c_void_p, c_void_p, _RESULT, c_void_p),
        "kymo_result_point": (c_void_p, c_void_p),
        "kymo_result_earlier_nth": (c_void_p, c_void_p, c_uint32),
        "kymo_result_variable_point": (c_void_p, c_void_p, c_size_t),
        "kymo_result_variable": (c_size_t, c_void_p, c_size_t),
    },
    waiting=(
        "kymo_points_load_fd",
        "kymo_points_load_memory",
        "kymo_query_run",
        "kymo_writer_flush",
    ),
)


class Layout(enum.IntEnum):
    """The layouts of trace-db: numbers of 16 bits, and wider ones, which most programs use."""

    W16 = 0
    W64 = 1


class Format(enum.IntEnum):
    """The formats of types."""

    UNSIGNED = 0
    SIGNED = 1
    FLOAT = 2
    POINTER = 3
    BLOB = 4


class QueryError(ValueError):
    """A query is not valid. `position` is that of the error in the text, in bytes."""

    def __init__(self, text, position):
        super().__init__(text, position)
        self.position = position

    def __str__(self):
        return f"{self.args[0]}, at byte {self.position}"


# ---- reading ----

Variable = collections.namedtuple("Variable", "name type format value buffer_size")
Variable.__doc__ = (
    "A variable of a trace point. Its value is an int, a float, or the bytes of a blob. "
    "buffer_size is the number of bytes from a pointer to the end of its buffer, or None."
)
Point = collections.namedtuple("Point", "number statement variables auxiliaries")
Point.__doc__ = "A trace point: a copy, that stays valid. Statement 0 is none."


class Result(collections.namedtuple("Result", "point earlier variables")):
    """
    A result of a query: the point, the earlier one (None if the query joins no points), and the
    Variable of each variable of the query, by its name. earlier_points has all earlier points:
    those of e/, e2/ and e3/.
    """

    earlier_points = ()


def _blob_of(point, i):
    size = c_size_t()
    data = _c.kymo_point_blob(point, i, size)
    return ctypes.string_at(data, size.value) if data else b""


_VALUES = {
    Format.UNSIGNED: _c.kymo_point_unsigned,
    Format.SIGNED: _c.kymo_point_signed,
    Format.FLOAT: _c.kymo_point_float,
    Format.POINTER: _c.kymo_point_unsigned,
    Format.BLOB: _blob_of,
}


def _variable_of(point, i):
    size = c_uint64()
    number = _c.kymo_point_format(point, i)
    value = _VALUES[number](point, i) if number in _VALUES else None
    return Variable(
        text_of(_c.kymo_point_name(point, i)),
        text_of(_c.kymo_point_type(point, i)),
        Format(number) if number in _VALUES else number,
        value,
        size.value if _c.kymo_point_buffer_size(point, i, size) else None,
    )


def _point_of(point):
    return Point(
        _c.kymo_point_number(point),
        _c.kymo_point_statement(point),
        [_variable_of(point, i) for i in range(_c.kymo_point_variables(point))],
        [_c.kymo_point_auxiliary(point, i) for i in range(_c.kymo_point_auxiliaries(point))],
    )


class Points:
    """
    All trace points of a file, in memory: made by kymo.open_points(). Threads can share them.

    layout   a Layout
    damage   None if the file is complete; otherwise the error and its offset
    """

    def __init__(self, file):
        self._handle = None
        handle = c_void_p()
        fd, data, name = open_file(file)
        if fd >= 0:
            try:
                result = _c.kymo_points_load_fd(handle, fd)
            finally:
                os.close(fd)
        else:
            result = _c.kymo_points_load_memory(handle, data, len(data))
        if result < 0:
            raise failure(result, name, "Not trace points" if result == -errno.EBADMSG else None)
        self._handle = handle.value
        self.layout = Layout(_c.kymo_points_layout(self._handle))
        offset = c_uint64()
        text = _c.kymo_points_damage(self._handle, offset)
        self.damage = None if text is None else (text_of(text), offset.value)

    def __del__(self, free=_c.kymo_points_free):
        if getattr(self, "_handle", None):
            free(self._handle)

    def __len__(self):
        return _c.kymo_points_count(self._handle)

    def __iter__(self):
        cursor, point = c_void_p(), c_void_p()
        result = _c.kymo_cursor_new(cursor, self._handle)
        try:
            while result >= 0:
                result = _c.kymo_cursor_next(cursor, point)
                if result == 0:
                    return
                if result > 0:
                    yield _point_of(point)
        finally:
            _c.kymo_cursor_free(cursor)
        raise failure(result)

    def query(
        self, expression=None, variables=(), soft=(), statement=None, limit=0, seed=0,
        keep_duplicates=False,
    ):
        """
        The results of a query in the language of `kymo query`, as a list of Result.

        VARIABLES are free variables, "NAME" or "NAME:TYPE,TYPE"; SOFT are soft expressions. With
        STATEMENT, a number or a pair of a number and a mask, only points of such statements match.
        LIMIT is the largest number of results, 0 = all. Equal SEEDS select one random point, 0 =
        all points. KEEP_DUPLICATES returns also results with the statement, names and types of an
        earlier one. Raises QueryError.
        """
        query = c_void_p()
        result = _c.kymo_query_new(query)
        if result < 0:
            raise failure(result)
        try:
            for variable in variables:
                self._expect(query, _c.kymo_query_declare(query, c_text(variable)))
            if expression is not None:
                self._expect(query, _c.kymo_query_set_expression(query, c_text(expression)))
            for each in soft:
                self._expect(query, _c.kymo_query_add_soft(query, c_text(each)))
            if statement is not None:
                pair = (statement, (1 << 64) - 1) if isinstance(statement, int) else statement
                _c.kymo_query_set_statement(query, *(checked(number) for number in pair))
            _c.kymo_query_set_limit(query, checked(limit))
            _c.kymo_query_set_seed(query, checked(seed, 2**32 - 1))
            _c.kymo_query_set_keep_duplicates(query, keep_duplicates)
            return self._run(query)
        finally:
            _c.kymo_query_free(query)

    @staticmethod
    def _expect(query, result):
        if result >= 0:
            return
        at = c_size_t()
        text = text_of(_c.kymo_query_error(query, at))
        raise QueryError(text, at.value) if text else failure(result)

    def _run(self, query):
        names = [
            text_of(_c.kymo_query_variable_name(query, i))
            for i in range(_c.kymo_query_variables(query))
        ]
        results, errors = [], []

        def take(_, result):
            # (an exception must not pass through C)
            try:
                results.append(self._result_of(result, names))
            except BaseException as error:
                errors.append(error)
            return len(errors)

        self._expect(query, _c.kymo_query_run(query, self._handle, _RESULT(take), None))
        if errors:
            raise errors[0]
        return results

    @staticmethod
    def _result_of(result, names):
        variables = {}
        earlier = []
        while point := _c.kymo_result_earlier_nth(result, len(earlier) + 1):
            earlier.append(_point_of(point))
        for i, name in enumerate(names):
            point = _c.kymo_result_variable_point(result, i)
            if point:
                variables[name] = _variable_of(point, _c.kymo_result_variable(result, i))
        made = Result(
            _point_of(_c.kymo_result_point(result)), earlier[0] if earlier else None, variables
        )
        made.earlier_points = tuple(earlier)
        return made


def open_points(file):
    """
    Loads the trace points of a file: a path, a descriptor, or a file object, as kymo.open() does.
    The points before damage are loaded, too. Raises OSError.
    """
    return Points(file)


# ---- writing ----

_FLUSH_BYTES = 1 << 16

_PUT = {
    Format.UNSIGNED: _c.kymo_writer_unsigned,
    Format.SIGNED: _c.kymo_writer_signed,
    Format.FLOAT: _c.kymo_writer_float,
    Format.POINTER: _c.kymo_writer_pointer,
}
# The largest and the least number
_RANGES = {
    Format.UNSIGNED: (2**64 - 1, 0),
    Format.SIGNED: (2**63 - 1, -(2**63)),
    Format.POINTER: (2**64 - 1, 0),
}


class PointWriter:
    """
    Writes trace points to FILE: a path, which is replaced, a descriptor, or a file object.

    NAMES are those of variables. TYPES are name -> (Format, size in bytes); blobs of size 0 have
    any size. All of them are written at the begin. Threads can share a writer.

        with kymo.PointWriter("points.tdb", ["count"], {"size_t": (kymo.Format.UNSIGNED, 8)}) as w:
            w.write(17, [("count", "size_t", 40)])
    """

    def __init__(self, file, names, types, layout=Layout.W64):
        self._handle = None
        self._fd = -1
        # (a thread that waits in a flush has given up the lock of the interpreter)
        self._lock = threading.Lock()
        handle = c_void_p()
        self._expect(_c.kymo_writer_new(handle, layout))
        self._handle = handle.value
        try:
            self._names = {name: self._add_name(name) for name in names}
            self._types = {}
            for name, (kind, size) in types.items():
                number = self._names[name] if name in self._names else self._add_name(name)
                size = checked(size, 2**32 - 1)
                number = self._expect(_c.kymo_writer_add_type(handle, number, kind, size))
                self._types[name] = (number, Format(kind))
            self._expect(_c.kymo_writer_begin(handle))
            if isinstance(file, (str, bytes, os.PathLike)):
                flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
                self._fd = os.open(file, flags, 0o666)
            else:
                getattr(file, "flush", lambda: None)()
                self._fd = os.dup(file if isinstance(file, int) else file.fileno())
        except BaseException:
            self._release()
            raise

    @staticmethod
    def _expect(result):
        if result < 0:
            raise failure(result)
        return result

    def _add_name(self, name):
        return self._expect(_c.kymo_writer_add_name(self._handle, c_text(name)))

    def _opened(self):
        if self._handle is None:
            raise ValueError("the writer is closed")
        return self._handle

    def _put(self, name, kind, form, value, kept):
        if form == Format.BLOB:
            # (bytes() of a number are that many zeroes)
            kept.append(bytes(memoryview(value)))
            _c.kymo_writer_blob(self._handle, name, kind, kept[-1], len(kept[-1]))
            return
        if form in _RANGES:
            checked(value, *_RANGES[form])
        _PUT[form](self._handle, name, kind, value)

    def write(self, statement, variables, buffers=(), auxiliaries=()):
        """
        Writes a point: VARIABLES are (name, type, value), BUFFERS (address, bytes) of pointers, and
        AUXILIARIES numbers. STATEMENT is not 0. If it fails, nothing of the point is written.
        """
        with self._lock:
            handle = self._opened()
            self._make_point(handle, statement, variables, buffers, auxiliaries)
            size = c_size_t()
            _c.kymo_writer_bytes(handle, size)
            if size.value >= _FLUSH_BYTES:
                self._flush()

    def _make_point(self, handle, statement, variables, buffers, auxiliaries):
        kept = []
        # (the end of the point returns the first error)
        try:
            _c.kymo_writer_statement(handle, checked(statement))
            for address, size in buffers:
                _c.kymo_writer_buffer(handle, checked(address), checked(size))
            for name, kind, value in variables:
                self._put(self._names[name], *self._types[kind], value, kept)
            for number in auxiliaries:
                _c.kymo_writer_auxiliary(handle, checked(number))
        except BaseException:
            # An invalid variable ends the point without writing it.
            _c.kymo_writer_unsigned(handle, -1, -1, 0)
            _c.kymo_writer_end_point(handle)
            raise
        self._expect(_c.kymo_writer_end_point(handle))

    def _flush(self):
        """Needs the lock."""
        self._expect(_c.kymo_writer_flush(self._opened(), self._fd))

    def flush(self):
        """Writes all points that were made to the file."""
        with self._lock:
            self._flush()

    def _release(self):
        handle, self._handle = self._handle, None
        fd, self._fd = self._fd, -1
        if handle:
            _c.kymo_writer_free(handle)
        if fd >= 0:
            os.close(fd)

    def close(self):
        """Flushes and closes the file."""
        with self._lock:
            if self._handle is None:
                return
            try:
                self._flush()
            finally:
                self._release()

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def __del__(self, free=_c.kymo_writer_free, close=os.close):
        if getattr(self, "_handle", None):
            free(self._handle)
        if getattr(self, "_fd", -1) >= 0:
            close(self._fd)
