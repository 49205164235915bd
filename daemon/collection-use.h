/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A collection that a session is made of: read from where root keeps them, with its filters
 * resolved and its directory open.
 *
 * The directory of collections is opened each time, and the file by name below it, without links.
 * Both must belong to root, whose word they are. Directories are made below the service's own only;
 * another one has to be there, and nobody but root may write to it, since names in it are what is
 * trusted of it.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "base/cleanup.h"
#include "capture/store/store-files.h"
#include "capture/options/collection.h"

/* Where collections are, and where theirs goes. All borrowed. */
struct collection_places {
	const char *config; /* COLLECTION_DIRECTORY */
	const char *state;  /* stands for COLLECTION_DIRECTORY_PREFIX */
};

struct collection_use {
	struct collection collection; /* less its session options, when they were taken */
	char *name;
	enum session_mode mode;
	enum pack_method packed;
	int dir_fd; /* for reading: chunks and snapshots go there */

	unsigned n_ticks;             /* since it was made: daemon-session.c, as the next */
	struct collection_look *look; /* under way; NULL = none. Owned */

	/* collection-snapshots.h */
	uint64_t interval_ns, last_ns; /* CLOCK_BOOTTIME; 0 = none yet */
	uint64_t n_written, n_failed, n_passed_over;
	struct collection_pending *pending;
	bool kept; /* what it held when its session ended for a new one */
};

/* Names on the bus of what can be wrong with a collection. */
#define COLLECTION_ERROR_INVALID                                                                   \
	"org.kymo.Trace1.Error.InvalidProfile" /* what it says, or whose it is */
#define COLLECTION_ERROR_MISSING "org.kymo.Trace1.Error.NoSuchProfile"
#define COLLECTION_ERROR_NOT_YET                                                                   \
	"org.kymo.Trace1.Error.NotYet" /* it may be good later: a cgroup is missing */

/* Returns 0, or a negative errno with a sentence (or several lines) in RETERR. */
int collection_use_new(const struct collection_places *places, const char *name,
		       struct collection_use **ret, sd_bus_error *reterr);
struct collection_use *collection_use_free(struct collection_use *p);

DEFINE_CLEANUP(struct collection_use *, collection_use_free)

/*
 * *RET is a store of chunks (or snapshots), packed so, in its directory. Returns 0 or a negative
 * errno.
 */
int collection_use_store(const struct collection_use *p, enum pack_method packed,
			 struct store **ret);
