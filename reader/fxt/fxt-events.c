/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "reader/fxt/fxt-events-state.h"

#include <errno.h>
#include <stdlib.h>

int fxt_events_new(struct fxt_events **ret)
{
	*ret = calloc(1, sizeof(**ret));
	return *ret ? 0 : -ENOMEM;
}

struct fxt_events *fxt_events_free(struct fxt_events *e)
{
	if (!e)
		return NULL;
	for (size_t i = 0; i < SLOTS; i++)
		free(e->slots[i].text);
	fxt_events_free_modules(e);
	table_deinit(&e->mapped);
	table_deinit(&e->left);
	free(e);
	return NULL;
}

/* Scheduling records, whose arguments are one word each in all that we have seen: no rows. */
static int take_weights(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	int r;

	while ((r = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		if (r == FXT_ARGS_DAMAGE) {
			e->damage = it.damage;
			return FXT_EVENTS_DAMAGE;
		}
		switch (fxt_text_known(&arg.name)) {
		case FXT_NAME_OUTGOING_WEIGHT:
			if (arg.type == FXT_ARG_INT32)
				ev->sw.prev_prio = arg.int32;
			break;
		case FXT_NAME_INCOMING_WEIGHT:
			if (arg.type == FXT_ARG_INT32)
				ev->sw.next_prio = arg.int32;
			break;
		case FXT_NAME_PREV_STATE:
			if (arg.type == FXT_ARG_STRING && arg.text.bytes && arg.text.length == 1)
				ev->sw.state = arg.text.bytes[0];
			break;
		case FXT_NAME_SYNTHETIC:
			if (arg.type == FXT_ARG_BOOL)
				ev->sw.synthetic = arg.boolean;
			break;
		default:
			break;
		}
	}
	return FXT_EVENTS_EVENT;
}

static int get_switch(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	bool legacy = record->subtype == FXT_SCHED_LEGACY_SWITCH;
	int r;

	ev->kind = EVENT_SWITCH;
	ev->ts_ns = record->ts_ns;
	ev->cpu = record->sw.cpu;
	ev->pid = (uint32_t)record->sw.out_pid;
	ev->tid = (uint32_t)record->sw.out_tid;
	ev->sw.next_tid = (uint32_t)record->sw.in_tid;
	ev->sw.out_state = record->sw.out_state;
	ev->sw.prev_prio = legacy ? record->sw.out_priority : 0;
	ev->sw.next_prio = legacy ? record->sw.in_priority : 0;
	ev->sw.state = '\0';
	ev->sw.synthetic = false;
	if (legacy) {
		if (record->sw.out_pid == 0 && record->sw.out_priority == 0)
			ev->sw.prev_prio = FXT_IDLE_WEIGHT;
		if (record->sw.in_pid == 0 && record->sw.in_priority == 0)
			ev->sw.next_prio = FXT_IDLE_WEIGHT;
	}
	r = take_weights(e, record, ev);
	if (ev->sw.prev_prio == FXT_IDLE_WEIGHT || ev->tid == 0) {
		ev->sw.prev_prio = FXT_IDLE_WEIGHT;
		ev->tid = 0;
	}
	if (ev->sw.next_prio == FXT_IDLE_WEIGHT || ev->sw.next_tid == 0) {
		ev->sw.next_prio = FXT_IDLE_WEIGHT;
		ev->sw.next_tid = 0;
	}
	return r;
}

static int get_wakeup(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	int r;

	ev->kind = EVENT_WAKE;
	ev->ts_ns = record->ts_ns;
	ev->cpu = record->wake.cpu;
	ev->pid = 0;
	ev->tid = (uint32_t)record->wake.tid;
	ev->wake.waker_tid = 0;
	ev->wake.prio = 0;
	while ((r = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		int known;

		if (r == FXT_ARGS_DAMAGE) {
			e->damage = it.damage;
			return FXT_EVENTS_DAMAGE;
		}
		known = fxt_text_known(&arg.name);
		if (known == FXT_NAME_WEIGHT && arg.type == FXT_ARG_INT32)
			ev->wake.prio = arg.int32;
		else if (known == FXT_NAME_WAKER && arg.type == FXT_ARG_KOID)
			ev->wake.waker_tid = (uint32_t)arg.uint64;
	}
	return FXT_EVENTS_EVENT;
}

static int get_task(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	uint32_t koid = (uint32_t)record->kernel_object.koid;
	bool is_process = record->kernel_object.object_type == FXT_OBJECT_PROCESS;
	int r;

	if (!is_process && record->kernel_object.object_type != FXT_OBJECT_THREAD)
		return FXT_EVENTS_NONE;
	*ev = (struct event){ .kind = EVENT_TASK };
	ev->task.command_line = "";
	ev->task.is_process = is_process;
	if (is_process)
		ev->pid = koid;
	else
		ev->tid = koid;
	r = fxt_events_text(e, &record->name, &ev->task.comm);
	if (r < 0)
		return r;
	if (!is_process)
		return TAKE(e, record, { FXT_NAME_PROCESS, WANT_UINT32, &ev->pid, NULL },
			    { FXT_NAME_START_TIME, WANT_UINT64, &ev->task.start_ns, NULL },
			    { FXT_NAME_REAL_ID, WANT_UINT32, &ev->task.real_tid, NULL });
	ev->task.uid = EVENT_UID_UNKNOWN;
	return TAKE(e, record, { FXT_NAME_PARENT, WANT_UINT32, &ev->task.parent_pid, NULL },
		    { FXT_NAME_UID, WANT_UINT32, &ev->task.uid, NULL },
		    { FXT_NAME_START_TIME, WANT_UINT64, &ev->task.start_ns, NULL },
		    { FXT_NAME_COMMAND_LINE, WANT_TEXT, &ev->task.command_line, NULL },
		    { FXT_NAME_CGROUP, WANT_UINT64, &ev->task.cgroup_id, NULL },
		    { FXT_NAME_CGROUP_PATH, WANT_TEXT, &ev->task.cgroup_path, NULL },
		    { FXT_NAME_REAL_ID, WANT_UINT32, &ev->task.real_tid, NULL });
}

/* Streams may have no end, but what is in them has. */
static void fxt_events_forget(struct fxt_events *e, const struct event *ev)
{
	table_remove(&e->left, (uint64_t)ev->tid + 1);
	if (ev->exit.process_ends)
		table_remove(&e->mapped, (uint64_t)ev->pid + 1);
}

/* An event of category `sched` or `process`. */
static int get_span_event(struct fxt_events *e, const struct fxt_record *record, struct event *ev,
			  int category)
{
	bool found = false;
	int r, name = fxt_text_known(&record->name);

	if (category == FXT_NAME_SCHED && name == FXT_NAME_MIGRATE) {
		ev->kind = EVENT_MIGRATE;
		r = TAKE(e, record, { FXT_NAME_FROM_CPU, WANT_UINT32, &ev->migrate.from_cpu, NULL },
			 { FXT_NAME_TO_CPU, WANT_UINT32, &ev->migrate.to_cpu, &found });
		ev->cpu = ev->migrate.to_cpu;
	} else if (category == FXT_NAME_PROCESS && name == FXT_NAME_FORK) {
		ev->kind = EVENT_FORK;
		r = TAKE(e, record,
			 { FXT_NAME_CHILD_PROCESS, WANT_UINT32, &ev->fork.child_pid, NULL },
			 { FXT_NAME_CHILD_THREAD, WANT_UINT32, &ev->fork.child_tid, &found });
	} else if (category == FXT_NAME_PROCESS && name == FXT_NAME_EXEC) {
		ev->kind = EVENT_EXEC;
		ev->exec.file = ev->exec.command_line = "";
		r = TAKE(e, record, { FXT_NAME_FILE, WANT_TEXT, &ev->exec.file, &found },
			 { FXT_NAME_COMMAND_LINE, WANT_TEXT, &ev->exec.command_line, &found },
			 { FXT_NAME_OLD_THREAD, WANT_UINT32, &ev->exec.old_tid, NULL });
	} else if (category == FXT_NAME_PROCESS && name == FXT_NAME_EXIT) {
		ev->kind = EVENT_EXIT;
		r = TAKE(e, record, { FXT_NAME_EXIT_CODE, WANT_INT32, &ev->exit.code, NULL },
			 { FXT_NAME_SIGNAL, WANT_INT32, &ev->exit.signal, NULL },
			 { FXT_NAME_PROCESS_ENDS, WANT_BOOL, &ev->exit.process_ends, &found });
	} else if (category == FXT_NAME_PROCESS && name == FXT_NAME_RENAME) {
		ev->kind = EVENT_RENAME;
		ev->rename.from = ev->rename.to = "";
		r = TAKE(e, record, { FXT_NAME_FROM, WANT_TEXT, &ev->rename.from, NULL },
			 { FXT_NAME_TO, WANT_TEXT, &ev->rename.to, &found });
	} else {
		return FXT_EVENTS_NONE;
	}
	if (ev->kind == EVENT_EXIT && r == FXT_EVENTS_EVENT && found)
		fxt_events_forget(e, ev);
	/* Without its main argument it is somebody else's event of the same name. */
	return r == FXT_EVENTS_EVENT && !found ? FXT_EVENTS_NONE : r;
}

static int get_start(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	ev->kind = EVENT_START;
	ev->start.session = ev->start.command = ev->start.options = ev->start.kernel = "";
	ev->start.machine = ev->start.host = ev->start.version = "";
	return TAKE(e, record, { FXT_NAME_SESSION, WANT_TEXT, &ev->start.session, NULL },
		    { FXT_NAME_COMMAND, WANT_TEXT, &ev->start.command, NULL },
		    { FXT_NAME_OPTIONS, WANT_TEXT, &ev->start.options, NULL },
		    { FXT_NAME_KERNEL, WANT_TEXT, &ev->start.kernel, NULL },
		    { FXT_NAME_MACHINE, WANT_TEXT, &ev->start.machine, NULL },
		    { FXT_NAME_HOST, WANT_TEXT, &ev->start.host, NULL },
		    { FXT_NAME_VERSION, WANT_TEXT, &ev->start.version, NULL },
		    { FXT_NAME_CPUS, WANT_UINT32, &ev->start.n_cpus, NULL },
		    { FXT_NAME_FILTERED, WANT_BOOL, &ev->start.filtered, NULL },
		    { FXT_NAME_CHUNK, WANT_UINT32, &ev->start.chunk, NULL });
}

/* An event of category `kymo`. */
static int get_own(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	switch (fxt_text_known(&record->name)) {
	case FXT_NAME_SESSION_START:
		return get_start(e, record, ev);
	case FXT_NAME_SESSION_STOP:
		ev->kind = EVENT_STOP;
		ev->stop.reason = "";
		return TAKE(e, record, { FXT_NAME_REASON, WANT_TEXT, &ev->stop.reason, NULL },
			    { FXT_NAME_EVENTS, WANT_UINT64, &ev->stop.events, NULL },
			    { FXT_NAME_LOST, WANT_UINT64, &ev->stop.lost, NULL },
			    { FXT_NAME_DISMISSED, WANT_UINT64, &ev->stop.dismissed, NULL },
			    { FXT_NAME_UNREPORTED, WANT_UINT64, &ev->stop.unreported, NULL },
			    { FXT_NAME_BYTES, WANT_UINT64, &ev->stop.bytes, NULL },
			    { FXT_NAME_DAEMON_CPU, WANT_UINT64, &ev->stop.daemon_cpu_ns, NULL },
			    { FXT_NAME_BPF_CPU, WANT_UINT64, &ev->stop.bpf_cpu_ns, NULL },
			    { FXT_NAME_FULL, WANT_UINT64, &ev->stop.dropped_bytes, NULL });
	case FXT_NAME_CLOCK:
		ev->kind = EVENT_CLOCK;
		return TAKE(e, record, { FXT_NAME_BOOTTIME, WANT_UINT64, &ev->clock.boot_ns, NULL },
			    { FXT_NAME_MONOTONIC, WANT_UINT64, &ev->clock.mono_ns, NULL },
			    { FXT_NAME_REALTIME, WANT_UINT64, &ev->clock.real_ns, NULL });
	case FXT_NAME_MARK:
		ev->kind = EVENT_MARK;
		ev->mark.text = "";
		return TAKE(e, record, { FXT_NAME_TEXT, WANT_TEXT, &ev->mark.text, NULL });
	case FXT_NAME_SHED:
	case FXT_NAME_RETURNED:
		ev->kind = EVENT_SHED;
		ev->shed.what = "";
		ev->shed.back = fxt_text_known(&record->name) == FXT_NAME_RETURNED;
		return TAKE(e, record, { FXT_NAME_CLASS, WANT_TEXT, &ev->shed.what, NULL },
			    { FXT_NAME_VALUE, WANT_UINT64, &ev->shed.cost_ppm, NULL },
			    { FXT_NAME_LIMIT, WANT_UINT64, &ev->shed.limit_ppm, NULL },
			    { FXT_NAME_CPUS, WANT_UINT32, &ev->shed.n_cpus, NULL });
	case FXT_NAME_TRIGGER:
		ev->kind = EVENT_TRIGGER;
		ev->trigger.what = "";
		return TAKE(e, record, { FXT_NAME_REASON, WANT_TEXT, &ev->trigger.what, NULL },
			    { FXT_NAME_VALUE, WANT_UINT64, &ev->trigger.value, NULL },
			    { FXT_NAME_LIMIT, WANT_UINT64, &ev->trigger.limit, NULL },
			    { FXT_NAME_COUNT, WANT_UINT64, &ev->trigger.count, NULL },
			    { FXT_NAME_THREAD, WANT_UINT32, &ev->trigger.thread, NULL });
	case FXT_NAME_DAMAGE:
		ev->kind = EVENT_DAMAGE;
		ev->damage.what = "";
		return TAKE(e, record, { FXT_NAME_OFFSET, WANT_UINT64, &ev->damage.offset, NULL },
			    { FXT_NAME_BYTES, WANT_UINT64, &ev->damage.bytes, NULL },
			    { FXT_NAME_REASON, WANT_TEXT, &ev->damage.what, NULL });
	case FXT_NAME_LOST:
		ev->kind = EVENT_LOST;
		ev->lost.class_name = "";
		return TAKE(e, record, { FXT_NAME_CLASS, WANT_TEXT, &ev->lost.class_name, NULL },
			    { FXT_NAME_CPU, WANT_UINT32, &ev->cpu, NULL },
			    { FXT_NAME_COUNT, WANT_UINT64, &ev->lost.count, NULL },
			    { FXT_NAME_FIRST, WANT_UINT64, &ev->lost.first_ns, NULL },
			    { FXT_NAME_LAST, WANT_UINT64, &ev->lost.last_ns, NULL });
	default:
		return FXT_EVENTS_NONE;
	}
}

/* The CPU whose pseudo-thread of PROCESS the thread of RECORD is; false if it is none. */
static bool fxt_events_get_track(const struct fxt_record *record, uint32_t process,
				 uint32_t *ret_cpu)
{
	uint64_t tid = record->thread.tid;

	if (record->thread.pid != process || tid <= process || tid > process + 1 + FXT_CPU_MAX)
		return false;
	*ret_cpu = (uint32_t)(tid - process - 1);
	return true;
}

/* A complete event. */
static int fxt_events_get_interval(struct fxt_events *e, const struct fxt_record *record,
				   struct event *ev, int category)
{
	static const struct {
		int category;
		enum interval_kind kind;
		uint32_t process;
	} rows[] = {
		{ FXT_NAME_IRQ, INTERVAL_IRQ, FXT_KOID_IRQ },
		{ FXT_NAME_SOFTIRQ, INTERVAL_SOFTIRQ, FXT_KOID_SOFTIRQ },
		{ FXT_NAME_WORKQUEUE, INTERVAL_WORK, FXT_KOID_SOFTIRQ },
		{ FXT_NAME_POWER, INTERVAL_IDLE, FXT_KOID_POWER },
	};
	size_t i = 0;
	uint32_t number = 0;
	bool on_track;
	int r;

	while (i < ARRAY_SIZE(rows) && rows[i].category != category)
		i++;
	if (i == ARRAY_SIZE(rows))
		return FXT_EVENTS_NONE;
	on_track = fxt_events_get_track(record, rows[i].process, &ev->cpu);
	/* Somebody else's event of the same category. */
	if (!on_track && (rows[i].kind != INTERVAL_WORK || ev->pid == rows[i].process))
		return FXT_EVENTS_NONE;
	ev->kind = EVENT_INTERVAL;
	ev->interval.kind = rows[i].kind;
	ev->interval.end_ns = record->event.end_ns;
	r = fxt_events_text(e, &record->name, &ev->interval.name);
	if (r < 0)
		return r;
	r = TAKE(e, record, { FXT_NAME_IRQ, WANT_INT32, &ev->interval.number, NULL },
		 { FXT_NAME_HANDLED, WANT_BOOL, &ev->interval.handled, NULL },
		 { FXT_NAME_STATE, WANT_UINT32, &number, NULL });
	if (rows[i].kind == INTERVAL_IDLE)
		ev->interval.number = (int32_t)number;
	return r;
}

/* Counters of whatever names; what is no number is left out. */
static int fxt_events_get_counter(struct fxt_events *e, const struct fxt_record *record,
				  struct event *ev, int category)
{
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	unsigned n = 0;
	int r;

	ev->kind = EVENT_COUNTER;
	ev->counter.category = category == FXT_NAME_POWER ? "power" : "counters";
	ev->counter.id = record->event.value;
	ev->counter.values = e->values;
	r = fxt_events_text(e, &record->name, &ev->counter.name);
	while (r >= 0 && (r = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		struct event_value *v = &e->values[n];

		if (r == FXT_ARGS_DAMAGE) {
			e->damage = it.damage;
			return FXT_EVENTS_DAMAGE;
		}
		v->whole = fxt_events_unsigned(&arg, &v->u64);
		if (!v->whole && arg.type != FXT_ARG_DOUBLE)
			continue;
		if (!v->whole)
			v->f64 = arg.real;
		r = fxt_events_text(e, &arg.name, &v->name);
		n++;
	}
	ev->counter.n_values = n;
	return r < 0 ? r : n > 0 ? FXT_EVENTS_EVENT : FXT_EVENTS_NONE;
}

static int get_event(struct fxt_events *e, const struct fxt_record *record, struct event *ev)
{
	int category;

	if (record->subtype != FXT_EVENT_INSTANT && record->subtype != FXT_EVENT_COUNTER &&
	    record->subtype != FXT_EVENT_DURATION_COMPLETE)
		return FXT_EVENTS_NONE;
	category = fxt_text_known(&record->category);
	if (category == 0)
		return FXT_EVENTS_NONE;
	*ev = (struct event){ .ts_ns = record->ts_ns,
			      .pid = (uint32_t)record->thread.pid,
			      .tid = (uint32_t)record->thread.tid };
	if (category == FXT_NAME_PROFILE && record->subtype != FXT_EVENT_COUNTER)
		return fxt_events_profile(e, record, ev);
	if (record->subtype == FXT_EVENT_DURATION_COMPLETE)
		return fxt_events_get_interval(e, record, ev, category);
	/* The counter `lost` repeats what the instant says. */
	if (record->subtype == FXT_EVENT_COUNTER)
		return category == FXT_NAME_COUNTERS || category == FXT_NAME_POWER
			       ? fxt_events_get_counter(e, record, ev, category)
			       : FXT_EVENTS_NONE;
	if (category == FXT_NAME_MEMORY)
		return fxt_events_memory(e, record, ev);
	if (category != FXT_NAME_SCHED && category != FXT_NAME_PROCESS && category != FXT_NAME_KYMO)
		return FXT_EVENTS_NONE;
	return category == FXT_NAME_KYMO ? get_own(e, record, ev)
					 : get_span_event(e, record, ev, category);
}

int fxt_events_get(struct fxt_events *e, const struct fxt_record *record, struct event *ret,
		   const char **ret_what)
{
	int r;

	e->n_slots = 0;
	switch (record->type) {
	case FXT_RECORD_SCHEDULING:
		r = record->subtype == FXT_SCHED_WAKEUP ? get_wakeup(e, record, ret)
							: get_switch(e, record, ret);
		break;
	case FXT_RECORD_KERNEL_OBJECT:
		r = get_task(e, record, ret);
		break;
	case FXT_RECORD_EVENT:
		r = get_event(e, record, ret);
		break;
	case FXT_RECORD_PROFILER:
		r = fxt_events_profiler(e, record, ret);
		break;
	default:
		return FXT_EVENTS_NONE;
	}
	if (r == FXT_EVENTS_DAMAGE)
		*ret_what = e->damage;
	return r;
}
