/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The sums of threads by program: a thread that calls exec goes on in another program.
 */
#pragma once

#include "reader/views/summary.h"

/*
 * Before summary_add() processes EV: takes RENAME and EXEC. If EV ends a program, the sums of its
 * thread are set apart. Returns 0 or -ENOMEM.
 */
int summary_programs_add(struct summary *s, const struct event *ev);

/* T has come to process PID. */
void summary_programs_join(const struct summary *s, struct summary_thread *t);

/* Forgets the programs that have ended. */
void summary_programs_forget(struct summary *s);
