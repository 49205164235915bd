/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Perfetto's packets, read field by field: their contents for given samples.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/golden-file.h"
#include "tests/support/fixtures/profile-set.h"
#include "tests/support/fixtures/protobuf-cursor.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-perfetto-samples.h"

/* ---- a reader of protobuf ---- */

/* Prints the fields of C as "3:7 5{1:2}", texts in quotes. */
static void put_message(FILE *f, struct cursor c, const unsigned *path, unsigned depth);

/* Whether a field of bytes is text, by the path to it. */
static bool is_text(const unsigned *path, unsigned depth)
{
	/* packet, interned data, an interned string, its str */
	return depth == 4 && path[1] == 12 && path[3] == 2 &&
	       (path[2] == 5 || path[2] == 16 || path[2] == 17 || path[2] == 18);
}

static void put_bytes(FILE *f, struct cursor c, const unsigned *path, unsigned depth)
{
	if (!is_text(path, depth)) {
		fputc('{', f);
		put_message(f, c, path, depth);
		fputc('}', f);
		return;
	}
	fputc('\'', f);
	for (; c.p < c.end; c.p++)
		fprintf(f, path[2] == 16 ? "%02x" : "%c", *c.p);
	fputc('\'', f);
}

static void put_message(FILE *f, struct cursor c, const unsigned *path, unsigned depth)
{
	unsigned here[8];
	const char *space = "";

	assert_true(depth < 8);
	memcpy(here, path, depth * sizeof(*path));
	while (c.p < c.end) {
		uint64_t tag = get_varint(&c), n;

		here[depth] = (unsigned)(tag >> 3);
		fprintf(f, "%s%u", space, here[depth]);
		space = depth == 0 ? "\n" : " ";
		if ((tag & 7) == 0) {
			fprintf(f, ":%llu", (unsigned long long)get_varint(&c));
			continue;
		}
		assert_int_equal(tag & 7, 2);
		n = get_varint(&c);
		assert_true(n <= (size_t)(c.end - c.p));
		put_bytes(f, (struct cursor){ c.p, c.p + n }, here, depth + 1);
		c.p += n;
	}
}

static char *text_of(const struct outbuf *batch)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(batch);
	put_message(f, (struct cursor){ batch->data, batch->data + batch->size },
		    (const unsigned[]){ 0 }, 0);
	fclose(f);
	return text;
}

/* ---- cases ---- */

static void add(struct fxt_perfetto_samples *s, const struct event *ev)
{
	assert_int_equal(fxt_perfetto_samples_add(s, ev), 0);
}

#define SAMPLE(ts, n)                                                                              \
	{                                                                                          \
		.kind = EVENT_SAMPLE, .ts_ns = (ts), .pid = 10, .tid = 11, .cpu = 3, .sample = {   \
			stack,                                                                     \
			n                                                                          \
		}                                                                                  \
	}

static const uint64_t stack[] = { UINT64_C(0xffffffff81000010), 0x1010, 0x99 };

static const struct event before[] = {
	{ .kind = EVENT_SAMPLING, .sampling = { 99, "cycles", 0 } },
	{ .kind = EVENT_MAPPING,
	  .pid = 10,
	  .mapping = { "/bin/x", (const uint8_t *)"\xab\xcd", 2, .start = 0x1000, .size = 0x100,
		       .file_offset = 0x500 } },
	{ .kind = EVENT_FRAME, .frame = { 10, 0, 0x1010, "inner", "x.c", "", 7 } },
	{ .kind = EVENT_FRAME, .frame = { 10, 1, 0x1010, "outer", "", "", 0 } },
	{ .kind = EVENT_FRAME,
	  .frame = { FXT_KOID_KTHREADD, 0, UINT64_C(0xffffffff81000010), "k", "", "", 0 } },
};

TEST(test_packets)
{
	_cleanup_(fxt_perfetto_samples_freep) struct fxt_perfetto_samples *s = NULL;
	const struct event first = SAMPLE(5, 3), second = SAMPLE(6, 3), other = SAMPLE(7, 1),
			   none = SAMPLE(8, 0);
	struct event away = SAMPLE(9, 3);
	_cleanup_free_ char *text = NULL, *again = NULL;

	assert_int_equal(fxt_perfetto_samples_new(&s), 0);
	for (size_t i = 0; i < ARRAY_SIZE(before); i++)
		add(s, &before[i]);
	assert_null(fxt_perfetto_samples_batch(s, true));
	add(s, &first);
	add(s, &second);
	add(s, &other);
	add(s, &none);
	away.sample.kind = SAMPLE_OFF_CPU;
	add(s, &away);
	assert_null(fxt_perfetto_samples_batch(s, false));
	text = text_of(fxt_perfetto_samples_batch(s, true));
	assert_string_equal(
		text,
		/* cleared, clock and timebase */
		"1{13:1 59{58:6 12{1{2:99 4:10}}} "
		"12{17{1:1 2'[unknown]'} 19{1:1 7:1} 5{1:1 2'k'} 6{1:1 3:1 4:18446744071578845200 2:1} "
		"17{1:2 2'/bin/x'} 16{1:1 2'abcd'} 19{1:2 2:1 3:1280 8:1280 4:4096 5:4352 7:2} "
		"5{1:2 2'inner'} 18{1:1 2'x.c'} 6{1:2 3:2 4:1296 2:2 5:1 6:7} "
		"5{1:3 2'outer'} 6{1:3 3:2 4:1296 2:3} 6{1:4 3:1 4:153} "
		"7{1:1 2:4 2:3 2:2 2:1}} "
		/* timestamp, sequence, the sample */
		"8:5 10:1 66{1:3 2:10 3:11 4:1 5:1}}\n"
		"1{8:6 10:1 66{1:3 2:10 3:11 4:1 5:1}}\n"
		"1{12{7{1:2 2:1}} 8:7 10:1 66{1:3 2:10 3:11 4:2 5:1}}\n"
		"1{8:8 10:1 66{1:3 2:10 3:11}}");

	/* The next batch is self-contained. */
	fxt_perfetto_samples_next(s);
	assert_null(fxt_perfetto_samples_batch(s, true));
	add(s, &other);
	again = text_of(fxt_perfetto_samples_batch(s, true));
	assert_string_equal(again, "1{13:1 59{58:6 12{1{2:99 4:10}}} "
				   "12{17{1:1 2'[unknown]'} 19{1:1 7:1} 5{1:1 2'k'} "
				   "6{1:1 3:1 4:18446744071578845200 2:1} 7{1:1 2:1}} "
				   "8:7 10:1 66{1:3 2:10 3:11 4:1 5:1}}");
}

/* A stack with as many frames as a recording contains begins with a frame for the missing calls. */
TEST(test_cut)
{
	enum { N = EVENT_SAMPLE_FRAMES_MAX };
	_cleanup_(fxt_perfetto_samples_freep) struct fxt_perfetto_samples *s = NULL;
	_cleanup_free_ char *whole = NULL, *cut = NULL;
	uint64_t frames[N];
	struct event ev = SAMPLE(5, N - 1);

	for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
		frames[i] = 0x1000 + i % 2;
	ev.sample.frames = frames;
	assert_int_equal(fxt_perfetto_samples_new(&s), 0);
	add(s, &ev);
	whole = text_of(fxt_perfetto_samples_batch(s, true));
	assert_null(strstr(whole, "cut"));
	ev.sample.n_frames = N;
	add(s, &ev);
	cut = text_of(fxt_perfetto_samples_batch(s, true));
	/* the function and its frame 3, which is the outermost frame of the second stack */
	assert_non_null(strstr(cut, "1{12{5{1:1 2'[cut: 127 frames]'} 6{1:3 3:1 4:0 2:1} 7{1:2 "
				    "2:3 2:1 2:2 2:1 "));
}

/* A batch is due by its size, with many different stacks. */
TEST(test_batch_size)
{
	_cleanup_(fxt_perfetto_samples_freep) struct fxt_perfetto_samples *s = NULL;
	uint64_t frames[100];
	struct event ev = SAMPLE(5, 0);
	unsigned n = 0;

	assert_int_equal(fxt_perfetto_samples_new(&s), 0);
	ev.sample.frames = frames;
	ev.sample.n_frames = ARRAY_SIZE(frames);
	while (!fxt_perfetto_samples_batch(s, false)) {
		for (size_t i = 0; i < ARRAY_SIZE(frames); i++)
			frames[i] = 1000 * n + i;
		add(s, &ev);
		assert_true(++n < 1000);
	}
	assert_in_range(fxt_perfetto_samples_batch(s, false)->size, 512 << 10, 516 << 10);
}

/* Or by its number of stacks, if they are small; or by its time. */
TEST(test_batch_due)
{
	_cleanup_(fxt_perfetto_samples_freep) struct fxt_perfetto_samples *s = NULL;
	uint64_t address = 1000;
	struct event ev = SAMPLE(5, 1);
	unsigned n = 0;

	assert_int_equal(fxt_perfetto_samples_new(&s), 0);
	ev.sample.frames = &address;
	for (; !fxt_perfetto_samples_batch(s, false); n++, address++)
		add(s, &ev);
	assert_int_equal(n, 4096);
	fxt_perfetto_samples_next(s);
	add(s, &ev);
	ev.ts_ns += 3999999999;
	add(s, &ev);
	assert_null(fxt_perfetto_samples_batch(s, false));
	ev.ts_ns += 1;
	add(s, &ev);
	assert_non_null(fxt_perfetto_samples_batch(s, false));
}

/* The callstack of each packet in the batch of S. */
static void get_stacks(const struct fxt_perfetto_samples *s, unsigned *stacks, unsigned n)
{
	_cleanup_free_ char *text = text_of(fxt_perfetto_samples_batch(s, true));
	const char *p = text;

	for (unsigned i = 0; i < n; i++) {
		p = strstr(p, " 66{");
		assert_non_null(p);
		p = strstr(p, " 4:");
		assert_non_null(p);
		stacks[i] = (unsigned)strtoul(p + 3, NULL, 10);
	}
}

/*
 * A stack is identified by its number, or by its frames. It becomes another one when its process
 * maps something; stacks of other processes do not.
 */
TEST(test_known_stacks)
{
	_cleanup_(fxt_perfetto_samples_freep) struct fxt_perfetto_samples *s = NULL;
	const uint64_t user[] = { 0x1010, 0x1020 }, kernel[] = { stack[0], 0x1010, stack[0] };
	struct event ev = SAMPLE(5, 2), map = before[1], other = SAMPLE(6, 1);
	unsigned stacks[11];

	assert_int_equal(fxt_perfetto_samples_new(&s), 0);
	add(s, &before[1]);
	ev.sample.frames = user;
	add(s, &ev); /* 0: by its frames */
	add(s, &ev);
	ev.sample.id = 77; /* 2: by a number */
	add(s, &ev);
	add(s, &ev);
	map.pid = 12; /* 4: a mapping of another process */
	add(s, &map);
	add(s, &ev);
	map.pid = 10; /* 5: a mapping of this process */
	add(s, &map);
	add(s, &ev);
	ev.pid = 12; /* 6: the same addresses in another process */
	add(s, &ev);
	other.sample.frames = kernel; /* 7: those of the kernel are common */
	add(s, &other);
	other.pid = 12;
	add(s, &other);
	other.sample.n_frames = 3; /* 9: not with a frame of a process between them */
	add(s, &other);
	other.pid = 10;
	add(s, &other);
	get_stacks(s, stacks, ARRAY_SIZE(stacks));
	assert_int_equal(stacks[1], stacks[0]);
	assert_int_equal(stacks[3], stacks[2]);
	assert_int_equal(stacks[4], stacks[2]);
	assert_int_not_equal(stacks[5], stacks[4]);
	assert_int_not_equal(stacks[6], stacks[5]);
	assert_int_not_equal(stacks[6], stacks[4]);
	assert_int_equal(stacks[8], stacks[7]);
	assert_int_not_equal(stacks[10], stacks[9]);
}

/* A stack becomes another one when one of its addresses gets another name. */
TEST(test_named_again)
{
	_cleanup_(fxt_perfetto_samples_freep) struct fxt_perfetto_samples *s = NULL;
	struct event ev = SAMPLE(5, 2), name = before[2];
	unsigned stacks[6];

	assert_int_equal(fxt_perfetto_samples_new(&s), 0);
	ev.sample.id = 77;
	for (unsigned i = 0; i < ARRAY_SIZE(stacks); i++) {
		name.frame.function = i == 2 ? "other" : "inner";
		name.frame.line = i == 4 ? 8 : 7;
		add(s, &name);
		add(s, &ev);
	}
	get_stacks(s, stacks, ARRAY_SIZE(stacks));
	assert_int_equal(stacks[1], stacks[0]);
	for (unsigned i = 2; i < ARRAY_SIZE(stacks); i++)
		assert_int_not_equal(stacks[i], stacks[i - 1]);
}

/* CPU 0 is the default of readers. */
TEST(test_cpu_0)
{
	_cleanup_(fxt_perfetto_samples_freep) struct fxt_perfetto_samples *s = NULL;
	struct event ev = SAMPLE(5, 0);
	_cleanup_free_ char *text = NULL;

	ev.cpu = 0;
	assert_int_equal(fxt_perfetto_samples_new(&s), 0);
	add(s, &ev);
	text = text_of(fxt_perfetto_samples_batch(s, true));
	assert_non_null(strstr(text, "8:5 10:1 66{2:10 3:11}}"));
}

/* Longer names are cut at a character. */
TEST(test_long_name)
{
	_cleanup_(fxt_perfetto_samples_freep) struct fxt_perfetto_samples *s = NULL;
	struct event ev = SAMPLE(5, 1);
	struct event frame = { .kind = EVENT_FRAME,
			       .frame = { FXT_KOID_KTHREADD, 0, stack[0], "", "", "", 0 } };
	char name[300];
	_cleanup_free_ char *text = NULL, *want = NULL;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	memcpy(name + 253, "\u20ac", 3);
	frame.frame.function = name;
	assert_int_equal(fxt_perfetto_samples_new(&s), 0);
	add(s, &frame);
	add(s, &ev);
	text = text_of(fxt_perfetto_samples_batch(s, true));
	assert_true(asprintf(&want, " 2'%.253s'}", name) > 0);
	assert_non_null(strstr(text, want));
}

/* The archives of other tests. */
TEST(test_golden)
{
	_cleanup_(outbuf_deinit) struct outbuf names = { 0 }, bare = { 0 };

	profile_set_write(&names, true);
	assert_golden("fxt/profile.fxt", names.data, names.size);
	profile_set_write(&bare, false);
	assert_golden("fxt/profile-bare.fxt", bare.data, bare.size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packets),      cmocka_unit_test(test_cut),
		cmocka_unit_test(test_batch_size),   cmocka_unit_test(test_batch_due),
		cmocka_unit_test(test_known_stacks), cmocka_unit_test(test_named_again),
		cmocka_unit_test(test_cpu_0),        cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
