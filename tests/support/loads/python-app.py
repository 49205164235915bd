# SPDX-License-Identifier: GPL-2.0-or-later
#
# python-app HOW [THREADS N]: a program that writes events with the package kymo, in the category
# py_load, when a recording has it. Prints the number of events that it has made.
#
#	threads THREADS N  N rounds of nested spans, with a sleep, in each of the THREADS
#	kinds              an event of each kind; an argument of each type; a decorator
#	names              names and arguments, more than the package registers
#	odd                names and values of wrong types, which must not end the program
#	fork               the child writes events before and after kymo.start()
#	off                events of a category that is never recorded

import gc
import math
import os
import sys
import threading
import time
import weakref

import kymo
from kymo import _provider

CATEGORY = kymo.category("py_load")


def wait_for_recording():
    while not CATEGORY.is_on:
        time.sleep(0.001)


def threads(n_threads, n):
    def work():
        kymo.thread_name("py-worker")
        for i in range(n):
            with kymo.span("outer", category=CATEGORY, n=i, half=i / 2):
                kymo.instant("instant", category="py_load", thread=threading.get_native_id())
                with kymo.span("inner", category="py_load"):
                    time.sleep(0.0001)
                kymo.counter("left", category="py_load", rounds=n - i)

    workers = [threading.Thread(target=work) for _ in range(n_threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    return n_threads * n * 6


class Silent:
    def __str__(self):
        raise RuntimeError("it must not end the program")


@kymo.span("decorated", category="py_load", by="a decorator")
def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def kinds():
    kymo.instant(
        "types", category="py_load", null=None, yes=True, no=False, zero=0, small=-5,
        least32=-(2**31), below32=-(2**31) - 1, big=2**40, least=-(2**63), most=2**64 - 1,
        beyond=2**64, real=math.pi,
    )
    kymo.instant(
        "texts", category="py_load", text="naïve", surrogate="a\ud800", empty="", nul="a\0b",
        raw=b"\0\xff", buffer=bytearray(b"xy"), long="z" * 5000, silent=Silent(), some=[1, 2],
        digits=16**5000,
    )
    # (an event with too many arguments, or a text that is too long, is counted as lost)
    kymo.instant("many", category="py_load", **{f"a{i}": i for i in range(16)})
    kymo.instant("large", category="py_load", text="x" * 40000)
    start = kymo.now()
    with kymo.span("flow-from", category="py_load"):
        kymo.flow_begin("flow", 7, category="py_load")
    with kymo.span("flow-over", category="py_load"):
        kymo.flow_step("flow", 7, category="py_load")
    with kymo.span("flow-to", category="py_load"):
        kymo.flow_end("flow", 7, category="py_load", last=True)
    with kymo.async_span("job", category="py_load", n=1):
        with kymo.async_span("job", category="py_load", n=2):
            pass
    try:
        with kymo.span("fails", category="py_load"):
            raise KeyError
    except KeyError:
        pass
    kymo.complete("whole", start, category="py_load")
    again = kymo.span("again", category="py_load")
    with again:
        with again:
            pass
    assert factorial(3) == 6 and factorial.__name__ == "factorial"
    kymo.log("a line of a log", category="py_load")
    kymo.blob("stream", b"bytes", category="py_load")
    try:
        kymo.span("suspended")(lambda: (yield))
    except TypeError as error:
        assert "async_span" in str(error)
    else:
        raise AssertionError("a generator is decorated")
    for wrong in "", "x" * 256, "a\0b":
        try:
            kymo.category(wrong)
        except ValueError:
            continue
        raise AssertionError(f"category {wrong!r}")
    assert kymo.category("py_load") is CATEGORY and kymo.category(CATEGORY) is CATEGORY
    # Events, lost ones, and the log.
    return 2 + 2 + 9 + 4 + 2 + 1 + 4 + 6 + 1


def names():
    _provider.NAMES_MAX = len(_provider._names) + 2
    for i in range(5):
        kymo.instant(f"name-{i}", category="py_load", **{f"argument-{i}": i})
    kymo.instant("n" * 2000, category="py_load")
    # (the first two are registered)
    assert kymo.inline_names() == 9, kymo.inline_names()
    assert len(_provider._names) == _provider.NAMES_MAX
    return 6


class Name(str):
    pass


def odd():
    n_names = len(_provider._names)
    for name in 1, True, ["list"], Silent(), Name("name"), KeyError("key"):
        kymo.instant(name, category="py_load")
    # The names are texts: a second object with the same one is nothing new.
    kymo.instant(["list"], category="py_load")
    assert len(_provider._names) == n_names + 6, list(_provider._names)
    thing = Silent()
    gone = weakref.ref(thing)
    kymo.instant(thing, category="py_load", thing=thing)
    del thing
    gc.collect()
    assert gone() is None, "the package keeps objects"
    view = memoryview(b"released")
    view.release()
    kymo.instant("view", category="py_load", view=view)
    for text in KeyError("log"), 17, None:
        kymo.log(text, category="py_load")
    for data in 5, "text", memoryview(b"abcd")[::2], view:
        kymo.blob("odd-blob", data, category="py_load")
    # An id that is not a number is an error without a recording, too.
    for category in "py_load", "py_other":
        for function in kymo.flow_begin, kymo.complete:
            try:
                function("wrong", 1.5, category=category)
            except TypeError:
                continue
            raise AssertionError("1.5 is an id")
    argv, sys.argv = sys.argv, []
    kymo.start()
    sys.argv = argv
    return 6 + 1 + 1 + 1 + 3 + 4


def fork():
    kymo.instant("parent", category="py_load")
    child = os.fork()
    if child == 0:
        assert not CATEGORY.is_on
        kymo.instant("child-before", category="py_load")
        kymo.start("python-child")
        wait_for_recording()
        kymo.instant("child-after", category="py_load")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert status == 0, status
    kymo.instant("parent", category="py_load")
    return 3


def off():
    silent = kymo.category("py_other")
    with kymo.span("off", category=silent, n=1):
        kymo.instant("off", category=silent)
        kymo.log("off", category="py_other")
    assert not silent.is_on and "off" not in _provider._names
    return 0


kymo.start("python-app")
wait_for_recording()
print(globals()[sys.argv[1]](*(int(number) for number in sys.argv[2:])))
