# SPDX-License-Identifier: MIT
"""
Archives of kymo, read and written by Python programs: see kymo-python(3).

Reading (needs libkymo):

    with kymo.open("trace.fxt") as archive:
        for event in archive:
            print(event.time_ns, event.name, event.arguments)

Writing events of this program (needs libkymo-provider):

    kymo.start("my-program")
    with kymo.span("request", n=3):
        ...

    $ kymo record -e sched,app -- python3 my-program.py

Each part is loaded when one of its names is first used, so that a program that only writes events
does not load the decompressors that a reader needs.
"""

import importlib as _importlib

from kymo._library import Error

_PARTS = {
    "kymo._archive": (
        "NO_TEXT", "Archive", "Damage", "Event", "Kind", "open", "tid", "version",
    ),
    "kymo._points": (
        "Format", "Layout", "Point", "PointWriter", "Points", "QueryError", "Result", "Variable",
        "open_points",
    ),
    "kymo._provider": (
        "Category", "async_span", "blob", "category", "complete", "counter", "flow_begin",
        "flow_end", "flow_step", "inline_names", "instant", "log", "now", "span", "start", "stop",
        "thread_name",
    ),
}
_MODULE_OF = {name: module for module, names in _PARTS.items() for name in names}

__all__ = ["Error", *_MODULE_OF]


def __getattr__(name):
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'kymo' has no attribute {name!r}")
    module = _importlib.import_module(_MODULE_OF[name])
    # (so that Python finds the names of the part without this function from now on)
    for each in _PARTS[module.__name__]:
        globals()[each] = getattr(module, each)
    return globals()[name]


def __dir__():
    return sorted(__all__)
