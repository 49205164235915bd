/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "reader/rtrace/rtrace-postprocess.h"
#include "tests/support/known-resource.h"
#include "tests/support/unit.h"
#include "writer/rtrace/rtrace-writer.h"
#include "tests/support/valgrind.h"

#define HEADER "version=2.0, \n"
#define MEMORY "<1> : memory (m)\n"
#define BOTH   MEMORY "<2> : fd (f)\n"

/* ---- a report in memory ---- */

struct io {
	const char *text;
	size_t n;
	size_t cut; /* bytes that are missing when it is read for the second time */
	bool read_once;
	struct outbuf out;
	uint64_t n_problems, n_maps;
};

static ssize_t read_at(void *userdata, uint64_t offset, void *to, size_t n)
{
	struct io *io = userdata;
	size_t there = io->read_once ? io->n - io->cut : io->n;

	if (offset >= there) {
		io->read_once = true;
		return 0;
	}
	if (n > there - offset)
		n = there - (size_t)offset;
	memcpy(to, io->text + offset, n);
	return (ssize_t)n;
}

static int emit(void *userdata, const struct rtrace_record *record)
{
	struct io *io = userdata;

	if (record->raw.n > 0)
		return outbuf_append(&io->out, record->raw.bytes, record->raw.n);
	return rtrace_line_record(&io->out, record);
}

static int add_map(void *userdata, const struct rtrace_map *map)
{
	struct io *io = userdata;

	assert_true(map->path.n > 0);
	io->n_maps++;
	return 0;
}

/* "mapN" with N maps; nothing for addresses from 0x9000. */
static int find_name(void *userdata, uint64_t address, uint64_t n_maps, struct rtrace_text *ret)
{
	static const char *const names[] = { "map0", "map1", "map2" };

	(void)userdata;
	if (address < 0x9000)
		*ret = rtrace_text(names[n_maps]);
	return 0;
}

static void count_problem(void *userdata, const struct rtrace_problem *problem)
{
	struct io *io = userdata;

	assert_true(problem->line > 0);
	io->n_problems++;
}

static int process(struct io *io, const struct rtrace_postprocess_options *options,
		   struct rtrace_postprocess_result *ret)
{
	const struct rtrace_postprocess_io functions = {
		.read_at = read_at,
		.emit = emit,
		.map = add_map,
		.name = find_name,
		.problem = count_problem,
		.userdata = io,
	};

	return rtrace_postprocess(options, &functions, ret);
}

/* Processes TEXT with OPTIONS, and compares with EXPECTED. */
static struct rtrace_postprocess_result
check(const char *text, const struct rtrace_postprocess_options *options, const char *expected)
{
	struct io io = { .text = text, .n = strlen(text) };
	struct rtrace_postprocess_result result;

	assert_int_equal(process(&io, options, &result), 0);
	assert_int_equal(outbuf_append(&io.out, "", 1), 0);
	assert_string_equal(io.out.data, expected);
	outbuf_deinit(&io.out);
	return result;
}

static const struct rtrace_postprocess_options leaks = { .leaks = true };

#define LEAKS_HEADER "version=2.0, filter=leaks, \n"
#define NO_LEAKS     "# Resource - memory (m):\n# 0 block(s) leaked with total size of 0 bytes\n"

/* The leaks of CALLS are the calls in EXPECTED: COUNT blocks, SIZE bytes. */
static struct rtrace_postprocess_result check_leaks(const char *calls, const char *expected,
						    unsigned count, unsigned size)
{
	_cleanup_(outbuf_deinit) struct outbuf in = { 0 }, out = { 0 };

	outbuf_print(&in, HEADER MEMORY "%s", calls);
	outbuf_append(&in, "", 1);
	outbuf_print(&out,
		     LEAKS_HEADER MEMORY "%s# Resource - memory (m):\n"
					 "# %u block(s) leaked with total size of %u bytes\n",
		     expected, count, size);
	outbuf_append(&out, "", 1);
	return check((char *)in.data, &leaks, (char *)out.data);
}

/* ---- nothing to do ---- */

TEST(test_no_option_copies)
{
	static const char text[] =
		HEADER "\r\n# temporary\n\n\nodd\0line\n\t0x1\n1. malloc(1) = 0x1";
	static const struct rtrace_postprocess_options none;
	struct io io = { .text = text, .n = sizeof(text) - 1 };
	struct rtrace_postprocess_result result;

	assert_int_equal(process(&io, &none, &result), 0);
	assert_int_equal(io.out.size, io.n);
	assert_memory_equal(io.out.data, text, io.n);
	assert_int_equal(io.n_problems, 4);
	assert_int_equal(result.shown, 1);
	outbuf_deinit(&io.out);
}

/* ---- leaks ---- */

TEST(test_leaks)
{
	check_leaks("1. malloc(1) = 0x10\n\t0x1\n\n2. malloc(2) = 0x20\n\t0x2\n\n3. free(0x10)\n\n",
		    "2. malloc(2) = 0x20\n\t0x2\n\n", 1, 2);
	check_leaks("", "", 0, 0);
	/* Id 0 and the highest one are like others. */
	check_leaks("1. malloc(1) = 0x0\n\n2. malloc(2) = 0xffffffffffffffff\n\n3. free(0x0)\n\n"
		    "4. free(0xffffffffffffffff)\n\n5. malloc(3) = 0xffffffffffffffff\n\n",
		    "5. malloc(3) = 0xffffffffffffffff\n\n", 1, 3);
}

TEST(test_unknown_frees)
{
	struct rtrace_postprocess_result r;

	r = check_leaks("1. free(0x10)\n\n2. malloc(2) = 0x10\n\n", "2. malloc(2) = 0x10\n\n", 1,
			2);
	assert_int_equal(r.counts.unknown, 1);
	assert_int_equal(r.counts.replaced, 0);
	assert_int_equal(r.counts.calls, 2);
	assert_int_equal(r.shown, 1);
}

/* A reused id was freed before, even if the free was missed. */
TEST(test_replaced)
{
	struct rtrace_postprocess_result r;

	r = check_leaks("1. malloc(1) = 0x10\n\n2. malloc(2) = 0x10\n\n3. malloc(3) = 0x10\n\n",
			"3. malloc(3) = 0x10\n\n", 1, 3);
	assert_int_equal(r.counts.replaced, 2);
}

TEST(test_reallocated)
{
	/* In place, moved, and in a cycle. */
	check_leaks("1. malloc(1) = 0x10\n\n2. realloc(0x10)\n\n3. realloc(2) = 0x10\n\n"
		    "4. realloc(0x10)\n\n5. realloc(3) = 0x20\n\n6. realloc(0x20)\n\n"
		    "7. realloc(4) = 0x10\n\n",
		    "7. realloc(4) = 0x10\n\n", 1, 4);
}

TEST(test_refcount)
{
	static const char registry[] = "<1> : segment (s) [refcount]\n";
	_cleanup_(outbuf_deinit) struct outbuf in = { 0 };

	/* Acquired three times, released twice: one remains, with the caller that made it. */
	check(HEADER
	      "<1> : segment (s) [refcount]\n"
	      "1. shmat(1) = 0x1\n\n2. shmat(1) = 0x1\n\n3. shmdt(0x1)\n\n4. shmat(1) = 0x1\n\n"
	      "5. shmdt(0x1)\n\n6. shmat(1) = 0x2\n\n7. shmdt(0x2)\n\n",
	      &leaks,
	      LEAKS_HEADER
	      "<1> : segment (s) [refcount]\n1. shmat(1) = 0x1\n\n"
	      "# Resource - segment (s):\n# 1 block(s) leaked with total size of 1 bytes\n");
	outbuf_print(&in, HEADER "%s", registry);
	for (unsigned i = 0; i < 1000; i++)
		outbuf_print(&in, "%u. shmat(1) = 0x1\n\n", i);
	for (unsigned i = 0; i < 1000; i++)
		outbuf_print(&in, "%u. shmdt(0x1)\n\n", 1000 + i);
	outbuf_append(&in, "", 1);
	check((char *)in.data, &leaks,
	      LEAKS_HEADER
	      "<1> : segment (s) [refcount]\n"
	      "# Resource - segment (s):\n# 0 block(s) leaked with total size of 0 bytes\n");
}

/* Each resource has its own ids and sums, also the third and fourth. */
TEST(test_many_resources)
{
	static const char registry[] = "<1> : a (aa)\n<2> : b (bb)\n<4> : c (cc)\n<8> : d (dd)\n";
	_cleanup_(outbuf_deinit) struct outbuf in = { 0 }, out = { 0 };

	outbuf_print(&in,
		     HEADER "%s1. f<a>(1) = 0x1\n\n2. f<b>(20) = 0x1\n\n3. f<c>(300) = 0x1\n\n"
			    "4. f<d>(4000) = 0x1\n\n5. f<d>(4000) = 0x2\n\n6. g<b>(0x1)\n\n"
			    "7. f(7) = 0x9\n\n8. x<y>(5) = 0x1\n\n",
		     registry);
	outbuf_append(&in, "", 1);
	outbuf_print(&out,
		     LEAKS_HEADER
		     "%s1. f<a>(1) = 0x1\n\n3. f<c>(300) = 0x1\n\n4. f<d>(4000) = 0x1\n\n"
		     "5. f<d>(4000) = 0x2\n\n7. f(7) = 0x9\n\n8. x<y>(5) = 0x1\n\n",
		     registry);
	outbuf_print(&out,
		     "# Resource - a (aa):\n# 2 block(s) leaked with total size of 8 bytes\n"
		     "# Resource - b (bb):\n# 0 block(s) leaked with total size of 0 bytes\n"
		     "# Resource - c (cc):\n# 1 block(s) leaked with total size of 300 bytes\n"
		     "# Resource - d (dd):\n# 2 block(s) leaked with total size of 8000 bytes\n"
		     "# Resource - unknown (of no registered resource):\n"
		     "# 1 block(s) leaked with total size of 5 bytes\n");
	outbuf_append(&out, "", 1);
	check((char *)in.data, &leaks, (char *)out.data);
}

/* The clock starts again; the order of the indices counts. */
TEST(test_midnight)
{
	check_leaks("1. [23:59:59.999] malloc(1) = 0x10\n\n2. [00:00:00.001] free(0x10)\n\n"
		    "3. [00:00:00.002] malloc(2) = 0x10\n\n",
		    "3. [00:00:00.002] malloc(2) = 0x10\n\n", 1, 2);
}

TEST(test_unsorted)
{
	struct rtrace_postprocess_result r;

	r = check_leaks("3. malloc(3) = 0x10\n\n4. malloc(4) = 0x20\n\n1. malloc(1) = 0x10\n\n"
			"2. free(0x10)\n\n5. free(0x20)\n\n",
			"3. malloc(3) = 0x10\n\n", 1, 3);
	assert_true(r.unsorted);
	assert_int_equal(r.counts.replaced, 0);
}

/* Problems are reported once, however often the report is read. */
TEST(test_problems_once)
{
	static const char text[] =
		HEADER MEMORY "1 bad\n2. malloc(3) = 0x10\n\n1 bad\n1. malloc(1) = 0x10\n1 bad\n\n";
	struct io io = { .text = text, .n = strlen(text) };
	struct rtrace_postprocess_result result;

	assert_int_equal(process(&io, &leaks, &result), 0);
	assert_true(result.unsorted);
	assert_int_equal(io.n_problems, 3);
	outbuf_deinit(&io.out);
}

/* Other lines stay, except temporary comments. Calls are removed with all their lines. */
TEST(test_what_stays)
{
	check(HEADER
	      "& a : /b\n# goes\n" MEMORY "@ 1 : c\n: /a => 0x1-0x2\n\n"
	      "1. malloc(1) = 0x10\n\t$x = y\n\t0x1 a\n\n"
	      "## comment %s\n2. malloc(2) = 0x20\n\t$x = z\n# goes\n\t0x2 b\n\n: /b => 0x2-0x3\n"
	      "3. free(0x10)\n\t0x3\n\nodd\n",
	      &leaks,
	      LEAKS_HEADER
	      "& a : /b\n" MEMORY "@ 1 : c\n: /a => 0x1-0x2\n\n## comment %s\n"
	      "2. malloc(2) = 0x20\n\t$x = z\n\t0x2 b\n\n: /b => 0x2-0x3\nodd\n"
	      "# Resource - memory (m):\n# 1 block(s) leaked with total size of 2 bytes\n");
}

/* Reports of version 1 have no empty lines. */
TEST(test_without_empty_lines)
{
	check_leaks("1. malloc(1) = 0x10\n\t0x1\n2. malloc(2) = 0x20\n\t0x2\n\t0x3\n3. free(0x10)\n"
		    "4. malloc(4) = 0x10\n\t0x4\n",
		    "2. malloc(2) = 0x20\n\t0x2\n\t0x3\n\n4. malloc(4) = 0x10\n\t0x4\n\n", 2, 6);
}

TEST(test_large_sizes)
{
	check(HEADER MEMORY "1. malloc(2147483647) = 0x1\n\t$size = 5000000000\n\n"
			    "2. malloc(2147483647) = 0x2\n\t$other = 5000000000\n\n"
			    "3. malloc(6000000000) = 0x3\n\n4. malloc(5) = 0x4\n\t$size = 7\n\n",
	      &leaks,
	      LEAKS_HEADER MEMORY
	      "1. malloc(2147483647) = 0x1\n\t$size = 5000000000\n\n"
	      "2. malloc(2147483647) = 0x2\n\t$other = 5000000000\n\n"
	      "3. malloc(6000000000) = 0x3\n\n4. malloc(5) = 0x4\n\t$size = 7\n\n"
	      "# Resource - memory (m):\n"
	      "# 4 block(s) leaked with total size of 13147483652 bytes\n");
}

/* ---- order ---- */

#define STACKS                                                                                     \
	HEADER BOTH "1. f<memory>(10) = 0x1\n\t0x1\n\t0x9\n\n2. f<memory>(30) = 0x2\n\t0x2\n\n"    \
		    "## between\n3. f<memory>(10) = 0x3\n\t$a = b\n\t0x1\n\t0x9\n\n"               \
		    "4. f<fd>(1) = 0x3\n\t0x1\n\t0x9\n\n5. f<memory>(5) = 0x5\n\n"

TEST(test_compress)
{
	const struct rtrace_postprocess_options by_size = { .compress = true,
							    .sort = RTRACE_SORT_SIZE,
							    .descending = true };
	const struct rtrace_postprocess_options by_count = { .compress = true,
							     .sort = RTRACE_SORT_COUNT };

#define HEAD  "version=2.0, filter=compress, \n" BOTH "## between\n"
#define TWO   "# allocation summary: 2 block(s) with total size 20\n\t0x1\n\t0x9\n\n"
#define FIRST "1. f<memory>(10) = 0x1\n3. f<memory>(10) = 0x3\n\t$a = b\n" TWO
#define SECOND                                                                                     \
	"2. f<memory>(30) = 0x2\n# allocation summary: 1 block(s) with total size 30\n\t0x2\n\n"
#define FD   "4. f<fd>(1) = 0x3\n# allocation summary: 1 block(s) with total size 1\n\t0x1\n\t0x9\n\n"
#define BARE "5. f<memory>(5) = 0x5\n# allocation summary: 1 block(s) with total size 5\n\n"
	check(STACKS, &by_size, HEAD SECOND FIRST BARE FD);
	check(STACKS, &by_count, HEAD SECOND FD BARE FIRST);
	/* Compressing again changes nothing: a compressed report keeps its order. */
	check(HEAD FIRST SECOND FD BARE, &by_size, HEAD SECOND FIRST BARE FD);
	check(HEAD SECOND FIRST BARE FD,
	      &(struct rtrace_postprocess_options){ .has_depth = true, .depth = 9 },
	      "version=2.0, filter=compress, backtrace depth=9, \n" BOTH
	      "## between\n" SECOND FIRST BARE FD);
}

/* Leaks of a compressed report, whose calls are not in order. */
TEST(test_compressed_leaks)
{
	const struct rtrace_postprocess_options both = {
		.leaks = true, .compress = true, .sort = RTRACE_SORT_SIZE, .descending = true
	};

	check("version=2.0, filter=compress, \n" MEMORY
	      "1. f(10) = 0x1\n4. f(20) = 0x1\n# allocation summary: 2 block(s) with total size 30\n\t0x1\n\n"
	      "2. f(5) = 0x2\n# allocation summary: 1 block(s) with total size 5\n\t0x2\n\n"
	      "3. g(0x1)\n# allocation summary: 0 block(s) with total size 0\n\t0x3\n\n",
	      &both,
	      "version=2.0, filter=leaks|compress, \n" MEMORY
	      "4. f(20) = 0x1\n# allocation summary: 1 block(s) with total size 20\n\t0x1\n\n"
	      "2. f(5) = 0x2\n# allocation summary: 1 block(s) with total size 5\n\t0x2\n\n"
	      "# Resource - memory (m):\n# 2 block(s) leaked with total size of 25 bytes\n");
}

TEST(test_sort)
{
	static const char text[] =
		HEADER MEMORY "2. [23:59:00.000] f(20) = 0x2\n\n1. [23:58:00.000] f(10) = 0x1\n\n"
			      "3. [00:00:01.000] f(5) = 0x3\n\n4. [00:00:00.500] f(20) = 0x4";
#define TWENTY "2. [23:59:00.000] f(20) = 0x2\n\n"
#define TEN    "1. [23:58:00.000] f(10) = 0x1\n\n"
#define FIVE   "3. [00:00:01.000] f(5) = 0x3\n\n"
#define LAST   "4. [00:00:00.500] f(20) = 0x4"
	const struct {
		enum rtrace_sort_key key;
		bool descending;
		const char *expected;
	} rows[] = {
		{ RTRACE_SORT_INDEX, false, HEADER MEMORY TEN TWENTY FIVE LAST "\n" },
		{ RTRACE_SORT_TIME, false, HEADER MEMORY TEN TWENTY LAST "\n" FIVE },
		{ RTRACE_SORT_TIME, true, HEADER MEMORY FIVE LAST "\n" TWENTY TEN },
		{ RTRACE_SORT_SIZE, true, HEADER MEMORY TWENTY LAST "\n" TEN FIVE },
		{ RTRACE_SORT_SIZE, false, HEADER MEMORY FIVE TEN TWENTY LAST "\n" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		check(text,
		      &(struct rtrace_postprocess_options){ .sort = rows[i].key,
							    .descending = rows[i].descending },
		      rows[i].expected);
}

TEST(test_count_needs_groups)
{
	const struct rtrace_postprocess_options options = { .sort = RTRACE_SORT_COUNT };
	struct io io = { .text = HEADER, .n = strlen(HEADER) };
	struct rtrace_postprocess_result result;

	assert_int_equal(process(&io, &options, &result), -EINVAL);
}

/* ---- selection ---- */

#define CALLS                                                                                      \
	HEADER BOTH "@ 1 : one\n@ 4 : two\n: /lib/liba.so => 0x1000-0x2000\n"                      \
		    "1. f<memory>(10) = 0x1\n\t0x1100\n\n2. @1 f<fd>(1) = 0x1\n\t0x1200\n\n"       \
		    "3. @5 f<memory>(2000) = 0x2\n\t0x3000\n\t0x1100\n\n4. @4 g<memory>(0x2)\n\n"  \
		    "5. g<memory>(0x1)\n\n6. g<fd>(0x7)\n\n"

/* SELECT leaves the EXPECTED indices of CALLS. */
static void check_select(const struct rtrace_select *select, const char *expected)
{
	const struct rtrace_postprocess_options options = { .select = select };
	struct io io = { .text = CALLS, .n = strlen(CALLS) };
	struct rtrace_postprocess_result result;
	char found[64] = "", *line, *at;

	assert_int_equal(process(&io, &options, &result), 0);
	outbuf_append(&io.out, "", 1);
	at = (char *)io.out.data;
	while ((line = strsep(&at, "\n")))
		if (*line >= '0' && *line <= '9')
			strncat(found, line, 1);
	assert_string_equal(found, expected);
	assert_int_equal(result.shown, strlen(expected));
	outbuf_deinit(&io.out);
}

TEST(test_select)
{
	static const char *const fd[] = { "fd", "none" }, *const two[] = { "two" },
				 *const three[] = { "3" };
	static const uint64_t list[] = { 2, 4, 5 };
	const struct rtrace_call_range absolute = { NULL, 0x1100, 1 },
				       in_lib = { "liba.so", 0x200, 0x10 },
				       other = { "ba.so", 0x200, 0x10 };

	check_select(&(struct rtrace_select){ .types = fd, .n_types = 2 }, "26");
	check_select(&(struct rtrace_select){ .type_mask = 1 }, "1345");
	check_select(&(struct rtrace_select){ .type_mask = 4 }, "");
	check_select(&(struct rtrace_select){ .context_mask = 1 }, "23");
	check_select(&(struct rtrace_select){ .contexts = two, .n_contexts = 1 }, "34");
	check_select(&(struct rtrace_select){ .contexts = three, .n_contexts = 1 }, "");
	check_select(&(struct rtrace_select){ .no_context = true }, "156");
	check_select(&(struct rtrace_select){ .no_context = true, .context_mask = 1 }, "12356");
	check_select(&(struct rtrace_select){ .has_index = true, .min_index = 2, .max_index = 4 },
		     "234");
	check_select(&(struct rtrace_select){ .include = list, .n_include = 3 }, "245");
	check_select(&(struct rtrace_select){ .exclude = list, .n_exclude = 3 }, "136");
	/* A free is kept or removed with its allocation. */
	check_select(&(struct rtrace_select){ .has_size = true, .min_size = 5, .max_size = 100 },
		     "15");
	check_select(&(struct rtrace_select){ .range = &absolute }, "1345");
	check_select(&(struct rtrace_select){ .range = &in_lib }, "2");
	check_select(&(struct rtrace_select){ .range = &other }, "");
}

/* Pairing comes first: a block that was freed in an unselected call is no leak. */
TEST(test_select_leaks)
{
	const struct rtrace_select one = { .context_mask = 1 };
	const struct rtrace_postprocess_options options = { .leaks = true, .select = &one };

	check(HEADER MEMORY
	      "1. @1 f(1) = 0x1\n\n2. @1 f(2) = 0x2\n\n3. g(0x1)\n\n4. f(4) = 0x4\n\n",
	      &options,
	      LEAKS_HEADER MEMORY "2. @1 f(2) = 0x2\n\n# Resource - memory (m):\n"
				  "# 1 block(s) leaked with total size of 2 bytes\n");
}

TEST(test_select_large_size)
{
	const struct rtrace_select large = { .has_size = true,
					     .min_size = 1u << 31,
					     .max_size = UINT64_MAX };
	const struct rtrace_postprocess_options options = { .select = &large };

	check(HEADER MEMORY
	      "1. f(2147483647) = 0x1\n\n2. f(2147483647) = 0x2\n\t$size = 2147483648\n\n"
	      "3. f(1) = 0x3\n\t$size = 3000000000\n\n",
	      &options, HEADER MEMORY "2. f(2147483647) = 0x2\n\t$size = 2147483648\n\n");
}

/* ---- frames ---- */

TEST(test_depth)
{
	const struct rtrace_postprocess_options two = { .has_depth = true, .depth = 2 };
	const struct rtrace_postprocess_options none = { .has_depth = true };

	check("version=2.0, backtrace depth=10, \n" MEMORY
	      "1. f(1) = 0x1\n\t0x1\n\t0x2\n\t0x3\n\n2. f(1) = 0x1\n\t0x1\n\n",
	      &two,
	      "version=2.0, backtrace depth=2, \n" MEMORY
	      "1. f(1) = 0x1\n\t0x1\n\t0x2\n\n2. f(1) = 0x1\n\t0x1\n\n");
	check(HEADER MEMORY "1. f(1) = 0x1\n\t0x1\n\n", &none,
	      "version=2.0, backtrace depth=0, \n" MEMORY "1. f(1) = 0x1\n\n");
}

TEST(test_resolve)
{
	const struct rtrace_postprocess_options plain = { .resolve = true };
	const struct rtrace_postprocess_options grouped = { .resolve = true,
							    .compress = true,
							    .sort = RTRACE_SORT_INDEX };
	static const char text[] = HEADER MEMORY
		": /a => 0x1-0x2\n1. f(1) = 0x1\n\t0x1\n\t0x2 in ??\n\t0x3 known()\n\t0x9000\n\n"
		": /b => 0x1-0x2\n2. f(1) = 0x2\n\t0x1\n\n";

	check(text, &plain,
	      "version=2.0, filter=resolve, \n" MEMORY
	      ": /a => 0x1-0x2\n1. f(1) = 0x1\n\t0x1 map1\n\t0x2 map1\n\t0x3 known()\n\t0x9000\n\n"
	      ": /b => 0x1-0x2\n2. f(1) = 0x2\n\t0x1 map2\n\n");
	/* Later mappings do not affect earlier frames. */
	check(text, &grouped,
	      "version=2.0, filter=compress|resolve, \n" MEMORY ": /a => 0x1-0x2\n: /b => 0x1-0x2\n"
	      "1. f(1) = 0x1\n# allocation summary: 1 block(s) with total size 1\n"
	      "\t0x1 map1\n\t0x2 map1\n\t0x3 known()\n\t0x9000\n\n"
	      "2. f(1) = 0x2\n# allocation summary: 1 block(s) with total size 1\n\t0x1 map2\n\n");
}

/* ---- errors ---- */

TEST(test_aliens)
{
	struct io empty = { .text = "", .n = 0 }, other = { .text = "hello\n", .n = 6 };
	struct rtrace_postprocess_result result;

	assert_int_equal(process(&empty, &leaks, &result), RTRACE_ALIEN_EMPTY);
	assert_int_equal(process(&other, &leaks, &result), RTRACE_ALIEN_OTHER);
}

TEST(test_shrinks)
{
	static const char text[] = HEADER MEMORY "1. f(1) = 0x1\n\n2. f(1) = 0x2\n\n";
	struct rtrace_postprocess_result result;
	struct io io;

	for (size_t cut = 1; cut <= strlen(text) - strlen(HEADER); cut++) {
		io = (struct io){ .text = text, .n = strlen(text), .cut = cut };
		assert_int_equal(process(&io, &leaks, &result), -ESTALE);
		outbuf_deinit(&io.out);
	}
}

/* ---- many ---- */

enum { MANY = 200000, MANY_SLOWLY = 20000, SLOTS = 1000 };

struct truth {
	uint64_t calls, live, bytes;
};

/* A report of the writer: SLOTS are allocated and freed in turn, and every 100th is not freed. */
static void write_many(struct outbuf *out, struct truth *t)
{
	static uint64_t ids[SLOTS], sizes[SLOTS];
	const uint64_t many = under_valgrind() ? MANY_SLOWLY : MANY;
	struct rtrace_writer w;
	uint64_t next_id = 0x1000;

	memset(ids, 0, sizeof(ids));
	rtrace_writer_init(&w, out, NULL);
	assert_int_equal(rtrace_write_header(&w, &(struct rtrace_header){ 0 }), 0);
	assert_int_equal(write_known_resource(&w, RTRACE_KNOWN_MEMORY), 0);
	for (uint64_t i = 1; i <= many; i++) {
		size_t slot = (size_t)(i * 7919 % SLOTS);
		bool is_free = ids[slot] != 0 && i % 100 != 0;
		struct rtrace_call call = {
			.index = i,
			.name = RTRACE_TEXT("f"),
			.is_free = is_free,
			.size = i % 500,
			.id = is_free ? ids[slot] : next_id++,
		};

		assert_int_equal(rtrace_write_call(&w, &call), 0);
		assert_int_equal(
			rtrace_write_frame(&w, &(struct rtrace_frame){ .address = slot % 10 }), 0);
		assert_int_equal(rtrace_write_end(&w), 0);
		t->live += is_free ? (uint64_t)-1 : 1;
		t->bytes += is_free ? -sizes[slot] : call.size;
		ids[slot] = is_free ? 0 : call.id;
		sizes[slot] = call.size;
		t->calls++;
	}
}

static void assert_ends_with(const struct outbuf *b, const char *text)
{
	assert_true(b->size >= strlen(text));
	assert_memory_equal(b->data + b->size - strlen(text), text, strlen(text));
}

TEST(test_many)
{
	const struct rtrace_postprocess_options grouped = { .leaks = true,
							    .compress = true,
							    .sort = RTRACE_SORT_COUNT };
	const struct rtrace_postprocess_options by_size = { .sort = RTRACE_SORT_SIZE };
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };
	struct rtrace_postprocess_result result;
	struct truth t = { 0 };
	char expected[128];
	struct io io, again;

	write_many(&text, &t);
	io = (struct io){ .text = (char *)text.data, .n = text.size };
	snprintf(expected, sizeof(expected),
		 "# %llu block(s) leaked with total size of %llu bytes\n",
		 (unsigned long long)t.live, (unsigned long long)t.bytes);
	assert_int_equal(process(&io, &leaks, &result), 0);
	assert_int_equal(result.counts.calls, t.calls);
	assert_int_equal(result.shown, t.live);
	assert_int_equal(io.n_problems, 0);
	assert_ends_with(&io.out, expected);
	outbuf_reset(&io.out);
	assert_int_equal(process(&io, &grouped, &result), 0);
	assert_int_equal(result.shown, t.live);
	assert_ends_with(&io.out, expected);
	/* The leaks of its leaks are the same. */
	again = (struct io){ .text = (char *)io.out.data, .n = io.out.size };
	assert_int_equal(process(&again, &leaks, &result), 0);
	assert_int_equal(result.shown, t.live);
	assert_ends_with(&again.out, expected);
	outbuf_deinit(&again.out);
	outbuf_reset(&io.out);
	/* Sorting loses nothing. */
	assert_int_equal(process(&io, &by_size, &result), 0);
	assert_int_equal(result.shown, t.calls);
	assert_int_equal(io.out.size, io.n);
	outbuf_deinit(&io.out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_option_copies),
		cmocka_unit_test(test_leaks),
		cmocka_unit_test(test_unknown_frees),
		cmocka_unit_test(test_replaced),
		cmocka_unit_test(test_reallocated),
		cmocka_unit_test(test_refcount),
		cmocka_unit_test(test_many_resources),
		cmocka_unit_test(test_midnight),
		cmocka_unit_test(test_unsorted),
		cmocka_unit_test(test_problems_once),
		cmocka_unit_test(test_what_stays),
		cmocka_unit_test(test_without_empty_lines),
		cmocka_unit_test(test_large_sizes),
		cmocka_unit_test(test_compress),
		cmocka_unit_test(test_compressed_leaks),
		cmocka_unit_test(test_sort),
		cmocka_unit_test(test_count_needs_groups),
		cmocka_unit_test(test_select),
		cmocka_unit_test(test_select_leaks),
		cmocka_unit_test(test_select_large_size),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_resolve),
		cmocka_unit_test(test_aliens),
		cmocka_unit_test(test_shrinks),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
