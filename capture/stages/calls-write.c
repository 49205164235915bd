/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/calls-write.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "capture/calls/call-lists.h"
#include "capture/calls/call-packs.h"
#include "capture/calls/call-requests.h"
#include "capture/calls/call-results.h"
#include "capture/calls/call-targets.h"
#include "capture/calls/call-values.h"
#include "capture/calls/call-waits.h"
#include "capture/stages/stage.h"
#include "model/calls/call-structs.h"
#include "model/calls/call-syscalls.h"

/*
 * The maximum number of names for unknown system calls. Without this limit, a program could fill
 * the archive with names.
 */
enum { UNKNOWN_NAMES_MAX = 256, UNKNOWN_NAME_MAX = 32 };

/* The arguments of ioctl. */
enum { REQUEST_ARG = 1, REQUEST_MEMORY_ARG = 2 };

/* ---- values ---- */

/* Buffers for the texts of one call's values. */
struct calls_texts {
	char copied[CALL_ARGS_MAX][CALL_VALUE_TEXT_MAX];
	char named[CALL_ARGS_MAX][CALL_SET_TEXT_MAX], result[CALL_VALUE_TEXT_MAX];
};

/* A call and its copied data. The data is indexed by arguments of its specification. */
struct calls_view {
	const struct call_target *target;
	const struct rec_call *call;
	const struct rec_call_end *end; /* NULL = the call has no end */
	struct call_copies copies[CALL_ARGS_MAX];
	/* The memory of a call with packs: at its entry, and at its return. */
	struct call_text in[CALL_MEMORIES_MAX], out[CALL_MEMORIES_MAX];
};

/* Returns the copied data for SLOT: from the end of the call, if that has data, otherwise from its
 * beginning; or NULL. */
static const struct call_text *calls_copied(const struct rec_call *call,
					    const struct rec_call_end *end, uint32_t slot)
{
	if (end && slot < end->n_texts && end->texts[slot].bytes >= 0)
		return &end->texts[slot];
	return slot < call->n_texts ? &call->texts[slot] : NULL;
}

/*
 * Returns true if the call has failed or has no end. Such a call has written nothing to the memory
 * of its arguments.
 */
static bool calls_has_failed(const struct calls_view *view)
{
	const struct call_type *ret = &view->target->spec->ret;

	return !view->end || (call_target_has_result(view->target) && call_type_is_signed(ret) &&
			      (int64_t)call_type_value(ret, view->end->result) < 0);
}

/* Finds the copies in the packs of the call in VIEW. */
static void calls_split_packs(const struct call_pack_plan *plan, struct calls_view *view)
{
	bool failed = calls_has_failed(view);

	call_pack_split(calls_copied(view->call, view->end, 0), plan->n, view->in);
	call_pack_split(calls_copied(view->call, view->end, 1), plan->n_outs, view->out);
	for (uint8_t i = 0; i < plan->n; i++) {
		struct call_copies *copies = &view->copies[plan->args[i]];

		copies->in = &view->in[i];
		if (i < plan->n_outs && !failed)
			copies->out = &view->out[i];
	}
}

static void calls_find_copies(const struct call_spec *spec, struct calls_view *view)
{
	uint8_t args[CALL_TEXTS_MAX], n_in, n = call_spec_slots(spec, args, &n_in);
	bool failed = calls_has_failed(view);
	struct call_pack_plan plan;

	if (call_pack_plan(spec, &plan)) {
		calls_split_packs(&plan, view);
		return;
	}
	for (uint8_t slot = 0; slot < n; slot++) {
		struct call_copies *copies = &view->copies[args[slot]];

		if (slot < n_in)
			copies->in = calls_copied(view->call, view->end, slot);
		else if (!failed)
			copies->out = calls_copied(view->call, view->end, slot);
		copies->total = view->end ? view->end->result : 0;
	}
}

/* Returns the index that argument ARG of SPEC has in the record of the call in VIEW. */
static size_t calls_place(const struct calls_view *view, const struct call_spec *spec, size_t arg)
{
	return view->target->place ? arg : call_spec_register(spec, arg);
}

/* Returns the count for memory of TYPE, an argument of SPEC; UINT64_MAX = unknown. */
static uint64_t calls_count(const struct call_spec *spec, const struct call_type *type,
			    const struct calls_view *view)
{
	const struct call_type *number = &spec->args[type->count_arg].type;
	size_t at = calls_place(view, spec, type->count_arg);
	const struct call_text *text = view->copies[at].out ?: view->copies[at].in;
	uint64_t count;
	int32_t n;

	if (!type->is_counted)
		return type->count ?: UINT64_MAX;
	if (number->form == CALL_STRUCT) {
		if (!text || text->bytes < (int32_t)sizeof(n))
			return UINT64_MAX;
		memcpy(&n, text->text, sizeof(n));
		return n < 0 ? 0 : (uint64_t)n;
	}
	count = call_type_value(number, view->call->args[at]);
	/* (the result, a number of bytes, does not limit COUNT, a number of buffers) */
	if (call_type_is_list(type))
		return count;
	if (type->out && !type->in_out && view->end && call_target_has_result(view->target) &&
	    view->end->result < count)
		count = view->end->result;
	return count;
}

/*
 * Returns true if the call in VIEW has written nothing to memory of TYPE, although it has not
 * failed.
 */
static bool calls_is_idle(const struct call_type *type, const struct calls_view *view)
{
	const struct call_struct *layout = call_struct_by_number(type->layout);

	return layout && layout->is_positive &&
	       (!view->end || (call_target_has_result(view->target) && view->end->result == 0));
}

/*
 * Returns true if the call in VIEW has written an array of TYPE without elements. Such a call has
 * not touched the memory of the array, which can be unreadable.
 */
static bool calls_is_empty(const struct call_type *type, const struct calls_view *view)
{
	return type->is_array && type->is_counted && type->out && !type->in_out && view->end &&
	       !view->target->place && view->end->result == 0 && !call_type_is_list(type);
}

/*
 * Returns true if the call in VIEW is an ioctl whose request has no specification of its own: SPEC
 * is then the specification of ioctl for all requests.
 */
static bool calls_is_request(const struct calls_view *view, const struct call_spec *spec)
{
	return !view->target->place && view->target->syscall == SYS_ioctl &&
	       spec == view->target->spec && spec->n_args > REQUEST_MEMORY_ARG;
}

/*
 * Shows the memory of the ioctl in VIEW by the size that its request has. Returns false if the
 * request has no size.
 */
static bool calls_show_request(const struct calls_view *view, size_t at, struct call_value *to,
			       char text[static CALL_VALUE_TEXT_MAX])
{
	const struct call_copies *all = &view->copies[at];
	struct call_text in, out;
	struct call_copies copies;
	struct call_type type;

	if (!call_request_type((uint32_t)view->call->args[REQUEST_ARG], &type))
		return false;
	copies.in = call_request_limit(all->in, type.count, &in);
	copies.out = call_request_limit(all->out, type.count, &out);
	*to = call_value_copied(&type, &copies, type.count, view->call->args[at], text);
	return true;
}

/* Returns true if the memory at argument I of SPEC was copied, and TO is its address. */
static bool calls_has_memory(const struct calls_view *view, const struct call_spec *spec, size_t i,
			     const struct call_value *to)
{
	const struct call_type *type = &spec->args[i].type;
	const struct call_copies *copies = &view->copies[calls_place(view, spec, i)];

	/* (if TO is a text, it tells why the argument is unavailable, and stays) */
	return call_type_is_memory(type) && (copies->in || copies->out) &&
	       to->form == CALL_VALUE_POINTER && !calls_is_idle(type, view);
}

/* Returns true if the call in VIEW is system call NUMBER, and its result is positive. */
static bool calls_has_done(const struct calls_view *view, long number)
{
	return !view->target->place && view->target->syscall == number && view->end &&
	       (int64_t)view->end->result > 0;
}

/*
 * clone3 has also written the number of the new thread to memory. TEXT is a copy of the structure
 * of clone3, and TO is the text for this structure, to which the number is appended.
 */
static void calls_add_parent_tid(const struct calls_view *view, const struct call_text *text,
				 char to[static CALL_VALUE_TEXT_MAX])
{
	size_t used = strlen(to);
	uint64_t flags;

	if (!calls_has_done(view, SYS_clone3) || !text || text->bytes < (int32_t)sizeof(flags))
		return;
	memcpy(&flags, text->text, sizeof(flags));
	if ((flags & (CLONE_PARENT_SETTID | CLONE_PIDFD)) == CLONE_PARENT_SETTID)
		snprintf(to + used, CALL_VALUE_TEXT_MAX - used, " => {parent_tid=[%" PRId64 "]}",
			 (int64_t)view->end->result);
}

/*
 * If the call in VIEW waits for descriptors (such as poll), appends what was ready to its N
 * arguments. Returns the new number of arguments.
 */
static unsigned calls_add_ready(const struct calls_view *view, unsigned n, struct call_value *to,
				struct calls_texts *texts)
{
	long number = view->target->syscall;

	if (n == CALL_ARGS_MAX || !calls_has_done(view, number) ||
	    call_wait_format(number, view->call->args, view->copies, texts->copied[n],
			     CALL_VALUE_TEXT_MAX) == 0)
		return n;
	to[n] = (struct call_value){ .name = EVENT_CALL_READY,
				     .form = CALL_VALUE_TEXT,
				     .text = texts->copied[n] };
	return n + 1;
}

/* Returns the copies of argument AT, without the copies that calls_add_ready() shows. */
static struct call_copies calls_shown_copies(const struct calls_view *view,
					     const struct call_type *type, size_t at)
{
	struct call_copies copies = view->copies[at];

	if (!view->target->place && call_wait_changes(view->target->syscall) && copies.in &&
	    !call_type_is_list(type))
		copies.out = NULL;
	return copies;
}

/*
 * Fills in the arguments of a call, and the data that the call has written to the memory of its
 * arguments.
 */
static unsigned calls_values(struct calls_view *view, struct call_value *to,
			     struct calls_texts *texts)
{
	const struct rec_call *call = view->call;
	const struct call_spec *spec = call_target_spec(view->target, call->args);
	bool is_request = calls_is_request(view, spec);

	calls_find_copies(view->target->spec, view);
	for (size_t i = 0; i < spec->n_args; i++) {
		const struct call_type *type = &spec->args[i].type;
		size_t at = calls_place(view, spec, i);

		to[i] = call_value_of_arg(spec, i, call->args[at], call->unreadable & 1u << i,
					  texts->named[i]);
		if (is_request && i == REQUEST_ARG && isdigit((unsigned char)*texts->named[i]))
			call_request_format((uint32_t)call->args[at], texts->named[i]);
		if (calls_is_empty(type, view) && to[i].form == CALL_VALUE_POINTER && to[i].u64)
			to[i] = (struct call_value){ .form = CALL_VALUE_TEXT, .text = "[]" };
		if (calls_has_memory(view, spec, i, &to[i]) &&
		    !(is_request && i == REQUEST_MEMORY_ARG &&
		      calls_show_request(view, at, &to[i], texts->copied[i]))) {
			struct call_copies copies = calls_shown_copies(view, type, at);

			to[i] = call_value_copied(type, &copies, calls_count(spec, type, view),
						  call->args[at], texts->copied[i]);
		}
		to[i].name = spec->args[i].name;
	}
	if (spec->n_args > 0 && to[0].form == CALL_VALUE_TEXT && to[0].text == texts->copied[0])
		calls_add_parent_tid(view, view->copies[0].in, texts->copied[0]);
	return calls_add_ready(view, (unsigned)spec->n_args, to, texts);
}

/* Returns the result of a call of TARGET that has ended with END. The text can be in TO. */
static struct call_value calls_result(const struct call_target *target,
				      const struct rec_call_end *end,
				      char to[static CALL_VALUE_TEXT_MAX])
{
	const struct call_result result = {
		.low = end->result,
		.high = end->result_high,
		.memory = end->has_result_text ? &end->texts[end->n_texts] : NULL,
	};

	return target->place ? call_result_value(target->spec, &result, to)
			     : call_value_of_syscall(&target->spec->ret, end->result, to);
}

bool calls_is_unknown(const struct calls *c, uint32_t function)
{
	return function < c->targets->n && !c->targets->list[function].place &&
	       c->targets->list[function].syscall == CALL_SYSCALL_UNKNOWN;
}

/* Returns the name of the function of CALL. The name can be in TEXT. */
static const char *calls_name(struct calls *c, const struct rec_call *call,
			      char text[static UNKNOWN_NAME_MAX])
{
	uint32_t number = (uint32_t)call->args[CALL_NUMBER_ARG];
	uint64_t key = (uint64_t)number + 1;

	if (!calls_is_unknown(c, call->function))
		return c->targets->list[call->function].name;
	if (!table_get(&c->unknown, key) &&
	    (c->unknown.n_used >= UNKNOWN_NAMES_MAX || table_set(&c->unknown, key, c) < 0))
		return "syscall_0x...";
	/* strace shows unknown system calls in this form, too. */
	snprintf(text, UNKNOWN_NAME_MAX, "syscall_0x%" PRIx64, (uint64_t)(int32_t)number);
	return text;
}

int calls_write(struct calls *c, const struct rec_call *call, const struct rec_call_end *end,
		const char *left_by, uint64_t at_ns)
{
	const struct call_target *target = &c->targets->list[call->function];
	uint64_t begin_ns = call->head.ts_ns;
	uint64_t end_ns = end && (!at_ns || end->head.ts_ns < at_ns) ? end->head.ts_ns : at_ns;
	struct calls_view view = { .target = target, .call = call, .end = end };
	struct calls_texts texts;
	struct call_value values[CALL_ARGS_MAX];
	char name[UNKNOWN_NAME_MAX];
	struct event ev = {
		.kind = EVENT_CALL,
		.ts_ns = begin_ns < c->pipe->from_ns ? c->pipe->from_ns : begin_ns,
		.pid = tasks_koid(c->pipe->tasks, call->head.pid),
		.tid = tasks_koid(c->pipe->tasks, call->head.tid),
		.cpu = call->head.cpu,
		.call = {
			.end_ns = end_ns < c->pipe->to_ns ? end_ns : c->pipe->to_ns,
			.args = values,
			.return_address = call->caller,
			.stack = call->stack,
			.left_by = left_by,
		},
	};
	int r;

	/*
	 * A late record can be older than other records of its thread. A call must not end before
	 * it begins.
	 */
	if (end_ns < begin_ns)
		end_ns = ev.call.end_ns = begin_ns;
	/*
	 * A call outside of the recording must not use up one of the names, so it is skipped first.
	 */
	if (begin_ns > c->pipe->to_ns || end_ns < c->pipe->from_ns)
		return 0;
	ev.call.function = calls_name(c, call, name);
	ev.call.n_args = calls_values(&view, values, &texts);
	if (end && end_ns <= c->pipe->to_ns)
		ev.call.result = calls_result(target, end, texts.result);
	else if (end)
		ev.call.left_by = "open";
	ev.call.result.name = "";
	r = pipeline_announce_thread(c->pipe, call->head.tid, call->head.pid);
	c->n_events++;
	return r < 0 ? r : fxt_archive_event(c->pipe->archive, &ev);
}

/* ---- stacks ---- */

_Static_assert(STACK_FRAMES_MAX == EVENT_CALL_FRAMES_MAX, "readers know from it what was cut");

/*
 * Writes the frames of REC's stack to TO, from its caller outwards, as in all named stacks. Returns
 * their number.
 */
static unsigned calls_frames(const struct calls *c, const struct rec_call *rec,
			     const struct stack *stack, uint64_t to[static STACK_FRAMES_MAX])
{
	/*
	 * The first frame of a system call is its return address, which is the caller. The first
	 * frame of a function is the function itself, so it is left out.
	 */
	unsigned from = c->targets->list[rec->function].place ? 1 : 0, n = 0;
	const uint64_t *frames = stack->frames + from;
	unsigned n_frames = stack->n_frames > from ? stack->n_frames - from : 0;

	if (from && rec->caller && (n_frames == 0 || (c->no_callers && frames[0] != rec->caller)))
		to[n++] = rec->caller;
	memcpy(to + n, frames, n_frames * sizeof(*to));
	return n + n_frames;
}

int calls_name_stack(struct calls *c, const struct rec_call *rec, uint64_t *ret_id)
{
	const struct stack *stack = rec->stack ? named_stacks_get(c->stacks, rec->stack) : NULL;
	uint64_t frames[STACK_FRAMES_MAX];

	*ret_id = 0;
	if (!stack)
		return 0;
	return named_stacks_write(c->stacks, &rec->head, frames,
				  calls_frames(c, rec, stack, frames), ret_id);
}

/* ---- left-out calls ---- */

static int calls_write_left_out(struct calls *c, const char *function, uint64_t total,
				uint64_t *known, uint64_t at_ns)
{
	struct event ev = {
		.kind = EVENT_LEFT_OUT,
		.ts_ns = at_ns,
		.left_out.function = function,
		.left_out.count = total - *known,
	};

	if (total == *known)
		return 0;
	*known = total;
	c->n_events++;
	return fxt_archive_event(c->pipe->archive, &ev);
}

int calls_leave_out(struct calls *c, uint32_t function, uint64_t total, uint64_t at_ns)
{
	if (!c->left_out)
		c->left_out = calloc(c->targets->n, sizeof(*c->left_out));
	if (!c->left_out)
		return -ENOMEM;
	return calls_write_left_out(c, c->targets->list[function].name, total,
				    &c->left_out[function], at_ns);
}

int calls_leave_out_foreign(struct calls *c, uint64_t total, uint64_t at_ns)
{
	return calls_write_left_out(c, EVENT_LEFT_OUT_32BIT, total, &c->left_out_foreign, at_ns);
}
