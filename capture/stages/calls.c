/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/calls.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/calls/call-targets.h"
#include "capture/programs/collector.h"
#include "capture/stages/open-calls.h"

enum { OPEN_BYTES_MAX = 32 << 20 }; /* maximum number of bytes of the open calls of all threads */

/* The interval for writing the number of left-out calls. */
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

/* ---- open calls ---- */

static struct call_open *calls_last(const struct call_thread *thread)
{
	return thread->n_open > 0 ? thread->open[thread->n_open - 1] : NULL;
}

/* Writes and frees CALL, which has ended and was removed from its list. */
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

/* Called when the last open call of THREAD has ended. */
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
 * Returns true if CALL was left, and NEXT is in its place, at the same stack pointer. If the return
 * addresses differ, CALL has not jumped to NEXT. But if NEXT is a system call, CALL can be the
 * function that makes it: a small function has the same stack pointer at that time. If a function
 * with a return probe jumps to a second function, and the second one jumps back, each entry of the
 * first function has a return. So these entries do not replace each other.
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

/* Returns true if NEXT is not a call, but a jump of CALL to its own start. */
static bool calls_is_turn(const struct calls *c, const struct rec_call *call,
			  const struct rec_call *next)
{
	const struct call_place *place = c->targets->list[call->function].place;

	return place && place->flags & CALL_PLACE_LOOPS && call->sp == next->sp &&
	       call->caller == next->caller && call->function == next->function;
}

/* ---- calls in doubt ---- */

/*
 * Puts the last call of THREAD in doubt, because this call is deeper than the event at AT_NS.
 * Either the call was left, or the call is on another stack and continues later. Its return, or a
 * call in its place, will show which case it is.
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

/*
 * Ends the calls of LIST, which was removed from the table: at AT_NS, or, if AT_NS is 0, when the
 * doubt began.
 */
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

/* Ends all calls of THREAD that are in doubt: at AT_NS, or, if AT_NS is 0, when the doubt began. */
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
 * Called when NEXT is entered. NEXT replaces the calls in doubt at its stack pointer, if they were
 * left. Sets *RET_TURN if NEXT is a jump, not a call.
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

/* Returns true if REC is a point, which a thread passes without returning from it. */
static bool calls_is_point(const struct calls *c, const struct rec_call *rec)
{
	const struct call_place *place = c->targets->list[rec->function].place;

	return place && place->flags & CALL_PLACE_POINT;
}

/* Called when a thread passes a point. There, the top of the stack is not a return address. */
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
 * REC is an entry. If it shows that open calls of THREAD with the same stack pointer were left,
 * ends these calls. (Functions that jump to each other have the same stack pointer.) Sets *RET_TURN
 * if REC is a jump, not a call.
 */
static int calls_leave_same(struct calls *c, struct call_thread *thread, const struct rec_call *rec,
			    bool *ret_turn)
{
	uint64_t at_ns;
	int r = 0;

	for (size_t i = thread->n_open; r == 0 && i-- > 0 && thread->open[i]->rec.sp == rec->sp;) {
		struct call_open *call = thread->open[i];

		/*
		 * Only the last call can be such a jump: a call that has jumped to another function
		 * cannot jump to its own start.
		 */
		if (i + 1 == thread->n_open && calls_is_turn(c, &call->rec, rec)) {
			*ret_turn = true;
			return 0;
		}
		if (!calls_is_replaced(c, &call->rec, rec))
			continue;
		/*
		 * (the call was left by its jump to the next call, and the next call can still
		 * return)
		 */
		at_ns = i + 1 < thread->n_open ? thread->open[i + 1]->rec.head.ts_ns
					       : rec->head.ts_ns;
		memmove(&thread->open[i], &thread->open[i + 1],
			(--thread->n_open - i) * sizeof(*thread->open));
		r = calls_end(c, call, NULL, "unwound", at_ns);
	}
	return r;
}

/*
 * REC is an entry. If it shows that earlier calls of THREAD were left, ends these calls, or puts
 * them in doubt. Sets *RET_TURN if REC is a jump, not a call.
 */
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

/*
 * Makes open call number AT, counted from 1, the last call. The calls to which it has jumped come
 * before it then.
 */
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
 * END is the end of a system call with the number -1: the return of a signal handler (with the
 * stack pointer of the interrupted code), syscall(-1), or a call that a tracer skips. Ends the last
 * open call of the thread, if that is such a call.
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
 * Returns true if the `ret` of END can end CALL, too: the `ret` belongs to the function of CALL.
 * Otherwise, CALL is on another stack at the same place (greenlets copy their stacks).
 */
static bool calls_can_end_at(const struct calls *c, const struct rec_call *call,
			     const struct rec_call_end *end)
{
	const struct call_place *place = c->targets->list[call->function].place;

	if (!place || !end->ret_in_page || place->flags & CALL_PLACE_PARTIAL)
		return place;
	/* A `ret` at the entry has no probe of its own, so it is not in the list. */
	if (end->ret_in_page == CALL_IN_PAGE(place->entry))
		return true;
	for (uint32_t i = 0; i < place->n_rets; i++)
		if (end->ret_in_page == CALL_IN_PAGE(place->rets[i]))
			return true;
	return false;
}

/* If OUTER has jumped to CALL, the `ret` of END ends both calls. */
static void calls_end_with(const struct calls *c, struct call_open *call,
			   const struct call_open *outer, const struct rec_call_end *end)
{
	if (call->rec.sp == outer->rec.sp && call->rec.caller == outer->rec.caller &&
	    call->rec.head.ts_ns >= outer->rec.head.ts_ns && !call->until_ns &&
	    calls_can_end_at(c, &call->rec, end))
		call->until_ns = end->head.ts_ns;
}

/*
 * Called when END ends OUTER. The calls of THREAD to which OUTER has jumped end at the same `ret`.
 * This `ret` has a probe for each of these calls, and the probes run in any order, so the records
 * of their ends follow. These calls must not end later than OUTER, which contains them.
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
 * Called when a call ends. Deeper calls are now in doubt. The call has jumped to the later calls at
 * the same stack pointer; the records of their ends follow.
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
 * Closes the calls of a thread. If the thread has several stacks, its calls in doubt are open at
 * the end, since nothing has replaced them. The other calls of the thread are also open: it is
 * unknown which of these calls are on the last stack.
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

/* Called when thread TID has ended, or when the program that the thread ran has ended. */
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

/*
 * Called at an exec: the system call that has started the new program of the thread has returned 0,
 * on another stack.
 */
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

	/* While the recording has no end, AT_NS can be in the future. */
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

/* The stage of calls. It writes the open calls of a thread before the end of the thread. */
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
