/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The blocks that were not freed in the text protocol of sp-rtrace: one report per program of a
 * process, since a report has one header. Data without a field in its records is in arguments, and
 * the limits of the recording are in comments.
 *
 * If each allocation event of a program was recorded, its report can have all events, including
 * frees.
 *
 * Times count from the beginning of the recording, so that they do not wrap at midnight. Backtraces
 * have no names: `kymo postprocess --resolve` and other tools add the names.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "cli/leaks/leaks-view.h"
#include "cli/common/packed-output.h"
#include "cli/common/read-events.h"
#include "cli/common/verb.h"
#include "writer/rtrace/rtrace-writer.h"

/* The largest size of a report. */
#define OUTPUT_MAX ((size_t)4 << 30)

/* The number of bytes that are collected before they are written. */
enum { FLUSH_BYTES = 1 << 20 };

/*
 * The names of kymo's resources in sp-rtrace. sp-rtrace has no name for mappings. Mappings use the
 * bit of "memtransfer", since kymo never writes this resource, and sp-rtrace computes correct sums
 * only for the two lowest bits.
 */
#define MAPPING_TYPE "mmap"
#define MAPPING_BIT  (UINT32_C(1) << RTRACE_KNOWN_MEMTRANSFER)
static const struct {
	enum rtrace_known_resource known; /* RTRACE_KNOWN_MAX = sp-rtrace has no such resource */
	/* Name of the function, if the allocating function is unknown. */
	const char *function;
} resources[RESOURCE_MAX] = {
	[RESOURCE_MEMORY] = { RTRACE_KNOWN_MEMORY, "malloc" },
	[RESOURCE_MAPPING] = { RTRACE_KNOWN_MAX, "mmap" },
	[RESOURCE_FD] = { RTRACE_KNOWN_FD, "open" },
	[RESOURCE_SEGMENT] = { RTRACE_KNOWN_SEGMENT, "shmget" },
	[RESOURCE_ATTACHMENT] = { RTRACE_KNOWN_ADDRESS, "shmat" },
	[RESOURCE_SHM] = { RTRACE_KNOWN_PSHMOBJ, "shm_open" },
	[RESOURCE_THREAD] = { RTRACE_KNOWN_PTHREAD, "pthread_create" },
};

struct report {
	const struct leaks_input *in;
	const struct leak_watch *watch;
	struct rtrace_writer writer;
	uint64_t start_ns;                /* begin of the recording */
	const struct leak_block **blocks; /* owned; sorted by time */
	size_t n_blocks;
	struct rtrace_map *maps; /* owned */
	size_t n_maps, room_maps;
	uint32_t depth; /* number of frames of the deepest stack */
	bool all;       /* the report has all events, and not only live blocks */
	struct packed_output
		*output; /* output of a report with all events; other reports are written at once */
	uint64_t n_calls;
};

static struct rtrace_resource leaks_rtrace_describe(enum resource resource)
{
	if (resources[resource].known < RTRACE_KNOWN_MAX)
		return rtrace_known_resource(resources[resource].known);
	return (struct rtrace_resource){
		.mask = MAPPING_BIT,
		.type = RTRACE_TEXT(MAPPING_TYPE),
		.description = RTRACE_TEXT("memory mapping in bytes"),
	};
}

/* ---- contents ---- */

DEFINE_ORDER_OF_POINTERS(compare_blocks, struct leak_block,
	COMPARE(x->since_ns, y->since_ns) ?: COMPARE(x->group->resource, y->group->resource)
		?: COMPARE(x->id, y->id))

static int leaks_rtrace_list_blocks(struct report *t)
{
	size_t n = 0;

	for (const struct leak_block *b = t->watch->first; b; b = b->after)
		n += leak_block_is_shown(b);
	t->blocks = calloc(n + 1, sizeof(*t->blocks));
	if (!t->blocks)
		return -ENOMEM;
	for (const struct leak_block *b = t->watch->first; b; b = b->after)
		if (leak_block_is_shown(b))
			t->blocks[t->n_blocks++] = b;
	SORT(t->blocks, n, compare_blocks);
	return 0;
}

/*
 * Adds the file of MAP as one mapping, since the segments of a file are mapped at the same
 * distances as in the file.
 */
static int leaks_rtrace_add_map(struct report *t, const struct mapping *map)
{
	uint64_t bias = map->start - map->file_offset, end = map->start + map->size;
	struct rtrace_map *m = t->maps;

	if (!*map->path || bias > map->start || end < map->start)
		return 0;
	for (; m < t->maps + t->n_maps; m++) {
		if (m->start != bias || !rtrace_text_is(m->path, map->path))
			continue;
		m->end = end > m->end ? end : m->end;
		return 0;
	}
	if (GROW(t->maps, t->room_maps, t->n_maps + 1) < 0)
		return -ENOMEM;
	t->maps[t->n_maps++] = (struct rtrace_map){ rtrace_text(map->path), bias, end };
	return 0;
}

DEFINE_ORDER(compare_maps, struct rtrace_map, COMPARE(x->start, y->start))

static int leaks_add_maps_of(struct report *t, const struct leak_group *g)
{
	const struct profile *p = t->in->leaks->profile;
	uint32_t depth = 0;
	int r = 0;

	for (uint32_t n = g->node; r == 0 && n; n = p->nodes[n].parent) {
		const struct mapping *map = p->places[p->nodes[n].place].mapping;

		depth++;
		if (map)
			r = leaks_rtrace_add_map(t, map);
	}
	if (depth > t->depth)
		t->depth = depth;
	return r;
}

/* Lists the files in the stacks. */
static int leaks_list_maps(struct report *t)
{
	const struct leak_group *g;
	int r = 0;

	for (size_t i = 0; r == 0 && !t->all && i < t->watch->n_groups; i++)
		r = leaks_add_maps_of(t, t->watch->groups[i]);
	for (size_t pos = 0; r == 0 && t->all && (g = table_next(&t->watch->by_key, &pos));)
		for (; r == 0 && g; g = g->next)
			r = leaks_add_maps_of(t, g);
	SORT(t->maps, t->n_maps, compare_maps);
	return r;
}

/* ---- head ---- */

static int leaks_write_header(struct report *t)
{
	const struct leak_watch *w = t->watch;
	char timestamp[RTRACE_TIMESTAMP_MAX];
	struct rtrace_header h = {
		.arch = rtrace_text(t->in->arch),
		.process = rtrace_text(*w->program ? w->program : w->name),
		.origin = RTRACE_TEXT("kymo " KYMO_VERSION),
		.pid = w->real_pid,
		.filters = t->all ? 0 : RTRACE_FILTER_LEAKS,
		.has_depth = true,
		.depth = t->depth,
	};

	if (t->in->flame.real_offset_ns) {
		uint64_t real_ns = w->begin_ns + (uint64_t)t->in->flame.real_offset_ns;

		h.timestamp = rtrace_text(
			rtrace_format_timestamp(timestamp, (int64_t)(real_ns / 1000000000)));
	}
	if (h.arch.n == 0)
		h.arch = (struct rtrace_text){ 0 };
	if (h.process.n == 0)
		h.process = (struct rtrace_text){ 0 };
	return rtrace_write_header(&t->writer, &h);
}

static int leaks_rtrace_note(struct report *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static int leaks_rtrace_note(struct report *t, const char *format, ...)
{
	char text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return rtrace_write_note(&t->writer, rtrace_text(text));
}

static int leaks_note_count(struct report *t, const char *what, uint64_t n)
{
	return n > 0 ? leaks_rtrace_note(t, "## kymo: %s: %" PRIu64, what, n) : 0;
}

static uint64_t leaks_since_start(const struct report *t, uint64_t ts_ns)
{
	return ts_ns > t->start_ns ? ts_ns - t->start_ns : 0;
}

/* Writes remarks about the recording as comments. Other readers keep these comments. */
static int leaks_write_notes(struct report *t)
{
	const struct leak_watch *w = t->watch;
	const struct {
		const char *what;
		uint64_t n;
	} counts[] = {
		{ "deallocations of unknown blocks", w->unmatched },
		{ "events lost", w->lost },
		{ "allocations missing: the table of blocks was full", w->full },
		{ "allocations without a stack", w->no_stack },
		{ "blocks that were allocated again without a free", w->replaced },
		{ "blocks missing in the snapshot", w->missing },
		{ "bytes per sampled block", w->interval },
		{ "size of the smallest recorded block", w->min_bytes },
	};
	int r = leaks_rtrace_note(t, "## kymo: watched from %" PRIu64 " ns to %" PRIu64 " ns, %s",
				  leaks_since_start(t, w->begin_ns),
				  leaks_since_start(t, w->end_ns),
				  w->complete ? "complete" : "not complete");

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(counts); i++)
		r = leaks_note_count(t, counts[i].what, counts[i].n);
	if (r == 0 && w->from_sums && w->n_groups > 0)
		r = leaks_rtrace_note(t, "## kymo: no snapshot: the blocks are unknown");
	return r;
}

/* Collects the resources and contexts of the calls, as bits. */
static void leaks_find_used(const struct report *t, uint32_t *ret_resources, uint32_t *ret_contexts)
{
	const struct leak_group *g;

	*ret_resources = 0;
	*ret_contexts = t->all ? UINT32_MAX : 0;
	for (size_t i = 0; i < t->n_blocks; i++) {
		*ret_contexts |= t->blocks[i]->context;
		*ret_resources |= 1u << t->blocks[i]->group->resource;
	}
	for (size_t pos = 0; t->all && (g = table_next(&t->watch->by_key, &pos));)
		for (; g; g = g->next)
			*ret_resources |= 1u << g->resource;
}

static int leaks_write_registries(struct report *t)
{
	const struct leaks *l = t->in->leaks;
	uint32_t contexts, used;
	int r = 0;

	leaks_find_used(t, &used, &contexts);
	for (size_t i = 0; r == 0 && i < l->n_contexts; i++)
		if (contexts & l->contexts[i].id)
			r = rtrace_write_context(
				&t->writer,
				&(struct rtrace_context){ l->contexts[i].id,
							  rtrace_text(l->contexts[i].name) });
	/* Some readers reject a report without any resource. */
	if (used == 0)
		used = 1u << RESOURCE_MEMORY;
	for (enum resource i = 0; r == 0 && i < RESOURCE_MAX; i++) {
		const struct rtrace_resource resource = leaks_rtrace_describe(i);

		if (used & 1u << i)
			r = rtrace_write_resource(&t->writer, &resource);
	}
	for (size_t i = 0; r == 0 && i < t->n_maps; i++)
		r = rtrace_write_map(&t->writer, &t->maps[i]);
	return r;
}

/* ---- blocks ---- */

static int leaks_write_arg(struct report *t, const char *name, const char *value)
{
	return rtrace_write_arg(&t->writer,
				&(struct rtrace_arg){ rtrace_text(name), rtrace_text(value) });
}

static int leaks_write_number(struct report *t, const char *name, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return leaks_write_arg(t, name, text);
}

static int leaks_write_weight(struct report *t, const struct leak_block *b)
{
	struct leak_estimate one = { 0 };
	char text[32];

	if (!leak_watch_is_sampled(t->watch) || b->group->resource != RESOURCE_MEMORY)
		return 0;
	leak_estimate_add(&one, b->size, t->watch->interval);
	snprintf(text, sizeof(text), "%.3f", one.blocks);
	return leaks_write_arg(t, "weight", text);
}

static int leaks_write_args(struct report *t, const struct leak_block *b)
{
	int r = 0;

	if (b->since_ns)
		r = leaks_write_number(t, "ns", leaks_since_start(t, b->since_ns));
	if (r == 0 && b->since_ns && b->since_ns <= t->watch->end_ns)
		r = leaks_write_number(t, "age_ms", (t->watch->end_ns - b->since_ns) / 1000000);
	if (r == 0 && b->thread)
		r = leaks_write_number(t, "tid", b->thread);
	if (r == 0 && b->reach != REACH_UNKNOWN)
		r = leaks_write_arg(t, "reach", reach_names[b->reach]);
	if (r == 0 && *b->text)
		r = leaks_write_arg(t, "what", b->text);
	return r == 0 ? leaks_write_weight(t, b) : r;
}

static int leaks_write_frames(struct report *t, uint32_t node)
{
	const struct profile *p = t->in->leaks->profile;
	int r = 0;

	for (uint32_t n = node; r == 0 && n != 0; n = p->nodes[n].parent) {
		const struct rtrace_frame frame = { .address =
							    p->places[p->nodes[n].place].address };

		r = rtrace_write_frame(&t->writer, &frame);
	}
	return r == 0 ? rtrace_write_end(&t->writer) : r;
}

static int leaks_write_block(struct report *t, size_t number)
{
	const struct leak_block *b = t->blocks[number];
	enum resource resource = b->group->resource;
	const struct rtrace_call call = {
		.index = number + 1,
		.id = b->id,
		.size = resource == RESOURCE_FD ? 1 : b->size,
		.time_ns = leaks_since_start(t, b->since_ns),
		.has_time = b->since_ns != 0,
		.contexts = b->context,
		.name = rtrace_text(*b->function ? b->function : resources[resource].function),
		.type = leaks_rtrace_describe(resource).type,
	};
	int r = rtrace_write_call(&t->writer, &call) ?: leaks_write_args(t, b);

	return r == 0 ? leaks_write_frames(t, b->group->node) : r;
}

static int leaks_rtrace_write_sums(struct report *t)
{
	int r = 0;

	for (enum resource i = 0; r == 0 && i < RESOURCE_MAX; i++) {
		const struct rtrace_resource resource = leaks_rtrace_describe(i);
		struct rtrace_summary sum = { .type = resource.type,
					      .description = resource.description };

		for (size_t j = 0; j < t->n_blocks; j++) {
			if (t->blocks[j]->group->resource != i)
				continue;
			sum.count++;
			sum.size += i == RESOURCE_FD ? 1 : t->blocks[j]->size;
		}
		if (sum.count > 0)
			r = rtrace_write_leaks_summary(&t->writer, &sum);
	}
	return r;
}

static int leaks_rtrace_write_head(struct report *t)
{
	int r = leaks_list_maps(t) ?: leaks_write_header(t) ?: leaks_write_registries(t);

	/*
	 * The notes follow the registries, before the first call, where sp-rtrace writes comments,
	 * too.
	 */
	return r == 0 ? leaks_write_notes(t) : r;
}

static void leaks_report_deinit(struct report *t)
{
	free(t->blocks);
	free(t->maps);
}

int leaks_rtrace(const struct leaks_input *in, const struct leak_watch *w, bool spec_time,
		 struct outbuf *out)
{
	_cleanup_(leaks_report_deinit) struct report t = { .in = in, .watch = w };
	int r;

	t.start_ns = in->flame.summary->start_ns;
	rtrace_writer_init(&t.writer, out,
			   &(struct rtrace_writer_options){ .spec_time = spec_time });
	r = leaks_rtrace_list_blocks(&t) ?: leaks_rtrace_write_head(&t);
	for (size_t i = 0; r == 0 && i < t.n_blocks; i++)
		r = leaks_write_block(&t, i);
	return r == 0 ? leaks_rtrace_write_sums(&t) : r;
}

/* ---- all events ---- */

static int leaks_write_call(struct report *t, const struct event *ev)
{
	enum resource resource = ev->block.resource;
	bool is_free = ev->kind == EVENT_FREE;
	const struct rtrace_call call = {
		.index = ++t->n_calls,
		.id = ev->block.id,
		.size = resource == RESOURCE_FD ? 1 : ev->block.size,
		.time_ns = leaks_since_start(t, ev->ts_ns),
		.has_time = true,
		.contexts = ev->block.context,
		.is_free = is_free,
		.name = rtrace_text(*ev->block.function ? ev->block.function
				    : is_free           ? "free"
							: resources[resource].function),
		.type = leaks_rtrace_describe(resource).type,
	};
	uintptr_t node =
		ev->block.stack ? (uintptr_t)table_get(&t->watch->stacks, ev->block.stack) : 0;
	return rtrace_write_call(&t->writer, &call) ?: leaks_write_number(t, "ns", call.time_ns)
		       ?: leaks_write_number(t, "tid", ev->tid)
		       ?: leaks_write_frames(t, node ? (uint32_t)(node - 1) : 0);
}

/* Writes the collected data. */
static int leaks_rtrace_flush(struct report *t)
{
	int r = packed_output_write(t->output, t->writer.out->data, t->writer.out->size);

	outbuf_reset(t->writer.out);
	return r;
}

static int leaks_rtrace_on_event(void *userdata, const struct event *ev)
{
	struct report *t = userdata;
	int r = 0;

	if (ev->pid != t->watch->pid)
		return 0;
	if (ev->kind == EVENT_ALLOC || ev->kind == EVENT_FREE)
		r = leaks_watch_at(t->in->leaks, ev->pid, ev->ts_ns) == t->watch
			    ? leaks_write_call(t, ev)
			    : 0;
	if (r == 0 && t->writer.out->size > FLUSH_BYTES)
		r = leaks_rtrace_flush(t);
	/* (read_events() accepts no other error) */
	return r < 0 ? -ENOMEM : 0;
}

/* Writes the report of W with all of its events. The events are read again from the archive. */
static int leaks_write_all_events(const struct leaks_input *in, const struct leak_watch *w,
				  const struct leaks_rtrace_args *args,
				  const struct packed_output_args *file)
{
	_cleanup_(open_trace_close) struct open_trace trace = OPEN_TRACE_NULL;
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };
	_cleanup_(leaks_report_deinit) struct report t = { .in = in, .watch = w, .all = true };
	struct packed_output output = PACKED_OUTPUT_NULL;
	int r = open_trace(&trace, args->archive);

	if (r != CLI_OK)
		return r;
	t.start_ns = in->flame.summary->start_ns;
	t.output = &output;
	rtrace_writer_init(&t.writer, &text,
			   &(struct rtrace_writer_options){ .spec_time = args->spec_time });
	if (leaks_rtrace_write_head(&t) < 0)
		return cli_failed("out of memory");
	r = packed_output_open(&output, file) < 0 ? CLI_FAILED : CLI_OK;
	r = r ?: read_events(&trace, leaks_rtrace_on_event, &t);
	if (r == CLI_OK && (leaks_rtrace_flush(&t) < 0 || packed_output_finish(&output) < 0))
		r = CLI_FAILED;
	packed_output_deinit(&output);
	return r;
}

/* ---- files ---- */

static int leaks_write_what_lives(const struct leaks_input *in, const struct leak_watch *w,
				  const struct leaks_rtrace_args *args,
				  const struct packed_output_args *file)
{
	_cleanup_(outbuf_deinit) struct outbuf text = { .limit = OUTPUT_MAX };
	int r = leaks_rtrace(in, w, args->spec_time, &text);

	if (r < 0)
		return cli_failed("%s: the report cannot be written: %s", file->path, strerror(-r));
	return packed_output_put(file, text.data, text.size) < 0 ? CLI_FAILED : CLI_OK;
}

int leaks_write_rtrace(const struct leaks_input *in, const struct leaks_rtrace_args *args)
{
	int r = CLI_OK;

	if (mkdir(args->directory, 0777) < 0 && errno != EEXIST)
		return cli_failed("cannot create the directory %s: %m", args->directory);
	for (size_t i = 0; r == CLI_OK && i < in->leaks->n_watches; i++) {
		const struct leak_watch *w = in->leaks->watches[i];
		struct packed_output_args output = { .force = args->force,
						     .whole = packed_output_any_bytes };
		_cleanup_free_ char *path = NULL;

		if (asprintf(&path, "%s/%" PRIu32 "-%u.rtrace.txt", args->directory, w->real_pid,
			     w->number) < 0)
			return cli_failed("out of memory");
		output.path = path;
		r = args->archive && w->logged ? leaks_write_all_events(in, w, args, &output)
					       : leaks_write_what_lives(in, w, args, &output);
	}
	return r;
}
