/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that a pattern leaves out, because the kernel sets no probe on the instructions at
 * which their calls could be recorded (capture/probes/call-places.h), or because they are labels:
 * no function begins there, such as at the end of OCaml's code.
 */
#pragma once

#include <stddef.h>

#include "base/outbuf.h"
#include "cli/places/call-resolved.h"

/* Functions that are left out. */
struct refused_list {
	struct outbuf names; /* the first names, and the number of further ones; empty = none */
	size_t n, n_named;
};

struct refused_names {
	struct refused_list refused; /* they can have no probe */
	struct refused_list labels;
};

/*
 * Searches the file at PATH, once, for such functions among those of RESOLVED, which a pattern has
 * found. Removes the specifications that mean only such a function, unless no other would remain.
 * Writes their names to TO, which is empty. They stay empty if the file cannot be examined: then
 * the recorder reports the reason.
 */
void refused_functions_drop(const char *path, struct call_resolved *resolved,
			    struct refused_names *to);

void refused_names_deinit(struct refused_names *names);
