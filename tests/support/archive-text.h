/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An archive in words, so that a test can say what it expects as one reads it. Both go through the
 * reader; whatever it calls damage becomes a line, too.
 */
#pragma once

#include <stddef.h>

#include "base/outbuf.h"
#include "model/event.h"

/*
 * A line a record, without those that register strings and threads: its kind, time, names and all
 * arguments with their types, "0 process 10 'sh' parent:koid=1 uid:uint32=0". A new string.
 */
char *archive_text(const struct outbuf *archive);

/*
 * A line an event, short, without the head:
 *
 *	110 cpu0 5>6 blocked       a switch; with its state letter: "blocked/D"; synthetic: "*"
 *	120 wake 5 @0 by 7         a wakeup, on the CPU where it ran last
 *	130 move 5 0>1             a migration
 *	140 lost sched cpu0 3 140..150
 *	150 fork 10/11 > 20/20     the parent and the child
 *	160 exec 10/10 'file' 'command line' old 11
 *	170 exit 10/11 code 3 signal 0 ends
 *	180 rename 10/11 'from' 'to'
 *	process 10 'name' parent 1 uid 0 cgroup 0 'command line' real 0
 *	thread 10/11 'name' real 0
 *	200 mark 'text'
 *
 * A new string.
 */
char *archive_story(const struct outbuf *archive);

/* Calls FN with each event, kernel objects too. Returns how many there were. */
size_t archive_events(const struct outbuf *archive,
		      void (*fn)(const struct event *ev, void *userdata), void *userdata);
