/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which files have probes, on a tmpfs, for the next recorder after one that was killed.
 *
 * A journal belongs to one keeper of probes (capture/probes/probe-keeper.h), which holds its lock.
 * It is a file of fixed slots, one for each file with probes, in probes/ of the runtime directory,
 * which is root's alone. A slot is filled before the first probe is attached, and cleared when the
 * last one is gone. A journal without a lock was left behind.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"

enum {
	PROBE_JOURNAL_SLOTS = 256,
	PROBE_JOURNAL_OFFSETS = 1024, /* in one file: as many as there may be probes */
};

/* A file with probes. */
struct probe_file {
	uint64_t device, inode; /* as stat() says */
	const uint64_t *offsets;
	size_t n;
};

struct probe_journal;

/* Makes one, locked. Returns 0 or a negative errno: -EACCES where only root may. */
int probe_journal_new(struct probe_journal **ret);

/* Its file stays if it has not been removed. Returns NULL. */
struct probe_journal *probe_journal_free(struct probe_journal *j);

DEFINE_CLEANUP(struct probe_journal *, probe_journal_free)

/* Returns the slot, or a negative errno: -ENOSPC when all are taken. */
int probe_journal_add(struct probe_journal *j, const struct probe_file *file);

void probe_journal_clear(struct probe_journal *j, int slot);

/* No probe is left: removes the file. */
void probe_journal_remove(struct probe_journal *j);

/* Whether there may be journals that were left behind. */
bool probe_journal_any(void);

/*
 * Calls FN for each file in journals that were left behind, and then DONE, while their locks are
 * held. Returns 0 or a negative errno; journals are removed unless one of both has returned a
 * negative errno.
 */
int probe_journal_each_left(int (*fn)(const struct probe_file *file, void *userdata),
			    int (*done)(void *userdata), void *userdata);
