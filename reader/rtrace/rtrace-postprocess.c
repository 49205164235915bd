/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/rtrace/rtrace-postprocess.h"

#include <errno.h>

#include "reader/rtrace/rtrace-group.h"

struct work {
	/* The options, including those that the report requests. */
	struct rtrace_postprocess_options options;
	const struct rtrace_postprocess_io *io;
	/* Number of bytes of the report that were read, and that are to be read. */
	uint64_t position, limit;
	uint64_t reported_until; /* number of the line up to which problems were reported */
	bool silent;
	int alien; /* the format, if the input is not a report */
	struct rtrace_choose choose;
	struct rtrace_output output;
	struct rtrace_group *group; /* owned; NULL if the order is unchanged */
	uint64_t n_calls;
	bool is_open;    /* a call was read, but not yet the end of its backtrace */
	bool has_shown;  /* a call with the current backtrace was shown */
	bool call_shown; /* the last call was shown */
	bool line_shown; /* the last line was shown, so its continuation is shown, too */
};

static ssize_t rtrace_postprocess_read_on(void *userdata, void *to, size_t n)
{
	struct work *w = userdata;
	ssize_t got;

	if (n > w->limit - w->position)
		n = (size_t)(w->limit - w->position);
	got = n > 0 ? w->io->read_at(w->io->userdata, w->position, to, n) : 0;
	if (got > 0)
		w->position += (uint64_t)got;
	return got;
}

static void rtrace_postprocess_report(void *userdata, const struct rtrace_problem *problem)
{
	const struct work *w = userdata;

	if (!w->silent && w->io->problem && problem->line > w->reported_until)
		w->io->problem(w->io->userdata, problem);
}

typedef int (*process_record_fn)(struct work *w, const struct rtrace_record *record,
				 const struct rtrace_reader *reader);

/*
 * Reads the report from its beginning. Returns 0, another result of FN, or an error of the reader.
 */
static int rtrace_postprocess_read_all(struct work *w, process_record_fn fn,
				       struct rtrace_reader **ret_reader)
{
	_cleanup_(rtrace_reader_freep) struct rtrace_reader *reader = NULL;
	const struct rtrace_record *record;
	uint64_t line = 0;
	int r;

	w->position = 0;
	r = rtrace_reader_new_source(&reader, rtrace_postprocess_read_on, w,
				     rtrace_postprocess_report, w);
	if (r > 0) {
		w->alien = r;
		return -EBADMSG;
	}
	if (r < 0)
		return r;
	while ((r = rtrace_reader_next(reader, &record)) > 0) {
		line = record->line;
		r = fn(w, record, reader);
		if (r != 0)
			break;
	}
	if (line > w->reported_until)
		w->reported_until = line;
	if (r == 0 && ret_reader)
		*ret_reader = TAKE_PTR(reader);
	return r;
}

/* ---- unchanged output ---- */

static int rtrace_postprocess_copy(struct work *w, const struct rtrace_record *record,
				   const struct rtrace_reader *reader)
{
	w->n_calls += record->kind == RTRACE_CALL;
	return w->io->emit(w->io->userdata, record);
}

/* ---- pass 1 ---- */

static int rtrace_postprocess_choose(struct work *w, const struct rtrace_record *record,
				     const struct rtrace_reader *reader)
{
	/*
	 * A compressed report stays compressed. Otherwise, the calls of a group would lose their
	 * common backtrace, which the report has only once.
	 */
	if (record->kind == RTRACE_HEADER && record->header.filters & RTRACE_FILTER_COMPRESS)
		w->options.compress = true;
	return rtrace_choose_record(&w->choose, record, reader);
}

/* Runs pass 1. Returns an enum rtrace_choose_outcome, or a negative errno. */
static int rtrace_postprocess_pass_1(struct work *w, bool sorts)
{
	int r;

	rtrace_choose_init(&w->choose, w->options.select, w->options.leaks, sorts);
	r = rtrace_postprocess_read_all(w, rtrace_postprocess_choose, NULL);
	return r != 0 ? r : rtrace_choose_finish(&w->choose);
}

/* ---- pass 2 ---- */

/* Ends a backtrace. RECORD is its end, or NULL if another record ends it. */
static int rtrace_postprocess_close_group(struct work *w, const struct rtrace_record *record)
{
	int r = 0;

	if (w->is_open && w->group)
		r = rtrace_group_end(w->group);
	else if (w->is_open && w->has_shown)
		r = rtrace_output_end(&w->output, record);
	w->is_open = w->has_shown = w->call_shown = false;
	return r;
}

static int rtrace_postprocess_show_call(struct work *w, const struct rtrace_record *record)
{
	int r = record->opens ? rtrace_postprocess_close_group(w, NULL) : 0;

	w->is_open = true;
	w->call_shown = rtrace_choose_keeps(&w->choose, w->n_calls++);
	w->line_shown = w->call_shown && !w->group;
	w->has_shown |= w->call_shown;
	if (r < 0 || !w->call_shown)
		return r;
	return w->group ? rtrace_group_call(w->group, record)
			: rtrace_output_call(&w->output, record);
}

static int rtrace_postprocess_show_arg(struct work *w, const struct rtrace_record *record)
{
	w->line_shown = w->call_shown && !w->group;
	if (!w->call_shown)
		return 0;
	if (!w->group)
		return rtrace_output_arg(&w->output, record);
	rtrace_group_arg(w->group, record);
	return 0;
}

static int rtrace_postprocess_show_frame(struct work *w, const struct rtrace_record *record)
{
	int r;

	w->line_shown = false;
	if (!w->has_shown)
		return 0;
	if (w->group) {
		rtrace_group_frame(w->group, record);
		return 0;
	}
	r = rtrace_output_frame(&w->output, record, w->output.n_maps);
	w->line_shown = r > 0;
	return r < 0 ? r : 0;
}

/* Shows a record that is neither a call nor a part of a call. */
static int rtrace_postprocess_show_other(struct work *w, const struct rtrace_record *record)
{
	bool was_open = w->is_open;
	int r;

	if (record->temporary) {
		w->line_shown = false;
		return 0;
	}
	r = rtrace_postprocess_close_group(w, record->kind == RTRACE_END ? record : NULL);
	w->line_shown = true;
	/* A backtrace was open, so its end was already shown or dropped with it. */
	if (r < 0 || (was_open && record->kind == RTRACE_END))
		return r;
	return rtrace_output_other(&w->output, record);
}

static int rtrace_postprocess_show(struct work *w, const struct rtrace_record *record,
				   const struct rtrace_reader *reader)
{
	if (record->continues)
		return w->line_shown ? w->io->emit(w->io->userdata, record) : 0;
	switch (record->kind) {
	case RTRACE_HEADER:
		/* The header is written anew, so its continuation is dropped. */
		w->line_shown = false;
		return rtrace_output_header(&w->output, record);
	case RTRACE_CALL:
		return rtrace_postprocess_show_call(w, record);
	case RTRACE_ARG:
		return rtrace_postprocess_show_arg(w, record);
	case RTRACE_FRAME:
		return rtrace_postprocess_show_frame(w, record);
	default:
		return rtrace_postprocess_show_other(w, record);
	}
}

static int rtrace_postprocess_pass_2(struct work *w)
{
	_cleanup_(rtrace_reader_freep) struct rtrace_reader *reader = NULL;
	const struct rtrace_type *types;
	size_t n_types;
	int r = 0;

	w->silent = true;
	w->limit = w->position;
	w->output = (struct rtrace_output){ .options = &w->options, .io = w->io, .type = -1 };
	if (w->options.compress || w->options.sort != RTRACE_SORT_NONE)
		r = rtrace_group_new(&w->group, &w->output);
	r = r ?: rtrace_postprocess_read_all(w, rtrace_postprocess_show, &reader);
	if (r != 0)
		return r < 0 ? r : -ESTALE;
	if (w->position < w->limit)
		return -ESTALE;
	r = rtrace_postprocess_close_group(w, NULL);
	types = rtrace_reader_types(reader, &n_types);
	if (r == 0 && w->group)
		r = rtrace_group_show(w->group, types, n_types);
	if (r == 0 && w->options.leaks)
		r = rtrace_output_leaks(&w->output, types, n_types);
	return r;
}

/* ---- both passes ---- */

static bool rtrace_postprocess_has_nothing_to_do(const struct rtrace_postprocess_options *o)
{
	return !o->leaks && !o->compress && !o->resolve && !o->has_depth && !o->select &&
	       o->sort == RTRACE_SORT_NONE;
}

static int rtrace_postprocess_record(struct work *w, struct rtrace_postprocess_result *ret)
{
	int r = rtrace_postprocess_pass_1(w, false);

	if (r == RTRACE_CHOOSE_UNSORTED) {
		ret->unsorted = true;
		rtrace_choose_deinit(&w->choose);
		r = rtrace_postprocess_pass_1(w, true);
	}
	r = r ?: rtrace_postprocess_pass_2(w);
	ret->counts = w->choose.counts;
	ret->shown = w->output.shown;
	ret->context_missing = w->choose.select.n_found < w->options.select->n_contexts;
	return r;
}

int rtrace_postprocess(const struct rtrace_postprocess_options *options,
		       const struct rtrace_postprocess_io *io,
		       struct rtrace_postprocess_result *ret)
{
	static const struct rtrace_select all;
	struct work w = { .options = *options, .io = io, .limit = UINT64_MAX };
	int r;

	*ret = (struct rtrace_postprocess_result){ 0 };
	if (options->sort == RTRACE_SORT_COUNT && !options->compress)
		return -EINVAL;
	if (rtrace_postprocess_has_nothing_to_do(options)) {
		r = rtrace_postprocess_read_all(&w, rtrace_postprocess_copy, NULL);
		ret->counts.calls = ret->shown = w.n_calls;
		return w.alien ?: r;
	}
	if (!w.options.select)
		w.options.select = &all;
	r = rtrace_postprocess_record(&w, ret);
	rtrace_group_free(w.group);
	rtrace_choose_deinit(&w.choose);
	return w.alien ?: r;
}
