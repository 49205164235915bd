/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The message of all views for an archive without events that they can show, with the likely
 * reason: the recording was not asked for such events, or none happened.
 */
#pragma once

#include <stdint.h>

#include "model/other-files.h"
#include "model/event.h"

/* The parts of an archive that views show. */
enum nothing_part {
	NOTHING_SWITCHES,
	NOTHING_STACKS,
	NOTHING_ALLOCATIONS,
	NOTHING_CALLS,
	NOTHING_MOMENTS,
	NOTHING_PARTS,
};

/* The parts of an archive, each as a bit 1 << enum nothing_part. */
struct nothing_there {
	uint32_t recording_request; /* parts that are in the categories of the recording */
	uint32_t seen;              /* parts of which the archive has an event */
};

/* Notes EV, an event of the archive. */
void nothing_there_note(struct nothing_there *n, const struct event *ev);

/*
 * Reports on stderr that the archive NAME has no event of PART. Returns CLI_OK if the recording was
 * asked for PART, since there were then no such events; otherwise CLI_FAILED. A verb that should
 * have written a file must fail in both cases.
 */
int nothing_there_say(const struct nothing_there *n, enum nothing_part part, const char *name);

/* Room for the text of nothing_there_explain(). */
enum { NOTHING_TEXT_MAX = 256 };

/*
 * Returns what nothing_there_say() reports, without the archive: "no calls; record them with ...".
 * Writes to TO.
 */
const char *nothing_there_explain(char to[static NOTHING_TEXT_MAX], const struct nothing_there *n,
				  enum nothing_part part);

/*
 * Reports each part that the recording was asked for, but that has no event, like
 * nothing_there_say().
 */
void nothing_there_say_missing(const struct nothing_there *n, const char *name);

/*
 * Names the files in O on stderr: the archive NAME lacks their calls. Prints nothing if there are
 * none.
 */
void nothing_there_name_files(const struct other_files *o, const char *name);
