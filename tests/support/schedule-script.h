/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Scripts of what is in the rings, for tests of the schedule: played as the merge hands out its
 * words, and the story that the archive has then (archive-text.h).
 */
#pragma once

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "capture/stages/schedule.h"
#include "writer/fxt/fxt-archive.h"

enum step_kind { SWITCH = 1, WAKE, MOVE, OPEN, LOSS_BEGINS, LOSS_ENDS, CLOSE };
enum state {
	READY = FXT_STATE_RUNNING,
	STOPPED = FXT_STATE_SUSPENDED,
	BLOCKED = FXT_STATE_BLOCKED,
	DEAD = FXT_STATE_DEAD
};

struct step {
	enum step_kind kind;
	uint64_t ts_ns;
	unsigned cpu; /* switch: where; wake: where it ran last; move: from */
	uint32_t a, b;
	enum state out_state;
	bool on_rq;
	uint64_t last_ns, count;
	int32_t prio;
};

/* A comes off CPU and goes to STATE, B comes on. */
#define SWITCH(t, c, from, to, s)                                                                  \
	{                                                                                          \
		SWITCH, (t), (c), (from), (to), .out_state = (s)                                   \
	}
/* A sleeper is woken; certainly, or one that was still on its run queue. */
#define WAKE(t, tid, c)                                                                            \
	{                                                                                          \
		WAKE, (t), (c), (tid), 0                                                           \
	}
#define WAKE_BY(t, tid, c, who)                                                                    \
	{                                                                                          \
		WAKE, (t), (c), (tid), (who)                                                       \
	}
#define MAYBE(t, tid, c)                                                                           \
	{                                                                                          \
		WAKE, (t), (c), (tid), 0, .on_rq = true                                            \
	}
#define MAYBE_BY(t, tid, c, who)                                                                   \
	{                                                                                          \
		WAKE, (t), (c), (tid), (who), .on_rq = true                                        \
	}
#define MOVE(t, tid, from, to)                                                                     \
	{                                                                                          \
		MOVE, (t), (from), (tid), (to)                                                     \
	}
#define OPEN(c, tid)                                                                               \
	{                                                                                          \
		OPEN, 0, (c), (tid), 0, .prio = 120                                                \
	}
#define LOSS(t, c, last, n)                                                                        \
	{                                                                                          \
		LOSS_BEGINS, (t), (c), .last_ns = (last), .count = (n)                             \
	}
#define LOSS_END(t, c, last, tid)                                                                  \
	{                                                                                          \
		LOSS_ENDS, (t), (c), (tid), .last_ns = (last), .prio = 110                         \
	}
#define CLOSE(t)                                                                                   \
	{                                                                                          \
		CLOSE, (t)                                                                         \
	}

enum { N_CPUS = 4, FROM_NS = 100 };

struct fixture {
	struct outbuf out;
	struct fxt_archive archive;
	struct tasks tasks;
	struct pipeline pipe;
	struct schedule s;
	uint64_t n_wakeups; /* that went in, within the time of the recording */
	int announce_fails;
};

/* Set up and tear down a struct fixture, for cmocka. */
int script_set_up(void **state);
int script_tear_down(void **state);

/* The argument NAME as programs write it: idle's for tid 0. */
uint64_t script_weight(enum fxt_name name, uint32_t tid, int32_t prio);

/* One step; returns what the schedule does. And N steps that all succeed. */
int script_take(struct fixture *f, const struct step *step);
void script_play(struct fixture *f, const struct step *steps, size_t n);

void assert_story(struct fixture *f, const char *want);

/* Plays a script and compares what came of it. */
#define TELL(f, want, ...)                                                                         \
	do {                                                                                       \
		static const struct step steps_[] = { __VA_ARGS__ };                               \
		script_play(f, steps_, ARRAY_SIZE(steps_));                                        \
		assert_story(f, want);                                                             \
	} while (0)

/* Each wakeup was written or dismissed, once. To be called after the end. */
void assert_wakeups_accounted(struct fixture *f);
