/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/story.h"

#include <stdio.h>
#include <string.h>

#include "capture/heap/heap-records.h"
#include "capture/proc/proc-records.h"
#include "capture/programs/decode.h"
#include "tests/support/fake-collector.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-names.h"

/* ---- what the programs and the worker say ---- */

#define REC(type, what, ts, c, p, t)                                                               \
	.head = { .ts_ns = (ts),                                                                   \
		  .size = sizeof(struct type),                                                     \
		  .kind = (what),                                                                  \
		  .cpu = (c),                                                                      \
		  .pid = (p),                                                                      \
		  .tid = (t) }
#define PUT(s, rec) fake_collector_put_record((s)->collector, &(rec), sizeof(rec))

struct rec_identity story_identity(uint32_t pid, uint32_t tid, uint64_t start_ns, const char *comm)
{
	struct rec_identity id = {
		.start_ns = start_ns,
		.pid = pid,
		.tid = tid,
		.parent_pid = pid == 1 ? 0 : 1,
		.prio = 120,
		.flags = pid == 2 ? IDENTITY_KTHREAD : 0,
	};

	snprintf(id.comm, sizeof(id.comm), "%s", comm);
	return id;
}

static void put_words(const struct story *s, enum event_class class, unsigned cpu,
		      const uint64_t *words, unsigned n)
{
	assert_int_equal(decode_ring_words(words, n, class, cpu), n);
	assert_true(fake_collector_put_words(s->collector, class, cpu, words, n));
}

static uint64_t weight(enum fxt_name name, uint32_t tid)
{
	return fxt_arg32(FXT_ARG_INT32, name, (uint32_t)(tid ? 120 : FXT_IDLE_WEIGHT));
}

void story_put_switch(const struct story *s, uint64_t ts, unsigned cpu, uint32_t out, uint32_t in,
		      unsigned state)
{
	const uint64_t words[] = {
		fxt_switch_header(6, 2, cpu, state),
		ts,
		out,
		in,
		weight(FXT_NAME_OUTGOING_WEIGHT, out),
		weight(FXT_NAME_INCOMING_WEIGHT, in),
	};

	put_words(s, CLASS_SCHED, cpu, words, 6);
}

/* From the ring of CPU 0. */
void story_put_wakeup(const struct story *s, uint64_t ts, uint32_t tid, unsigned cpu, bool on_rq,
		      uint32_t waker)
{
	const uint64_t words[] = {
		fxt_wakeup_header(6, 2, cpu) | (uint64_t)on_rq << WAKE_ON_RQ_BIT,
		ts,
		tid,
		weight(FXT_NAME_WEIGHT, tid),
		fxt_arg64(FXT_ARG_KOID, FXT_NAME_WAKER),
		waker,
	};

	put_words(s, CLASS_SCHED, 0, words, 6);
}

void story_put_loss(const struct story *s, unsigned cpu, uint64_t first, uint64_t last,
		    uint64_t count, uint32_t tid)
{
	const struct ring_lost mark = {
		.header = fxt_put_record_type(RING_RECORD_CONTROL) | fxt_put_record_words(5),
		.first_ns = first,
		.last_ns = last,
		.count = count,
		.tid = tid,
		.prio = 120,
	};
	uint64_t words[5];

	memcpy(words, &mark, sizeof(words));
	put_words(s, CLASS_SCHED, cpu, words, 5);
}

static void put_irq(const struct story *s, uint64_t begin, uint64_t end)
{
	uint64_t words[8] = {
		fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(8) |
			fxt_put_event_type(FXT_EVENT_DURATION_COMPLETE) | fxt_put_event_n_args(2) |
			fxt_put_event_category(FXT_NAME_IRQ) |
			fxt_put_event_name(fxt_put_string_ref_inline(1) | 3),
		begin,
		FXT_KOID_IRQ,
		FXT_KOID_IRQ + 2,
		0,
		fxt_arg32(FXT_ARG_INT32, FXT_NAME_IRQ, 36),
		fxt_arg32(FXT_ARG_BOOL, FXT_NAME_HANDLED, 1),
		end,
	};

	memcpy(&words[4], "nic", 3);
	put_words(s, CLASS_IRQ, 1, words, 8);
}

static void put_idle(const struct story *s, uint64_t begin, uint64_t end)
{
	const uint64_t words[] = {
		fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(6) |
			fxt_put_event_type(FXT_EVENT_DURATION_COMPLETE) | fxt_put_event_n_args(1) |
			fxt_put_event_category(FXT_NAME_POWER),
		begin,
		FXT_KOID_POWER,
		FXT_KOID_POWER + 2,
		fxt_arg32(FXT_ARG_UINT32, FXT_NAME_STATE, 1000),
		end,
	};

	put_words(s, CLASS_IDLE, 1, words, 6);
}

void story_put_mapping(const struct story *s, uint64_t ts, uint32_t pid, uint64_t start,
		       const char *path)
{
	union {
		struct rec_mapping rec;
		uint8_t bytes[sizeof(struct rec_mapping) + 32];
	} m = { .rec = { .head = { .ts_ns = ts,
				   .size = sizeof(m),
				   .kind = REC_MAPPING,
				   .pid = pid,
				   .tid = pid },
			 .start = start,
			 .bytes = 0x2000,
			 .path_bytes = (uint32_t)strlen(path) } };

	memcpy(m.rec.path, path, strlen(path));
	PUT(s, m);
}

void story_put_stack(const struct story *s, uint64_t ts, uint64_t id, uint64_t address)
{
	struct rec_stack rec = {
		.head = { .ts_ns = ts, .size = REC_STACK_BYTES(2), .kind = REC_STACK },
		.id = id,
		.frames = { address, address + 16 }
	};

	fake_collector_put_record(s->collector, &rec, rec.head.size);
}

void story_put_stack_sample(const struct story *s, uint64_t ts, uint32_t pid, uint32_t tid,
			    uint64_t stack)
{
	const struct rec_sample rec = { REC(rec_sample, REC_SAMPLE, ts, 0, pid, tid),
					.user_stack = stack };

	PUT(s, rec);
}

static void put_offcpu(const struct story *s, uint64_t ts, uint32_t pid, uint32_t tid,
		       uint64_t begin, uint64_t stack)
{
	const struct rec_offcpu rec = { REC(rec_offcpu, REC_OFFCPU, ts, 0, pid, tid),
					.begin_ns = begin, .user_stack = stack, .waker_tid = 10,
					.state = 'S' };

	PUT(s, rec);
}

void story_put_fork(const struct story *s, uint64_t ts, uint32_t pid, uint32_t child_pid,
		    uint32_t child_tid)
{
	const struct rec_fork rec = { REC(rec_fork, REC_FORK, ts, 0, pid, pid),
				      .child = story_identity(child_pid, child_tid, ts, "child") };

	PUT(s, rec);
}

static void put_exit(const struct story *s, uint64_t ts, uint32_t pid, uint32_t tid,
		     uint64_t start_ns, const char *comm, bool ends)
{
	const struct rec_exit rec = { REC(rec_exit, REC_EXIT, ts, 0, pid, tid),
				      .task = story_identity(pid, tid, start_ns, comm),
				      .process_ends = ends };

	PUT(s, rec);
}

static void put_exec(const struct story *s, uint64_t ts, uint32_t pid, uint32_t old_tid,
		     uint64_t start_ns, const char *comm)
{
	struct rec_exec rec = { REC(rec_exec, REC_EXEC, ts, 0, pid, pid),
				.task = story_identity(pid, pid, start_ns, comm),
				.old_tid = old_tid };

	strcpy(rec.file, "/bin/x");
	strcpy(rec.args, "x");
	rec.args_bytes = 2;
	PUT(s, rec);
}

static void put_new_image(const struct story *s, uint64_t ts, uint32_t pid)
{
	const struct rec_new_image rec = { REC(rec_new_image, REC_NEW_IMAGE, ts, 0, pid, pid) };

	PUT(s, rec);
}

static void put_rename(const struct story *s, uint64_t ts, uint32_t tid, uint64_t start_ns,
		       const char *from, const char *to)
{
	struct rec_rename rec = { REC(rec_rename, REC_RENAME, ts, 0, tid, tid),
				  .task = story_identity(tid, tid, start_ns, from) };

	strcpy(rec.comm, to);
	PUT(s, rec);
}

static void put_work(const struct story *s, uint64_t begin, uint64_t end, bool named)
{
	struct rec_function function = { REC(rec_function, REC_FUNCTION, begin, 1, 2, 30),
					 .function = 0x99, .name = "flush_it" };
	const struct rec_work rec = { REC(rec_work, REC_WORK, end, 1, 2, 30), .begin_ns = begin,
				      .function = 0x99 };

	if (named)
		PUT(s, function);
	PUT(s, rec);
}

static void put_frequency(const struct story *s, uint64_t ts, uint32_t khz)
{
	const struct rec_frequency rec = { REC(rec_frequency, REC_FREQUENCY, ts, 0, 10, 10),
					   .khz = khz, .cpu = 1 };

	PUT(s, rec);
}

static void put_sample(const struct story *s, uint64_t ts, uint64_t value)
{
	struct rec_counters rec = { REC(rec_counters, REC_COUNTERS, ts, 0, 0, 0), .name = "load",
				    .n_values = 1, .whole = 1 };

	strcpy(rec.values[0].name, "threads");
	rec.values[0].value = value;
	assert_int_equal(merge_add(s->merge, &rec.head), 0);
}

static void put_lost(const struct story *s, uint64_t ts, uint32_t ring, uint64_t last)
{
	const struct rec_lost rec = { REC(rec_lost, REC_LOST, ts, 1, 0, 0), .count = 7,
				      .first_ns = ts, .last_ns = last, .ring = ring };

	PUT(s, rec);
}

static void put_gone(const struct story *s, uint64_t ts, uint32_t cpu)
{
	const struct rec_cpu_gone rec = { REC(rec_cpu_gone, REC_CPU_GONE, ts, 0, 1, 1),
					  .gone_cpu = cpu };

	PUT(s, rec);
}

/* ---- what is allocated ---- */

static void put_memory(const struct story *s, const void *rec, size_t size)
{
	assert_int_equal(outbuf_append(s->memory, rec, size), 0);
}

static void put_watch(const struct story *s, uint64_t ts)
{
	const struct rec_watch rec = { REC(rec_watch, REC_WATCH, ts, 0, 10, 10), .instance = 1,
				       .complete = 1, .allocators = "libc.so.6: malloc free" };

	put_memory(s, &rec, sizeof(rec));
}

static void put_named(const struct story *s, uint64_t ts, uint64_t id)
{
	const struct rec_named rec = { REC(rec_named, REC_NAMED, ts, 0, 10, 10), .id = id,
				       .instance = 1, .n_frames = 2, .frames = { 0x1010, 0x1020 } };

	PUT(s, rec);
}

static void put_alloc(const struct story *s, uint64_t ts, uint64_t address, uint64_t stack)
{
	const struct rec_alloc rec = { REC(rec_alloc, REC_ALLOC, ts, 0, 10, 10),
				       .id = address,
				       .size = 24,
				       .stack = stack,
				       .function = MEMORY_FN_MALLOC,
				       .context = 1,
				       .instance = 1 };

	PUT(s, rec);
}

static void put_free(const struct story *s, uint64_t ts, uint64_t address)
{
	const struct rec_free rec = { REC(rec_free, REC_FREE, ts, 0, 10, 10), .id = address,
				      .function = MEMORY_FN_FREE, .instance = 1 };

	PUT(s, rec);
}

static void put_open(const struct story *s, uint64_t ts, int32_t fd)
{
	const struct rec_resource rec = { REC(rec_resource, REC_RESOURCE, ts, 0, 10, 10),
					  .result = fd, .stack = 7,
					  .operation = RESOURCE_OP_EVENTFD, .instance = 1 };

	PUT(s, rec);
}

static void put_usage(const struct story *s, uint64_t ts, uint64_t stack)
{
	const struct rec_usage rec = { REC(rec_usage, REC_USAGE, ts, 0, 10, 10), .stack = stack,
				       .allocations = 5, .allocated_bytes = 120, .instance = 1 };

	put_memory(s, &rec, sizeof(rec));
}

static void put_snapshot(const struct story *s, uint64_t ts, uint64_t blocks, uint32_t final)
{
	const struct rec_snapshot rec = { REC(rec_snapshot, REC_SNAPSHOT, ts, 0, 10, 10),
					  .blocks = blocks, .instance = 1, .final = final };

	put_memory(s, &rec, sizeof(rec));
}

static void put_block(const struct story *s, uint64_t ts, uint64_t address)
{
	const struct rec_block rec = { REC(rec_block, REC_BLOCK, ts, 0, 10, 10), .id = address,
				       .block = { .size = 24,
						  .ts_ns = STORY_AT(1),
						  .stack = 7,
						  .tid = 10,
						  .function = MEMORY_FN_MALLOC },
				       .instance = 1 };

	put_memory(s, &rec, sizeof(rec));
}

static void put_watched(const struct story *s, uint64_t ts)
{
	const struct rec_watched rec = { REC(rec_watched, REC_WATCHED, ts, 0, 10, 10),
					 .instance = 1, .reason = WATCHED_STOP };

	put_memory(s, &rec, sizeof(rec));
}

/* ---- the story ---- */

static void play_schedule(const struct story *s, uint64_t t, unsigned n)
{
	switch (n) {
	case 1:
		story_put_mapping(s, t, 10, 0x1000, "/lib/a");
		story_put_mapping(s, t, 2, UINT64_C(0xffffffff81000000), "[kernel.kallsyms]");
		return story_put_stack(s, t, 5, 0x1010);
	case 2: /* (10 sleeps with a stack of its own) */
		return story_put_switch(s, t, 0, 10, 20, BLOCKED);
	case 3:
		return story_put_wakeup(s, t, 10, 0, false, 20);
	case 4:
		return story_put_switch(s, t, 1, 0, 10, READY);
	case 5: /* overtakes its thread's switch-out, which is step 7 */
		return story_put_wakeup(s, t, 20, 0, false, 20);
	case 6:
		put_irq(s, t - 10, t);
		return put_work(s, t - 2000000, t, true);
	case 7:
		return story_put_switch(s, t, 0, 20, 11, BLOCKED);
	case 8:
		put_frequency(s, t, 1800000);
		return put_sample(s, t, 44);
	case 9:
		return story_put_fork(s, t, 10, 40, 40);
	case 10: /* with the mappings of its parent */
		story_put_switch(s, t, 0, 11, 40, READY);
		return story_put_stack_sample(s, t, 40, 40, 5);
	case 11:
		put_new_image(s, t, 40);
		return story_put_mapping(s, t, 40, 0x5000, "/bin/x");
	case 12:
		return put_rename(s, t, 40, STORY_AT(9), "child", "x");
	case 13:
		return put_exec(s, t, 40, 40, STORY_AT(9), "x");
	case 14:
		story_put_stack(s, t, 6, 0x5010);
		return story_put_stack_sample(s, t, 40, 40, 6);
	default:
		return;
	}
}

static void play_losses_and_ends(const struct story *s, uint64_t t, unsigned n)
{
	switch (n) {
	case 15: /* was it awake? Its next switch tells: step 17 */
		return story_put_wakeup(s, t, 10, 1, true, 40);
	case 16:
		return story_put_switch(s, t, 1, 10, 0, BLOCKED);
	case 17:
		story_put_switch(s, t, 1, 0, 10, READY);
		return put_offcpu(s, t, 10, 10, STORY_AT(16), 5);
	case 18: /* lasts until step 21 */
		return story_put_loss(s, 1, t, STORY_AT(21), 5, 20);
	case 19:
		return put_lost(s, t, REC_RING_STACKS, STORY_AT(22));
	case 20:
		return put_work(s, t - 1000, t, false);
	case 22:
		put_idle(s, STORY_AT(3), t);
		return put_lost(s, t, REC_RING_LIFECYCLE, t + 5);
	case 23: /* it has ended, and is still seen to go off at step 26 */
		return put_exit(s, t, 40, 40, STORY_AT(9), "x", true);
	case 24:
		return story_put_stack_sample(s, t, 40, 40, 6);
	case 26:
		return story_put_switch(s, t, 0, 40, 11, DEAD);
	case 27: /* the same tid again */
		return story_put_fork(s, t, 10, 40, 40);
	case 28:
		return story_put_switch(s, t, 0, 11, 40, READY);
	case 29: /* a main thread ends before its process */
		story_put_fork(s, t, 20, 20, 21);
		return put_exit(s, t, 20, 20, 2000, "twenty", false);
	case 30:
		return story_put_switch(s, t, 1, 20, 21, DEAD);
	default:
		return;
	}
}

static void play_exec_and_memory(const struct story *s, uint64_t t, unsigned n)
{
	switch (n) {
	case 31: /* over what was mapped, in part */
		return story_put_mapping(s, t, 10, 0x2000, "/lib/b");
	case 32: /* nobody knows 77 */
		return story_put_switch(s, t, 0, 40, 77, READY);
	case 33:
		return story_put_switch(s, t, 0, 77, 11, BLOCKED);
	case 34: /* takes over the id of its process; no other thread has reported its end */
		put_exec(s, t, 10, 11, 1000, "exec");
		return story_put_mapping(s, t, 10, 0x1000, "/bin/exec");
	case 35:
		put_named(s, t - 5, 7);
		put_alloc(s, t - 4, 0xa000, 7);
		return put_watch(s, t);
	case 36:
		return put_alloc(s, t, 0xb000, 7);
	case 37:
		put_open(s, t, 5);
		return put_usage(s, t, 7);
	case 38:
		return put_free(s, t, 0xa000);
	case 39:
		put_snapshot(s, t, 2, 0);
		return put_block(s, t, 0xb000);
	case 40: /* (the end of it comes later) */
		return put_block(s, STORY_AT(39), 0xc000);
	case 42:
		return put_alloc(s, t, 0xd000, 7);
	case 43: /* 21 was woken by the thread that ended */
		return put_gone(s, t, 1);
	case 44:
		put_snapshot(s, t, 1, SNAPSHOT_FINAL);
		put_block(s, t, 0xd000);
		return put_watched(s, t);
	case 45: /* it was never said that its process runs on CPU 1 */
		return story_put_switch(s, t, 1, 0, 21, READY);
	case 46:
		return put_exit(s, t, 20, 21, STORY_AT(29), "child", true);
	case 47:
		return story_put_switch(s, t, 1, 21, 0, DEAD);
	default:
		return;
	}
}

void story_play(const struct story *s, unsigned n)
{
	const uint64_t t = STORY_AT(n);

	if (n < 15)
		play_schedule(s, t, n);
	else if (n < 31)
		play_losses_and_ends(s, t, n);
	else
		play_exec_and_memory(s, t, n);
}

/* ---- who there is, and who listens ---- */

static int after_record(void *userdata)
{
	(void)userdata;
	return 0;
}

static bool ask(uint32_t tid, void *userdata)
{
	(void)tid;
	(void)userdata;
	return true;
}

static bool take_memory(struct outbuf *ret, void *userdata)
{
	struct outbuf *memory = userdata;

	*ret = *memory;
	*memory = (struct outbuf){ 0 };
	return ret->size > 0;
}

static void look(uint32_t pid, void *userdata)
{
	(void)pid;
	(void)userdata;
}

struct pipeline_owner story_owner(struct outbuf *memory)
{
	return (struct pipeline_owner){ .after_record = after_record,
					.ask = ask,
					.take_memory = take_memory,
					.look = look,
					.userdata = memory };
}

void story_list(struct outbuf *tasks, uint32_t pid, uint32_t tid, uint64_t start_ns,
		const char *comm, uint32_t flags)
{
	struct rec_task rec = { REC(rec_task, REC_TASK, STORY_BASE, 0, pid, tid),
				.task = story_identity(pid, tid, start_ns, comm) };

	rec.task.flags |= flags | IDENTITY_SELECTED;
	assert_int_equal(outbuf_append(tasks, &rec, sizeof(rec)), 0);
}

void story_list_all(struct outbuf *tasks)
{
	story_list(tasks, 1, 1, 100, "init", 0);
	story_list(tasks, 2, 2, 200, "kthreadd", 0);
	story_list(tasks, 2, 30, 3000, "kworker", 0);
	story_list(tasks, 10, 10, 1000, "ten", IDENTITY_ON_CPU);
	story_list(tasks, 10, 11, 1100, "eleven", 0);
	story_list(tasks, 20, 20, 2000, "twenty", 0);
}
