/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/why/why-waits.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/maps.h"
#include "reader/why/why-threads.h"

/* The number of functions of a stack that are looked at. */
enum { WHY_FUNCTIONS_MAX = 64 };

/* The verdict about all waits with the same stack and state. */
struct why_stack {
	struct wait_verdict verdict;
};

void why_waits_deinit(struct why_waits *w)
{
	free(w->list);
	table_deinit(&w->index);
	table_deinit(&w->pending);
	table_deinit(&w->wakers);
	table_deinit(&w->throttled);
	table_deinit_free(&w->judged);
	text_set_deinit(&w->texts);
	*w = (struct why_waits){ .profile = w->profile, .names = w->names, .summary = w->summary };
}

static uint64_t why_waits_key(uint32_t tid, uint64_t from_ns)
{
	const uint64_t key[] = { tid, from_ns };

	return table_hash(key, sizeof(key));
}

/* ---- wakers ---- */

/* (kernel stacks have the same key on all machines of a merged archive) */
static uint64_t why_waits_waker_key(uint32_t pid, uint64_t id)
{
	const uint64_t key[] = { maps_is_kthreadd(pid) ? 0 : pid, id };

	return table_hash(key, sizeof(key));
}

/* Keeps the stack in EV, which has an id: a wakeup can refer to it. */
static int why_waits_on_named(struct why_waits *w, const struct event *ev)
{
	uint32_t node;
	int r;

	if (w->wakers.n_used >= WHY_WAITS_MAX)
		return 0;
	r = profile_keep_stack(w->profile, ev, &node);
	if (r < 0)
		return r;
	return table_set(&w->wakers, why_waits_waker_key(ev->pid, ev->sample.id),
			 (void *)(uintptr_t)node) < 0
		       ? -ENOMEM
		       : 0;
}

/* The node of the waker's stack to which EV, a time off CPU, refers; 0 = none. */
static uint32_t why_waits_waker_node(const struct why_waits *w, const struct event *ev)
{
	const struct summary_thread *waker =
		ev->offcpu.waker_tid ? table_get(&w->summary->threads, ev->offcpu.waker_tid) : NULL;
	uint32_t pid = waker && !ev->offcpu.context ? waker->pid : 0;

	if (!ev->offcpu.waker_stack)
		return 0;
	return (uint32_t)(uintptr_t)table_get(&w->wakers,
					      why_waits_waker_key(pid, ev->offcpu.waker_stack));
}

/* Replaces *TEXT, which can be NULL, by a copy that W owns. */
static int why_waits_keep(struct why_waits *w, const char **text)
{
	if (!*text)
		return 0;
	*text = text_set_keep(&w->texts, *text);
	return *text ? 0 : -ENOMEM;
}

/* The time for which WAIT and FROM_NS..TO_NS overlap. */
static uint64_t why_waits_part(const struct why_wait *wait, uint64_t from_ns, uint64_t to_ns)
{
	if (wait->from_ns > from_ns)
		from_ns = wait->from_ns;
	if (wait->to_ns < to_ns)
		to_ns = wait->to_ns;
	return from_ns < to_ns ? to_ns - from_ns : 0;
}

const struct why_wait *why_waits_throttled(const struct why_waits *w, uint32_t tid,
					   uint64_t from_ns, uint64_t to_ns)
{
	size_t number = (uintptr_t)table_get(&w->throttled, tid);
	const struct why_wait *most = NULL;
	uint64_t most_ns = 0;

	while (number) {
		const struct why_wait *wait = &w->list[number - 1];
		uint64_t ns = why_waits_part(wait, from_ns, to_ns);

		if (ns > most_ns) {
			most_ns = ns;
			most = wait;
		}
		number = wait->throttled_before;
	}
	return most;
}

/* Adds the wait with NUMBER to the throttled times of its thread, if the thread was throttled. */
static int why_waits_note_throttled(struct why_waits *w, uintptr_t number)
{
	struct why_wait *wait = &w->list[number - 1];

	if (!wait->throttled)
		return 0;
	wait->throttled_before = (uintptr_t)table_get(&w->throttled, wait->tid);
	return table_set(&w->throttled, wait->tid, (void *)number) < 0 ? -ENOMEM : 0;
}

static int why_waits_on_offcpu(struct why_waits *w, const struct event *ev)
{
	const char *left_by = ev->offcpu.left_by, *begun = ev->offcpu.begun;
	const char *syscall = ev->offcpu.syscall, *context = ev->offcpu.context;
	const char *cgroup = ev->offcpu.cgroup_path, *reason = ev->offcpu.reason;
	uintptr_t number = w->n + 1;

	if (ev->tid == 0)
		return 0;
	table_remove(&w->pending, ev->tid);
	if (w->n == WHY_WAITS_MAX) {
		w->n_dropped++;
		return 0;
	}
	if (why_waits_keep(w, &syscall) < 0 || why_waits_keep(w, &context) < 0 ||
	    why_waits_keep(w, &cgroup) < 0 || GROW(w->list, w->room, w->n + 1) < 0)
		return -ENOMEM;
	w->list[w->n] = (struct why_wait){
		.tid = ev->tid,
		.pid = ev->pid,
		.from_ns = ev->ts_ns,
		.to_ns = ev->offcpu.end_ns,
		.open = left_by && strcmp(left_by, "open") == 0,
		.estimated = left_by && strcmp(left_by, "unknown") == 0,
		.earlier = begun && strcmp(begun, "earlier") == 0,
		.letter = ev->offcpu.state,
		.fd = ev->offcpu.fd,
		.address = ev->offcpu.address,
		.owner_tid = ev->offcpu.owner_tid,
		.waker_tid = ev->offcpu.waker_tid,
		.waker_node = why_waits_waker_node(w, ev),
		.context = context,
		.throttled = reason && strcmp(reason, "throttled") == 0,
		.quota_ns = ev->offcpu.quota_ns,
		.period_ns = ev->offcpu.period_ns,
		.cgroup = cgroup,
		.syscall = syscall,
		/* (after a cut of the archive, the wakeup can be later than the end) */
		.woken_ns = ev->offcpu.woken_ns <= ev->offcpu.end_ns ? ev->offcpu.woken_ns : 0,
	};
	if (table_set(&w->index, why_waits_key(ev->tid, ev->ts_ns), (void *)number) < 0 ||
	    table_set(&w->pending, ev->tid, (void *)number) < 0)
		return -ENOMEM;
	w->n++;
	return why_waits_note_throttled(w, number);
}

/* The stack of a wait follows it. */
static int why_waits_on_stack(struct why_waits *w, const struct event *ev)
{
	uintptr_t number = (uintptr_t)(ev->tid ? table_remove(&w->pending, ev->tid) : NULL);
	int r;

	if (number == 0)
		return 0;
	r = profile_keep_stack(w->profile, ev, &w->list[number - 1].node);
	return r < 0 ? r : 0;
}

int why_waits_add(struct why_waits *w, const struct event *ev)
{
	if (ev->kind == EVENT_OFFCPU)
		return why_waits_on_offcpu(w, ev);
	if (ev->kind == EVENT_SAMPLE && ev->sample.kind == SAMPLE_OFF_CPU)
		return why_waits_on_stack(w, ev);
	if (ev->kind == EVENT_SAMPLE && ev->sample.kind == SAMPLE_NAMED)
		return why_waits_on_named(w, ev);
	return 0;
}

int why_waits_forget(struct why_waits *w, uint64_t before_ns)
{
	size_t n = 0;

	table_clear(&w->index);
	table_clear(&w->throttled);
	for (size_t i = 0; i < w->n; i++) {
		const struct why_wait *wait = &w->list[i];
		bool pending = (uintptr_t)table_get(&w->pending, wait->tid) == i + 1;

		if (wait->to_ns <= before_ns) {
			if (pending)
				table_remove(&w->pending, wait->tid);
			continue;
		}
		w->list[n++] = *wait;
		wait = &w->list[n - 1];
		if (why_waits_note_throttled(w, n) < 0 ||
		    (pending && table_set(&w->pending, wait->tid, (void *)n) < 0) ||
		    table_set(&w->index, why_waits_key(wait->tid, wait->from_ns), (void *)n) < 0)
			return -ENOMEM;
	}
	w->n = n;
	return 0;
}

struct why_wait *why_waits_find(const struct why_waits *w, uint32_t tid, uint64_t from_ns)
{
	uintptr_t number = (uintptr_t)table_get(&w->index, why_waits_key(tid, from_ns));
	struct why_wait *wait = number ? &w->list[number - 1] : NULL;

	return wait && wait->tid == tid && wait->from_ns == from_ns ? wait : NULL;
}

/* ---- causes ---- */

/* The functions of a stack, innermost first. */
struct why_functions {
	const char *kernel[WHY_FUNCTIONS_MAX], *user[WHY_FUNCTIONS_MAX];
	size_t n_kernel, n_user;
	/* The file of the innermost function outside of the kernel, usually the C library. */
	const struct mapping *library;
	bool in_user, has_left; /* further functions are those of its callers */
};

static int why_waits_add_function(struct why_waits *w, const char *name, bool kernel,
				  struct why_functions *to)
{
	size_t *n = kernel ? &to->n_kernel : &to->n_user;
	const char **list = kernel ? to->kernel : to->user;

	w->kernel_frames |= kernel;
	w->kernel_names |= kernel && *name;
	if (*n == WHY_FUNCTIONS_MAX)
		return 0;
	list[*n] = *name ? text_set_keep(&w->texts, name) : NULL;
	if (*name && !list[*n])
		return -ENOMEM;
	(*n)++;
	return 0;
}

static bool why_waits_is_same_file(const struct mapping *a, const struct mapping *b)
{
	return a == b || (a && b && strcmp(a->path, b->path) == 0);
}

/* Notes the file of a function, MAPPING. True if this or an inner function is outside of the
 * library in which the thread waits. */
static bool why_waits_leaves(struct why_functions *to, const struct mapping *mapping)
{
	if (!to->in_user)
		to->library = mapping;
	to->in_user = true;
	to->has_left |= !why_waits_is_same_file(to->library, mapping);
	return to->has_left;
}

/* Adds the names of the functions at PLACE, inlined ones first. */
static int why_waits_name(struct why_waits *w, const struct profile_place *place,
			  struct why_functions *to)
{
	bool kernel = maps_is_kernel(place->address);
	const struct frame *frames = NULL;
	int r = 0, n;

	/* Skip callers of the library: a program can have its own functions wait() or connect(). */
	if (!kernel && why_waits_leaves(to, place->mapping))
		return 0;
	n = profile_names_find(w->profile, w->names, place, &frames);
	if (n <= 0)
		return n < 0 ? n : why_waits_add_function(w, "", kernel, to);
	for (int i = 0; i < n && r == 0; i++)
		r = why_waits_add_function(w, frames[i].function, kernel, to);
	return r;
}

static int why_waits_find_functions(struct why_waits *w, uint32_t node, struct why_functions *to)
{
	const struct profile *p = w->profile;
	int r = 0;

	for (; node != 0 && r == 0; node = p->nodes[node].parent)
		r = why_waits_name(w, &p->places[p->nodes[node].place], to);
	return r;
}

static int why_waits_classify(struct why_waits *w, uint32_t node, const struct wait_facts *state,
			      struct wait_verdict *ret)
{
	/* (equal names of system calls are one text, so its address is enough) */
	const uint64_t parts[] = { node, (uint8_t)state->letter, state->is_kernel_thread,
				   (uintptr_t)state->syscall, state->has_owner };
	uint64_t key = table_hash(parts, sizeof(parts));
	struct why_stack *known = table_get(&w->judged, key);
	struct why_functions functions = { 0 };
	struct wait_facts facts = *state;

	if (!known) {
		if (why_waits_find_functions(w, node, &functions) < 0)
			return -ENOMEM;
		known = table_make(&w->judged, key, sizeof(*known));
		if (!known)
			return -ENOMEM;
		facts.kernel = functions.kernel;
		facts.n_kernel = functions.n_kernel;
		facts.user = functions.user;
		facts.n_user = functions.n_user;
		known->verdict = wait_cause_of(&facts);
	}
	*ret = known->verdict;
	return 0;
}

/* If a thread of this machine ended the wait for a socket, its other end is on this machine. */
static void why_waits_refine(const struct why_waits *w, const struct thread_segment *segment,
			     struct wait_verdict *v)
{
	if (v->cause == WAIT_SOCKET && segment->woken &&
	    why_thread_role(w->summary, segment->waker_tid) == WHY_ROLE_TASK)
		v->cause = WAIT_LOCAL;
}

/* A wait in a reclaim is a wait for memory, whatever the reclaim itself waited for. */
static void why_waits_refine_reclaim(const struct why_waits *w,
				     const struct thread_segment *segment, struct wait_verdict *v)
{
	const struct why_reclaim *reclaim =
		w->reclaims ? why_reclaims_find(w->reclaims, segment->tid, segment->from_ns) : NULL;

	if (!reclaim || v->cause == WAIT_MEMORY || v->evidence == WAIT_BY_FACT)
		return;
	v->second = v->cause;
	v->cause = WAIT_MEMORY;
	v->evidence = WAIT_BY_FACT;
	v->function = reclaim->what;
}

int why_waits_judge(struct why_waits *w, const struct thread_segment *segment,
		    bool is_kernel_thread, struct wait_verdict *ret)
{
	struct why_wait *wait = why_waits_find(w, segment->tid, segment->from_ns);
	const struct wait_facts state = {
		.letter = segment->letter
				  ?: wait ? wait->letter
					  : 0,
		.is_kernel_thread = is_kernel_thread,
		.syscall = wait ? wait->syscall : NULL,
		.has_owner = wait && wait->owner_tid != 0,
	};
	int r;

	if (wait && wait->judged) {
		*ret = wait->verdict;
		return 0;
	}
	r = why_waits_classify(w, wait ? wait->node : 0, &state, ret);
	if (r < 0)
		return r;
	why_waits_refine(w, segment, ret);
	why_waits_refine_reclaim(w, segment, ret);
	if (wait) {
		ret->estimated = wait->estimated;
		wait->verdict = *ret;
		wait->judged = true;
	}
	return 0;
}
