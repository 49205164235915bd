/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A list of the files with probes, on a tmpfs. If a recorder is killed, the next recorder reads it.
 *
 * A journal belongs to one attacher (capture/probes/probe-attacher.h), which holds its lock. The
 * journal is a file in probes/ of the runtime directory, with a slot of fixed size for each file
 * with probes. Only root can access that directory. A slot is filled before the first probe is
 * attached, and cleared after the last one is removed. A journal without a lock is abandoned.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum {
	PROBE_JOURNAL_SLOTS = 256,
	PROBE_JOURNAL_OFFSETS = 1024, /* the maximum number of probes in one file */
};

/* A file with probes. */
struct probe_file {
	uint64_t device, inode; /* from stat() */
	const uint64_t *offsets;
	size_t n;
};

struct probe_journal;

/* Creates a locked journal. Returns 0 or a negative errno: -EACCES if the user is not root. */
int probe_journal_new(struct probe_journal **ret);

/* Keeps the file, unless probe_journal_remove() was called. Returns NULL. */
struct probe_journal *probe_journal_free(struct probe_journal *j);

DEFINE_CLEANUP(struct probe_journal *, probe_journal_free)

/* Adds a file. Returns its slot, or a negative errno: -ENOSPC if all slots are used. */
int probe_journal_add(struct probe_journal *j, const struct probe_file *file);

void probe_journal_clear(struct probe_journal *j, int slot);

/* Removes the file, when no probe is left. */
void probe_journal_remove(struct probe_journal *j);

/* Returns true if there can be abandoned journals. */
bool probe_journal_any(void);

/*
 * Calls FN for each file in abandoned journals, and then DONE, while their locks are held. Removes
 * the journals unless FN or DONE returned a negative errno. Returns 0 or a negative errno.
 */
int probe_journal_each_leftover(int (*fn)(const struct probe_file *file, void *userdata),
				int (*done)(void *userdata), void *userdata);
