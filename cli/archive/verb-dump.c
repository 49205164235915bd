/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kymo dump: prints every record of an archive in file order, one per line.
 *
 * The text output has the time since the first record with a time, the type of the record, and its
 * arguments. Text from the archive goes through text_clean(), so that an archive cannot send
 * commands to a terminal.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"
#include "cli/apitrace/apitrace-dump.h"
#include "cli/archive/dump-json.h"
#include "cli/common/open-trace.h"
#include "cli/common/verb-options.h"
#include "cli/common/verb.h"
#include "cli/tfile/tfile-dump.h"
#include "cli/tracedb/tracedb-dump.h"

struct dump {
	bool json;
	bool timed; /* start_ns is set */
	uint64_t start_ns;
	char *text; /* owned; buffer of verb_dump_clean() */
	size_t room;
};

/* Returns the text T without control characters; valid until the next call. */
static const char *verb_dump_clean(struct dump *d, const struct fxt_text *t)
{
	size_t need = 3 * (size_t)t->length + 1;

	if (!t->bytes)
		return "<undefined>";
	if (GROW(d->text, d->room, need) < 0)
		return "<out of memory>";
	text_clean(d->text, d->room, t->bytes, t->length);
	return d->text;
}

static void verb_dump_print_value(struct dump *d, const struct fxt_arg *arg)
{
	switch (arg->type) {
	case FXT_ARG_NULL:
		printf("null");
		break;
	case FXT_ARG_INT32:
		printf("%" PRId32, arg->int32);
		break;
	case FXT_ARG_UINT32:
		printf("%" PRIu32, arg->uint32);
		break;
	case FXT_ARG_INT64:
		printf("%" PRId64, arg->int64);
		break;
	case FXT_ARG_UINT64:
	case FXT_ARG_KOID:
		printf("%" PRIu64, arg->uint64);
		break;
	case FXT_ARG_POINTER:
		printf("0x%" PRIx64, arg->uint64);
		break;
	case FXT_ARG_DOUBLE:
		printf("%g", arg->real);
		break;
	case FXT_ARG_STRING:
		printf("\"%s\"", verb_dump_clean(d, &arg->text));
		break;
	case FXT_ARG_BOOL:
		printf("%s", arg->boolean ? "true" : "false");
		break;
	case FXT_ARG_BLOB:
		printf("<%" PRIu32 " bytes>", arg->blob.size);
		break;
	default:
		printf("<type %u>", arg->type);
	}
}

/* Prints arguments. Returns NULL, or the error in an argument. */
static const char *verb_dump_print_args(struct dump *d, const struct fxt_record *r)
{
	struct fxt_args it = r->args;
	const char *damage = NULL;
	struct fxt_arg arg;
	int outcome;

	while ((outcome = fxt_args_next(&it, &arg)) != FXT_ARGS_END) {
		if (outcome == FXT_ARGS_DAMAGE) {
			damage = it.damage;
			continue;
		}
		printf(" %s=", verb_dump_clean(d, &arg.name));
		verb_dump_print_value(d, &arg);
	}
	return damage;
}

static void verb_dump_print_time(struct dump *d, const struct fxt_record *r)
{
	uint64_t ns;

	if (!d->timed) {
		d->timed = true;
		d->start_ns = r->ts_ns;
	}
	ns = r->ts_ns >= d->start_ns ? r->ts_ns - d->start_ns : d->start_ns - r->ts_ns;
	printf("%c%5" PRIu64 ".%09" PRIu64 "  ", r->ts_ns >= d->start_ns ? ' ' : '-',
	       ns / 1000000000, ns % 1000000000);
}

static void verb_dump_print_scheduling(const struct fxt_record *r)
{
	const char *state;

	if (r->subtype == FXT_SCHED_WAKEUP) {
		printf(" cpu=%u thread=%" PRIu64, r->wake.cpu, r->wake.tid);
		return;
	}
	state = dump_thread_state(r->sw.out_state);
	printf(" cpu=%u %" PRIu64 " (%s) -> %" PRIu64, r->sw.cpu, r->sw.out_tid,
	       state ? state : "?", r->sw.in_tid);
}

static void verb_dump_print_event(struct dump *d, const struct fxt_record *r)
{
	const char *type = dump_event_type(r->subtype);

	printf(" %s", verb_dump_clean(d, &r->category));
	printf(":%s %s", verb_dump_clean(d, &r->name), type ? type : "?");
	if (r->thread.defined)
		printf(" thread=%" PRIu64 "/%" PRIu64, r->thread.pid, r->thread.tid);
	else
		printf(" thread=<undefined>");
	if (r->subtype == FXT_EVENT_DURATION_COMPLETE)
		printf(" duration=%" PRIu64 "ns",
		       r->event.end_ns > r->ts_ns ? r->event.end_ns - r->ts_ns : 0);
	else if (r->subtype == FXT_EVENT_COUNTER || r->subtype >= FXT_EVENT_ASYNC_BEGIN)
		printf(" id=%" PRIu64, r->event.value);
}

static void verb_dump_print_metadata(struct dump *d, const struct fxt_record *r)
{
	switch (r->subtype) {
	case FXT_METADATA_PROVIDER_INFO:
		printf(" id=%" PRIu32 " \"%s\"", r->metadata.provider_id,
		       verb_dump_clean(d, &r->name));
		break;
	case FXT_METADATA_PROVIDER_SECTION:
		printf(" id=%" PRIu32, r->metadata.provider_id);
		break;
	case FXT_METADATA_PROVIDER_EVENT:
		printf(" id=%" PRIu32 " %s", r->metadata.provider_id,
		       r->metadata.number == FXT_PROVIDER_EVENT_BUFFER_FILLED
			       ? "a buffer filled up, records were likely dropped"
			       : "?");
		break;
	case FXT_METADATA_TRACE_INFO:
		printf(" %s", r->metadata.number == FXT_TRACE_INFO_MAGIC ? "magic number" : "?");
		break;
	default:
		break;
	}
}

static void verb_dump_print_profiler(struct dump *d, const struct fxt_record *r)
{
	printf(" thread=%" PRIu64 "/%" PRIu64, r->thread.pid, r->thread.tid);
	switch (r->subtype) {
	case FXT_PROFILER_MODULE:
		printf(" id=%u \"%s\"", r->module.id, verb_dump_clean(d, &r->name));
		break;
	case FXT_PROFILER_MMAP:
		printf(" module=%u 0x%" PRIx64 "+0x%" PRIx64 " vaddr=0x%" PRIx64, r->mmap.module_id,
		       r->mmap.start, r->mmap.range, r->mmap.vaddr);
		break;
	default:
		for (unsigned i = 0; i < r->backtrace.n_frames; i++)
			printf(" 0x%" PRIx64, r->backtrace.frames[i]);
	}
}

static void verb_dump_print_fields(struct dump *d, const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_METADATA:
		verb_dump_print_metadata(d, r);
		break;
	case FXT_RECORD_INITIALIZATION:
		printf(" %" PRIu64 " ticks per second", r->initialization.ticks_per_second);
		break;
	case FXT_RECORD_STRING:
		printf(" %u \"%s\"", r->string.index, verb_dump_clean(d, &r->name));
		break;
	case FXT_RECORD_THREAD:
		printf(" %u = %" PRIu64 "/%" PRIu64, r->thread_record.index, r->thread.pid,
		       r->thread.tid);
		break;
	case FXT_RECORD_EVENT:
		verb_dump_print_event(d, r);
		break;
	case FXT_RECORD_BLOB:
	case FXT_RECORD_LARGE:
		printf(" \"%s\" %" PRIu64 " bytes", verb_dump_clean(d, &r->name), r->blob.size);
		break;
	case FXT_RECORD_USERSPACE_OBJECT:
		printf(" 0x%" PRIx64 " \"%s\"", r->userspace_object.pointer,
		       verb_dump_clean(d, &r->name));
		break;
	case FXT_RECORD_KERNEL_OBJECT:
		printf(" %" PRIu64 " %s \"%s\"", r->kernel_object.koid,
		       r->kernel_object.type == FXT_OBJECT_PROCESS  ? "process"
		       : r->kernel_object.type == FXT_OBJECT_THREAD ? "thread"
								    : "object",
		       verb_dump_clean(d, &r->name));
		break;
	case FXT_RECORD_SCHEDULING:
		verb_dump_print_scheduling(r);
		break;
	case FXT_RECORD_LOG:
		printf(" thread=%" PRIu64 "/%" PRIu64 " \"%s\"", r->thread.pid, r->thread.tid,
		       verb_dump_clean(d, &r->name));
		break;
	case FXT_RECORD_PROFILER:
		verb_dump_print_profiler(d, r);
		break;
	default:
		printf(" type=%u", (unsigned)fxt_get_record_type(r->words[0]));
		if (r->type == FXT_RECORD_UNKNOWN_KIND)
			printf(" kind=%u", r->subtype);
	}
}

/* Prints a record. Returns NULL, or the error in an argument. */
static const char *verb_dump_print_record(struct dump *d, const struct fxt_record *r)
{
	struct json_object *o;
	const char *damage;

	if (d->json) {
		damage = dump_json_record(r, &o);
		json_print_line(o);
		return damage;
	}
	if (fxt_record_has_time(r))
		verb_dump_print_time(d, r);
	else
		printf("%16s  ", "");
	printf("%s", dump_record_name(r));
	verb_dump_print_fields(d, r);
	damage = verb_dump_print_args(d, r);
	putchar('\n');
	return damage;
}

static int verb_dump_all(struct dump *d, struct open_trace *t)
{
	const struct fxt_record *record;
	const char *damage;
	int r;

	while ((r = open_trace_next(t, &record)) > 0) {
		damage = verb_dump_print_record(d, record);
		if (damage)
			open_trace_damage(t, record->offset, damage);
		/* If the reader of standard output has closed it, this is no failure. */
		if (ferror(stdout))
			return CLI_OK;
	}
	return r < 0 ? CLI_FAILED : open_trace_finish(t);
}

static int verb_dump(int argc, char **argv)
{
	_cleanup_(open_trace_close) struct open_trace t = OPEN_TRACE_NULL;
	_cleanup_(apitrace_dump_options_deinit) struct apitrace_dump_options calls = { 0 };
	struct dump d = { 0 };
	const struct verb_option options[] = {
		OPTION_FLAG("json", &d.json),
		CALLS_DUMP_ROWS(&calls),
		{ 0 },
	};
	int r = verb_options_parse_with(argc, argv, options, 1, VERB_ARGS_FILE);

	if (r != VERB_OPTIONS_GO)
		return r;
	r = open_trace_of(
		&t, argv[optind],
		&(struct open_trace_kinds){ .calls = true, .frames = true, .points = true });
	if (r != CLI_OK)
		return r;
	t.prints = true;
	if (t.calls) {
		calls.json = d.json;
		return apitrace_dump(&t, &calls);
	}
	if (t.frames && !calls.used)
		return tfile_dump(&t, d.json);
	if (t.points && !calls.used)
		return tracedb_dump(&t, d.json);
	if (calls.used)
		return cli_failed("%s is not a call trace (apitrace); %s needs one", t.name,
				  calls.used);
	r = verb_dump_all(&d, &t);
	free(d.text);
	return r;
}

const struct verb verb_dump_row = {
	.name = "dump",
	.synopsis = "[OPTION ...] FILE",
	.what = "Print every record of an archive, or every call of a call trace",
	.examples = "  kymo dump t.fxt | less\n  kymo dump --json t.fxt | jq -c .\n",
	.options =
		"      --json  print one JSON object per line, with the field names of the format\n"
		"  -h, --help  show this\n" CALLS_DUMP_HELP
		"\nFILE is an archive, a call trace of apitrace, a GDB trace file or a trace-db file; '-'\n"
		"is standard input.\n"
		"Times are seconds since the first record that has one.\n"
		"Exits with 3 if the archive is damaged.\n",
	.run = verb_dump,
};
