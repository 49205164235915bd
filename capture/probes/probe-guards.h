/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Removes breakpoints from processes when the keeper of probes is killed.
 *
 * The kernel abandons an attach or detach in a killed thread, and leaves breakpoints behind. But
 * the descriptors that a process has at its end are closed after its SIGKILL has been received,
 * when no other can arrive; then detaching succeeds. So while probes are attached or detached,
 * there are others in the same places, for no process. They are closed only at the end of a
 * process. When they are removed, the kernel checks all processes that have the file, and removes
 * the breakpoints that were left there. They cost watched programs a few percent of each call, so
 * they are removed in between.
 */
#pragma once

#include "base/table.h"
#include "capture/probes/probe-journal.h"
#include "capture/probes/probes.h"

struct probe_guard;

struct probe_guards {
	struct table
		by_places; /* hash of the file and its offsets -> struct probe_guard *; owned */
	struct probe_journal *journal; /* NULL = none */
	size_t n_unused, n_awake;
};

void probe_guards_init(struct probe_guards *g);

/*
 * Called before T is attached. Without room, or on kernels without such probes, there is no guard,
 * and T is attached all the same. Returns the guard, for probe_guards_drop(), or NULL.
 */
struct probe_guard *probe_guards_take(struct probe_guards *g, const struct probes_target *t);

/* Called before any probe of GUARD (or NULL) is detached. */
void probe_guards_wake(struct probe_guards *g, struct probe_guard *guard);

/* The probes of the guard are detached. */
void probe_guards_drop(struct probe_guards *g, struct probe_guard *guard);

/* Nothing is being attached or detached. Can be slow in the kernel. */
void probe_guards_rest(struct probe_guards *g);

/* Everything is detached, and this process ends now, which removes the guards. */
void probe_guards_end(struct probe_guards *g);
