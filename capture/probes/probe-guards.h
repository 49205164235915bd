/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes breakpoints from processes after the attacher of probes is killed.
 *
 * The kernel abandons an attach or detach in a killed thread, and leaves breakpoints behind. But a
 * process that ends closes its remaining descriptors after it has received SIGKILL, when no second
 * SIGKILL can arrive. So the detaching at the end of a process succeeds. While probes are attached
 * or detached, there are additional probes, the guards, in the same places. They belong to no
 * process. They are removed when the attacher is idle, since they cost watched programs a few
 * percent of each call, and at the latest when this process ends. Then the kernel checks all
 * processes that map the file, and removes abandoned breakpoints.
 */
#pragma once

#include "base/table.h"
#include "capture/probes/probe-journal.h"
#include "capture/probes/probe-removals.h"
#include "capture/probes/probes.h"

struct probe_guard;

struct probe_guards {
	struct table
		by_places; /* hash of the file and its offsets -> struct probe_guard *; owned */
	struct probe_journal *journal;   /* NULL = none */
	struct probe_removals *removals; /* borrowed; can be NULL */
	size_t n_unused, n_awake;
};

/* REMOVALS, which can be NULL, must live longer than G. */
void probe_guards_init(struct probe_guards *g, struct probe_removals *removals);

/*
 * Called before T is attached. Returns the guard, for probe_guards_drop(), or NULL. If there is no
 * memory, or if the kernel has no such probes, T is attached without a guard.
 */
struct probe_guard *probe_guards_acquire(struct probe_guards *g, const struct probes_target *t);

/*
 * Attaches the probes of GUARD (or NULL), if they are not attached. Called before any probe of a
 * target with this guard is detached.
 */
void probe_guards_wake(struct probe_guards *g, struct probe_guard *guard);

/* Ends a use of GUARD. Called after the probes of the target with this guard are detached. */
void probe_guards_drop(struct probe_guards *g, struct probe_guard *guard);

/*
 * Detaches the probes of all guards, and frees the guards without a use. Called while nothing is
 * being attached or detached. Can be slow in the kernel.
 */
void probe_guards_rest(struct probe_guards *g);

/*
 * Called after all probes are detached, before this process ends. The end of the process removes
 * the guards.
 */
void probe_guards_end(struct probe_guards *g);
