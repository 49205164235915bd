/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tables/table-stacks.h"

#include <errno.h>
#include <string.h>

#include "base/array.h"

/* The maximum number of addresses whose names are kept, as in profiles. */
enum { NAMES_MAX = 1 << 20 };

/* Longer build ids are cut. */
enum { BUILD_ID_MAX = 64 };

struct table_frame {
	uint32_t owner; /* koid of the process whose mappings have the address */
	bool returns;   /* a return address */
	uint64_t address;
	const struct mapping *mapping;  /* NULL = unknown */
	const struct frame_list *names; /* NULL = unknown, or not known yet */
};

/* A time off CPU that waits for its stack. */
struct table_wait {
	bool open;
	uint32_t tid, pid, waker_tid;
	uint64_t begin_ns, end_ns;
	char state;
	const char *end;
	bool earlier;
};

int table_stacks_init(struct table_stacks *s, struct table_set *set)
{
	s->set = set;
	return maps_new(&s->maps, MAPS_OF_ALL_TIMES) ?: frames_new(&s->names, NAMES_MAX);
}

void table_stacks_deinit(struct table_stacks *s)
{
	frames_freep(&s->names);
	maps_freep(&s->maps);
	table_deinit_free(&s->waits);
	table_deinit(&s->stacks);
	table_deinit(&s->named);
	table_deinit(&s->numbers);
	free(s->frames);
}

/* ---- frames and stacks ---- */

static const struct frame_list *table_stacks_names(const struct table_stacks *s,
						   const struct table_frame *f)
{
	return frames_find(s->names, f->owner, frames_code(f->address, f->returns));
}

/* Sets *RET to the number of frame I of EV. */
static int table_stacks_frame(struct table_stacks *s, const struct event *ev, unsigned i,
			      uint64_t *ret)
{
	uint64_t address = ev->sample.frames[i];
	struct table_frame f = {
		.owner = maps_owner(s->maps, ev->pid, address),
		.returns = maps_sample_returns(ev, i),
		.address = address,
	};
	uint64_t key[3], hash;

	f.mapping = maps_find(s->maps, f.owner, address, ev->ts_ns);
	key[0] = address;
	key[1] = (uint64_t)f.owner << 1 | f.returns;
	key[2] = f.mapping ? f.mapping->number : 0;
	hash = table_hash_seeded(0, key, sizeof(key));
	*ret = (uintptr_t)table_get(&s->numbers, hash);
	if (*ret)
		return 0;
	f.names = table_stacks_names(s, &f);
	if (GROW(s->frames, s->room_frames, s->n_frames + 1) < 0)
		return -ENOMEM;
	s->frames[s->n_frames++] = f;
	*ret = s->n_frames;
	return table_set(&s->numbers, hash, (void *)(uintptr_t)*ret);
}

static int table_stacks_put_stack(struct table_stacks *s, const uint64_t *frames, unsigned n)
{
	const enum table_number t = TABLE_STACKS;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < n; i++) {
		table_put(s->set, t, STACK_STACK, s->n_stacks);
		table_put(s->set, t, STACK_POSITION, i);
		table_put(s->set, t, STACK_FRAME, frames[i]);
		r = table_end_row(s->set, t);
	}
	return r;
}

int table_stacks_number(struct table_stacks *s, const struct event *ev, uint64_t *ret)
{
	_cleanup_free_ uint64_t *frames = calloc(ev->sample.n_frames + 1, sizeof(*frames));
	uint64_t hash;
	int r = frames ? 0 : -ENOMEM;

	for (unsigned i = 0; r == 0 && i < ev->sample.n_frames; i++)
		r = table_stacks_frame(s, ev, i, &frames[i]);
	if (r < 0)
		return r;
	hash = table_hash_seeded(0, frames, ev->sample.n_frames * sizeof(*frames));
	*ret = (uintptr_t)table_get(&s->stacks, hash);
	if (*ret)
		return 0;
	*ret = ++s->n_stacks;
	return table_set(&s->stacks, hash, (void *)(uintptr_t)*ret)
		       ?: table_stacks_put_stack(s, frames, ev->sample.n_frames);
}

static uint64_t table_stacks_name(uint32_t pid, uint64_t id)
{
	const uint64_t key[] = { pid, id };

	return table_hash_seeded(0, key, sizeof(key));
}

uint64_t table_stacks_named(const struct table_stacks *s, uint32_t pid, uint64_t id)
{
	return id ? (uintptr_t)table_get(&s->named, table_stacks_name(pid, id)) : 0;
}

/* ---- times off CPU ---- */

/* Writes W with stack number STACK; 0 = none. */
static int table_stacks_put_wait(struct table_stacks *s, struct table_wait *w, uint64_t stack)
{
	const enum table_number t = TABLE_WAITS;
	char state[2] = { w->state };

	w->open = false;
	table_put_time(s->set, t, WAIT_TIME, w->begin_ns);
	table_put(s->set, t, WAIT_DURATION, w->end_ns > w->begin_ns ? w->end_ns - w->begin_ns : 0);
	table_put_text(s->set, t, WAIT_STATE, state);
	table_put_text(s->set, t, WAIT_END, w->end);
	table_put(s->set, t, WAIT_EARLIER, w->earlier);
	if (w->waker_tid)
		table_put(s->set, t, WAIT_WAKER, w->waker_tid);
	if (stack)
		table_put(s->set, t, WAIT_STACK, stack);
	return table_put_thread(s->set, t, WAIT_THREAD, w->tid, w->pid) ?: table_end_row(s->set, t);
}

static int table_stacks_begin_wait(struct table_stacks *s, const struct event *ev)
{
	struct table_wait *w = table_make(&s->waits, (uint64_t)ev->tid + 1, sizeof(*w));
	const char *end = ev->offcpu.left_by;
	int r;

	if (!w)
		return -ENOMEM;
	r = w->open ? table_stacks_put_wait(s, w, 0) : 0;
	*w = (struct table_wait){
		.open = true,
		.tid = ev->tid,
		.pid = ev->pid,
		.waker_tid = ev->offcpu.waker_tid,
		.begin_ns = ev->ts_ns,
		.end_ns = ev->offcpu.end_ns,
		.state = ev->offcpu.state,
		.end = !end                       ? NULL
		       : strcmp(end, "open") == 0 ? "open"
						  : "unknown",
		.earlier = ev->offcpu.begun != NULL,
	};
	return r;
}

static int table_stacks_add_sample(struct table_stacks *s, const struct event *ev)
{
	const enum table_number t = TABLE_SAMPLES;
	struct table_wait *w;
	uint64_t stack;
	int r;

	r = table_stacks_number(s, ev, &stack);
	if (r < 0)
		return r;
	if (ev->sample.kind == SAMPLE_NAMED)
		return table_set(&s->named, table_stacks_name(ev->pid, ev->sample.id),
				 (void *)(uintptr_t)stack);
	if (ev->sample.kind == SAMPLE_OFF_CPU) {
		w = table_get(&s->waits, (uint64_t)ev->tid + 1);
		return w && w->open && w->begin_ns == ev->ts_ns ? table_stacks_put_wait(s, w, stack)
								: 0;
	}
	table_put_time(s->set, t, SAMPLE_TIME, ev->ts_ns);
	table_put(s->set, t, SAMPLE_STACK, stack);
	return table_put_thread(s->set, t, SAMPLE_THREAD, ev->tid, ev->pid)
		       ?: table_end_row(s->set, t);
}

int table_stacks_add(struct table_stacks *s, const struct event *ev)
{
	int r = maps_add(s->maps, ev);

	if (r < 0)
		return r;
	switch (ev->kind) {
	case EVENT_FRAME:
		return frames_add(s->names, ev);
	case EVENT_OFFCPU:
		return table_stacks_begin_wait(s, ev);
	case EVENT_SAMPLE:
		return table_stacks_add_sample(s, ev);
	default:
		return 0;
	}
}

/* ---- the end ---- */

static void table_stacks_put_module(struct table_stacks *s, const struct table_frame *f)
{
	const enum table_number t = TABLE_FRAMES;
	const struct mapping *m = f->mapping;
	static const char digits[] = "0123456789abcdef";
	char id[2 * BUILD_ID_MAX + 1] = "";

	if (!m)
		return;
	/* (printf() would take a tenth of the time of the export) */
	for (uint32_t i = 0; i < m->build_id_size && i < BUILD_ID_MAX; i++) {
		id[2 * i] = digits[m->build_id[i] >> 4];
		id[2 * i + 1] = digits[m->build_id[i] & 0xf];
	}
	table_put_text(s->set, t, FRAME_BUILD_ID, id);
	table_put(s->set, t, FRAME_OFFSET,
		  frames_code(f->address, f->returns) - m->start + m->file_offset);
	table_put(s->set, t, FRAME_MAPPING, m->start);
	table_put(s->set, t, FRAME_MAPPING_SIZE, m->size);
	table_put(s->set, t, FRAME_MAPPING_OFFSET, m->file_offset);
}

/* Writes the row of one function at the address of frame NUMBER; NAME NULL = unknown. */
static int table_stacks_put_frame(struct table_stacks *s, size_t number, const struct frame *name)
{
	const struct table_frame *f = &s->frames[number - 1];
	const enum table_number t = TABLE_FRAMES;
	const char *module = f->mapping ? f->mapping->path : NULL;

	table_put(s->set, t, FRAME_FRAME, number);
	table_put(s->set, t, FRAME_DEPTH, name ? name->depth : 0);
	table_put(s->set, t, FRAME_ADDRESS, f->address);
	table_put(s->set, t, FRAME_KERNEL, maps_is_kernel(f->address));
	table_put(s->set, t, FRAME_PROCESS, f->owner);
	table_stacks_put_module(s, f);
	if (name) {
		table_put_text(s->set, t, FRAME_FUNCTION, name->function);
		table_put_text(s->set, t, FRAME_SOURCE, name->source);
		if (name->line)
			table_put(s->set, t, FRAME_LINE, name->line);
	}
	table_put_text(s->set, t, FRAME_MODULE,
		       module && *module ? module
		       : name            ? name->module
					 : NULL);
	return table_end_row(s->set, t);
}

static int table_stacks_put_frames(struct table_stacks *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < s->n_frames; i++) {
		struct table_frame *f = &s->frames[i];

		f->names = f->names ?: table_stacks_names(s, f);
		if (!f->names || f->names->n == 0)
			r = table_stacks_put_frame(s, i + 1, NULL);
		for (size_t k = 0; r == 0 && f->names && k < f->names->n; k++)
			r = table_stacks_put_frame(s, i + 1, &f->names->list[k]);
	}
	return r;
}

DEFINE_ORDER_OF_POINTERS(compare_table_waits, struct table_wait,
			 COMPARE(x->begin_ns, y->begin_ns) ?: COMPARE(x->tid, y->tid))

int table_stacks_finish(struct table_stacks *s)
{
	_cleanup_free_ struct table_wait **waits = NULL;
	size_t n = 0;
	int r = 0;

	waits = (struct table_wait **)table_sorted(&s->waits, compare_table_waits, &n);
	if (!waits)
		return -ENOMEM;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = waits[i]->open ? table_stacks_put_wait(s, waits[i], 0) : 0;
	return r ?: table_stacks_put_frames(s);
}
