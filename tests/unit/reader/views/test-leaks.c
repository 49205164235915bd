/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/views/leaks.h"
#include "tests/support/unit.h"

#define S UINT64_C(1000000000)

static struct leaks *new_leaks(const struct leaks_options *options)
{
	struct leaks *l;

	assert_int_equal(leaks_new(&l, options ?: &(struct leaks_options){ 0 }), 0);
	return l;
}

static void add(struct leaks *l, struct event ev)
{
	if (ev.tid == 0)
		ev.tid = ev.pid;
	assert_int_equal(leaks_add(l, &ev), 0);
}

static void watch(struct leaks *l, uint32_t pid, uint64_t ts_ns)
{
	add(l, (struct event){
		       .kind = EVENT_WATCH_BEGIN,
		       .pid = pid,
		       .ts_ns = ts_ns,
		       .watch = { .resources = "memory", .allocators = "", .unwatched = "" } });
}

static void watched(struct leaks *l, uint32_t pid, uint64_t ts_ns, const char *reason)
{
	add(l, (struct event){ .kind = EVENT_WATCH_END,
			       .pid = pid,
			       .ts_ns = ts_ns,
			       .watched = { .reason = reason,
					    .gap = "",
					    .unsearched = "",
					    .unmatched = 9,
					    .lost = 8,
					    .full = 7,
					    .no_stack = 6,
					    .failed = 5 } });
}

/* A stack of two calls. ADDRESS is in the first one. */
static void stack(struct leaks *l, uint32_t pid, uint64_t id, uint64_t address)
{
	const uint64_t frames[] = { address, 0x100 };

	add(l, (struct event){
		       .kind = EVENT_SAMPLE,
		       .pid = pid,
		       .sample = {
			       .frames = frames, .n_frames = 2, .kind = SAMPLE_NAMED, .id = id } });
}

struct made {
	uint64_t id, size, stack, since_ns;
	enum reach reach;
	uint32_t context;
};

static void of_block(struct leaks *l, enum event_kind kind, uint32_t pid, uint64_t ts_ns,
		     struct made made)
{
	add(l, (struct event){ .kind = kind,
			       .pid = pid,
			       .ts_ns = ts_ns,
			       .block = { .id = made.id,
					  .size = made.size,
					  .stack = made.stack,
					  .since_ns = made.since_ns,
					  .reach = made.reach,
					  .context = made.context,
					  .function = "malloc",
					  .text = "" } });
}

static void snapshot(struct leaks *l, uint32_t pid, uint64_t ts_ns, uint64_t blocks)
{
	add(l, (struct event){ .kind = EVENT_SNAPSHOT,
			       .pid = pid,
			       .ts_ns = ts_ns,
			       .snapshot = { .blocks = blocks } });
}

static void usage(struct leaks *l, uint32_t pid, uint64_t ts_ns, uint64_t stack_id, uint64_t blocks,
		  uint64_t bytes)
{
	add(l, (struct event){ .kind = EVENT_USAGE,
			       .pid = pid,
			       .ts_ns = ts_ns,
			       .usage = { .stack = stack_id,
					  .blocks = blocks,
					  .bytes = bytes,
					  .allocations = blocks,
					  .allocated_bytes = bytes } });
}

static void expect_group(const struct leak_group *g, uint64_t blocks, uint64_t bytes,
			 enum leak_verdict verdict)
{
	assert_int_equal(g->blocks, blocks);
	assert_int_equal(g->bytes, bytes);
	if (g->verdict != verdict)
		fail_msg("it is '%s'", leak_verdict_names[g->verdict]);
}

static void map(struct leaks *l, uint32_t pid, uint64_t ts_ns, const char *path)
{
	add(l,
	    (struct event){ .kind = EVENT_MAPPING,
			    .pid = pid,
			    .ts_ns = ts_ns,
			    .mapping = { .start = 0xa000, .size = 0x1000, .path = (char *)path } });
}

static void stack_at(struct leaks *l, uint32_t pid, uint64_t ts_ns, uint64_t id)
{
	const uint64_t frames[] = { 0xa010, 0x100 };

	add(l, (struct event){
		       .kind = EVENT_SAMPLE,
		       .pid = pid,
		       .ts_ns = ts_ns,
		       .sample = {
			       .frames = frames, .n_frames = 2, .kind = SAMPLE_NAMED, .id = id } });
}

/*
 * Two libraries have the same addresses, one after the other, twice. The recorder gives their
 * stacks different ids. Blocks belong to the library of the time of their stack, and a library that
 * was loaded again is the same one.
 */
TEST(test_libraries_in_turn)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);
	const struct leak_watch *w;

	watch(l, 1, S);
	for (uint64_t i = 0; i < 4; i++)
		map(l, 1, (2 + 2 * i) * S, i % 2 ? "b.so" : "a.so");
	/* the reports come later */
	for (uint64_t i = 0; i < 4; i++) {
		stack_at(l, 1, (3 + 2 * i) * S, 71 + i);
		of_block(l, EVENT_ALLOC, 1, (3 + 2 * i) * S,
			 (struct made){ 0x1000 + i, i % 2 ? 100 : 10, 71 + i });
	}
	assert_int_equal(leaks_finish(l), 0);
	w = l->watches[0];
	assert_int_equal(w->n_groups, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct leak_group *g = w->groups[i];
		const struct profile_place *place =
			&l->profile->places[l->profile->nodes[g->node].place];

		assert_int_equal(g->blocks, 2);
		assert_string_equal(place->mapping->path, g->bytes == 20 ? "a.so" : "b.so");
		assert_true(g->bytes == 20 || g->bytes == 200);
	}
}

/* ---- sources of groups ---- */

TEST(test_events_alone)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);
	const struct leak_watch *w;

	watch(l, 1, S);
	stack(l, 1, 71, 0xa00);
	stack(l, 1, 72, 0xb00);
	for (uint64_t i = 0; i < 20; i++) {
		of_block(l, EVENT_ALLOC, 1, (2 + i) * S, (struct made){ 0x1000 + i, 10, 71 });
		of_block(l, EVENT_ALLOC, 1, (2 + i) * S, (struct made){ 0x2000, 500, 72 });
		of_block(l, EVENT_FREE, 1, (2 + i) * S, (struct made){ 0x2000 });
	}
	of_block(l, EVENT_FREE, 1, 22 * S, (struct made){ 0x1003 });
	of_block(l, EVENT_FREE, 1, 22 * S, (struct made){ 0x9999 });
	/* its free was missed */
	of_block(l, EVENT_ALLOC, 1, 22 * S, (struct made){ 0x1004, 10, 71 });
	assert_int_equal(leaks_finish(l), 0);
	assert_int_equal(l->n_watches, 1);
	w = l->watches[0];
	assert_true(w->logged);
	assert_int_equal(w->unmatched, 1);
	assert_int_equal(w->replaced, 1);
	assert_int_equal(w->n_groups, 1);
	expect_group(w->groups[0], 19, 190, LEAK_GROWING);
	assert_int_equal(w->groups[0]->first_ns, 2 * S);
	assert_int_equal(w->groups[0]->last_ns, 22 * S);
	assert_string_equal(w->groups[0]->functions[0], "malloc");
	assert_null(w->groups[0]->functions[1]);
	assert_string_equal(w->reason, "");
}

/* The last snapshot counts, with data that only the previous one has. */
TEST(test_snapshots)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);
	const struct leak_watch *w;

	watch(l, 1, S);
	stack(l, 1, 71, 0xa00);
	snapshot(l, 1, 5 * S, 3);
	of_block(l, EVENT_BLOCK, 1, 5 * S, (struct made){ 0x10, 100, 71, 2 * S });
	of_block(l, EVENT_BLOCK, 1, 5 * S, (struct made){ 0x20, 100, 71, 3 * S });
	of_block(l, EVENT_BLOCK, 1, 5 * S, (struct made){ 0x30, 100, 71, 4 * S });
	snapshot(l, 1, 9 * S, 2);
	of_block(l, EVENT_BLOCK, 1, 9 * S, (struct made){ 0x10, 100, 71, 2 * S });
	/* another one at the same address */
	of_block(l, EVENT_BLOCK, 1, 9 * S, (struct made){ 0x20, 50, 71, 8 * S });
	watched(l, 1, 10 * S, "stop");
	assert_int_equal(leaks_finish(l), 0);
	w = l->watches[0];
	assert_int_equal(w->missing, 0);
	assert_int_equal(w->n_groups, 1);
	expect_group(w->groups[0], 2, 150, LEAK_STEADY);
	assert_int_equal(w->unmatched, 9);
	assert_int_equal(w->lost, 8);
	assert_int_equal(w->full, 7);
	assert_int_equal(w->no_stack, 6);
	assert_int_equal(w->failed, 5);
}

/* Events during a snapshot come before it in the file, and are not in it. */
TEST(test_snapshot_among_events)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);
	const struct leak_watch *w;

	watch(l, 1, S);
	stack(l, 1, 71, 0xa00);
	of_block(l, EVENT_ALLOC, 1, 2 * S, (struct made){ 0x10, 100, 71 });
	of_block(l, EVENT_ALLOC, 1, 3 * S, (struct made){ 0x20, 10, 71 });
	of_block(l, EVENT_ALLOC, 1, 5 * S + 1, (struct made){ 0x30, 1, 71 });
	snapshot(l, 1, 5 * S, 1);
	of_block(l, EVENT_BLOCK, 1, 5 * S, (struct made){ 0x10, 100, 71, 2 * S });
	assert_int_equal(leaks_finish(l), 0);
	w = l->watches[0];
	assert_int_equal(w->n_snapshots, 1);
	assert_int_equal(w->snapshot_ns, 5 * S);
	assert_int_equal(w->n_groups, 1);
	expect_group(w->groups[0], 2, 101, w->groups[0]->verdict);
}

TEST(test_empty_and_cut_snapshots)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);

	watch(l, 1, S);
	of_block(l, EVENT_ALLOC, 1, 2 * S, (struct made){ 0x10, 100 });
	snapshot(l, 1, 3 * S, 0);
	watch(l, 2, S);
	of_block(l, EVENT_ALLOC, 2, 2 * S, (struct made){ 0x10, 100 });
	snapshot(l, 2, 3 * S, 5);
	of_block(l, EVENT_BLOCK, 2, 3 * S, (struct made){ 0x20, 7, 0, 2 * S });
	/* (the state after a cut is not of the snapshot) */
	for (uint64_t i = 0; i < 4; i++)
		of_block(l, EVENT_BLOCK, 2, 4 * S, (struct made){ 0x20, 7, 0, 2 * S });
	assert_int_equal(leaks_finish(l), 0);
	assert_int_equal(l->watches[0]->n_groups, 0);
	assert_int_equal(l->watches[1]->missing, 4);
	assert_int_equal(l->watches[1]->n_groups, 1);
	expect_group(l->watches[1]->groups[0], 2, 107, LEAK_OLD);
	assert_int_equal(l->watches[1]->groups[0]->node, 0);
}

TEST(test_sums_alone)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);
	const struct leak_watch *w;

	watch(l, 1, 0);
	stack(l, 1, 71, 0xa00);
	stack(l, 1, 72, 0xa00); /* the same one with another id */
	stack(l, 1, 73, 0xb00);
	for (uint64_t i = 1; i <= 20; i++) {
		usage(l, 1, i * S, 71, i, 10 * i);
		usage(l, 1, i * S, 72, 2, 2);
		usage(l, 1, i * S, 73, i % 2, i % 2 * 64);
	}
	assert_int_equal(leaks_finish(l), 0);
	w = l->watches[0];
	assert_true(w->from_sums);
	assert_int_equal(w->n_groups, 1);
	expect_group(w->groups[0], 22, 202, LEAK_GROWING);
	assert_int_equal(w->groups[0]->allocations, 22);
	assert_true(fabs(w->groups[0]->growth.per_second - 10) < 1);
}

/* Events of processes that are not watched are counted, and so are those of unselected ones. */
TEST(test_processes)
{
	const uint32_t pids[] = { 2 };
	_cleanup_(leaks_freep) struct leaks *l =
		new_leaks(&(struct leaks_options){ .pids = pids, .n_pids = 1 });

	of_block(l, EVENT_ALLOC, 3, S, (struct made){ 0x10, 1 });
	watch(l, 1, S);
	watch(l, 2, S);
	/* the same address in two processes */
	of_block(l, EVENT_ALLOC, 1, 2 * S, (struct made){ 0x10, 1 });
	of_block(l, EVENT_ALLOC, 2, 2 * S, (struct made){ 0x10, 2 });
	of_block(l, EVENT_FREE, 1, 3 * S, (struct made){ 0x10 });
	watched(l, 2, 4 * S, "exit");
	of_block(l, EVENT_FREE, 2, 5 * S, (struct made){ 0x10 });
	assert_int_equal(leaks_finish(l), 0);
	assert_int_equal(l->n_processes_seen, 2);
	assert_int_equal(l->n_watches, 1);
	assert_int_equal(l->watches[0]->n_groups, 1);
	expect_group(l->watches[0]->groups[0], 1, 2, LEAK_UNFREED);
	assert_int_equal(l->n_stray, 4);
}

/* A new program has none of the previous one's blocks, and its own name. */
TEST(test_exec)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);

	add(l, (struct event){ .kind = EVENT_TASK,
			       .pid = 1,
			       .task = { .comm = "sh", .command_line = "", .is_process = true } });
	watch(l, 1, S);
	stack(l, 1, 71, 0xa00);
	of_block(l, EVENT_ALLOC, 1, 2 * S, (struct made){ 0x10, 1, 71 });
	add(l, (struct event){ .kind = EVENT_EXEC,
			       .pid = 1,
			       .ts_ns = 3 * S,
			       .exec = { .file = "/bin/ls", .command_line = "" } });
	add(l, (struct event){
		       .kind = EVENT_RENAME, .pid = 1, .ts_ns = 3 * S, .rename = { "sh", "ls" } });
	watched(l, 1, 3 * S, "exec");
	watch(l, 1, 3 * S);
	/* (unknown in this program) */
	of_block(l, EVENT_ALLOC, 1, 4 * S, (struct made){ 0x10, 2, 71 });
	assert_int_equal(leaks_finish(l), 0);
	assert_int_equal(l->n_watches, 2);
	assert_string_equal(l->watches[0]->name, "sh");
	assert_string_equal(l->watches[0]->reason, "exec");
	expect_group(l->watches[0]->groups[0], 1, 1, LEAK_UNFREED);
	assert_string_equal(l->watches[1]->name, "ls");
	assert_string_equal(l->watches[1]->program, "/bin/ls");
	assert_int_equal(l->watches[1]->number, 2);
	assert_int_equal(l->watches[1]->groups[0]->node, 0);
}

/* The name of a program that began with its exec comes from the rename after it. */
TEST(test_exec_unnamed)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);

	add(l,
	    (struct event){ .kind = EVENT_TASK,
			    .pid = 1,
			    .task = { .comm = "second", .command_line = "", .is_process = true } });
	add(l, (struct event){ .kind = EVENT_EXEC,
			       .pid = 1,
			       .ts_ns = S,
			       .exec = { .file = "./first", .command_line = "" } });
	watch(l, 1, S);
	of_block(l, EVENT_ALLOC, 1, 2 * S, (struct made){ 0x10, 1 });
	add(l, (struct event){ .kind = EVENT_RENAME,
			       .pid = 1,
			       .ts_ns = 3 * S - 2,
			       .rename = { "first", "second" } });
	watched(l, 1, 3 * S - 1, "exec");
	add(l, (struct event){ .kind = EVENT_EXEC,
			       .pid = 1,
			       .ts_ns = 3 * S,
			       .exec = { .file = "./second", .command_line = "" } });
	assert_int_equal(leaks_finish(l), 0);
	assert_string_equal(l->watches[0]->name, "first");
	assert_string_equal(l->watches[0]->program, "./first");
}

/* A process that ended before its files were read is its last program. */
TEST(test_exec_unseen)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);

	watch(l, 1, S);
	watched(l, 1, S, "exit");
	add(l,
	    (struct event){
		    .kind = EVENT_RENAME, .pid = 1, .ts_ns = 2 * S - 1, .rename = { "sh", "ls" } });
	add(l, (struct event){ .kind = EVENT_EXEC,
			       .pid = 1,
			       .ts_ns = 2 * S,
			       .exec = { .file = "/bin/ls", .command_line = "" } });
	assert_int_equal(leaks_finish(l), 0);
	assert_string_equal(l->watches[0]->name, "ls");
	assert_string_equal(l->watches[0]->program, "/bin/ls");
}

/* Events of the previous program can come after the next watch has begun: their times decide. */
TEST(test_late_events)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);

	add(l, (struct event){ .kind = EVENT_RENAME,
			       .pid = 1,
			       .ts_ns = 2 * S - 1000,
			       .rename = { "sh", "ls" } });
	add(l, (struct event){ .kind = EVENT_EXEC,
			       .pid = 1,
			       .ts_ns = 2 * S + 1000,
			       .exec = { .file = "/bin/ls", .command_line = "" } });
	watch(l, 1, 2 * S);
	watch(l, 1, S);
	snapshot(l, 1, 2 * S - 1, 1);
	of_block(l, EVENT_ALLOC, 1, 4 * S, (struct made){ 0x10, 2 });
	of_block(l, EVENT_BLOCK, 1, 2 * S - 1, (struct made){ 0x10, 7, 0, S + 5 });
	watched(l, 1, 2 * S - 1, "exec");
	watched(l, 1, 5 * S, "exit");
	of_block(l, EVENT_ALLOC, 1, 6 * S, (struct made){ 0x20, 2 });
	assert_int_equal(leaks_finish(l), 0);
	assert_string_equal(l->watches[0]->reason, "exec");
	assert_string_equal(l->watches[0]->name, "sh");
	assert_int_equal(l->watches[0]->end_ns, 2 * S - 1);
	assert_int_equal(l->watches[0]->number, 1);
	expect_group(l->watches[0]->groups[0], 1, 7, LEAK_UNFREED);
	assert_string_equal(l->watches[1]->reason, "exit");
	assert_string_equal(l->watches[1]->name, "ls");
	assert_string_equal(l->watches[1]->program, "/bin/ls");
	assert_int_equal(l->watches[1]->number, 2);
	expect_group(l->watches[1]->groups[0], 1, 2, LEAK_UNFREED);
	assert_int_equal(l->n_stray, 1);
}

/* ---- output ---- */

static void add_mixed(struct leaks *l)
{
	watch(l, 1, 0);
	stack(l, 1, 71, 0xa00);
	stack(l, 1, 72, 0xb00);
	add(l, (struct event){ .kind = EVENT_CONTEXT,
			       .pid = 9,
			       .context = { .name = "load", .id = 4, .begin = true } });
	snapshot(l, 1, 90 * S, 4);
	of_block(l, EVENT_BLOCK, 1, 90 * S,
		 (struct made){ 0x10, 1000, 71, 10 * S, REACH_REACHABLE });
	of_block(l, EVENT_BLOCK, 1, 90 * S, (struct made){ 0x20, 10, 72, 20 * S, REACH_REACHABLE });
	of_block(l, EVENT_BLOCK, 1, 90 * S, (struct made){ 0x30, 10, 72, 80 * S, REACH_LOST, 4 });
	of_block(l, EVENT_BLOCK, 1, 90 * S,
		 (struct made){ 0x40, 10, 72, 85 * S, REACH_POSSIBLE, 6 });
	watched(l, 1, 100 * S, "stop");
}

/* Evidence counts more than size. */
TEST(test_order)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);
	const struct leak_watch *w;

	add_mixed(l);
	assert_int_equal(leaks_finish(l), 0);
	w = l->watches[0];
	assert_int_equal(w->n_groups, 2);
	expect_group(w->groups[0], 3, 30, LEAK_LOST);
	assert_int_equal(w->groups[0]->reach[REACH_LOST], 1);
	assert_int_equal(w->groups[0]->lost_bytes, 10);
	assert_int_equal(w->groups[0]->contexts, 6);
	expect_group(w->groups[1], 1, 1000, LEAK_OLD);
}

TEST(test_context_and_age)
{
	_cleanup_(leaks_freep) struct leaks *l =
		new_leaks(&(struct leaks_options){ .context = "load" });
	_cleanup_(leaks_freep) struct leaks *old =
		new_leaks(&(struct leaks_options){ .min_age_ns = 50 * S });
	_cleanup_(leaks_freep) struct leaks *none =
		new_leaks(&(struct leaks_options){ .context = "save" });
	size_t n = 0;

	add_mixed(l);
	assert_int_equal(leaks_finish(l), 0);
	assert_int_equal(l->watches[0]->n_groups, 1);
	expect_group(l->watches[0]->groups[0], 2, 20, LEAK_LOST);
	for (const struct leak_block *b = l->watches[0]->first; b; b = b->after)
		n += leak_block_is_shown(b);
	assert_int_equal(n, 2);
	add_mixed(old);
	assert_int_equal(leaks_finish(old), 0);
	assert_int_equal(old->watches[0]->n_groups, 2);
	expect_group(old->watches[0]->groups[0], 1, 1000, LEAK_OLD);
	expect_group(old->watches[0]->groups[1], 1, 10, LEAK_OLD);
	add_mixed(none);
	assert_int_equal(leaks_finish(none), -ENOENT);
}

static bool keep_large(void *userdata, const struct leak_watch *w, const struct leak_group *g)
{
	const uint64_t *min = userdata;

	(void)w;
	return g->bytes >= *min;
}

TEST(test_filter)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);
	uint64_t min = 100;
	size_t n = 0;

	add_mixed(l);
	assert_int_equal(leaks_finish(l), 0);
	leaks_filter(l, keep_large, &min);
	assert_int_equal(l->watches[0]->n_groups, 1);
	for (const struct leak_block *b = l->watches[0]->first; b; b = b->after)
		n += leak_block_is_shown(b);
	assert_int_equal(n, 1);
}

/* With sampling, totals are estimated, but only for sampled resources. */
TEST(test_sampled)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);
	const struct leak_group *g;

	add(l, (struct event){ .kind = EVENT_WATCH_BEGIN,
			       .pid = 1,
			       .watch = { "memory,fd", "", .interval = 1000, .unwatched = "" } });
	stack(l, 1, 71, 0xa00);
	snapshot(l, 1, 9 * S, 2);
	of_block(l, EVENT_BLOCK, 1, 9 * S, (struct made){ 0x10, 100, 71, S });
	add(l, (struct event){ .kind = EVENT_BLOCK,
			       .pid = 1,
			       .ts_ns = 9 * S,
			       .block = { .resource = RESOURCE_FD,
					  .id = 3,
					  .size = 1,
					  .stack = 71,
					  .function = "",
					  .text = "/x" } });
	assert_int_equal(leaks_finish(l), 0);
	g = l->watches[0]->groups[0];
	assert_int_equal(g->resource, RESOURCE_MEMORY);
	assert_true(fabs(g->all.blocks - 1 / (1 - exp(-0.1))) < 1e-6);
	assert_true(fabs(g->all.bytes - 100 / (1 - exp(-0.1))) < 1e-4);
	g = l->watches[0]->groups[1];
	assert_true(g->all.blocks == 1);
	assert_string_equal(g->texts[0], "/x");
}

/*
 * An allocator that was loaded later had probes, and the program is no more called unwatched. A
 * program without blocks stays unwatched, whatever the gap.
 */
TEST(test_unwatched_at_first)
{
	_cleanup_(leaks_freep) struct leaks *l = new_leaks(NULL);

	for (uint32_t pid = 1; pid <= 3; pid++) {
		add(l, (struct event){ .kind = EVENT_WATCH_BEGIN,
				       .pid = pid,
				       .ts_ns = S,
				       .watch = { "memory", "", .unwatched = "no allocator" } });
		stack(l, pid, 71, 0xa00);
		if (pid != 2)
			of_block(l, EVENT_BLOCK, pid, 9 * S, (struct made){ 0x10, 100, 71, 2 * S });
		add(l, (struct event){ .kind = EVENT_WATCH_END,
				       .pid = pid,
				       .ts_ns = 9 * S,
				       .watched = { .reason = "exit",
						    .gap = pid < 3 ? "loaded later" : "",
						    .unsearched = "" } });
	}
	assert_int_equal(leaks_finish(l), 0);
	assert_string_equal(l->watches[0]->unwatched, "");
	assert_false(l->watches[0]->complete);
	assert_string_equal(l->watches[1]->unwatched, "no allocator");
	assert_string_equal(l->watches[2]->unwatched, "no allocator");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_libraries_in_turn),
		cmocka_unit_test(test_events_alone),
		cmocka_unit_test(test_snapshots),
		cmocka_unit_test(test_snapshot_among_events),
		cmocka_unit_test(test_empty_and_cut_snapshots),
		cmocka_unit_test(test_sums_alone),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_exec_unnamed),
		cmocka_unit_test(test_exec_unseen),
		cmocka_unit_test(test_late_events),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_context_and_age),
		cmocka_unit_test(test_filter),
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_unwatched_at_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
