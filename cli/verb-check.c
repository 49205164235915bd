/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo check: is an archive whole, and does it keep to the specification? Says what is wrong, and
 * where.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/json.h"
#include "cli/open-trace.h"
#include "cli/verb.h"
#include "reader/fxt/fxt-check.h"

/* More findings than this are counted and not listed. */
enum { FINDINGS_SHOWN = 100 };

struct report {
	struct json_object *list; /* with --json */
	uint64_t n_records, n_good, n_errors, n_warnings, n_shown;
	bool started, stopped; /* kymo's own session_start and session_stop */
	bool truncated;
};

static void find(struct report *r, uint64_t offset, const char *severity, const char *what)
{
	if (r->n_shown++ >= FINDINGS_SHOWN)
		return;
	if (r->list) {
		struct json_object *o = json_object_new_object();

		json_add_u64(o, "offset", offset);
		json_add_string(o, "severity", severity);
		json_add_string(o, "what", what);
		json_object_array_add(r->list, o);
	} else {
		printf("at byte %" PRIu64 ": %s: %s\n", offset, severity, what);
	}
}

static void check_record(struct report *r, const struct fxt_record *record)
{
	struct fxt_findings findings;

	fxt_check_record(record, &findings);
	r->n_records++;
	r->n_good += findings.n_errors == 0;
	for (unsigned i = 0; i < findings.n; i++) {
		bool warning = findings.list[i].warning;

		*(warning ? &r->n_warnings : &r->n_errors) += 1;
		find(r, record->offset, warning ? "warning" : "error", findings.list[i].what);
	}
	if (record->type == FXT_RECORD_EVENT &&
	    fxt_text_known(&record->category) == FXT_NAME_KYMO) {
		int name = fxt_text_known(&record->name);

		r->started |= name == FXT_NAME_SESSION_START;
		r->stopped |= name == FXT_NAME_SESSION_STOP;
	}
}

/* Returns CLI_OK at the end of the archive, or CLI_FAILED when it has said why. */
static int check_all(struct open_trace *t, struct report *r)
{
	const struct fxt_record *record;
	struct fxt_damage damage;
	int outcome;

	while ((outcome = open_trace_step(t, &record, &damage)) > 0) {
		if (outcome == FXT_READER_RECORD) {
			check_record(r, record);
			continue;
		}
		r->n_errors++;
		r->truncated |= damage.truncated;
		find(r, damage.offset, "error", damage.what);
	}
	if (outcome < 0) {
		open_trace_failed(t, outcome);
		return CLI_FAILED;
	}
	return CLI_OK;
}

static void print_json(const struct report *r, const struct open_trace *t)
{
	struct json_object *o = json_object_new_object();
	const char *packed = open_trace_packed(t);

	json_add_string(o, "compression", *packed ? packed : "none");
	json_add_u64(o, "bytes", fxt_reader_offset(t->reader));
	json_add_u64(o, "records", r->n_records);
	json_add_u64(o, "good_records", r->n_good);
	json_add_u64(o, "errors", r->n_errors);
	json_add_u64(o, "warnings", r->n_warnings);
	json_add(o, "truncated", json_object_new_boolean(r->truncated));
	json_add(o, "cut_off", json_object_new_boolean(r->started && !r->stopped));
	json_add(o, "findings", json_object_get(r->list));
	json_print_pretty(o);
}

static void print_text(const struct report *r, const struct open_trace *t)
{
	const char *packed = open_trace_packed(t);
	char size[TEXT_FORMAT_MAX];

	if (r->n_shown > FINDINGS_SHOWN)
		printf("and %" PRIu64 " more\n", r->n_shown - FINDINGS_SHOWN);
	if (r->started && !r->stopped)
		printf("note: there is no session_stop: the recording was cut off\n");
	if (*packed)
		printf("note: it is packed by %s; bytes are counted in the unpacked archive\n",
		       packed);
	printf("%s: %s, %" PRIu64 " of %" PRIu64 " records good, %" PRIu64 " error%s, %" PRIu64
	       " warning%s\n",
	       t->name, text_format_size(size, fxt_reader_offset(t->reader)), r->n_good,
	       r->n_records, r->n_errors, r->n_errors == 1 ? "" : "s", r->n_warnings,
	       r->n_warnings == 1 ? "" : "s");
}

static void put_listp(struct json_object **list)
{
	json_object_put(*list);
}

static int verb_check(int argc, char **argv)
{
	static const struct option options[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "json", no_argument, NULL, 'j' },
		{ 0 },
	};
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_(put_listp) struct json_object *list = NULL;
	struct report report = { 0 };
	bool json = false;
	int c, r;

	while ((c = getopt_long(argc, argv, ":h", options, NULL)) != -1) {
		switch (c) {
		case 'h':
			return cli_help();
		case 'j':
			json = true;
			break;
		default:
			return cli_bad_option(c, argv);
		}
	}
	if (argc - optind != 1)
		return cli_usage_error("it takes one FILE, or '-' for standard input");
	r = open_trace(&t, argv[optind]);
	if (r != CLI_OK)
		return r;
	if (json)
		list = report.list = json_object_new_array();
	r = check_all(&t, &report);
	if (json)
		print_json(&report, &t);
	else
		print_text(&report, &t);
	if (r != CLI_OK)
		return r;
	return report.n_errors ? CLI_DAMAGE : CLI_OK;
}

const struct verb verb_check_row = {
	.name = "check",
	.synopsis = "[OPTION ...] FILE",
	.what = "Check that an archive is whole and keeps to the format",
	.options =
		"      --json  print the findings as JSON\n"
		"  -h, --help  show this\n"
		"\nFILE is an archive; '-' is standard input.\n"
		"Exits with 0 if nothing is wrong, 3 if it is damaged but can be read, and 1 if it is\n"
		"not an archive. Warnings are not counted as damage.\n",
	.run = verb_check,
};
