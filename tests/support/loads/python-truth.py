# SPDX-License-Identifier: GPL-2.0-or-later
#
# python-truth GO OUT [EXTENSION]: makes the system call getppid in many places, and writes to OUT
# the frames of the interpreter there, a line for each call: those that faulthandler sees, innermost
# first, as "FILE:LINE NAME". Before that, it repeats getpgid in the same ways until the file GO
# exists. EXTENSION is the path of the module callback (python-callback.c).
import asyncio
import concurrent.futures
import ctypes
import faulthandler
import functools
import importlib.util
import os
import re
import sys
import tempfile
import time

libc = ctypes.CDLL(None)
truth = tempfile.TemporaryFile()
warms_up = True


def note():
    os.write(truth.fileno(), b"==\n")
    faulthandler.dump_traceback(truth, False)


# (Both calls are in one line, so their frames have the same number.)
def here():
    return os.getpgid(0) if warms_up else (note(), os.getppid())


# The foreign function is called without the lock of the interpreter.
def unlocked():
    return libc.getpgid(0) if warms_up else (note(), libc.getppid())


def one():
    return two() + 1


def two():
    def three():
        here()
        return 1

    return three() + 1


class Shop:
    def __init__(self, depth):
        self.depth = depth

    def __getattr__(self, name):
        here()
        return name

    def __lt__(self, other):
        here()
        return self.depth < other.depth

    def dig(self, depth):
        if depth == 0:
            return here()
        return self.dig(depth - 1)

    @property
    def price(self):
        return unlocked()

    @functools.lru_cache(maxsize=None)
    def cached(self, value):
        here()
        return value


def numbers():
    here()
    yield 1
    here()
    yield from more_numbers()


def more_numbers():
    unlocked()
    yield 2


def wait_for_all(pool):
    for future in [pool.submit(one), pool.submit(unlocked), pool.submit(sum, numbers())]:
        future.result()


async def task(depth):
    await asyncio.sleep(0)
    if depth > 0:
        return await task(depth - 1)
    here()


# The exception goes from the innermost coroutine outwards.
async def cancelled(depth):
    try:
        await (cancelled(depth - 1) if depth > 0 else asyncio.sleep(600))
    finally:
        here()


async def cancel():
    waiting = asyncio.create_task(cancelled(2))
    await asyncio.sleep(0)
    waiting.cancel()
    try:
        await waiting
    except asyncio.CancelledError:
        here()


async def tasks():
    for wait in (task(0), task(3), cancel()):
        await asyncio.create_task(wait)


@ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
def compare(a, b):
    unlocked()
    return 0


def größe_λ():
    here()


# The code of each class is where that of the previous one was. Only their names differ, at the end.
def renamed(name):
    for n in range(20):
        names = {"here": here}
        exec(f"class Renamed:\n def {name}_{n:04}(self):\n  here()", names)
        getattr(names["Renamed"](), f"{name}_{n:04}")()


def every_way(pool, callback):
    one()
    list(numbers())
    [here() for _ in range(2)]
    sorted([2, 1], key=lambda n: here() is None)
    functools.reduce(lambda a, b: here() and a, (1, 2))
    Shop(1).missing
    Shop(1) < Shop(2)
    Shop(1).dig(3)
    Shop(1).dig(60)
    Shop(1).price
    Shop(1).cached(2)
    libc.qsort((ctypes.c_int * 3)(), 3, 4, compare)
    exec("here()")
    eval("one()")
    wait_for_all(pool)
    asyncio.run(tasks())
    größe_λ()
    renamed("method")
    renamed("größe_λ")
    try:
        raise ValueError
    except ValueError:
        here()
    finally:
        unlocked()
    if callback:
        callback.call(one)
        callback.call(lambda: callback.call(unlocked))


def load_callback():
    if len(sys.argv) < 4:
        return None
    spec = importlib.util.spec_from_file_location("callback", sys.argv[3])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def write_truth(to):
    truth.seek(0)
    for stack in truth.read().decode("unicode_escape").split("==\n")[1:]:
        frames = re.findall(r'  File "(.*)", line (\d+) in (.*)\n', stack)
        # (the first one is note)
        print(" ".join(f"{file}:{line} {name}" for file, line, name in frames[1:]), file=to)


def main():
    global warms_up
    callback = load_callback()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        while not os.path.exists(sys.argv[1]):
            every_way(pool, callback)
            time.sleep(0.1)
        warms_up = False
        every_way(pool, callback)
    with open(sys.argv[2], "w", encoding="utf-8") as to:
        write_truth(to)


main()
