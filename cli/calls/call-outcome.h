/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The results of system calls that strace shows with more than a number: flags of descriptors, and
 * descriptors that are ready.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/event.h"

/*
 * Returns the argument of CALL that is a part of its result (EVENT_CALL_READY); NULL = none. This
 * argument is shown with the result, and not among the arguments.
 */
const struct call_value *call_outcome_ready(const struct event *call);

/*
 * Returns true if the function of CALL never has a result, since it ends the thread. The result is
 * then shown as "?", without a reason.
 */
bool call_outcome_is_never(const struct event *call);

/*
 * Writes the text for the result of CALL, a number, to TO (SIZE bytes). Returns the length; 0 = the
 * number needs no other text.
 */
size_t call_outcome_format(const struct event *call, char *to, size_t size);
