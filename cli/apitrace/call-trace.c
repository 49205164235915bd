/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/apitrace/call-trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "writer/apitrace/apitrace-writer.h"
#include "model/koids.h"

/* The arguments that kymo adds, after those of the function. */
enum { OWN_TS, OWN_DURATION, OWN_PID, OWN_ARGS };

struct call_trace_function {
	struct apitrace_names signature; /* its texts are in `texts` */
	struct apitrace_text args[EVENT_CALL_ARGS_MAX + OWN_ARGS];
	char texts[];
};

struct call_trace_call {
	struct call_trace_function *function;
	uint64_t begin_ns, end_ns;
	uint32_t pid, tid, no;
	uint32_t stack; /* number of the innermost call in the call's stack; 0 = no stack */
	bool left;
	unsigned n_args;
	struct call_value result;
	struct call_value args[EVENT_CALL_ARGS_MAX];
	char *texts; /* texts of the values; owned */
};

void call_trace_deinit(struct call_trace *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->calls[i].texts);
	free(t->calls);
	table_deinit_free(&t->functions);
	table_deinit_free(&t->frames);
	table_deinit_free(&t->names);
}

/* ---- input ---- */

static struct apitrace_text call_trace_put_text(char **at, const char *text)
{
	struct apitrace_text ret = { *at, strlen(text) };

	memcpy(*at, text, ret.n + 1);
	*at += ret.n + 1;
	return ret;
}

/* Writes the function with the names of its arguments to TO. Returns the number of bytes. */
static size_t call_trace_describe(const struct event *ev, char *to, size_t size)
{
	size_t n = (size_t)snprintf(to, size, "%s(", ev->call.function);

	for (unsigned i = 0; i < ev->call.n_args && n < size; i++)
		n += (size_t)snprintf(to + n, size - n, "%s,", ev->call.args[i].name);
	return n < size ? n : size - 1;
}

static struct call_trace_function *call_trace_function_of(struct call_trace *t,
							  const struct event *ev)
{
	static const char *const own[OWN_ARGS] = { "@ts_ns", "@dur_ns", "@pid" };
	char text[8192], *at;
	size_t bytes = call_trace_describe(ev, text, sizeof(text));
	uint64_t key = table_hash(text, bytes);
	struct call_trace_function *f = table_get(&t->functions, key);

	if (f)
		return f;
	f = table_make(&t->functions, key, sizeof(*f) + sizeof(text) + 64);
	if (!f)
		return NULL;
	at = f->texts;
	f->signature.name = call_trace_put_text(&at, ev->call.function);
	for (unsigned i = 0; i < ev->call.n_args; i++)
		f->args[f->signature.n++] = call_trace_put_text(&at, ev->call.args[i].name);
	for (unsigned i = 0; i < OWN_ARGS && !t->options.plain; i++)
		f->args[f->signature.n++] = (struct apitrace_text){ own[i], strlen(own[i]) };
	f->signature.names = f->args;
	return f;
}

static size_t call_trace_text_bytes(const struct call_value *v)
{
	return v->form == CALL_VALUE_TEXT ? strlen(v->text) + 1 : 0;
}

static void call_trace_keep_value(struct call_value *v, char **at)
{
	if (v->form == CALL_VALUE_TEXT)
		v->text = call_trace_put_text(at, v->text).bytes;
}

static int call_trace_keep_texts(struct call_trace_call *call)
{
	size_t bytes = call_trace_text_bytes(&call->result);
	char *at;

	for (unsigned i = 0; i < call->n_args; i++)
		bytes += call_trace_text_bytes(&call->args[i]);
	at = call->texts = malloc(bytes + 1);
	if (!at)
		return -ENOMEM;
	for (unsigned i = 0; i < call->n_args; i++)
		call_trace_keep_value(&call->args[i], &at);
	call_trace_keep_value(&call->result, &at);
	return 0;
}

static int call_trace_add(struct call_trace *t, const struct event *ev)
{
	struct call_trace_call *call;
	int r = GROW(t->calls, t->room, t->n + 1);

	if (r < 0)
		return r;
	call = &t->calls[t->n];
	*call = (struct call_trace_call){
		.function = call_trace_function_of(t, ev),
		.begin_ns = ev->ts_ns,
		.end_ns = ev->call.end_ns,
		.pid = ev->pid,
		.tid = ev->tid,
		.stack = t->stacks ? call_stacks_find(t->stacks, ev->pid, ev->call.stack) : 0,
		.left = *ev->call.left_by == '\0' || strcmp(ev->call.left_by, "cut") == 0,
		.n_args = ev->call.n_args,
		.result = ev->call.result,
	};
	memcpy(call->args, ev->call.args, ev->call.n_args * sizeof(*call->args));
	r = call->function ? call_trace_keep_texts(call) : -ENOMEM;
	t->n += r == 0;
	return r;
}

int call_trace_on_event(void *trace, const struct event *ev)
{
	struct call_trace *t = trace;
	int r = t->stacks ? call_stacks_add(t->stacks, ev) : 0;

	if (r < 0)
		return r;
	switch (ev->kind) {
	case EVENT_CALL:
		return call_trace_add(t, ev);
	case EVENT_TASK:
		if (!ev->task.is_process)
			return 0;
		return table_copy(&t->names, (uint64_t)ev->pid + 1, ev->task.comm,
				  strlen(ev->task.comm) + 1)
			       ? 0
			       : -ENOMEM;
	case EVENT_LOST:
		if (strcmp(ev->lost.class_name, event_class_names[CLASS_CALLS]) == 0)
			t->n_lost += ev->lost.count;
		return 0;
	default:
		return 0;
	}
}

/* ---- values ---- */

/*
 * Decodes the quoted text QUOTED to TO, which has room for as many bytes as QUOTED. Sets *RET_CUT
 * if the recording had truncated the text. Returns the number of bytes.
 */
static size_t call_trace_unquote(const char *quoted, char *to, bool *ret_cut)
{
	static const char from[] = "ntrfvab\"\\", bytes[] = "\n\t\r\f\v\a\b\"\\";
	const char *p = quoted + 1;
	size_t n = 0;

	for (; *p && *p != '"'; n++) {
		const char *escape;
		unsigned number = 0;

		if (*p != '\\') {
			to[n] = *p++;
			continue;
		}
		p++;
		escape = *p ? strchr(from, *p) : NULL;
		if (escape) {
			to[n] = bytes[escape - from];
			p++;
			continue;
		}
		for (unsigned i = 0; i < 3 && *p >= '0' && *p <= '7'; i++)
			number = number * 8 + (unsigned)(*p++ - '0');
		to[n] = (char)number;
	}
	*ret_cut = p[0] && p[1] == '.';
	return n;
}

static int call_trace_put_quoted(struct apitrace_writer *w, const char *quoted)
{
	_cleanup_free_ char *bytes = malloc(strlen(quoted) + 1);
	bool cut;
	size_t n;

	if (!bytes)
		return -ENOMEM;
	n = call_trace_unquote(quoted, bytes, &cut);
	/* (the quoted text shows the truncation) */
	if (cut) {
		apitrace_put_repr(w);
		apitrace_put_string(w, quoted, strlen(quoted));
	}
	if (memchr(bytes, '\0', n))
		apitrace_put_blob(w, bytes, n);
	else
		apitrace_put_string(w, bytes, n);
	return 0;
}

static int call_trace_put_value(struct apitrace_writer *w, const struct call_value *v)
{
	switch (v->form) {
	case CALL_VALUE_INT:
		apitrace_put_sint(w, v->i64);
		return 0;
	case CALL_VALUE_UINT:
		apitrace_put_uint(w, v->u64);
		return 0;
	case CALL_VALUE_BOOL:
		apitrace_put_bool(w, v->yes);
		return 0;
	case CALL_VALUE_TEXT:
		if (*v->text == '"')
			return call_trace_put_quoted(w, v->text);
		apitrace_put_string(w, v->text, strlen(v->text));
		return 0;
	default:
		apitrace_put_pointer(w, v->u64);
		return 0;
	}
}

/* ---- stacks ---- */

enum {
	CALL_TRACE_FRAMES_MAX = 256, /* maximum number of frames, including inlined functions */
	CALL_TRACE_INLINED_MAX = 64, /* maximum number of inlined functions at one place */
};

static struct apitrace_text call_trace_text(const char *text)
{
	return text && *text ? (struct apitrace_text){ text, strlen(text) }
			     : (struct apitrace_text){ 0 };
}

/* Frame I of the place of STEP. A place without names has one frame, whose function is NULL.
 * Returns NULL if there is no memory. */
static struct apitrace_frame *call_trace_frame(struct call_trace *t,
					       const struct call_stacks_step *step, int i)
{
	uint64_t key = (uint64_t)step->place * CALL_TRACE_INLINED_MAX + (unsigned)i + 1;
	const struct frame *frame = i < step->n_frames ? &step->frames[i] : NULL;
	const struct mapping *map = step->at->mapping;
	struct apitrace_frame *f = table_get(&t->frames, key);

	if (f)
		return f;
	f = table_make(&t->frames, key, sizeof(*f));
	if (!f)
		return NULL;
	*f = (struct apitrace_frame){
		.module = call_trace_text(map ? map->path : NULL),
		.function = call_trace_text(frame ? frame->function : NULL),
		.file = call_trace_text(frame ? frame->source : NULL),
		.has_line = frame && frame->line,
		.line = frame ? frame->line : 0,
		.has_offset = true,
		.offset =
			map ? step->at->address - map->start + map->file_offset : step->at->address,
	};
	return f;
}

static int call_trace_put_stack(struct call_trace *t, struct apitrace_writer *w, uint32_t node)
{
	struct apitrace_frame *frames[CALL_TRACE_FRAMES_MAX];
	struct call_stacks_step step;
	size_t n = 0;
	int r = 0;

	while (node && r == 0 && n < CALL_TRACE_FRAMES_MAX) {
		r = call_stacks_step(t->stacks, &node, &step);
		for (int i = 0; r == 0 && n < CALL_TRACE_FRAMES_MAX && i < CALL_TRACE_INLINED_MAX &&
				(i == 0 || i < step.n_frames);
		     i++) {
			frames[n] = call_trace_frame(t, &step, i);
			r = frames[n++] ? 0 : -ENOMEM;
		}
	}
	if (r == 0 && n > 0)
		apitrace_writer_backtrace(w, frames, n);
	return r;
}

/* ---- events ---- */

static int call_trace_enter(struct call_trace *t, struct apitrace_writer *w,
			    struct call_trace_call *call)
{
	unsigned n = call->n_args;
	int r = 0;

	call->no =
		apitrace_writer_enter(w, call->tid & FXT_KOID_TID_MASK, &call->function->signature);
	for (unsigned i = 0; r == 0 && i < n; i++) {
		apitrace_writer_arg(w, i);
		r = call_trace_put_value(w, &call->args[i]);
	}
	if (!t->options.plain) {
		const uint64_t own[OWN_ARGS] = {
			[OWN_TS] = call->begin_ns,
			[OWN_DURATION] = call->end_ns - call->begin_ns,
			[OWN_PID] = call->pid & FXT_KOID_TID_MASK,
		};

		for (unsigned i = 0; i < OWN_ARGS; i++) {
			apitrace_writer_arg(w, n + i);
			apitrace_put_uint(w, own[i]);
		}
	}
	r = r ?: call_trace_put_stack(t, w, call->stack);
	return r ?: apitrace_writer_end(w);
}

/*
 * Writes the end of a call. If the archive has no return of the call, nothing is written, so the
 * call does not return in the trace, either.
 */
static int call_trace_leave(struct apitrace_writer *w, const struct call_trace_call *call)
{
	int r = 0;

	if (!call->left)
		return 0;
	apitrace_writer_leave(w, call->no);
	if (call->result.form != CALL_VALUE_NONE) {
		apitrace_writer_ret(w);
		r = call_trace_put_value(w, &call->result);
	}
	return r ?: apitrace_writer_end(w);
}

/*
 * Writes a call that the program did not make: of FUNCTION, with TEXT or NUMBER if it has
 * arguments.
 */
static int call_trace_fake(struct apitrace_writer *w, struct apitrace_names *function,
			   uint64_t number, const char *text)
{
	uint32_t no = apitrace_writer_enter(w, 0, function);

	apitrace_writer_flags(w, APITRACE_FLAG_FAKE);
	if (function->n > 0) {
		apitrace_writer_arg(w, 0);
		apitrace_put_uint(w, number);
	}
	if (function->n > 1) {
		apitrace_writer_arg(w, 1);
		apitrace_put_string(w, text, strlen(text));
	}
	apitrace_writer_end(w);
	apitrace_writer_leave(w, no);
	return apitrace_writer_end(w);
}

/* ---- order of calls ---- */

struct call_trace_step {
	uint64_t ts_ns, slice;
	struct call_trace_call *call;
	bool leaves;
};

DEFINE_ORDER(call_trace_compare_arrival, struct call_trace_step,
	COMPARE(x->ts_ns, y->ts_ns) ?: COMPARE(x->leaves, y->leaves) ?: COMPARE(x->call, y->call))

DEFINE_ORDER(call_trace_compare_paired, struct call_trace_step,
	COMPARE(x->slice, y->slice) ?: COMPARE(x->call->pid, y->call->pid)
		?: COMPARE(x->ts_ns, y->ts_ns) ?: COMPARE(x->call, y->call))

/*
 * Lists the begins of calls and, if they are separate, their ends. Returns NULL if there is no
 * memory.
 */
static struct call_trace_step *call_trace_steps(struct call_trace *t, uint32_t pid, size_t *ret_n)
{
	bool arrival = t->options.order == CALL_TRACE_ARRIVAL;
	struct call_trace_step *steps = calloc(2 * t->n + 1, sizeof(*steps));
	uint64_t first_ns = UINT64_MAX, slice_ns = t->options.slice_ns ?: UINT64_MAX;
	size_t n = 0;

	if (!steps)
		return NULL;
	for (size_t i = 0; i < t->n; i++)
		if (t->calls[i].begin_ns < first_ns)
			first_ns = t->calls[i].begin_ns;
	for (size_t i = 0; i < t->n; i++) {
		struct call_trace_call *call = &t->calls[i];

		if (pid && call->pid != pid)
			continue;
		steps[n++] = (struct call_trace_step){ call->begin_ns,
						       (call->begin_ns - first_ns) / slice_ns, call,
						       false };
		if (arrival)
			steps[n++] = (struct call_trace_step){ call->end_ns,
							       (call->end_ns - first_ns) / slice_ns,
							       call, true };
	}
	SORT(steps, n, arrival ? call_trace_compare_arrival : call_trace_compare_paired);
	*ret_n = n;
	return steps;
}

/* ---- the trace ---- */

/* The calls that kymo adds around the calls of programs (call-trace.h). */
struct call_trace_marks {
	struct apitrace_names push, pop, frame, lost;
	bool in_group, any;
	uint32_t pid;
	uint64_t slice;
};

static const struct apitrace_text push_args[] = { { "length", 6 }, { "marker", 6 } };
static const struct apitrace_text lost_args[] = { { "count", 5 } };

static int call_trace_end_group(struct apitrace_writer *w, struct call_trace_marks *m)
{
	if (!m->in_group)
		return 0;
	m->in_group = false;
	return call_trace_fake(w, &m->pop, 0, "");
}

/* Writes the added calls before STEP. */
static int call_trace_mark(const struct call_trace *t, struct apitrace_writer *w,
			   struct call_trace_marks *m, const struct call_trace_step *step)
{
	bool grouped = t->options.order == CALL_TRACE_PAIRED;
	bool next_slice = m->any && step->slice != m->slice;
	const char *name = table_get(&t->names, (uint64_t)step->call->pid + 1);
	char text[128];
	int r = 0;

	if (t->options.plain)
		return 0;
	if (next_slice || (m->in_group && step->call->pid != m->pid))
		r = call_trace_end_group(w, m);
	if (r == 0 && next_slice)
		r = call_trace_fake(w, &m->frame, 0, "");
	if (r == 0 && grouped && !m->in_group) {
		snprintf(text, sizeof(text), "pid %u %s", step->call->pid & FXT_KOID_TID_MASK,
			 name ?: "");
		r = call_trace_fake(w, &m->push, strlen(text), text);
		m->in_group = true;
	}
	m->any = true;
	m->pid = step->call->pid;
	m->slice = step->slice;
	return r;
}

static int call_trace_write_step(struct call_trace *t, struct apitrace_writer *w,
				 const struct call_trace_step *step)
{
	int r = step->leaves ? 0 : call_trace_enter(t, w, step->call);

	if (r == 0 && (step->leaves || t->options.order == CALL_TRACE_PAIRED))
		r = call_trace_leave(w, step->call);
	return r;
}

DEFINE_ORDER(call_trace_compare_pids, uint32_t, COMPARE(*x, *y))

int call_trace_processes(const struct call_trace *t, uint32_t **ret, size_t *ret_n)
{
	uint32_t *pids = calloc(t->n + 1, sizeof(*pids));
	size_t n = 0;

	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		pids[i] = t->calls[i].pid;
	SORT(pids, t->n, call_trace_compare_pids);
	for (size_t i = 0; i < t->n; i++)
		if (n == 0 || pids[n - 1] != pids[i])
			pids[n++] = pids[i];
	*ret = pids;
	*ret_n = n;
	return 0;
}

/* Forgets the numbers of signatures, since they are valid in one stream only. */
static void call_trace_forget_numbers(struct call_trace *t)
{
	struct call_trace_function *f;
	struct apitrace_frame *frame;
	size_t pos = 0;

	while ((f = table_next(&t->functions, &pos)))
		f->signature.number = 0;
	for (pos = 0; (frame = table_next(&t->frames, &pos));)
		frame->number = 0;
}

int call_trace_write(struct call_trace *t, uint32_t pid, struct outbuf *to)
{
	static const struct apitrace_property properties[] = {
		{ APITRACE_TEXT("process.name"), APITRACE_TEXT("kymo") },
		{ APITRACE_TEXT("kymo.clock"), APITRACE_TEXT("CLOCK_BOOTTIME") },
	};
	struct call_trace_marks marks = {
		.push = { .name = APITRACE_TEXT("glPushGroupMarkerEXT"),
			  .names = push_args,
			  .n = 2 },
		.pop = { .name = APITRACE_TEXT("glPopGroupMarkerEXT") },
		.frame = { .name = APITRACE_TEXT("glFrameTerminatorGREMEDY") },
		.lost = { .name = APITRACE_TEXT("trace_lost"), .names = lost_args, .n = 1 },
	};
	size_t n = 0;
	_cleanup_free_ struct call_trace_step *steps = call_trace_steps(t, pid, &n);
	struct apitrace_writer w;
	int r = steps ? 0 : -ENOMEM;

	call_trace_forget_numbers(t);
	apitrace_writer_init(&w, to);
	r = r ?: apitrace_writer_header(&w, properties, ARRAY_SIZE(properties));
	for (size_t i = 0; r == 0 && i < n; i++)
		r = call_trace_mark(t, &w, &marks, &steps[i])
			    ?: call_trace_write_step(t, &w, &steps[i]);
	r = r ?: call_trace_end_group(&w, &marks);
	if (r == 0 && t->n_lost > 0 && !t->options.plain)
		r = call_trace_fake(&w, &marks.lost, t->n_lost, "");
	if (r == 0 && marks.any)
		r = call_trace_fake(&w, &marks.frame, 0, "");
	return r;
}
