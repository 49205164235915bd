/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The collection of a session: read from its file, with its filters resolved and its directory
 * open.
 *
 * For each read, the directory of collections is opened, and then the file in it, without following
 * links. Directory and file must belong to root. The directory for archives is created if it is
 * below the service's own directory. Other directories must exist, and only root may have write
 * access to them, since the service trusts the names in them.
 */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "base/cleanup.h"
#include "capture/store/store-files.h"
#include "capture/options/collection.h"

/* Directories of collections and their archives. All borrowed. */
struct collection_places {
	const char *config; /* in place of COLLECTION_DIRECTORY */
	const char *state;  /* in place of COLLECTION_DIRECTORY_PREFIX */
};

struct collection_use {
	/* The collection. Its session options are empty after they were moved to a session. */
	struct collection collection;
	char *name;
	enum session_mode mode;
	enum pack_method packed;
	int dir_fd; /* directory of chunks and snapshots, open for reading */

	/* Number of ticks since the session was created; only for daemon-session.c, like SCAN. */
	unsigned n_ticks;
	struct collection_scan *scan; /* check in progress; NULL = no check. Owned */

	/* Only for collection-snapshots.h: */
	uint64_t interval_ns, last_ns; /* last_ns: CLOCK_BOOTTIME; 0 = no snapshot yet */
	uint64_t n_written, n_failed, n_passed_over;
	struct collection_pending *pending;
	bool kept; /* the content was saved when the session ended to be created again */
};

/* D-Bus errors for collections. */
#define COLLECTION_ERROR_INVALID                                                                   \
	"org.kymo.Trace1.Error.InvalidProfile" /* the content or the owner of the file is wrong */
#define COLLECTION_ERROR_MISSING "org.kymo.Trace1.Error.NoSuchProfile"
#define COLLECTION_ERROR_NOT_YET "org.kymo.Trace1.Error.NotYet" /* a cgroup does not exist yet */

/*
 * Reads the collection NAME, resolves its filters and opens its directory. Returns 0, or a negative
 * errno with one or more lines in RETERR.
 */
int collection_use_new(const struct collection_places *places, const char *name,
		       struct collection_use **ret, sd_bus_error *reterr);
struct collection_use *collection_use_free(struct collection_use *p);

DEFINE_CLEANUP(struct collection_use *, collection_use_free)

/*
 * Creates a store in the directory, for chunks or snapshots, with compression PACKED. Returns 0 or
 * a negative errno.
 */
int collection_use_store(const struct collection_use *p, enum pack_method packed,
			 struct store **ret);
