/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * GDB trace files, read: files made by hand, in either byte order, unusual lines and blocks, and
 * files that are cut off or damaged anywhere.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader/tfile/tfile-lines.h"
#include "reader/tfile/tfile-reader.h"
#include "base/cleanup.h"
#include "tests/support/unit.h"
#include "writer/tfile/tfile-writer.h"

#define HEAD                                                                                       \
	"\x7fTRACE0\n"                                                                             \
	"R 4\n"                                                                                    \
	"status 0;tstop:6869:0;tframes:2;tcreated:3;circular:1;username:6d65;new:key\n"            \
	"tsv 1:0:1:74726163655f74696d657374616d70\n"                                               \
	"tsv a:fffffffffffffffe:0:746964\n"                                                        \
	"tp T2:401136:D:1:64:F5:S:X3,220127\n"                                                     \
	"tp A2:401136:R0f\n"                                                                       \
	"tp S2:401136:M-1,404010,4\n"                                                              \
	"tp Z2:401136:at:0:4:6d61696e\n"                                                           \
	"tp Z2:401136:cond:0:5:78203e2034\n"                                                       \
	"tp Z2:401136:cmd:0:d:636f6c6c656374202472656773\n"                                        \
	"tp V2:401136:3:140\n"                                                                     \
	"tp T1:ffffffffffffff00:E:0:0\n"                                                           \
	"tdesc <target>\n"                                                                         \
	"tdesc </target>\n"                                                                        \
	"tdesc <!-- map 400000 401000 1000 c0de /bin/a%2d%2db -->\n"                               \
	"future x\n"                                                                               \
	"\n"

static const char little[] = HEAD "\x02\0\x20\0\0\0"
				  "R\x01\x02\x03\x04"
				  "M\x88\x77\x66\x55\x44\x33\x22\x11\x03\0hey"
				  "V\x0a\0\0\0\xfe\xff\xff\xff\xff\xff\xff\xff"
				  "\x01\0\0\0\0\0"
				  "\0\0\0";
static const char big[] = HEAD "\0\x02\0\0\0\x20"
			       "R\x01\x02\x03\x04"
			       "M\x11\x22\x33\x44\x55\x66\x77\x88\0\x03hey"
			       "V\0\0\0\x0a\xff\xff\xff\xff\xff\xff\xff\xfe"
			       "\0\x01\0\0\0\0"
			       "\0\0\0";

/* The findings. */
struct seen {
	unsigned n[TFILE_FINDING_MAX];
	uint64_t at[TFILE_FINDING_MAX]; /* of the first one */
};

static void add_finding(void *userdata, enum tfile_finding_id id, uint64_t offset)
{
	struct seen *s = userdata;

	assert_in_range(id, 0, TFILE_FINDING_MAX - 1);
	if (s->n[id]++ == 0)
		s->at[id] = offset;
}

static struct tfile_reader *open_bytes(const void *p, size_t n, struct seen *s)
{
	struct tfile_reader *r = NULL;

	assert_int_equal(tfile_reader_new_memory(&r, p, n, s ? add_finding : NULL, s), 0);
	return r;
}

static void check_head(const struct tfile_head *h)
{
	const struct tfile_tracepoint *t = h->tracepoints;

	assert_int_equal(h->register_bytes, 4);
	assert_int_equal(h->status.stop, TFILE_STOP_COMMAND);
	assert_string_equal(h->status.stop_text, "hi");
	assert_int_equal(h->status.has, TFILE_HAS_FRAMES | TFILE_HAS_CREATED | TFILE_HAS_CIRCULAR);
	assert_int_equal(h->status.created, 3);
	assert_string_equal(h->status.user, "me");
	assert_null(h->status.notes);
	assert_int_equal(h->status.n_keys, 1);
	assert_string_equal(h->status.keys[0], "new:key");
	assert_int_equal(h->n_variables, 2);
	assert_true(h->variables[0].builtin);
	assert_int_equal(h->variables[1].number, 10);
	assert_int_equal(h->variables[1].initial, -2);
	assert_string_equal(h->variables[1].name, "tid");
	assert_int_equal(h->n_tracepoints, 2);
	assert_int_equal(t[0].number, 2);
	assert_int_equal(t[0].address, 0x401136);
	assert_true(t[0].disabled && t[0].is_static && t[0].is_fast);
	assert_int_equal(t[0].steps, 1);
	assert_int_equal(t[0].passes, 0x64);
	assert_int_equal(t[0].fast_bytes, 5);
	assert_int_equal(t[0].condition_bytes, 3);
	assert_memory_equal(t[0].condition, "\x22\x01\x27", 3);
	assert_string_equal(t[0].actions[0], "R0f");
	assert_string_equal(t[0].step_actions[0], "M-1,404010,4");
	assert_string_equal(t[0].at, "main");
	assert_string_equal(t[0].condition_text, "x > 4");
	assert_string_equal(t[0].commands[0], "collect $regs");
	assert_int_equal(t[0].hits, 3);
	assert_int_equal(t[0].usage_bytes, 0x140);
	assert_int_equal(t[1].number, 1);
	assert_false(t[1].disabled || t[1].is_static || t[1].is_fast);
	assert_null(t[1].at);
	assert_int_equal(h->n_description, 3);
	assert_int_equal(h->n_others, 1);
	assert_string_equal(h->others[0], "future x");
}

/* The head ends at BEGIN. */
static void check_frames(struct tfile_reader *r, uint64_t begin)
{
	const struct tfile_frame *f;

	assert_int_equal(tfile_reader_next(r, &f), TFILE_FRAME);
	assert_int_equal(f->tracepoint, 2);
	assert_int_equal(f->n_blocks, 3);
	assert_int_equal(f->blocks[0].kind, TFILE_REGISTERS);
	assert_int_equal(f->blocks[0].registers.n, 4);
	assert_memory_equal(f->blocks[0].registers.bytes, "\x01\x02\x03\x04", 4);
	assert_int_equal(f->blocks[1].memory.address, 0x1122334455667788);
	assert_int_equal(f->blocks[1].memory.n, 3);
	assert_memory_equal(f->blocks[1].memory.bytes, "hey", 3);
	assert_int_equal(f->blocks[2].variable.number, 10);
	assert_int_equal(f->blocks[2].variable.value, -2);
	assert_int_equal(tfile_reader_frame_offset(r), begin);
	assert_int_equal(tfile_reader_next(r, &f), TFILE_FRAME);
	assert_int_equal(f->tracepoint, 1);
	assert_int_equal(f->n_blocks, 0);
	assert_int_equal(tfile_reader_next(r, &f), TFILE_TRACE_END);
	assert_int_equal(tfile_reader_next(r, &f), TFILE_TRACE_END);
}

TEST(test_reads)
{
	for (unsigned i = 0; i < 2; i++) {
		struct seen s = { 0 };
		_cleanup_(tfile_reader_freep) struct tfile_reader *r =
			open_bytes(i ? big : little, sizeof(little), &s);

		assert_int_equal(tfile_reader_is_big_endian(r), i);
		check_head(tfile_reader_head(r));
		check_frames(r, sizeof(HEAD) - 1);
		assert_int_equal(s.n[TFILE_FINDING_UNKNOWN_LINE], 1);
		assert_int_equal(s.n[TFILE_FINDING_NO_REGISTERS], 1);
		s.n[TFILE_FINDING_UNKNOWN_LINE] = s.n[TFILE_FINDING_NO_REGISTERS] = 0;
		for (unsigned k = 0; k < TFILE_FINDING_MAX; k++)
			assert_int_equal(s.n[k], 0);
	}
}

/* A file that is read and written again is unchanged. */
TEST(test_copy)
{
	for (unsigned i = 0; i < 2; i++) {
		_cleanup_(tfile_reader_freep) struct tfile_reader *r =
			open_bytes(i ? big : little, sizeof(little), NULL);
		_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
		_cleanup_(tfile_reader_freep) struct tfile_reader *again = NULL;
		struct tfile_writer w;
		const struct tfile_frame *f;

		assert_int_equal(tfile_writer_head(&b, tfile_reader_head(r)), 0);
		tfile_writer_init(&w, &b, 4, i ? TFILE_BIG : TFILE_LITTLE);
		while (tfile_reader_next(r, &f) == TFILE_FRAME)
			assert_int_equal(tfile_writer_frame(&w, f), 0);
		assert_int_equal(tfile_writer_end(&w), 0);
		again = open_bytes(b.data, b.size, NULL);
		check_frames(again, b.size - sizeof(little) + sizeof(HEAD) - 1);
		/* (the place of a tracepoint without one is shown as an address) */
		assert_string_equal(tfile_reader_head(again)->tracepoints[1].at,
				    "*0xffffffffffffff00");
		assert_int_equal(b.size,
				 sizeof(little) + strlen("tp Z1:ffffffffffffff00:at:0:13:\n") + 38);
	}
}

/* Wherever a file is cut off, all complete frames come, and then damage or a missing end. */
TEST(test_cut_off)
{
	const size_t head = sizeof(HEAD) - 1, first = head + 6 + 32, second = first + 6;

	for (size_t n = 0; n < sizeof(little); n++) {
		_cleanup_(tfile_reader_freep) struct tfile_reader *r = NULL;
		_cleanup_free_ char *copy = malloc(n + 1);
		struct seen s = { 0 };
		const struct tfile_frame *f;
		unsigned frames = 0;
		int e;

		memcpy(copy, little, n);
		e = tfile_reader_new_memory(&r, copy, n, add_finding, &s);
		if (n < 8) {
			assert_int_equal(e, TFILE_ALIEN);
			continue;
		}
		assert_int_equal(e, 0);
		while ((e = tfile_reader_next(r, &f)) == TFILE_FRAME)
			frames++;
		assert_int_equal(frames, (n >= first) + (n >= second));
		if (n == head || n == first || n == second) {
			assert_int_equal(e, TFILE_TRACE_END);
			assert_int_equal(s.n[TFILE_FINDING_NO_END], 1);
			assert_int_equal(s.at[TFILE_FINDING_NO_END], n);
		} else if (n > second + 1) {
			assert_int_equal(e, TFILE_TRACE_END);
			assert_int_equal(s.n[TFILE_FINDING_NO_END], 0);
		} else {
			assert_int_equal(e, TFILE_DAMAGE);
			assert_true(tfile_reader_damage(r)->truncated);
			assert_int_equal(tfile_reader_next(r, &f), TFILE_TRACE_END);
		}
	}
}

/* With any byte changed, the reader ends. */
TEST(test_flipped)
{
	for (size_t at = 0; at < sizeof(little); at++) {
		for (unsigned bit = 0; bit < 8; bit++) {
			_cleanup_(tfile_reader_freep) struct tfile_reader *r = NULL;
			char copy[sizeof(little)];
			const struct tfile_frame *f;
			unsigned frames = 0;
			int e;

			memcpy(copy, little, sizeof(copy));
			copy[at] ^= (char)(1u << bit);
			e = tfile_reader_new_memory(&r, copy, sizeof(copy), NULL, NULL);
			assert_int_equal(e, at < 8 ? TFILE_ALIEN : 0);
			while (r && (e = tfile_reader_next(r, &f)) == TFILE_FRAME)
				frames++;
			assert_in_range(e, 0, TFILE_DAMAGE);
			assert_in_range(frames, 0, 6);
		}
	}
}

/* ---- lines ---- */

/* A head with LINES in it, in the caller's outbuf. */
static struct tfile_reader *open_lines(struct outbuf *b, const char *lines, struct seen *s)
{
	outbuf_append(b, "\x7fTRACE0\n", 8);
	outbuf_append(b, lines, strlen(lines));
	outbuf_append(b, "\n\0\0\0\0", 5);
	return open_bytes(b->data, b->size, s);
}

TEST(test_bad_lines_are_kept)
{
	static const char *const lines[] = {
		"tsv 1:0",
		"tsv x:0:0:61",
		"tsv 1:0:0:6",
		"tsv 1:0:0:00",
		"tsv 1:0:0:610a62",
		"tsv 80000000:0:0:61",
		"tp",
		"tp T",
		"tp T0:1:E:0:0",
		"tp T8000:1:E:0:0",
		"tp Q1:1:x",
		"tp Z1:1:at:0:2:61",
		"tp Z1:1:at:1:1:61",
		"tp Z1:1:what:0:1:61",
		"tp V1:1:x:0",
		"R",
		"what",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
		_cleanup_(tfile_reader_freep) struct tfile_reader *r = NULL;
		char text[128];
		struct seen s = { 0 };
		const struct tfile_frame *f;

		snprintf(text, sizeof(text), "R 4\n%s\n", lines[i]);
		r = open_lines(&b, text, &s);
		assert_int_equal(tfile_reader_head(r)->n_others, 1);
		assert_string_equal(tfile_reader_head(r)->others[0], lines[i]);
		assert_int_equal(s.n[TFILE_FINDING_BAD_LINE] + s.n[TFILE_FINDING_UNKNOWN_LINE], 1);
		assert_int_equal(s.at[TFILE_FINDING_BAD_LINE] + s.at[TFILE_FINDING_UNKNOWN_LINE],
				 12);
		assert_int_equal(tfile_reader_next(r, &f), TFILE_TRACE_END);
	}
}

TEST(test_refused)
{
	static const struct {
		const char *lines, *what;
		uint64_t offset;
	} cases[] = {
		{ "status 0;tunknown:0\n", "no line with the size of the registers", 29 },
		{ "R 0\n", "invalid size of the registers", 8 },
		{ "R ffffffffffff\n", "invalid size of the registers", 8 },
		{ "R 4\ntdesc <xi:include href='x'/>\n", "includes other files", 12 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
		_cleanup_(tfile_reader_freep) struct tfile_reader *r =
			open_lines(&b, cases[i].lines, NULL);
		const struct tfile_frame *f;

		assert_int_equal(tfile_reader_next(r, &f), TFILE_DAMAGE);
		assert_non_null(strstr(tfile_reader_damage(r)->what, cases[i].what));
		assert_int_equal(tfile_reader_damage(r)->offset, cases[i].offset);
		assert_int_equal(tfile_reader_next(r, &f), TFILE_TRACE_END);
	}
}

TEST(test_too_many_lines)
{
	_cleanup_(outbuf_deinit) struct outbuf lines = { 0 }, b = { 0 };
	_cleanup_(tfile_reader_freep) struct tfile_reader *r = NULL;
	const struct tfile_frame *f;

	outbuf_append(&lines, "R 4\n", 4);
	for (size_t i = 0; i <= TFILE_LIST_MAX; i++)
		outbuf_append(&lines, "x\n", 2);
	outbuf_append(&lines, "", 1);
	r = open_lines(&b, (const char *)lines.data, NULL);
	assert_int_equal(tfile_reader_head(r)->n_others, TFILE_LIST_MAX);
	assert_int_equal(tfile_reader_next(r, &f), TFILE_DAMAGE);
	assert_non_null(strstr(tfile_reader_damage(r)->what, "too many"));
}

TEST(test_status_of_others)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct seen s = { 0 };
	/* a reason without a text, an empty text, a key twice */
	_cleanup_(tfile_reader_freep) struct tfile_reader *r =
		open_lines(&b, "R 4\nstatus 1;terror::2;tframes:0;tframes:1;notes:;tfree:x\n", &s);
	const struct tfile_status *status = &tfile_reader_head(r)->status;

	assert_true(status->running);
	assert_int_equal(status->stop, TFILE_STOP_ERROR);
	assert_null(status->stop_text);
	assert_int_equal(status->stop_tracepoint, 2);
	assert_int_equal(status->frames, 1);
	assert_string_equal(status->notes, "");
	assert_int_equal(status->has, TFILE_HAS_FRAMES);
	assert_int_equal(s.n[TFILE_FINDING_BAD_LINE], 1);
}

TEST(test_maps)
{
	char text[TFILE_LINE_MAX + 1];
	struct tfile_map m;

	assert_true(tfile_lines_map("<!-- map 400000 401000 1000 none /a%2d%2db c -->", &m, text));
	assert_int_equal(m.start, 0x400000);
	assert_int_equal(m.end, 0x401000);
	assert_int_equal(m.file_offset, 0x1000);
	assert_string_equal(m.build_id, "");
	assert_string_equal(m.path, "/a--b c");
	assert_true(tfile_lines_map("<!-- map 1 2 3 c0de  -->", &m, text));
	assert_string_equal(m.build_id, "c0de");
	assert_string_equal(m.path, "");
	assert_false(tfile_lines_map("<!-- map 1 2 3 c0de -->", &m, text));
	assert_false(tfile_lines_map("<!-- map 1 2 x c0de /a -->", &m, text));
	assert_false(tfile_lines_map("<target>", &m, text));
}

/* ---- frames ---- */

#define SMALL "\x7fTRACE0\nR 4\ntp T1:1:E:0:0\n\n"

/*
 * Reads the N bytes after SMALL. Returns the result at the end, and the numbers of frames and
 * blocks.
 */
static int read_small(const char *frames, size_t n, struct seen *s, unsigned *ret_frames,
		      unsigned *ret_blocks)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	_cleanup_(tfile_reader_freep) struct tfile_reader *r = NULL;
	const struct tfile_frame *f;
	int e;

	outbuf_append(&b, SMALL, sizeof(SMALL) - 1);
	outbuf_append(&b, frames, n);
	r = open_bytes(b.data, b.size, s);
	*ret_frames = *ret_blocks = 0;
	while ((e = tfile_reader_next(r, &f)) == TFILE_FRAME) {
		++*ret_frames;
		*ret_blocks += (unsigned)f->n_blocks;
	}
	return e;
}

TEST(test_unknown_block_ends_its_frame)
{
	static const char frames[] = "\x01\0\x08\0\0\0Rabcd?zz"
				     "\x01\0\x05\0\0\0Rabcd\0";
	struct seen s = { 0 };
	unsigned n, blocks;

	assert_int_equal(read_small(frames, sizeof(frames), &s, &n, &blocks), TFILE_TRACE_END);
	assert_int_equal(n, 2);
	assert_int_equal(blocks, 2);
	assert_int_equal(s.n[TFILE_FINDING_UNKNOWN_BLOCK], 1);
	assert_int_equal(s.at[TFILE_FINDING_UNKNOWN_BLOCK], sizeof(SMALL) - 1 + 11);
}

TEST(test_blocks_beyond_their_frame)
{
	static const struct {
		const char *bytes;
		size_t n;
	} frames[] = {
		{ "\x01\0\x04\0\0\0Rabc\0\0", 12 },
		{ "\x01\0\x0b\0\0\0M12345678\x01\0\0\0", 19 },
		{ "\x01\0\x0a\0\0\0M12345678\x01\0\0", 18 },
		{ "\x01\0\x0c\0\0\0V1234567890a\0\0", 20 },
		{ "\x01\0\x0d\0\0\0V\0\0\0\x80"
		  "12345678\0\0",
		  21 },
		{ "\x01\0\x0d\0\0\0M\xff\xff\xff\xff\xff\xff\xff\xff\x02\0ab\0\0", 21 },
	};

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct seen s = { 0 };
		unsigned n, blocks;

		assert_int_equal(read_small(frames[i].bytes, frames[i].n, &s, &n, &blocks),
				 TFILE_TRACE_END);
		assert_int_equal(n, 1);
		assert_int_equal(blocks, 0);
		assert_int_equal(s.n[TFILE_FINDING_UNKNOWN_BLOCK], 1);
	}
}

TEST(test_absurd_frames)
{
	struct seen s = { 0 };
	unsigned n, blocks;

	/* a frame of 2 GiB, and one of an impossible tracepoint, after a good one */
	assert_int_equal(read_small("\x01\0\x05\0\0\0Rabcd\x01\0\0\0\0\x80", 17, &s, &n, &blocks),
			 TFILE_DAMAGE);
	assert_int_equal(n, 1);
	assert_int_equal(read_small("\x01\0\x05\0\0\0Rabcd\xff\xff\x01\0\0\0R", 18, &s, &n,
				    &blocks),
			 TFILE_DAMAGE);
	assert_int_equal(n, 1);
	/* and data after the end */
	assert_int_equal(s.n[TFILE_FINDING_TRAILING], 0);
	assert_int_equal(read_small("\0\0\0\0more", 8, &s, &n, &blocks), TFILE_TRACE_END);
	assert_int_equal(s.n[TFILE_FINDING_TRAILING], 1);
	assert_int_equal(read_small("\0\0\0", 3, &s, &n, &blocks), TFILE_TRACE_END);
	assert_int_equal(s.n[TFILE_FINDING_TRAILING], 2);
}

TEST(test_findings)
{
	static const char undefined[] = "\x02\0\x12\0\0\0RabcdV\x07\0\0\0\0\0\0\0\0\0\0\0\0";
	struct seen s = { 0 };
	unsigned n, blocks;

	read_small(undefined, 6 + 18, &s, &n, &blocks);
	assert_int_equal(blocks, 2);
	assert_int_equal(s.n[TFILE_FINDING_UNDEFINED_TRACEPOINT], 1);
	assert_int_equal(s.n[TFILE_FINDING_UNDEFINED_VARIABLE], 1);
	assert_int_equal(s.n[TFILE_FINDING_NO_STATUS], 1);
	assert_int_equal(s.n[TFILE_FINDING_NO_DESCRIPTION], 1);
	assert_int_equal(s.n[TFILE_FINDING_NO_END], 1);
	for (int i = 0; i < TFILE_FINDING_MAX; i++) {
		assert_int_equal(finding_by_id(tfile_finding_kinds, TFILE_FINDING_MAX,
					       tfile_finding_kinds[i].id),
				 i);
		assert_true(strlen(tfile_finding_kinds[i].explain) > 20);
	}
	assert_int_equal(finding_by_id(tfile_finding_kinds, TFILE_FINDING_MAX, "nothing"), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reads),
		cmocka_unit_test(test_copy),
		cmocka_unit_test(test_cut_off),
		cmocka_unit_test(test_flipped),
		cmocka_unit_test(test_bad_lines_are_kept),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_too_many_lines),
		cmocka_unit_test(test_status_of_others),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_unknown_block_ends_its_frame),
		cmocka_unit_test(test_blocks_beyond_their_frame),
		cmocka_unit_test(test_absurd_frames),
		cmocka_unit_test(test_findings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
