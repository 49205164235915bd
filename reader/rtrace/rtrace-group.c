/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/rtrace/rtrace-group.h"

#include <errno.h>

#include "base/array.h"
#include "reader/rtrace/rtrace-parse.h"

/* Backtraces are compared by their first frames, up to this number, and by a hash of all frames. */
enum { FRAMES_MAX = 1024 };

/* The numbers of bytes to read at once: sequentially, and at other positions. */
enum { WINDOW_BYTES = 65536, NEAR_BYTES = 4096 };

#define HALF_A_DAY_NS ((uint64_t)12 * 3600 * 1000000000)

/* A backtrace. There is one for each resource that was allocated from it. */
struct stack {
	struct stack *next; /* next stack with the same hash */
	uint64_t hash;      /* hash of all frames */
	uint64_t offset;    /* position of its first frame in the report */
	uint64_t length;    /* size of its lines in bytes */
	uint64_t n_maps;
	uint64_t count, size; /* number and sum of its allocations */
	uint64_t n_calls;
	uint64_t first_index, first_offset, first_ns;
	int type;
	uint32_t n_frames;
	uint64_t frames[]; /* the first frames, at most FRAMES_MAX */
};

struct entry {
	uint64_t offset; /* position of its line */
	uint64_t length; /* size of its lines, with its arguments, in bytes */
	uint64_t index;
	uint64_t size;
	uint64_t time_ns;
	struct stack *stack;
	int8_t type;
	bool is_free, clamped;
};

struct rtrace_group {
	struct rtrace_output *output;
	struct entry *entries; /* owned */
	size_t n, room;
	size_t n_open;       /* number of entries at the end that have no backtrace yet */
	struct table stacks; /* hash -> struct stack, owned */
	/* Position, size and hash of the backtrace that is being read. */
	uint64_t offset, length, hash;
	uint32_t n_frames;
	uint64_t frames[FRAMES_MAX];
	/* The last part of the report that was read. */
	uint64_t window_offset;
	size_t n_window;
	char window[WINDOW_BYTES];
};

int rtrace_group_new(struct rtrace_group **ret, struct rtrace_output *output)
{
	struct rtrace_group *g = malloc(sizeof(*g));

	if (!g)
		return -ENOMEM;
	memset(g, 0, sizeof(*g) - sizeof(g->window));
	g->output = output;
	*ret = g;
	return 0;
}

struct rtrace_group *rtrace_group_free(struct rtrace_group *g)
{
	struct stack *s, *next;

	if (!g)
		return NULL;
	for (size_t pos = 0; (s = table_next(&g->stacks, &pos));)
		for (; s; s = next) {
			next = s->next;
			free(s);
		}
	table_deinit(&g->stacks);
	free(g->entries);
	return free_ptr(g);
}

/* ---- collecting ---- */

int rtrace_group_call(struct rtrace_group *g, const struct rtrace_record *record)
{
	const struct rtrace_call *c = &record->call;

	if (GROW(g->entries, g->room, g->n + 1) < 0)
		return -ENOMEM;
	g->entries[g->n++] = (struct entry){
		.offset = record->offset,
		.length = record->raw.n,
		.index = c->index,
		.size = c->is_free ? 0 : c->size,
		.time_ns = c->time_ns,
		.type = (int8_t)record->resource_number,
		.is_free = c->is_free,
		.clamped = !c->is_free && c->size == RTRACE_INT_MAX,
	};
	g->n_open++;
	return 0;
}

void rtrace_group_arg(struct rtrace_group *g, const struct rtrace_record *record)
{
	struct entry *e = &g->entries[g->n - 1];
	uint64_t size;

	/* Arguments after the frames belong to no call. */
	if (g->n_frames > 0)
		return;
	e->length = record->offset + record->raw.n - e->offset;
	if (e->clamped && rtrace_text_is(record->arg.name, RTRACE_ARG_SIZE) &&
	    rtrace_parse_decimal(record->arg.value, &size) && size > RTRACE_INT_MAX)
		e->size = size;
}

void rtrace_group_frame(struct rtrace_group *g, const struct rtrace_record *record)
{
	const struct rtrace_postprocess_options *options = g->output->options;

	if (options->has_depth && g->n_frames >= options->depth)
		return;
	if (g->n_frames == 0) {
		g->offset = record->offset;
		g->hash = 0;
	}
	if (g->n_frames < FRAMES_MAX)
		g->frames[g->n_frames] = record->frame.address;
	g->hash = table_hash((const uint64_t[]){ g->hash, record->frame.address }, 16);
	g->length = record->offset + record->raw.n - g->offset;
	g->n_frames += g->n_frames < UINT32_MAX;
}

static bool rtrace_group_is_stack(const struct rtrace_group *g, const struct stack *s, int type)
{
	uint32_t n = g->n_frames < FRAMES_MAX ? g->n_frames : FRAMES_MAX;

	return s->hash == g->hash && s->type == type && s->n_frames == g->n_frames &&
	       memcmp(s->frames, g->frames, n * sizeof(*g->frames)) == 0;
}

/*
 * Returns the stack of the frames that were read, for calls of TYPE. Returns NULL if there is no
 * memory.
 */
static struct stack *rtrace_group_find_stack(struct rtrace_group *g, int type)
{
	uint64_t key = g->n_frames > 0 ? g->hash : 1;
	uint32_t n = g->n_frames < FRAMES_MAX ? g->n_frames : FRAMES_MAX;
	struct stack *first = table_get(&g->stacks, key), *s = first;

	while (s && !rtrace_group_is_stack(g, s, type))
		s = s->next;
	if (s)
		return s;
	s = malloc(sizeof(*s) + n * sizeof(*s->frames));
	if (!s)
		return NULL;
	*s = (struct stack){
		.next = first,
		.hash = g->hash,
		.offset = g->offset,
		.length = g->length,
		.n_maps = g->output->n_maps,
		.first_ns = UINT64_MAX,
		.type = type,
		.n_frames = g->n_frames,
	};
	memcpy(s->frames, g->frames, n * sizeof(*s->frames));
	if (table_set(&g->stacks, key, s) < 0) {
		free(s);
		return NULL;
	}
	return s;
}

static void rtrace_group_count(struct stack *s, const struct entry *e)
{
	if (s->n_calls++ == 0) {
		s->first_index = e->index;
		s->first_offset = e->offset;
	}
	if (e->index < s->first_index)
		s->first_index = e->index;
	s->count += !e->is_free;
	s->size += e->size;
}

int rtrace_group_end(struct rtrace_group *g)
{
	if (g->n_frames == 0)
		g->hash = g->length = 0;
	for (size_t i = g->n - g->n_open; i < g->n; i++) {
		struct entry *e = &g->entries[i];

		e->stack = rtrace_group_find_stack(g, e->type);
		if (!e->stack)
			return -ENOMEM;
		rtrace_group_count(e->stack, e);
	}
	g->n_open = 0;
	g->n_frames = 0;
	return 0;
}

/* ---- order ---- */

DEFINE_ORDER(compare_by_index, struct entry,
	     COMPARE(x->index, y->index) ?: COMPARE(x->offset, y->offset))

/* Converts times to the time since midnight of the report's first day, and sets the first time of
 * each stack. */
static void rtrace_group_unwrap_times(struct rtrace_group *g)
{
	uint64_t days_ns = 0, last_ns = 0;

	SORT(g->entries, g->n, compare_by_index);
	for (size_t i = 0; i < g->n; i++) {
		struct entry *e = &g->entries[i];
		struct stack *s = e->stack;

		if (e->time_ns + HALF_A_DAY_NS < last_ns)
			days_ns += 2 * HALF_A_DAY_NS;
		last_ns = e->time_ns;
		e->time_ns += days_ns;
		if (e->time_ns < s->first_ns)
			s->first_ns = e->time_ns;
	}
}

static int rtrace_group_compare_stacks(const struct stack *x, const struct stack *y,
				       enum rtrace_sort_key key)
{
	switch (key) {
	case RTRACE_SORT_SIZE:
		return COMPARE(x->size, y->size);
	case RTRACE_SORT_COUNT:
		return COMPARE(x->count, y->count);
	case RTRACE_SORT_INDEX:
		return COMPARE(x->first_index, y->first_index);
	case RTRACE_SORT_TIME:
		return COMPARE(x->first_ns, y->first_ns);
	case RTRACE_SORT_NONE:
		break;
	}
	return 0;
}

static int rtrace_group_compare_entries(const struct entry *x, const struct entry *y,
					enum rtrace_sort_key key)
{
	switch (key) {
	case RTRACE_SORT_SIZE:
		return COMPARE(x->size, y->size);
	case RTRACE_SORT_TIME:
		return COMPARE(x->time_ns, y->time_ns);
	default:
		return 0;
	}
}

/*
 * The order of output: calls with one stack are adjacent, in the order of their indices. Equal
 * calls keep the report's order.
 */
static int rtrace_group_compare_for_output(const void *a, const void *b, void *userdata)
{
	const struct rtrace_postprocess_options *o = userdata;
	const struct entry *x = a, *y = b;
	int r;

	if (o->compress && x->stack != y->stack) {
		r = rtrace_group_compare_stacks(x->stack, y->stack, o->sort);
		r = o->descending ? -r : r;
		return r ?: COMPARE(x->stack->first_offset, y->stack->first_offset);
	}
	if (o->compress)
		return compare_by_index(x, y);
	r = o->sort == RTRACE_SORT_INDEX ? COMPARE(x->index, y->index)
					 : rtrace_group_compare_entries(x, y, o->sort);
	r = o->descending ? -r : r;
	return r ?: compare_by_index(x, y);
}

/* ---- output ---- */

/* Reads N bytes (at most RTRACE_LINE_MAX) at OFFSET into *RET. Returns their number, or a negative
 * errno. */
static ssize_t rtrace_group_read_at(struct rtrace_group *g, uint64_t offset, size_t n,
				    const char **ret)
{
	const struct rtrace_postprocess_io *io = g->output->io;
	ssize_t got;

	if (offset < g->window_offset || offset - g->window_offset > g->n_window ||
	    g->n_window - (size_t)(offset - g->window_offset) < n) {
		size_t room = offset - g->window_offset <= g->n_window ? WINDOW_BYTES : NEAR_BYTES;

		g->window_offset = offset;
		g->n_window = 0;
		while (g->n_window < n) {
			got = io->read_at(io->userdata, offset + g->n_window,
					  g->window + g->n_window, room - g->n_window);
			if (got < 0)
				return got;
			if (got == 0)
				return -ESTALE;
			g->n_window += (size_t)got;
		}
	}
	*ret = g->window + (offset - g->window_offset);
	return (ssize_t)n;
}

typedef int (*show_fn)(struct rtrace_group *g, struct rtrace_record *record, void *userdata);

/* Passes the lines from OFFSET on to SHOW. A line that is too long is passed in parts, as continued
 * lines. */
static int rtrace_group_show_lines(struct rtrace_group *g, uint64_t offset, uint64_t length,
				   show_fn show, void *userdata)
{
	bool continues = false;
	int r = 0;

	while (r == 0 && length > 0) {
		struct rtrace_record record = { .offset = offset, .resource_number = -1 };
		struct rtrace_oddity odd;
		struct rtrace_text text;
		const char *p, *end;
		ssize_t n = rtrace_group_read_at(
			g, offset, length < RTRACE_LINE_MAX ? (size_t)length : RTRACE_LINE_MAX, &p);

		if (n < 0)
			return (int)n;
		end = memchr(p, '\n', (size_t)n);
		record.raw = (struct rtrace_text){ p, end ? (size_t)(end - p) + 1 : (size_t)n };
		text = (struct rtrace_text){ p, record.raw.n - (end != NULL) };
		if (text.n > 0 && end && text.bytes[text.n - 1] == '\r')
			text.n--;
		record.continues = continues;
		record.kind = RTRACE_NOTE;
		record.note = text;
		if (!continues)
			rtrace_parse_line(text, &record, &odd);
		continues = !end;
		offset += record.raw.n;
		length -= record.raw.n;
		r = show(g, &record, userdata);
	}
	return r;
}

struct shown {
	const struct rtrace_type *types;
	size_t n_types;
	const struct stack *stack;
	bool shown; /* the line was shown, so its continuation is shown, too */
};

static int rtrace_group_show_call_line(struct rtrace_group *g, struct rtrace_record *record,
				       void *userdata)
{
	const struct shown *s = userdata;

	switch (record->kind) {
	case RTRACE_CALL:
		record->resource_number = rtrace_settle_type(s->types, s->n_types, &record->call);
		return rtrace_output_call(g->output, record);
	case RTRACE_ARG:
		return rtrace_output_arg(g->output, record);
	default:
		/* Temporary comments between the records are dropped. */
		return record->continues ? rtrace_output_other(g->output, record) : 0;
	}
}

static int rtrace_group_show_frame_line(struct rtrace_group *g, struct rtrace_record *record,
					void *userdata)
{
	struct shown *s = userdata;
	int r;

	if (record->kind == RTRACE_FRAME) {
		r = rtrace_output_frame(g->output, record, s->stack->n_maps);
		s->shown = r > 0 && !g->output->options->resolve;
		return r < 0 ? r : 0;
	}
	return record->continues && s->shown ? rtrace_output_other(g->output, record) : 0;
}

static int rtrace_group_show_stack(struct rtrace_group *g, const struct stack *stack,
				   struct shown *s)
{
	const struct rtrace_record summary = {
		.kind = RTRACE_CALLS_SUMMARY,
		.summary = { .count = stack->count, .size = stack->size },
	};
	int r = 0;

	if (g->output->options->compress)
		r = rtrace_output_other(g->output, &summary);
	s->stack = stack;
	r = r
		    ?: rtrace_group_show_lines(g, stack->offset, stack->length,
					       rtrace_group_show_frame_line, s);
	return r ?: rtrace_output_end(g->output, NULL);
}

int rtrace_group_show(struct rtrace_group *g, const struct rtrace_type *types, size_t n_types)
{
	const struct rtrace_postprocess_options *o = g->output->options;
	struct shown s = { .types = types, .n_types = n_types };
	int r = 0;

	if (g->n == 0)
		return 0;
	if (o->sort == RTRACE_SORT_TIME)
		rtrace_group_unwrap_times(g);
	qsort_r(g->entries, g->n, sizeof(*g->entries), rtrace_group_compare_for_output, (void *)o);
	for (size_t i = 0; r == 0 && i < g->n; i++) {
		const struct entry *e = &g->entries[i];

		r = rtrace_group_show_lines(g, e->offset, e->length, rtrace_group_show_call_line,
					    &s);
		if (r == 0 && (!o->compress || i + 1 == g->n || e[1].stack != e->stack))
			r = rtrace_group_show_stack(g, e->stack, &s);
	}
	return r;
}
