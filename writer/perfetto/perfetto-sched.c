/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A wakeup in a bundle does not name its waker: Perfetto takes the thread that runs on the bundle's
 * CPU at that time. So a wakeup belongs in the bundle of its waker's CPU. If that CPU is unknown,
 * the wakeup becomes a single event, which names the waker.
 *
 * A switch in a bundle names only the thread that runs next. Perfetto ignores the first switch of a
 * CPU, since it does not know which thread ran before. So the first switch becomes a single event,
 * too.
 *
 * Perfetto ignores a wakeup that it sees before the switch at which the woken thread left its CPU.
 * Perfetto sorts events by time, but each kind of column and the single events separately. So if
 * this switch and the wakeup have the same time, both must become single events, in this order.
 */
#include "writer/perfetto/perfetto-sched.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/protobuf.h"
#include "base/table.h"
#include "model/koids.h"
#include "writer/perfetto/perfetto-wire.h"

enum {
	BUNDLE_EVENTS = 4096, /* maximum number of switches, and of wakeups, in a bundle */
	IDLE_PRIO = 120,      /* priority of the idle thread in the kernel's own events */
	CPUS_MAX = 1024,      /* Perfetto rejects traces with more CPUs */
};

/* The bits of prev_state in kernels from 4.14 on. */
enum {
	TASK_RUNNING = 0,
	TASK_INTERRUPTIBLE = 0x01,
	TASK_UNINTERRUPTIBLE = 0x02,
	TASK_STOPPED = 0x04,
	TASK_TRACED = 0x08,
	TASK_DEAD = 0x10,
	TASK_ZOMBIE = 0x20,
	TASK_PARKED = 0x40,
	TASK_IDLE = 0x80,
	TASK_PREEMPTED = 0x100, /* R+ */
};

/* A switch in the bundle. */
struct perfetto_row {
	uint64_t ts_ns;
	uint64_t prev_prio, next_prio; /* as Perfetto has them */
	uint32_t prev, next;           /* koids */
	uint32_t comm;                 /* index of the name of NEXT */
	uint16_t state;
	bool is_alone; /* is written as a single event */
};

struct perfetto_cpu {
	uint32_t number;
	bool has_switched;
	uint64_t switched_ns; /* time of the last switch in any bundle */
	uint32_t running;     /* koid of the running thread; 0 = idle, or unknown */

	/* the bundle */
	struct outbuf columns[COMPACT_MAX];
	struct perfetto_row *rows;
	struct outbuf events;
	struct table comms; /* number of a thread's name -> its index in the bundle + 1 */
	size_t n_comms, n_rows, rows_room, n_alone, n_wakes, n_events;
	uint64_t wake_ns;       /* time of the last wakeup in a column */
	struct table functions; /* hash of a kernel function's name -> its id */
	struct outbuf symbols;  /* InternedData */
	size_t n_functions;
};

struct perfetto_sched {
	struct table cpus; /* number + 1 -> CPU */
	struct table ran;  /* koid of a thread -> the CPU where it runs, or ran last */
	uint64_t n_left_out;
};

int perfetto_sched_new(struct perfetto_sched **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

static struct perfetto_cpu *perfetto_cpu_free(struct perfetto_cpu *c)
{
	for (size_t i = 0; i < COMPACT_MAX; i++)
		outbuf_deinit(&c->columns[i]);
	outbuf_deinit(&c->events);
	outbuf_deinit(&c->symbols);
	table_deinit(&c->comms);
	table_deinit(&c->functions);
	free(c->rows);
	return free_ptr(c);
}

struct perfetto_sched *perfetto_sched_free(struct perfetto_sched *s)
{
	struct perfetto_cpu *c;
	size_t pos = 0;

	if (!s)
		return NULL;
	while ((c = table_next(&s->cpus, &pos)))
		perfetto_cpu_free(c);
	table_deinit(&s->cpus);
	table_deinit(&s->ran);
	return free_ptr(s);
}

/* ---- bundles ---- */

static void perfetto_sched_fill_columns(struct perfetto_cpu *c)
{
	uint64_t last_ns = 0;

	for (size_t i = 0; i < c->n_rows; i++) {
		const struct perfetto_row *row = &c->rows[i];

		if (row->is_alone)
			continue;
		protobuf_add_packed(&c->columns[COMPACT_SWITCH_TIMESTAMP], row->ts_ns - last_ns);
		protobuf_add_packed(&c->columns[COMPACT_SWITCH_PREV_STATE], row->state);
		protobuf_add_packed(&c->columns[COMPACT_SWITCH_NEXT_PID], row->next);
		protobuf_add_packed(&c->columns[COMPACT_SWITCH_NEXT_PRIO], row->next_prio);
		protobuf_add_packed(&c->columns[COMPACT_SWITCH_NEXT_COMM], row->comm);
		last_ns = row->ts_ns;
	}
}

static void perfetto_sched_write_columns(const struct perfetto_cpu *c, struct outbuf *to)
{
	size_t compact = protobuf_begin(to, BUNDLE_COMPACT_SCHED);

	for (unsigned i = 1; i < COMPACT_MAX; i++) {
		/* (the names are fields already) */
		if (i == COMPACT_INTERN_TABLE)
			outbuf_append(to, c->columns[i].data, c->columns[i].size);
		else if (c->columns[i].size > 0)
			protobuf_add_bytes(to, i, c->columns[i].data, c->columns[i].size);
	}
	protobuf_end(to, compact);
}

static int perfetto_sched_error(const struct perfetto_cpu *c)
{
	for (size_t i = 0; i < COMPACT_MAX; i++)
		if (c->columns[i].error < 0)
			return -ENOMEM;
	return c->events.error < 0 || c->symbols.error < 0 ? -ENOMEM : 0;
}

static void perfetto_sched_write(struct perfetto_cpu *c, struct outbuf *to)
{
	size_t packet, bundle;

	if (c->n_rows + c->n_wakes + c->n_events > 0) {
		perfetto_sched_fill_columns(c);
		packet = protobuf_begin(to, TRACE_PACKET);
		bundle = protobuf_begin(to, PACKET_FTRACE_EVENTS);
		protobuf_add_u64(to, BUNDLE_CPU, c->number);
		if (c->n_rows - c->n_alone + c->n_wakes > 0)
			perfetto_sched_write_columns(c, to);
		outbuf_append(to, c->events.data, c->events.size);
		protobuf_end(to, bundle);
		protobuf_add_u64(to, PACKET_SEQUENCE_ID, SEQUENCE_SCHED);
		if (c->n_functions > 0) {
			protobuf_add_bytes(to, PACKET_INTERNED_DATA, c->symbols.data,
					   c->symbols.size);
			protobuf_add_u64(to, PACKET_SEQUENCE_FLAGS, SEQUENCE_CLEARED);
		}
		protobuf_end(to, packet);
	}
	if (perfetto_sched_error(c) < 0)
		to->error = -ENOMEM;
	for (size_t i = 0; i < COMPACT_MAX; i++)
		outbuf_reset(&c->columns[i]);
	outbuf_reset(&c->events);
	outbuf_reset(&c->symbols);
	table_clear(&c->comms);
	table_clear(&c->functions);
	c->n_functions = c->n_comms = c->n_rows = c->n_alone = c->n_wakes = c->n_events = 0;
	c->wake_ns = 0;
}

void perfetto_sched_flush(struct perfetto_sched *s, struct outbuf *to)
{
	struct perfetto_cpu *c;
	size_t pos = 0;

	while ((c = table_next(&s->cpus, &pos)))
		perfetto_sched_write(c, to);
}

/* Returns the CPU, or NULL if there is no memory. */
static struct perfetto_cpu *perfetto_sched_cpu(struct perfetto_sched *s, uint32_t number)
{
	struct perfetto_cpu *c;

	c = table_get(&s->cpus, number + 1);
	if (c)
		return c;
	c = calloc(1, sizeof(*c));
	if (!c || table_set(&s->cpus, number + 1, c) < 0)
		return free_ptr(c);
	c->number = number;
	return c;
}

/* True if Perfetto has no CPU with this number; counts an event that is left out then. */
static bool perfetto_sched_leave_out(struct perfetto_sched *s, uint32_t number)
{
	if (number < CPUS_MAX)
		return false;
	s->n_left_out++;
	return true;
}

/* Writes the bundle if its N events fill it, or if an event at TS_NS does not fit, since it is
 * before LAST_NS. */
static void perfetto_sched_make_room(struct perfetto_cpu *c, size_t n, uint64_t last_ns,
				     uint64_t ts_ns, struct outbuf *to)
{
	if (n >= BUNDLE_EVENTS || ts_ns < last_ns)
		perfetto_sched_write(c, to);
}

/*
 * Finds or adds NAME in the bundle's table of names; *RET is its index. Returns 0 or -ENOMEM.
 */
static int perfetto_sched_add_comm(struct perfetto_cpu *c, const struct perfetto_name *name,
				   uint32_t *ret)
{
	uintptr_t index = (uintptr_t)table_get(&c->comms, name->number);

	if (index == 0) {
		index = ++c->n_comms;
		if (table_set(&c->comms, name->number, (void *)index) < 0)
			return -ENOMEM;
		protobuf_add_text(&c->columns[COMPACT_INTERN_TABLE], COMPACT_INTERN_TABLE,
				  name->text);
	}
	*ret = (uint32_t)index - 1;
	return 0;
}

/* ---- switches ---- */

static unsigned perfetto_sched_task_state(const struct event *ev)
{
	static const unsigned by_letter[] = {
		['R'] = TASK_RUNNING, ['S'] = TASK_INTERRUPTIBLE, ['D'] = TASK_UNINTERRUPTIBLE,
		['T'] = TASK_STOPPED, ['t'] = TASK_TRACED,        ['X'] = TASK_DEAD,
		['Z'] = TASK_ZOMBIE,  ['P'] = TASK_PARKED,        ['I'] = TASK_IDLE,
	};
	/* enum fxt_thread_state: 1 running, 2 suspended, 3 blocked, 5 dead */
	static const unsigned by_state[] = { 0, 0, TASK_STOPPED, TASK_INTERRUPTIBLE, 0, TASK_DEAD };
	unsigned char letter = (unsigned char)ev->sw.state;

	if (ev->sw.preempted)
		return TASK_PREEMPTED;
	if (letter != 0 && letter < sizeof(by_letter) / sizeof(*by_letter))
		return by_letter[letter];
	return ev->sw.out_state < sizeof(by_state) / sizeof(*by_state) ? by_state[ev->sw.out_state]
								       : TASK_RUNNING;
}

static uint64_t perfetto_sched_prio(int32_t prio)
{
	return prio == INT32_MIN ? IDLE_PRIO : (uint64_t)(int64_t)prio;
}

/* Notes that the thread NEXT runs on C from now on. Returns 0 or -ENOMEM. */
static int perfetto_sched_run(struct perfetto_sched *s, struct perfetto_cpu *c, uint32_t next)
{
	c->running = next;
	return next == 0 ? 0 : table_set(&s->ran, next, c);
}

/* Writes ROW, a switch, as a single event. PREV or NEXT can be NULL if Perfetto knows the thread's
 * name already. */
static void perfetto_sched_switch_alone(struct perfetto_cpu *c, struct perfetto_row *row,
					const char *prev, const char *next)
{
	struct outbuf *to = &c->events;
	size_t event = protobuf_begin(to, BUNDLE_EVENT), fields;

	protobuf_add_u64(to, FTRACE_TIMESTAMP, row->ts_ns);
	protobuf_add_u64(to, FTRACE_PID, row->prev);
	fields = protobuf_begin(to, FTRACE_SCHED_SWITCH);
	if (prev)
		protobuf_add_text(to, SWITCH_PREV_COMM, prev);
	protobuf_add_u64(to, SWITCH_PREV_PID, row->prev);
	protobuf_add_u64(to, SWITCH_PREV_PRIO, row->prev_prio);
	protobuf_add_u64(to, SWITCH_PREV_STATE, row->state);
	if (next)
		protobuf_add_text(to, SWITCH_NEXT_COMM, next);
	protobuf_add_u64(to, SWITCH_NEXT_PID, row->next);
	protobuf_add_u64(to, SWITCH_NEXT_PRIO, row->next_prio);
	protobuf_end(to, fields);
	protobuf_end(to, event);
	row->is_alone = true;
	c->n_alone++;
	c->n_events++;
}

bool perfetto_sched_blocks(const struct event *ev)
{
	unsigned state = perfetto_sched_task_state(ev);

	return state == TASK_INTERRUPTIBLE || state == TASK_UNINTERRUPTIBLE || state == TASK_IDLE;
}

int perfetto_sched_switch(struct perfetto_sched *s, const struct event *ev,
			  const struct perfetto_name *prev, const struct perfetto_name *next,
			  struct outbuf *to)
{
	struct perfetto_row row = {
		.ts_ns = ev->ts_ns,
		.prev = ev->tid,
		.next = ev->sw.next_tid,
		.prev_prio = perfetto_sched_prio(ev->sw.prev_prio),
		.next_prio = perfetto_sched_prio(ev->sw.next_prio),
		.state = (uint16_t)perfetto_sched_task_state(ev),
	};
	struct perfetto_cpu *c;

	if (perfetto_sched_leave_out(s, ev->cpu))
		return 0;
	c = perfetto_sched_cpu(s, ev->cpu);
	if (!c)
		return -ENOMEM;
	perfetto_sched_make_room(c, c->n_rows, c->n_rows ? c->rows[c->n_rows - 1].ts_ns : 0,
				 ev->ts_ns, to);
	if ((c->has_switched && perfetto_sched_add_comm(c, next, &row.comm) < 0) ||
	    GROW(c->rows, c->rows_room, c->n_rows + 1) < 0 ||
	    perfetto_sched_run(s, c, row.next) < 0)
		return -ENOMEM;
	c->rows[c->n_rows++] = row;
	if (!c->has_switched)
		perfetto_sched_switch_alone(c, &c->rows[c->n_rows - 1], prev->text, next->text);
	c->has_switched = true;
	c->switched_ns = ev->ts_ns;
	return perfetto_sched_error(c);
}

uint32_t perfetto_sched_cpu_of(const struct perfetto_sched *s, uint32_t tid)
{
	const struct perfetto_cpu *c = tid == 0 ? NULL : table_get(&s->ran, tid);

	return c ? c->number : 0;
}

uint64_t perfetto_sched_left_out(const struct perfetto_sched *s)
{
	return s->n_left_out;
}

/* ---- reasons of waits ---- */

/* Interns the name FUNCTION in the bundle; *RET is its id. Returns 0 or -ENOMEM. */
static int perfetto_sched_add_function(struct perfetto_cpu *c, const char *function, uint64_t *ret)
{
	uint64_t hash = table_hash(function, strlen(function));
	size_t symbol;

	*ret = (uintptr_t)table_get(&c->functions, hash);
	if (*ret != 0)
		return 0;
	*ret = ++c->n_functions;
	if (table_set(&c->functions, hash, (void *)(uintptr_t)*ret) < 0)
		return -ENOMEM;
	symbol = protobuf_begin(&c->symbols, INTERNED_KERNEL_SYMBOLS);
	protobuf_add_u64(&c->symbols, INTERNED_IID, *ret);
	protobuf_add_text(&c->symbols, INTERNED_STRING, function);
	protobuf_end(&c->symbols, symbol);
	return 0;
}

/*
 * Perfetto applies this event to the last wait of the thread that has begun by then. One nanosecond
 * after the begin of the wait is after the switch, and before any other wait of the thread.
 */
int perfetto_sched_blocked(struct perfetto_sched *s, uint64_t ts_ns, uint32_t tid, bool io,
			   const char *function, struct outbuf *to)
{
	struct perfetto_cpu *c = table_get(&s->ran, tid);
	size_t event, fields;
	uint64_t id = 0;

	if (!c)
		return 0;
	perfetto_sched_make_room(c, c->n_events, 0, ts_ns, to);
	if (function && perfetto_sched_add_function(c, function, &id) < 0)
		return -ENOMEM;
	event = protobuf_begin(&c->events, BUNDLE_EVENT);
	protobuf_add_u64(&c->events, FTRACE_TIMESTAMP, ts_ns + 1);
	protobuf_add_u64(&c->events, FTRACE_PID, 0);
	fields = protobuf_begin(&c->events, FTRACE_SCHED_BLOCKED_REASON);
	protobuf_add_u64(&c->events, BLOCKED_PID, tid);
	protobuf_add_nonzero(&c->events, BLOCKED_CALLER, id);
	protobuf_add_u64(&c->events, BLOCKED_IO_WAIT, io);
	protobuf_end(&c->events, fields);
	protobuf_end(&c->events, event);
	c->n_events++;
	return perfetto_sched_error(c);
}

/* ---- wakeups ---- */

/*
 * Returns the CPU in whose bundle the wakeup EV has the right waker; NULL = there is none.
 * *RET_FLAGS is the kind of interrupt that woke the thread; 0 = no interrupt.
 */
static struct perfetto_cpu *perfetto_sched_waker_cpu(struct perfetto_sched *s,
						     const struct event *ev, unsigned *ret_flags)
{
	uint32_t waker = ev->wake.waker_tid, irq = waker - FXT_KOID_IRQ - 1,
		 softirq = waker - FXT_KOID_SOFTIRQ - 1;
	struct perfetto_cpu *c;

	*ret_flags = irq < CPUS_MAX ? FLAG_HARDIRQ : softirq < CPUS_MAX ? FLAG_SOFTIRQ : 0;
	if (*ret_flags)
		return perfetto_sched_cpu(s, irq < CPUS_MAX ? irq : softirq);
	c = waker == 0 ? NULL : table_get(&s->ran, waker);
	/* (if the last switch has the same time, Perfetto can take the wakeup before it) */
	return c && c->running == waker && ev->ts_ns > c->switched_ns ? c : NULL;
}

/*
 * Returns the switch in the bundle of C at which the thread that EV wakes leaves its CPU, if it has
 * the same time as EV; NULL = there is none.
 */
static struct perfetto_row *perfetto_sched_left_now(struct perfetto_cpu *c, const struct event *ev)
{
	size_t i = c ? c->n_rows : 0;

	while (i > 0 && c->rows[i - 1].ts_ns > ev->ts_ns)
		i--;
	for (; i > 0 && c->rows[i - 1].ts_ns == ev->ts_ns; i--)
		if (c->rows[i - 1].prev == ev->tid)
			return &c->rows[i - 1];
	return NULL;
}

static int perfetto_sched_wake_alone(struct perfetto_sched *s, const struct event *ev,
				     struct outbuf *to)
{
	struct perfetto_cpu *c = perfetto_sched_cpu(s, ev->cpu);
	size_t event, waking;

	if (!c)
		return -ENOMEM;
	perfetto_sched_make_room(c, c->n_events, 0, ev->ts_ns, to);
	event = protobuf_begin(&c->events, BUNDLE_EVENT);
	protobuf_add_u64(&c->events, FTRACE_TIMESTAMP, ev->ts_ns);
	protobuf_add_u64(&c->events, FTRACE_PID, ev->wake.waker_tid);
	waking = protobuf_begin(&c->events, FTRACE_SCHED_WAKING);
	protobuf_add_u64(&c->events, WAKING_PID, ev->tid);
	protobuf_add_u64(&c->events, WAKING_PRIO, perfetto_sched_prio(ev->wake.prio));
	protobuf_add_u64(&c->events, WAKING_TARGET_CPU, ev->cpu);
	protobuf_end(&c->events, waking);
	protobuf_end(&c->events, event);
	c->n_events++;
	return perfetto_sched_error(c);
}

int perfetto_sched_wake(struct perfetto_sched *s, const struct event *ev,
			const struct perfetto_name *woken, struct outbuf *to)
{
	unsigned flags;
	uint32_t comm;
	struct perfetto_row *left;
	struct perfetto_cpu *c;

	if (perfetto_sched_leave_out(s, ev->cpu))
		return 0;
	c = table_get(&s->cpus, ev->cpu + 1);
	left = perfetto_sched_left_now(c, ev);
	if (left && !left->is_alone)
		perfetto_sched_switch_alone(c, left, NULL, NULL);
	c = perfetto_sched_waker_cpu(s, ev, &flags);
	if (!c || left)
		return perfetto_sched_wake_alone(s, ev, to);
	perfetto_sched_make_room(c, c->n_wakes, c->wake_ns, ev->ts_ns, to);
	if (perfetto_sched_add_comm(c, woken, &comm) < 0)
		return -ENOMEM;
	protobuf_add_packed(&c->columns[COMPACT_WAKING_TIMESTAMP], ev->ts_ns - c->wake_ns);
	protobuf_add_packed(&c->columns[COMPACT_WAKING_PID], ev->tid);
	protobuf_add_packed(&c->columns[COMPACT_WAKING_TARGET_CPU], ev->cpu);
	protobuf_add_packed(&c->columns[COMPACT_WAKING_PRIO], perfetto_sched_prio(ev->wake.prio));
	protobuf_add_packed(&c->columns[COMPACT_WAKING_FLAGS], flags);
	protobuf_add_packed(&c->columns[COMPACT_WAKING_COMM], comm);
	c->n_wakes++;
	c->wake_ns = ev->ts_ns;
	return perfetto_sched_error(c);
}

/* ---- intervals ---- */

static unsigned perfetto_sched_softirq(const char *name)
{
	/* (in the order of the kernel's numbers) */
	static const char *const names[] = { "HI",       "TIMER",   "NET_TX", "NET_RX",  "BLOCK",
					     "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU" };
	unsigned i = 0;

	while (i < ARRAY_SIZE(names) && strcmp(names[i], name) != 0)
		i++;
	return i;
}

static void perfetto_sched_add_edge(struct perfetto_cpu *c, const struct event *ev, bool end)
{
	static const unsigned fields[][2] = {
		[INTERVAL_IRQ] = { FTRACE_IRQ_HANDLER_ENTRY, FTRACE_IRQ_HANDLER_EXIT },
		[INTERVAL_SOFTIRQ] = { FTRACE_SOFTIRQ_ENTRY, FTRACE_SOFTIRQ_EXIT },
		[INTERVAL_IDLE] = { FTRACE_CPU_IDLE, FTRACE_CPU_IDLE },
	};
	struct outbuf *to = &c->events;
	size_t event = protobuf_begin(to, BUNDLE_EVENT), inner;

	protobuf_add_u64(to, FTRACE_TIMESTAMP, end ? ev->interval.end_ns : ev->ts_ns);
	protobuf_add_u64(to, FTRACE_PID, 0);
	inner = protobuf_begin(to, fields[ev->interval.kind][end]);
	switch (ev->interval.kind) {
	case INTERVAL_IRQ:
		protobuf_add_u64(to, IRQ_NUMBER, (uint64_t)(int64_t)ev->interval.number);
		if (end)
			protobuf_add_u64(to, IRQ_RET, ev->interval.handled);
		else
			protobuf_add_text(to, IRQ_NAME, ev->interval.name);
		break;
	case INTERVAL_SOFTIRQ:
		protobuf_add_u64(to, SOFTIRQ_VEC, perfetto_sched_softirq(ev->interval.name));
		break;
	default:
		protobuf_add_u64(to, POWER_STATE,
				 end ? UINT32_MAX : (uint64_t)(int64_t)ev->interval.number);
		protobuf_add_u64(to, POWER_CPU_ID, c->number);
		break;
	}
	protobuf_end(to, inner);
	protobuf_end(to, event);
	c->n_events++;
}

int perfetto_sched_interval(struct perfetto_sched *s, const struct event *ev, struct outbuf *to)
{
	struct perfetto_cpu *c;

	if (ev->interval.kind == INTERVAL_WORK || perfetto_sched_leave_out(s, ev->cpu))
		return 0;
	c = perfetto_sched_cpu(s, ev->cpu);
	if (!c)
		return -ENOMEM;
	perfetto_sched_make_room(c, c->n_events, 0, ev->ts_ns, to);
	perfetto_sched_add_edge(c, ev, false);
	perfetto_sched_add_edge(c, ev, true);
	return perfetto_sched_error(c);
}

int perfetto_sched_frequency(struct perfetto_sched *s, uint64_t ts_ns, uint32_t cpu, uint64_t khz,
			     struct outbuf *to)
{
	struct perfetto_cpu *c;
	size_t event, inner;

	if (perfetto_sched_leave_out(s, cpu))
		return 0;
	c = perfetto_sched_cpu(s, cpu);
	if (!c)
		return -ENOMEM;
	perfetto_sched_make_room(c, c->n_events, 0, ts_ns, to);
	event = protobuf_begin(&c->events, BUNDLE_EVENT);
	protobuf_add_u64(&c->events, FTRACE_TIMESTAMP, ts_ns);
	protobuf_add_u64(&c->events, FTRACE_PID, 0);
	inner = protobuf_begin(&c->events, FTRACE_CPU_FREQUENCY);
	protobuf_add_u64(&c->events, POWER_STATE, khz);
	protobuf_add_u64(&c->events, POWER_CPU_ID, c->number);
	protobuf_end(&c->events, inner);
	protobuf_end(&c->events, event);
	c->n_events++;
	return perfetto_sched_error(c);
}
