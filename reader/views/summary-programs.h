/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sums of threads by program: a thread that calls exec continues in another program.
 */
#pragma once

#include "reader/views/summary-state.h"

/*
 * Handles EV if it is a rename or an exec, before summary_add() processes EV. If EV ends a program,
 * the sums of its thread so far are stored separately. Returns 0 or -ENOMEM.
 */
int summary_programs_add(struct summary *s, const struct event *ev);

/* Must be called when T gets its process: sets T's program to the last one of the process. */
void summary_programs_join(const struct summary *s, struct summary_thread *t);

/* Forgets the programs that have ended. */
void summary_programs_forget(struct summary *s);

/*
 * Stores the sums of each program of each thread, the largest CPU time first, in a new array, which
 * the caller frees. The names in it are borrowed. Returns 0 or -ENOMEM.
 */
int summary_programs_by_cpu(const struct summary *s, struct summary_thread **ret, size_t *ret_n);

/*
 * Returns the name that T's process had while it ran T's program; NULL = unknown. T is a thread, or
 * the part of its sums for one program.
 */
const char *summary_process_name(const struct summary *s, const struct summary_thread *t);
