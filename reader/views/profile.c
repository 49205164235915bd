/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/profile.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "reader/views/programs.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-wire.h"

enum {
	NAMES_MAX = 1 << 20,
	NOBODY = UINT32_MAX, /* an invalid index */
};

/* A thread: its CPU, and its last time off CPU, whose stack is still to come. */
struct runner {
	uint32_t pid, tid;
	bool seen, runs;
	/* The CPU on which the thread runs or ran last, and the CPU before that one. */
	uint32_t cpu, cpu_before;
	uint64_t since_ns; /* the thread came to `cpu` at this time */
	/*
	 * If the thread runs: when it left cpu_before. Otherwise: when it left `cpu`.
	 */
	uint64_t left_ns;
	bool open;       /* a time off CPU waits for its stack: begin_ns to end_ns */
	bool unfinished; /* the time off CPU has not ended */
	bool estimated;  /* the end of the time off CPU is an estimate */
	bool earlier;    /* the time off CPU began before the recording */
	bool preempted;  /* the thread did not wait */
	bool interrupt;  /* an interrupt has woken it */
	uint32_t waker_tid;
	uint64_t waker_stack; /* id */
	uint64_t begin_ns, end_ns;
};

struct profile_state {
	struct profile_options options;
	struct maps *maps;
	struct programs programs;
	struct table node_numbers;  /* (parent << 32 | place) + 1 -> number + 1 */
	struct table place_numbers; /* hash -> number + 1, a chain */
	struct table stack_numbers; /* hash -> number + 1, a chain */
	struct table runners;       /* tid + 1 -> struct runner, owned */
	/* With off_wake: tid + 1 -> pid + 1 of its process; hash of process and stack id -> node of
	 * the stack */
	struct table processes, named;
	size_t room_places, room_nodes, room_stacks;
	bool begun; /* from_ns and to_ns are converted to times of the archive */
};

struct profile *profile_free(struct profile *p)
{
	if (!p)
		return NULL;
	if (p->state) {
		table_deinit_free(&p->state->runners);
		table_deinit(&p->state->node_numbers);
		table_deinit(&p->state->place_numbers);
		table_deinit(&p->state->stack_numbers);
		table_deinit(&p->state->processes);
		table_deinit(&p->state->named);
		maps_free(p->state->maps);
		programs_deinit(&p->state->programs);
	}
	free(p->state);
	while (p->processes) {
		struct frame_list *next = p->processes->next;

		free(p->processes);
		p->processes = next;
	}
	frames_free(p->frames);
	free(p->places);
	free(p->nodes);
	free(p->stacks);
	return free_ptr(p);
}

int profile_new(struct profile **ret, const struct profile_options *options)
{
	_cleanup_(profile_freep) struct profile *p = calloc(1, sizeof(*p));
	int r;

	if (!p)
		return -ENOMEM;
	p->state = calloc(1, sizeof(*p->state));
	if (!p->state)
		return -ENOMEM;
	p->state->options = *options;
	r = maps_new(&p->state->maps, MAPS_OF_ALL_TIMES) ?: frames_new(&p->frames, NAMES_MAX)
		    ?: GROW(p->nodes, p->state->room_nodes, 1);
	if (r < 0)
		return r;
	p->nodes[p->n_nodes++] = (struct profile_node){ 0, NOBODY };
	*ret = TAKE_PTR(p);
	return 0;
}

/* ---- stacks ---- */

static uint32_t profile_number_of(const struct table *t, uint64_t key)
{
	return (uint32_t)(uintptr_t)table_get(t, key) - 1;
}

static int profile_set_number(struct table *t, uint64_t key, size_t number)
{
	return table_set(t, key, (void *)(uintptr_t)(number + 1));
}

/*
 * Returns what identifies the code of PLACE: a library that is loaded again at the same addresses
 * has another mapping, but the same code.
 */
static uint64_t profile_code_of(const struct profile_place *place)
{
	return place->mapping ? place->mapping->code : 0;
}

/* Finds or adds PLACE. *RET is its number; NOBODY = there is no room. Returns 0 or -ENOMEM. */
static int profile_find_place(struct profile *p, struct profile_place place, uint32_t *ret)
{
	struct profile_state *s = p->state;
	const uint64_t key[] = { (uint64_t)place.owner << 3 | place.is_made_up << 2 |
					 place.is_woken_by << 1 | place.returns,
				 place.address, profile_code_of(&place) };
	uint64_t hash = table_hash(key, sizeof(key));
	uint32_t first = profile_number_of(&s->place_numbers, hash);

	for (uint32_t i = first; i != NOBODY; i = p->places[i].next) {
		const struct profile_place *known = &p->places[i];

		if (known->owner == place.owner && known->returns == place.returns &&
		    known->is_woken_by == place.is_woken_by &&
		    known->is_made_up == place.is_made_up && known->address == place.address &&
		    profile_code_of(known) == profile_code_of(&place)) {
			*ret = i;
			return 0;
		}
	}
	*ret = NOBODY;
	if (p->n_places >= PROFILE_PLACES_MAX)
		return 0;
	place.next = first;
	if (!place.frames && !place.is_made_up)
		place.frames = frames_find(p->frames, place.owner,
					   frames_code(place.address, place.returns));
	if (GROW(p->places, s->room_places, p->n_places + 1) < 0 ||
	    profile_set_number(&s->place_numbers, hash, p->n_places) < 0)
		return -ENOMEM;
	*ret = (uint32_t)p->n_places;
	p->places[p->n_places++] = place;
	return 0;
}

/* Replaces *NODE by its child for PLACE. Returns 0, 1 if there is no room (*NODE is unchanged), or
 * -ENOMEM. */
static int profile_descend(struct profile *p, uint32_t *node, uint32_t place)
{
	struct profile_state *s = p->state;
	uint64_t key = ((uint64_t)*node << 32 | place) + 1;
	uint32_t known = profile_number_of(&s->node_numbers, key);

	if (known != NOBODY) {
		*node = known;
		return 0;
	}
	if (p->n_nodes >= PROFILE_NODES_MAX)
		return 1;
	if (GROW(p->nodes, s->room_nodes, p->n_nodes + 1) < 0 ||
	    profile_set_number(&s->node_numbers, key, p->n_nodes) < 0)
		return -ENOMEM;
	p->nodes[p->n_nodes] = (struct profile_node){ *node, place };
	*node = (uint32_t)p->n_nodes++;
	return 0;
}

/* Replaces *NODE, the root, by a node that stands for the outer calls that a cut stack lacks. */
static int profile_descend_cut(struct profile *p, uint32_t *node)
{
	static struct frame cut = { FRAMES_CUT_NAME, "", "", 0, 0 };
	static const struct frame_list names = { .n = 1, .list = &cut };
	uint32_t number;
	int r = profile_find_place(p, (struct profile_place){ .owner = NOBODY, .frames = &names },
				   &number);

	return r < 0 || number == NOBODY ? r : profile_descend(p, node, number);
}

/* Finds the node of EV's stack. Returns 0, 1 if only a part of the stack could be kept, or
 * -ENOMEM. */
static int profile_find_node(struct profile *p, const struct event *ev, uint32_t *ret)
{
	unsigned n = ev->sample.n_frames;
	uint32_t node = 0, number;
	int r = 0;

	if (p->state->options.innermost && n > 1)
		n = 1;
	else if (maps_sample_is_cut(ev))
		r = profile_descend_cut(p, &node);
	for (unsigned i = n; r == 0 && i-- > 0;) {
		uint64_t address = ev->sample.frames[i];
		struct profile_place place = {
			.owner = maps_owner(p->state->maps, ev->pid, address),
			.returns = maps_sample_returns(ev, i),
			.address = address,
		};

		place.mapping = maps_find(p->state->maps, place.owner, address, ev->ts_ns);
		r = profile_find_place(p, place, &number);
		if (r == 0)
			r = number == NOBODY ? 1 : profile_descend(p, &node, number);
	}
	*ret = node;
	return r;
}

int profile_keep_stack(struct profile *p, const struct event *ev, uint32_t *ret)
{
	int r = profile_find_node(p, ev, ret);

	p->n_cut += r > 0;
	return r;
}

static int profile_count_stack(struct profile *p, const struct profile_stack *stack)
{
	struct profile_state *s = p->state;
	const uint32_t key[] = { stack->pid, stack->tid, stack->program, stack->node,
				 stack->off_cpu };
	uint64_t hash = table_hash(key, sizeof(key));
	uint32_t first = profile_number_of(&s->stack_numbers, hash);

	for (uint32_t i = first; i != NOBODY; i = p->stacks[i].next) {
		struct profile_stack *known = &p->stacks[i];

		if (known->pid == stack->pid && known->tid == stack->tid &&
		    known->program == stack->program && known->node == stack->node &&
		    known->off_cpu == stack->off_cpu) {
			known->count += stack->count;
			known->ns += stack->ns;
			return 0;
		}
	}
	/* (the root is always accepted, since the number of threads limits the number of root
	 * stacks) */
	if (p->n_stacks >= PROFILE_STACKS_MAX && stack->node != 0) {
		struct profile_stack root = *stack;

		p->n_cut++;
		root.node = 0;
		return profile_count_stack(p, &root);
	}
	if (GROW(p->stacks, s->room_stacks, p->n_stacks + 1) < 0 ||
	    profile_set_number(&s->stack_numbers, hash, p->n_stacks) < 0)
		return -ENOMEM;
	p->stacks[p->n_stacks] = *stack;
	p->stacks[p->n_stacks++].next = first;
	return 0;
}

/* ---- wakers ---- */

/* The marks in a joined stack, which stand between or behind its functions. */
enum profile_mark {
	PROFILE_WOKEN_BY,
	PROFILE_INTERRUPT,
	PROFILE_OPEN,
	PROFILE_PREEMPTED,
	PROFILE_NO_WAKER,
	PROFILE_MARKS,
};

/* Replaces *NODE by its child for PLACE. Returns like profile_descend(). */
static int profile_descend_place(struct profile *p, uint32_t *node, struct profile_place place)
{
	uint32_t number;
	int r = profile_find_place(p, place, &number);

	if (r < 0)
		return r;
	return number == NOBODY ? 1 : profile_descend(p, node, number);
}

static int profile_descend_mark(struct profile *p, uint32_t *node, enum profile_mark mark)
{
	static struct frame frames[PROFILE_MARKS] = {
		[PROFILE_WOKEN_BY] = { "[woken by]", "", "", 0, 0 },
		[PROFILE_INTERRUPT] = { "[interrupt]", "", "", 0, 0 },
		[PROFILE_OPEN] = { "[open]", "", "", 0, 0 },
		[PROFILE_PREEMPTED] = { "[preempted]", "", "", 0, 0 },
		[PROFILE_NO_WAKER] = { "[unknown]", "", "", 0, 0 },
	};
	static const struct frame_list lists[PROFILE_MARKS] = {
		[PROFILE_WOKEN_BY] = { .n = 1, .list = &frames[PROFILE_WOKEN_BY] },
		[PROFILE_INTERRUPT] = { .n = 1, .list = &frames[PROFILE_INTERRUPT] },
		[PROFILE_OPEN] = { .n = 1, .list = &frames[PROFILE_OPEN] },
		[PROFILE_PREEMPTED] = { .n = 1, .list = &frames[PROFILE_PREEMPTED] },
		[PROFILE_NO_WAKER] = { .n = 1, .list = &frames[PROFILE_NO_WAKER] },
	};

	return profile_descend_place(p, node,
				     (struct profile_place){ .owner = NOBODY,
							     .is_made_up = true,
							     .address = mark,
							     .frames = &lists[mark] });
}

static uint64_t profile_named_key(uint32_t pid, uint64_t id)
{
	const uint64_t key[] = { pid, id };

	return table_hash(key, sizeof(key));
}

/* Keeps the stack of EV, a SAMPLE_NAMED: a waker can refer to it. Returns 0 or -ENOMEM. */
static int profile_add_named(struct profile *p, const struct event *ev)
{
	struct table *named = &p->state->named;
	uint64_t key = profile_named_key(ev->pid, ev->sample.id);
	uint32_t node;
	int r;

	if (!p->state->options.off_wake || named->n_used >= PROFILE_STACKS_MAX)
		return 0;
	r = profile_keep_stack(p, ev, &node);
	return r < 0 ? r : table_set(named, key, (void *)(uintptr_t)node) < 0 ? -ENOMEM : 0;
}

/* Replaces *NODE by the node of a longer stack: the mark, the stack of RUNNER's waker from its
 * innermost call outwards, and the waker's process. */
static int profile_join_waker(struct profile *p, const struct runner *runner, uint32_t *node)
{
	struct profile_state *s = p->state;
	uint64_t pid = (uintptr_t)table_get(&s->processes, (uint64_t)runner->waker_tid + 1);
	uint32_t at, owner = runner->interrupt ? maps_owner(s->maps, runner->pid, UINT64_MAX)
					       : (uint32_t)pid - 1;
	int r = profile_descend_mark(p, node, PROFILE_WOKEN_BY);

	at = (uint32_t)(uintptr_t)table_get(&s->named,
					    profile_named_key(owner, runner->waker_stack));
	p->n_woken += at != 0;
	for (; r == 0 && at != 0; at = p->nodes[at].parent) {
		struct profile_place place = p->places[p->nodes[at].place];

		place.is_woken_by = true;
		r = profile_descend_place(p, node, place);
	}
	if (r != 0 || runner->interrupt)
		return r ?: profile_descend_mark(p, node, PROFILE_INTERRUPT);
	return profile_descend_place(
		p, node,
		(struct profile_place){ .owner = owner,
					.is_made_up = true,
					.address = profile_program(p, owner, runner->begin_ns) });
}

/* Replaces *NODE, the stack of RUNNER's time off CPU, by the node of the joined stack. */
static int profile_join(struct profile *p, const struct runner *runner, uint32_t *node)
{
	if (runner->unfinished)
		return profile_descend_mark(p, node, PROFILE_OPEN);
	if (runner->preempted)
		return profile_descend_mark(p, node, PROFILE_PREEMPTED);
	if (!runner->interrupt &&
	    (runner->waker_tid == 0 ||
	     !table_get(&p->state->processes, (uint64_t)runner->waker_tid + 1)))
		return profile_descend_mark(p, node, PROFILE_NO_WAKER);
	return profile_join_waker(p, runner, node);
}

/* ---- threads on CPUs ---- */

static struct runner *profile_get_runner(struct profile *p, uint32_t tid)
{
	struct runner *r = table_make(&p->state->runners, (uint64_t)tid + 1, sizeof(*r));

	if (r)
		r->tid = tid;
	return r;
}

/* Updates the CPUs of both threads of a switch. All idle threads share one koid, so the idle thread
 * has no CPU. */
static int profile_add_switch(struct profile *p, const struct event *ev)
{
	struct runner *out = NULL, *in = NULL;

	if (p->state->options.n_cpus == 0)
		return 0;
	if (ev->tid != 0) {
		out = profile_get_runner(p, ev->tid);
		if (!out)
			return -ENOMEM;
		if (!out->seen || out->cpu == ev->cpu) {
			out->cpu = ev->cpu;
			out->runs = false;
			out->seen = true;
			out->left_ns = ev->ts_ns;
		}
	}
	if (ev->sw.next_tid != 0) {
		in = profile_get_runner(p, ev->sw.next_tid);
		if (!in)
			return -ENOMEM;
		in->cpu_before = in->seen ? in->cpu : ev->cpu;
		in->cpu = ev->cpu;
		in->seen = in->runs = true;
		in->since_ns = ev->ts_ns;
	}
	return 0;
}

static bool profile_cpu_is_wanted(const struct profile_options *o, uint32_t cpu)
{
	return cpu < o->n_cpus && o->cpus[cpu];
}

/* Returns true if thread TID was on a selected CPU at TS_NS, which must not be before its last two
 * CPUs. */
static bool profile_was_on_cpu(struct profile *p, uint32_t tid, uint64_t ts_ns)
{
	const struct profile_options *o = &p->state->options;
	const struct runner *r;

	if (o->n_cpus == 0)
		return true;
	r = table_get(&p->state->runners, (uint64_t)tid + 1);
	if (!r || !r->seen)
		return false;
	return profile_cpu_is_wanted(o, r->runs && ts_ns < r->since_ns ? r->cpu_before : r->cpu);
}

/* ---- samples ---- */

static bool profile_is_in(const uint32_t *list, size_t n, uint32_t id)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == id)
			return true;
	return n == 0;
}

static bool profile_is_wanted(struct profile *p, uint32_t pid, uint32_t tid, uint64_t ts_ns)
{
	const struct profile_options *o = &p->state->options;

	return profile_is_in(o->pids, o->n_pids, pid) && profile_is_in(o->tids, o->n_tids, tid) &&
	       profile_was_on_cpu(p, tid, ts_ns);
}

/* Adds times without overflow. */
static uint64_t profile_saturating_add(uint64_t a, uint64_t b)
{
	return b > UINT64_MAX - a ? UINT64_MAX : a + b;
}

static void profile_begin_window(struct profile *p, uint64_t ts_ns)
{
	struct profile_options *o = &p->state->options;

	p->state->begun = true;
	if (o->absolute)
		return;
	o->from_ns = o->from_ns == 0 ? 0 : profile_saturating_add(ts_ns, o->from_ns);
	o->to_ns = profile_saturating_add(ts_ns, o->to_ns);
}

/* Returns true if TS_NS is after the window. to_ns UINT64_MAX = the window has no end. */
static bool profile_is_after_window(const struct profile_options *o, uint64_t ts_ns)
{
	return ts_ns >= o->to_ns && o->to_ns != UINT64_MAX;
}

static int profile_add_on_cpu(struct profile *p, const struct event *ev)
{
	const struct profile_options *o = &p->state->options;
	struct profile_stack stack = { .pid = ev->pid, .tid = ev->tid, .count = 1 };
	int r;

	p->n_samples_seen++;
	if (!o->on_cpu || ev->ts_ns < o->from_ns || profile_is_after_window(o, ev->ts_ns) ||
	    !profile_is_wanted(p, ev->pid, ev->tid, ev->ts_ns))
		return 0;
	r = profile_find_node(p, ev, &stack.node);
	if (r < 0)
		return r;
	p->n_cut += r > 0;
	p->n_full += maps_sample_is_cut(ev);
	p->n_samples++;
	stack.ns = p->frequency ? 1000000000 / p->frequency : 0;
	stack.program = profile_program(p, ev->pid, ev->ts_ns);
	return profile_count_stack(p, &stack);
}

/* Returns true if the stack in EV (NULL = no stack) lacks the frames outside of the kernel,
 * although RUNNER is no kernel thread. */
static bool profile_is_bare(const struct runner *runner, const struct event *ev)
{
	unsigned n = ev ? ev->sample.n_frames : 0;

	return !maps_is_kthreadd(runner->pid) &&
	       (n == 0 || maps_is_kernel(ev->sample.frames[n - 1]));
}

/* Counts the time off CPU of RUNNER, with the stack in EV (NULL = no stack). */
static int profile_close_off_cpu(struct profile *p, struct runner *runner, const struct event *ev)
{
	const struct profile_options *o = &p->state->options;
	uint64_t from = runner->begin_ns > o->from_ns ? runner->begin_ns : o->from_ns;
	uint64_t to = runner->end_ns < o->to_ns ? runner->end_ns : o->to_ns;
	struct profile_stack stack = {
		.pid = runner->pid, .tid = runner->tid, .off_cpu = true, .count = 1
	};
	int r;

	runner->open = false;
	if (to < from || (to == from && runner->begin_ns < from) ||
	    profile_is_after_window(o, runner->begin_ns) ||
	    !profile_is_wanted(p, runner->pid, runner->tid, runner->begin_ns))
		return 0;
	r = ev ? profile_find_node(p, ev, &stack.node) : 0;
	if (r == 0 && o->off_wake)
		r = profile_join(p, runner, &stack.node);
	if (r < 0)
		return r;
	p->n_cut += r > 0;
	p->n_full += ev && maps_sample_is_cut(ev);
	p->n_offcpu++;
	p->n_unfinished += runner->unfinished;
	p->n_estimated += runner->estimated;
	p->n_earlier += runner->earlier;
	p->n_earlier_bare += runner->earlier && profile_is_bare(runner, ev);
	stack.ns = to - from;
	stack.program = profile_program(p, runner->pid, runner->begin_ns);
	return profile_count_stack(p, &stack);
}

static int profile_add_off_cpu(struct profile *p, const struct event *ev)
{
	struct runner *runner;
	int r;

	p->n_offcpu_seen++;
	if (!p->state->options.off_cpu)
		return 0;
	runner = profile_get_runner(p, ev->tid);
	if (!runner)
		return -ENOMEM;
	r = runner->open ? profile_close_off_cpu(p, runner, NULL) : 0;
	runner->pid = ev->pid;
	runner->open = true;
	runner->begin_ns = ev->ts_ns;
	runner->end_ns = ev->offcpu.end_ns;
	runner->unfinished = ev->offcpu.left_by && strcmp(ev->offcpu.left_by, "open") == 0;
	runner->estimated = ev->offcpu.left_by && strcmp(ev->offcpu.left_by, "unknown") == 0;
	runner->earlier = ev->offcpu.begun != NULL;
	if (!p->state->options.off_wake)
		return r;
	runner->preempted = ev->offcpu.state == 'R';
	runner->interrupt = ev->offcpu.context != NULL;
	runner->waker_tid = ev->offcpu.waker_tid;
	runner->waker_stack = ev->offcpu.waker_stack;
	if (ev->offcpu.woken_ns && ev->offcpu.woken_ns < runner->end_ns)
		runner->end_ns = ev->offcpu.woken_ns;
	return r;
}

static int profile_add_sample(struct profile *p, const struct event *ev)
{
	struct runner *runner;

	if (ev->sample.kind == SAMPLE_ON_CPU)
		return profile_add_on_cpu(p, ev);
	if (ev->sample.kind == SAMPLE_NAMED)
		return profile_add_named(p, ev);
	if (ev->sample.kind != SAMPLE_OFF_CPU)
		return 0;
	runner = table_get(&p->state->runners, (uint64_t)ev->tid + 1);
	/* No such time off CPU is selected, or its stack was counted before. */
	if (!runner || !runner->open || runner->begin_ns != ev->ts_ns)
		return 0;
	return profile_close_off_cpu(p, runner, ev);
}

/* Notes the process of a thread, which can become a waker. */
static int profile_add_task(struct profile *p, const struct event *ev)
{
	if (!p->state->options.off_wake)
		return 0;
	return table_set(&p->state->processes, (uint64_t)ev->tid + 1,
			 (void *)(uintptr_t)((uint64_t)ev->pid + 1));
}

int profile_add(struct profile *p, const struct event *ev)
{
	int r;

	switch (ev->kind) {
	case EVENT_TASK:
		r = profile_add_task(p, ev);
		return r < 0 ? r : maps_add(p->state->maps, ev);
	case EVENT_MAPPING:
		return maps_add(p->state->maps, ev);
	case EVENT_FRAME:
		return frames_add(p->frames, ev);
	default:
		break;
	}
	if (!p->state->begun)
		profile_begin_window(p, ev->ts_ns);
	switch (ev->kind) {
	case EVENT_SAMPLING:
		p->frequency = ev->sampling.frequency;
		return 0;
	case EVENT_SWITCH:
		return profile_add_switch(p, ev);
	case EVENT_SAMPLE:
		return profile_add_sample(p, ev);
	case EVENT_OFFCPU:
		return profile_add_off_cpu(p, ev);
	default:
		r = programs_add(&p->state->programs, ev);
		return r < 0 ? r : maps_add(p->state->maps, ev);
	}
}

int profile_finish(struct profile *p)
{
	struct runner *runner;
	int r = 0;

	for (size_t pos = 0; r == 0 && (runner = table_next(&p->state->runners, &pos));)
		if (runner->open)
			r = profile_close_off_cpu(p, runner, NULL);
	return r;
}

void profile_begin_part(struct profile *p, uint64_t forget_ns)
{
	struct profile_state *s = p->state;

	table_deinit(&s->node_numbers);
	table_deinit(&s->place_numbers);
	table_deinit(&s->stack_numbers);
	table_deinit(&s->named);
	p->n_places = p->n_stacks = 0;
	p->n_nodes = 1; /* the root */
	p->n_earlier = p->n_earlier_bare = p->n_estimated = 0;
	p->n_samples = p->n_offcpu = p->n_unfinished = p->n_samples_seen = p->n_offcpu_seen =
		p->n_full = p->n_cut = p->n_woken = 0;
	maps_forget(s->maps, forget_ns);
	programs_deinit(&s->programs);
}

int profile_count(struct profile *p, const struct profile_stack *stack)
{
	return profile_count_stack(p, stack);
}

uint32_t profile_program(const struct profile *p, uint32_t pid, uint64_t ts_ns)
{
	return programs_at(&p->state->programs, pid, ts_ns);
}

const char *profile_program_name(const struct profile *p, const struct profile_stack *stack)
{
	return programs_name(&p->state->programs, stack->pid, stack->program);
}

uint64_t profile_n_unmapped(const struct profile *p)
{
	return maps_n_dropped(p->state->maps);
}

/* Returns NODE, or its nearest caller that is kept if LEAVES leaves NODE's place out. */
static uint32_t profile_kept_node(const struct profile *p, uint32_t node,
				  bool (*leaves)(void *userdata, const struct profile_place *place),
				  void *userdata)
{
	const struct profile_node *n = &p->nodes[node];

	/* (the callers were handled before) */
	return node != 0 && leaves(userdata, &p->places[n->place]) ? n->parent : node;
}

void profile_leave_out(struct profile *p,
		       bool (*leaves)(void *userdata, const struct profile_place *place),
		       void *userdata)
{
	for (size_t i = 1; i < p->n_nodes; i++)
		p->nodes[i].parent = profile_kept_node(p, p->nodes[i].parent, leaves, userdata);
	for (size_t i = 0; i < p->n_stacks; i++)
		p->stacks[i].node = profile_kept_node(p, p->stacks[i].node, leaves, userdata);
	table_deinit(&p->state->node_numbers);
	table_deinit(&p->state->stack_numbers);
}

void profile_filter(struct profile *p,
		    bool (*keep)(void *userdata, const struct profile_stack *stack), void *userdata)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *stack = &p->stacks[i];

		if (keep(userdata, stack))
			p->stacks[n++] = *stack;
		else
			*(stack->off_cpu ? &p->n_offcpu : &p->n_samples) -= stack->count;
	}
	p->n_stacks = n;
	table_deinit(&p->state->stack_numbers);
}
