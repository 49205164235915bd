/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files whose file system may never answer: FUSE, which every user has in hand, and those of other
 * machines. Threads that exist only then open and read them, one for each file system, so one that
 * hangs keeps nobody waiting but those who use the same file system.
 *
 * For one thread. What hangs when that lets go keeps a few KiB, and the thread, until the file
 * system answers or goes; nobody waits for it. Such files are not in the cache.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/unwind.h"
#include "capture/unwind/unwind-table.h"

/* A parser that takes longer is killed. */
#define UNWIND_PARSE_NS_MAX UINT64_C(10000000000)

enum {
	UNWIND_AWAY_FILES_MAX = 64,  /* of one session, that wait or are worked at */
	UNWIND_AWAY_THREADS_MAX = 8, /* of one session */
	UNWIND_AWAY_ALL_MAX = 32,    /* threads of all sessions of this process */
};

enum unwind_away_step { UNWIND_AWAY_OPENED, UNWIND_AWAY_READ };

struct unwind_away_file {
	struct unwind_ask ask;
	uint32_t device;  /* of one device one file is worked at */
	uint32_t changes; /* the caller's */
	enum unwind_away_step step;
	int result; /* of the step: 0 or a negative errno */
	int fd;     /* of this module, when it is open; else -1 */
	struct unwind_table table;
};

struct unwind_away;

/*
 * Opens what ASK's process has mapped there; whether it is still the file that was asked for, the
 * caller finds out. May take for ever. Returns a descriptor or a negative errno.
 */
int unwind_open_mapped(const struct unwind_ask *ask);

/*
 * Makes DONE_FD, an eventfd that is copied, readable when a step is done. Returns 0 or a negative
 * errno.
 */
int unwind_away_new(int done_fd, struct unwind_away **ret);

/* Lets go. Returns NULL. */
struct unwind_away *unwind_away_free(struct unwind_away *a);

/* Begins to open FILE (`ask`, `device` and `changes`). Returns 0, or -EAGAIN if too many wait. */
int unwind_away_open(struct unwind_away *a, const struct unwind_away_file *file);

/*
 * Begins to read FILE, which unwind_away_next() has returned as opened; or closes it, if not
 * WANTED.
 */
void unwind_away_read(struct unwind_away *a, const struct unwind_away_file *file, bool wanted);

/* The next file whose step is done. Of one that was read, the table is the caller's. */
bool unwind_away_next(struct unwind_away *a, struct unwind_away_file *ret);

/* Whether anything waits, is worked at, or is to be fetched. */
bool unwind_away_is_busy(struct unwind_away *a);
