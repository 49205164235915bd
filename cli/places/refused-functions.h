/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that a pattern leaves out: the kernel sets no probe on the instructions at which their
 * calls could be recorded (capture/probes/call-places.h), or there is no function, but only a
 * label, for example at the end of OCaml's code.
 */
#pragma once

#include <stddef.h>

#include "base/outbuf.h"
#include "cli/places/call-resolved.h"

/* Functions that are left out. */
struct refused_list {
	struct outbuf names; /* the first names, and the number of others; can be empty */
	size_t n, n_named;
};

struct refused_names {
	struct refused_list refused; /* functions that can have no probe */
	struct refused_list labels;
};

/*
 * Searches the file at PATH, once, for functions of RESOLVED, which a pattern has found, that
 * cannot be recorded. Removes the specifications that mean only such functions, unless no others
 * would remain. Writes the names of the functions to TO, which is empty. TO stays empty if the file
 * cannot be examined: then the recorder reports the reason.
 */
void refused_functions_drop(const char *path, struct call_resolved *resolved,
			    struct refused_names *to);

void refused_names_deinit(struct refused_names *names);
