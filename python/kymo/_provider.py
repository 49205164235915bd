# SPDX-License-Identifier: MIT
"""
Events of this program, written with libkymo-provider.

Names and categories are given to the library by address, and it can read them at any time until
the process ends, even while the interpreter ends. So their memory comes from calloc(), and is never
freed; the tables have limits instead. Nothing here takes a lock, since events can be written in
signal handlers and after a fork(): a table gets an entry with dict.setdefault(), and the loser of a
race frees its own entry.
"""

import ctypes
import functools
import itertools
import operator
import os
import sys
from ctypes import c_char_p, c_double, c_int, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

from kymo._library import Library, failure

#: At most this many names are registered. Other names are written with each event.
NAMES_MAX = 4096
CATEGORIES_MAX = 1000
CATEGORY_BYTES_MAX = 255

_NAME_BYTES_MAX = 1024  # KYMO_NAME_MAX
_NAME_INLINE = 0x8000  # KYMO_NAME_INLINE
_PROVIDER_BYTES_MAX = 63


class _Name(ctypes.Structure):
    _fields_ = [("text", c_void_p), ("length", c_uint32), ("ref", c_uint32)]


class _Category(ctypes.Structure):
    _fields_ = [("sessions", c_uint32), ("name", _Name), ("next", c_void_p)]


class _Value(ctypes.Union):
    _fields_ = [("bits", c_uint64), ("number", c_double), ("data", c_char_p)]


class _Argument(ctypes.Structure):
    _anonymous_ = ("value",)
    _fields_ = [("name", c_void_p), ("type", c_uint32), ("size", c_uint32), ("value", _Value)]


_c = Library(
    "libkymo-provider.so.0",
    "libkymo-provider0",
    {
        "kymo_provider_start": (c_int, c_char_p),
        "kymo_provider_stop": (None,),
        "kymo_category_add": (None, c_void_p),
        "kymo_event_write": (
            None, c_void_p, c_uint, c_uint64, c_void_p, c_uint64, c_void_p, c_uint,
        ),
        "kymo_log_write": (None, c_void_p, c_uint64, c_char_p, c_size_t),
        "kymo_blob_write": (None, c_void_p, c_void_p, c_char_p, c_size_t),
        "kymo_now": (c_uint64,),
        "kymo_thread_name": (None, c_char_p),
    },
    waiting=("kymo_provider_start", "kymo_provider_stop", "kymo_category_add"),
)
_libc = ctypes.PyDLL(None)
_libc.calloc.restype = c_void_p
_libc.calloc.argtypes = (c_size_t, c_size_t)
_libc.free.restype = None
_libc.free.argtypes = (c_void_p,)

# enum kymo_event_type
_INSTANT, _COUNTER, _BEGIN, _END, _COMPLETE = range(5)
_ASYNC_BEGIN, _ASYNC_END = 5, 7
_FLOW_BEGIN, _FLOW_STEP, _FLOW_END = 8, 9, 10

# enum kymo_argument_type
_NULL, _INT32, _INT64, _UINT64, _DOUBLE, _TEXT, _BOOL, _BLOB = 0, 1, 3, 4, 5, 6, 9, 10


def _encoded(text):
    # (the recorder accepts UTF-8 only, which has no surrogates)
    return text.encode("utf-8", "replace")


def _without_nul(text, most):
    """TEXT as bytes without a NUL, of at most MOST bytes, with no character cut in two."""
    data = _encoded(_text_value(text)).replace(b"\0", b"")[:most]
    return data.decode("utf-8", "ignore").encode()


# ---- names ----

_names = {}  # text -> address of a struct kymo_name
_n_inline = 0


def _allocate(size, data):
    """Allocates SIZE bytes and DATA with a NUL. Returns the addresses of both."""
    address = _libc.calloc(1, size + len(data) + 1)
    if not address:
        raise MemoryError
    ctypes.memmove(address + size, data, len(data))
    return address, address + size


def _new_name(text, kept):
    """
    Registers a name that is not in the table. Without room, returns a temporary one, which lives as
    long as the list KEPT.
    """
    global _n_inline
    if type(text) is not str:
        # (a plain str, since the table must neither keep nor compare objects of the program)
        text = str.__str__(_text_value(text))
        if text in _names:
            return _names[text]
    data = _encoded(text)
    if len(_names) >= NAMES_MAX or len(data) > _NAME_BYTES_MAX:
        # (without a lock, two threads that count at the same time can add 1 instead of 2)
        _n_inline += 1
        pointer = c_char_p(data)
        name = _Name(ctypes.cast(pointer, c_void_p), len(data), _NAME_INLINE)
        kept += data, pointer, name
        return ctypes.addressof(name)
    address, copy = _allocate(ctypes.sizeof(_Name), data)
    name = _Name.from_address(address)
    name.text, name.length = copy, len(data)
    first = _names.setdefault(text, address)
    if first != address:
        _libc.free(address)
    return first


def inline_names():
    """
    How often a name was written with its event, because it is longer than 1,024 bytes, or 4,096
    others are registered. Such events are larger and slower. Names should not contain numbers:
    these are arguments.
    """
    return _n_inline


# ---- categories ----


class Category:
    """A category of events, made by kymo.category()."""

    __slots__ = ("name", "_address", "_sessions")

    def __init__(self, name):
        data = _encoded(name)
        self.name = name
        self._address, copy = _allocate(ctypes.sizeof(_Category), data)
        c = _Category.from_address(self._address)
        c.name.text, c.name.length = copy, len(data)
        self._sessions = c_uint32.from_address(self._address)

    @property
    def is_on(self):
        """Whether a recording records the category."""
        return self._sessions.value != 0

    def __repr__(self):
        return f"kymo.category({self.name!r})"


_categories = {}  # name -> Category, and Category -> itself, which is faster than a check of types


def category(name):
    """
    The category NAME, which is the same object each time. It is off until a recording asks for it
    (kymo record -e app:NAME). Names have 1 to 255 bytes, and there are at most 1,000 categories;
    otherwise, raises ValueError.
    """
    known = _categories.get(name)
    if known is not None:
        return known
    if not isinstance(name, str):
        raise TypeError(f"a category is a str or a kymo.Category, not {type(name).__name__}")
    data = _encoded(name)
    if not 0 < len(data) <= CATEGORY_BYTES_MAX or 0 in data:
        raise ValueError(f"{name!r} is not a name of a category: it must have 1 to 255 bytes")
    if len(_categories) >= 2 * CATEGORIES_MAX:
        raise ValueError(f"there are {CATEGORIES_MAX} categories already")
    new = Category(name)
    # (the category must lead to itself before another thread can find it by its name)
    _categories[new] = new
    first = _categories.setdefault(name, new)
    if first is new:
        _c.kymo_category_add(new._address)
    else:
        del _categories[new]
        _libc.free(new._address)
    return first


# ---- events ----


def _text_value(value):
    if isinstance(value, str):
        return value
    try:
        return str(value)
    except ValueError:
        # (str() refuses integers of many digits)
        return hex(value) if isinstance(value, int) else f"<{type(value).__name__}>"
    except Exception:  # a program must not fail because it is recorded
        return f"<{type(value).__name__}>"


def _data_of(value, is_blob):
    """The bytes of VALUE, or those of its text if VALUE has no bytes."""
    if is_blob:
        try:
            return bytes(memoryview(value))
        except Exception:  # (for example, the memoryview was released)
            pass
    return _encoded(_text_value(value))


def _set_value(argument, value):
    if value is None:
        argument.type = _NULL
    elif value is True or value is False:
        argument.type, argument.bits = _BOOL, value
    elif isinstance(value, int) and -(1 << 63) <= value < 1 << 64:
        argument.bits = value
        if -(1 << 31) <= value < 1 << 31:
            argument.type = _INT32
        else:
            argument.type = _INT64 if value < 1 << 63 else _UINT64
    elif isinstance(value, float):
        argument.type, argument.number = _DOUBLE, value
    else:
        is_blob = isinstance(value, (bytes, bytearray, memoryview))
        argument.type, data = _BLOB if is_blob else _TEXT, _data_of(value, is_blob)
        argument.size, argument.data = len(data), data


def _write(event_type, address, name, value, arguments):
    """Writes an event of the category at ADDRESS, if it is on."""
    kept = []
    name = (type(name) is str and _names.get(name)) or _new_name(name, kept)
    n = len(arguments)
    if n == 0:
        _c.kymo_event_write(address, event_type, 0, name, value, None, 0)
        return
    array = (_Argument * n)()
    for argument, (key, each) in zip(array, arguments.items()):
        argument.name = _names.get(key) or _new_name(key, kept)
        _set_value(argument, each)
    _c.kymo_event_write(address, event_type, 0, name, value, ctypes.addressof(array), n)


def _event(event_type, of, name, value, arguments):
    of = _categories.get(of) or category(of)
    if type(value) is not int:
        # (a wrong id must always be an error, and not only while the category is recorded)
        value = operator.index(value)
    if of._sessions.value:
        _write(event_type, of._address, name, value, arguments)


def instant(name, /, category="app", **arguments):
    """An event without a duration."""
    _event(_INSTANT, category, name, 0, arguments)


def counter(name, /, category="app", id=0, **values):
    """The present value of one or more numbers. Counters with one name differ by ID."""
    _event(_COUNTER, category, name, id, values)


def now():
    """The present time for complete(), in a unit that depends on the recording."""
    return _c.kymo_now()


def complete(name, start, /, category="app", **arguments):
    """A duration that begins at START, an earlier now(), and ends now."""
    _event(_COMPLETE, category, name, start, arguments)


def flow_begin(name, id, /, category="app", **arguments):
    """An arrow from the duration in which this is called, to that of the next step with ID."""
    _event(_FLOW_BEGIN, category, name, id, arguments)


def flow_step(name, id, /, category="app", **arguments):
    """An arrow through the duration in which this is called."""
    _event(_FLOW_STEP, category, name, id, arguments)


def flow_end(name, id, /, category="app", **arguments):
    """The end of the arrow with ID, in the duration in which this is called."""
    _event(_FLOW_END, category, name, id, arguments)


def log(text, /, category="app"):
    """A line of a log."""
    of = _categories.get(category) or _category(category)
    if of._sessions.value:
        data = _encoded(_text_value(text))
        _c.kymo_log_write(of._address, 0, data, len(data))


def blob(name, data, /, category="app"):
    """A piece of a stream of bytes, at most 30,000 bytes. Readers join pieces with one name."""
    of = _categories.get(category) or _category(category)
    if of._sessions.value:
        kept, data = [], _data_of(data, True)
        address = (type(name) is str and _names.get(name)) or _new_name(name, kept)
        _c.kymo_blob_write(of._address, address, data, len(data))


# (functions above and below have a parameter of this name)
_category = category

# Code of generators and coroutines: inspect.CO_GENERATOR and so on, without that module.
_SUSPENDED = 0x20 | 0x80 | 0x200


class span:
    """
    A duration of the calling thread:

        with kymo.span("request", n=3):
            ...

        @kymo.span("render", category="ui")
        def render():
            ...

    A span is recorded if its category is on at its beginning. One object can be used several times,
    also recursively, but not by two threads at the same time. Spans are for code that stays on its
    thread until it ends: for coroutines and generators, use async_span.
    """

    __slots__ = ("_name", "_category", "_arguments", "_open")

    def __init__(self, name, /, category="app", **arguments):
        self._name = name
        self._category = _categories.get(category) or _category(category)
        self._arguments = arguments
        self._open = 0

    def __enter__(self):
        of = self._category
        if of._sessions.value:
            _write(_BEGIN, of._address, self._name, 0, self._arguments)
            self._open += 1
        return self

    def __exit__(self, *unused):
        if self._open:
            self._open -= 1
            _write(_END, self._category._address, self._name, 0, {})

    def __call__(self, function):
        code = getattr(function, "__code__", None)
        if code and code.co_flags & _SUSPENDED:
            raise TypeError("span cannot decorate a generator or coroutine: use async_span in it")
        name, of, arguments = self._name, self._category, self._arguments
        sessions = of._sessions

        @functools.wraps(function)
        def spanned(*args, **kwargs):
            if not sessions.value:
                return function(*args, **kwargs)
            _write(_BEGIN, of._address, name, 0, arguments)
            try:
                return function(*args, **kwargs)
            finally:
                _write(_END, of._address, name, 0, {})

        return spanned


_ids = itertools.count(1)


class async_span:
    """
    Like span, for an operation that is not bound to a thread, such as a coroutine. It can end in
    another thread than it began in. Several can overlap, since each has an id, but one object is
    for one use at a time.
    """

    __slots__ = ("_name", "_category", "_arguments", "_id")

    def __init__(self, name, /, category="app", **arguments):
        self._name = name
        self._category = _categories.get(category) or _category(category)
        self._arguments = arguments
        self._id = 0

    def __enter__(self):
        of = self._category
        if of._sessions.value:
            # (with the pid, since other processes have asynchronous events, too)
            self._id = os.getpid() << 32 | next(_ids)
            _write(_ASYNC_BEGIN, of._address, self._name, self._id, self._arguments)
        return self

    def __exit__(self, *unused):
        if self._id:
            _write(_ASYNC_END, self._category._address, self._name, self._id, {})
            self._id = 0


# ---- the provider ----


def start(name=None):
    """
    Starts the provider of this process under NAME (by default, that of the program), of which 63
    bytes are used. It makes a thread that waits for recordings. Further calls do nothing. The child
    of fork() records nothing until it calls this. Raises kymo.Error if there is no thread or
    memory; a recorder need not be there.
    """
    if name is None:
        argv = getattr(sys, "argv", None) or [""]
        name = os.path.basename(argv[0]) or "python"
    result = _c.kymo_provider_start(_without_nul(name, _PROVIDER_BYTES_MAX))
    if result < 0:
        raise failure(result, text=f"Cannot start the provider: {os.strerror(-result)}")


def stop():
    """Ends the provider. Events are then off. A program need not call it before it exits."""
    _c.kymo_provider_stop()


def thread_name(name):
    """Names the calling thread in archives."""
    _c.kymo_thread_name(_without_nul(name, _NAME_BYTES_MAX))
