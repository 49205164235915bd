/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an archive that says what the addresses of its call stacks mean: the source as it is, and
 * for each address of each process a set of `frame` events before the first backtrace that needs
 * it.
 *
 * What the source says itself stays and holds: nothing is written twice, however often an archive
 * is symbolized. An address that lies in another program than when it was named (after exec, or a
 * new mapping) is named anew. Where the new meaning is not known an empty frame takes the old one
 * back. What a call returns to is named by the call: the frame is said of the address before it
 * (frames.h).
 *
 * Perfetto's packets of the source are left out; new ones are made, with the names, of its samples.
 *
 * Memory is bounded by the mappings (maps.h) and by EDIT_SYMBOLIZE_PLACES_MAX addresses; what is
 * more gets no names.
 */
#pragma once

#include "edit/edit-copy.h"
#include "reader/views/profile-names.h"

enum { EDIT_SYMBOLIZE_PLACES_MAX = 1 << 20 };

struct edit_symbolize_options {
	const struct profile_names *names; /* find() is asked once for each place; borrowed */
	bool no_packets;                   /* for Perfetto */
	/* Called with each event before it is written. Returns 0 or -ENOMEM. May be NULL. */
	int (*event)(void *userdata, const struct event *ev);
	void *userdata;
};

struct edit_symbolize;

/* OUT is borrowed. Returns 0 or -ENOMEM. */
int edit_symbolize_new(struct edit_symbolize **ret, struct edit_output *out,
		       const struct edit_symbolize_options *options);
struct edit_symbolize *edit_symbolize_free(struct edit_symbolize *s);
DEFINE_CLEANUP(struct edit_symbolize *, edit_symbolize_free)

/*
 * Takes the next record. Returns 0 or a negative errno, as edit_copy_record(). *RET_WHAT becomes
 * what is wrong with its arguments (static text), or NULL; it is copied then as far as it can be
 * read.
 */
int edit_symbolize_record(struct edit_symbolize *s, const struct fxt_record *record,
			  const char **ret_what);

/* After the last record. Returns as above. */
int edit_symbolize_finish(struct edit_symbolize *s);

struct edit_symbolize_counts {
	struct edit_counts copied;
	uint64_t backtraces;
	uint64_t addresses; /* of a process, in one meaning; each is named, known or unnamed */
	uint64_t named;     /* now */
	uint64_t known;     /* by the source */
	uint64_t unnamed;
	uint64_t frames;     /* events written */
	uint64_t repeated;   /* events of the source left out, since its addresses had been named */
	uint64_t not_looked; /* frames of backtraces that were too many to be named */
	uint64_t unmapped;   /* mappings that there was no room for (maps.h) */
};

void edit_symbolize_get_counts(const struct edit_symbolize *s, struct edit_symbolize_counts *ret);
