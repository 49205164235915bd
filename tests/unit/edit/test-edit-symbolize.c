/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The output of `kymo symbolize`, with names from this test: each address is written once, before
 * its first use, and never with a wrong name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "edit/edit-symbolize.h"
#include "reader/fxt/fxt-events.h"
#include "tests/support/fixtures/edit-archives.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-archive.h"

#define KYMO .pid = FXT_KOID_KYMO, .tid = FXT_KOID_KYMO
#define STACK(...)                                                                                 \
	{                                                                                          \
		.frames = (const uint64_t[]){ __VA_ARGS__ },                                       \
		.n_frames = sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)           \
	}
#define SAMPLE(ts, p, ...)                                                                         \
	{                                                                                          \
		.kind = EVENT_SAMPLE, .ts_ns = (ts), .pid = (p), .tid = (p),                       \
		.sample = STACK(__VA_ARGS__)                                                       \
	}
#define MAPPING(ts, p, at, file)                                                                   \
	{                                                                                          \
		.kind = EVENT_MAPPING, .ts_ns = (ts), .pid = (p), .tid = (p), .mapping = {         \
			.path = (file),                                                            \
			.start = (at),                                                             \
			.size = 0x1000                                                             \
		}                                                                                  \
	}
#define EXEC(ts, p)                                                                                \
	{                                                                                          \
		.kind = EVENT_EXEC, .ts_ns = (ts), .pid = (p), .tid = (p), .exec = {               \
			.file = "/other",                                                          \
			.command_line = ""                                                         \
		}                                                                                  \
	}
#define KERNEL_AT UINT64_C(0xffffffff81000000)

/* The calls of the callback. */
struct asked {
	unsigned n, n_events;
};

/*
 * Names in /app and the kernel: the offset of the code, and from 0x800 on an inlined function
 * first. Other files have no names.
 */
static int find_names(void *userdata, const struct profile_place *place, const struct frame **ret)
{
	static char name[32];
	static struct frame frames[2];
	struct asked *asked = userdata;
	uint64_t offset;

	asked->n++;
	if (!place->mapping || strcmp(place->mapping->path, "/unknown") == 0)
		return 0;
	offset = place->address - place->returns - place->mapping->start;
	snprintf(name, sizeof(name), "%s_%" PRIx64, place->mapping->path + 1, offset);
	frames[0] = (struct frame){ "inlined", "app.h", "", 7, 0 };
	frames[1] = (struct frame){ name, "app.c", place->mapping->path, 9, 1 };
	if (offset >= 0x800) {
		*ret = frames;
		return 2;
	}
	frames[1].depth = 0;
	*ret = &frames[1];
	return 1;
}

static int count_event(void *userdata, const struct event *ev)
{
	struct asked *asked = userdata;

	asked->n_events += ev->kind != 0;
	return 0;
}

static void write_archive(struct outbuf *out, const struct event *events, size_t n)
{
	struct fxt_archive a;

	OK(fxt_archive_init(&a, out, 1));
	OK(fxt_archive_begin(&a));
	for (size_t i = 0; i < n; i++)
		OK(fxt_archive_event(&a, &events[i]));
	fxt_archive_deinit(&a);
}

static void symbolize(const struct outbuf *from, struct edit_output *to, bool no_packets,
		      struct asked *asked, struct edit_symbolize_counts *counts)
{
	const struct profile_names names = { .find = find_names, .userdata = asked };
	const struct edit_symbolize_options options = {
		.names = &names, .no_packets = no_packets, .event = count_event, .userdata = asked
	};
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(edit_symbolize_freep) struct edit_symbolize *s = NULL;
	const struct fxt_record *record;
	const char *what;

	*asked = (struct asked){ 0 };
	OK(edit_output_init(to));
	OK(edit_symbolize_new(&s, to, &options));
	OK(fxt_reader_new_memory(&reader, from->data, from->size));
	while (fxt_reader_next(reader, &record) == FXT_READER_RECORD) {
		OK(edit_symbolize_record(s, record, &what));
		assert_null(what);
	}
	OK(edit_symbolize_finish(s));
	edit_symbolize_get_counts(s, counts);
}

/*
 * Samples, frames and Perfetto's packets of an archive, one per line. The result is a new string.
 */
static char *text_of(const struct outbuf *archive)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	_cleanup_(fxt_events_freep) struct fxt_events *events = NULL;
	const struct fxt_record *record;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	OK(fxt_reader_new_memory(&reader, archive->data, archive->size));
	OK(fxt_events_new(&events));
	while (fxt_reader_next(reader, &record) == FXT_READER_RECORD) {
		struct event ev;
		const char *what;

		if (edit_copy_is_packets(record))
			fprintf(f, "packets\n");
		if (fxt_events_get(events, record, &ev, &what) != FXT_EVENTS_EVENT)
			continue;
		if (ev.kind == EVENT_SAMPLE && ev.sample.kind == SAMPLE_NAMED)
			fprintf(f, "%" PRIu64 " stack %" PRIu64 " of %u\n", ev.ts_ns, ev.sample.id,
				ev.pid);
		else if (ev.kind == EVENT_SAMPLE)
			fprintf(f, "%" PRIu64 " sample %u\n", ev.ts_ns, ev.pid);
		if (ev.kind == EVENT_FRAME)
			fprintf(f, "%" PRIu64 " frame %u %" PRIx64 " %u '%s' %s:%u\n", ev.ts_ns,
				ev.frame.process, ev.frame.address, ev.frame.depth,
				ev.frame.function, ev.frame.source, ev.frame.line);
	}
	fclose(f);
	return text;
}

/* Symbolizes EVENTS, and compares with TEXT. Symbolizing again changes nothing. */
static void assert_symbolized(const struct event *events, size_t n, const char *text,
			      struct edit_symbolize_counts *counts)
{
	_cleanup_(outbuf_deinit) struct outbuf archive = { 0 };
	struct edit_output first, second;
	struct edit_symbolize_counts again;
	struct asked asked;
	char *said;

	write_archive(&archive, events, n);
	symbolize(&archive, &first, true, &asked, counts);
	assert_int_equal(asked.n, counts->named + counts->unnamed);
	assert_true(asked.n_events >= n);
	said = text_of(&first.bytes);
	assert_string_equal(said, text);
	free(said);

	symbolize(&first.bytes, &second, true, &asked, &again);
	said = text_of(&second.bytes);
	assert_string_equal(said, text);
	free(said);
	assert_int_equal(again.frames, 0);
	assert_int_equal(again.named, 0);
	edit_output_deinit(&first);
	edit_output_deinit(&second);
}

TEST(test_each_address_once)
{
	const struct event events[] = {
		MAPPING(10, 2, KERNEL_AT, "[kernel.kallsyms]"),
		MAPPING(10, 5, 0x1000, "/app"),
		MAPPING(10, 6, 0x1000, "/app"),
		/* interrupted in the kernel, in an inlined function, called from another */
		SAMPLE(20, 5, KERNEL_AT + 0x10, KERNEL_AT + 0x20, 0x1900, 0x1200),
		SAMPLE(30, 5, 0x1900, 0x1200),
		/* the kernel's names are for all processes, the program's for each */
		SAMPLE(40, 6, KERNEL_AT + 0x10, 0x1200),
		/* a return address and an interrupted address are different */
		SAMPLE(50, 5, 0x1200),
		SAMPLE(60, 5, 0x7000),
	};
	struct edit_symbolize_counts counts;

	assert_symbolized(events, ARRAY_SIZE(events),
			  "20 frame 2 ffffffff81000010 0 'kernel.kallsyms]_10' app.c:9\n"
			  "20 frame 2 ffffffff8100001f 0 'kernel.kallsyms]_1f' app.c:9\n"
			  "20 frame 5 1900 0 'inlined' app.h:7\n"
			  "20 frame 5 1900 1 'app_900' app.c:9\n"
			  "20 frame 5 11ff 0 'app_1ff' app.c:9\n"
			  "20 sample 5\n"
			  "30 sample 5\n"
			  "40 frame 6 1200 0 'app_200' app.c:9\n"
			  "40 sample 6\n"
			  "50 frame 5 1200 0 'app_200' app.c:9\n"
			  "50 sample 5\n"
			  "60 sample 5\n",
			  &counts);
	assert_int_equal(counts.backtraces, 5);
	assert_int_equal(counts.addresses, 7);
	assert_int_equal(counts.named, 6);
	assert_int_equal(counts.unnamed, 1);
	assert_int_equal(counts.frames, 7);
}

/*
 * A stack of an allocation begins with the return address of the function: none of its addresses
 * was interrupted.
 */
TEST(test_named_stack)
{
	static const uint64_t frames[] = { 0x1200, 0x1900 };
	const struct event events[] = {
		MAPPING(10, 5, 0x1000, "/app"),
		{ .kind = EVENT_SAMPLE,
		  .ts_ns = 20,
		  .pid = 5,
		  .tid = 5,
		  .sample = { .frames = frames, .n_frames = 2, .kind = SAMPLE_NAMED, .id = 3 } },
	};
	struct edit_symbolize_counts counts;

	assert_symbolized(events, ARRAY_SIZE(events),
			  "20 frame 5 11ff 0 'app_1ff' app.c:9\n"
			  "20 frame 5 18ff 0 'inlined' app.h:7\n"
			  "20 frame 5 18ff 1 'app_8ff' app.c:9\n"
			  "20 stack 3 of 5\n",
			  &counts);
	assert_int_equal(counts.addresses, 2);
}

/* The same address, before and after the process executes another program. */
TEST(test_exec)
{
	const struct event events[] = {
		MAPPING(10, 5, 0x1000, "/app"),
		SAMPLE(20, 5, 0x1100),
		EXEC(30, 5),
		MAPPING(30, 5, 0x1000, "/other"),
		SAMPLE(40, 5, 0x1100),
		/* written late: its time is before the exec */
		SAMPLE(25, 5, 0x1100),
		EXEC(50, 5),
		MAPPING(50, 5, 0x1000, "/unknown"),
		SAMPLE(60, 5, 0x1100),
		SAMPLE(61, 5, 0x1100),
		EXEC(70, 5),
		MAPPING(70, 5, 0x1000, "/app"),
		SAMPLE(80, 5, 0x1100),
		/* the same mapping again */
		MAPPING(90, 5, 0x1000, "/app"),
		SAMPLE(95, 5, 0x1100),
	};
	struct edit_symbolize_counts counts;

	assert_symbolized(events, ARRAY_SIZE(events),
			  "20 frame 5 1100 0 'app_100' app.c:9\n"
			  "20 sample 5\n"
			  "40 frame 5 1100 0 'other_100' app.c:9\n"
			  "40 sample 5\n"
			  "25 frame 5 1100 0 'app_100' app.c:9\n"
			  "25 sample 5\n"
			  "60 frame 5 1100 0 '' :0\n"
			  "60 sample 5\n"
			  "61 sample 5\n"
			  "80 frame 5 1100 0 'app_100' app.c:9\n"
			  "80 sample 5\n"
			  "95 sample 5\n",
			  &counts);
	assert_int_equal(counts.unnamed, 1);
}

/*
 * Names in the archive have precedence over names here. A name that comes too late in it is not
 * written twice.
 */
TEST(test_names_of_the_source)
{
	const struct event events[] = {
		MAPPING(10, 5, 0x1000, "/app"),
		{ .kind = EVENT_FRAME,
		  .ts_ns = 10,
		  KYMO,
		  .frame = { 5, 0, 0x1100, "theirs", "", "", 0 } },
		SAMPLE(20, 5, 0x1100),
		SAMPLE(30, 5, 0x1200),
		{ .kind = EVENT_FRAME,
		  .ts_ns = 40,
		  KYMO,
		  .frame = { 5, 0, 0x1200, "late", "", "", 0 } },
	};
	struct edit_symbolize_counts counts;

	assert_symbolized(events, ARRAY_SIZE(events),
			  "10 frame 5 1100 0 'theirs' :0\n"
			  "20 sample 5\n"
			  "30 frame 5 1200 0 'app_200' app.c:9\n"
			  "30 sample 5\n",
			  &counts);
	assert_int_equal(counts.known, 1);
	assert_int_equal(counts.named, 1);
	assert_int_equal(counts.repeated, 1);
}

/* The source's packets are replaced by new ones, once, before the end of the recording. */
TEST(test_packets)
{
	const struct event events[] = {
		MAPPING(10, 5, 0x1000, "/app"),
		SAMPLE(20, 5, 0x1900),
		{ .kind = EVENT_STOP, .ts_ns = 30, KYMO, .stop = { .reason = "requested" } },
	};
	static const char *const texts[] = {
		"20 frame 5 1900 0 'inlined' app.h:7\n20 frame 5 1900 1 'app_900' app.c:9\n"
		"20 sample 5\npackets\n",
		"20 frame 5 1900 0 'inlined' app.h:7\n20 frame 5 1900 1 'app_900' app.c:9\n"
		"20 sample 5\n",
	};
	_cleanup_(outbuf_deinit) struct outbuf archive = { 0 };
	struct edit_symbolize_counts counts;
	struct edit_output out;
	struct asked asked;
	char *said;

	write_archive(&archive, events, ARRAY_SIZE(events));
	said = text_of(&archive);
	assert_string_equal(said, "20 sample 5\npackets\n");
	free(said);
	for (int no_packets = 0; no_packets <= 1; no_packets++) {
		symbolize(&archive, &out, no_packets, &asked, &counts);
		said = text_of(&out.bytes);
		assert_string_equal(said, texts[no_packets]);
		free(said);
		edit_output_deinit(&out);
	}
	/* Also in an archive that was cut off before its end. */
	outbuf_reset(&archive);
	write_archive(&archive, events, 2);
	symbolize(&archive, &out, false, &asked, &counts);
	said = text_of(&out.bytes);
	assert_string_equal(said, texts[0]);
	free(said);
	edit_output_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_address_once),
		cmocka_unit_test(test_named_stack),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_names_of_the_source),
		cmocka_unit_test(test_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
