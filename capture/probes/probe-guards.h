/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What takes breakpoints out of processes when the keeper of probes is killed.
 *
 * The kernel gives up attaching and detaching in a thread that has been killed, and leaves
 * breakpoints behind. But the descriptors that a process has at its end are closed when its SIGKILL
 * has been taken and no other one can reach it; then detaching succeeds. So while probes are
 * attached or detached there are others in the same places, for no process. They are never closed
 * but at the end of a process; when they go, the kernel looks at all processes that have the file,
 * and takes out what was left there. They cost the programs that are watched a few percent of each
 * call, so they rest in between.
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
 * Before T is attached. Without room, or on kernels that have no such probes, there is no guard,
 * and T is attached all the same. Returns the guard, for probe_guards_drop(), or NULL.
 */
struct probe_guard *probe_guards_take(struct probe_guards *g, const struct probes_target *t);

/* Before any of those is detached that GUARD (or NULL) was taken for. */
void probe_guards_wake(struct probe_guards *g, struct probe_guard *guard);

/* What it was taken for is detached. */
void probe_guards_drop(struct probe_guards *g, struct probe_guard *guard);

/* Nothing is being attached or detached. The kernel takes its time. */
void probe_guards_rest(struct probe_guards *g);

/* All is detached, and this process ends now, which lets the guards go. */
void probe_guards_end(struct probe_guards *g);
