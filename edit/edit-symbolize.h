/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes an archive with names for the addresses in its call stacks: the unchanged source, with a
 * set of `frame` events for each address of each process before the first backtrace that needs it.
 *
 * Names that the source has already are kept and used, so repeated runs write nothing twice. An
 * address in another program than when it was named (after exec, or in a new mapping) is named
 * again. If its new name is unknown, an empty frame revokes the old one. A return address has the
 * name of its call: the frame has the address one byte lower (frames.h).
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
 * Takes the next record. Returns 0 or a negative errno, as edit_copy_record(). *RET_WHAT is the
 * error in its arguments (static text), or NULL; the record is then copied as far as it is
 * readable.
 */
int edit_symbolize_record(struct edit_symbolize *s, const struct fxt_record *record,
			  const char **ret_what);

/* After the last record. Returns as above. */
int edit_symbolize_finish(struct edit_symbolize *s);

struct edit_symbolize_counts {
	struct edit_counts copied;
	uint64_t backtraces;
	uint64_t addresses; /* addresses of a process, in one meaning; named or unnamed */
	uint64_t named;     /* now */
	uint64_t known;     /* by the source */
	uint64_t unnamed;
	uint64_t frames;   /* events written */
	uint64_t repeated; /* events of the source left out, since the addresses had been named */
	uint64_t not_inspected; /* frames of backtraces beyond the limit */
	uint64_t unmapped;      /* mappings without room (maps.h) */
};

void edit_symbolize_get_counts(const struct edit_symbolize *s, struct edit_symbolize_counts *ret);
