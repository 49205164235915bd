/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tfile/tfile-cut.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/json.h"
#include "cli/common/packed-output.h"
#include "cli/common/verb.h"

/* A variable that selects frames. */
struct tfile_cut_key {
	bool wanted;     /* an option needs it */
	uint32_t number; /* number of the variable in the file */
};

struct tfile_cut_state {
	const struct tfile_cut *cut;
	struct tfile_cut_key time, tid, pid, cpu;
	bool timed; /* start_ns is set */
	int64_t start_ns;
};

/* ---- options ---- */

static int tfile_cut_range(struct tfile_cut_ranges *r, char *word)
{
	char *dash = strchr(word, '-');
	uint64_t first, last;

	if (dash)
		*dash = '\0';
	if (text_parse_u64(word, UINT32_MAX, &first) < 0)
		return -1;
	last = first;
	if (dash && dash[1] == '\0')
		last = UINT64_MAX;
	else if (dash && text_parse_u64(dash + 1, UINT32_MAX, &last) < 0)
		return -1;
	if (first > last || r->n == TFILE_CUT_RANGES)
		return -1;
	r->list[r->n].first = first;
	r->list[r->n++].last = last;
	return 0;
}

int tfile_cut_parse_ranges(void *userdata, char *value)
{
	for (char *rest = value, *word; (word = strsep(&rest, ","));)
		if (tfile_cut_range(userdata, word) < 0)
			return cli_usage_error(
				"%s takes up to %d numbers and ranges, such as 0,5-9,20-",
				verb_options_typed(), TFILE_CUT_RANGES);
	return CLI_OK;
}

bool tfile_cut_is_requested(const struct tfile_cut_options *o)
{
	return o->frames.n > 0 || o->tracepoints.n > 0 || o->tids.n > 0;
}

/* ---- choosing ---- */

static bool tfile_cut_has(const struct tfile_cut_ranges *r, uint64_t n)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].first <= n && n <= r->list[i].last)
			return true;
	return r->n == 0;
}

static bool tfile_cut_has_id(const struct part_ids *ids, int64_t id)
{
	for (size_t i = 0; i < ids->n; i++)
		if (ids->list[i] == id)
			return true;
	return false;
}

/* Gets the value of the variable KEY in FRAME. If FRAME has several values, the last one counts. */
static bool tfile_cut_value(const struct tfile_frame *frame, const struct tfile_cut_key *key,
			    int64_t *ret)
{
	for (size_t i = frame->n_blocks; i-- > 0;) {
		const struct tfile_block *b = &frame->blocks[i];

		if (b->kind == TFILE_VARIABLE && b->variable.number == key->number) {
			*ret = b->variable.value;
			return true;
		}
	}
	return false;
}

static bool tfile_cut_is_in_time(struct tfile_cut_state *s, const struct tfile_frame *frame)
{
	const struct part_options *p = s->cut->part;
	uint64_t ns;
	int64_t value;

	if (!s->time.wanted)
		return true;
	if (!tfile_cut_value(frame, &s->time, &value))
		return false;
	if (!s->timed) {
		s->timed = true;
		s->start_ns = value;
	}
	if (!part_options_absolute(p)) {
		if (value < s->start_ns)
			return p->from_ns == 0;
		value = (int64_t)((uint64_t)value - (uint64_t)s->start_ns);
	}
	ns = (uint64_t)value;
	return ns >= p->from_ns && ns < p->to_ns;
}

static bool tfile_cut_wants(void *userdata, uint64_t no, const struct tfile_frame *frame)
{
	struct tfile_cut_state *s = userdata;
	const struct part_options *p = s->cut->part;
	int64_t value;

	/* (the origin of times is the first time in the file, whichever frames are selected) */
	if (!tfile_cut_is_in_time(s, frame) || !tfile_cut_has(&s->cut->only->frames, no) ||
	    !tfile_cut_has(&s->cut->only->tracepoints, frame->tracepoint))
		return false;
	if (s->tid.wanted && !(tfile_cut_value(frame, &s->tid, &value) &&
			       tfile_cut_has_id(&s->cut->only->tids, value)))
		return false;
	if (s->pid.wanted &&
	    !(tfile_cut_value(frame, &s->pid, &value) && tfile_cut_has_id(&p->pids, value)))
		return false;
	return !s->cpu.wanted || (tfile_cut_value(frame, &s->cpu, &value) && value >= 0 &&
				  value <= FXT_CPU_MAX && p->cpus[value]);
}

/* Finds the variable NAME, if OPTION needs it (WANTED). Returns CLI_OK, or CLI_FAILED after an
 * error message. */
static int tfile_cut_find(const struct open_trace *t, struct tfile_cut_key *key, bool wanted,
			  const char *name, const char *option)
{
	const struct tfile_head *h = tfile_reader_head(t->frames);

	key->wanted = wanted;
	for (size_t i = 0; i < h->n_variables; i++) {
		if (strcmp(h->variables[i].name, name) == 0) {
			key->number = h->variables[i].number;
			return CLI_OK;
		}
	}
	return wanted ? cli_failed(
				"%s: %s needs the trace state variable $%s, which this file does not have",
				t->name, option, name)
		      : CLI_OK;
}

static int tfile_cut_prepare(struct tfile_cut_state *s, const struct open_trace *t)
{
	const struct part_options *p = s->cut->part;
	int r = tfile_cut_find(t, &s->time, p->has_from || p->has_to, TFILE_VARIABLE_TIME,
			       p->has_from ? "--from" : "--to");

	r = r ?: tfile_cut_find(t, &s->tid, s->cut->only->tids.n > 0, TFILE_VARIABLE_TID, "--tid");
	r = r ?: tfile_cut_find(t, &s->pid, p->pids.n > 0, TFILE_VARIABLE_PID, "--pid");
	return r ?: tfile_cut_find(t, &s->cpu, p->n_cpus > 0, TFILE_VARIABLE_CPU, "--cpu");
}

/* ---- the verb ---- */

static void tfile_cut_report(const struct tfile_cut *cut, const struct packed_output *out,
			     const struct tfile_copy *copy)
{
	if (cut->json && !out->file.standard) {
		json_print_pretty(JSON_OBJECT(
			JSON("output", json_from_text(out->file.path)), JSON("bytes", out->bytes),
			JSON("frames", copy->n_frames), JSON_OF(copy, left_out, shortened)));
		return;
	}
	fprintf(stderr, "%s: %s, %" PRIu64 " frame%s; %" PRIu64 " %s omitted\n", out->file.path,
		TEXT_SIZE(out->bytes), copy->n_frames, text_s(copy->n_frames), copy->left_out,
		copy->left_out == 1 ? "was" : "were");
	tfile_copy_report_missing(copy, out->file.path);
}

static void tfile_cut_close(struct packed_output *out)
{
	packed_output_deinit(out);
}

int tfile_cut(const struct tfile_cut *cut, struct open_trace *t, const char *to)
{
	_cleanup_(tfile_cut_close) struct packed_output out = PACKED_OUTPUT_NULL;
	struct tfile_cut_state state = { .cut = cut };
	const struct packed_output_args args = {
		.path = to,
		.force = cut->force,
		.method = pack_of_suffix(to),
		.whole = packed_output_any_bytes,
		.inputs = &t->fd,
		.n_inputs = 1,
	};
	int r = tfile_cut_prepare(&state, t) ?: tfile_copy(cut->copy, t, tfile_cut_wants, &state);

	if (r != CLI_OK)
		return r;
	if (cut->copy->n_frames == 0)
		return cli_failed("%s: no frame matches (of %" PRIu64 ")", t->name,
				  cut->copy->left_out);
	if (packed_output_open(&out, &args) < 0 ||
	    packed_output_write(&out, cut->copy->head.data, cut->copy->head.size) < 0 ||
	    packed_output_write(&out, cut->copy->frames.data, cut->copy->frames.size) < 0 ||
	    packed_output_finish(&out) < 0)
		return CLI_FAILED;
	tfile_cut_report(cut, &out, cut->copy);
	return open_trace_finish(t);
}
