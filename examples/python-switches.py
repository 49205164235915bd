# SPDX-License-Identifier: GPL-2.0-or-later
# python-switches.py FILE: counts the switches of an archive, and lists the five worst wakeups: the
# times from the wakeup of a thread to its switch to a CPU.
import sys, kymo
with kymo.open(sys.argv[1]) as archive:
    rows, woken, delays = archive.columns(["kind", "time_ns", "thread"]), {}, []
    for kind, time_ns, thread in zip(*rows.values()):
        if kind == kymo.Kind.WAKEUP:
            woken[thread] = time_ns
        elif kind == kymo.Kind.SWITCH and thread in woken:
            delays.append((time_ns - woken.pop(thread), thread))
    print(rows["kind"].count(kymo.Kind.SWITCH), "switches")
    print(*(f"{ns} ns {archive.thread_name(of)}" for ns, of in sorted(delays)[:-6:-1]), sep="\n")
