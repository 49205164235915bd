/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-names.h"
#include "model/maps.h"

static struct maps *of_all_times(void)
{
	struct maps *m;

	assert_int_equal(maps_new(&m, MAPS_OF_ALL_TIMES), 0);
	return m;
}

static void add(struct maps *m, struct event ev)
{
	assert_int_equal(maps_add(m, &ev), 0);
}

static void map(struct maps *m, uint64_t ts, uint32_t pid, uint64_t start, uint64_t size,
		const char *path)
{
	add(m, (struct event){ .kind = EVENT_MAPPING,
			       .ts_ns = ts,
			       .pid = pid,
			       .mapping = { .path = path, .start = start, .size = size } });
}

static void fork_to(struct maps *m, uint64_t ts, uint32_t pid, uint32_t child)
{
	add(m, (struct event){ .kind = EVENT_FORK,
			       .ts_ns = ts,
			       .pid = pid,
			       .fork = { .child_pid = child, .child_tid = child } });
}

static void exec(struct maps *m, uint64_t ts, uint32_t pid)
{
	add(m, (struct event){ .kind = EVENT_EXEC,
			       .ts_ns = ts,
			       .pid = pid,
			       .exec = { .file = "", .command_line = "" } });
}

static void process(struct maps *m, uint32_t pid, uint32_t parent)
{
	add(m, (struct event){ .kind = EVENT_TASK,
			       .pid = pid,
			       .task = { .comm = "",
					 .command_line = "",
					 .parent_pid = parent,
					 .is_process = true } });
}

/* The path of the mapping that is found, "-" for none. */
static const char *at(const struct maps *m, uint32_t pid, uint64_t address, uint64_t ts)
{
	const struct mapping *mapping = maps_find(m, pid, address, ts);

	return mapping ? mapping->path : "-";
}

#define ASSERT_AT(m, pid, address, ts, want)                                                       \
	assert_string_equal(at((m), (pid), (address), (ts)), (want))

TEST(test_bounds)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	ASSERT_AT(m, 1, 0x1000, 0, "-");
	map(m, 5, 1, 0x1000, 0x100, "a");
	map(m, 5, 1, 0x3000, 1, "one");
	map(m, 5, 1, UINT64_MAX - 9, 10, "top");
	map(m, 5, 1, UINT64_MAX, 2, "beyond");
	map(m, 5, 1, 0x2000, 0, "empty");
	ASSERT_AT(m, 1, 0xfff, 5, "-");
	ASSERT_AT(m, 1, 0x1000, 5, "a");
	ASSERT_AT(m, 1, 0x10ff, 5, "a");
	ASSERT_AT(m, 1, 0x1100, 5, "-");
	ASSERT_AT(m, 1, 0x2000, 5, "-");
	ASSERT_AT(m, 1, 0x3000, 5, "one");
	ASSERT_AT(m, 1, UINT64_MAX, 5, "top");
	ASSERT_AT(m, 1, UINT64_MAX - 10, 5, "-");
	ASSERT_AT(m, 2, 0x1000, 5, "-");
	/* Before it was mapped. */
	ASSERT_AT(m, 1, 0x1000, 4, "-");
}

/* All details of a mapping are available. */
TEST(test_detail)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();
	uint8_t build_id[] = { 1, 2, 3 };
	char path[] = "/a";
	const struct mapping *found;

	add(m, (struct event){ .kind = EVENT_MAPPING,
			       .ts_ns = 5,
			       .pid = 1,
			       .mapping = { path, build_id, 3, 7, 0x1000, 0x10, 0x20, 8, 9 } });
	path[0] = 'x';
	build_id[0] = 0;
	found = maps_find(m, 1, 0x1001, 5);
	assert_non_null(found);
	assert_string_equal(found->path, "/a");
	assert_int_equal(found->build_id_size, 3);
	assert_memory_equal(found->build_id, "\1\2\3", 3);
	assert_int_equal(found->pid, 1);
	assert_int_equal(found->ts_ns, 5);
	assert_int_equal(found->start, 0x1000);
	assert_int_equal(found->size, 0x10);
	assert_int_equal(found->file_offset, 0x20);
	assert_int_equal(found->device, 8);
	assert_int_equal(found->inode, 9);
}

TEST(test_overlap)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	map(m, 1, 1, 0x1000, 0x1000, "low");
	map(m, 1, 1, 0x2000, 0x1000, "high");
	/* into the middle of one; across the border of two; exactly the rest of one */
	map(m, 2, 1, 0x1400, 0x100, "hole");
	map(m, 3, 1, 0x1f00, 0x200, "seam");
	map(m, 4, 1, 0x2100, 0xf00, "rest");
	ASSERT_AT(m, 1, 0x13ff, 9, "low");
	ASSERT_AT(m, 1, 0x1400, 9, "hole");
	ASSERT_AT(m, 1, 0x14ff, 9, "hole");
	ASSERT_AT(m, 1, 0x1500, 9, "low");
	ASSERT_AT(m, 1, 0x1eff, 9, "low");
	ASSERT_AT(m, 1, 0x1f00, 9, "seam");
	ASSERT_AT(m, 1, 0x20ff, 9, "seam");
	ASSERT_AT(m, 1, 0x2100, 9, "rest");
	ASSERT_AT(m, 1, 0x2fff, 9, "rest");
	/* unchanged */
	ASSERT_AT(m, 1, 0x1400, 1, "low");
	ASSERT_AT(m, 1, 0x1400, 2, "hole");
	ASSERT_AT(m, 1, 0x1f00, 2, "low");
	ASSERT_AT(m, 1, 0x2000, 2, "high");
	ASSERT_AT(m, 1, 0x2000, 3, "seam");
	ASSERT_AT(m, 1, 0x2100, 3, "high");
	/* the whole address space */
	map(m, 5, 1, 0, UINT64_MAX, "all");
	ASSERT_AT(m, 1, 0x1400, 5, "all");
	ASSERT_AT(m, 1, 0x1400, 4, "hole");
	ASSERT_AT(m, 1, 0, 4, "-");
}

TEST(test_later)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	map(m, 1, 1, 0x1000, 0x1000, "program");
	map(m, 10, 1, 0x5000, 0x1000, "plugin");
	ASSERT_AT(m, 1, 0x5000, 9, "-");
	ASSERT_AT(m, 1, 0x5000, 10, "plugin");
	/* another one at its place, after an unreported dlclose() */
	map(m, 20, 1, 0x5000, 0x2000, "other");
	ASSERT_AT(m, 1, 0x5000, 19, "plugin");
	ASSERT_AT(m, 1, 0x5000, 20, "other");
	ASSERT_AT(m, 1, 0x6000, 19, "-");
}

TEST(test_fork)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	map(m, 1, 1, 0x1000, 0x1000, "program");
	fork_to(m, 2, 1, 2);
	ASSERT_AT(m, 2, 0x1000, 2, "program");
	/* From then on, each has its own. */
	map(m, 3, 1, 0x1000, 0x1000, "parent's");
	map(m, 4, 2, 0x1800, 0x1000, "child's");
	ASSERT_AT(m, 2, 0x1000, 9, "program");
	ASSERT_AT(m, 2, 0x1800, 9, "child's");
	ASSERT_AT(m, 2, 0x1800, 3, "program");
	ASSERT_AT(m, 1, 0x1800, 9, "parent's");
	ASSERT_AT(m, 1, 0x1000, 2, "program");
	/* A thread is no child. */
	add(m, (struct event){ .kind = EVENT_FORK,
			       .ts_ns = 5,
			       .pid = 1,
			       .fork = { .child_pid = 1, .child_tid = 7 } });
	ASSERT_AT(m, 1, 0x1000, 9, "parent's");
	/* A child that has mappings already keeps them: its fork was only late. */
	map(m, 6, 3, 0x1000, 0x1000, "own");
	fork_to(m, 5, 1, 3);
	ASSERT_AT(m, 3, 0x1000, 9, "own");
	/* An unknown parent. */
	fork_to(m, 7, 50, 51);
	ASSERT_AT(m, 51, 0x1000, 9, "-");
}

TEST(test_exec)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	map(m, 1, 1, 0x1000, 0x1000, "old");
	map(m, 1, 1, 0x9000, 0x1000, "old library");
	exec(m, 10, 1);
	ASSERT_AT(m, 1, 0x1000, 10, "-");
	map(m, 10, 1, 0x1000, 0x1000, "new");
	exec(m, 20, 1);
	map(m, 20, 1, 0x2000, 0x1000, "newest");
	ASSERT_AT(m, 1, 0x1000, 9, "old");
	ASSERT_AT(m, 1, 0x9000, 9, "old library");
	ASSERT_AT(m, 1, 0x9000, 11, "-");
	ASSERT_AT(m, 1, 0x1000, 10, "new");
	ASSERT_AT(m, 1, 0x1000, 20, "-");
	ASSERT_AT(m, 1, 0x2000, 20, "newest");
	/* A child that calls exec does not touch its parent. */
	fork_to(m, 30, 1, 2);
	exec(m, 31, 2);
	ASSERT_AT(m, 1, 0x2000, 31, "newest");
	ASSERT_AT(m, 2, 0x2000, 31, "-");
	ASSERT_AT(m, 2, 0x2000, 30, "newest");
}

/* The second owner of a pid has its own koid, and none of the first one's mappings. */
TEST(test_reuse)
{
	const uint32_t second = 1 + (2u << FXT_KOID_TID_BITS);
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	map(m, 1, 1, 0x1000, 0x1000, "first");
	add(m,
	    (struct event){
		    .kind = EVENT_EXIT, .ts_ns = 2, .pid = 1, .exit = { .process_ends = true } });
	map(m, 3, second, 0x1000, 0x1000, "second");
	ASSERT_AT(m, 1, 0x1000, 1, "first");
	ASSERT_AT(m, second, 0x1000, 3, "second");
	ASSERT_AT(m, second, 0x1000, 1, "-");
}

/* The mappings of a process that began before the archive. */
TEST(test_parent)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	process(m, 2, 1);
	process(m, 3, 2);
	process(m, 4, 4);
	map(m, 1, 1, 0x1000, 0x1000, "ancestor's");
	ASSERT_AT(m, 2, 0x1000, 1, "ancestor's");
	ASSERT_AT(m, 3, 0x1000, 1, "ancestor's");
	ASSERT_AT(m, 4, 0x1000, 1, "-");
	fork_to(m, 2, 3, 9);
	ASSERT_AT(m, 9, 0x1000, 2, "ancestor's");
	/* A child that has called exec has none of them. */
	exec(m, 3, 2);
	ASSERT_AT(m, 2, 0x1000, 3, "-");
	ASSERT_AT(m, 3, 0x1000, 3, "-");
	/* Two processes that are each other's parents cause no endless loop. */
	process(m, 10, 11);
	process(m, 11, 10);
	ASSERT_AT(m, 10, 0x1000, 3, "-");
}

TEST(test_of_now)
{
	_cleanup_(maps_freep) struct maps *m = NULL;

	assert_int_equal(maps_new(&m, MAPS_OF_NOW), 0);
	map(m, 5, 1, 0x1000, 0x1000, "a");
	ASSERT_AT(m, 1, 0x1000, 0, "a");
	map(m, 6, 1, 0x1000, 0x800, "b");
	ASSERT_AT(m, 1, 0x1000, 5, "b");
	ASSERT_AT(m, 1, 0x1800, 5, "a");
	fork_to(m, 7, 1, 2);
	exec(m, 8, 1);
	ASSERT_AT(m, 1, 0x1000, 5, "-");
	ASSERT_AT(m, 2, 0x1000, 5, "b");
	/* A thread's end is not the process's. */
	add(m, (struct event){ .kind = EVENT_EXIT, .ts_ns = 9, .pid = 2 });
	ASSERT_AT(m, 2, 0x1000, 9, "b");
	add(m, (struct event){ .kind = EVENT_EXIT, .pid = 2, .exit = { .process_ends = true } });
	ASSERT_AT(m, 2, 0x1000, 9, "-");
}

static void end(struct maps *m, uint64_t ts, uint32_t pid)
{
	add(m, (struct event){ .kind = EVENT_EXIT,
			       .ts_ns = ts,
			       .pid = pid,
			       .exit = { .process_ends = true } });
}

/* Mappings that ended before a time are dropped; those that did not are unchanged. */
TEST(test_forget)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	map(m, 10, 1, 0x1000, 0x1000, "old");
	fork_to(m, 15, 1, 2);
	map(m, 20, 1, 0x1000, 0x1000, "new");
	exec(m, 30, 1);
	map(m, 31, 1, 0x1000, 0x1000, "program");
	exec(m, 40, 1);
	map(m, 41, 1, 0x1000, 0x1000, "last");
	end(m, 50, 2);

	maps_forget(m, 20);
	ASSERT_AT(m, 1, 0x1000, 12, "old");
	ASSERT_AT(m, 1, 0x1000, 22, "new");
	ASSERT_AT(m, 2, 0x1000, 22, "old");
	maps_forget(m, 21);
	ASSERT_AT(m, 1, 0x1000, 12, "-");
	ASSERT_AT(m, 1, 0x1000, 22, "new");
	ASSERT_AT(m, 2, 0x1000, 22, "old");
	maps_forget(m, 40);
	ASSERT_AT(m, 1, 0x1000, 22, "-");
	ASSERT_AT(m, 1, 0x1000, 32, "program");
	ASSERT_AT(m, 1, 0x1000, 42, "last");
	maps_forget(m, 51);
	ASSERT_AT(m, 1, 0x1000, 32, "-");
	ASSERT_AT(m, 1, 0x1000, 42, "last");
	ASSERT_AT(m, 2, 0x1000, 49, "-");
}

/* More processes than are dropped at once. */
TEST(test_forget_many)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	for (uint32_t pid = 1; pid <= 2000; pid++) {
		map(m, pid, pid, 0x1000, 0x1000, "a");
		end(m, pid + 1, pid);
	}
	maps_forget(m, 1001);
	for (uint32_t pid = 1; pid <= 2000; pid++)
		ASSERT_AT(m, pid, 0x1000, pid, pid < 1000 ? "-" : "a");
}

/* The version changes whenever the process maps something, and only then. */
TEST(test_version)
{
	_cleanup_(maps_freep) struct maps *m = NULL;
	uint64_t first, second, child;

	assert_int_equal(maps_new(&m, MAPS_OF_NOW), 0);
	assert_int_equal(maps_version(m, 1), 0);
	map(m, 1, 1, 0x1000, 0x1000, "a");
	first = maps_version(m, 1);
	assert_int_not_equal(first, 0);
	map(m, 2, 3, 0x1000, 0x1000, "another's");
	assert_int_equal(maps_version(m, 1), first);
	assert_int_not_equal(maps_version(m, 3), first);
	map(m, 3, 1, 0x8000, 0x1000, "b");
	second = maps_version(m, 1);
	assert_int_not_equal(second, first);
	/* A process with inherited mappings has the version of its parent. */
	process(m, 4, 1);
	assert_int_equal(maps_version(m, 4), second);
	fork_to(m, 4, 1, 2);
	child = maps_version(m, 2);
	assert_int_not_equal(child, 0);
	exec(m, 5, 2);
	assert_int_not_equal(maps_version(m, 2), child);
	assert_int_equal(maps_version(m, 1), second);
}

/* Mappings at the begin of an archive existed before. */
TEST(test_beginning)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	add(m, (struct event){ .kind = EVENT_START, .ts_ns = 100, .pid = FXT_KOID_KYMO });
	map(m, 100, 1, 0x1000, 0x1000, "head");
	map(m, 100, 1, 0x5000, 0x1000, "below");
	map(m, 110, 1, 0x5000, 0x1000, "later");
	ASSERT_AT(m, 1, 0x1000, 50, "head");
	ASSERT_AT(m, 1, 0x5000, 50, "below");
	ASSERT_AT(m, 1, 0x5000, 109, "below");
	ASSERT_AT(m, 1, 0x5000, 110, "later");
	/* An archive that is appended begins later, and must say so. */
	add(m, (struct event){ .kind = EVENT_START, .ts_ns = 200, .pid = FXT_KOID_KYMO });
	map(m, 200, 1, 0x9000, 0x1000, "second");
	ASSERT_AT(m, 1, 0x9000, 150, "-");
}

TEST(test_owner)
{
	enum { THIRD = (1u << 31) + (1u << 30), REUSED = 5u << FXT_KOID_TID_BITS };
	const uint64_t kernel = UINT64_C(1) << 63;
	_cleanup_(maps_freep) struct maps *m = NULL;

	assert_int_equal(maps_new(&m, MAPS_OF_NOW), 0);
	assert_int_equal(maps_owner(m, 7, 0x7fffffffffffffff), 7);
	assert_int_equal(maps_owner(m, 7, kernel), FXT_KOID_KTHREADD);
	assert_int_equal(maps_owner(m, REUSED + 7, kernel), FXT_KOID_KTHREADD);
	assert_int_equal(maps_owner(m, UINT32_MAX, kernel), FXT_KOID_KTHREADD);
	/*
	 * Of three machines, the second one only gives its begin, and the third the kernel's
	 * mappings.
	 */
	add(m, (struct event){ .kind = EVENT_START, .pid = FXT_KOID_KYMO });
	add(m, (struct event){ .kind = EVENT_START, .pid = (1u << 31) + FXT_KOID_KYMO });
	add(m, (struct event){ .kind = EVENT_START, .pid = 77 }); /* of no process */
	map(m, 5, THIRD + FXT_KOID_KTHREADD, kernel, 0x1000, "[kernel.kallsyms]");
	assert_int_equal(maps_owner(m, 7, kernel), FXT_KOID_KTHREADD);
	assert_int_equal(maps_owner(m, (1u << 31) - 1, kernel), FXT_KOID_KTHREADD);
	assert_int_equal(maps_owner(m, 1u << 31, kernel), (1u << 31) + FXT_KOID_KTHREADD);
	assert_int_equal(maps_owner(m, (1u << 31) + REUSED + 7, kernel),
			 (1u << 31) + FXT_KOID_KTHREADD);
	assert_int_equal(maps_owner(m, THIRD + 1, kernel), THIRD + FXT_KOID_KTHREADD);
	assert_int_equal(maps_owner(m, UINT32_MAX, kernel), THIRD + FXT_KOID_KTHREADD);
	assert_int_equal(maps_owner(m, UINT32_MAX, 0x1000), UINT32_MAX);
	assert_true(maps_is_kthreadd(FXT_KOID_KTHREADD) && maps_is_kthreadd(THIRD + 2));
	assert_false(maps_is_kthreadd(0) || maps_is_kthreadd(THIRD) || maps_is_kthreadd(3));
}

/* ---- repeated mappings ---- */

struct saying {
	uint32_t pid;
	size_t n, bytes;
	char text[4096];
};

static int say(void *userdata, uint32_t pid, const struct mapping *mapping)
{
	struct saying *s = userdata;

	s->bytes += sizeof(*mapping) + strlen(mapping->path);
	assert_int_equal(mapping->module_id, 7);
	if (pid == s->pid)
		s->n += (size_t)snprintf(s->text + s->n, sizeof(s->text) - s->n,
					 "%" PRIx64 "+%" PRIx64 " %s;", mapping->start,
					 mapping->size, mapping->path);
	return 0;
}

static struct saying all_of(const struct maps *m, uint32_t pid)
{
	struct saying s = { .pid = pid };

	assert_int_equal(maps_each(m, say, &s), 0);
	return s;
}

#define ASSERT_SAYS(m, pid, want) assert_string_equal(all_of((m), (pid)).text, (want))

static struct maps *of_now(void)
{
	struct maps *m;

	assert_int_equal(maps_new(&m, MAPS_OF_NOW), 0);
	return m;
}

static void map_module(struct maps *m, uint32_t pid, uint64_t start, uint64_t size,
		       const char *path)
{
	add(m, (struct event){
		       .kind = EVENT_MAPPING,
		       .pid = pid,
		       .mapping = { .path = path, .start = start, .size = size, .module_id = 7 } });
}

TEST(test_each_covering)
{
	_cleanup_(maps_freep) struct maps *m = of_now();

	map_module(m, 1, 0x1000, 0x1000, "a");
	map_module(m, 1, 0x3000, 0x1000, "b");
	map_module(m, 2, 0x1000, 0x1000, "other");
	ASSERT_SAYS(m, 1, "1000+1000 a;3000+1000 b;");
	/* All of a, and some of b: they are listed before the mapping that covers them. */
	map_module(m, 1, 0x1000, 0x2800, "c");
	ASSERT_SAYS(m, 1, "3000+1000 b;1000+2800 c;");
	ASSERT_SAYS(m, 2, "1000+1000 other;");
	/* The same again, and invalid ones. */
	map_module(m, 1, 0x3000, 0x1000, "b");
	map_module(m, 1, 0x9000, 0, "nothing");
	map_module(m, 1, UINT64_MAX - 5, 100, "beyond");
	ASSERT_SAYS(m, 1, "1000+2800 c;3000+1000 b;");
	/* A mapping that is split by another one is in two pieces, and listed once. */
	map_module(m, 1, 0x2000, 0x100, "d");
	ASSERT_SAYS(m, 1, "1000+2800 c;3000+1000 b;2000+100 d;");
}

TEST(test_each_life)
{
	_cleanup_(maps_freep) struct maps *m = of_now();

	map_module(m, 1, 0x1000, 0x1000, "a");
	fork_to(m, 1, 1, 2);
	fork_to(m, 1, 2, 3);
	fork_to(m, 1, 99, 4);
	ASSERT_SAYS(m, 3, "1000+1000 a;");
	ASSERT_SAYS(m, 4, "");
	/* A process with inherited mappings sees neither its parent's new mappings nor its exec. */
	map_module(m, 2, 0x2000, 0x1000, "b");
	ASSERT_SAYS(m, 1, "1000+1000 a;");
	ASSERT_SAYS(m, 2, "1000+1000 a;2000+1000 b;");
	ASSERT_SAYS(m, 3, "1000+1000 a;");
	maps_remove(m, 1);
	ASSERT_SAYS(m, 1, "");
	ASSERT_SAYS(m, 3, "1000+1000 a;");
	/* The id of a process whose end was missed. */
	maps_remove(m, 2);
	fork_to(m, 1, 3, 2);
	ASSERT_SAYS(m, 2, "1000+1000 a;");
	maps_remove(m, 2);
	maps_remove(m, 3);
	maps_remove(m, 3);
	assert_int_equal(all_of(m, 3).bytes, 0);
}

enum { ONE_MAX = 16384, BYTES_MAX = 32 << 20 };

TEST(test_one_has_too_many)
{
	_cleanup_(maps_freep) struct maps *m = of_now();

	maps_bound(m, BYTES_MAX, ONE_MAX);
	for (uint64_t i = 0; i < ONE_MAX + 10; i++)
		map_module(m, 1, (i + 1) << 12, 0x1000, "jit");
	/* The newest are still there, and other processes have lost none. */
	assert_in_range(maps_n_dropped(m), 1, ONE_MAX / 4);
	ASSERT_AT(m, 1, (uint64_t)ONE_MAX << 12, 0, "jit");
	ASSERT_AT(m, 1, 0x1000, 0, "-");
	map_module(m, 2, 0x1000, 0x1000, "a");
	ASSERT_SAYS(m, 2, "1000+1000 a;");
}

/* 1000 mappings in each of 400 processes. */
static void fill(struct maps *m)
{
	for (uint32_t i = 0; i < 400000; i++)
		map_module(m, i / 1000 + 1, (uint64_t)(i % 1000 + 1) << 12, 0x1000, "a library");
}

LARGE_TEST(test_all_have_too_many)
{
	_cleanup_(maps_freep) struct maps *m = of_now();
	uint64_t n_dropped;

	maps_bound(m, BYTES_MAX, ONE_MAX);
	fill(m);
	n_dropped = maps_n_dropped(m);
	assert_true(n_dropped > 0);
	assert_in_range(all_of(m, 5000).bytes, BYTES_MAX / 4, BYTES_MAX);
	/* An ended process makes room. */
	maps_remove(m, 1);
	map_module(m, 5000, 0x1000, 0x1000, "new");
	ASSERT_SAYS(m, 5000, "1000+1000 new;");
	/* When all have ended, all room is free again. */
	for (uint32_t pid = 1; pid <= 5000; pid++)
		maps_remove(m, pid);
	assert_int_equal(all_of(m, 5000).bytes, 0);
	fill(m);
	assert_int_equal(maps_n_dropped(m), 2 * n_dropped);
}

static bool is_program(const struct maps *m, uint32_t pid, uint64_t address, uint64_t ts)
{
	const struct mapping *mapping = maps_find(m, pid, address, ts);

	assert_non_null(mapping);
	return mapping->is_program;
}

/* The program is the first file that was mapped, also for children, and if it is mapped again. */
TEST(test_program)
{
	_cleanup_(maps_freep) struct maps *m = of_all_times();

	exec(m, 4, 1);
	map(m, 5, 1, 0x1000, 0x1000, "//anon");
	map(m, 5, 1, 0x4000, 0x1000, "/memfd:a (deleted)");
	map(m, 5, 1, 0x8000, 0x1000, "/memfd:b (deleted)");
	map(m, 6, 1, 0x4000, 0x800, "/memfd:a (deleted)");
	fork_to(m, 7, 1, 2);
	map(m, 8, 2, 0x9000, 0x1000, "/memfd:c (deleted)");
	exec(m, 9, 1);
	map(m, 9, 1, 0x8000, 0x1000, "/memfd:b (deleted)");
	map(m, 9, 1, 0x4000, 0x1000, "/memfd:a (deleted)");
	assert_false(is_program(m, 1, 0x1000, 6));
	assert_true(is_program(m, 1, 0x4000, 6));
	assert_true(is_program(m, 1, 0x4900, 6));
	assert_false(is_program(m, 1, 0x8000, 6));
	assert_true(is_program(m, 2, 0x4000, 8));
	assert_false(is_program(m, 2, 0x9000, 8));
	assert_true(is_program(m, 1, 0x8000, 9));
	assert_false(is_program(m, 1, 0x4000, 9));
}

/* A file is not the program if an earlier mapping can be missing. */
TEST(test_program_unknown)
{
	enum { LISTED, UNSEEN, FORKED, DROPPED, DROPPED_LIST, WAYS };

	for (unsigned way = 0; way < WAYS; way++) {
		_cleanup_(maps_freep) struct maps *m = of_all_times();
		struct event ev = { .kind = EVENT_START, .ts_ns = 5, .pid = FXT_KOID_KYMO };

		assert_int_equal(maps_add(m, &ev), 0);
		if (way == FORKED)
			fork_to(m, 6, 1, 2);
		if (way == DROPPED)
			exec(m, 6, 2);
		if (way == DROPPED || way == DROPPED_LIST) {
			maps_bound(m, 0, SIZE_MAX);
			map(m, way == DROPPED ? 6 : 5, 2, 0x4000, 0x1000, "/memfd:a (deleted)");
			maps_bound(m, SIZE_MAX, SIZE_MAX);
		}
		map(m, way == LISTED || way == DROPPED_LIST ? 5 : 7, 2, 0x8000, 0x1000,
		    "/memfd:b (deleted)");
		assert_int_equal(is_program(m, 2, 0x8000, 8), way == LISTED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_detail),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_later),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_reuse),
		cmocka_unit_test(test_parent),
		cmocka_unit_test(test_of_now),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_owner),
		cmocka_unit_test(test_forget_many),
		cmocka_unit_test(test_version),
		cmocka_unit_test(test_beginning),
		cmocka_unit_test(test_each_covering),
		cmocka_unit_test(test_each_life),
		cmocka_unit_test(test_one_has_too_many),
		cmocka_unit_test(test_all_have_too_many),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_program_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
