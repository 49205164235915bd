/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The open calls of threads, including calls in doubt, which may have been left (calls.h).
 *
 * A table finds open calls of functions by process and stack pointer. The table is needed for each
 * return whose call is not found in the same thread, since the call can be in another thread. Such
 * returns are frequent if a condition or a limit omits calls.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/table.h"
#include "bpf/record.h"

struct call_thread;

struct call_open {
	/* The next call in doubt with this stack pointer, which was entered earlier. */
	struct call_open *next;
	struct call_open *same; /* the next listed call with this place */
	struct call_thread *thread;
	uint64_t left_ns;    /* the time since which the call is in doubt */
	uint64_t until_ns;   /* the latest time of its end; 0 = unknown */
	struct rec_call rec; /* allocated only up to its size */
};

struct call_thread {
	/* In order of entry, with growing depth; the array and its elements are owned. */
	struct call_open **open;
	size_t n_open, room;
	struct table doubted; /* stack pointer + 1 -> struct call_open, owned */
	/*
	 * The thread has several stacks: a call in doubt, or of another thread, has returned in it.
	 */
	bool switches;
};

/*
 * Adds CALL, whose thread is set, to the calls in PLACES that other threads can end. If there is no
 * memory, only the thread of CALL can end it.
 */
void open_calls_list(struct table *places, struct call_open *call);

/* Removes CALL from PLACES, and frees it. */
void open_calls_free(struct table *places, struct call_open *call);

/* Frees THREAD with its calls. */
void open_calls_free_thread(struct table *places, struct call_thread *thread);

/* Returns the number of the open call of THREAD that END ends, counted from 1; 0 = no such call. */
size_t open_calls_find(const struct call_thread *thread, const struct rec_call_end *end);

/* Removes open call number AT of THREAD, counted from 1, from its list. */
struct call_open *open_calls_remove(struct call_thread *thread, size_t at);

/*
 * Removes the call in doubt that END ends. If END can end several calls, removes the call that was
 * entered last. Returns NULL if there is no such call.
 */
struct call_open *open_calls_remove_doubted(struct call_thread *thread,
					    const struct rec_call_end *end);

/*
 * Removes the call that END ends from the calls of another thread of the process. Returns NULL if
 * there is no such call. If such a call is found, a coroutine has continued in the thread of END,
 * so the other thread has several stacks. (Each stack pointer belongs to one stack.)
 */
struct call_open *open_calls_remove_elsewhere(const struct table *places,
					      const struct rec_call_end *end);
