# SPDX-License-Identifier: GPL-2.0-or-later
#
# python-load HOW MS: calls functions in a known way, and prints {"pid", "leaf_ns"}: the CPU time
# that leaf_a, leaf_b and leaf_c have used.
#
#	shares      leaf_a is called from Python, leaf_b from C, leaf_c by a generator
#	threads     each leaf runs in a thread of its own
#	tasks       each leaf runs in a task of asyncio
#	waits       waits in time.sleep(), which a method calls; nothing is measured
#	allocates   allocates blocks of 100000 bytes in a method, and keeps them
#	other       shares, in an interpreter of its own
#	killed      as threads, and kills itself meanwhile
#	leaks       loses 12345 bytes some times in the module callback, whose path follows
#	            (python-callback.c)
#	lends       leaf_a runs in another thread, with a state of this thread, which uses CPU time in
#	            the module callback meanwhile
import functools
import json
import os
import signal
import sys
import threading
import time

# (its imports have more frames than a stack has room for)
if sys.argv[1] == "tasks":
    import asyncio

leaf_ns = [0, 0, 0]


def spin(which, ms):
    begin = time.thread_time_ns()
    while time.thread_time_ns() - begin < ms * 1000000:
        n = 0
        for i in range(500):
            n += i * i
    leaf_ns[which] += time.thread_time_ns() - begin


def leaf_a(ms):
    spin(0, ms)


def leaf_b(ms):
    spin(1, ms)


def leaf_c(ms):
    spin(2, ms)


class Caller:
    def from_python(self):
        leaf_a(1)

    def from_c(self):
        return functools.reduce(self.reducer, (0, 1))

    def reducer(self, total, ms):
        leaf_b(2)
        return total

    def generator(self):
        while True:
            leaf_c(3)
            yield 1

    def sleeper(self, ms):
        time.sleep(ms / 1000)

    def keeper(self):
        return [bytes(100000) for _ in range(50)]


def end_after(ms):
    time.sleep(ms / 1000)
    os.kill(os.getpid(), signal.SIGKILL)


def load_callback():
    import importlib.util

    spec = importlib.util.spec_from_file_location("callback", sys.argv[3])
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def lend(ms):
    load_callback().lend(lambda: leaf_a(ms))


def lose():
    module = load_callback()
    # (the first ones come before the unwind table of the module)
    for _ in range(20):
        module.leak(12345)
        time.sleep(0.05)


def chain_2(ms):
    caller = Caller()
    values = caller.generator()
    end = time.monotonic() + ms / 1000
    while time.monotonic() < end:
        caller.from_python()
        caller.from_c()
        next(values)


def chain_1(ms):
    chain_2(ms)


def repeat(leaf, ms):
    end = time.monotonic() + ms / 1000
    while time.monotonic() < end:
        leaf(1)


def run_threads(ms):
    threads = [
        threading.Thread(target=repeat, args=(leaf, ms))
        for leaf in (leaf_a, leaf_b, leaf_c)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


async def task(leaf, end):
    while time.monotonic() < end:
        leaf(1)
        await asyncio.sleep(0)


async def tasks(ms):
    end = time.monotonic() + ms / 1000
    await asyncio.gather(*(task(leaf, end) for leaf in (leaf_a, leaf_b, leaf_c)))


def main(how, ms):
    if how == "shares":
        chain_1(ms)
    elif how == "threads":
        run_threads(ms)
    elif how == "tasks":
        asyncio.run(tasks(ms))
    elif how == "waits":
        for _ in range(10):
            Caller().sleeper(ms / 10)
    elif how == "allocates":
        kept = Caller().keeper()
        time.sleep(ms / 1000)
        del kept
    elif how == "killed":
        threading.Thread(target=run_threads, args=(60000,)).start()
        end_after(ms)
    elif how == "leaks":
        lose()
    elif how == "lends":
        lend(ms)
    elif how == "other":
        import _xxsubinterpreters

        other = _xxsubinterpreters.create()
        _xxsubinterpreters.run_string(
            other, f"import sys; sys.argv = [{__file__!r}, 'shares', '{ms}']\n"
            f"exec(compile(open({__file__!r}).read(), {__file__!r}, 'exec'))")
        return
    print(json.dumps({"pid": os.getpid(), "leaf_ns": leaf_ns}))


main(sys.argv[1], int(sys.argv[2]))
