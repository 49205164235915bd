/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The moments of an archive as GDB's trace files: one for each program of a process, which is all
 * that GDB knows in one, with a script that opens it with its programs and libraries where they
 * were.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "cli/moments/moment-store.h"
#include "writer/tfile/tfile-script.h"

struct moment_hit;

struct moment_tfile {
	struct moment_store store;
	struct table processes;  /* koid + 1 -> struct moment_tfile_process, owned */
	struct moment_hit *hits; /* owned, with their data */
	size_t n, room;
	uint64_t n_lost;
};

void moment_tfile_deinit(struct moment_tfile *t);

/* Takes any event in. Returns 0 or -ENOMEM. */
int moment_tfile_take(void *tfile, const struct event *ev);

/* A program that a process has run. */
struct moment_tfile_run {
	uint32_t pid, number; /* its koid; how often it had called exec */
};

/* Those that have moments, in order, into a new array (free() it). Returns 0 or -ENOMEM. */
int moment_tfile_runs(const struct moment_tfile *t, struct moment_tfile_run **ret, size_t *ret_n);

/*
 * Writes the moments of RUN from number *AT on, at most as many as are good for a file, to TRACE,
 * and the script that opens it as PATH to SCRIPT. *AT becomes the number of the first one that is
 * left out; *RET_MORE: there is one. Returns 0 or a negative errno.
 */
int moment_tfile_write(const struct moment_tfile *t, const struct moment_tfile_run *run,
		       const char *path, size_t *at, bool *ret_more, struct outbuf *trace,
		       struct outbuf *script);
