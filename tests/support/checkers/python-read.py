# SPDX-License-Identifier: GPL-2.0-or-later
#
# python-read WHAT ...: reads archives with the package kymo. Fails with a traceback.
#
#	events FILE     prints the time, the category and the name of each event of FILE ("-" is
#	                standard input), and "damage TEXT" to standard error for each damage
#	arguments FILE  prints the types of all values of arguments
#	columns FILE    the columns and blocks of FILE are its events
#	files FILE DIR  file objects of each kind have the events of FILE
#	damaged FILE    cut off anywhere, FILE gives the same events by each way, and an end
#	make OUT        writes an archive of a million events to OUT
#	million FILE    reads it as columns
#	blocks FILE     reads it in blocks, with little memory, and in several threads
#	points DIR      writes trace points in both layouts, and reads and queries them
#	errors DIR      what goes wrong raises the documented exceptions

import array
import gzip
import io
import lzma
import os
import resource
import struct
import sys
import tempfile
import threading

import kymo

COLUMNS = (
    "time_ns", "end_ns", "kind", "cpu", "process", "thread", "out_thread", "out_state", "id",
    "category", "name",
)
MILLION = 1000000
MAGIC = 0x0016547846040010


def opened(path):
    return kymo.open(sys.stdin if path == "-" else path)


def events(path):
    with opened(path) as archive:
        for event in archive:
            print(event.time_ns, event.category, event.name)
        for damage in archive.damage:
            print("damage", damage.text, damage.offset, damage.bytes, file=sys.stderr)


def arguments(path):
    types = set()
    with opened(path) as archive:
        for event in archive:
            types |= {type(value).__name__ for value in event.arguments.values()}
    print(*sorted(types))


def value_of(event, name):
    # (times of columns are signed)
    value = getattr(event, name)
    return min(value, 2**63 - 1) if name.endswith("_ns") else value


def rows_of_events(path):
    with kymo.open(path) as archive:
        return [tuple(value_of(event, name) for name in COLUMNS) for event in archive]


def rows_of_block(archive, block):
    texts = archive.texts
    block = dict(block)
    for name in ("category", "name"):
        assert all(archive.text(number) == texts[number] for number in block[name])
        block[name] = [texts[number] for number in block[name]]
    return list(zip(*(block[name] for name in COLUMNS)))


def columns(path):
    expected = rows_of_events(path)
    assert len(expected) > 20, len(expected)
    with kymo.open(path) as archive:
        whole = archive.columns()
        assert tuple(whole) == COLUMNS
        assert all(isinstance(column, array.array) for column in whole.values())
        assert rows_of_block(archive, whole) == expected
        assert len(archive.columns()["kind"]) == 0
    sizes = dict.fromkeys(COLUMNS, 8)
    sizes.update(kind=1, out_state=1, cpu=4, category=4, name=4)
    assert {name: memoryview(column).itemsize for name, column in whole.items()} == sizes
    for size in 1, 7, len(expected), 10 * len(expected):
        with kymo.open(path) as archive:
            rows = []
            for block in archive.blocks(size=size):
                assert 0 < len(block["kind"]) <= size
                rows += rows_of_block(archive, block)
            assert rows == expected
    with kymo.open(path) as archive:
        kinds = (kymo.Kind.SWITCH, kymo.Kind.INSTANT)
        some = archive.columns(["name", "kind"], kinds)
        assert tuple(some) == ("name", "kind")
        assert list(some["kind"]) == [row[2] for row in expected if row[2] in kinds]
    with kymo.open(path) as archive:
        assert [int(event.kind) for event in archive.events(kinds)] == list(some["kind"])
    # Events, blocks and a change of the kinds go on where the last read ended.
    with kymo.open(path) as archive:
        first = next(archive.events())
        block = next(archive.blocks(["time_ns"], size=2))
        rest = list(archive)
    times = [first.time_ns, *block["time_ns"], *(event.time_ns for event in rest)]
    times = [min(time, 2**63 - 1) for time in times]
    assert times == [row[0] for row in expected]


def times_of(file):
    with kymo.open(file) as archive:
        times = [event.time_ns for event in archive]
        assert archive.damage == [], archive.damage
    return times


def files(path, directory):
    expected = times_of(path)
    with open(path, "rb") as file:
        data = file.read()
    # A program that has looked at the first bytes has read more than these.
    for n in 0, 4, 8:
        with open(path, "rb") as file:
            assert file.read(n) == data[:n]
            file.seek(0)
            assert times_of(file) == expected, n
    with open(path, "rb") as file:
        file.peek(4)
        assert times_of(file) == expected
    with open(path, "rb", buffering=0) as file:
        assert times_of(file) == expected
    with open(path) as file:
        assert times_of(file) == expected
    with open(path, "rb") as file:
        assert times_of(file.fileno()) == expected
    # An archive behind other data begins at the position.
    with tempfile.NamedTemporaryFile(dir=directory) as file:
        file.write(b"other" + data)
        file.seek(0)
        assert file.read(5) == b"other"
        assert times_of(file) == expected
    with tempfile.SpooledTemporaryFile(dir=directory) as file:
        file.write(data)
        file.seek(0)
        assert times_of(file) == expected
    # The descriptor of such files has other data than the files.
    for module in gzip, lzma:
        packed = f"{directory}/packed"
        with module.open(packed, "wb") as file:
            file.write(b"other" + data)
        with module.open(packed) as file:
            assert file.read(5) == b"other"
            assert times_of(file) == expected
        with io.BufferedReader(module.open(packed)) as file:
            assert file.read(5) == b"other"
            assert times_of(file) == expected


def damaged(path):
    with open(path, "rb") as file:
        data = file.read()
    n_damage = 0
    for end in range(8, len(data), 13):
        with kymo.open(io.BytesIO(data[:end])) as archive:
            times = [event.time_ns for event in archive]
            n_damage += archive.damage_count
            assert len(archive.damage) == archive.damage_count
        with kymo.open(io.BytesIO(data[:end])) as archive:
            assert list(archive.columns(["time_ns"])["time_ns"]) == times
    assert n_damage > 0
    # Damage does not end a block.
    groups = [b"".join(wakeup(i).tobytes() for i in range(j, j + 8)) for j in range(0, 32, 8)]
    broken = struct.pack("=Q", MAGIC) + bytes(64).join(groups)
    for size, counts in (12, [12, 12, 8]), (16, [16, 16]), (100, [32]):
        with kymo.open(io.BytesIO(broken)) as archive:
            read = list(archive.blocks(["time_ns", "kind"], size=size))
            assert [len(block["kind"]) for block in read] == counts, (read, archive.damage)
            assert [at for block in read for at in block["time_ns"]] == [i * 1000 for i in range(32)]
            assert archive.damage_count == 3, archive.damage


def wakeup(i):
    # The header, the time, and the thread. ("Scheduling record" of the format)
    return array.array("Q", (8 | 3 << 4 | 2 << 60, i * 1000, 1 + i % 7))


def make(path):
    words = array.array("Q", [MAGIC])
    for i in range(MILLION):
        words.extend(wakeup(i))
    with open(path, "wb") as file:
        words.tofile(file)


def million(path):
    with kymo.open(path) as archive:
        rows = archive.columns(["time_ns", "thread", "kind"])
        assert archive.damage == []
    assert len(rows["time_ns"]) == MILLION
    assert sum(rows["time_ns"]) == 1000 * MILLION * (MILLION - 1) // 2
    assert rows["kind"].count(kymo.Kind.WAKEUP) == MILLION
    assert rows["thread"].count(7) == MILLION // 7


def blocks(path):
    # (all columns have 62 MB)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with kymo.open(path) as archive:
        assert sum(len(block["id"]) for block in archive.blocks(size=1000)) == MILLION
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20000
    # Each event goes to one of the threads.
    counts = []

    def count(archive):
        counts.append(sum(len(block["kind"]) for block in archive.blocks(["kind"], size=5000)))

    with kymo.open(path) as archive:
        threads = [threading.Thread(target=count, args=(archive,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sum(counts) == MILLION, counts


def expect(exception, text, function, *arguments):
    try:
        function(*arguments)
    except exception as error:
        assert text in str(error), error
        return error
    raise AssertionError(f"no {exception.__name__}")


def write_points(path, layout):
    types = {
        "size_t": (kymo.Format.UNSIGNED, 8), "char *": (kymo.Format.POINTER, 8),
        "int": (kymo.Format.SIGNED, 4), "double": (kymo.Format.FLOAT, 8),
        "bytes": (kymo.Format.BLOB, 0),
    }
    with kymo.PointWriter(path, ["count", "buf", "text", "delta"], types, layout) as writer:
        writer.write(
            0x11, [("count", "size_t", 40), ("buf", "char *", 0x1008), ("text", "bytes", b"a\0b")],
            [(0x1000, 32)], [7],
        )
        # Nothing of these points is written.
        unknown = [("count", "size_t", 1), ("unknown", "int", 1)]
        expect(KeyError, "unknown", writer.write, 1, unknown)
        expect(OverflowError, "64 bits", writer.write, 1, [("count", "size_t", 2**64)])
        expect(kymo.Error, "", writer.write, 1, [("delta", "int", 2**40)])
        cut = [("count", "size_t", 1)]
        expect(OverflowError, "64 bits", writer.write, 2**64 + 1, cut)
        expect(OverflowError, "64 bits", writer.write, 1, cut, [(2**64 + 1, 8)])
        expect(OverflowError, "64 bits", writer.write, 1, cut, [(1, -1)])
        expect(OverflowError, "64 bits", writer.write, 1, cut, (), [-1])
        expect(TypeError, "bytes-like", writer.write, 1, [("text", "bytes", 5)])
        writer.write(0x12, [("count", "size_t", 3), ("delta", "int", -5), ("text", "double", 1.5)])
    expect(ValueError, "closed", writer.flush)
    size = {"size_t": (kymo.Format.UNSIGNED, 2**32 + 8)}
    expect(OverflowError, "32 bits", kymo.PointWriter, path + ".not", [], size)
    expect(ValueError, "NUL", kymo.PointWriter, path + ".not", ["a\0b"], {})
    assert not os.path.exists(path + ".not")


def write_points_in_threads():
    """While a thread waits in a flush, because a pipe is full, another one writes points."""
    from_pipe, to_pipe = os.pipe()
    writer = kymo.PointWriter(to_pipe, ["n"], {"bytes": (kymo.Format.BLOB, 0)})
    os.close(to_pipe)
    large = [("n", "bytes", bytes(300000))]

    def write(statement):
        for _ in range(20):
            writer.write(statement, large)

    threads = [threading.Thread(target=write, args=(statement,)) for statement in (1, 2, 3)]
    for thread in threads:
        thread.start()

    def finish():
        for thread in threads:
            thread.join()
        writer.close()

    finisher = threading.Thread(target=finish)
    finisher.start()
    with open(from_pipe, "rb") as file:
        points = kymo.open_points(io.BytesIO(file.read()))
    finisher.join()
    assert points.damage is None, points.damage
    assert sorted(point.statement for point in points) == [1] * 20 + [2] * 20 + [3] * 20


def points(directory):
    for layout in kymo.Layout:
        path = f"{directory}/{layout.name}.tdb"
        write_points(path, layout)
        points = kymo.open_points(path)
        assert (points.layout, points.damage, len(points)) == (layout, None, 2)
        first, second = points
        assert first.number == 0 and first.statement == 0x11 and first.auxiliaries == [7], first
        assert first.variables == [
            kymo.Variable("count", "size_t", kymo.Format.UNSIGNED, 40, None),
            kymo.Variable("buf", "char *", kymo.Format.POINTER, 0x1008, 24),
            kymo.Variable("text", "bytes", kymo.Format.BLOB, b"a\0b", None),
        ], first
        assert [variable.value for variable in second.variables] == [3, -5, 1.5], second
        (result,) = points.query("(> (v/value count) (v/size buf))")
        assert result.point == first and result.earlier is None
        assert result.variables == {"count": first.variables[0], "buf": first.variables[1]}
        assert len(points.query()) == 2 and len(points.query(limit=1)) == 1
        assert [each.point for each in points.query(statement=0x12)] == [second]
        assert len(points.query(statement=(0x10, 0xF0))) == 2
        (result,) = points.query("(< (v/value count) (e/value count))")
        assert result.point == second and result.earlier == first
        assert result.earlier_points == (first,)
        (result,) = points.query("(and (> (e/value count) 3) (none (= (b/value count) 3)))")
        assert len(result.variables) == 1 and result.earlier_points == (first,)
        (result,) = points.query("(> (v/value any) 39)", ["any:size_t"])
        assert result.variables["any"].name == "count"
        error = expect(kymo.QueryError, "at byte", points.query, "(> 1")
        assert isinstance(error, ValueError) and error.position > 0
        expect(kymo.QueryError, "", points.query, None, ["any:no type"])
        # Nothing of these is cut.
        expect(ValueError, "NUL", points.query, "(> 1 0)\0(")
        expect(OverflowError, "32 bits", lambda: points.query(seed=2**32))
        expect(OverflowError, "64 bits", lambda: points.query(limit=2**64 + 1))
        expect(OverflowError, "64 bits", lambda: points.query(statement=2**64 + 0x11))
        with open(path, "rb") as file:
            cut = kymo.open_points(io.BytesIO(file.read()[:-1]))
        assert len(cut) == 1 and cut.damage[1] > 0
    write_points_in_threads()
    expect(kymo.Error, "Not trace points", kymo.open_points, io.BytesIO(bytes(64)))
    expect(FileNotFoundError, "none", kymo.open_points, directory + "/none")


def errors(directory):
    expect(FileNotFoundError, "missing", kymo.open, directory + "/missing")
    path = directory + "/zeroes"
    with open(path, "wb") as file:
        file.write(bytes(64))
    error = expect(kymo.Error, "Not an archive in the Fuchsia trace format", kymo.open, path)
    assert isinstance(error, OSError) and error.filename == path, error
    expect(kymo.Error, "Is a directory", kymo.open, directory)
    expect(OSError, "Bad file descriptor", kymo.open, 999)
    expect(kymo.Error, "Not an archive", kymo.open, io.BytesIO(b""))
    data = (0x0016547846040010).to_bytes(8, "little")
    archive = kymo.open(io.BytesIO(data))
    expect(ValueError, "'size' is not a column", archive.blocks, ["size"])
    expect(ValueError, "at least one row", archive.blocks, None, None, 0)
    expect(ValueError, "64 is not a kind", archive.columns, None, [64])
    assert archive.columns(["cpu"]) == {"cpu": array.array("i")}
    assert (archive.lost, archive.full_buffers, archive.compression) == (0, 0, "none")
    assert archive.thread_name(5) is None and archive.process_name(5) is None
    assert archive.thread_process(5) == 0
    assert archive.text(kymo.NO_TEXT) == "" and archive.texts == [""]
    assert archive.text(-1) == "" and archive.text(2**32) == ""
    archive.close()
    archive.close()
    expect(ValueError, "closed", lambda: archive.lost)
    expect(ValueError, "closed", lambda: next(iter(archive)))
    assert archive.damage == []
    # No descriptor is left, also of a failed open().
    fds = len(os.listdir("/proc/self/fd"))
    expect(kymo.Error, "Not an archive", kymo.open, path)
    kymo.open(io.BytesIO(data))
    assert len(os.listdir("/proc/self/fd")) == fds
    assert kymo.version()[0].isdigit() and kymo.tid(5) == 5
    expect(AttributeError, "no attribute 'nothing'", lambda: kymo.nothing)
    assert set(kymo.__all__) <= set(dir(kymo))


globals()[sys.argv[1]](*sys.argv[2:])
