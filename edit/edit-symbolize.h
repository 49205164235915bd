/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an archive with names for the addresses in its call stacks: the unchanged source, with a
 * set of `frame` events for each address of each process before the first backtrace that needs it.
 *
 * Names that the source has already are kept and used, so repeated runs write nothing twice. An
 * address is named again if it has other code than when it was named (after exec, or in a new
 * mapping). If its new name is unknown, an empty frame revokes the old one. A return address has
 * the name of its call: the frame has the address one byte lower (frames.h).
 *
 * Perfetto's packets of the source are left out, and new ones with names are made from its samples.
 *
 * Memory is bounded by the mappings (maps.h) and by EDIT_SYMBOLIZE_PLACES_MAX addresses; further
 * addresses get no names.
 */
#pragma once

#include "edit/edit-copy.h"
#include "reader/views/profile-names.h"

enum { EDIT_SYMBOLIZE_PLACES_MAX = 1 << 20 };

struct edit_symbolize_options {
	const struct profile_names *names; /* find() is called once per place; borrowed */
	bool no_packets;                   /* omit packets for Perfetto */
	/* Called with each event before it is written. Returns 0 or -ENOMEM. May be NULL. */
	int (*event)(void *userdata, const struct event *ev);
	void *userdata;
};

struct edit_symbolize;

/* Creates a symbolization. OUT is borrowed. Returns 0 or -ENOMEM. */
int edit_symbolize_new(struct edit_symbolize **ret, struct edit_output *out,
		       const struct edit_symbolize_options *options);
struct edit_symbolize *edit_symbolize_free(struct edit_symbolize *s);
DEFINE_CLEANUP(struct edit_symbolize *, edit_symbolize_free)

/*
 * Processes the next record. Returns 0 or a negative errno, like edit_copy_record(). *RET_WHAT is
 * the error in the record's arguments (static text), or NULL. A record with an error is copied as
 * far as it is readable.
 */
int edit_symbolize_record(struct edit_symbolize *s, const struct fxt_record *record,
			  const char **ret_what);

/* Must be called after the last record. Returns like edit_symbolize_record(). */
int edit_symbolize_finish(struct edit_symbolize *s);

struct edit_symbolize_counts {
	struct edit_counts copied;
	uint64_t backtraces;
	/*
	 * Number of addresses, named or not. An address counts once for each process and mapping.
	 */
	uint64_t addresses;
	uint64_t named; /* number of these addresses that were named now */
	uint64_t known; /* number of these addresses that the source has named */
	uint64_t unnamed;
	uint64_t frames; /* number of frame events that were written */
	/* Number of events of the source that were left out, since the addresses had been named. */
	uint64_t repeated;
	uint64_t not_inspected; /* number of frames of backtraces beyond the limit */
	uint64_t unmapped;      /* number of mappings that did not fit (maps.h) */
};

void edit_symbolize_get_counts(const struct edit_symbolize *s, struct edit_symbolize_counts *ret);
