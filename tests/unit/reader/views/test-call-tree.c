/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/views/call-tree.h"
#include "tests/support/unit.h"

#define KERNEL(n) (UINT64_C(0xffffffff81000000) + (n))

/* Functions: 'a' at 0xa, ...; 0xbc is b, inlined in c; 0x1 is in a mapping, without a name. */
static int find(void *userdata, const struct profile_place *place, const struct frame **ret)
{
	static const struct frame a = { .function = "a", .source = "", .module = "" };
	static const struct frame b = { .function = "b", .source = "", .module = "" };
	static const struct frame b_in_c[] = { { "b", "", "", 0, 0 }, { "c", "", "", 0, 1 } };
	static const struct frame read = { .function = "read", .source = "", .module = "" };

	(void)userdata;
	switch (place->address) {
	case 0xa:
		*ret = &a;
		return 1;
	case 0xb:
	case 0xb0: /* another place in the same function */
		*ret = &b;
		return 1;
	case 0xbc:
		*ret = b_in_c;
		return 2;
	case KERNEL(1):
		*ret = &read;
		return 1;
	case 0xdead:
		return -ENOMEM;
	default:
		return 0;
	}
}

static const char *process(void *userdata, uint32_t pid)
{
	(void)userdata;
	return pid == 1 || pid == 2 ? "app" : NULL;
}

static const struct profile_names names = { .find = find, .process = process };

struct sample {
	uint32_t pid;
	unsigned count, n;
	uint64_t frames[8]; /* innermost first */
};

static struct profile *profile_of(const struct sample *samples, size_t n)
{
	struct profile *p;
	struct event map = { .kind = EVENT_MAPPING,
			     .pid = 1,
			     .mapping = { .path = "/lib/x.so", .size = 2 } };

	assert_int_equal(
		profile_new(&p, &(struct profile_options){ .on_cpu = true, .to_ns = UINT64_MAX }),
		0);
	assert_int_equal(profile_add(p, &map), 0);
	for (size_t i = 0; i < n; i++) {
		const struct event ev = { .kind = EVENT_SAMPLE,
					  .pid = samples[i].pid,
					  .tid = samples[i].pid,
					  .sample = { samples[i].frames, samples[i].n } };

		for (unsigned j = 0; j < samples[i].count; j++)
			assert_int_equal(profile_add(p, &ev), 0);
	}
	assert_int_equal(profile_finish(p), 0);
	return p;
}

static const struct sample samples[] = {
	{ 1, 1, 2, { 0xb, 0xa } },
	{ 1, 2, 2, { 0xb0, 0xa } },
	{ 2, 4, 2, { 0xbc, 0xa } },
	{ 1, 8, 2, { KERNEL(1), 0xa } },
	{ 1, 16, 3, { 0xa, 0xb, 0xa } }, /* a calls itself through b */
	{ 1, 32, 2, { 0x1, 0x77 } },
	{ 3, 64, 1, { 0xa } },
	{ 1, 128, 0, { 0 } },
	{ 0, 256, 1, { KERNEL(2) } },
};

/* Indented by depth: "name kind self/total", and "old self/total" if present. */
static char *text_of(const struct call_tree *t)
{
	static const char *const kinds[CALL_KIND_MAX] = { "root", "process", "user", "kernel",
							  "unknown" };
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);
	uint32_t i = 0;

	do {
		const struct call_node *n = &t->nodes[i];

		fprintf(f, "%*s%s %s %u/%u", (int)n->depth, "", n->name, kinds[n->kind],
			(unsigned)n->self[CALL_NOW], (unsigned)n->total[CALL_NOW]);
		if (n->total[CALL_OLD])
			fprintf(f, " old %u/%u", (unsigned)n->self[CALL_OLD],
				(unsigned)n->total[CALL_OLD]);
		fputc('\n', f);
	} while ((i = call_tree_next(t, i)) != 0);
	fclose(f);
	return text;
}

static struct call_tree *tree_of(bool inverted, bool with_old)
{
	_cleanup_(profile_freep) struct profile *p = profile_of(samples, ARRAY_SIZE(samples));
	_cleanup_(profile_freep) struct profile *old = profile_of(samples, 2);
	struct call_tree_options options = { .inverted = inverted, .names = &names };
	struct call_tree *t;

	assert_int_equal(call_tree_new(&t), 0);
	assert_int_equal(call_tree_add(t, p, &options), 0);
	options.side = CALL_OLD;
	if (with_old)
		assert_int_equal(call_tree_add(t, old, &options), 0);
	assert_int_equal(call_tree_finish(t), 0);
	assert_int_equal(t->n_cut, 0);
	return t;
}

TEST(test_tree)
{
	_cleanup_(call_tree_freep) struct call_tree *t = tree_of(false, true);
	_cleanup_free_ char *text = text_of(t);

	assert_string_equal(text, "all root 0/511 old 0/3\n"
				  " app process 128/191 old 0/3\n"
				  "  [unknown] unknown 0/32\n"
				  "   x.so+0x1 user 32/32\n"
				  "  a user 0/31 old 0/3\n"
				  "   b user 3/19 old 3/3\n"
				  "    a user 16/16\n"
				  "   c user 0/4\n"
				  "    b user 4/4\n"
				  "   read kernel 8/8\n"
				  " idle process 0/256\n"
				  "  [kernel] kernel 256/256\n"
				  " pid 3 process 0/64\n"
				  "  a user 64/64\n");
	assert_int_equal(t->max_depth, 4);
}

TEST(test_inverted)
{
	_cleanup_(call_tree_freep) struct call_tree *t = tree_of(true, false);
	_cleanup_free_ char *text = text_of(t);

	assert_string_equal(text, "all root 0/511\n"
				  " [kernel] kernel 0/256\n"
				  "  idle process 256/256\n"
				  " a user 0/80\n"
				  "  b user 0/16\n"
				  "   a user 0/16\n"
				  "    app process 16/16\n"
				  "  pid 3 process 64/64\n"
				  " app process 128/128\n"
				  " b user 0/7\n"
				  "  a user 0/3\n"
				  "   app process 3/3\n"
				  "  c user 0/4\n"
				  "   a user 0/4\n"
				  "    app process 4/4\n"
				  " read kernel 0/8\n"
				  "  a user 0/8\n"
				  "   app process 8/8\n"
				  " x.so+0x1 user 0/32\n"
				  "  [unknown] unknown 0/32\n"
				  "   app process 32/32\n");
}

TEST(test_functions)
{
	static const struct {
		const char *name;
		unsigned self, total;
	} want[] = {
		/* a is counted once, although it calls itself */
		{ "[kernel]", 256, 256 },
		{ "a", 80, 95 },
		{ "x.so+0x1", 32, 32 },
		{ "read", 8, 8 },
		{ "b", 7, 23 },
		{ "[unknown]", 0, 32 },
		{ "c", 0, 4 },
	};
	_cleanup_(call_tree_freep) struct call_tree *t = tree_of(false, false);
	_cleanup_free_ struct call_function *list = NULL;
	size_t n;

	assert_int_equal(call_tree_functions(t, &list, &n), 0);
	assert_int_equal(n, ARRAY_SIZE(want));
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(list[i].name, want[i].name);
		assert_int_equal(list[i].self, want[i].self);
		assert_int_equal(list[i].total, want[i].total);
	}
}

/* A sample before an exec belongs to the program that ran then. */
TEST(test_programs)
{
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_free_ char *text = NULL;
	const struct call_tree_options options = { .names = &names };
	const struct profile_options all = { .on_cpu = true, .off_cpu = true, .to_ns = UINT64_MAX };
	static const uint64_t frames[] = { 0xa };
	const struct event events[] = {
		{ .kind = EVENT_SAMPLE, .ts_ns = 10, .pid = 1, .tid = 1, .sample = { frames, 1 } },
		{ .kind = EVENT_RENAME,
		  .ts_ns = 19,
		  .pid = 1,
		  .tid = 1,
		  .rename = { "sh", "app" } },
		{ .kind = EVENT_EXEC, .ts_ns = 20, .pid = 1, .tid = 1, .exec = { "f", "", 0 } },
		/* Late in the file, like times off CPU. */
		{ .kind = EVENT_OFFCPU,
		  .ts_ns = 12,
		  .pid = 1,
		  .tid = 1,
		  .offcpu = { .end_ns = 18 } },
		{ .kind = EVENT_SAMPLE,
		  .ts_ns = 12,
		  .pid = 1,
		  .tid = 1,
		  .sample = { frames, 1, .kind = SAMPLE_OFF_CPU } },
		{ .kind = EVENT_SAMPLE, .ts_ns = 20, .pid = 1, .tid = 1, .sample = { frames, 1 } },
		{ .kind = EVENT_SAMPLE, .ts_ns = 30, .pid = 1, .tid = 1, .sample = { frames, 1 } },
	};

	assert_int_equal(profile_new(&p, &all), 0);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		assert_int_equal(profile_add(p, &events[i]), 0);
	assert_int_equal(profile_finish(p), 0);
	assert_int_equal(call_tree_new(&t), 0);
	assert_int_equal(call_tree_add(t, p, &options), 0);
	assert_int_equal(call_tree_finish(t), 0);
	text = text_of(t);
	assert_string_equal(text, "all root 0/4\n"
				  " app process 0/2\n"
				  "  a user 2/2\n"
				  " sh process 0/2\n"
				  "  a user 2/2\n");
}

TEST(test_by_time)
{
	static const uint64_t stack[] = { 0xa };
	static const struct event events[] = {
		{ .kind = EVENT_SAMPLING, .sampling = { .frequency = 1000, .clock = "" } },
		{ .kind = EVENT_SAMPLE, .pid = 1, .sample = { stack, 1 } },
		{ .kind = EVENT_OFFCPU, .ts_ns = 5, .pid = 1, .tid = 9, .offcpu = { 12 } },
	};
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;
	_cleanup_free_ char *text = NULL;

	assert_int_equal(profile_new(&p, &(struct profile_options){ .on_cpu = true,
								    .off_cpu = true,
								    .to_ns = UINT64_MAX }),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		assert_int_equal(profile_add(p, &events[i]), 0);
	assert_int_equal(profile_finish(p), 0);
	assert_int_equal(call_tree_new(&t), 0);
	assert_int_equal(
		call_tree_add(t, p,
			      &(struct call_tree_options){ .by_time = true, .names = &names }),
		0);
	assert_int_equal(call_tree_finish(t), 0);
	text = text_of(t);
	assert_string_equal(text, "all root 0/1000007\n app process 7/1000007\n"
				  "  a user 1000000/1000000\n");
}

/* The callback for names has no memory. */
TEST(test_names_fail)
{
	static const struct sample bad = { 1, 1, 1, { 0xdead } };
	_cleanup_(profile_freep) struct profile *p = profile_of(&bad, 1);
	_cleanup_(call_tree_freep) struct call_tree *t = NULL;

	assert_int_equal(call_tree_new(&t), 0);
	assert_int_equal(call_tree_add(t, p, &(struct call_tree_options){ .names = &names }),
			 -ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tree),      cmocka_unit_test(test_inverted),
		cmocka_unit_test(test_functions), cmocka_unit_test(test_by_time),
		cmocka_unit_test(test_programs),  cmocka_unit_test(test_names_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
