/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/programs/decode.h"
#include "tests/support/unit.h"

/* ---- lifecycle records ---- */

union any_record {
	struct rec_head head;
	struct rec_fork fork;
	struct rec_exec exec;
	struct rec_exit exit;
	struct rec_rename rename;
	struct rec_lost lost;
	struct rec_task task;
	struct rec_work work;
	struct rec_function function;
	struct rec_frequency frequency;
	struct rec_alloc alloc;
	struct rec_free free;
	struct rec_resource resource;
};

static const struct {
	uint16_t kind;
	size_t size;
} kinds[] = {
	{ REC_FORK, sizeof(struct rec_fork) },
	{ REC_EXEC, sizeof(struct rec_exec) },
	{ REC_EXIT, sizeof(struct rec_exit) },
	{ REC_RENAME, sizeof(struct rec_rename) },
	{ REC_CPU_GONE, sizeof(struct rec_cpu_gone) },
	{ REC_LOST, sizeof(struct rec_lost) },
	{ REC_TASK, sizeof(struct rec_task) },
	{ REC_WORK, sizeof(struct rec_work) },
	{ REC_FUNCTION, sizeof(struct rec_function) },
	{ REC_FREQUENCY, sizeof(struct rec_frequency) },
	{ REC_ALLOC, sizeof(struct rec_alloc) },
	{ REC_FREE, sizeof(struct rec_free) },
	{ REC_RESOURCE, sizeof(struct rec_resource) },
};

/* A record in memory that is exactly SIZE bytes long. */
static void *record(uint16_t kind, size_t size, size_t says)
{
	union any_record all = { .head = { .kind = kind, .size = (uint32_t)says } };
	void *copy = malloc(size ? size : 1);

	assert_non_null(copy);
	memcpy(copy, &all, size < sizeof(all) ? size : sizeof(all));
	return copy;
}

TEST(test_record)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		_cleanup_free_ void *data = record(kinds[i].kind, kinds[i].size, kinds[i].size);
		_cleanup_free_ void *more = record(kinds[i].kind, kinds[i].size + 8, kinds[i].size);

		assert_ptr_equal(decode_record(data, kinds[i].size), data);
		assert_ptr_equal(decode_record(more, kinds[i].size + 8), more);
	}
}

TEST(test_record_sizes)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t right = kinds[i].size;
		const struct {
			size_t size, says;
		} rows[] = {
			{ 0, right },          { 8, right },
			{ 23, right },         { 24, right },
			{ right - 1, right },  { right, right - 1 },
			{ right, right + 1 },  { right, 0 },
			{ right, UINT32_MAX }, { right + 8, right + 8 },
			{ right, right - 8 },
		};

		for (size_t j = 0; j < ARRAY_SIZE(rows); j++) {
			_cleanup_free_ void *data =
				record(kinds[i].kind, rows[j].size, rows[j].says);

			/* (a record of an exec can be shorter) */
			if (kinds[i].kind == REC_EXEC && rows[j].says && rows[j].says < right)
				continue;
			assert_null(decode_record(data, rows[j].size));
		}
	}
}

TEST(test_record_kinds)
{
	/* Samples of counters come from no ring. */
	static const uint16_t unknown[] = { 0,         REC_COUNTERS, 11,        REC_WATCH,
					    REC_BLOCK, 255,          UINT16_MAX };

	for (size_t i = 0; i < ARRAY_SIZE(unknown); i++)
		for (size_t j = 0; j < ARRAY_SIZE(kinds); j++) {
			_cleanup_free_ void *data =
				record(unknown[i], kinds[j].size, kinds[j].size);

			assert_null(decode_record(data, kinds[j].size));
		}
}

TEST(test_record_allocations)
{
	const struct rec_alloc alloc = { .head = { .kind = REC_ALLOC, .size = sizeof(alloc) },
					 .resource = RESOURCE_MAX };
	const struct rec_free free = { .head = { .kind = REC_FREE, .size = sizeof(free) },
				       .resource = UINT32_MAX };
	struct rec_named named = { .head = { .kind = REC_NAMED, .size = sizeof(named) },
				   .id = 1,
				   .n_frames = MEMORY_FRAMES_MAX };

	assert_null(decode_record(&alloc, sizeof(alloc)));
	assert_null(decode_record(&free, sizeof(free)));
	assert_ptr_equal(decode_record(&named, sizeof(named)), &named);
	named.n_frames++;
	assert_null(decode_record(&named, sizeof(named)));
	named.n_frames = 0;
	assert_null(decode_record(&named, sizeof(named)));
	named.n_frames = 1;
	named.id = 0;
	assert_null(decode_record(&named, sizeof(named)));
}

/* The path of a cgroup is as long as the record says, and begins at the root. */
TEST(test_cgroup)
{
	static const struct {
		const char *path;
		uint32_t bytes, size;
		bool good;
	} rows[] = {
		{ "/", 2, 48, true },
		{ "/a/b.service", 13, 56, true },
		{ "/", 2, 56, false },
		{ "/a/b.service", 13, 48, false },
		{ "/a/b.service", 12, 56, false },
		{ "/a/b.service", 14, 56, false },
		{ "a", 2, 48, false },
		{ "", 1, 48, false },
		{ "", 0, 40, false },
		{ "/", UINT32_MAX, 40, false },
		{ "/", CGROUP_PATH_BYTES + 1, REC_CGROUP_BYTES(CGROUP_PATH_BYTES + 1), false },
	};
	struct rec_cgroup rec = { .head.kind = REC_CGROUP, .id = 5 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		memset(rec.path, 0, sizeof(rec.path));
		strcpy(rec.path, rows[i].path);
		rec.head.size = rows[i].size;
		rec.bytes = rows[i].bytes;
		assert_ptr_equal(decode_record(&rec, sizeof(rec) + 8), rows[i].good ? &rec : NULL);
	}
	memset(rec.path, '/', sizeof(rec.path));
	rec.bytes = sizeof(rec.path);
	rec.head.size = sizeof(rec);
	assert_null(decode_record(&rec, sizeof(rec)));
	rec.path[sizeof(rec.path) - 1] = '\0';
	assert_ptr_equal(decode_record(&rec, sizeof(rec)), &rec);
	assert_null(decode_record(&rec, sizeof(rec) - 8));
}

/* Strings end with NUL within their bounds. */
TEST(test_record_strings)
{
	static const struct {
		uint16_t kind;
		size_t size, offset, room;
	} rows[] = {
		{ REC_FORK, sizeof(struct rec_fork), offsetof(struct rec_fork, child.comm), 16 },
		{ REC_TASK, sizeof(struct rec_task), offsetof(struct rec_task, task.comm), 16 },
		{ REC_EXIT, sizeof(struct rec_exit), offsetof(struct rec_exit, task.comm), 16 },
		{ REC_EXEC, sizeof(struct rec_exec), offsetof(struct rec_exec, task.comm), 16 },
		{ REC_EXEC, sizeof(struct rec_exec), offsetof(struct rec_exec, file), 256 },
		{ REC_RENAME, sizeof(struct rec_rename), offsetof(struct rec_rename, task.comm),
		  16 },
		{ REC_RENAME, sizeof(struct rec_rename), offsetof(struct rec_rename, comm), 16 },
		{ REC_FUNCTION, sizeof(struct rec_function), offsetof(struct rec_function, name),
		  80 },
		{ REC_RESOURCE, sizeof(struct rec_resource), offsetof(struct rec_resource, text),
		  64 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ char *data = record(rows[i].kind, rows[i].size, rows[i].size);
		char *text = data + rows[i].offset;

		memset(text, 'x', rows[i].room);
		assert_null(decode_record(data, rows[i].size));
		text[rows[i].room - 1] = '\0';
		assert_ptr_equal(decode_record(data, rows[i].size), data);
		memset(text, 'x', rows[i].room);
		text[0] = '\0';
		assert_ptr_equal(decode_record(data, rows[i].size), data);
	}
}

/* The end of a call has texts: of arguments that were read at the return, and of the result. */
TEST(test_call_ends)
{
	static const struct {
		uint32_t n_texts, has_result_text, room;
		int32_t bytes; /* of the last text */
		bool good;
	} rows[] = {
		{ 0, 0, 0, 0, true },    { 4, 0, 4, 256, true },  { 0, 1, 1, 256, true },
		{ 4, 1, 5, -14, true },  { 4, 1, 5, 256, true },  { 4, 1, 5, 257, false },
		{ 0, 1, 1, 257, false }, { 5, 0, 5, 0, false },   { 5, 1, 6, 0, false },
		{ 0, 1, 0, 0, false },   { 1, 0, 2, 0, false },   { 1, 1, 1, 0, false },
		{ 0, 2, 2, 0, false },   { 2, 255, 3, 0, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t size = REC_CALL_END_BYTES(rows[i].room);
		_cleanup_free_ struct rec_call_end *rec =
			(struct rec_call_end *)record(REC_CALL_END, size, size);

		rec->n_texts = (__u8)rows[i].n_texts;
		rec->has_result_text = (__u8)rows[i].has_result_text;
		if (rows[i].room > 0)
			rec->texts[rows[i].room - 1].bytes = rows[i].bytes;
		assert_ptr_equal(decode_record(rec, size), rows[i].good ? rec : NULL);
		rec->function = CALL_FUNCTIONS_MAX;
		assert_null(decode_record(rec, size));
	}
}

TEST(test_record_args)
{
	static const struct {
		uint32_t bytes;
		bool good;
	} rows[] = {
		{ 0, true }, { 1, true }, { 4096, true }, { 4097, false }, { UINT32_MAX, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_free_ struct rec_exec *rec =
			record(REC_EXEC, sizeof(struct rec_exec), sizeof(struct rec_exec));

		/* Arguments need no NUL. */
		memset(rec->args, 'x', sizeof(rec->args));
		rec->args_bytes = rows[i].bytes;
		assert_ptr_equal(decode_record(rec, sizeof(*rec)), rows[i].good ? rec : NULL);
	}
}

/* A short record has room for fewer arguments. */
TEST(test_record_short_args)
{
	const size_t size = REC_EXEC_BYTES(REC_ARGS_SHORT);
	_cleanup_free_ struct rec_exec *rec = record(REC_EXEC, size, size);

	rec->args_bytes = REC_ARGS_SHORT;
	assert_ptr_equal(decode_record(rec, size), rec);
	rec->args_bytes++;
	assert_null(decode_record(rec, size));
	rec->args_bytes = 0;
	rec->args_cut = 2;
	assert_null(decode_record(rec, size));
	rec->args_cut = 0;
	rec->head.size -= 8;
	assert_null(decode_record(rec, size - 8));
}

/* A work item does not end before its begin, and a loss names a valid ring. */
TEST(test_record_values)
{
	struct rec_work work = {
		.head = { .kind = REC_WORK, .size = sizeof(work), .ts_ns = 10 },
		.begin_ns = 10,
	};
	struct rec_lost lost = {
		.head = { .kind = REC_LOST, .size = sizeof(lost) },
		.ring = REC_RINGS - 1,
	};

	assert_ptr_equal(decode_record(&work, sizeof(work)), &work);
	work.begin_ns = 11;
	assert_null(decode_record(&work, sizeof(work)));
	assert_ptr_equal(decode_record(&lost, sizeof(lost)), &lost);
	lost.ring = REC_RINGS;
	assert_null(decode_record(&lost, sizeof(lost)));
}

/* ---- ring words ---- */

#define SWITCH(words, cpu) (0x1000000000000008ull | (words) << 4 | (uint64_t)(cpu) << 20)
#define WAKEUP(words, cpu) (0x2000000000000008ull | (words) << 4 | (uint64_t)(cpu) << 20)
#define EVENT(words)       (0x0020001400200004ull | (words) << 4)
#define CONTROL(words)     (0x000000000000000eull | (words) << 4)

TEST(test_ring_words)
{
	static const struct {
		uint64_t header;
		size_t n_words;
		unsigned n;
	} rows[] = {
		/* records of the programs */
		{ SWITCH(6, 3), 6, 6 },
		{ SWITCH(7, 3), 7, 7 },
		{ SWITCH(6, 3), 1000, 6 },
		{ WAKEUP(4, 3), 4, 4 },
		{ WAKEUP(6, 3), 6, 6 },
		{ WAKEUP(7, 3), 7, 7 },
		{ WAKEUP(8, 3), 8, 8 },
		{ WAKEUP(4, 9), 4, 4 }, /* of a thread whose last CPU was another one */
		{ WAKEUP(4, 3) | 1ull << WAKE_ON_RQ_BIT, 4, 4 },
		{ EVENT(6), 6, 6 },
		{ CONTROL(5), 5, 5 },
		/* longer than the rest */
		{ SWITCH(6, 3), 5, 0 },
		{ SWITCH(7, 3), 6, 0 },
		{ SWITCH(6, 3), 0, 0 },
		{ WAKEUP(6, 3), 5, 0 },
		{ EVENT(6), 5, 0 },
		{ CONTROL(5), 4, 0 },
		/* other sizes */
		{ 0, 100, 0 },
		{ SWITCH(0, 3), 100, 0 },
		{ SWITCH(5, 3), 100, 0 },
		{ SWITCH(8, 3), 100, 0 },
		{ SWITCH(4095, 3), 5000, 0 },
		{ WAKEUP(3, 3), 100, 0 },
		{ WAKEUP(5, 3), 100, 0 },
		{ WAKEUP(9, 3), 100, 0 },
		{ EVENT(0), 100, 0 },
		{ EVENT(5), 100, 0 },
		{ EVENT(7), 100, 0 },
		{ CONTROL(0), 100, 0 },
		{ CONTROL(4), 100, 0 },
		{ CONTROL(6), 100, 0 },
		/* a switch of another CPU */
		{ SWITCH(6, 2), 6, 0 },
		{ SWITCH(6, 65535), 6, 0 },
		/* a thread by its index, and records that the rings never contain */
		{ EVENT(6) | 1 << 24, 6, 0 },
		{ 0x0000000000000068, 6, 0 }, /* legacy switch */
		{ 0x3000000000300068, 6, 0 },
		{ 0x0016547846040010, 6, 0 }, /* magic */
		{ 0x0000000000000061, 6, 0 },
		{ 0x0000000000000062, 6, 0 },
		{ 0x0000000000000063, 6, 0 },
		{ 0x0000000000000065, 6, 0 },
		{ 0x0000000000000067, 6, 0 },
		{ 0x000000000000006f, 6, 0 },
		{ UINT64_MAX, 5000, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		/* The buffer has exactly the readable size, at least one word. */
		size_t n_words = rows[i].n_words ? rows[i].n_words : 1;
		_cleanup_free_ uint64_t *words = malloc(n_words * sizeof(*words));
		unsigned n;

		assert_non_null(words);
		for (size_t j = 0; j < n_words; j++)
			words[j] = 1;
		*words = rows[i].header;
		n = decode_ring_words(words, rows[i].n_words, CLASS_SCHED, 3);
		if (n != rows[i].n)
			fail_msg("row %zu: %u words", i, n);
	}
}

/* ---- ring words of intervals ---- */

#define COMPLETE(words, n_args, category, name)                                                    \
	(0x40004ull | (uint64_t)(words) << 4 | (uint64_t)(n_args) << 20 |                          \
	 (uint64_t)(category) << 32 | (uint64_t)(name) << 48)
enum { IRQ = 4390912, SOFTIRQ = 4521984, POWER = 4653056 };

TEST(test_ring_intervals)
{
	static const struct {
		enum event_class class;
		uint64_t words[12];
		unsigned n;
	} rows[] = {
		/* records of the programs, on CPU 3 */
		{ CLASS_IRQ, { COMPLETE(8, 2, 23, 0x8001), 5, IRQ, IRQ + 4, 'x', 0, 0, 6 }, 8 },
		{ CLASS_IRQ,
		  { COMPLETE(11, 2, 23, 0x801f), 5, IRQ, IRQ + 4, 0, 0, 0, 0, 0, 0, 6 },
		  11 },
		{ CLASS_SOFTIRQ, { COMPLETE(5, 0, 24, 43), 5, SOFTIRQ, SOFTIRQ + 4, 5 }, 5 },
		{ CLASS_SOFTIRQ, { COMPLETE(5, 0, 24, 52), 5, SOFTIRQ, SOFTIRQ + 4, 6 }, 5 },
		{ CLASS_IDLE, { COMPLETE(6, 1, 26, 0), 5, POWER, POWER + 4, 0, 6 }, 6 },
		{ CLASS_IRQ, { CONTROL(5), 5, 6 }, 5 },
		{ CLASS_IDLE, { CONTROL(5), 5, 6 }, 5 },
		/* its end is before its begin */
		{ CLASS_SOFTIRQ, { COMPLETE(5, 0, 24, 43), 5, SOFTIRQ, SOFTIRQ + 4, 4 }, 0 },
		/* another CPU, process, category, name, number of arguments */
		{ CLASS_SOFTIRQ, { COMPLETE(5, 0, 24, 43), 5, SOFTIRQ, SOFTIRQ + 3, 6 }, 0 },
		{ CLASS_SOFTIRQ, { COMPLETE(5, 0, 24, 43), 5, IRQ, SOFTIRQ + 4, 6 }, 0 },
		{ CLASS_SOFTIRQ, { COMPLETE(5, 0, 23, 43), 5, SOFTIRQ, SOFTIRQ + 4, 6 }, 0 },
		{ CLASS_SOFTIRQ, { COMPLETE(5, 0, 24, 42), 5, SOFTIRQ, SOFTIRQ + 4, 6 }, 0 },
		{ CLASS_SOFTIRQ, { COMPLETE(5, 0, 24, 53), 5, SOFTIRQ, SOFTIRQ + 4, 6 }, 0 },
		{ CLASS_SOFTIRQ, { COMPLETE(5, 1, 24, 43), 5, SOFTIRQ, SOFTIRQ + 4, 6 }, 0 },
		{ CLASS_IDLE, { COMPLETE(6, 1, 26, 1), 5, POWER, POWER + 4, 0, 6 }, 0 },
		{ CLASS_IRQ, { COMPLETE(7, 2, 23, 0x8000), 5, IRQ, IRQ + 4, 0, 0, 6 }, 0 },
		{ CLASS_IRQ,
		  { COMPLETE(11, 2, 23, 0x8020), 5, IRQ, IRQ + 4, 0, 0, 0, 0, 0, 0, 6 },
		  0 },
		{ CLASS_IRQ, { COMPLETE(8, 2, 23, 1), 5, IRQ, IRQ + 4, 'x', 0, 0, 6 }, 0 },
		/* another length */
		{ CLASS_IRQ, { COMPLETE(9, 2, 23, 0x8001), 5, IRQ, IRQ + 4, 'x', 0, 0, 6, 6 }, 0 },
		{ CLASS_SOFTIRQ, { COMPLETE(4, 0, 24, 43), 5, SOFTIRQ, SOFTIRQ + 4 }, 0 },
		{ CLASS_SOFTIRQ, { COMPLETE(1, 0, 24, 43), 5, SOFTIRQ, SOFTIRQ + 4, 6 }, 0 },
		{ CLASS_SOFTIRQ, { COMPLETE(0, 0, 24, 43), 5, SOFTIRQ, SOFTIRQ + 4, 6 }, 0 },
		{ CLASS_IRQ, { CONTROL(6), 5, 6 }, 0 },
		/* an instant, a thread by its index, the record of another ring */
		{ CLASS_SOFTIRQ,
		  { COMPLETE(5, 0, 24, 43) & ~0x40000ull, 5, SOFTIRQ, SOFTIRQ + 4, 6 },
		  0 },
		{ CLASS_SOFTIRQ,
		  { COMPLETE(5, 0, 24, 43) | 1 << 24, 5, SOFTIRQ, SOFTIRQ + 4, 6 },
		  0 },
		{ CLASS_SOFTIRQ, { SWITCH(6, 3), 5, 1, 2, 0, 0 }, 0 },
		{ CLASS_SCHED, { COMPLETE(5, 0, 24, 43), 5, SOFTIRQ, SOFTIRQ + 4, 6 }, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		unsigned n = decode_ring_words(rows[i].words, 12, rows[i].class, 3);

		if (n != rows[i].n)
			fail_msg("row %zu: %u words", i, n);
		if (n > 0) /* and not if one word is missing */
			assert_int_equal(decode_ring_words(rows[i].words, n - 1, rows[i].class, 3),
					 0);
	}
}

TEST(test_time)
{
	const uint64_t interval[] = { COMPLETE(5, 0, 24, 43), 5, 0, 0, 6 };
	const uint64_t mark[] = { CONTROL(5), 5, 6, 0, 0 }, migrate[] = { EVENT(6), 5, 0, 0, 0, 6 };

	assert_int_equal(decode_time(interval, 5, CLASS_SOFTIRQ), 6);
	assert_int_equal(decode_time(mark, 5, CLASS_SOFTIRQ), 5);
	assert_int_equal(decode_time(migrate, 6, CLASS_SCHED), 5);
}

TEST(test_is_lost)
{
	static const struct ring_lost mark = { .header = CONTROL(5) };

	assert_true(decode_is_lost((const uint64_t *)&mark));
	assert_false(decode_is_lost(&(uint64_t){ SWITCH(6, 0) }));
	assert_false(decode_is_lost(&(uint64_t){ WAKEUP(6, 0) }));
	assert_false(decode_is_lost(&(uint64_t){ EVENT(6) }));
}

TEST(test_is_sched)
{
	assert_true(decode_is_sched(&(uint64_t){ SWITCH(6, 0) }, FXT_SCHED_SWITCH));
	assert_false(decode_is_sched(&(uint64_t){ SWITCH(6, 0) }, FXT_SCHED_WAKEUP));
	assert_true(decode_is_sched(&(uint64_t){ WAKEUP(6, 0) }, FXT_SCHED_WAKEUP));
	assert_false(
		decode_is_sched(&(uint64_t){ EVENT(6) | UINT64_C(1) << 60 }, FXT_SCHED_SWITCH));
	assert_false(decode_is_sched(&(uint64_t){ CONTROL(5) }, FXT_SCHED_LEGACY_SWITCH));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record),         cmocka_unit_test(test_record_sizes),
		cmocka_unit_test(test_record_kinds),   cmocka_unit_test(test_cgroup),
		cmocka_unit_test(test_record_strings), cmocka_unit_test(test_record_allocations),
		cmocka_unit_test(test_record_args),    cmocka_unit_test(test_record_short_args),
		cmocka_unit_test(test_ring_words),     cmocka_unit_test(test_record_values),
		cmocka_unit_test(test_ring_intervals), cmocka_unit_test(test_time),
		cmocka_unit_test(test_is_lost),        cmocka_unit_test(test_is_sched),
		cmocka_unit_test(test_call_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
