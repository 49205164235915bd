/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes breakpoints from processes after the attacher of probes is killed.
 *
 * The kernel abandons an attach or detach in a killed thread, and leaves breakpoints behind. But a
 * process that ends closes its remaining descriptors after it has received SIGKILL, when no second
 * SIGKILL can arrive. So its detaching succeeds. So while probes are attached or detached, there
 * are additional probes in the same places. They belong to no process, and are closed only when
 * this process ends. When these additional probes are removed, the kernel checks all processes that
 * map the file, and removes abandoned breakpoints. They cost watched programs a few percent of each
 * call, so they are removed when the attacher is idle.
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

/* REMOVALS can be NULL. It must live longer than G. */
void probe_guards_init(struct probe_guards *g, struct probe_removals *removals);

/*
 * Called before T is attached. Returns the guard, for probe_guards_drop(), or NULL. Without memory,
 * or if the kernel has no such probes, T is attached without a guard.
 */
struct probe_guard *probe_guards_acquire(struct probe_guards *g, const struct probes_target *t);

/* Called before any probe of GUARD (or NULL) is detached. */
void probe_guards_wake(struct probe_guards *g, struct probe_guard *guard);

/* Called after the probes of the guard are detached. */
void probe_guards_drop(struct probe_guards *g, struct probe_guard *guard);

/* Called while nothing is being attached or detached. Can be slow in the kernel. */
void probe_guards_rest(struct probe_guards *g);

/* Called after all probes are detached, before this process ends. Its end removes the guards. */
void probe_guards_end(struct probe_guards *g);
