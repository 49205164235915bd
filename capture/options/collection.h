/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A collection: what a machine is to record by itself, as its administrator wrote it down
 * (kymo.conf(5)).
 *
 * It is parsed whole: each thing that is wrong is said with its line, and nothing comes of a file
 * in which something is wrong.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

#include "capture/options/options.h"

#define COLLECTION_DIRECTORY        "/etc/kymo"
#define COLLECTION_SUFFIX           ".conf"
#define COLLECTION_DIRECTORY_PREFIX "/var/lib/kymo"

enum {
	COLLECTION_TEXT_MAX = 512,     /* of a complaint */
	COLLECTION_BYTES_MAX = 1 << 20 /* of a file */
};

/* What is taken where the file says nothing. */
#define COLLECTION_ROTATE_BYTES_DEFAULT                                                            \
	(UINT64_C(64) << 20)                              /* of stream mode without any rotation */
#define COLLECTION_KEEP_BYTES_DEFAULT (UINT64_C(1) << 30) /* without any limit */
#define COLLECTION_TRIGGER_NS_DEFAULT UINT64_C(60000000000)

/*
 * Why a session of a collection has ended whose units are elsewhere than it looks: a new one finds
 * them.
 */
#define COLLECTION_REASON_OUTDATED "cgroups changed"

struct collection {
	/* Owned; named as the collection. Filters of units and cgroups are not in it yet. */
	struct session_options session;
	char *description; /* NULL = none. Owned, as all that follows */
	char **units;      /* lists, NULL at the end: Unit= and CGroup= */
	char **cgroups;
	char **programs;     /* that will be loaded by those whose memory is watched; absolute */
	char *directory;     /* where chunks and snapshots go; absolute */
	uint64_t keep_bytes; /* 0 = no limit, as of the next */
	uint64_t keep_ns;
	unsigned directory_line; /* 0 = not said */
};

/*
 * Called with each thing that is wrong (a hundred at most), in the order of lines. LINE is 0 for
 * what is wrong with all of it.
 */
typedef void (*collection_complaint_fn)(unsigned line, const char *text, void *userdata);

/*
 * Reads FILE, of the collection NAME, to its end. Returns 0, -EINVAL after complaints, or another
 * errno.
 */
int collection_read(FILE *file, const char *name, collection_complaint_fn complain, void *userdata,
		    struct collection *ret);
void collection_deinit(struct collection *p);

/* NULL, or "NAME" of ".../NAME.conf" in TO if that can be the name of a collection. */
const char *collection_name_of(const char *path, char to[static 65]);

/*
 * Why a file (or a directory) with ST must not say what root's service does, a sentence; NULL if it
 * may. UID is root's, but in tests.
 */
const char *collection_untrusted(const struct stat *st, uid_t uid);
