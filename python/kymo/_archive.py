# SPDX-License-Identifier: MIT
"""Archives, read with libkymo: as events, or as columns."""

import array
import collections
import ctypes
import enum
import errno
import os
import threading
from ctypes import POINTER, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64
from ctypes import c_void_p

from kymo._library import Library, failure, open_file, text_of

_c = Library(
    "libkymo.so.0",
    "libkymo0",
    {
        "kymo_version": (c_char_p,),
        "kymo_archive_open_fd": (c_int, POINTER(c_void_p), c_int),
        "kymo_archive_open_memory": (c_int, POINTER(c_void_p), c_char_p, c_size_t),
        "kymo_archive_free": (c_void_p, c_void_p),
        "kymo_archive_next": (c_int, c_void_p),
        "kymo_archive_event": (c_void_p, c_void_p),
        "kymo_archive_damage": (c_char_p, c_void_p, POINTER(c_uint64), POINTER(c_uint64)),
        "kymo_archive_compression": (c_char_p, c_void_p),
        "kymo_archive_lost": (c_uint64, c_void_p),
        "kymo_archive_full_buffers": (c_uint64, c_void_p),
        "kymo_archive_process_name": (c_char_p, c_void_p, c_uint64),
        "kymo_archive_thread_name": (c_char_p, c_void_p, c_uint64),
        "kymo_archive_thread_process": (c_uint64, c_void_p, c_uint64),
        "kymo_archive_set_column": (c_int, c_void_p, c_int, c_void_p),
        "kymo_archive_set_kinds": (None, c_void_p, c_uint64),
        "kymo_archive_next_block": (c_int, c_void_p, c_size_t, POINTER(c_size_t)),
        "kymo_archive_text": (c_char_p, c_void_p, c_uint32),
        "kymo_archive_texts": (c_uint32, c_void_p),
        "kymo_koid_tid": (c_uint32, c_uint64),
        "kymo_event_kind": (c_int, c_void_p),
        "kymo_event_time_ns": (c_uint64, c_void_p),
        "kymo_event_end_ns": (c_uint64, c_void_p),
        "kymo_event_id": (c_uint64, c_void_p),
        "kymo_event_category": (c_char_p, c_void_p),
        "kymo_event_name": (c_char_p, c_void_p),
        "kymo_event_process": (c_uint64, c_void_p),
        "kymo_event_thread": (c_uint64, c_void_p),
        "kymo_event_cpu": (c_int, c_void_p),
        "kymo_event_out_thread": (c_uint64, c_void_p),
        "kymo_event_out_state": (c_uint, c_void_p),
        "kymo_event_arguments": (c_size_t, c_void_p),
        "kymo_event_argument_name": (c_char_p, c_void_p, c_size_t),
        "kymo_event_argument_type": (c_int, c_void_p, c_size_t),
        "kymo_event_argument_unsigned": (c_uint64, c_void_p, c_size_t),
        "kymo_event_argument_signed": (c_int64, c_void_p, c_size_t),
        "kymo_event_argument_double": (c_double, c_void_p, c_size_t),
        "kymo_event_argument_bytes": (c_void_p, c_void_p, c_size_t, POINTER(c_size_t)),
    },
    waiting=(
        "kymo_archive_open_fd",
        "kymo_archive_open_memory",
        "kymo_archive_next",
        "kymo_archive_next_block",
    ),
)

_END, _EVENT, _DAMAGE = 0, 1, 2

#: The number of each text that is not stored, because the stored texts have 64 MiB already.
NO_TEXT = 0xFFFFFFFF

_DAMAGE_MAX = 1000
_BLOCK = 65536


class Kind(enum.IntEnum):
    """The kinds of events. Archives of later versions can have others, as plain numbers."""

    INSTANT = 0
    COUNTER = 1
    DURATION_BEGIN = 2
    DURATION_END = 3
    DURATION_COMPLETE = 4
    ASYNC_BEGIN = 5
    ASYNC_INSTANT = 6
    ASYNC_END = 7
    FLOW_BEGIN = 8
    FLOW_STEP = 9
    FLOW_END = 10
    SWITCH = 16
    WAKEUP = 17
    LOG = 18


_KINDS = {int(kind): kind for kind in Kind}

# name -> (number, code of array.array): enum kymo_column
_COLUMNS = {
    "time_ns": (0, "q"),
    "end_ns": (1, "q"),
    "kind": (2, "B"),
    "cpu": (3, "i"),
    "process": (4, "Q"),
    "thread": (5, "Q"),
    "out_thread": (6, "Q"),
    "out_state": (7, "B"),
    "id": (8, "Q"),
    "category": (9, "I"),
    "name": (10, "I"),
}

Damage = collections.namedtuple("Damage", "text offset bytes")
Damage.__doc__ = "Unreadable bytes: the error, their offset in the unpacked data, their number."


def version():
    """The version of libkymo."""
    return text_of(_c.kymo_version())


def tid(koid):
    """The Linux pid or tid of a process or thread in an archive of kymo."""
    return _c.kymo_koid_tid(koid)


# ---- events ----

# The type of an argument -> its value: enum kymo_argument_type
_NUMBERS = {
    1: _c.kymo_event_argument_signed,
    2: _c.kymo_event_argument_unsigned,
    3: _c.kymo_event_argument_signed,
    4: _c.kymo_event_argument_unsigned,
    5: _c.kymo_event_argument_double,
    7: _c.kymo_event_argument_unsigned,
    8: _c.kymo_event_argument_unsigned,
}
_STRING, _BOOL, _BLOB = 6, 9, 10


def _bytes_of(event, i):
    size = c_size_t()
    data = _c.kymo_event_argument_bytes(event, i, size)
    return ctypes.string_at(data, size.value)


def _value_of(event, i):
    kind = _c.kymo_event_argument_type(event, i)
    if kind in _NUMBERS:
        return _NUMBERS[kind](event, i)
    if kind == _STRING:
        return text_of(_bytes_of(event, i))
    if kind == _BLOB:
        return _bytes_of(event, i)
    if kind == _BOOL:
        return bool(_c.kymo_event_argument_unsigned(event, i))
    return None


class Event:
    """
    An event of an archive, a copy that stays valid.

    time_ns, end_ns      nanoseconds of the archive's clock; they differ for DURATION_COMPLETE only
    kind                 a Kind, or an unknown number
    category, name       "" if there is none; the name of a LOG is its text
    process, thread      koids, 0 if unknown; the thread of a SWITCH is switched in (0 = idle)
    cpu                  of a SWITCH or WAKEUP, else -1
    out_thread           of a SWITCH: the thread that is switched out, and its state
    out_state
    id                   of a counter, an asynchronous event, or a flow
    arguments            name -> value: None, bool, int, float, str or bytes. If several arguments
                         have one name, the first one.
    """

    __slots__ = (
        "time_ns", "end_ns", "kind", "category", "name", "process", "thread", "cpu", "out_thread",
        "out_state", "id", "arguments",
    )

    def __init__(self, event):
        kind = _c.kymo_event_kind(event)
        self.kind = _KINDS.get(kind, kind)
        self.time_ns = _c.kymo_event_time_ns(event)
        self.end_ns = _c.kymo_event_end_ns(event)
        self.category = text_of(_c.kymo_event_category(event))
        self.name = text_of(_c.kymo_event_name(event))
        self.process = _c.kymo_event_process(event)
        self.thread = _c.kymo_event_thread(event)
        self.cpu = _c.kymo_event_cpu(event)
        self.out_thread = _c.kymo_event_out_thread(event)
        self.out_state = _c.kymo_event_out_state(event)
        self.id = _c.kymo_event_id(event)
        self.arguments = {}
        for i in range(_c.kymo_event_arguments(event)):
            name = text_of(_c.kymo_event_argument_name(event, i))
            if name not in self.arguments:
                self.arguments[name] = _value_of(event, i)

    def __repr__(self):
        values = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__slots__)
        return f"Event({values})"


# ---- archives ----


def _mask_of(kinds):
    if kinds is None:
        return (1 << 64) - 1
    mask = 0
    for kind in kinds:
        if not 0 <= kind < 64:
            raise ValueError(f"{kind} is not a kind of events")
        mask |= 1 << kind
    return mask


class Archive:
    """
    An open archive: made by kymo.open(), and closed at the end of `with`.

    An archive is read once, from its beginning to its end. Names, losses and damage are complete up
    to the position of reading. Threads can share an archive; each event goes to one of them.
    """

    def __init__(self, file):
        self._handle = None
        self._fd = -1
        self._lock = threading.Lock()
        self._mask = _mask_of(None)
        self._damage = []
        self._n_damage = 0
        self._texts = []
        self._fd, self._bytes, self._name = open_file(file)
        handle = c_void_p()
        if self._fd >= 0:
            result = _c.kymo_archive_open_fd(handle, self._fd)
        else:
            result = _c.kymo_archive_open_memory(handle, self._bytes, len(self._bytes))
        if result < 0:
            self.close()
            raise self._failure(result)
        self._handle = handle.value

    def _failure(self, result):
        other = "Not an archive in the Fuchsia trace format"
        return failure(result, self._name, other if result == -errno.EBADMSG else None)

    def close(self):
        """Closes the archive. Events, blocks and columns that were read stay valid."""
        with self._lock:
            handle, self._handle = self._handle, None
            fd, self._fd = self._fd, -1
            if handle:
                _c.kymo_archive_free(handle)
            if fd >= 0:
                os.close(fd)
            self._bytes = None

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    # (defaults, since the names of modules can be gone when the interpreter ends)
    def __del__(self, free=_c.kymo_archive_free, close=os.close):
        if getattr(self, "_handle", None):
            free(self._handle)
        if getattr(self, "_fd", -1) >= 0:
            close(self._fd)

    def _opened(self):
        if self._handle is None:
            raise ValueError("the archive is closed")
        return self._handle

    # ---- reading ----

    def _begin(self, mask):
        """Prepares a read of the kinds in MASK. Needs the lock."""
        handle = self._opened()
        if mask != self._mask:
            _c.kymo_archive_set_kinds(handle, mask)
            self._mask = mask
        return handle

    def _add_damage(self):
        offset, n_bytes = c_uint64(), c_uint64()
        text = text_of(_c.kymo_archive_damage(self._handle, offset, n_bytes))
        self._n_damage += 1
        if len(self._damage) < _DAMAGE_MAX:
            self._damage.append(Damage(text, offset.value, n_bytes.value))

    def __iter__(self):
        return self.events()

    def events(self, kinds=None):
        """The next events, as objects; with KINDS, only those."""
        mask = _mask_of(kinds)
        while True:
            with self._lock:
                handle = self._begin(mask)
                result = _c.kymo_archive_next(handle)
                if result < 0:
                    raise self._failure(result)
                if result == _DAMAGE:
                    self._add_damage()
                    continue
                event = Event(_c.kymo_archive_event(handle)) if result == _EVENT else None
            if event is None:
                return
            yield event

    def _read_rows(self, block, first, size, mask):
        """
        Reads up to the next damage, into the rows of BLOCK from FIRST to SIZE. Returns the number of
        rows, and the result of the library.
        """
        n_rows = c_size_t()
        with self._lock:
            handle = self._begin(mask)
            # (also the other columns, so that the library has no array of an earlier block)
            for name, (number, _) in _COLUMNS.items():
                address = None
                if name in block:
                    address = block[name].buffer_info()[0] + first * block[name].itemsize
                if _c.kymo_archive_set_column(handle, number, address) < 0:
                    raise ValueError(f"this version of libkymo has no column {name!r}")
            result = _c.kymo_archive_next_block(handle, size - first, n_rows)
            if result == _DAMAGE:
                self._add_damage()
        return n_rows.value, result

    def blocks(self, columns=None, kinds=None, size=_BLOCK):
        """
        The next events, as blocks of SIZE rows: dictionaries of arrays, of those COLUMNS and KINDS
        of events. Only the last block can have fewer rows: damage does not end a block, so events
        can be missing between two rows (see `damage`). All blocks together need no more memory than
        one. If the file cannot be read any more, the rows before the error come first.

        The columns are time_ns, end_ns (int64), kind, out_state (uint8), cpu (int32), process,
        thread, out_thread, id (uint64), category and name (uint32, for text()).
        """
        mask = _mask_of(kinds)
        names = tuple(_COLUMNS) if columns is None else tuple(columns)
        for name in names:
            if name not in _COLUMNS:
                raise ValueError(f"{name!r} is not a column: they are {', '.join(_COLUMNS)}")
        if size < 1:
            raise ValueError("a block has at least one row")
        return self._blocks(names, mask, size)

    def _blocks(self, names, mask, size):
        result = _EVENT
        while result != _END:
            block = {}
            for name in names:
                column = array.array(_COLUMNS[name][1])
                column.frombytes(bytes(column.itemsize * size))
                block[name] = column
            n_rows, result = 0, _DAMAGE
            while result == _DAMAGE and n_rows < size:
                n_new, result = self._read_rows(block, n_rows, size, mask)
                n_rows += n_new
            for column in block.values():
                del column[n_rows:]
            if n_rows > 0:
                yield block
            if result < 0:
                raise self._failure(result)

    def columns(self, columns=None, kinds=None):
        """All next events, as one block: see blocks(). A row of all columns has 62 bytes."""
        names = tuple(_COLUMNS) if columns is None else tuple(columns)
        whole = {name: array.array(_COLUMNS[name][1]) for name in names if name in _COLUMNS}
        for block in self.blocks(names, kinds):
            for name, column in block.items():
                whole[name].extend(column)
        return whole

    def text(self, number):
        """The text of a category or name in columns."""
        if not 0 <= number < NO_TEXT:
            number = NO_TEXT
        with self._lock:
            return text_of(_c.kymo_archive_text(self._opened(), number))

    @property
    def texts(self):
        """All texts so far, as a list: texts[number] is text(number), except for NO_TEXT."""
        with self._lock:
            handle = self._opened()
            for i in range(len(self._texts), _c.kymo_archive_texts(handle)):
                self._texts.append(text_of(_c.kymo_archive_text(handle, i)))
            return list(self._texts)

    # ---- facts about the archive ----

    @property
    def damage(self):
        """The damage so far, as a list of Damage: at most the first 1,000."""
        with self._lock:
            return list(self._damage)

    @property
    def damage_count(self):
        """The number of damaged places so far."""
        return self._n_damage

    @property
    def lost(self):
        """The number of events that the recorder has lost, so far."""
        with self._lock:
            return _c.kymo_archive_lost(self._opened())

    @property
    def full_buffers(self):
        """How often a program's buffer was full, so far. An unknown number of events is missing."""
        with self._lock:
            return _c.kymo_archive_full_buffers(self._opened())

    @property
    def compression(self):
        """The compression: "none", "snappy", "gzip", "zstd", "brotli" or "columns"."""
        with self._lock:
            return text_of(_c.kymo_archive_compression(self._opened()))

    def _known_name(self, function, koid):
        with self._lock:
            name = function(self._opened(), koid)
        return None if name is None else text_of(name)

    def process_name(self, process):
        """The name of a process, by its koid; None if it is unknown."""
        return self._known_name(_c.kymo_archive_process_name, process)

    def thread_name(self, thread):
        """The name of a thread, by its koid; None if it is unknown."""
        return self._known_name(_c.kymo_archive_thread_name, thread)

    def thread_process(self, thread):
        """The process of a thread, by koid; 0 if it is unknown."""
        with self._lock:
            return _c.kymo_archive_thread_process(self._opened(), thread)


def open(file):
    """
    Opens an archive: a path, a descriptor, or a file object. Descriptors and file objects are read
    from their positions, which can be those of pipes, and stay the caller's. A file object whose
    data is not that of a descriptor, such as io.BytesIO or lzma.open(), is read into memory. Raises
    OSError (kymo.Error if the contents are the reason).
    """
    return Archive(file)
