/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Adding an event (HACKING.md) is adding a row: here is the table with one more, of a made-up event.
 * The writer, the reader, dump, the lint and redact must know it without a line of their own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "writer/event.h"

/* A door was opened. (What it says has room in the members of another one.) */
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
#include "tests/support/archive-fixture.h"
#include "tests/support/edit-archives.h"

static const struct event door = {
	.kind = EVENT_DOOR,
	.ts_ns = 10,
	.pid = 100,
	.tid = 101,
	.exec = { .file = "wide open", .command_line = "/home/alice", .old_tid = 3 },
};

/* What is made of the archive of F. */
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
	assert_int_equal(read.event.tid, 100); /* on the process's main thread, says the row */
	assert_string_equal(read.state, "wide open");
	assert_string_equal(read.file, "/home/alice");
	assert_int_equal(read.event.exec.old_tid, 3);
	assert_non_null(strstr(read.dumped, "\"category\":\"memory\",\"name\":\"path\""));
	assert_non_null(strstr(read.dumped, "{\"name\":\"state\",\"type\":\"string\","
					    "\"value\":\"wide open\"}"));
	assert_non_null(strstr(read.dumped, "{\"name\":\"cpu\",\"type\":\"uint32\",\"value\":3}"));
	/* Nobody said that process 100 is watched. */
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

/* Plain text stays, other text goes; what a CPU or a secret is the row says, too. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_added_event_there_and_back, archive_set_up,
						archive_tear_down),
		cmocka_unit_test_setup_teardown(test_added_event_left_out, archive_set_up,
						archive_tear_down),
		cmocka_unit_test_setup_teardown(test_added_event_redacted, archive_set_up,
						archive_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
