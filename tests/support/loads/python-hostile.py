# SPDX-License-Identifier: GPL-2.0-or-later
#
# python-hostile HOW N [GO]: changes the memory of its own interpreter (CPython 3.11), which goes on.
# Before that, it repeats the system call getpgid until the file GO exists.
#
#	forge    makes the system call getppid with each of the forged frames below
#	random   makes N such calls with random values in the frames, code objects and texts
#	loop     uses CPU time for N ms while its frame is its own caller
import ctypes
import os
import random
import sys
import time

HOW, N = sys.argv[1], int(sys.argv[2])
WILD = [0, 8, 0xDEAD0000, 0x7FFFFFFFF000, 0x8000000000000000, 0xFFFF888000000000, 2**64 - 8]

# capture/unwind/python-layouts.h
THREAD_CFRAME, CFRAME_CURRENT, CFRAME_PREVIOUS = 56, 8, 16
FRAME_CODE, FRAME_PREVIOUS, FRAME_INSTRUCTION = 32, 48, 56
CODE_FILE, CODE_QUALNAME, CODE_LINES = 112, 128, 136

ctypes.pythonapi.PyThreadState_Get.restype = ctypes.c_void_p
state = ctypes.pythonapi.PyThreadState_Get()
code_type = id(type(compile("0", "", "eval")))


def word(address):
    return ctypes.c_uint64.from_address(address)


class Memory:
    def __init__(self, size=256):
        self.bytes = ctypes.create_string_buffer(size)
        self.at = ctypes.addressof(self.bytes)

    def put(self, offset, value):
        word(self.at + offset).value = value
        return self


def object_of(thing, size=256):
    """A copy of the memory of an object."""
    copy = Memory(size)
    ctypes.memmove(copy.at, id(thing), min(size, 184))
    return copy


def frame(code, previous=0):
    return Memory().put(FRAME_CODE, code).put(FRAME_PREVIOUS, previous)


def text(length, state):
    return Memory().put(0, 1).put(16, length).put(24, 2**64 - 1).put(32, state)


def forged_frames():
    """Frames, with what they need."""
    for value in WILD:
        yield [frame(value)]
        yield [frame(object_of(frame.__code__).at, value)]
        for offset in (8, CODE_FILE, CODE_QUALNAME, CODE_LINES):
            code = object_of(frame.__code__).put(offset, value)
            yield [frame(code.at), code]
        code = object_of(frame.__code__)
        yield [frame(code.at).put(FRAME_INSTRUCTION, value), code]
        # a text with this length, of each kind, and a table of lines with it
        for kind in range(8):
            name = text(value, kind << 2 | 1 << 5 | (value & 1) << 6)
            code = object_of(frame.__code__).put(CODE_QUALNAME, name.at).put(CODE_FILE, name.at)
            yield [frame(code.at), code, name]
        lines = object_of(b"").put(16, value)
        code = object_of(frame.__code__).put(CODE_LINES, lines.at)
        yield [frame(code.at), code, lines]
    yield frames_that_call_each_other()


def frames_that_call_each_other():
    code = object_of(frame.__code__)
    one, two = frame(code.at), frame(code.at)
    return [one.put(FRAME_PREVIOUS, two.at), two.put(FRAME_PREVIOUS, one.at), code]


def random_frames():
    code, name, lines = object_of(frame.__code__), text(8, 1 << 5 | 1 << 2), object_of(b"xyz")
    frames = [frame(code.at) for _ in range(4)]
    pool = [m.at for m in [code, name, lines] + frames] + [code_type, id("x"), id(b"x"), state]
    while True:
        memory = random.choice([code, name, lines] + frames)
        value = random.choice(pool + WILD + [random.getrandbits(64), random.getrandbits(7)])
        memory.put(random.choice(range(0, 184, 4)), value)
        code.put(8, code_type)
        yield frames + [code, name, lines]


def leaf():
    os.getppid()


def spin():
    end = time.monotonic() + N / 1000
    while time.monotonic() < end:
        for _ in range(1000):
            pass


def with_caller(previous, function, c_previous=None):
    cframe = word(state + THREAD_CFRAME).value
    mine = word(cframe + CFRAME_CURRENT).value
    caller, c_caller = word(mine + FRAME_PREVIOUS), word(cframe + CFRAME_PREVIOUS)
    true_caller, true_c_caller = caller.value, c_caller.value
    c_caller.value = true_c_caller if c_previous is None else c_previous
    caller.value = mine if previous is None else previous
    try:
        function()
    finally:
        caller.value = true_caller
        c_caller.value = true_c_caller


def main():
    random.seed(1)
    while len(sys.argv) > 3 and not os.path.exists(sys.argv[3]):
        os.getpgid(0)
        time.sleep(0.001)
    if HOW == "forge":
        for memories in forged_frames():
            with_caller(memories[0].at, leaf)
        for value in WILD:
            with_caller(value, leaf)
            with_caller(value, leaf, value)
        # a C frame, too, that calls itself
        memories = frames_that_call_each_other()
        cframe = Memory().put(CFRAME_CURRENT, memories[0].at)
        with_caller(memories[0].at, leaf, cframe.put(CFRAME_PREVIOUS, cframe.at).at)
    elif HOW == "random":
        for _, memories in zip(range(N), random_frames()):
            with_caller(memories[0].at, leaf)
    elif HOW == "loop":
        with_caller(None, spin)
    print("alive")


main()
