/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The programs that each process has run: an exec ends one and begins the next. From EVENT_RENAME
 * and EVENT_EXEC; other events are ignored.
 *
 * The kernel gives a process the name of its next program a moment before it reports the exec. So
 * the name before the last rename is the name of the program that the exec ends. If the next
 * program has the same name, both count as one program.
 *
 * A program is identified by its number within its process, from 0.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/table.h"
#include "base/text-set.h"
#include "model/event.h"

/* The maximum number of programs of all processes. Beyond this number, an exec begins no new
 * program. */
enum { PROGRAMS_MAX = 1 << 20 };

/* A struct with all bytes zero is empty. */
struct programs {
	struct table by_pid; /* pid + 1 -> struct programs_process, owned */
	struct text_set texts;
	size_t n; /* number of ended programs */
};

void programs_deinit(struct programs *p);

/* Adds an event. Returns 1 if EV has ended a program of its process, 0 if not, or -ENOMEM. */
int programs_add(struct programs *p, const struct event *ev);

/* Return the number of the program that process PID ran at TS_NS, and of its last program. */
uint32_t programs_at(const struct programs *p, uint32_t pid, uint64_t ts_ns);
uint32_t programs_last(const struct programs *p, uint32_t pid);

/*
 * Returns the name of an ended program, valid until programs_deinit(); NULL = it is the last
 * program.
 */
const char *programs_name(const struct programs *p, uint32_t pid, uint32_t number);
