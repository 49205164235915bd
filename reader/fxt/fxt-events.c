/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/fxt/fxt-events-state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	return free_ptr(e);
}

/* Reads the weights of scheduling records, which have no rows. In all known archives, their
 * arguments have one word each. */
static int fxt_events_read_weights(struct fxt_events *e, const struct fxt_record *record,
				   struct event *ev)
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

static int fxt_events_get_switch(struct fxt_events *e, const struct fxt_record *record,
				 struct event *ev)
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
	ev->sw.preempted =
		!legacy && record->provider->is_kymo && record->sw.out_state == FXT_STATE_PREEMPTED;
	if (legacy) {
		if (record->sw.out_pid == 0 && record->sw.out_priority == 0)
			ev->sw.prev_prio = FXT_IDLE_WEIGHT;
		if (record->sw.in_pid == 0 && record->sw.in_priority == 0)
			ev->sw.next_prio = FXT_IDLE_WEIGHT;
	}
	r = fxt_events_read_weights(e, record, ev);
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

static int fxt_events_get_wakeup(struct fxt_events *e, const struct fxt_record *record,
				 struct event *ev)
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

static int fxt_events_get_task(struct fxt_events *e, const struct fxt_record *record,
			       struct event *ev)
{
	uint32_t koid = (uint32_t)record->kernel_object.koid;
	bool is_process = record->kernel_object.type == FXT_OBJECT_PROCESS;

	if (!is_process && record->kernel_object.type != FXT_OBJECT_THREAD)
		return FXT_EVENTS_NONE;
	*ev = (struct event){ .kind = EVENT_TASK };
	ev->task.command_line = "";
	ev->task.is_process = is_process;
	if (is_process)
		ev->pid = koid;
	else
		ev->tid = koid;
	return fxt_events_text(e, &record->name, &ev->task.comm)
		       ?: fxt_events_fill(e, record, is_process ? FXT_ROW_PROCESS : FXT_ROW_THREAD,
					  ev);
}

/* Discards the data of a thread that has ended, so that memory stays bounded in an endless
 * stream. */
static void fxt_events_forget(struct fxt_events *e, const struct event *ev)
{
	table_remove(&e->left, (uint64_t)ev->tid + 1);
	if (ev->exit.process_ends)
		table_remove(&e->mapped, (uint64_t)ev->pid + 1);
}

/* Completes EV where its row does not express something. */
static int fxt_events_finish(struct fxt_events *e, const struct fxt_record *record,
			     enum fxt_row_id row, struct event *ev)
{
	switch (row) {
	case FXT_ROW_MIGRATE:
		ev->cpu = ev->migrate.to_cpu;
		return FXT_EVENTS_EVENT;
	case FXT_ROW_EXIT:
		fxt_events_forget(e, ev);
		return FXT_EVENTS_EVENT;
	case FXT_ROW_RETURNED:
		ev->shed.back = true;
		return FXT_EVENTS_EVENT;
	case FXT_ROW_STACK:
		fxt_named_set(&e->named, record);
		return FXT_EVENTS_NONE;
	case FXT_ROW_MAPPING:
		return fxt_events_mapping(e, ev);
	case FXT_ROW_OFFCPU:
		return fxt_events_offcpu(e, ev);
	default:
		return FXT_EVENTS_EVENT;
	}
}

/* Decodes an event of the table. */
static int fxt_events_get_row(struct fxt_events *e, const struct fxt_record *record,
			      enum fxt_row_id row, struct event *ev)
{
	int r;

	if (row == FXT_ROW_OFFCPU) {
		ev->offcpu.end_ns = record->event.end_ns;
		if (ev->offcpu.end_ns < ev->ts_ns)
			return FXT_EVENTS_NONE;
	}
	r = fxt_events_fill(e, record, row, ev);
	return r == FXT_EVENTS_EVENT ? fxt_events_finish(e, record, row, ev) : r;
}

/* Returns true if the thread of RECORD is the pseudo-thread of a CPU in PROCESS. *RET_CPU is the
 * number of this CPU. */
static bool fxt_events_get_track(const struct fxt_record *record, uint32_t process,
				 uint32_t *ret_cpu)
{
	uint64_t tid = record->thread.tid;

	if (record->thread.pid != process || tid <= process || tid > process + 1 + FXT_CPU_MAX)
		return false;
	*ret_cpu = (uint32_t)(tid - process - 1);
	return true;
}

/* Decodes a complete duration as an interval. */
static int fxt_events_get_interval(struct fxt_events *e, const struct fxt_record *record,
				   struct event *ev, int category)
{
	static const struct {
		enum fxt_row_id row;
		enum interval_kind kind;
		uint32_t process;
	} rows[] = {
		{ FXT_ROW_IRQ, INTERVAL_IRQ, FXT_KOID_IRQ },
		{ FXT_ROW_SOFTIRQ, INTERVAL_SOFTIRQ, FXT_KOID_SOFTIRQ },
		{ FXT_ROW_WORK, INTERVAL_WORK, FXT_KOID_SOFTIRQ },
		{ FXT_ROW_IDLE, INTERVAL_IDLE, FXT_KOID_POWER },
	};
	size_t i = 0;
	bool on_track;

	while (i < ARRAY_SIZE(rows) && fxt_event_rows[rows[i].row].category != category)
		i++;
	if (i == ARRAY_SIZE(rows))
		return FXT_EVENTS_NONE;
	on_track = fxt_events_get_track(record, rows[i].process, &ev->cpu);
	/* If the thread does not fit the kind, another program uses the same category. */
	if (!on_track && (rows[i].kind != INTERVAL_WORK || ev->pid == rows[i].process))
		return FXT_EVENTS_NONE;
	ev->interval.kind = rows[i].kind;
	ev->interval.end_ns = record->event.end_ns;
	return fxt_events_text(e, &record->name, &ev->interval.name)
		       ?: fxt_events_fill(e, record, rows[i].row, ev);
}

/* Decodes counters, which can have any names. Arguments that are not numbers are left out. */
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

/* Decodes an argument or the result of a call. */
static int fxt_events_get_call_value(struct fxt_events *e, const struct fxt_arg *arg,
				     struct call_value *v)
{
	int r;

	*v = (struct call_value){ .name = "" };
	switch (arg->type) {
	case FXT_ARG_INT32:
	case FXT_ARG_INT64:
		v->form = CALL_VALUE_INT;
		v->i64 = arg->type == FXT_ARG_INT32 ? arg->int32 : arg->int64;
		return 1;
	case FXT_ARG_BOOL:
		v->form = CALL_VALUE_BOOL;
		v->yes = arg->boolean;
		return 1;
	case FXT_ARG_STRING:
		v->form = CALL_VALUE_TEXT;
		r = fxt_events_text(e, &arg->text, &v->text);
		return r < 0 ? r : 1;
	default:
		v->form = arg->type == FXT_ARG_POINTER ? CALL_VALUE_POINTER : CALL_VALUE_UINT;
		return fxt_events_unsigned(arg, &v->u64);
	}
}

/* Decodes a call of a function. The name of the function can be any text. */
static int fxt_events_get_call(struct fxt_events *e, const struct fxt_record *record,
			       struct event *ev)
{
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	unsigned n = 0;
	int r = fxt_events_text(e, &record->name, &ev->call.function);

	r = r < 0 ? r : fxt_events_fill(e, record, FXT_ROW_CALL, ev);
	ev->call.end_ns = record->event.end_ns;
	ev->call.args = e->call_values;
	ev->call.result.name = "";
	while (r == FXT_EVENTS_EVENT && fxt_args_next(&it, &arg) != FXT_ARGS_END) {
		int name = fxt_text_known(&arg.name), error;
		struct call_value *v =
			name == FXT_NAME_RETURN ? &ev->call.result : &e->call_values[n];

		if (name == FXT_NAME_RETURN_ADDRESS || name == FXT_NAME_LEFT_BY ||
		    name == FXT_NAME_CALL_STACK || name == FXT_NAME_BEGAN_AT ||
		    name == FXT_NAME_ENDS_AT ||
		    (name != FXT_NAME_RETURN && n == EVENT_CALL_ARGS_MAX))
			continue;
		error = fxt_events_get_call_value(e, &arg, v);
		if (error > 0 && name != FXT_NAME_RETURN) {
			n++;
			error = fxt_events_text(e, &arg.name, &v->name);
		}
		if (error < 0)
			return error;
	}
	ev->call.n_args = n;
	return r == FXT_EVENTS_EVENT && ev->call.end_ns < ev->ts_ns ? FXT_EVENTS_NONE : r;
}

/* Decodes an event of a tracepoint. Its fields can have any names. */
static int fxt_events_get_tracepoint(struct fxt_events *e, const struct fxt_record *record,
				     struct event *ev)
{
	struct fxt_args it = record->args;
	struct fxt_arg arg;
	unsigned n = 0;
	int r = fxt_events_text(e, &record->name, &ev->tracepoint.name);

	/* Another program uses this category. */
	if (r == 0 && !strchr(ev->tracepoint.name, ':'))
		return FXT_EVENTS_NONE;
	r = r < 0 ? r : fxt_events_fill(e, record, FXT_ROW_TRACEPOINT, ev);
	ev->tracepoint.args = e->call_values;
	while (r == FXT_EVENTS_EVENT && n < EVENT_TRACEPOINT_ARGS_MAX &&
	       fxt_args_next(&it, &arg) != FXT_ARGS_END) {
		int error;

		if (fxt_text_known(&arg.name) == FXT_NAME_CPU)
			continue;
		error = fxt_events_get_call_value(e, &arg, &e->call_values[n]);
		if (error > 0)
			error = fxt_events_text(e, &arg.name, &e->call_values[n++].name);
		if (error < 0)
			return error;
	}
	ev->tracepoint.n_args = n;
	return r;
}

/* Decodes a request of a block device. Its name is the operation. */
static int fxt_events_get_request(struct fxt_events *e, const struct fxt_record *record,
				  struct event *ev)
{
	int r = fxt_events_text(e, &record->name, &ev->request.op);
	struct fxt_arg arg;

	r = r < 0 ? r : fxt_events_fill(e, record, FXT_ROW_REQUEST, ev);
	if (r != FXT_EVENTS_EVENT)
		return r;
	ev->request.clipped =
		fxt_args_find(record->args, FXT_NAME_BEGAN_AT, FXT_ARG_UINT64, &arg) ||
		fxt_args_find(record->args, FXT_NAME_ENDS_AT, FXT_ARG_UINT64, &arg);
	if (record->subtype == FXT_EVENT_DURATION_COMPLETE) {
		ev->request.issued_ns = 0;
		ev->request.end_ns = record->event.end_ns;
		return ev->request.end_ns < ev->ts_ns ? FXT_EVENTS_NONE : FXT_EVENTS_EVENT;
	}
	ev->request.end_ns = ev->ts_ns;
	return ev->request.issued_ns && ev->request.issued_ns <= ev->ts_ns ? FXT_EVENTS_EVENT
									   : FXT_EVENTS_NONE;
}

static int fxt_events_get_event(struct fxt_events *e, const struct fxt_record *record,
				struct event *ev)
{
	int category = fxt_text_known(&record->category);
	enum fxt_row_id row;

	if (category == 0)
		return FXT_EVENTS_NONE;
	*ev = (struct event){ .ts_ns = record->ts_ns,
			      .pid = (uint32_t)record->thread.pid,
			      .tid = (uint32_t)record->thread.tid };
	row = fxt_event_row_named(category, fxt_text_known(&record->name), record->subtype);
	if (row != FXT_ROW_NONE)
		return fxt_events_get_row(e, record, row, ev);
	if (record->subtype == FXT_EVENT_INSTANT && category == FXT_NAME_TRACEPOINTS)
		return fxt_events_get_tracepoint(e, record, ev);
	if (category == FXT_NAME_BLOCK)
		return fxt_record_row(record) == FXT_ROW_REQUEST
			       ? fxt_events_get_request(e, record, ev)
			       : FXT_EVENTS_NONE;
	if (record->subtype == FXT_EVENT_DURATION_COMPLETE && category == FXT_NAME_CALLS)
		return fxt_events_get_call(e, record, ev);
	if (record->subtype == FXT_EVENT_DURATION_COMPLETE)
		return fxt_events_get_interval(e, record, ev, category);
	/* The counter `lost` is left out: it repeats the data of the instant `lost`. */
	if (record->subtype == FXT_EVENT_COUNTER &&
	    (category == FXT_NAME_COUNTERS || category == FXT_NAME_POWER))
		return fxt_events_get_counter(e, record, ev, category);
	return FXT_EVENTS_NONE;
}

static int fxt_events_get_moment(struct fxt_events *e, const struct fxt_record *record,
				 struct event *ev)
{
	if (record->subtype != FXT_LARGE_BLOB_METADATA ||
	    fxt_text_known(&record->category) != FXT_NAME_MOMENTS ||
	    fxt_text_known(&record->name) != FXT_NAME_MOMENT ||
	    record->blob.size < EVENT_MOMENT_REGISTERS * sizeof(uint64_t) ||
	    record->blob.size > EVENT_MOMENT_REGISTERS * sizeof(uint64_t) + EVENT_MOMENT_BYTES_MAX)
		return FXT_EVENTS_NONE;
	*ev = (struct event){ .kind = EVENT_MOMENT,
			      .ts_ns = record->ts_ns,
			      .pid = (uint32_t)record->thread.pid,
			      .tid = (uint32_t)record->thread.tid };
	ev->moment.name = "";
	ev->moment.data = record->blob.data;
	ev->moment.n_bytes = (uint32_t)record->blob.size;
	return fxt_events_fill(e, record, FXT_ROW_MOMENT, ev);
}

int fxt_events_get(struct fxt_events *e, const struct fxt_record *record, struct event *ret,
		   const char **ret_what)
{
	int r;

	e->n_slots = 0;
	switch (record->type) {
	case FXT_RECORD_SCHEDULING:
		r = record->subtype == FXT_SCHED_WAKEUP ? fxt_events_get_wakeup(e, record, ret)
							: fxt_events_get_switch(e, record, ret);
		break;
	case FXT_RECORD_KERNEL_OBJECT:
		r = fxt_events_get_task(e, record, ret);
		break;
	case FXT_RECORD_EVENT:
		r = fxt_events_get_event(e, record, ret);
		break;
	case FXT_RECORD_PROFILER:
		r = fxt_events_profiler(e, record, ret);
		break;
	case FXT_RECORD_LARGE:
		r = fxt_events_get_moment(e, record, ret);
		break;
	default:
		return FXT_EVENTS_NONE;
	}
	if (r == FXT_EVENTS_DAMAGE)
		*ret_what = e->damage;
	return r;
}
