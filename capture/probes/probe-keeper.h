/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A process that attaches probes, and detaches them, for the process that watches others; it ends,
 * without any probe left, when that one does.
 *
 * Where the kernel puts a probe or takes it away it gives up when the thread that does it has been
 * killed: then breakpoints stay in the process that was watched, for nobody ("failed to unregister,
 * leaking uprobe" in its log), and cost as much as before. So it is not done by somebody who is
 * killed while it happens. This one takes no signals, belongs to no terminal, and has no other
 * work; when its owner has gone it finishes what it does and detaches the rest. If it is killed
 * itself, its guards do (capture/probes/probe-guards.h), and a journal is left for the next
 * recorder.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "capture/probes/probes.h"

struct probe_keeper;

/*
 * Starts it. What it takes of CPU time is added to *CPU_NS_SUM (borrowed), atomically, whenever it
 * has answered and at its end. Returns 0 or a negative errno.
 */
int probe_keeper_new(uint64_t *cpu_ns_sum, struct probe_keeper **ret);

/* When it returns, nothing is left of its probes. Returns NULL. */
struct probe_keeper *probe_keeper_free(struct probe_keeper *k);

DEFINE_CLEANUP(struct probe_keeper *, probe_keeper_free)

/* As probes_new(); *RET_ID (never 0) is what these probes are known by. */
int probe_keeper_attach(struct probe_keeper *k, const struct probes_target *target,
			uint32_t *ret_id, size_t *ret_failed);

/* Detaches those of N IDS. When it returns, nothing is left of them in the processes. */
void probe_keeper_detach(struct probe_keeper *k, const uint32_t *ids, size_t n);
