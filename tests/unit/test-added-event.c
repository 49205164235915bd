/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adding an event (HACKING.md) means adding a row: this is the table with another row, of a made-up
 * event. The writer, the reader, dump, the lint, redact, merge and repair must support it without
 * further code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "model/event.h"

/* A door was opened. (Its values use members of another event.) */
#define EVENT_DOOR ((enum event_kind)EVENT_KIND_MAX)

#define FXT_EVENT_ROWS_MORE                                                                        \
	EVENT(DOOR, MEMORY, PATH, INSTANT, PROCESS,                                                \
	      FIELD(STATE, TEXT, exec.file, NEEDED | PLAIN)                                        \
		      FIELD(FILE, WORD, exec.command_line, IF_SET)                                 \
			      FIELD(CPU, CPU, exec.old_tid, 0))

/* (the linker takes the table from here, and not from the library) */
#include "writer/fxt/fxt-event-fields.c"

#include "cli/archive/dump-json.h"
#include "reader/fxt/fxt-events.h"
#include "reader/fxt/fxt-lint.h"
#include "tests/support/fixtures/archive-fixture.h"
#include "tests/support/fixtures/edit-archives.h"

static const struct event door = {
	.kind = EVENT_DOOR,
	.ts_ns = 10,
	.pid = 100,
	.tid = 101,
	.exec = { .file = "wide open", .command_line = "/home/alice", .old_tid = 3 },
};

/* The same, as the words of a record. */
static void put_door(struct source *s, uint64_t ts)
{
	const struct fxt_out_arg args[] = {
		{ FXT_ARG_STRING, fxt_interned("state"), .text = fxt_inline("wide open") },
		{ FXT_ARG_STRING, fxt_interned("file"), .text = fxt_interned("/home/alice") },
		{ FXT_ARG_UINT32, fxt_interned("cpu"), .u32 = 3 },
	};

	put_event_args(s, ts, 100, "memory", "path", args, 3);
}

/* Data from the archive of F. */
struct read {
	struct event event; /* the only one of its kind */
	char state[32], file[32];
	unsigned n;
	char dumped[1024];
	unsigned n_unwatched;
};

static void found(void *userdata, const struct fxt_finding *finding)
{
	struct read *read = userdata;

	read->n_unwatched += finding->id == FXT_FINDING_MEMORY_UNWATCHED;
}

static void take_record(struct read *ret, struct fxt_events *events,
			const struct fxt_record *record)
{
	struct json_object *json;
	struct event ev;
	const char *what;
	int r = fxt_events_get(events, record, &ev, &what);

	assert_true(r >= 0);
	if (r != FXT_EVENTS_EVENT || ev.kind != EVENT_DOOR)
		return;
	ret->event = ev;
	ret->n++;
	snprintf(ret->state, sizeof(ret->state), "%s", ev.exec.file);
	snprintf(ret->file, sizeof(ret->file), "%s", ev.exec.command_line);
	assert_null(dump_json_record(record, &json));
	snprintf(ret->dumped, sizeof(ret->dumped), "%s",
		 json_object_to_json_string_ext(json, JSON_C_TO_STRING_PLAIN));
	json_object_put(json);
}

static void read_all(const struct outbuf *bytes, struct read *ret)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	_cleanup_(fxt_lint_freep) struct fxt_lint *lint = NULL;
	const struct fxt_record *record;

	*ret = (struct read){ 0 };
	assert_int_equal(fxt_reader_new_memory(&reader, bytes->data, bytes->size), 0);
	assert_int_equal(fxt_events_new(&events), 0);
	assert_int_equal(fxt_lint_new(&lint, found, ret), 0);
	while (fxt_reader_next(reader, &record) == FXT_READER_RECORD) {
		take_record(ret, events, record);
		assert_true(fxt_lint_record(lint, record) >= 0);
	}
	assert_int_equal(fxt_lint_finish(lint), 0);
}

static void test_added_event_there_and_back(void **state)
{
	struct fixture *f = *state;
	struct read read;

	archive_write(f, &door, 1);
	read_all(&f->out, &read);
	assert_int_equal(read.n, 1);
	assert_int_equal(read.event.ts_ns, 10);
	assert_int_equal(read.event.pid, 100);
	assert_int_equal(read.event.tid, 100); /* on the process's main thread, as the row says */
	assert_string_equal(read.state, "wide open");
	assert_string_equal(read.file, "/home/alice");
	assert_int_equal(read.event.exec.old_tid, 3);
	assert_non_null(strstr(read.dumped, "\"category\":\"memory\",\"name\":\"path\""));
	assert_non_null(strstr(read.dumped, "{\"name\":\"state\",\"type\":\"string\","
					    "\"value\":\"wide open\"}"));
	assert_non_null(strstr(read.dumped, "{\"name\":\"cpu\",\"type\":\"uint32\",\"value\":3}"));
	/* No record says that process 100 is watched. */
	assert_int_equal(read.n_unwatched, 1);
}

static void test_added_event_left_out(void **state)
{
	struct fixture *f = *state;
	struct event shut = door;
	struct read read;

	shut.exec.command_line = "";
	archive_write(f, &shut, 1);
	read_all(&f->out, &read);
	assert_int_equal(read.n, 1);
	assert_string_equal(read.file, "");
	assert_null(strstr(read.dumped, "\"file\""));
}

/* Plain text stays, other text is replaced. The row also marks CPUs and secrets. */
static void test_added_event_redacted(void **state)
{
	struct fixture *f = *state;
	struct edit_output out;
	struct read read;

	archive_write(f, &door, 1);
	redact_bytes(&f->out, &(struct edit_redact_options){ NULL, 0, false }, &out);
	read_all(&out.bytes, &read);
	assert_int_equal(read.n, 1);
	assert_string_equal(read.state, "wide open");
	assert_true(*read.file);
	assert_null(memmem(out.bytes.data, out.bytes.size, "alice", 5));
	edit_output_deinit(&out);
}

/* In an archive of two machines, the CPUs of the second one follow those of the first. */
static void test_added_event_merged(void **state)
{
	_cleanup_free_ char *text = NULL;
	struct source sources[2];
	const struct outbuf *archives[] = { &sources[0].bytes, &sources[1].bytes };

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		source_init(&sources[i]);
		put_start(&sources[i], 5, i ? "two" : "one", 4, 1000);
		put_task(&sources[i], 100, "task", 1);
		put_door(&sources[i], 10);
		put_stop(&sources[i], 20);
	}
	text = merge_text(archives, 2, NULL);
	assert_line(text, "kymo: 10 instant memory/path 100/100 state:string=wide open "
			  "file:string=/home/alice cpu:uint32=3");
	assert_line(text,
		    "kymo: 10 instant memory/path 2147483748/2147483748 state:string=wide open "
		    "file:string=/home/alice cpu:uint32=7");
	for (unsigned i = 0; i < 2; i++)
		source_deinit(&sources[i]);
}

/* Next to damage, it is unchanged and in order of time, and its process gets a name. */
static void test_added_event_repaired(void **state)
{
	static const uint64_t garbage[] = { 0xffff, 0xfffffffffffffff7, 0 };
	_cleanup_free_ char *text = NULL;
	struct source s;

	(void)state;
	source_init(&s);
	put_start(&s, 5, "one", 4, 1000);
	put_door(&s, 12);
	put_words(&s, garbage, 3);
	put_door(&s, 10);
	put_stop(&s, 20);
	text = repair_text(&s.bytes, NULL);
	assert_line(text, "kymo: process 100 '?'");
	assert_line(text, "kymo: 10 instant memory/path 100/100 state:string=wide open "
			  "file:string=/home/alice cpu:uint32=3");
	assert_non_null(strstr(strstr(text, "kymo: 10 instant"), "kymo: 12 instant"));
	source_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_added_event_there_and_back, archive_set_up,
						archive_tear_down),
		cmocka_unit_test_setup_teardown(test_added_event_left_out, archive_set_up,
						archive_tear_down),
		cmocka_unit_test_setup_teardown(test_added_event_redacted, archive_set_up,
						archive_tear_down),
		cmocka_unit_test(test_added_event_merged),
		cmocka_unit_test(test_added_event_repaired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
