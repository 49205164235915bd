/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "model/calls/call-structs.h"
#include "model/calls/call-syscalls.h"
#include "base/clock.h"
#include "capture/calls/call-targets.h"
#include "capture/calls/call-values.h"
#include "capture/programs/collector.h"
#include "capture/stages/open-calls.h"

enum { OPEN_BYTES_MAX = 32 << 20 }; /* of all threads */

/* Unknown system calls that have names by their numbers. So a program cannot fill the archive with
 * names. */
enum { UNKNOWN_NAMES_MAX = 256, UNKNOWN_NAME_MAX = 32 };

/* How often the number of left-out calls is written. */
#define LEFT_OUT_NS UINT64_C(1000000000)

void calls_init(struct calls *c, const struct pipeline *pipe)
{
	*c = (struct calls){ .pipe = pipe };
}

void calls_deinit(void *stage)
{
	struct calls *c = stage;
	struct call_thread *thread;

	for (size_t pos = 0; (thread = table_next(&c->threads, &pos));)
		open_calls_free_thread(&c->places, thread);
	table_deinit(&c->threads);
	table_deinit(&c->places);
	table_deinit(&c->unknown);
	free(c->left_out);
}

/* ---- events ---- */

/* Buffers for the texts of one call's values. */
struct calls_texts {
	char copied[CALL_ARGS_MAX][CALL_VALUE_TEXT_MAX];
	char named[CALL_ARGS_MAX][CALL_SET_TEXT_MAX], result[CALL_SET_TEXT_MAX];
};

/* A call and its copied data, by argument of its specification. */
struct calls_view {
	const struct call_target *target;
	const struct rec_call *call;
	const struct rec_call_end *end; /* NULL = none */
	struct call_copies copies[CALL_ARGS_MAX];
};

/* The copied data for SLOT: from the end of the call if there is any, else from its begin; or
 * NULL. */
static const struct call_text *calls_copied(const struct rec_call *call,
					    const struct rec_call_end *end, uint32_t slot)
{
	if (end && slot < end->n_texts && end->texts[slot].bytes >= 0)
		return &end->texts[slot];
	return slot < call->n_texts ? &call->texts[slot] : NULL;
}

/* Whether the call has failed or has no end. Then it has written nothing. */
static bool calls_has_failed(const struct call_spec *spec, const struct rec_call_end *end)
{
	return !end || (call_type_is_signed(&spec->ret) &&
			(int64_t)call_type_value(&spec->ret, end->result) < 0);
}

static void calls_find_copies(const struct call_spec *spec, struct calls_view *view)
{
	uint8_t args[CALL_TEXTS_MAX], n_in, n = call_spec_slots(spec, args, &n_in);
	bool failed = calls_has_failed(spec, view->end);

	for (uint8_t slot = 0; slot < n; slot++) {
		struct call_copies *copies = &view->copies[args[slot]];

		if (slot < n_in)
			copies->in = calls_copied(view->call, view->end, slot);
		else if (!failed)
			copies->out = calls_copied(view->call, view->end, slot);
	}
}

/* The index in the record of argument ARG of SPEC, for the call in VIEW. */
static size_t calls_place(const struct calls_view *view, const struct call_spec *spec, size_t arg)
{
	return view->target->place ? arg : call_spec_register(spec, arg);
}

/* The count for memory of TYPE, an argument of SPEC; UINT64_MAX = unknown. */
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
	if (type->out && !type->in_out && view->end && view->end->result < count)
		count = view->end->result;
	return count;
}

/* Whether the call in VIEW has written nothing to memory of TYPE, although it has not failed. */
static bool calls_is_idle(const struct call_type *type, const struct calls_view *view)
{
	const struct call_struct *layout = call_struct_by_number(type->layout);

	return layout && layout->is_positive && (!view->end || view->end->result == 0);
}

/* Fills in the arguments of a call, and the data that it has written through them. */
static unsigned calls_values(struct calls_view *view, struct call_value *to,
			     struct calls_texts *texts)
{
	const struct rec_call *call = view->call;
	const struct call_spec *spec = call_target_spec(view->target, call->args);

	calls_find_copies(view->target->spec, view);
	for (size_t i = 0; i < spec->n_args; i++) {
		const struct call_type *type = &spec->args[i].type;
		size_t at = calls_place(view, spec, i);
		const struct call_copies *copies = &view->copies[at];

		to[i] = call_value_of_arg(spec, i, call->args[at], call->unreadable & 1u << i,
					  texts->named[i]);
		/* (otherwise the text has the reason why the argument is unavailable) */
		if (call_type_is_memory(type) && (copies->in || copies->out) &&
		    to[i].form == CALL_VALUE_POINTER && !calls_is_idle(type, view))
			to[i] = call_value_copied(type, copies, calls_count(spec, type, view),
						  call->args[at], texts->copied[i]);
		to[i].name = spec->args[i].name;
	}
	return (unsigned)spec->n_args;
}

static bool calls_is_unknown(const struct calls *c, uint32_t function)
{
	return function < c->targets->n && !c->targets->list[function].place &&
	       c->targets->list[function].syscall == CALL_SYSCALL_UNKNOWN;
}

/* The name of the function of CALL, which can be in TEXT. */
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
	/* (as strace shows it) */
	snprintf(text, UNKNOWN_NAME_MAX, "syscall_0x%" PRIx64, (uint64_t)(int32_t)number);
	return text;
}

/* Writes CALL, which has ended with the record END, but not later than at AT_NS, if that is not 0.
 * If END is NULL, it was left at AT_NS, in the way LEFT_BY. */
static int calls_write(struct calls *c, const struct rec_call *call, const struct rec_call_end *end,
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

	/* (such a call must not use up one of the names) */
	if (begin_ns > c->pipe->to_ns || end_ns < c->pipe->from_ns)
		return 0;
	ev.call.function = calls_name(c, call, name);
	ev.call.n_args = calls_values(&view, values, &texts);
	if (end && end_ns <= c->pipe->to_ns)
		ev.call.result = target->place ? call_value_of_result(target->spec, end->result,
								      texts.result)
					       : call_value_of_syscall(&target->spec->ret,
								       end->result, texts.result);
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
 * Writes the frames of REC's stack to TO, from its caller outwards, like those of all named stacks.
 * Returns their number.
 */
static unsigned calls_frames(const struct calls *c, const struct rec_call *rec,
			     const struct stack *stack, uint64_t to[static STACK_FRAMES_MAX])
{
	/* (the first frame of a system call is its return address; the first one of a function
	 * is the function itself) */
	unsigned from = c->targets->list[rec->function].place ? 1 : 0, n = 0;
	const uint64_t *frames = stack->frames + from;
	unsigned n_frames = stack->n_frames > from ? stack->n_frames - from : 0;

	if (from && rec->caller && (n_frames == 0 || (c->no_callers && frames[0] != rec->caller)))
		to[n++] = rec->caller;
	memcpy(to + n, frames, n_frames * sizeof(*to));
	return n + n_frames;
}

/* Makes sure that the archive has the stack of REC. *RET_ID is its name there; 0 = none. */
static int calls_name_stack(struct calls *c, const struct rec_call *rec, uint64_t *ret_id)
{
	const struct stack *stack = rec->stack ? named_stacks_get(c->stacks, rec->stack) : NULL;
	uint64_t frames[STACK_FRAMES_MAX];

	*ret_id = 0;
	if (!stack)
		return 0;
	return named_stacks_write(c->stacks, &rec->head, frames,
				  calls_frames(c, rec, stack, frames), ret_id);
}

/* ---- open calls ---- */

static struct call_open *calls_last(const struct call_thread *thread)
{
	return thread->n_open > 0 ? thread->open[thread->n_open - 1] : NULL;
}

/* Writes and frees CALL, which has ended and is in no list any more. */
static int calls_end(struct calls *c, struct call_open *call, const struct rec_call_end *end,
		     const char *left_by, uint64_t at_ns)
{
	uint64_t until_ns = call->until_ns;
	int r = calls_write(c, &call->rec, end, left_by,
			    until_ns && (end || until_ns < at_ns) ? until_ns : at_ns);

	c->open_bytes -= call->rec.head.size;
	open_calls_free(&c->places, call);
	return r;
}

/* The last open call of THREAD has ended. */
static int calls_pop(struct calls *c, struct call_thread *thread, const struct rec_call_end *end,
		     const char *left_by, uint64_t at_ns)
{
	return calls_end(c, thread->open[--thread->n_open], end, left_by, at_ns);
}

static bool calls_is_syscall(const struct calls *c, const struct rec_call *rec)
{
	return !c->targets->list[rec->function].place;
}

/*
 * Whether CALL was left, and NEXT is in its place, at the same stack pointer. If the return
 * addresses differ, CALL has not jumped to NEXT. But a system call comes from a function, and a
 * small function has the same stack pointer at that time. A function that jumped to another one,
 * which jumped back, returns as often as it was entered if it has return probes.
 */
static bool calls_is_replaced(const struct calls *c, const struct rec_call *call,
			      const struct rec_call *next)
{
	if (calls_is_syscall(c, next) && !calls_is_syscall(c, call))
		return false;
	if (call->caller != next->caller)
		return true;
	return call->function == next->function && !next->is_chained;
}

/* Whether NEXT is not a call, but a jump of CALL to its own begin. */
static bool calls_is_turn(const struct calls *c, const struct rec_call *call,
			  const struct rec_call *next)
{
	const struct call_place *place = c->targets->list[call->function].place;

	return place && place->flags & CALL_PLACE_LOOPS && call->sp == next->sp &&
	       call->caller == next->caller && call->function == next->function;
}

/* ---- calls in doubt ---- */

/*
 * The last call of THREAD is deeper than the event at AT_NS. It was left, or it is on another stack
 * and continues later. Its return, or a call in its place, decides.
 */
static int calls_doubt(struct calls *c, struct call_thread *thread, uint64_t at_ns)
{
	struct call_open *call = calls_last(thread);
	uint64_t key = call->rec.sp + 1;

	call->left_ns = at_ns;
	call->next = table_get(&thread->doubted, key);
	if (table_set(&thread->doubted, key, call) < 0)
		return calls_pop(c, thread, NULL, "unwound", at_ns);
	thread->n_open--;
	return 0;
}

/* The calls of LIST, which is in no table any more, have ended: at AT_NS, or if it is 0, when
 * the doubt began. */
static int calls_end_doubted(struct calls *c, struct call_open *list, const char *left_by,
			     uint64_t at_ns)
{
	int r = 0;

	while (list) {
		struct call_open *next = list->next;

		r = calls_end(c, list, NULL, left_by, at_ns ?: list->left_ns) ?: r;
		list = next;
	}
	return r;
}

/* All calls of THREAD in doubt have ended: at AT_NS, or if it is 0, when the doubt began. */
static int calls_settle_all(struct calls *c, struct call_thread *thread, const char *left_by,
			    uint64_t at_ns)
{
	struct call_open *list;
	int r = 0;

	for (size_t pos = 0; (list = table_next(&thread->doubted, &pos));)
		r = calls_end_doubted(c, list, left_by, at_ns) ?: r;
	table_clear(&thread->doubted);
	return r;
}

/*
 * NEXT is entered. Calls in doubt at its stack pointer, which it replaces, were left. *RET_TURN:
 * NEXT is a jump, not a call.
 */
static int calls_settle(struct calls *c, struct call_thread *thread, const struct rec_call *next,
			bool *ret_turn)
{
	struct call_open *list = table_remove(&thread->doubted, next->sp + 1), *left = NULL;
	struct call_open **kept_end, **left_end = &left;
	int r = 0;

	for (kept_end = &list; *kept_end;) {
		struct call_open *call = *kept_end;

		*ret_turn |= calls_is_turn(c, &call->rec, next);
		if (*ret_turn || !calls_is_replaced(c, &call->rec, next)) {
			kept_end = &call->next;
			continue;
		}
		*kept_end = call->next;
		call->next = NULL;
		*left_end = call;
		left_end = &call->next;
	}
	if (list && table_set(&thread->doubted, next->sp + 1, list) < 0)
		r = calls_end_doubted(c, list, "unwound", 0);
	return r < 0 ? r : calls_end_doubted(c, left, "unwound", 0);
}

/* ---- entries and returns ---- */

static struct call_open *calls_make_room(struct calls *c, const struct rec_call *rec)
{
	if (c->open_bytes + rec->head.size > OPEN_BYTES_MAX)
		return NULL;
	return malloc(offsetof(struct call_open, rec) + rec->head.size);
}

static int calls_push(struct calls *c, struct call_thread *thread, const struct rec_call *rec,
		      uint64_t stack)
{
	struct call_open *call = calls_make_room(c, rec);
	int r = 0;

	if (!call && thread->doubted.n_used > 0) {
		r = calls_settle_all(c, thread, "unwound", 0);
		call = calls_make_room(c, rec);
	}
	if (!call || GROW(thread->open, thread->room, thread->n_open + 1) < 0) {
		free(call);
		c->n_dropped++;
		return r;
	}
	memcpy(&call->rec, rec, rec->head.size);
	call->rec.stack = stack;
	thread->open[thread->n_open++] = call;
	c->open_bytes += rec->head.size;
	call->thread = thread;
	call->until_ns = 0;
	if (!calls_is_syscall(c, rec))
		open_calls_list(&c->places, call);
	return r;
}

/* A thread passes a point, and does not return from it. */
static bool calls_is_point(const struct calls *c, const struct rec_call *rec)
{
	const struct call_place *place = c->targets->list[rec->function].place;

	return place && place->flags & CALL_PLACE_POINT;
}

/* A thread passes a point. The top of its stack is not a return address there. */
static int calls_pass(struct calls *c, const struct rec_call *rec)
{
	const struct rec_call_end end = { .head = rec->head };
	struct rec_call passed = { .is_chained = 0 };
	uint64_t stack;
	int r;

	memcpy(&passed, rec, rec->head.size);
	passed.caller = 0;
	r = calls_name_stack(c, &passed, &stack);
	passed.stack = stack;
	return r < 0 ? r : calls_write(c, &passed, &end, "", 0);
}

/*
 * Ends the open calls of THREAD at the stack pointer of REC, an entry, that it shows to be left.
 * Several functions that jump to each other are there. *RET_TURN: REC is a jump, not a call.
 */
static int calls_leave_same(struct calls *c, struct call_thread *thread, const struct rec_call *rec,
			    bool *ret_turn)
{
	uint64_t at_ns;
	int r = 0;

	for (size_t i = thread->n_open; r == 0 && i-- > 0 && thread->open[i]->rec.sp == rec->sp;) {
		struct call_open *call = thread->open[i];

		if (calls_is_turn(c, &call->rec, rec)) {
			*ret_turn = true;
			return 0;
		}
		if (!calls_is_replaced(c, &call->rec, rec))
			continue;
		/* (it was left by its jump to the next one, which can still return) */
		at_ns = i + 1 < thread->n_open ? thread->open[i + 1]->rec.head.ts_ns
					       : rec->head.ts_ns;
		memmove(&thread->open[i], &thread->open[i + 1],
			(--thread->n_open - i) * sizeof(*thread->open));
		r = calls_end(c, call, NULL, "unwound", at_ns);
	}
	return r;
}

/* Ends or doubts the earlier calls of THREAD that the entry REC shows to be left. *RET_TURN: REC
 * is a jump, not a call. */
static int calls_leave_before(struct calls *c, struct call_thread *thread,
			      const struct rec_call *rec, bool *ret_turn)
{
	const struct call_open *last;
	int r = 0;

	*ret_turn = false;
	while (r == 0 && (last = calls_last(thread)) && last->rec.sp < rec->sp)
		r = calls_doubt(c, thread, rec->head.ts_ns);
	r = r < 0 ? r : calls_leave_same(c, thread, rec, ret_turn);
	if (r == 0 && !*ret_turn && table_get(&thread->doubted, rec->sp + 1))
		r = calls_settle(c, thread, rec, ret_turn);
	return r;
}

static int calls_on_call(struct calls *c, const struct rec_call *rec)
{
	struct call_thread *thread =
		table_make(&c->threads, (uint64_t)rec->head.tid + 1, sizeof(*thread));
	uint64_t stack;
	bool turn;
	int r;

	if (!thread)
		return -ENOMEM;
	if (rec->function >= c->targets->n) {
		c->n_dropped++;
		return 0;
	}
	if (calls_is_point(c, rec))
		return calls_pass(c, rec);
	r = calls_leave_before(c, thread, rec, &turn);
	if (r < 0 || turn)
		return r;
	r = calls_name_stack(c, rec, &stack);
	return r < 0 ? r : calls_push(c, thread, rec, stack);
}

/* Makes open call number AT, counted from 1, the last one, after those that it jumped to. */
static void calls_raise(struct call_thread *thread, size_t at)
{
	struct call_open *call = open_calls_remove(thread, at);

	thread->open[thread->n_open++] = call;
}

static bool calls_is_signal_return(const struct calls *c, uint32_t function)
{
	return function < c->targets->n && !c->targets->list[function].place &&
	       c->targets->list[function].syscall == SYS_rt_sigreturn;
}

/*
 * A system call ends whose number can be unknown at its end, because it is -1: the return of a
 * signal handler, with the stack pointer of the interrupted code; syscall(-1); or a call that a
 * tracer skips. END ends the last open call of its thread, if that is such a call.
 */
static int calls_on_unknown_end(struct calls *c, struct call_thread *thread,
				const struct rec_call_end *end)
{
	const struct call_open *last = thread ? calls_last(thread) : NULL;
	bool ended = last && last->rec.function == end->function;

	if (last && calls_is_unknown(c, last->rec.function))
		ended = last->rec.sp == end->sp &&
			(ended || (int)last->rec.args[CALL_NUMBER_ARG] == -1);
	return ended ? calls_pop(c, thread, end, "", 0) : 0;
}

/*
 * Whether the `ret` of END can end CALL, too: it is one of its function. If not, CALL is on another
 * stack that has the same place, as that of a greenlet, which is copied there.
 */
static bool calls_can_end_at(const struct calls *c, const struct rec_call *call,
			     const struct rec_call_end *end)
{
	const struct call_place *place = c->targets->list[call->function].place;

	if (!place || !end->ret_in_page || place->flags & CALL_PLACE_PARTIAL)
		return place;
	/* (a `ret` at the entry has no probe of its own) */
	if (end->ret_in_page == CALL_IN_PAGE(place->entry))
		return true;
	for (uint32_t i = 0; i < place->n_rets; i++)
		if (end->ret_in_page == CALL_IN_PAGE(place->rets[i]))
			return true;
	return false;
}

/* If OUTER has jumped to CALL, the `ret` of END ends both. */
static void calls_end_with(const struct calls *c, struct call_open *call,
			   const struct call_open *outer, const struct rec_call_end *end)
{
	if (call->rec.sp == outer->rec.sp && call->rec.caller == outer->rec.caller &&
	    call->rec.head.ts_ns >= outer->rec.head.ts_ns && !call->until_ns &&
	    calls_can_end_at(c, &call->rec, end))
		call->until_ns = end->head.ts_ns;
}

/*
 * END ends OUTER. The calls of THREAD to which it has jumped end at the same `ret`. It has a probe
 * for each of them, in any order, and their records follow: the calls do not end later than the one
 * that contains them.
 */
static void calls_end_jumps(const struct calls *c, struct call_thread *thread,
			    const struct call_open *outer, const struct rec_call_end *end)
{
	uint64_t sp = outer->rec.sp;
	struct call_open *call = table_get(&thread->doubted, sp + 1);

	for (; call; call = call->next)
		calls_end_with(c, call, outer, end);
	for (size_t i = thread->n_open; i > 0 && thread->open[i - 1]->rec.sp <= sp; i--)
		calls_end_with(c, thread->open[i - 1], outer, end);
}

/*
 * A call ends. Deeper calls are in doubt from now on. The call that ends has jumped to later ones
 * at the same stack pointer. Their own records follow.
 */
static int calls_on_end(struct calls *c, const struct rec_call_end *end)
{
	struct call_thread *thread = table_get(&c->threads, (uint64_t)end->head.tid + 1);
	size_t at = thread ? open_calls_find(thread, end) : 0;
	struct call_open *doubted = NULL;
	int r = 0;

	if (calls_is_signal_return(c, end->function) || calls_is_unknown(c, end->function))
		return calls_on_unknown_end(c, thread, end);
	if (thread && at == 0)
		doubted = open_calls_remove_doubted(thread, end);
	if (at == 0 && !doubted)
		doubted = open_calls_remove_elsewhere(&c->places, end);
	if (at == 0 && !doubted) {
		c->n_unpaired++;
		return 0;
	}
	while (r == 0 && thread && thread->n_open > 0 && calls_last(thread)->rec.sp < end->sp)
		r = calls_doubt(c, thread, end->head.ts_ns);
	if (doubted) {
		if (thread)
			thread->switches = true;
		calls_end_jumps(c, doubted->thread, doubted, end);
		return calls_end(c, doubted, end, "", 0) ?: r;
	}
	if (r < 0)
		return r;
	calls_raise(thread, at);
	calls_end_jumps(c, thread, calls_last(thread), end);
	return calls_pop(c, thread, end, "", 0);
}

/*
 * If the thread has several stacks, calls in doubt are open at the end, since nothing has replaced
 * them. So are its other calls: it is unknown which of them are on the stack where it ends.
 */
static int calls_close_thread(struct calls *c, struct call_thread *thread, const char *left_by,
			      uint64_t at_ns)
{
	int r = 0;

	while (r == 0 && thread->n_open > 0)
		r = calls_pop(c, thread, NULL, left_by, at_ns);
	return calls_settle_all(c, thread, thread->switches ? left_by : "unwound",
				thread->switches ? at_ns : 0)
		       ?: r;
}

/* Thread TID has ended, or the program that it ran. */
static int calls_forget(struct calls *c, uint32_t tid, uint64_t at_ns)
{
	struct call_thread *thread = table_remove(&c->threads, (uint64_t)tid + 1);
	int r;

	if (!thread)
		return 0;
	r = calls_close_thread(c, thread, thread->switches ? "open" : "unwound", at_ns);
	for (size_t i = 0; i < thread->n_open; i++)
		c->open_bytes -= thread->open[i]->rec.head.size;
	open_calls_free_thread(&c->places, thread);
	return r;
}

/* The system call that has started the thread's new program has returned 0, on another stack. */
static int calls_on_exec(struct calls *c, const struct rec_exec *rec)
{
	struct call_thread *thread = table_get(&c->threads, (uint64_t)rec->old_tid + 1);
	const struct call_open *last = thread ? calls_last(thread) : NULL;
	struct rec_call_end end = { .head = rec->head };
	int r = 0;

	if (last && calls_is_syscall(c, &last->rec))
		r = calls_pop(c, thread, &end, "", 0);
	return r ?: calls_forget(c, rec->old_tid, rec->head.ts_ns)
		       ?: calls_forget(c, rec->head.tid, rec->head.ts_ns);
}

int calls_record(void *stage, const struct rec_head *rec)
{
	struct calls *c = stage;

	if (!c->targets)
		return 0;
	switch (rec->kind) {
	case REC_CALL:
		return calls_on_call(c, (const struct rec_call *)rec);
	case REC_CALL_END:
		return calls_on_end(c, (const struct rec_call_end *)rec);
	case REC_EXEC:
		return calls_on_exec(c, (const struct rec_exec *)rec);
	default:
		return calls_forget(c, rec->tid, rec->ts_ns);
	}
}

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

int calls_close(struct calls *c, uint64_t at_ns)
{
	struct call_thread *thread;
	int r = 0;

	for (size_t pos = 0; r == 0 && (thread = table_next(&c->threads, &pos));)
		r = calls_close_thread(c, thread, "open", at_ns);
	return r;
}

/* ---- the stage ---- */

/* Writes the number of calls that limits have left out by AT_NS. */
static int calls_leave_out_all(struct calls *c, uint64_t at_ns)
{
	struct collector *collector = c->pipe->collector;
	const struct call_targets *targets = c->targets;
	int r = 0;

	/* (AT_NS is in the future while the recording has no end) */
	if (at_ns > clock_boot_ns())
		at_ns = clock_boot_ns();
	c->left_out_at_ns = at_ns;
	for (uint32_t i = 0; targets && r == 0 && i < targets->n; i++)
		if (targets->list[i].spec->limit)
			r = calls_leave_out(c, i, collector_left_out(collector, i), at_ns);
	if (r < 0 || !targets)
		return r;
	return calls_leave_out_foreign(c, collector_foreign_calls(collector), at_ns);
}

static int calls_advance(void *stage, uint64_t horizon_ns)
{
	struct calls *c = stage;
	int r = 0;

	if (horizon_ns - c->left_out_at_ns > LEFT_OUT_NS)
		r = calls_leave_out_all(c, horizon_ns);
	return r ?: pipeline_write_shortage(c->pipe, CLASS_CALLS, &c->n_dropped);
}

static int calls_pause(void *stage)
{
	return calls_close(stage, clock_boot_ns());
}

static int calls_finish(void *stage)
{
	struct calls *c = stage;

	return calls_close(c, c->pipe->to_ns) ?: calls_leave_out_all(c, c->pipe->to_ns);
}

/* The open calls of a thread are written before its end. */
const struct stage calls_stage = {
	.name = "calls",
	.handles = STAGE_HANDLES(REC_CALL) | STAGE_HANDLES(REC_CALL_END) | STAGE_HANDLES(REC_EXIT) |
		   STAGE_HANDLES(REC_EXEC),
	.record = calls_record,
	.advance = calls_advance,
	.pause = calls_pause,
	.end = calls_finish,
	.deinit = calls_deinit,
};
