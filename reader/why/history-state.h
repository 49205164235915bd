/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The state of history.h, for its own files.
 */
#pragma once

#include "base/table.h"
#include "base/text-set.h"
#include "reader/why/history.h"

/* CPUs with higher numbers are not kept, and names of interrupts beyond this number are not. */
enum { HISTORY_CPU_MAX = 0xffff, HISTORY_NAMES_MAX = 1 << 10 };

/* A segment of a thread. It ends where the next segment of the thread begins. */
struct history_piece {
	uint64_t from_ns;
	uint32_t waker_tid;
	uint32_t cpu : 16;
	uint32_t state : 3;
	uint32_t end : 2;
	uint32_t letter : 4; /* index of history_letters */
	uint32_t throttled : 1, preempted : 1, continued : 1, woken : 1;
};

struct history_thread {
	struct history_piece *pieces; /* owned */
	size_t n, room;
	uint64_t to_ns; /* end of the last piece */
	uint32_t tid;
	uint32_t creator_tid; /* 0 = unknown */
	uint64_t created_ns;
	bool forgotten; /* pieces[0] is not its first one */
};

/* Where the next one begins, it ends. */
struct history_turn {
	uint64_t from_ns;
	uint32_t tid;
	bool known;
};

struct history_handler {
	uint64_t from_ns;
	uint32_t length_ns;
	uint16_t name;
	uint8_t kind;
	/* Set by history_index_handlers(): */
	uint32_t reach_ns;  /* after from_ns: the latest end of this handler and all before it */
	uint32_t outer;     /* distance to the handler that this one interrupted; 0 = none */
	uint64_t before_ns; /* time of all interrupts before from_ns; nested ones count once */
};

struct history_cpu {
	struct history_turn *turns; /* owned */
	size_t n, room;
	struct history_handler *handlers; /* owned; see history_index_handlers() */
	size_t n_handlers, room_handlers;
	bool unsorted, indexed;
	bool open; /* it is in history.open */
};

struct history {
	struct history_limits limits;
	struct table threads; /* koid -> struct history_thread, owned */
	uint32_t *tids;       /* owned */
	size_t n_tids, room_tids;
	bool unsorted;
	struct history_cpu **cpus; /* owned, also its elements; NULL = CPU not seen */
	size_t n_cpus;
	/* The CPUs that had a switch since the last loss: their last slice is known */
	uint32_t *open; /* owned */
	size_t n_open, room_open;
	size_t n_pieces, n_turns, n_handlers;
	struct text_set texts;
	const char *names[HISTORY_NAMES_MAX]; /* of `texts` */
	size_t n_names;
	uint64_t begin_ns, end_ns;
};
