/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that a pattern leaves out, because the kernel sets no probe on the instructions at
 * which their calls could be recorded (capture/probes/call-places.h), or because they are labels:
 * no function begins there, such as at the end of OCaml's code.
 */
#pragma once

#include "base/outbuf.h"
#include "cli/places/call-resolved.h"

/*
 * Searches the file at PATH for such functions among those of RESOLVED, which a pattern has found.
 * Removes the specifications that mean only such a function, unless no other would remain. Writes
 * to NAMES the first names, and the number of further ones. NAMES stays empty if there are none, or
 * if the file cannot be examined: then the recorder reports the reason.
 */
void refused_functions_drop(const char *path, struct call_resolved *resolved, struct outbuf *names);

/* Likewise, for labels. */
void refused_functions_drop_labels(const char *path, struct call_resolved *resolved,
				   struct outbuf *names);
