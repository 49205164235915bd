/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A collection: a recording that a machine makes by itself, as configured by its administrator
 * (kymo.conf(5)).
 */
#pragma once

#include <stdbool.h>
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

/* Values that a collection file has by default. */
/* In stream mode, if the file does not set when to rotate. */
#define COLLECTION_ROTATE_BYTES_DEFAULT (UINT64_C(64) << 20)
#define COLLECTION_KEEP_BYTES_DEFAULT   (UINT64_C(1) << 30) /* if the file sets no limit */
#define COLLECTION_TRIGGER_NS_DEFAULT   UINT64_C(60000000000)

/*
 * The reason why a collection's session ends if its units have moved to other cgroups. A new
 * session finds the units there.
 */
#define COLLECTION_REASON_OUTDATED "cgroups changed"

/* The form in which chunks are exported. */
enum ship_format {
	SHIP_AS_IT_IS, /* as they are */
	SHIP_PARQUET,
	SHIP_PPROF,
	SHIP_OTLP,
	SHIP_FORMAT_MAX,
};

extern const char *const ship_format_names[SHIP_FORMAT_MAX];

struct collection {
	/*
	 * Owned. The session has the name of the collection. The filter does not contain the units
	 * and cgroups yet.
	 */
	struct session_options session;
	char *description; /* NULL = no description. Owned, like all members below */
	char **units;      /* the values of Unit= and CGroup=; each list ends with NULL */
	char **cgroups;
	char **programs;     /* absolute paths of programs that watched processes will load */
	char *directory;     /* absolute path of the directory for chunks and snapshots */
	uint64_t keep_bytes; /* 0 = no limit, for both */
	uint64_t keep_ns;
	unsigned directory_line; /* the line of the key Directory; 0 = the key is absent */

	/* How `kymo ship` hands chunks over. */
	enum ship_format ship_format;
	char *ship_to;  /* absolute path of a directory; NULL = none */
	char *ship_run; /* a command of the shell; NULL = none */
};

/*
 * Called with each error (at most a hundred), in the order of lines. LINE is 0 for errors that
 * concern the whole file.
 */
typedef void (*collection_complaint_fn)(unsigned line, const char *text, void *userdata);

/* Returns true if the chunks are exported. */
static inline bool collection_is_exported(const struct collection *c)
{
	return c->ship_to || c->ship_run;
}

void collection_deinit(struct collection *p);

/*
 * If PATH is ".../NAME.conf", and NAME is valid for a collection, writes NAME to TO and returns TO.
 * Otherwise returns NULL.
 */
const char *collection_name_of(const char *path, char to[static 65]);

/*
 * Returns a sentence that says why a file or directory with ST may not configure root's service;
 * NULL if it may. UID is root's, except in tests.
 */
const char *collection_untrusted(const struct stat *st, uid_t uid);
