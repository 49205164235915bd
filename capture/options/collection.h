/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A collection: a recording that a machine makes by itself, as configured by its administrator
 * (kymo.conf(5)).
 */
#pragma once

#include <stdint.h>
#include <sys/stat.h>

#include "capture/options/options.h"

#define COLLECTION_DIRECTORY        "/etc/kymo"
#define COLLECTION_SUFFIX           ".conf"
#define COLLECTION_DIRECTORY_PREFIX "/var/lib/kymo"

enum {
	COLLECTION_TEXT_MAX = 512,     /* maximum size of an error message */
	COLLECTION_BYTES_MAX = 1 << 20 /* maximum size of a file */
};

/* Defaults of a collection file. */
#define COLLECTION_ROTATE_BYTES_DEFAULT (UINT64_C(64) << 20) /* for stream mode without rotation */
#define COLLECTION_KEEP_BYTES_DEFAULT   (UINT64_C(1) << 30)  /* without any limit */
#define COLLECTION_TRIGGER_NS_DEFAULT   UINT64_C(60000000000)

/*
 * The reason for the end of a collection's session whose units are in other cgroups now. A new
 * session finds them.
 */
#define COLLECTION_REASON_OUTDATED "cgroups changed"

struct collection {
	/*
	 * Owned; has the name of the collection. Its filter does not contain the units and cgroups
	 * yet.
	 */
	struct session_options session;
	char *description; /* NULL = none. Owned, like all that follow */
	char **units;      /* NULL-terminated lists: Unit= and CGroup= */
	char **cgroups;
	char **programs;     /* programs that watched processes will load; absolute */
	char *directory;     /* directory for chunks and snapshots; absolute */
	uint64_t keep_bytes; /* 0 = no limit, also for the next one */
	uint64_t keep_ns;
	unsigned directory_line; /* 0 = not given */
};

/*
 * Called with each error (at most a hundred), in the order of lines. LINE is 0 for errors that
 * concern the whole file.
 */
typedef void (*collection_complaint_fn)(unsigned line, const char *text, void *userdata);

void collection_deinit(struct collection *p);

/* Writes NAME of ".../NAME.conf" to TO, if it is valid for a collection. Otherwise returns NULL. */
const char *collection_name_of(const char *path, char to[static 65]);

/*
 * The reason why a file or directory with ST is not trusted to configure root's service, as a
 * sentence; NULL if it is trusted. UID is root's, except in tests.
 */
const char *collection_untrusted(const struct stat *st, uid_t uid);
