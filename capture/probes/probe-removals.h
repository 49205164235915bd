/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The times at which kymo removes probes, known to all recorders of this machine.
 *
 * When a probe is removed, the kernel can remove the breakpoints of other recorders at the same
 * place (capture/heap/probe-holder.h). Later probes insert them again, so the code of the process
 * does not show this. So each attacher notes its removals in a file: /run/kymo/probes/removals,
 * which only root can access. $RUNTIME_DIRECTORY does not change its place: two services with
 * directories of their own have the same kernel.
 *
 * The file has slots. Each has the time at which its last removal began or ended. During a removal,
 * the remover also holds a lock of the slot's byte. Such locks exclude nobody, so nothing waits for
 * another process. The kernel releases them when the remover and its children have ended.
 *
 * A file belongs to the slot of its size. Its device and inode would not do: overlayfs can show the
 * same file, with the same breakpoints, with different numbers. So unrelated files can share a
 * slot.
 *
 * If the file is missing, damaged or deleted, removals are unknown. Then they count as possible.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

enum { PROBE_REMOVALS_SLOTS = 256 };

struct probe_removals;

/*
 * Opens the file, which is created if needed. Its descriptor is the lowest that is free. Returns 0
 * or a negative errno: -EACCES if the user is not root.
 */
int probe_removals_open(struct probe_removals **ret);

/* From now on, the file is in probes/ of PARENT (borrowed). For tests. */
void probe_removals_set_parent(const char *parent);

/* Returns NULL. */
struct probe_removals *probe_removals_free(struct probe_removals *r);

DEFINE_CLEANUP(struct probe_removals *, probe_removals_free)

/* Returns the slot of the file FD (borrowed). Does not wait for its file system. */
unsigned probe_removals_slot(int fd);

/* These accept NULL for R: then nothing is noted, and removals are unknown. */

/*
 * Notes that probes in files of SLOT are about to be removed. The removal counts as running until
 * probe_removals_end(), which ends the removals of all slots, or until this process ends.
 */
void probe_removals_begin(struct probe_removals *r, unsigned slot);
void probe_removals_end(struct probe_removals *r);

/*
 * Returns true if another user of the file has removed probes of SLOT at SINCE_NS (CLOCK_BOOTTIME)
 * or later, or is removing some now, or if this is unknown. Can also be true if the last removal
 * ended a millisecond before SINCE_NS. If a remover was killed, it has not noted the end of its
 * removal: then the function returns true while the removal lasts, and later only if the removal
 * began at SINCE_NS or later.
 */
bool probe_removals_since(const struct probe_removals *r, unsigned slot, uint64_t since_ns);
