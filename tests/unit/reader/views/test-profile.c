/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The counts of a recording whose truth is known (profile-set.c), through the archive and its
 * reader.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "reader/views/profile-names.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fixtures/profile-set.h"
#include "tests/support/unit.h"

#define BOTH .on_cpu = true, .off_cpu = true
#define ALL  BOTH, .to_ns = UINT64_MAX
#define MSEC UINT64_C(1000000)

static void take(const struct event *ev, void *userdata)
{
	assert_int_equal(profile_add(userdata, ev), 0);
}

static struct profile *profile_of(const struct profile_options *options)
{
	_cleanup_(outbuf_deinit) struct outbuf archive = { 0 };
	struct profile *p;

	profile_set_write(&archive, true);
	assert_int_equal(profile_new(&p, options), 0);
	archive_events(&archive, take, p);
	assert_int_equal(profile_finish(p), 0);
	return p;
}

/* "pid/tid on 2 20ms: innermost < ... < outermost", one per line. */
static char *text_of(const struct profile *p)
{
	char *text, label[PROFILE_LABEL_MAX];
	size_t size;
	FILE *f = open_memstream(&text, &size);

	for (size_t i = 0; i < p->n_stacks; i++) {
		const struct profile_stack *s = &p->stacks[i];

		fprintf(f, "%u/%u %s %llu %llums:", s->pid, s->tid, s->off_cpu ? "off" : "on",
			(unsigned long long)s->count, (unsigned long long)(s->ns / MSEC));
		for (uint32_t n = s->node; n != 0; n = p->nodes[n].parent) {
			const struct profile_place *place = &p->places[p->nodes[n].place];

			fprintf(f, " %s%s", place->returns ? "<" : "",
				profile_names_label(label, place, NULL));
		}
		fputc('\n', f);
	}
	fclose(f);
	return text;
}

/* Memory without a file has addresses, however its mapping was recorded. */
TEST(test_labels)
{
	static const struct {
		struct mapping mapping;
		const char *label;
	} rows[] = {
		{ { .path = (char *)"/a/app", .start = 0x5000, .file_offset = 0x1000 },
		  "app+0x1006" },
		{ { .path = (char *)"/a/app (deleted)", .start = 0x5000 }, "app+0x6" },
		{ { .path = (char *)"//anon", .start = 0x5000 }, "anon+0x5006" },
		{ { .path = (char *)"//anon", .start = 0x5000, .file_offset = 0x5000 },
		  "anon+0x5006" },
		{ { .path = (char *)"[heap]", .start = 0x5000, .file_offset = 0x5000 },
		  "[heap]+0x5006" },
		{ { .path = (char *)"[vdso]", .start = 0x5000 }, "[vdso]+0x6" },
	};
	char label[PROFILE_LABEL_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct profile_place place = { .address = 0x5006,
						     .mapping = &rows[i].mapping };

		assert_string_equal(profile_names_label(label, &place, NULL), rows[i].label);
	}
}

TEST(test_all)
{
	_cleanup_(profile_freep) struct profile *p = profile_of(&(struct profile_options){
		ALL, .pids = (const uint32_t[]){ 2, 100, 300, 0 }, .n_pids = 4 });
	_cleanup_free_ char *text = text_of(p);

	assert_string_equal(
		text,
		"100/100 on 3 30ms: app+0x1200 <app+0x1010\n"
		"100/101 on 2 20ms: [ext4]+0x40 <[kernel.kallsyms]+0x200 <[kernel.kallsyms]+0x100 "
		"libc.so.6+0x28010 <app+0x1300\n"
		"100/100 on 1 10ms: app+0x1100 <app+0x1010\n"
		"100/101 off 1 40ms: [kernel.kallsyms]+0x300 <[kernel.kallsyms]+0x200 "
		"<[kernel.kallsyms]+0x100 libc.so.6+0x28010 <app+0x1300\n"
		"100/100 off 1 20ms: [kernel.kallsyms]+0x300 <[kernel.kallsyms]+0x100 "
		"libc.so.6+0x28010 <app+0x1010\n"
		"100/100 on 1 10ms: [unknown] <app+0x1010\n"
		"100/100 on 1 10ms: plugin.so+0x4100 <app+0x1010\n"
		"300/300 on 1 10ms: app+0x1010\n"
		"300/300 on 1 10ms: true+0x300 <[unknown] <[unknown]\n"
		"2/12 on 1 10ms: [kernel.kallsyms]+0x300\n"
		"2/12 on 1 10ms:\n"
		"0/0 on 1 10ms: [kernel.kallsyms]+0x300\n"
		"100/101 off 1 40ms:\n");
	assert_int_equal(p->frequency, 100);
	assert_int_equal(p->n_samples_seen, PROFILE_SET_SAMPLES);
	assert_int_equal(p->n_offcpu_seen, PROFILE_SET_OFFCPU);
	assert_int_equal(p->n_samples, PROFILE_SET_SAMPLES - 2);
	assert_int_equal(p->n_cut, 0);
}

/* The innermost functions, without their callers; and the state when a part begins. */
TEST(test_innermost)
{
	_cleanup_(outbuf_deinit) struct outbuf archive = { 0 };
	_cleanup_(profile_freep) struct profile *p = NULL;
	_cleanup_free_ char *text = NULL, *again = NULL;

	profile_set_write(&archive, true);
	assert_int_equal(profile_new(&p,
				     &(struct profile_options){ .on_cpu = true,
								.innermost = true,
								.pids = (const uint32_t[]){ 100 },
								.n_pids = 1,
								.to_ns = UINT64_MAX }),
			 0);
	archive_events(&archive, take, p);
	text = text_of(p);
	assert_string_equal(text, "100/100 on 3 30ms: app+0x1200\n"
				  "100/101 on 2 20ms: [ext4]+0x40\n"
				  "100/100 on 1 10ms: app+0x1100\n"
				  "100/100 on 1 10ms: [unknown]\n"
				  "100/100 on 1 10ms: plugin.so+0x4100\n");
	assert_int_equal(p->n_samples, 8);
	profile_begin_part(p, 0);
	assert_int_equal(p->n_samples, 0);
	assert_int_equal(p->n_stacks, 0);
	/* Mappings are still known. */
	take(&(struct event){ .kind = EVENT_SAMPLE,
			      .ts_ns = 2000 * MSEC,
			      .pid = 100,
			      .tid = 100,
			      .sample = { .frames = (const uint64_t[]){ 0x401200 },
					  .n_frames = 1 } },
	     p);
	again = text_of(p);
	assert_string_equal(again, "100/100 on 1 10ms: app+0x1200\n");
}

/* The result of each selection. */
TEST(test_selections)
{
	static const uint32_t pid_100[] = { 100 }, tid_101[] = { 101 };
	static const bool cpu_0[] = { true }, cpu_1[] = { false, true }, cpu_9[10] = { [9] = true };
	static const struct {
		struct profile_options options;
		unsigned samples, waits, off_ms;
	} rows[] = {
		{ { ALL }, 15, 3, 100 },
		{ { .on_cpu = true, .to_ns = UINT64_MAX }, 15, 0, 0 },
		{ { .off_cpu = true, .to_ns = UINT64_MAX }, 0, 3, 100 },
		{ { ALL, .pids = pid_100, .n_pids = 1 }, 8, 3, 100 },
		{ { ALL, .tids = tid_101, .n_tids = 1 }, 2, 2, 80 },
		/* The reader thread leaves CPU 1 first and CPU 0 then. */
		{ { ALL, .cpus = cpu_0, .n_cpus = 1 }, 10, 2, 60 },
		{ { ALL, .cpus = cpu_1, .n_cpus = 2 }, 4, 1, 40 },
		{ { ALL, .cpus = cpu_9, .n_cpus = 10 }, 0, 0, 0 },
		/* Times off CPU are cut to the window. */
		{ { BOTH, .from_ns = 30 * MSEC, .to_ns = 76 * MSEC }, 3, 3, 61 },
		{ { BOTH, .from_ns = 1030 * MSEC, .to_ns = 1075 * MSEC, .absolute = true },
		  2,
		  3,
		  60 },
		{ { ALL, .from_ns = 110 * MSEC }, 1, 0, 0 },
		{ { BOTH, .to_ns = 10 * MSEC }, 0, 0, 0 },
		{ { ALL, .from_ns = UINT64_MAX - 1 }, 0, 0, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(profile_freep) struct profile *p = profile_of(&rows[i].options);
		uint64_t samples = 0, waits = 0, ns = 0;

		for (size_t j = 0; j < p->n_stacks; j++) {
			const struct profile_stack *s = &p->stacks[j];

			*(s->off_cpu ? &waits : &samples) += s->count;
			ns += s->off_cpu ? s->ns : 0;
		}
		assert_int_equal(samples, rows[i].samples);
		assert_int_equal(waits, rows[i].waits);
		assert_int_equal(ns / MSEC, rows[i].off_ms);
		assert_int_equal(p->n_samples, samples);
		assert_int_equal(p->n_offcpu, waits);
		assert_int_equal(p->n_samples_seen, PROFILE_SET_SAMPLES);
	}
}

static bool is_of_100(void *userdata, const struct profile_stack *stack)
{
	(void)userdata;
	return stack->pid == 100;
}

TEST(test_filter)
{
	_cleanup_(profile_freep) struct profile *p = profile_of(&(struct profile_options){ ALL });

	profile_filter(p, is_of_100, NULL);
	assert_int_equal(p->n_samples, 8);
	assert_int_equal(p->n_offcpu, 3);
	for (size_t i = 0; i < p->n_stacks; i++)
		assert_int_equal(p->stacks[i].pid, 100);
}

/* Returns the number of frames of P that are at ADDRESS (0 = anywhere). */
static unsigned count_frames(const struct profile *p, uint64_t address)
{
	unsigned count = 0;

	for (size_t i = 0; i < p->n_stacks; i++)
		for (uint32_t n = p->stacks[i].node; n != 0; n = p->nodes[n].parent)
			count += !address || p->places[p->nodes[n].place].address == address;
	return count;
}

static bool is_at(void *userdata, const struct profile_place *place)
{
	return place->address == *(const uint64_t *)userdata;
}

/* Each place can be left out: the innermost, the outermost, and those between. */
TEST(test_leave_out)
{
	_cleanup_(profile_freep) struct profile *p = profile_of(&(struct profile_options){ ALL });
	unsigned all = count_frames(p, 0), there;

	for (size_t i = 0; i < p->n_places; i++) {
		uint64_t address = p->places[i].address;

		there = count_frames(p, address);
		profile_leave_out(p, is_at, &address);
		all -= there;
		assert_int_equal(count_frames(p, address), 0);
		assert_int_equal(count_frames(p, 0), all);
	}
	assert_int_equal(all, 0);
	assert_int_equal(p->n_samples + p->n_offcpu > 0, 1);
}

/* Many different stacks, deep and shallow: each is found, and none is lost. */
LARGE_TEST(test_many)
{
	enum { N = 20000 };
	_cleanup_(profile_freep) struct profile *p = NULL;
	uint64_t frames[100];

	assert_int_equal(profile_new(&p, &(struct profile_options){ ALL }), 0);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < N; i++) {
			struct event ev = { .kind = EVENT_SAMPLE,
					    .pid = i % 7,
					    .tid = i % 7,
					    .sample = { frames, i % 100 } };

			for (unsigned j = 0; j < ev.sample.n_frames; j++)
				frames[j] = j == 0 ? i : (i % 500) * 1000 + j;
			take(&ev, p);
		}
	}
	assert_int_equal(profile_finish(p), 0);
	assert_int_equal(p->n_samples, 2 * N);
	for (size_t i = 0; i < p->n_stacks; i++) {
		if (p->stacks[i].node != 0)
			assert_int_equal(p->stacks[i].count, 2);
	}
	/* one in a hundred has no stack */
	assert_int_equal(p->n_stacks, N - N / 100 + 7);
	assert_int_equal(p->n_cut, 0);
}

/*
 * Stacks with as many frames of the program as a recording contains: their missing calls have a
 * frame of their own, below which equal stacks are added. The kernel's frames do not count.
 */
TEST(test_full)
{
	enum { N = EVENT_SAMPLE_FRAMES_MAX };
	static const struct {
		unsigned user, kernel;
		enum sample_kind kind;
		bool full;
	} rows[] = {
		{ N, 0, SAMPLE_ON_CPU, true },      { N, 0, SAMPLE_ON_CPU, true },
		{ N, 30, SAMPLE_ON_CPU, true },     { N - 1, 0, SAMPLE_ON_CPU, false },
		{ N - 1, 1, SAMPLE_ON_CPU, false }, { N - 1, 30, SAMPLE_ON_CPU, false },
		{ N, 5, SAMPLE_OFF_CPU, true },     { N - 1, 5, SAMPLE_OFF_CPU, false },
		{ 1, N, SAMPLE_ON_CPU, false },     { 0, N, SAMPLE_ON_CPU, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		_cleanup_(profile_freep) struct profile *p = NULL;
		uint64_t frames[2 * N];
		struct event wait = {
			.kind = EVENT_OFFCPU, .pid = 9, .tid = 9, .offcpu = { .end_ns = 5 }
		};
		struct event ev = { .kind = EVENT_SAMPLE,
				    .pid = 9,
				    .tid = 9,
				    .sample = { .frames = frames,
						.n_frames = rows[i].kernel + rows[i].user,
						.kind = rows[i].kind } };
		unsigned depth = 0;
		uint32_t root = 0;

		for (unsigned j = 0; j < ev.sample.n_frames; j++)
			frames[j] = j < rows[i].kernel ? UINT64_MAX - j : 0x1000 + j;
		assert_int_equal(profile_new(&p, &(struct profile_options){ ALL }), 0);
		if (rows[i].kind == SAMPLE_OFF_CPU)
			take(&wait, p);
		take(&ev, p);
		assert_int_equal(profile_finish(p), 0);
		assert_int_equal(p->n_full, rows[i].full);
		assert_int_equal(p->n_stacks, 1);
		for (uint32_t n = p->stacks[0].node; n != 0; n = p->nodes[n].parent, depth++)
			root = n;
		assert_int_equal(depth, ev.sample.n_frames + rows[i].full);
		assert_int_equal(p->places[p->nodes[root].place].frames != NULL, rows[i].full);
		if (rows[i].full)
			assert_string_equal(p->places[p->nodes[root].place].frames->list->function,
					    FRAMES_CUT_NAME);
	}
}

#define EARLIER(ts, process, thread, ...)                                                          \
	{                                                                                          \
		.kind = EVENT_OFFCPU, .ts_ns = (ts), .pid = (process), .tid = (thread),            \
		.offcpu = {                                                                        \
			.end_ns = (ts) + 5,                                                        \
			.begun = "earlier",                                                        \
			__VA_ARGS__                                                                \
		}                                                                                  \
	}
#define LEFT(ts, process, thread, to, n)                                                           \
	{                                                                                          \
		.kind = EVENT_SAMPLE, .ts_ns = (ts), .pid = (process), .tid = (thread),            \
		.sample = {                                                                        \
			to,                                                                        \
			n,                                                                         \
			SAMPLE_OFF_CPU                                                             \
		}                                                                                  \
	}

/* Times off CPU that began before the recording; of these, those without a frame of the program. */
TEST(test_earlier)
{
	static const uint64_t stack[] = { UINT64_C(0xffffffff81000000), 0x1000 };
	const struct event events[] = {
		EARLIER(5, 100, 101),
		LEFT(5, 100, 101, stack, 2),
		EARLIER(5, 100, 102, .left_by = "open"),
		LEFT(5, 100, 102, stack, 1),
		EARLIER(5, 100, 103),               /* without any */
		EARLIER(5, FXT_KOID_KTHREADD, 104), /* of the kernel, which has no others */
		LEFT(5, FXT_KOID_KTHREADD, 104, stack, 1),
		{ .kind = EVENT_OFFCPU, .ts_ns = 20, .pid = 100, .tid = 101, .offcpu = { 30 } },
	};
	_cleanup_(profile_freep) struct profile *p = NULL;

	assert_int_equal(profile_new(&p, &(struct profile_options){ ALL }), 0);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		take(&events[i], p);
	assert_int_equal(profile_finish(p), 0);
	assert_int_equal(p->n_offcpu, 5);
	assert_int_equal(p->n_earlier, 4);
	assert_int_equal(p->n_earlier_bare, 2);
	assert_int_equal(p->n_unfinished, 1);
	profile_begin_part(p, 0);
	assert_int_equal(p->n_earlier + p->n_earlier_bare, 0);
}

/* A time off CPU is counted once, with its stack, wherever it is in the file. */
TEST(test_off_cpu_order)
{
	static const uint64_t stack[] = { 1 };
	static const struct event events[] = {
		{ .kind = EVENT_OFFCPU, .ts_ns = 5, .pid = 1, .tid = 1, .offcpu = { 10 } },
		{ .kind = EVENT_OFFCPU, .ts_ns = 5, .pid = 1, .tid = 2, .offcpu = { 20 } },
		{ .kind = EVENT_SAMPLE,
		  .ts_ns = 5,
		  .pid = 1,
		  .tid = 1,
		  .sample = { stack, 1, true } },
		/* a second one, and one of unknown functions */
		{ .kind = EVENT_SAMPLE,
		  .ts_ns = 5,
		  .pid = 1,
		  .tid = 1,
		  .sample = { stack, 1, true } },
		{ .kind = EVENT_SAMPLE,
		  .ts_ns = 9,
		  .pid = 1,
		  .tid = 3,
		  .sample = { stack, 1, true } },
		{ .kind = EVENT_SAMPLE,
		  .ts_ns = 5,
		  .pid = 1,
		  .tid = 2,
		  .sample = { stack, 1, true } },
	};
	_cleanup_(profile_freep) struct profile *p = NULL;

	assert_int_equal(profile_new(&p, &(struct profile_options){ ALL }), 0);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		take(&events[i], p);
	assert_int_equal(profile_finish(p), 0);
	assert_int_equal(p->n_offcpu, 2);
	assert_int_equal(p->n_stacks, 2);
	assert_int_equal(p->stacks[0].ns, 5);
	assert_int_equal(p->stacks[1].ns, 15);
	assert_int_not_equal(p->stacks[0].node, 0);
	assert_int_equal(p->stacks[0].node, p->stacks[1].node);
}

#define PLACE_NAME(p, node) ((p)->places[(p)->nodes[node].place].frames->list[0].function)

/* The stack of a time off CPU is followed by that of its waker, from its innermost call on. */
TEST(test_off_wake)
{
	static const uint64_t wait[] = { 0x10, 0x20 }, wakes[] = { 0x30, 0x40 };
	const uint64_t irq[] = { UINT64_C(0xffffffff81000000) };
#define TASK_OF(p, t)                                                                              \
	{                                                                                          \
		.kind = EVENT_TASK, .pid = (p), .tid = (t), .task = {.comm = "waker" }             \
	}
#define NAMED(p, i, list, n)                                                                       \
	{                                                                                          \
		.kind = EVENT_SAMPLE, .ts_ns = 3, .pid = (p), .tid = (p), .sample = {              \
			(list),                                                                    \
			(n),                                                                       \
			SAMPLE_NAMED,                                                              \
			(i)                                                                        \
		}                                                                                  \
	}
#define AWAY(t, ...)                                                                               \
	{ .kind = EVENT_OFFCPU,                                                                    \
	  .ts_ns = 5,                                                                              \
	  .pid = 1,                                                                                \
	  .tid = (t),                                                                              \
	  .offcpu = { .end_ns = 25, .state = 'S', __VA_ARGS__ } },                                 \
		LEFT(5, 1, (t), wait, 2)
	const struct event events[] = {
		TASK_OF(7, 7),
		TASK_OF(9, 0), /* a process without threads */
		TASK_OF(7, 8),
		NAMED(7, 99, wakes, 2),
		NAMED(1, 99, wait, 2), /* of another process */
		NAMED(FXT_KOID_KTHREADD, 98, irq, 1),
		AWAY(1, .woken_ns = 20, .waker_tid = 8, .waker_stack = 99),
		AWAY(2, .woken_ns = 20, .context = "interrupt", .waker_stack = 98),
		AWAY(3, .left_by = "open"),
		AWAY(4, .woken_ns = 20),
		AWAY(5, .woken_ns = 20, .waker_tid = 8),
	};
	_cleanup_(profile_freep) struct profile *p = NULL;
	const struct profile_names none = { 0 };
	uint32_t at;

	assert_int_equal(profile_new(&p, &(struct profile_options){ ALL, .off_wake = true }), 0);
	for (size_t i = 0; i < ARRAY_SIZE(events); i++)
		take(&events[i], p);
	assert_int_equal(profile_finish(p), 0);
	assert_int_equal(profile_names_add_processes(p, &none), 0);
	assert_int_equal(p->n_stacks, 5);
	assert_int_equal(p->n_woken, 2);
	assert_int_equal(p->stacks[0].ns, 15);
	assert_int_equal(p->stacks[2].ns, 20);
	at = p->stacks[0].node;
	assert_string_equal(PLACE_NAME(p, at), "pid 7");
	at = p->nodes[at].parent;
	assert_int_equal(p->places[p->nodes[at].place].address, 0x40);
	at = p->nodes[at].parent;
	assert_int_equal(p->places[p->nodes[at].place].address, 0x30);
	at = p->nodes[at].parent;
	assert_string_equal(PLACE_NAME(p, at), "[woken by]");
	at = p->nodes[at].parent;
	assert_int_equal(p->places[p->nodes[at].place].address, 0x10);
	at = p->stacks[1].node;
	assert_string_equal(PLACE_NAME(p, at), "[interrupt]");
	at = p->nodes[at].parent;
	assert_int_equal(p->places[p->nodes[at].place].address, irq[0]);
	assert_string_equal(PLACE_NAME(p, p->stacks[2].node), "[open]");
	assert_string_equal(PLACE_NAME(p, p->stacks[3].node), "[unknown]");
	at = p->stacks[4].node;
	assert_string_equal(PLACE_NAME(p, at), "pid 7");
	assert_string_equal(PLACE_NAME(p, p->nodes[at].parent), "[woken by]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off_wake),   cmocka_unit_test(test_all),
		cmocka_unit_test(test_selections), cmocka_unit_test(test_filter),
		cmocka_unit_test(test_leave_out),  cmocka_unit_test(test_many),
		cmocka_unit_test(test_earlier),    cmocka_unit_test(test_off_cpu_order),
		cmocka_unit_test(test_labels),     cmocka_unit_test(test_innermost),
		cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
