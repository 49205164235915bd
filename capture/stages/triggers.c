/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/triggers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "capture/heap/heap-records.h"
#include "capture/proc/proc-records.h"
#include "capture/programs/decode.h"
#include "model/event.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

/* Index of the state in a switch, if its thread leaves in a state other than S. */
enum { SWITCH_STATE = 6 };

/* The maximum number of threads. If there are more, the states of all threads are forgotten. */
enum { THREADS_MAX = 1 << 17 };

/* For leaks, the last minute is divided into pieces. */
#define LEAK_WINDOW_NS UINT64_C(60000000000)
enum { LEAK_PIECES = 12 };
#define LEAK_PIECE_NS (LEAK_WINDOW_NS / LEAK_PIECES)

/* The maximum time for which triggers without a notification of the owner are summed. */
#define ADDED_NS UINT64_C(1000000000)

const char *const trigger_names[TRIGGER_MAX] = {
	[TRIGGER_WAKEUP] = "wakeup",
	[TRIGGER_OFFCPU] = "offcpu",
	[TRIGGER_PRESSURE_CPU] = "pressure_cpu",
	[TRIGGER_PRESSURE_MEMORY] = "pressure_memory",
	[TRIGGER_PRESSURE_IO] = "pressure_io",
	[TRIGGER_LEAK] = "leak",
	[TRIGGER_MOMENT_SNAPSHOT] = "moment_snapshot",
	[TRIGGER_MOMENT_STOP] = "moment_stop",
};

/* A thread, with the facts that triggers need. */
struct waiter {
	uint32_t tid;
	bool runs, blocked;
	/* The thread was woken while it ran: if it blocks now, this sleep has already ended. */
	bool woken_early;
	uint64_t blocked_ns; /* when it blocked; 0 = not blocked, or not counted */
	uint64_t woken_ns;   /* when it began to wait for a CPU; 0 = it does not wait */
};

/* The live bytes of one resource in one instance (bpf/record.h). */
struct growth {
	uint64_t key;
	uint32_t instance;
	struct table stacks; /* stack -> live bytes (the number instead of a pointer) */
	uint64_t bytes;      /* live bytes */
	uint64_t piece;      /* number of the current piece */
	uint64_t least[LEAK_PIECES];
};

struct triggers {
	struct trigger_options options;
	bool filtered;
	struct trigger_ops ops;
	struct table waiters; /* tid -> struct waiter, owned */
	struct table growths; /* instance and resource -> struct growth, owned */
	/* Time of the last notification of the owner; 0 = no notification. */
	uint64_t notified_ns;
	uint64_t n_passed_over; /* number of triggers without a notification since then */
	struct {
		struct trigger worst; /* its count is 0 if no trigger has fired */
		uint64_t first_ns;
	} added[TRIGGER_CONFIGURED_MAX]; /* triggers of each kind that are not in the archive yet */
	uint64_t n;
};

int triggers_new(const struct trigger_options *o, bool filtered, const struct trigger_ops *ops,
		 struct triggers **ret)
{
	struct triggers *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->options = *o;
	t->filtered = filtered;
	t->ops = *ops;
	*ret = t;
	return 0;
}

static void triggers_forget_waiters(struct triggers *t)
{
	struct waiter *w;

	for (size_t pos = 0; (w = table_next(&t->waiters, &pos));)
		free(w);
	table_clear(&t->waiters);
}

static void triggers_free_growth(struct growth *g)
{
	table_deinit(&g->stacks);
	free(g);
}

struct triggers *triggers_free(struct triggers *t)
{
	struct growth *g;

	if (!t)
		return NULL;
	triggers_forget_waiters(t);
	table_deinit(&t->waiters);
	for (size_t pos = 0; (g = table_next(&t->growths, &pos));)
		triggers_free_growth(g);
	table_deinit(&t->growths);
	return free_ptr(t);
}

/* Passes on the triggers of KIND that were summed. */
static int triggers_settle_one(struct triggers *t, enum trigger_kind kind)
{
	struct trigger worst = t->added[kind].worst;

	t->added[kind].worst.count = 0;
	return worst.count ? t->ops.fired(&worst, t->ops.userdata) : 0;
}

int triggers_settle(struct triggers *t, uint64_t horizon_ns)
{
	int r = 0;

	for (enum trigger_kind kind = 0; r == 0 && kind < TRIGGER_CONFIGURED_MAX; kind++)
		if (horizon_ns - t->added[kind].first_ns >= ADDED_NS)
			r = triggers_settle_one(t, kind);
	return r;
}

static void triggers_add_up(struct triggers *t, const struct trigger *fired)
{
	struct trigger *worst = &t->added[fired->kind].worst;
	uint64_t count = worst->count + 1;

	if (worst->count == 0)
		t->added[fired->kind].first_ns = fired->ts_ns;
	if (worst->count == 0 || fired->value > worst->value)
		*worst = *fired;
	worst->count = count;
	t->n_passed_over++;
}

/* Fires a trigger if VALUE is at least LIMIT, and LIMIT is not 0. */
static int triggers_reach(struct triggers *t, enum trigger_kind kind, uint64_t ts_ns,
			  uint64_t value, uint64_t limit, uint32_t tid)
{
	struct trigger fired = { kind, ts_ns, value, limit, .count = 1, .tid = tid };
	int r;

	if (limit == 0 || value < limit)
		return 0;
	t->n++;
	/*
	 * The koid is determined now: when the trigger is passed on, the tid can belong to another
	 * thread.
	 */
	r = tid ? t->ops.name(tid, &fired.koid, t->ops.userdata) : 0;
	if (r < 0)
		return r;
	if (t->notified_ns && ts_ns < t->notified_ns + t->options.interval_ns) {
		triggers_add_up(t, &fired);
		return 0;
	}
	r = triggers_settle_one(t, kind);
	if (r < 0)
		return r;
	t->notified_ns = ts_ns;
	fired.notify = true;
	fired.n_passed_over = t->n_passed_over;
	t->n_passed_over = 0;
	return t->ops.fired(&fired, t->ops.userdata);
}

/* ---- threads ---- */

/* Returns the state of TID, which is created if it is unknown; NULL = no memory. */
static struct waiter *triggers_waiter_of(struct triggers *t, uint32_t tid)
{
	struct waiter *w = table_get(&t->waiters, tid);

	if (w)
		return w;
	if (t->waiters.n_used >= THREADS_MAX)
		triggers_forget_waiters(t);
	w = table_make(&t->waiters, tid, sizeof(*w));
	if (w)
		w->tid = tid;
	return w;
}

/*
 * Returns true if TID is a thread, and not idle or the id that stands for threads that a filter
 * excludes.
 */
static bool triggers_is_thread(uint64_t tid)
{
	return tid != 0 && tid < FXT_KOID_KYMO;
}

static bool triggers_is_uninterruptible(const uint64_t *words, unsigned n_words)
{
	return n_words > SWITCH_STATE &&
	       fxt_get_arg_value32(words[SWITCH_STATE]) == FXT_NAME_STATE_D;
}

static int triggers_on_switch_out(struct triggers *t, const uint64_t *words, unsigned n_words)
{
	uint64_t state = fxt_get_sched_out_state(words[0]), ts_ns = words[WORD_TS];
	uint32_t tid = (uint32_t)words[SWITCH_OUT];
	bool blocks = state == FXT_STATE_BLOCKED;
	struct waiter *w;

	if (state == FXT_STATE_DEAD) {
		free(table_remove(&t->waiters, tid));
		return 0;
	}
	w = triggers_waiter_of(t, tid);
	if (!w)
		return -ENOMEM;
	w->runs = false;
	w->blocked = state == FXT_STATE_BLOCKED || state == FXT_STATE_SUSPENDED;
	w->blocked_ns =
		blocks && (t->filtered || triggers_is_uninterruptible(words, n_words)) ? ts_ns : 0;
	w->woken_ns = w->blocked && w->woken_early ? ts_ns : 0;
	w->woken_early = false;
	return 0;
}

static int triggers_on_switch_in(struct triggers *t, uint64_t ts_ns, uint32_t tid)
{
	struct waiter *w = triggers_waiter_of(t, tid);
	struct waiter was;
	int r = 0;

	if (!w)
		return -ENOMEM;
	was = *w;
	*w = (struct waiter){ .tid = tid, .runs = true };
	if (was.woken_ns)
		r = triggers_reach(t, TRIGGER_WAKEUP, ts_ns, ts_ns - was.woken_ns,
				   t->options.wakeup_ns, tid);
	if (r == 0 && was.blocked_ns)
		r = triggers_reach(t, TRIGGER_OFFCPU, ts_ns, ts_ns - was.blocked_ns,
				   t->options.offcpu_ns, tid);
	return r;
}

/*
 * Called when TID is woken. SLEPT: true = the thread was not on its run queue. Otherwise, the
 * wakeup counts only if the thread is known to sleep (schedule.h).
 */
static int triggers_wakes(struct triggers *t, uint64_t ts_ns, uint32_t tid, bool slept)
{
	struct waiter *w = triggers_waiter_of(t, tid);

	if (!w)
		return -ENOMEM;
	if (w->runs)
		w->woken_early |= slept;
	else if (w->woken_ns == 0 && (slept || w->blocked))
		w->woken_ns = ts_ns;
	return 0;
}

int triggers_words(struct triggers *t, const uint64_t *words, unsigned n_words)
{
	uint64_t ts_ns = words[WORD_TS];
	int r = 0;

	if (!t->options.wakeup_ns && !t->options.offcpu_ns)
		return 0;
	if (decode_is_sched(words, FXT_SCHED_WAKEUP))
		return triggers_wakes(t, ts_ns, (uint32_t)words[WAKEUP_TID],
				      !(words[0] & UINT64_C(1) << WAKE_ON_RQ_BIT));
	if (!decode_is_sched(words, FXT_SCHED_SWITCH))
		return 0;
	if (triggers_is_thread(words[SWITCH_OUT]))
		r = triggers_on_switch_out(t, words, n_words);
	if (r == 0 && triggers_is_thread(words[SWITCH_IN]))
		r = triggers_on_switch_in(t, ts_ns, (uint32_t)words[SWITCH_IN]);
	return r;
}

void triggers_loss(struct triggers *t)
{
	triggers_forget_waiters(t);
}

/* ---- pressure ---- */

static int triggers_on_counters(struct triggers *t, const struct rec_counters *rec)
{
	static const char *const names[] = { "CPU some (%)", "memory some (%)", "I/O some (%)" };
	int r = 0;

	if (strcmp(rec->name, "pressure") != 0)
		return 0;
	for (unsigned i = 0; i < rec->n_values; i++) {
		for (unsigned file = 0; r == 0 && file < ARRAY_SIZE(names); file++) {
			double percent;

			if (strcmp(rec->values[i].name, names[file]) != 0)
				continue;
			memcpy(&percent, &rec->values[i].value, sizeof(percent));
			r = triggers_reach(t, TRIGGER_PRESSURE_CPU + file, rec->head.ts_ns,
					   (uint64_t)(percent * 1e4), t->options.pressure_ppm[file],
					   0);
		}
	}
	return r;
}

/* ---- leaks ---- */

/* Returns a key for INSTANCE and RESOURCE. The key is never 0. */
static uint64_t triggers_growth_key(uint32_t instance, uint32_t resource)
{
	return (uint64_t)instance << 8 | (resource + 1);
}

static struct growth *triggers_growth_of(struct triggers *t, const struct rec_usage *rec)
{
	uint64_t key = triggers_growth_key(rec->instance, rec->resource);
	struct growth *g = table_get(&t->growths, key);

	if (g)
		return g;
	g = table_make(&t->growths, key, sizeof(*g));
	if (!g)
		return NULL;
	g->key = key;
	g->instance = rec->instance;
	g->piece = rec->head.ts_ns / LEAK_PIECE_NS;
	return g;
}

/* Advances to the piece of TS_NS. In skipped pieces, the live bytes did not change. */
static void triggers_advance(struct growth *g, uint64_t ts_ns)
{
	uint64_t piece = ts_ns / LEAK_PIECE_NS;

	if (piece > g->piece + LEAK_PIECES)
		g->piece = piece - LEAK_PIECES;
	while (g->piece < piece)
		g->least[++g->piece % LEAK_PIECES] = g->bytes;
}

static int triggers_set_stack(struct growth *g, uint64_t stack, uint64_t bytes)
{
	uint64_t key = stack ?: 1;
	uint64_t before = (uint64_t)(uintptr_t)table_get(&g->stacks, key);

	g->bytes = g->bytes - before + bytes;
	if (bytes == 0) {
		table_remove(&g->stacks, key);
		return 0;
	}
	return table_set(&g->stacks, key, (void *)(uintptr_t)bytes);
}

static int triggers_on_usage(struct triggers *t, const struct rec_usage *rec)
{
	uint64_t bytes = rec->allocated_bytes > rec->freed_bytes
				 ? rec->allocated_bytes - rec->freed_bytes
				 : 0;
	uint64_t least, before = t->n;
	struct growth *g;
	int r;

	/* Other resources have no bytes, or their bytes are already counted. */
	if (rec->resource != RESOURCE_MEMORY && rec->resource != RESOURCE_SEGMENT)
		return 0;
	g = triggers_growth_of(t, rec);
	if (!g)
		return -ENOMEM;
	triggers_advance(g, rec->head.ts_ns);
	r = triggers_set_stack(g, rec->stack, bytes);
	if (r < 0)
		return r;
	least = g->bytes;
	for (unsigned i = 0; i < LEAK_PIECES; i++)
		if (g->least[i] < least)
			least = g->least[i];
	if (g->bytes < g->least[g->piece % LEAK_PIECES])
		g->least[g->piece % LEAK_PIECES] = g->bytes;
	r = triggers_reach(t, TRIGGER_LEAK, rec->head.ts_ns, g->bytes - least,
			   t->options.leak_bytes, rec->head.pid);
	/* The next trigger needs as much growth again, from this amount on. */
	for (unsigned i = 0; t->n > before && i < LEAK_PIECES; i++)
		g->least[i] = g->bytes;
	return r;
}

static void triggers_on_watched(struct triggers *t, const struct rec_watched *rec)
{
	for (uint32_t resource = 0; resource < RESOURCE_MAX; resource++) {
		struct growth *g =
			table_remove(&t->growths, triggers_growth_key(rec->instance, resource));

		if (g)
			triggers_free_growth(g);
	}
}

int triggers_record(struct triggers *t, const struct rec_head *rec)
{
	switch (rec->kind) {
	case REC_COUNTERS:
		return triggers_on_counters(t, (const struct rec_counters *)rec);
	case REC_USAGE:
		return t->options.leak_bytes ? triggers_on_usage(t, (const struct rec_usage *)rec)
					     : 0;
	case REC_WATCHED:
		triggers_on_watched(t, (const struct rec_watched *)rec);
		return 0;
	default:
		return 0;
	}
}

uint64_t triggers_count(const struct triggers *t)
{
	return t->n;
}
