/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo check: the lint. Checks that an archive is complete, that it follows the specification, and
 * that other readers can read it.
 *
 * Findings are counted by kind. The first findings of each kind are shown at the end, with their
 * places. With --all, each finding is shown at once, and none is stored.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/apitrace/apitrace-check.h"
#include "cli/common/colour.h"
#include "cli/common/json.h"
#include "cli/common/open-trace.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/tfile/tfile-check.h"
#include "cli/tracedb/tracedb-check.h"
#include "edit/edit-sessions.h"
#include "reader/fxt/fxt-lint.h"
#include "reader/fxt/fxt-row.h"
#include "reader/views/summary-sessions.h"

/* The number of findings of each kind that are shown. */
enum { SHOWN = 3 };

struct options {
	bool json, all, notes, strict, list;
	const char *explain;
};

struct kind_count {
	uint64_t n;
	struct fxt_finding first[SHOWN];
};

struct report {
	const struct options *options;
	struct kind_count kinds[FXT_FINDING_MAX];
	uint64_t n_of[FXT_SEVERITY_MAX];
	uint64_t n_records, n_good;
	struct summary_sessions sessions; /* sessions that have no session_stop so far */
	bool stopped;                     /* a session_stop of kymo was seen */
	bool has_damage;                  /* kymo repair states that data was lost */
};

static bool verb_check_is_shown(const struct report *r, enum fxt_finding_id id)
{
	return fxt_finding_kinds[id].severity != FXT_SEVERITY_NOTE || r->options->notes;
}

static struct json_object *verb_check_finding_to_json(const struct fxt_finding *f)
{
	const struct fxt_finding_kind *kind = &fxt_finding_kinds[f->id];
	char detail[FXT_FINDING_DETAIL_MAX];

	return JSON_OBJECT(JSON_OF(f, offset), JSON_IF(f->number > 0, "record", f->number),
			   JSON("severity", fxt_severity_text(kind->severity)), JSON_OF(kind, id),
			   JSON("what", kind->text), JSON("detail", fxt_finding_detail(detail, f)));
}

/* Prints the place of a finding: "byte 40, record 3". */
static void verb_check_print_place(const struct fxt_finding *f)
{
	printf("byte %" PRIu64, f->offset);
	if (f->number > 0)
		printf(", record %" PRIu64, f->number);
}

/* Prints the detail of a finding, ": thread 7", or nothing. */
static void verb_check_print_detail(const struct fxt_finding *f)
{
	char detail[FXT_FINDING_DETAIL_MAX];

	fxt_finding_detail(detail, f);
	printf("%s%s\n", *detail ? ": " : "", detail);
}

static void verb_check_found(void *userdata, const struct fxt_finding *f)
{
	const struct fxt_finding_kind *kind = &fxt_finding_kinds[f->id];
	struct report *r = userdata;
	struct kind_count *k = &r->kinds[f->id];

	if (k->n < SHOWN)
		k->first[k->n] = *f;
	k->n++;
	r->n_of[kind->severity]++;
	if (!r->options->all || !verb_check_is_shown(r, f->id))
		return;
	if (r->options->json) {
		json_print_line(verb_check_finding_to_json(f));
	} else {
		verb_check_print_place(f);
		printf(": %s %s: %s", fxt_severity_text(kind->severity), kind->id, kind->text);
		verb_check_print_detail(f);
	}
}

/*
 * Returns true if the archive was cut off: it has kymo's first event, but not its last one. All its
 * records can be valid nevertheless. In a merged archive, each session must have both events.
 */
static bool verb_check_is_cut_off(const struct report *r)
{
	return summary_sessions_n(&r->sessions) > 0;
}

/*
 * Returns the number of warnings that lost data explains: damage can turn an id into another valid
 * one, and the name or the end of a thread can be lost. (The archive has an event `damage`.)
 */
static uint64_t verb_check_n_explained(const struct report *r)
{
	static const enum fxt_finding_id ids[] = { FXT_FINDING_THREAD_PROCESSES,
						   FXT_FINDING_TID_REUSED, FXT_FINDING_KOID_WIDE };
	uint64_t n = 0;

	for (size_t i = 0; r->has_damage && i < ARRAY_SIZE(ids); i++)
		n += r->kinds[ids[i]].n;
	return n;
}

/* Notes the begin or end of a session. Returns 0 or -ENOMEM. */
static int verb_check_note_session(struct report *r, const struct fxt_record *record)
{
	enum fxt_row_id row = fxt_record_row(record);
	char own[EDIT_SESSION_MAX + 1];
	struct summary_session *entry;
	const char *name;

	r->has_damage |= row == FXT_ROW_DAMAGE;
	if (row != FXT_ROW_START && row != FXT_ROW_STOP)
		return 0;
	name = edit_session_of(record, own);
	if (row == FXT_ROW_START)
		return summary_sessions_start(&r->sessions, NULL, name ? name : "", &entry);
	r->stopped = true;
	summary_sessions_remove(&r->sessions,
				summary_sessions_find_stopped(&r->sessions, NULL, name));
	return 0;
}

/*
 * Checks all records. Returns CLI_OK at the end of the archive, or CLI_FAILED after an error
 * message.
 */
static int verb_check_all(struct open_trace *t, struct fxt_lint *lint, struct report *r)
{
	const struct fxt_record *record;
	struct fxt_damage damage;
	int outcome, good;

	while ((outcome = open_trace_step(t, &record, &damage)) > 0) {
		if (outcome != FXT_READER_RECORD) {
			fxt_lint_damage(lint, &damage);
			continue;
		}
		good = fxt_lint_record(lint, record);
		if (good < 0) {
			outcome = good;
			break;
		}
		r->n_records++;
		r->n_good += (unsigned)good;
		if (verb_check_note_session(r, record) < 0) {
			outcome = -ENOMEM;
			break;
		}
	}
	if (outcome == 0)
		outcome = fxt_lint_finish(lint);
	if (outcome < 0)
		return open_trace_failed(t, outcome);
	return CLI_OK;
}

static struct json_object *verb_check_kind_to_json(const struct fxt_finding_kind *kind)
{
	return JSON_OBJECT(JSON_OF(kind, id), JSON("severity", fxt_severity_text(kind->severity)),
			   JSON("what", kind->text));
}

static struct json_object *verb_check_count_to_json(const struct report *r, enum fxt_finding_id i)
{
	if (r->kinds[i].n == 0 || !verb_check_is_shown(r, i))
		return NULL;
	return JSON_ADD(verb_check_kind_to_json(&fxt_finding_kinds[i]),
			JSON("count", r->kinds[i].n));
}

static struct json_object *verb_check_findings_to_json(const struct report *r)
{
	struct json_object *list = json_object_new_array();

	for (unsigned i = 0; i < FXT_FINDING_MAX; i++)
		for (unsigned j = 0; j < SHOWN && j < r->kinds[i].n && verb_check_is_shown(r, i);
		     j++)
			json_append_item(list, verb_check_finding_to_json(&r->kinds[i].first[j]));
	return list;
}

static void verb_check_print_json(const struct report *r, const struct open_trace *t,
				  const struct fxt_lint *lint)
{
	const char *packed = open_trace_packed(t);
	struct json_object *o = JSON_OBJECT(
		JSON("compression", *packed ? packed : "none"),
		JSON("bytes", fxt_reader_offset(t->reader)), JSON("records", r->n_records),
		JSON("good_records", r->n_good), JSON("errors", r->n_of[FXT_SEVERITY_ERROR]),
		JSON("warnings", r->n_of[FXT_SEVERITY_WARNING]),
		JSON("notes", r->n_of[FXT_SEVERITY_NOTE]),
		JSON("not_judged", fxt_lint_not_judged(lint)),
		JSON("truncated", json_boolean(r->kinds[FXT_FINDING_TRUNCATED].n > 0)),
		JSON("cut_off", json_boolean(verb_check_is_cut_off(r))),
		JSON("kinds",
		     JSON_LIST(k, r->kinds, FXT_FINDING_MAX,
			       verb_check_count_to_json(r, (enum fxt_finding_id)(k - r->kinds)))));

	if (r->options->all)
		json_print_line(o);
	else
		json_print_pretty(JSON_ADD(o, JSON("findings", verb_check_findings_to_json(r))));
}

static const enum colour severity_colours[FXT_SEVERITY_MAX] = {
	[FXT_SEVERITY_ERROR] = COLOUR_BAD,
	[FXT_SEVERITY_WARNING] = COLOUR_WARNING,
};

static void verb_check_print_kind(const struct report *r, enum fxt_finding_id id)
{
	const struct fxt_finding_kind *kind = &fxt_finding_kinds[id];
	const struct kind_count *k = &r->kinds[id];

	printf("%s%s%s %s: %s", colour(severity_colours[kind->severity]),
	       fxt_severity_text(kind->severity), colour(COLOUR_OFF), kind->id, kind->text);
	if (k->n > 1)
		printf(", %" PRIu64 " times", k->n);
	putchar('\n');
	for (unsigned i = 0; i < SHOWN && i < k->n && !r->options->all; i++) {
		printf("    at ");
		verb_check_print_place(&k->first[i]);
		verb_check_print_detail(&k->first[i]);
	}
}

static void verb_check_print_kinds(const struct report *r, enum fxt_severity severity)
{
	for (unsigned i = 0; i < FXT_FINDING_MAX; i++)
		if (fxt_finding_kinds[i].severity == severity && r->kinds[i].n > 0 &&
		    verb_check_is_shown(r, i))
			verb_check_print_kind(r, i);
}

static void verb_check_print_count(const struct report *r, enum fxt_severity severity,
				   const char *before)
{
	uint64_t n = r->n_of[severity];

	printf("%s%s%" PRIu64 " %s%s%s", before,
	       colour(n > 0                            ? severity_colours[severity]
		      : severity == FXT_SEVERITY_ERROR ? COLOUR_GOOD
						       : COLOUR_OFF),
	       n, fxt_severity_text(severity), text_s(n), colour(COLOUR_OFF));
}

static void verb_check_print_text(const struct report *r, const struct open_trace *t,
				  const struct fxt_lint *lint)
{
	const char *packed = open_trace_packed(t);

	for (unsigned i = 0; i < FXT_SEVERITY_MAX && !r->options->all; i++)
		verb_check_print_kinds(r, i);
	if (verb_check_is_cut_off(r) && !r->stopped)
		printf("there is no event session_stop: the recording was cut off\n");
	else if (verb_check_is_cut_off(r))
		printf("%zu session%s no event session_stop: cut off\n",
		       summary_sessions_n(&r->sessions),
		       summary_sessions_n(&r->sessions) == 1 ? " has" : "s have");
	if (r->options->strict && verb_check_n_explained(r) > 0)
		printf("%" PRIu64
		       " warning%s about ids accepted: the archive was repaired, and its "
		       "events 'damage' state that data was lost\n",
		       verb_check_n_explained(r), text_s(verb_check_n_explained(r)));
	if (*packed)
		printf("compressed with %s; byte offsets refer to the decompressed "
		       "archive\n",
		       packed);
	if (fxt_lint_not_judged(lint) > 0)
		printf("%" PRIu64
		       " record%s not compared with others: too late, or too many threads "
		       "or ids\n",
		       fxt_lint_not_judged(lint), text_s(fxt_lint_not_judged(lint)));
	printf("%s: %s, %" PRIu64 " of %" PRIu64 " records good", t->name,
	       TEXT_SIZE(fxt_reader_offset(t->reader)), r->n_good, r->n_records);
	verb_check_print_count(r, FXT_SEVERITY_ERROR, ", ");
	verb_check_print_count(r, FXT_SEVERITY_WARNING, ", ");
	if (r->options->notes)
		verb_check_print_count(r, FXT_SEVERITY_NOTE, ", ");
	putchar('\n');
}

static void verb_check_print_kind_json(const struct fxt_finding_kind *kind)
{
	json_print_line(
		JSON_ADD(verb_check_kind_to_json(kind), JSON("explanation", kind->explain)));
}

static int verb_check_list_kinds(bool json)
{
	for (unsigned i = 0; i < FXT_FINDING_MAX; i++) {
		const struct fxt_finding_kind *kind = &fxt_finding_kinds[i];

		if (json)
			verb_check_print_kind_json(kind);
		else
			printf("%-22s %-8s %s\n", kind->id, fxt_severity_text(kind->severity),
			       kind->text);
	}
	finding_counts_list(apitrace_finding_kinds, APITRACE_FINDING_MAX, json);
	finding_counts_list(tfile_finding_kinds, TFILE_FINDING_MAX, json);
	finding_counts_list(tracedb_finding_kinds, TRACEDB_FINDING_MAX, json);
	return CLI_OK;
}

/* Prints TEXT in lines of at most 78 columns. */
static void verb_check_print_folded(const char *text)
{
	size_t column = 0;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column > 0 && column + 1 + n > 78) {
			putchar('\n');
			column = 0;
		}
		column += (size_t)printf("%s%.*s", column > 0 ? " " : "", (int)n, text);
		text += n + (text[n] == ' ');
	}
	putchar('\n');
}

static int verb_check_print_explanation(const char *id, const char *severity, const char *text,
					const char *explanation)
{
	printf("%s (%s): %s\n\n", id, severity, text);
	verb_check_print_folded(explanation);
	return CLI_OK;
}

/* Explains a kind of finding in a format other than FXT. Returns an enum cli_exit, or -1 if the
 * kind is unknown. */
static int verb_check_explain_of(const struct finding_kind *kinds, size_t n, const char *id,
				 bool json)
{
	int i = finding_by_id(kinds, n, id);

	if (i < 0)
		return -1;
	if (!json)
		return verb_check_print_explanation(id, finding_severity_text(kinds[i].severity),
						    kinds[i].text, kinds[i].explain);
	json_print_line(finding_counts_explanation(&kinds[i]));
	return CLI_OK;
}

static int verb_check_explain(const char *id, bool json)
{
	const struct fxt_finding_kind *kind;
	int i = fxt_finding_by_id(id), r;

	r = verb_check_explain_of(apitrace_finding_kinds, APITRACE_FINDING_MAX, id, json);
	if (r < 0)
		r = verb_check_explain_of(tfile_finding_kinds, TFILE_FINDING_MAX, id, json);
	if (r < 0)
		r = verb_check_explain_of(tracedb_finding_kinds, TRACEDB_FINDING_MAX, id, json);
	if (r >= 0)
		return r;
	if (i < 0)
		return cli_usage_error("unknown kind of finding '%s'; --list shows all kinds", id);
	kind = &fxt_finding_kinds[i];
	if (json) {
		verb_check_print_kind_json(kind);
		return CLI_OK;
	}
	return verb_check_print_explanation(kind->id, fxt_severity_text(kind->severity), kind->text,
					    kind->explain);
}

static void verb_check_deinit(struct report *r)
{
	summary_sessions_deinit(&r->sessions);
}

static int verb_check_file(const char *path, const struct options *options)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_(fxt_lint_freep) struct fxt_lint *lint = NULL;
	_cleanup_(verb_check_deinit) struct report report = { .options = options };
	struct finding_counts calls = {
		.kinds = apitrace_finding_kinds,
		.n_kinds = APITRACE_FINDING_MAX,
		.json = options->json,
		.all = options->all,
		.notes = options->notes,
		.strict = options->strict,
	};
	struct finding_counts frames = calls, points = calls;
	const struct open_trace_kinds kinds = {
		.calls = true,
		.frames = true,
		.points = true,
		.call_finding = apitrace_check_found,
		.frame_finding = tfile_check_found,
		.call_userdata = &calls,
		.frame_userdata = &frames,
	};
	int r;

	frames.kinds = tfile_finding_kinds;
	frames.n_kinds = TFILE_FINDING_MAX;
	points.kinds = tracedb_finding_kinds;
	points.n_kinds = TRACEDB_FINDING_MAX;
	r = open_trace_of(&t, path, &kinds);
	if (r != CLI_OK)
		return r;
	t.prints = options->all;
	if (t.calls)
		return apitrace_check(&calls, &t);
	if (t.frames)
		return tfile_check(&frames, &t);
	if (t.points)
		return tracedb_check(&points, &t);
	if (fxt_lint_new(&lint, verb_check_found, &report) < 0)
		return cli_failed("out of memory");
	r = verb_check_all(&t, lint, &report);
	if (options->json)
		verb_check_print_json(&report, &t, lint);
	else
		verb_check_print_text(&report, &t, lint);
	if (r != CLI_OK)
		return r;
	if (report.n_of[FXT_SEVERITY_ERROR] > 0 || verb_check_is_cut_off(&report))
		return CLI_DAMAGE;
	return options->strict &&
			       report.n_of[FXT_SEVERITY_WARNING] > verb_check_n_explained(&report)
		       ? CLI_DAMAGE
		       : CLI_OK;
}

static int verb_check(int argc, char **argv)
{
	struct options o = { 0 };
	const struct verb_option rows[] = {
		OPTION_FLAG("all", &o.all),
		OPTION_TEXT("explain", 0, &o.explain),
		OPTION_FLAG("json", &o.json),
		OPTION_FLAG("list", &o.list),
		OPTION_FLAG("notes", &o.notes),
		OPTION_FLAG("strict", &o.strict),
		{ 0 },
	};
	int r = verb_options_parse(argc, argv, rows);

	if (r != VERB_OPTIONS_GO)
		return r;
	if (o.explain || o.list) {
		if (argc != optind)
			return cli_usage_error("--list and --explain take no FILE");
		if (o.explain && o.list)
			return cli_usage_error("--list and --explain cannot be combined");
		return o.explain ? verb_check_explain(o.explain, o.json)
				 : verb_check_list_kinds(o.json);
	}
	if (argc - optind != 1)
		return cli_usage_error("expected one FILE, or '-' for standard input");
	return verb_check_file(argv[optind], &o);
}

const struct verb verb_check_row = {
	.name = "check",
	.synopsis = "[OPTION ...] FILE",
	.what = "Check that an archive is valid and that other readers understand it",
	.examples = "  kymo check t.fxt\n  kymo check --explain stack-unnamed\n",
	.options =
		"      --all         show every finding, not only the first ones of each kind\n"
		"      --notes       also show valid records that Perfetto ignores\n"
		"      --strict      exit with 3 for warnings, too\n"
		"      --json        print the findings as JSON; with --all, one object per line\n"
		"      --list        list all kinds of findings\n"
		"      --explain=ID  explain a kind of finding, and its remedy\n"
		"  -h, --help        show this\n"
		"\nFILE is an archive, a call trace of apitrace, a GDB trace file or a trace-db file; '-'\n"
		"is standard input.\n"
		"Errors violate the specification. Warnings are for valid data that other readers show\n"
		"wrongly.\n"
		"The exit status is 0 without errors, 3 with errors or for an incomplete recording, and 1\n"
		"if it is not an archive.\n",
	.run = verb_check,
};
