# SPDX-License-Identifier: GPL-2.0-or-later
#
# python-inside FILE CATEGORY: prints how many events of CATEGORY FILE has, and how many of these
# are inside of a slice of their thread: from a switch to it until the next switch on its CPU.

import bisect
import collections
import sys

import kymo


class Slices:
    """When each thread ran: its slices have begins and ends in the order of time."""

    def __init__(self):
        self.begins = collections.defaultdict(list)
        self.ends = collections.defaultdict(list)

    def switch(self, time_ns, out_thread, thread):
        # (a thread that ran before the first switch of its CPU has no begin)
        if len(self.ends[out_thread]) == len(self.begins[out_thread]):
            self.begins[out_thread].append(0)
        self.ends[out_thread].append(time_ns)
        # (a slice whose end is missing is empty, so events in it are outside)
        if len(self.begins[thread]) > len(self.ends[thread]):
            self.ends[thread].append(self.begins[thread][-1])
        self.begins[thread].append(time_ns)

    def has(self, thread, time_ns):
        i = bisect.bisect_right(self.begins[thread], time_ns) - 1
        # (a slice without an end goes on)
        return i >= 0 and (i >= len(self.ends[thread]) or time_ns <= self.ends[thread][i])


slices, events = Slices(), []
with kymo.open(sys.argv[1]) as archive:
    for event in archive:
        if event.kind == kymo.Kind.SWITCH:
            slices.switch(event.time_ns, event.out_thread, event.thread)
        elif event.category == sys.argv[2]:
            events.append((event.thread, event.time_ns))
print(len(events), sum(slices.has(*event) for event in events))
