/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo why: explains why threads were slow: the causes of their waits, the threads for which they
 * waited, and the thread to look at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "cli/archive/edit-trace.h"
#include "cli/common/part-options.h"
#include "cli/common/read-events.h"
#include "cli/common/resolver.h"
#include "cli/common/thread-choice.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/why/why-notes.h"
#include "cli/why/why-view.h"
#include "edit/edit-why.h"

enum { WHY_WORST_SHOWN = 5 };

struct request {
	const char *input, *word;
	const char *span, *between_from, *between_to;
	const char *into;
	bool force;
	char **argv;
	struct part_options part;
	struct symbol_options symbols;
	uint64_t worst, min_ns;
	enum why_what what;
	bool whole, json;
};

struct why_input {
	struct summary *summary;
	struct profile *profile;
	struct resolver resolver;
	struct profile_names names;
	struct why *why;
	struct other_files others;
	struct thread_choice choice;
};

static void verb_why_input_deinit(struct why_input *in)
{
	in->why = why_free(in->why);
	in->profile = profile_free(in->profile);
	in->summary = summary_free(in->summary);
	resolver_deinit(&in->resolver);
	other_files_deinit(&in->others);
	thread_choice_deinit(&in->choice);
}

static int verb_why_on_event(void *userdata, const struct event *ev)
{
	struct why_input *in = userdata;

	if (ev->kind == EVENT_OTHER_FILE && other_files_add(&in->others, ev) < 0)
		return -ENOMEM;
	return summary_add(in->summary, ev) ?: resolver_add(&in->resolver, ev)
					    ?: profile_add(in->profile, ev)
					    ?: why_add(in->why, ev);
}

static int verb_why_open_views(const struct request *q, struct why_input *in)
{
	const struct why_options options = {
		.what = q->what,
		.span = q->span,
		.between_from = q->between_from,
		.between_to = q->between_to,
		.wants = thread_choice_wants,
		.userdata = &in->choice,
		.from_ns = q->part.from_ns,
		.to_ns = q->part.to_ns,
		.absolute = part_options_absolute(&q->part),
		.min_ns = q->min_ns,
		.n_worst = (size_t)q->worst,
		.with_idle = q->word != NULL,
		.names = &in->names,
	};

	in->names = (struct profile_names){ .find = resolver_find, .userdata = &in->resolver };
	if (summary_new(&in->summary) < 0 ||
	    profile_new(&in->profile, &(struct profile_options){ .to_ns = UINT64_MAX }) < 0 ||
	    why_new(&in->why, &options, in->summary, in->profile) < 0)
		return cli_failed("out of memory");
	return CLI_OK;
}

static void verb_why_say(void *userdata, const char *text)
{
	cli_error("%s", text);
}

static int verb_why_print(const struct request *q, const struct open_trace *t,
			  const struct why_input *in)
{
	const struct why_view view = {
		.why = in->why,
		.summary = in->summary,
		.profile = in->profile,
		.names = &in->names,
		.what = q->what,
		.file = t->name,
		.word = q->word,
	};

	if (q->json && why_json_print(&view) < 0)
		return cli_failed("out of memory");
	if (!q->json)
		why_text_print(&view);
	why_notes(in->why, t->name, verb_why_say, NULL);
	if (q->span)
		nothing_there_name_files(&in->others, t->name);
	return CLI_OK;
}

static int verb_why_say_no_mark(const char *text, const struct value_nearest *near)
{
	return cli_failed("the recording has no mark '%s'%s%s%s", text,
			  near->nearest ? "; did you mean '" : "", near->nearest ?: "",
			  near->nearest ? "'?" : "");
}

/* Checks that the archive has what --span or --between names. Returns CLI_OK, or CLI_FAILED. */
static int verb_why_check_spans(const struct open_trace *t, const struct why *w)
{
	const struct why_spans *s = why_get_spans(w);

	if (s->function && !s->seen) {
		nothing_there_say(&t->parts, NOTHING_CALLS, t->name);
		return CLI_FAILED;
	}
	if (s->function && s->n == 0 && s->n_dropped == 0 && s->n_left_out == 0)
		return cli_failed("the recording has no call of '%s'%s%s%s", s->function,
				  s->near.nearest ? "; did you mean '" : "", s->near.nearest ?: "",
				  s->near.nearest ? "'?" : "");
	if (s->begin && s->n_begins == 0 && s->n_dropped == 0)
		return verb_why_say_no_mark(s->begin, &s->near);
	if (s->end && s->n_ends == 0 && s->n_dropped == 0)
		return verb_why_say_no_mark(s->end, &s->near_end);
	return CLI_OK;
}

/* ---- --into ---- */

struct why_into {
	struct edit_why *edit;
	struct open_trace in;
};

static void verb_why_into_deinit(struct why_into *w)
{
	edit_why_free(w->edit);
	open_trace_close(&w->in);
}

static int verb_why_on_record(void *userdata, const struct fxt_record *record)
{
	const char *what;

	/* (damage of the archive was reported when it was read for the first time) */
	return edit_why_record(((struct why_into *)userdata)->edit, record, &what);
}

/* Writes the archive again, with tracks. */
static int verb_why_write(const struct request *q, const struct why_input *in)
{
	_cleanup_(verb_why_into_deinit) struct why_into w = { .in = OPEN_TRACE_NULL };
	_cleanup_(edit_trace_close) struct edit_trace out = EDIT_TRACE_NULL;
	struct edit_why_counts counts;
	int r = open_trace(&w.in, q->input) ?: edit_trace_open(&out, q->into, q->force, &w.in, 1);
	int e;

	if (r != CLI_OK)
		return r;
	e = edit_why_new(&w.edit, &out.output, in->why, in->summary);
	if (e < 0)
		return edit_trace_failed(&out, e);
	r = edit_trace_process_all(&out, &w.in, verb_why_on_record, &w);
	if (r != CLI_OK)
		return r;
	e = edit_why_finish(w.edit);
	if (e < 0)
		return edit_trace_failed(&out, e);
	r = edit_trace_finish(&out);
	edit_why_get_counts(w.edit, &counts);
	if (r == CLI_OK)
		cli_error("%s: %" PRIu64 " track%s with %" PRIu64 " step%s", q->into, counts.tracks,
			  text_s(counts.tracks), counts.steps, text_s(counts.steps));
	edit_trace_report_unknown(q->into, &counts.copied);
	return r;
}

static int verb_why_run(const struct request *q)
{
	_cleanup_(symbols_freep) struct symbols *symbols = NULL;
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_(verb_why_input_deinit) struct why_input in = { 0 };
	int r = open_trace(&t, q->input) ?: symbol_options_open(&q->symbols, &symbols);

	resolver_init(&in.resolver, symbols, &q->symbols);
	r = r ?: verb_why_open_views(q, &in) ?: read_events(&t, verb_why_on_event, &in);
	if (r != CLI_OK)
		return r;
	if (summary_finish(in.summary) < 0)
		return cli_failed("out of memory");
	if (!in.why->sources.schedule) {
		nothing_there_say(&t.parts, NOTHING_SWITCHES, t.name);
		return CLI_FAILED;
	}
	r = verb_why_check_spans(&t, in.why) ?: thread_choice_make(&in.choice, in.summary, q->word);
	if (r != CLI_OK)
		return r;
	if (why_finish(in.why) < 0)
		return cli_failed("out of memory");
	r = verb_why_print(q, &t, &in);
	if (r == CLI_OK && q->into)
		r = verb_why_write(q, &in);
	if (r != CLI_OK)
		return r;
	r = read_events_finish(&t, in.summary);
	r = read_events_unmapped(&t, profile_n_unmapped(in.profile), r);
	return r == CLI_OK && why_notes_is_cut(in.why) ? CLI_DAMAGE : r;
}

static int verb_why_parse_worst(void *worst, char *text)
{
	if (text_parse_u64(text, WHY_WORST_MAX, worst) < 0)
		return cli_usage_error("--worst takes a number up to %d, not '%s'", WHY_WORST_MAX,
				       text);
	return CLI_OK;
}

static int verb_why_parse_min(void *min_ns, char *text)
{
	if (text_parse_time(text, min_ns) < 0)
		return cli_usage_error("--min takes a time, such as 10ms, not '%s'", text);
	return CLI_OK;
}

/* --between takes two words. */
static int verb_why_parse_between(void *request, char *text)
{
	struct request *q = request;

	if (!q->argv[optind])
		return cli_usage_error("--between takes two marks: FROM TO");
	q->between_from = text;
	q->between_to = q->argv[optind++];
	return CLI_OK;
}

/* Checks Q, and finds the kind of instances. Returns CLI_OK, or an enum cli_exit after an error
 * message. */
static int verb_why_choose_instances(struct request *q)
{
	if (q->into && strcmp(q->input, "-") == 0)
		return cli_usage_error("--into reads FILE twice, so it cannot be standard input");
	if (q->force && !q->into)
		return cli_usage_error("--force needs --into");
	if (q->whole + (q->span != NULL) + (q->between_from != NULL) > 1)
		return cli_usage_error("--whole, --span and --between exclude each other");
	q->what = q->whole          ? WHY_INSTANCE_WINDOW
		  : q->span         ? WHY_INSTANCE_CALL
		  : q->between_from ? WHY_INSTANCE_BETWEEN
				    : WHY_INSTANCE_WAIT;
	return CLI_OK;
}

static int verb_why(int argc, char **argv)
{
	struct request q = { .part = PART_OPTIONS_ALL, .worst = WHY_WORST_SHOWN, .argv = argv };
	const struct verb_option options[] = {
		OPTION_VALUE("between", 0, verb_why_parse_between, &q),
		OPTION_VALUE("from", 0, part_options_from, &q.part),
		OPTION_FLAG("force", &q.force),
		OPTION_TEXT("into", 0, &q.into),
		OPTION_FLAG("json", &q.json),
		OPTION_VALUE("min", 0, verb_why_parse_min, &q.min_ns),
		OPTION_TEXT("span", 0, &q.span),
		OPTION_VALUE("to", 0, part_options_to, &q.part),
		OPTION_FLAG("whole", &q.whole),
		OPTION_VALUE("worst", 'n', verb_why_parse_worst, &q.worst),
		SYMBOL_NONE_ROW(&q.symbols),
		SYMBOL_PLACE_ROWS(&q.symbols),
		{ 0 },
	};
	int r = verb_options_parse(argc, argv, options);

	if (r != VERB_OPTIONS_GO)
		return r;
	if (argc - optind < 1 || argc - optind > 2)
		return cli_usage_error("expected a FILE, and at most one thread, process, unit or "
				       "cgroup");
	q.input = argv[optind];
	q.word = argc - optind > 1 ? argv[optind + 1] : NULL;
	r = part_options_check(&q.part) ?: verb_why_choose_instances(&q);
	return r == CLI_OK ? verb_why_run(&q) : r;
}

const struct verb verb_why_row = {
	.name = "why",
	.synopsis = "[OPTION ...] FILE [WHOM]",
	.what = "Explain why threads were slow: on whom they waited, and for how long",
	.examples = "  kymo why t.fxt\n  kymo why --from 1.5 --to 2 t.fxt redis-server\n"
		    "  kymo why --span syscall:fsync t.fxt\n",
	.options =
		"  -n, --worst=N          show the N longest instances (5): times off CPU, or those of\n"
		"                         the next three options\n"
		"      --whole            explain the whole time of each thread, not its longest waits\n"
		"      --span=FUNCTION    explain each call of FUNCTION, a name with * and ?\n"
		"      --between FROM TO  explain the time from each mark FROM to the next mark TO\n"
		"      --min=TIME         only instances of at least TIME, such as 10ms\n"
		"      --into=OUT         also write the archive OUT: FILE, with tracks of these instances\n"
		"                         for Perfetto\n"
		"      --force            replace an existing OUT\n"
		"      --from=TIME        start TIME after the start (1.5, 200ms), or at @NANOSECONDS\n"
		"      --to=TIME          end there\n" SYMBOL_NONE_HELP SYMBOL_PLACE_HELP
		"      --json             print everything as JSON\n"
		"  -h, --help             show this\n"
		"\nFILE is an archive with the category sched, and offcpu for the causes of waits; '-' is\n"
		"standard input. WHOM is a process or thread (an id, or a name with * and ?), a systemd\n"
		"unit, or a cgroup (/PATH). Waits for work count only if WHOM is given.\n"
		"FUNCTION can have its file before it (libc.so.6:fsync, syscall:read). The archive has only\n"
		"the name, so calls of all functions of that name count.\n"
		"Exits with 3 if the archive is damaged, events were lost in the recording, or a limit has\n"
		"cut the answer, and with 1 if it has no scheduling records, or no such call or mark.\n",
	.run = verb_why,
};
