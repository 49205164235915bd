/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The moments of an archive as GDB trace files: one per program of a process, since GDB supports
 * only one program in a file. A script opens the file, with its program and libraries at their
 * addresses.
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

/* Adds an event of any kind. Returns 0 or -ENOMEM. */
int moment_tfile_on_event(void *tfile, const struct event *ev);

/* One program of a process. */
struct moment_tfile_run {
	uint32_t pid, number; /* koid of the process; number of execs before the run */
};

/* The runs with moments, sorted, as a new array (free() it). Returns 0 or -ENOMEM. */
int moment_tfile_runs(const struct moment_tfile *t, struct moment_tfile_run **ret, size_t *ret_n);

/*
 * Writes moments of RUN from number *AT on to TRACE, up to the limit of a file, and the script that
 * opens it as PATH to SCRIPT. *AT becomes the number of the first moment that is not written.
 * *RET_MORE = true: there is such a moment. Returns 0 or a negative errno.
 */
int moment_tfile_write(const struct moment_tfile *t, const struct moment_tfile_run *run,
		       const char *path, size_t *at, bool *ret_more, struct outbuf *trace,
		       struct outbuf *script);
