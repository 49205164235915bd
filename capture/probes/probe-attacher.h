/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that attaches and detaches probes for the recording process. When the recording process
 * ends, the attacher removes all probes and ends, too.
 *
 * The kernel abandons the insertion or removal of a probe if the calling thread is killed.
 * Breakpoints then stay in the watched process though nothing uses them ("failed to unregister,
 * leaking uprobe" in the kernel's log), and cost as much as before. So a separate process attaches
 * and detaches probes. This process ignores signals, belongs to no terminal, and has no other work.
 * When its owner is gone, it finishes its current step and detaches the other probes. If the
 * attacher is killed itself, its guards remove the breakpoints (capture/probes/probe-guards.h), and
 * a journal remains for the next recorder.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/probes/probes.h"

struct probe_attacher;

/*
 * Starts the process. Its CPU time is added to *CPU_NS_SUM (borrowed), atomically, after each
 * answer and at its end. Returns 0 or a negative errno.
 */
int probe_attacher_new(uint64_t *cpu_ns_sum, struct probe_attacher **ret);

/* Ends K. All probes of K are removed when this function returns. Returns NULL. */
struct probe_attacher *probe_attacher_free(struct probe_attacher *k);

DEFINE_CLEANUP(struct probe_attacher *, probe_attacher_free)

/* Attaches probes like probes_new(). *RET_ID (never 0) identifies them. */
int probe_attacher_attach(struct probe_attacher *k, const struct probes_target *target,
			  uint32_t *ret_id, struct probes_failed *ret_failed);

/*
 * Detaches the probes that have the N IDS. They are removed from all processes when this function
 * returns.
 */
void probe_attacher_detach(struct probe_attacher *k, const uint32_t *ids, size_t n);
