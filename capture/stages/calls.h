/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calls of functions, from their entries and exits: a stage of the pipeline.
 *
 * The open calls of a thread form a stack, in the order of their stack pointers. A `ret` ends the
 * call of its function with the same stack pointer at the entry. Calls that are deeper than the
 * ended call, or deeper than a newly entered function, were left without a `ret`: by longjmp(), an
 * exception, or a tail call to code without probes. Or such calls are on another stack, the stack
 * of a coroutine that continues later. So it is unknown whether a call was left, until it returns
 * or another call has its place on the stack. The depth and the number of stacks are unlimited.
 */
#pragma once

#include <stdint.h>

#include "capture/stages/calls-write.h"
#include "capture/stages/stage.h"

extern const struct stage calls_stage;

void calls_init(struct calls *c, const struct pipeline *pipe);
void calls_deinit(void *calls);

/* Accepts REC_CALL, REC_CALL_END, REC_EXIT and REC_EXEC. Returns 0 or a negative errno. */
int calls_record(void *calls, const struct rec_head *rec);

/* Called when the recording ends at AT_NS. Writes open calls. Returns 0 or a negative errno. */
int calls_close(struct calls *c, uint64_t at_ns);
