/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tfile/tfile-summary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/common/colour.h"
#include "cli/common/json.h"
#include "cli/common/verb.h"
#include "cli/tfile/tfile-dump.h"
#include "reader/tfile/tfile-lines.h"
#include "writer/tfile/tfile-wire.h"

/* The counts of a tracepoint. */
struct tfile_sum {
	uint32_t number;
	uint64_t frames, bytes;
};

struct tfile_sums {
	struct table points;  /* number of the tracepoint -> struct tfile_sum, owned */
	struct table threads; /* id of the thread + 1 -> not NULL */
	uint64_t frames, registers, blocks, memory_bytes, variables;
	uint32_t tid, time; /* numbers of variables + 1; 0 = the file has no such variable */
	bool timed;
	int64_t first_ns, last_ns;
	size_t maps, n;
	struct tfile_sum **sorted; /* owned */
};

static void tfile_sums_deinit(struct tfile_sums *s)
{
	table_deinit_free(&s->points);
	table_deinit(&s->threads);
	free(s->sorted);
}

/* Returns the number + 1 of the variable NAME; 0 = the file has no such variable. */
static uint32_t tfile_summary_variable(const struct tfile_head *h, const char *name)
{
	for (size_t i = 0; i < h->n_variables; i++)
		if (strcmp(h->variables[i].name, name) == 0)
			return h->variables[i].number + 1;
	return 0;
}

/* ---- sums ---- */

static int tfile_summary_value(struct tfile_sums *s, uint32_t number, int64_t value)
{
	s->variables++;
	if (s->tid == number + 1)
		return table_set(&s->threads, (uint64_t)value + 1 ?: 1, s);
	if (s->time != number + 1)
		return 0;
	if (!s->timed || value < s->first_ns)
		s->first_ns = value;
	if (!s->timed || value > s->last_ns)
		s->last_ns = value;
	s->timed = true;
	return 0;
}

static int tfile_summary_block(struct tfile_sums *s, struct tfile_sum *p,
			       const struct tfile_block *b)
{
	switch (b->kind) {
	case TFILE_REGISTERS:
		s->registers++;
		p->bytes += b->registers.n;
		return 0;
	case TFILE_MEMORY:
		s->blocks++;
		s->memory_bytes += b->memory.n;
		p->bytes += b->memory.n;
		return 0;
	default:
		return tfile_summary_value(s, b->variable.number, b->variable.value);
	}
}

static int tfile_summary_add(struct tfile_sums *s, const struct tfile_frame *f)
{
	struct tfile_sum *p = table_make(&s->points, f->tracepoint, sizeof(*p));
	int r = p ? 0 : -ENOMEM;

	if (r < 0)
		return r;
	p->number = f->tracepoint;
	p->frames++;
	s->frames++;
	for (size_t i = 0; r == 0 && i < f->n_blocks; i++)
		r = tfile_summary_block(s, p, &f->blocks[i]);
	return r;
}

DEFINE_ORDER_OF_POINTERS(tfile_summary_compare, struct tfile_sum,
			 COMPARE(y->frames, x->frames) ?: COMPARE(x->number, y->number))

/* Sorts the tracepoints, including those without hits. */
static int tfile_summary_sort(struct tfile_sums *s, const struct tfile_head *h)
{
	struct tfile_sum *p;

	for (size_t i = 0; i < h->n_tracepoints; i++) {
		p = table_make(&s->points, h->tracepoints[i].number, sizeof(*p));
		if (!p)
			return -ENOMEM;
		p->number = h->tracepoints[i].number;
	}
	s->sorted = (struct tfile_sum **)table_sorted(&s->points, tfile_summary_compare, &s->n);
	return s->sorted ? 0 : -ENOMEM;
}

/* ---- output ---- */

/* Returns the place of the tracepoint NUMBER. If it has several places, returns the first one. */
static const struct tfile_tracepoint *tfile_summary_place(const struct tfile_head *h,
							  uint32_t number)
{
	for (size_t i = 0; i < h->n_tracepoints; i++)
		if (h->tracepoints[i].number == number)
			return &h->tracepoints[i];
	return NULL;
}

static struct json_object *tfile_summary_json_point(const struct tfile_head *h,
						    const struct tfile_sum *p)
{
	const struct tfile_tracepoint *t = tfile_summary_place(h, p->number);

	return JSON_OBJECT(JSON_OF(p, number), JSON_IF(t, "address", t->address),
			   JSON_IF(t && t->at, "at", json_from_text(t->at)), JSON_OF(p, frames),
			   JSON_OF(p, bytes));
}

static void tfile_summary_print_json(const struct tfile_sums *s, const struct open_trace *t)
{
	const struct tfile_head *h = tfile_reader_head(t->frames);
	const char *packed = open_trace_packed(t);

	json_print_pretty(JSON_OBJECT(
		JSON("format", "tfile"), JSON("compression", *packed ? packed : "none"),
		JSON_OF(h, register_bytes),
		JSON("byte_order", tfile_reader_is_big_endian(t->frames) ? "big" : "little"),
		JSON("status", tfile_dump_status(&h->status)), JSON("damage", t->n_damages),
		JSON_OF(s, frames, registers, blocks, memory_bytes, variables, maps),
		JSON_IF(s->tid, "threads", s->threads.n_used),
		JSON_IF(s->timed, "first_ns", s->first_ns),
		JSON_IF(s->timed, "last_ns", s->last_ns),
		JSON("tracepoints",
		     JSON_LIST(p, s->sorted, s->n, tfile_summary_json_point(h, *p)))));
}

static void tfile_summary_print_status(const struct tfile_status *s)
{
	char text[TFILE_DUMP_TEXT];

	printf("%s: %s\n", s->running ? "running" : "stopped", tfile_dump_reason(text, s));
	if (s->user)
		printf("user: %s\n", tfile_dump_clean(text, sizeof(text), s->user));
	if (s->notes)
		printf("notes: %s\n", tfile_dump_clean(text, sizeof(text), s->notes));
	if (s->has & TFILE_HAS_FRAMES && s->has & TFILE_HAS_CREATED && s->created > s->frames)
		printf("dropped: %" PRIu64 " of %" PRIu64 " frames\n", s->created - s->frames,
		       s->created);
}

static void tfile_summary_print_point(const struct tfile_head *h, const struct tfile_sum *p)
{
	const struct tfile_tracepoint *t = tfile_summary_place(h, p->number);
	char text[TFILE_DUMP_TEXT] = "";

	printf("%10" PRIu64 " %10s %11" PRIu32 "  ", p->frames, TEXT_SIZE(p->bytes), p->number);
	if (!t) {
		printf("(not defined)\n");
		return;
	}
	if (t->at)
		tfile_dump_clean(text, sizeof(text), t->at);
	if (*text && *text != '*')
		printf("0x%" PRIx64 " %s\n", t->address, text);
	else
		printf("0x%" PRIx64 "\n", t->address);
}

static void tfile_summary_print(const struct tfile_sums *s, const struct open_trace *t,
				uint64_t limit)
{
	const struct tfile_head *h = tfile_reader_head(t->frames);
	const char *packed = open_trace_packed(t);

	printf("%s: trace file (GDB), %s-endian, %s\n", t->name,
	       tfile_reader_is_big_endian(t->frames) ? "big" : "little",
	       *packed ? packed : "not packed");
	tfile_summary_print_status(&h->status);
	printf("frames %" PRIu64 ", with registers %" PRIu64 " (%" PRIu32
	       " bytes each), blocks of memory %" PRIu64 " (%s), values of variables %" PRIu64 "\n",
	       s->frames, s->registers, h->register_bytes, s->blocks, TEXT_SIZE(s->memory_bytes),
	       s->variables);
	if (s->tid)
		printf("threads %zu\n", s->threads.n_used);
	if (s->timed)
		printf("time %s, from @%" PRId64 " to @%" PRId64 "\n",
		       TEXT_TIME((uint64_t)s->last_ns - (uint64_t)s->first_ns), s->first_ns,
		       s->last_ns);
	if (s->maps > 0)
		printf("maps %zu\n", s->maps);
	if (s->n > 0)
		printf("\n%s    FRAMES       SIZE  TRACEPOINT  PLACE%s\n", colour(COLOUR_HEADING),
		       colour(COLOUR_OFF));
	for (size_t i = 0; i < s->n && i < limit; i++)
		tfile_summary_print_point(h, s->sorted[i]);
	if (s->n > limit)
		printf("    ... and %" PRIu64 " tracepoints with fewer frames (-n shows more)\n",
		       s->n - limit);
}

static size_t tfile_summary_maps(const struct tfile_head *h)
{
	char text[TFILE_LINE_MAX + 1];
	struct tfile_map map;
	size_t n = 0;

	for (size_t i = 0; i < h->n_description; i++)
		n += tfile_lines_map(h->description[i], &map, text);
	return n;
}

int tfile_summary(struct open_trace *t, bool json, uint64_t limit)
{
	const struct tfile_head *h = tfile_reader_head(t->frames);
	_cleanup_(tfile_sums_deinit) struct tfile_sums s = {
		.tid = tfile_summary_variable(h, TFILE_VARIABLE_TID),
		.time = tfile_summary_variable(h, TFILE_VARIABLE_TIME),
		.maps = tfile_summary_maps(h),
	};
	const struct tfile_frame *frame;
	int r;

	while ((r = open_trace_next_frame(t, &frame)) > 0)
		if (tfile_summary_add(&s, frame) < 0)
			return cli_failed("out of memory");
	if (r < 0)
		return CLI_FAILED;
	if (tfile_summary_sort(&s, h) < 0)
		return cli_failed("out of memory");
	if (json)
		tfile_summary_print_json(&s, t);
	else
		tfile_summary_print(&s, t, limit);
	return open_trace_finish(t);
}
