/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A collection profile: what a machine is to record by itself, as its administrator wrote it down (kymo.conf(5)).
 *
 * It is parsed whole: each thing that is wrong is said with its line, and nothing comes of a file in which something is wrong.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "capture/options.h"

#define COLLECTION_FOLDER           "/etc/kymo"
#define COLLECTION_SUFFIX           ".conf"
#define COLLECTION_DIRECTORY_PREFIX "/var/lib/kymo"

struct collection {
	struct session_options
		session; /* owned; named as the profile. Filters of units and cgroups are not in it yet */
	char **units; /* owned lists, NULL at the end: Unit= and CGroup= */
	char **cgroups;
	char *directory; /* where chunks and snapshots go; absolute. Owned */
	uint64_t keep_bytes, keep_ns;
};

/* Called with each thing that is wrong. LINE is 0 for what is wrong with all of it. */
typedef void (*collection_complaint_fn)(unsigned line, const char *text, void *userdata);

/*
 * Reads FILE, of the profile NAME, to its end. Returns 0, -EINVAL after complaints, or another errno.
 */
int collection_read(FILE *file, const char *name, collection_complaint_fn complain, void *userdata,
		    struct collection *ret);
void collection_deinit(struct collection *p);
