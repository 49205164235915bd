/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "reader/rtrace/rtrace-parse.h"
#include "reader/rtrace/rtrace-reader.h"
#include "tests/support/unit.h"
#include "tests/support/fixtures/whole-file.h"
#include "writer/rtrace/rtrace-writer.h"

#define HEADER "version=2.0, \n"
#define MEMORY "<1> : memory (memory allocation in bytes)\n"

/* ---- reading a whole text ---- */

struct problems {
	size_t n;
	struct rtrace_problem list[64];
};

static void add_problem(void *userdata, const struct rtrace_problem *problem)
{
	struct problems *p = userdata;

	assert_non_null(problem->what);
	assert_non_null(problem->done);
	if (p->n < 64)
		p->list[p->n] = *problem;
	p->n++;
}

typedef void (*check_fn)(const struct rtrace_record *record, void *userdata);

/*
 * Reads TEXT, and checks that its raw texts together are TEXT again. Returns the number of records.
 */
static size_t read_text(const char *text, size_t n, struct problems *problems, check_fn check,
			void *userdata)
{
	_cleanup_(rtrace_reader_freep) struct rtrace_reader *reader = NULL;
	_cleanup_(outbuf_deinit) struct outbuf copy = { 0 };
	const struct rtrace_record *record;
	size_t n_records = 0;
	int r;

	memset(problems, 0, sizeof(*problems));
	assert_int_equal(rtrace_reader_new_memory(&reader, text, n, add_problem, problems), 0);
	while ((r = rtrace_reader_next(reader, &record)) > 0) {
		assert_int_equal(record->offset, copy.size);
		outbuf_append(&copy, record->raw.bytes, record->raw.n);
		if (check)
			check(record, userdata);
		n_records++;
	}
	assert_int_equal(r, 0);
	assert_int_equal(copy.size, n);
	assert_memory_equal(copy.data, text, n);
	return n_records;
}

/* The only record after HEADER in TEXT. */
static void copy_last(const struct rtrace_record *record, void *userdata)
{
	*(struct rtrace_record *)userdata = *record;
}

/*
 * Reads LINE as the last line of a report. The texts of the result point into LINE: the parser runs
 * again on LINE itself, and must return the same.
 */
static struct rtrace_record read_line(const char *line, struct problems *problems)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct rtrace_record record, parsed = { 0 };
	struct rtrace_oddity odd;

	outbuf_print(&b, HEADER MEMORY "1. f(0) = 0x1\n%s\n", line);
	read_text((char *)b.data, b.size, problems, copy_last, &record);
	rtrace_parse_line(rtrace_text(line), &parsed, &odd);
	assert_int_equal(parsed.kind, record.kind);
	return parsed;
}

#define assert_text(text, expected)                                                                \
	do {                                                                                       \
		assert_int_equal((text).n, strlen(expected));                                      \
		assert_memory_equal((text).bytes, expected, strlen(expected));                     \
	} while (0)

static void assert_one_problem(const struct problems *p, uint64_t line, const char *part)
{
	assert_int_equal(p->n, 1);
	assert_int_equal(p->list[0].line, line);
	if (!strstr(p->list[0].what, part))
		fail_msg("'%s' is not in '%s'", part, p->list[0].what);
}

/* ---- lines, in both dialects ---- */

TEST(test_header)
{
	static const char *const lines[] = {
		"version=2.0, arch=x86_64, timestamp=2026.11.20 08:27:22, process=/usr/bin/a b, pid=42, "
		"filter=leaks|resolve, backtrace depth=10, origin=sp-rtrace 1.8, ",
		"version=2.0,arch=x86_64,time=2026.11.20 08:27:22,process=/usr/bin/a b,pid=42,"
		"filter=resolve|leaks|x,timestamps=no,backtrace depth=10,origin=sp-rtrace 1.8",
	};

	for (size_t i = 0; i < 2; i++) {
		struct rtrace_header h;
		struct rtrace_oddity odd;

		assert_true(rtrace_parse_header(rtrace_text(lines[i]), &h, &odd));
		assert_null(odd.what);
		assert_text(h.version, "2.0");
		assert_text(h.arch, "x86_64");
		assert_text(h.timestamp, "2026.11.20 08:27:22");
		assert_text(h.process, "/usr/bin/a b");
		assert_text(h.origin, "sp-rtrace 1.8");
		assert_int_equal(h.pid, 42);
		assert_int_equal(h.filters, RTRACE_FILTER_LEAKS | RTRACE_FILTER_RESOLVE);
		assert_true(h.has_depth);
		assert_int_equal(h.depth, 10);
	}
}

TEST(test_calls)
{
	static const struct {
		const char *line, *name, *type;
		uint64_t index, size, id, time_ns;
		uint32_t contexts;
		bool has_time, is_free;
	} rows[] = {
		{ "1. malloc(64) = 0x10", "malloc", "", 1, 64, 0x10, 0, 0, false, false },
		{ "1. malloc(64)=0x10", "malloc", "", 1, 64, 0x10, 0, 0, false, false },
		{ "1. malloc( 64)  =  0x10 ", "malloc", "", 1, 64, 0x10, 0, 0, false, false },
		{ "1.  malloc(64) = 0xAbC", "malloc", "", 1, 64, 0xabc, 0, 0, false, false },
		{ "7. @3 [01:02:03.004] free<fd>(0x5)", "free", "fd", 7, 0, 5, 3723004000000, 3,
		  true, true },
		{ "7. [01:02:03.004005] free(0x5)", "free", "", 7, 0, 5, 3723004005000, 0, true,
		  true },
		/* The dialect in which fractions are numbers of milliseconds. */
		{ "7. [00:00:00.5] free(0x5)", "free", "", 7, 0, 5, 5000000, 0, true, true },
		{ "7. [600:00:00.000] free(0x5)", "free", "", 7, 0, 5, 2160000000000000, 0, true,
		  true },
		{ "7. [x] free(0x5)", "[x] free", "", 7, 0, 5, 0, 0, false, true },
		{ "8. operator new(unsigned long)<memory>(64) = 0x1", "operator new(unsigned long)",
		  "memory", 8, 64, 1, 0, 0, false, false },
		{ "8. operator->(8) = 0x1", "operator->", "", 8, 8, 1, 0, 0, false, false },
		{ "8. vector<int><memory>(8) = 0x1", "vector<int>", "memory", 8, 8, 1, 0, 0, false,
		  false },
		{ "9. malloc(18446744073709551615) = 0xffffffffffffffff", "malloc", "", 9,
		  UINT64_MAX, UINT64_MAX, 0, 0, false, false },
		{ "9. malloc(3000000000) = 0x1", "malloc", "", 9, 3000000000, 1, 0, 0, false,
		  false },
		{ "4294967295. (3) = 0x1", "", "", 4294967295, 3, 1, 0, 0, false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct rtrace_record r = { 0 };
		struct rtrace_oddity odd;

		rtrace_parse_line(rtrace_text(rows[i].line), &r, &odd);
		if (r.kind != RTRACE_CALL || odd.what)
			fail_msg("%s: %s", rows[i].line, odd.what ? odd.what : "is no call");
		assert_text(r.call.name, rows[i].name);
		assert_text(r.call.type, rows[i].type);
		assert_int_equal(r.call.index, rows[i].index);
		assert_int_equal(r.call.size, rows[i].size);
		assert_int_equal(r.call.id, rows[i].id);
		assert_int_equal(r.call.time_ns, rows[i].time_ns);
		assert_int_equal(r.call.contexts, rows[i].contexts);
		assert_int_equal(r.call.has_time, rows[i].has_time);
		assert_int_equal(r.call.is_free, rows[i].is_free);
	}
}

TEST(test_other_lines)
{
	struct problems p;
	struct rtrace_record r;

	r = read_line("\t0x1234", &p);
	assert_int_equal(r.frame.address, 0x1234);
	assert_int_equal(r.frame.text.n, 0);
	r = read_line("\t0x1234 in main() at a b.c:12", &p);
	assert_text(r.frame.text, "in main() at a b.c:12");
	r = read_line("\t$path = /etc/passwd", &p);
	assert_text(r.arg.name, "path");
	assert_text(r.arg.value, "/etc/passwd");
	r = read_line("$1 = { a = 1, b = 2 }", &p);
	assert_int_equal(r.kind, RTRACE_ARG);
	assert_text(r.arg.name, "1");
	assert_text(r.arg.value, "{ a = 1, b = 2 }");
	r = read_line(": /lib/a\\040b => 0x1000-0x2000", &p);
	assert_text(r.map.path, "/lib/a\\040b");
	assert_int_equal(r.map.start, 0x1000);
	assert_int_equal(r.map.end, 0x2000);
	assert_int_equal(p.n, 0);
	r = read_line(": /lib/a => b (deleted) => 0x1000-0x2000", &p);
	assert_text(r.map.path, "/lib/a => b (deleted)");
	assert_one_problem(&p, 4, "space");
	r = read_line("@ 80000000 : a name", &p);
	assert_int_equal(r.context.mask, 0x80000000);
	assert_text(r.context.name, "a name");
	r = read_line("<10> : segment (shared memory) [refcount]", &p);
	assert_int_equal(r.resource.mask, 0x10);
	assert_text(r.resource.type, "segment");
	assert_text(r.resource.description, "shared memory");
	assert_true(r.resource.refcount);
	r = read_line("& smaps : /tmp/x", &p);
	assert_text(r.attachment.name, "smaps");
	assert_text(r.attachment.path, "/tmp/x");
	r = read_line("## kept % as it is", &p);
	assert_text(r.note, "## kept % as it is");
	assert_false(r.temporary);
	r = read_line("# goes", &p);
	assert_true(r.temporary);
	r = read_line("# allocation summary: 2 block(s) with total size 30", &p);
	assert_int_equal(r.kind, RTRACE_CALLS_SUMMARY);
	assert_int_equal(r.summary.count, 2);
	assert_int_equal(r.summary.size, 30);
	r = read_line("", &p);
	assert_int_equal(r.kind, RTRACE_END);
	assert_int_equal(p.n, 0);
}

/* ---- errors ---- */

/* A comment need not begin with '#'. */
TEST(test_plain_comment)
{
	struct problems p;
	struct rtrace_record r = read_line("hello there", &p);

	assert_int_equal(r.kind, RTRACE_NOTE);
	assert_int_equal(p.n, 0);
	assert_false(r.temporary);
	assert_text(r.note, "hello there");
}

TEST(test_malformed_lines)
{
	static const struct {
		const char *line, *part;
	} rows[] = {
		{ " 1. malloc(1) = 0x1", "a space" },
		{ "1. malloc(1) = 1000", "expected" },
		{ "1. malloc(1) = 0X10", "expected" },
		{ "1. malloc(1)", "expected" },
		{ "1. malloc() = 0x1", "expected" },
		{ "1. malloc(18446744073709551616) = 0x1", "expected" },
		{ "1. malloc(1) = 0x10000000000000000", "expected" },
		{ "1. malloc", "'('" },
		{ "1. free(0x10", "')'" },
		{ "1.malloc(1) = 0x1", "space" },
		{ "1 malloc(1) = 0x1", "'.'" },
		{ "99999999999999999999. malloc(1) = 0x1", "index" },
		{ "\t", "address" },
		{ "\t1234", "address" },
		{ "\t0xg", "address" },
		{ "\t0x12345678901234567", "address" },
		{ "\t0x1main", "space" },
		{ "\t$", "NAME" },
		{ "\t$a=b", "NAME" },
		{ "\t$a = ", "value" },
		{ ": /a", "=>" },
		{ ": /a => 0x1", "START" },
		{ ": /a => 0x2-0x1", "end" },
		{ ":  => 0x1-0x2", "=>" },
		{ "@ g : x", "mask" },
		{ "@ 1 x", "':'" },
		{ "@ 100000000 : x", "mask" },
		{ "<0> : a (b)", "mask" },
		{ "<1 : a (b)", "'>'" },
		{ "<1> : a b", "DESCRIPTION" },
		{ "<1> : a ()", "DESCRIPTION" },
		{ "& a", "':'" },
		{ "& a :", "path" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct problems p;
		struct rtrace_record r = read_line(rows[i].line, &p);

		if (r.kind != RTRACE_NOTE || p.n != 1)
			fail_msg("'%s' is taken for kind %d with %zu problems", rows[i].line,
				 r.kind, p.n);
		assert_one_problem(&p, 4, rows[i].part);
		assert_text(r.note, rows[i].line);
	}
}

TEST(test_odd_lines_are_taken)
{
	struct problems p;
	struct rtrace_record r = read_line("1. malloc(-1294967296) = 0x1", &p);

	assert_int_equal(r.call.size, 3000000000);
	assert_one_problem(&p, 4, "negative");
	r = read_line("1. malloc(1) = 0x1 and so on", &p);
	assert_int_equal(r.call.id, 1);
	assert_one_problem(&p, 4, "after its id");
}

TEST(test_orphans)
{
	static const char text[] = HEADER "\t0x1\n\t$a = b\n1. f(0) = 0x1\n\t0x1\n\n\t0x2\n";
	struct problems p;

	assert_int_equal(read_text(text, strlen(text), &p, NULL, NULL), 7);
	assert_int_equal(p.n, 3);
	assert_int_equal(p.list[0].line, 2);
	assert_int_equal(p.list[1].line, 3);
	assert_int_equal(p.list[2].line, 7);
}

TEST(test_no_line_feed_at_the_end)
{
	static const char text[] = HEADER MEMORY "1. free(0x12)";
	struct problems p;
	struct rtrace_record last;

	read_text(text, strlen(text), &p, copy_last, &last);
	assert_int_equal(last.kind, RTRACE_CALL);
	assert_int_equal(last.call.id, 0x12);
	assert_one_problem(&p, 3, "truncated");
}

TEST(test_carriage_returns)
{
	static const char text[] =
		"version=2.0, \r\n<1> : a (b)\r\n1. free(0x12)\r\n\t0x1\r\n\r\n\t0x2\r\n";
	struct problems p;

	assert_int_equal(read_text(text, strlen(text), &p, NULL, NULL), 6);
	/* Reported once. */
	assert_int_equal(p.n, 2);
	assert_int_equal(p.list[0].line, 1);
	assert_int_equal(p.list[1].line, 6);
	assert_non_null(strstr(p.list[1].what, "frame"));
}

TEST(test_nul)
{
	static const char text[] = HEADER MEMORY "1. fr\0ee(0x12)\n## a\0b\n";
	struct problems p;
	struct rtrace_record last;

	assert_int_equal(read_text(text, sizeof(text) - 1, &p, copy_last, &last), 4);
	assert_one_problem(&p, 3, "NUL");
	assert_int_equal(last.note.n, 6);
}

/* ---- long lines ---- */

struct seen {
	size_t n_notes, n_bytes, n_frames;
};

static void count_pieces(const struct rtrace_record *record, void *userdata)
{
	struct seen *s = userdata;

	s->n_frames += record->kind == RTRACE_FRAME;
	if (record->continues) {
		assert_int_equal(record->kind, RTRACE_NOTE);
		assert_true(record->raw.n <= 65536);
		s->n_notes++;
		s->n_bytes += record->note.n;
	}
}

/* Lines of N bytes, without line feed. */
static void read_long_line(size_t n, struct problems *p, struct seen *s)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };

	outbuf_print(&b, HEADER MEMORY "1. f(0) = 0x1\n\t0x1 ");
	memset(outbuf_reserve(&b, n - 5), 'x', n - 5);
	outbuf_print(&b, "\n\t0x2\n\n");
	memset(s, 0, sizeof(*s));
	read_text((char *)b.data, b.size, p, count_pieces, s);
	/* The backtrace continues after it. */
	assert_int_equal(s->n_frames, 2);
}

TEST(test_long_lines)
{
	struct problems p;
	struct seen s;

	read_long_line(4094, &p, &s);
	assert_int_equal(p.n, 0);
	assert_int_equal(s.n_notes, 0);
	read_long_line(4095, &p, &s);
	assert_one_problem(&p, 4, "4095");
	assert_int_equal(s.n_notes, 1);
	assert_int_equal(s.n_bytes, 0);
	read_long_line(4096, &p, &s);
	assert_one_problem(&p, 4, "4095");
	assert_int_equal(s.n_bytes, 1);
	read_long_line(10 << 20, &p, &s);
	assert_one_problem(&p, 4, "4095");
	assert_int_equal(s.n_bytes, (10 << 20) - 4095);
}

/* ---- lines that depend on other lines ---- */

static void take_call(const struct rtrace_record *record, void *userdata)
{
	struct rtrace_record **at = userdata;

	if (record->kind == RTRACE_CALL)
		*(*at)++ = *record;
}

TEST(test_groups)
{
	static const char text[] = HEADER MEMORY
		"1. f(0) = 0x1\n\t$a = b\n# temporary\n2. f(0) = 0x2\n\t0x1\n3. f(0) = 0x3\n\t0x1\n\n"
		"4. f(0) = 0x4\n\n5. f(0) = 0x5\n## kept\n6. f(0) = 0x6\n";
	static const bool opens[] = { true, false, true, true, true, true };
	struct rtrace_record calls[16], *at = calls;
	struct problems p;

	read_text(text, strlen(text), &p, take_call, &at);
	assert_int_equal(at - calls, 6);
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(calls[i].opens, opens[i]);
	assert_int_equal(p.n, 0);
}

TEST(test_types)
{
	static const char text[] = HEADER
		"1. f<early>(0) = 0x1\n\n<1> : memory (m)\n2. vector<int>(0) = 0x2\n\n<2> : fd (f)\n"
		"<4> : fd (again)\n3. f(0) = 0x3\n\n4. f<fd>(0) = 0x4\n\n5. vector<int>(0) = 0x5\n\n";
	static const int numbers[] = { -1, 0, 0, 1, -1 };
	static const size_t lengths[] = { 1, 11, 1, 1, 11 };
	struct rtrace_record calls[16], *at = calls;
	struct problems p;

	read_text(text, strlen(text), &p, take_call, &at);
	assert_int_equal(at - calls, 5);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(calls[i].resource_number, numbers[i]);
		assert_int_equal(calls[i].call.name.n, lengths[i]);
	}
	assert_int_equal(p.n, 2);
	assert_int_equal(p.list[0].line, 8);
	assert_int_equal(p.list[1].line, 13);
}

TEST(test_too_many_types)
{
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	struct problems p;

	outbuf_print(&b, HEADER);
	for (unsigned i = 0; i < 34; i++)
		outbuf_print(&b, "<1> : t%u (x)\n", i);
	read_text((char *)b.data, b.size, &p, NULL, NULL);
	assert_int_equal(p.n, 2);
	assert_int_equal(p.list[0].line, 34);
}

TEST(test_aliens)
{
	struct rtrace_reader *reader;

	assert_int_equal(rtrace_reader_new_memory(&reader, "", 0, NULL, NULL), RTRACE_ALIEN_EMPTY);
	assert_int_equal(rtrace_reader_new_memory(&reader, "versio", 6, NULL, NULL),
			 RTRACE_ALIEN_OTHER);
	assert_int_equal(rtrace_reader_new_memory(&reader, "\0\0\0\0\0\0\0\0\0", 9, NULL, NULL),
			 RTRACE_ALIEN_OTHER);
	assert_int_equal(rtrace_reader_new_memory(&reader, "version=", 8, NULL, NULL), 0);
	rtrace_reader_free(reader);
}

TEST(test_unescape)
{
	char to[64];

	assert_int_equal(rtrace_unescape(to, rtrace_text("/a\\040b\\\\4\\400\\04")), 14);
	assert_string_equal(to, "/a b\\\\4\\400\\04");
}

/* ---- reading and writing ---- */

static int write_record(struct rtrace_writer *w, const struct rtrace_record *r)
{
	switch (r->kind) {
	case RTRACE_HEADER:
		return rtrace_write_header(w, &r->header);
	case RTRACE_ATTACHMENT:
		return rtrace_write_attachment(w, &r->attachment);
	case RTRACE_CONTEXT:
		return rtrace_write_context(w, &r->context);
	case RTRACE_RESOURCE:
		return rtrace_write_resource(w, &r->resource);
	case RTRACE_MAP:
		return rtrace_write_map(w, &r->map);
	case RTRACE_CALL:
		return rtrace_write_call(w, &r->call);
	case RTRACE_ARG:
		return rtrace_write_arg(w, &r->arg);
	case RTRACE_FRAME:
		return rtrace_write_frame(w, &r->frame);
	case RTRACE_END:
		return rtrace_write_end(w);
	case RTRACE_NOTE:
		return rtrace_write_note(w, r->note);
	case RTRACE_CALLS_SUMMARY:
		return rtrace_write_calls_summary(w, r->summary.count, r->summary.size);
	case RTRACE_LEAKS_SUMMARY:
		return rtrace_write_leaks_summary(w, &r->summary);
	}
	return -EINVAL;
}

static void write_again(const struct rtrace_record *record, void *userdata)
{
	assert_int_equal(write_record(userdata, record), 0);
}

/* The output of the writer is read without problems, and written again unchanged. */
TEST(test_fixpoint)
{
	static const char *const names[] = { "everything.txt", "compressed.txt" };

	for (size_t i = 0; i < 2; i++) {
		_cleanup_(outbuf_deinit) struct outbuf out = { 0 };
		_cleanup_free_ uint8_t *text = NULL;
		struct rtrace_writer w;
		struct problems p;
		char path[4096];
		size_t n;

		snprintf(path, sizeof(path), GOLDEN_DIR "/rtrace/%s", names[i]);
		text = whole_file(path, &n);
		assert_non_null(text);
		rtrace_writer_init(&w, &out, NULL);
		read_text((char *)text, n, &p, write_again, &w);
		assert_int_equal(p.n, 0);
		assert_int_equal(out.size, n);
		assert_memory_equal(out.data, text, n);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_other_lines),
		cmocka_unit_test(test_plain_comment),
		cmocka_unit_test(test_malformed_lines),
		cmocka_unit_test(test_odd_lines_are_taken),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_no_line_feed_at_the_end),
		cmocka_unit_test(test_carriage_returns),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_groups),
		cmocka_unit_test(test_types),
		cmocka_unit_test(test_too_many_types),
		cmocka_unit_test(test_aliens),
		cmocka_unit_test(test_unescape),
		cmocka_unit_test(test_fixpoint),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
