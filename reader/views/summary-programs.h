/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sums of threads by program: a thread that calls exec continues in another program.
 */
#pragma once

#include "reader/views/summary-state.h"

/*
 * Handles RENAME and EXEC before summary_add() processes EV. If EV ends a program, the sums of its
 * thread up to then are stored separately. Returns 0 or -ENOMEM.
 */
int summary_programs_add(struct summary *s, const struct event *ev);

/* Notes that T now belongs to process PID. */
void summary_programs_join(const struct summary *s, struct summary_thread *t);

/* Forgets the programs that have ended. */
void summary_programs_forget(struct summary *s);

/*
 * Stores the sums of each program of each thread, most CPU time first, in a new array (free() it).
 * Their names are borrowed. Returns 0 or -ENOMEM.
 */
int summary_programs_by_cpu(const struct summary *s, struct summary_thread **ret, size_t *ret_n);

/*
 * Returns the name that the process of T, a thread or a part of its sums, had in the program of T;
 * or NULL.
 */
const char *summary_process_name(const struct summary *s, const struct summary_thread *t);
