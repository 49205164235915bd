/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The set of all kinds of events: written, read, and compared with the golden file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/archive-fixture.h"
#include "tests/support/fixtures/archive-text.h"
#include "tests/support/fixtures/event-set.h"
#include "tests/support/fixtures/golden-file.h"
#include "tests/support/unit.h"

/* ---- the set: written and read ---- */

static uint64_t weight(enum fxt_name name, int32_t prio)
{
	return fxt_arg32(FXT_ARG_INT32, name, (uint32_t)prio);
}

static enum fxt_name letter_name(char letter)
{
	switch (letter) {
	case 'D':
		return FXT_NAME_STATE_D;
	case 't':
		return FXT_NAME_STATE_t;
	default:
		assert_int_equal(letter, 'X');
		return FXT_NAME_STATE_X;
	}
}

/* The words that a program writes for EV (bpf/sched.bpf.c). */
static unsigned words_of(const struct event *ev, uint64_t *words)
{
	unsigned n = 0;

	words[1] = ev->ts_ns;
	switch (ev->kind) {
	case EVENT_SWITCH:
		n = ev->sw.state ? 7 : 6;
		words[0] = fxt_switch_header(n, n - 4, ev->cpu, ev->sw.out_state);
		words[2] = ev->tid;
		words[3] = ev->sw.next_tid;
		words[4] = weight(FXT_NAME_OUTGOING_WEIGHT, ev->sw.prev_prio);
		words[5] = weight(FXT_NAME_INCOMING_WEIGHT, ev->sw.next_prio);
		if (ev->sw.state)
			words[6] = fxt_arg32(FXT_ARG_STRING, FXT_NAME_PREV_STATE,
					     letter_name(ev->sw.state));
		break;
	case EVENT_WAKE:
		n = ev->wake.waker_tid ? 6 : 4;
		words[0] = fxt_wakeup_header(n, n == 6 ? 2 : 1, ev->cpu);
		words[2] = ev->tid;
		words[3] = weight(FXT_NAME_WEIGHT, ev->wake.prio);
		words[4] = fxt_arg64(FXT_ARG_KOID, FXT_NAME_WAKER);
		words[5] = ev->wake.waker_tid;
		break;
	case EVENT_MIGRATE:
		n = 6;
		words[0] = fxt_put_record_type(FXT_RECORD_EVENT) | fxt_put_record_words(n) |
			   fxt_put_event_n_args(2) | fxt_put_event_category(FXT_NAME_SCHED) |
			   fxt_put_event_name(FXT_NAME_MIGRATE);
		words[2] = ev->pid;
		words[3] = ev->tid;
		words[4] = fxt_arg32(FXT_ARG_UINT32, FXT_NAME_FROM_CPU, ev->migrate.from_cpu);
		words[5] = fxt_arg32(FXT_ARG_UINT32, FXT_NAME_TO_CPU, ev->migrate.to_cpu);
		break;
	default:
		break;
	}
	if (ev->kind == EVENT_SWITCH && ev->sw.synthetic)
		return 0;
	return n;
}

static void write_set(struct fixture *f)
{
	size_t n;
	const struct event *set = event_set(&n);

	for (size_t i = 0; i < n; i++) {
		uint64_t words[7];
		unsigned n_words = words_of(&set[i], words);

		if (n_words)
			assert_int_equal(fxt_archive_words(&f->a, words, n_words), 0);
		else
			assert_int_equal(fxt_archive_event(&f->a, &set[i]), 0);
	}
}

/* The state of the comparison. */
struct back {
	const struct event *next;
	size_t left;
	bool thread_comes; /* for the task whose process was the last event */
};

static void assert_same_text(const char *is, const char *want)
{
	assert_string_equal(is, want);
}

static void assert_same_value(const struct call_value *is, const struct call_value *want)
{
	assert_string_equal(is->name, want->name);
	assert_int_equal(is->form, want->form);
	if (want->form == CALL_VALUE_TEXT)
		assert_string_equal(is->text, want->text);
	else if (want->form == CALL_VALUE_BOOL)
		assert_int_equal(is->yes, want->yes);
	else if (want->form != CALL_VALUE_NONE)
		assert_int_equal(is->u64, want->u64);
}

static void assert_same_task(const struct event *is, const struct event *want, bool thread)
{
	const bool process = want->task.is_process && !thread;

	assert_same_text(is->task.comm, want->task.comm);
	assert_same_text(is->task.command_line, process ? want->task.command_line : "");
	assert_same_text(is->task.cgroup_path ?: "", process ? want->task.cgroup_path ?: "" : "");
	assert_int_equal(is->pid, want->pid);
	assert_int_equal(is->tid, process ? 0 : want->tid);
	assert_int_equal(is->task.is_process, process);
	assert_int_equal(is->task.start_ns, want->task.start_ns);
	assert_int_equal(is->task.real_tid, want->task.real_tid);
	assert_int_equal(is->task.cgroup_id, process ? want->task.cgroup_id : 0);
	assert_int_equal(is->task.parent_pid, process ? want->task.parent_pid : 0);
	assert_int_equal(is->task.uid, process ? want->task.uid : 0);
}

static void assert_same_start(const struct event *is, const struct event *want)
{
	assert_same_text(is->start.session, want->start.session);
	assert_same_text(is->start.command, want->start.command);
	assert_same_text(is->start.options, want->start.options);
	assert_same_text(is->start.kernel, want->start.kernel);
	assert_same_text(is->start.machine, want->start.machine);
	assert_same_text(is->start.host, want->start.host);
	assert_same_text(is->start.version, want->start.version);
	assert_int_equal(is->start.n_cpus, want->start.n_cpus);
	assert_int_equal(is->start.chunk, want->start.chunk);
	assert_int_equal(is->start.first_ns, want->start.first_ns);
	assert_int_equal(is->start.filtered, want->start.filtered);
}

static void assert_same_stop(const struct event *is, const struct event *want)
{
	assert_same_text(is->stop.reason, want->stop.reason);
	assert_int_equal(is->stop.events, want->stop.events);
	assert_int_equal(is->stop.bytes, want->stop.bytes);
	assert_int_equal(is->stop.lost, want->stop.lost);
	assert_int_equal(is->stop.dismissed, want->stop.dismissed);
	assert_int_equal(is->stop.unreported, want->stop.unreported);
	assert_int_equal(is->stop.daemon_cpu_ns, want->stop.daemon_cpu_ns);
	assert_int_equal(is->stop.bpf_cpu_ns, want->stop.bpf_cpu_ns);
}

static void assert_same_shed(const struct event *is, const struct event *want)
{
	assert_same_text(is->shed.what, want->shed.what);
	assert_int_equal(is->shed.cost_ppm, want->shed.cost_ppm);
	assert_int_equal(is->shed.limit_ppm, want->shed.limit_ppm);
	assert_int_equal(is->shed.n_cpus, want->shed.n_cpus);
	assert_int_equal(is->shed.back, want->shed.back);
}

static void assert_same_trigger(const struct event *is, const struct event *want)
{
	assert_same_text(is->trigger.what, want->trigger.what);
	assert_int_equal(is->trigger.value, want->trigger.value);
	assert_int_equal(is->trigger.limit, want->trigger.limit);
	assert_int_equal(is->trigger.count, want->trigger.count);
	assert_int_equal(is->trigger.thread, want->trigger.thread);
}

static void assert_same_sched(const struct event *is, const struct event *want)
{
	if (want->kind == EVENT_WAKE) {
		assert_int_equal(is->wake.waker_tid, want->wake.waker_tid);
		assert_int_equal(is->wake.prio, want->wake.prio);
		return;
	}
	if (want->kind == EVENT_MIGRATE) {
		assert_int_equal(is->migrate.from_cpu, want->migrate.from_cpu);
		assert_int_equal(is->migrate.to_cpu, want->migrate.to_cpu);
		return;
	}
	assert_int_equal(is->sw.next_tid, want->sw.next_tid);
	assert_int_equal(is->sw.prev_prio, want->sw.prev_prio);
	assert_int_equal(is->sw.next_prio, want->sw.next_prio);
	assert_int_equal(is->sw.out_state, want->sw.out_state);
	assert_int_equal(is->sw.state, want->sw.state);
	assert_int_equal(is->sw.synthetic, want->sw.synthetic);
}

static void assert_same_interval(const struct event *is, const struct event *want)
{
	assert_int_equal(is->interval.kind, want->interval.kind);
	assert_same_text(is->interval.name, want->interval.name);
	assert_int_equal(is->interval.end_ns, want->interval.end_ns);
	assert_int_equal(is->interval.number, want->interval.number);
	assert_int_equal(is->interval.handled, want->interval.handled);
}

static void assert_same_counter(const struct event *is, const struct event *want)
{
	assert_same_text(is->counter.category, want->counter.category);
	assert_same_text(is->counter.name, want->counter.name);
	assert_int_equal(is->counter.id, want->counter.id);
	assert_int_equal(is->counter.n_values, want->counter.n_values);
	for (unsigned i = 0; i < want->counter.n_values; i++) {
		assert_same_text(is->counter.values[i].name, want->counter.values[i].name);
		assert_int_equal(is->counter.values[i].whole, want->counter.values[i].whole);
		assert_int_equal(is->counter.values[i].u64, want->counter.values[i].u64);
	}
}

static void assert_same_mapping(const struct event *is, const struct event *want)
{
	assert_same_text(is->mapping.path, want->mapping.path);
	assert_int_equal(is->mapping.build_id_size, want->mapping.build_id_size);
	if (want->mapping.build_id_size)
		assert_memory_equal(is->mapping.build_id, want->mapping.build_id,
				    want->mapping.build_id_size);
	assert_int_equal(is->mapping.start, want->mapping.start);
	assert_int_equal(is->mapping.size, want->mapping.size);
	assert_int_equal(is->mapping.file_offset, want->mapping.file_offset);
	assert_int_equal(is->mapping.module_id, want->mapping.module_id);
	assert_int_equal(is->mapping.device, want->mapping.device);
	assert_int_equal(is->mapping.inode, want->mapping.inode);
}

static void assert_same_frame(const struct event *is, const struct event *want)
{
	assert_int_equal(is->frame.process, want->frame.process);
	assert_int_equal(is->frame.address, want->frame.address);
	assert_int_equal(is->frame.depth, want->frame.depth);
	assert_int_equal(is->frame.line, want->frame.line);
	assert_same_text(is->frame.function, want->frame.function);
	assert_same_text(is->frame.source, want->frame.source);
	assert_same_text(is->frame.module, want->frame.module);
}

static void assert_same_block(const struct event *is, const struct event *want)
{
	assert_int_equal(is->block.resource, want->block.resource);
	assert_int_equal(is->block.id, want->block.id);
	assert_int_equal(is->block.size, want->block.size);
	assert_int_equal(is->block.stack, want->block.stack);
	assert_int_equal(is->block.since_ns, want->block.since_ns);
	assert_int_equal(is->block.thread, want->block.thread);
	assert_int_equal(is->block.context, want->block.context);
	assert_int_equal(is->block.reach, want->block.reach);
	assert_same_text(is->block.function, want->block.function);
	assert_same_text(is->block.text, want->block.text);
}

static void assert_same_memory(const struct event *is, const struct event *want)
{
	switch (want->kind) {
	case EVENT_WATCH_BEGIN:
		assert_same_text(is->watch.resources, want->watch.resources);
		assert_same_text(is->watch.allocators, want->watch.allocators);
		assert_int_equal(is->watch.complete, want->watch.complete);
		assert_int_equal(is->watch.interval, want->watch.interval);
		assert_int_equal(is->watch.min_bytes, want->watch.min_bytes);
		assert_same_text(is->watch.unwatched, want->watch.unwatched);
		break;
	case EVENT_WATCH_END:
		assert_same_text(is->watched.reason, want->watched.reason);
		assert_int_equal(is->watched.unmatched, want->watched.unmatched);
		assert_int_equal(is->watched.failed, want->watched.failed);
		assert_int_equal(is->watched.lost, want->watched.lost);
		assert_int_equal(is->watched.full, want->watched.full);
		assert_int_equal(is->watched.no_stack, want->watched.no_stack);
		assert_same_text(is->watched.gap, want->watched.gap);
		assert_same_text(is->watched.unsearched, want->watched.unsearched);
		assert_int_equal(is->watched.vforked, want->watched.vforked);
		assert_int_equal(is->watched.searched, want->watched.searched);
		break;
	case EVENT_ALLOC:
	case EVENT_FREE:
	case EVENT_BLOCK:
		assert_same_block(is, want);
		break;
	case EVENT_USAGE:
		assert_memory_equal(&is->usage, &want->usage, sizeof(want->usage));
		break;
	case EVENT_SNAPSHOT:
		assert_int_equal(is->snapshot.blocks, want->snapshot.blocks);
		assert_int_equal(is->snapshot.sequence, want->snapshot.sequence);
		assert_int_equal(is->snapshot.final, want->snapshot.final);
		assert_int_equal(is->snapshot.lost, want->snapshot.lost);
		break;
	case EVENT_CONTEXT:
		assert_same_text(is->context.name, want->context.name);
		assert_int_equal(is->context.id, want->context.id);
		assert_int_equal(is->context.begin, want->context.begin);
		break;
	default:
		fail();
	}
}

static void assert_same_offcpu(const struct event *is, const struct event *want)
{
	assert_int_equal(is->offcpu.end_ns, want->offcpu.end_ns);
	assert_int_equal(is->offcpu.waker_tid, want->offcpu.waker_tid);
	assert_int_equal(is->offcpu.state, want->offcpu.state);
	assert_string_equal(is->offcpu.left_by ?: "", want->offcpu.left_by ?: "");
	assert_string_equal(is->offcpu.begun ?: "", want->offcpu.begun ?: "");
	assert_int_equal(is->offcpu.woken_ns, want->offcpu.woken_ns);
	assert_string_equal(is->offcpu.syscall ?: "", want->offcpu.syscall ?: "");
	assert_int_equal(is->offcpu.fd, want->offcpu.fd);
	assert_int_equal(is->offcpu.address, want->offcpu.address);
	assert_int_equal(is->offcpu.owner_tid, want->offcpu.owner_tid);
	assert_string_equal(is->offcpu.reason ?: "", want->offcpu.reason ?: "");
	assert_string_equal(is->offcpu.context ?: "", want->offcpu.context ?: "");
	assert_int_equal(is->offcpu.waker_stack, want->offcpu.waker_stack);
	assert_int_equal(is->offcpu.quota_ns, want->offcpu.quota_ns);
	assert_int_equal(is->offcpu.period_ns, want->offcpu.period_ns);
	assert_string_equal(is->offcpu.cgroup_path ?: "", want->offcpu.cgroup_path ?: "");
}

static void assert_same_profile(const struct event *is, const struct event *want)
{
	switch (want->kind) {
	case EVENT_SAMPLING:
		assert_int_equal(is->sampling.frequency, want->sampling.frequency);
		assert_same_text(is->sampling.clock, want->sampling.clock);
		assert_int_equal(is->sampling.threshold_ns, want->sampling.threshold_ns);
		break;
	case EVENT_MAPPING:
		assert_same_mapping(is, want);
		break;
	case EVENT_FRAME:
		assert_same_frame(is, want);
		break;
	case EVENT_OFFCPU:
		assert_same_offcpu(is, want);
		break;
	case EVENT_SAMPLE:
		assert_int_equal(is->sample.n_frames, want->sample.n_frames);
		assert_memory_equal(is->sample.frames, want->sample.frames,
				    want->sample.n_frames * sizeof(uint64_t));
		assert_int_equal(is->sample.kind, want->sample.kind);
		assert_int_equal(is->sample.id, want->sample.id);
		break;
	case EVENT_CALL:
		assert_string_equal(is->call.function, want->call.function);
		assert_int_equal(is->call.end_ns, want->call.end_ns);
		assert_int_equal(is->call.n_args, want->call.n_args);
		for (unsigned i = 0; i < is->call.n_args; i++)
			assert_same_value(&is->call.args[i], &want->call.args[i]);
		assert_same_value(&is->call.result, &want->call.result);
		assert_int_equal(is->call.return_address, want->call.return_address);
		assert_int_equal(is->call.stack, want->call.stack);
		assert_string_equal(is->call.left_by, want->call.left_by);
		break;
	case EVENT_TRACEPOINT:
		assert_string_equal(is->tracepoint.name, want->tracepoint.name);
		assert_int_equal(is->tracepoint.n_args, want->tracepoint.n_args);
		for (unsigned i = 0; i < is->tracepoint.n_args; i++)
			assert_same_value(&is->tracepoint.args[i], &want->tracepoint.args[i]);
		break;
	case EVENT_REQUEST:
		assert_string_equal(is->request.op, want->request.op);
		assert_string_equal(is->request.disk, want->request.disk);
		assert_int_equal(is->request.device, want->request.device);
		assert_int_equal(is->request.sector, want->request.sector);
		assert_int_equal(is->request.bytes, want->request.bytes);
		assert_int_equal(is->request.queued_ns, want->request.queued_ns);
		assert_int_equal(is->request.issued_ns, want->request.issued_ns);
		assert_int_equal(is->request.end_ns, want->request.end_ns);
		assert_int_equal(is->request.thread, want->request.thread);
		assert_int_equal(is->request.error, want->request.error);
		break;
	case EVENT_LEFT_OUT:
		assert_string_equal(is->left_out.function, want->left_out.function);
		assert_int_equal(is->left_out.count, want->left_out.count);
		break;
	case EVENT_OTHER_FILE:
		assert_string_equal(is->other_file.file, want->other_file.file);
		assert_string_equal(is->other_file.path, want->other_file.path);
		break;
	case EVENT_MOMENT_POINT:
		assert_int_equal(is->moment_point.number, want->moment_point.number);
		assert_string_equal(is->moment_point.plan, want->moment_point.plan);
		break;
	case EVENT_MOMENT:
		assert_int_equal(is->moment.point, want->moment.point);
		assert_int_equal(is->moment.hit, want->moment.hit);
		assert_int_equal(is->moment.stack, want->moment.stack);
		assert_int_equal(is->moment.n_bytes, want->moment.n_bytes);
		assert_memory_equal(is->moment.data, want->moment.data, want->moment.n_bytes);
		break;
	default:
		assert_same_memory(is, want);
	}
}

static void assert_same_detail(const struct event *is, const struct event *want)
{
	switch (want->kind) {
	case EVENT_SWITCH:
	case EVENT_WAKE:
	case EVENT_MIGRATE:
		assert_same_sched(is, want);
		break;
	case EVENT_FORK:
		assert_int_equal(is->fork.child_pid, want->fork.child_pid);
		assert_int_equal(is->fork.child_tid, want->fork.child_tid);
		break;
	case EVENT_EXEC:
		assert_same_text(is->exec.file, want->exec.file);
		assert_same_text(is->exec.command_line, want->exec.command_line);
		assert_int_equal(is->exec.old_tid, want->exec.old_tid);
		break;
	case EVENT_EXIT:
		assert_int_equal(is->exit.code, want->exit.code);
		assert_int_equal(is->exit.signal, want->exit.signal);
		assert_int_equal(is->exit.process_ends, want->exit.process_ends);
		break;
	case EVENT_RENAME:
		assert_same_text(is->rename.from, want->rename.from);
		assert_same_text(is->rename.to, want->rename.to);
		break;
	case EVENT_LOST:
		assert_same_text(is->lost.class_name, want->lost.class_name);
		assert_int_equal(is->lost.count, want->lost.count);
		assert_int_equal(is->lost.first_ns, want->lost.first_ns);
		assert_int_equal(is->lost.last_ns, want->lost.last_ns);
		break;
	case EVENT_DAMAGE:
		assert_int_equal(is->damage.offset, want->damage.offset);
		assert_int_equal(is->damage.bytes, want->damage.bytes);
		assert_same_text(is->damage.what, want->damage.what);
		break;
	case EVENT_PART:
		assert_same_text(is->part.what, want->part.what);
		assert_int_equal(is->part.id, want->part.id);
		assert_int_equal(is->part.first_ns, want->part.first_ns);
		assert_int_equal(is->part.behind_ns, want->part.behind_ns);
		break;
	case EVENT_MARK:
		assert_same_text(is->mark.text, want->mark.text);
		break;
	case EVENT_SHED:
		assert_same_shed(is, want);
		break;
	case EVENT_TRIGGER:
		assert_same_trigger(is, want);
		break;
	case EVENT_CLOCK:
		assert_memory_equal(&is->clock, &want->clock, sizeof(want->clock));
		break;
	case EVENT_START:
		assert_same_start(is, want);
		break;
	case EVENT_STACKS:
		assert_memory_equal(&is->stacks, &want->stacks, sizeof(want->stacks));
		break;
	case EVENT_PYTHON:
		assert_memory_equal(is->python.stacks, want->python.stacks,
				    sizeof(want->python.stacks));
		assert_same_text(is->python.version ?: "", want->python.version ?: "");
		break;
	case EVENT_STOP:
		assert_same_stop(is, want);
		break;
	case EVENT_INTERVAL:
		assert_same_interval(is, want);
		break;
	case EVENT_COUNTER:
		assert_same_counter(is, want);
		break;
	default:
		assert_same_profile(is, want);
	}
}

static void compare(const struct event *is, void *userdata)
{
	struct back *b = userdata;
	const struct event *want = b->next;

	/* The kernel objects that come with other events. */
	if (is->kind == EVENT_TASK && (want->kind == EVENT_START || want->kind == EVENT_INTERVAL ||
				       want->kind == EVENT_COUNTER || want->kind == EVENT_MAPPING ||
				       want->kind == EVENT_FRAME))
		return;
	assert_true(b->left > 0);
	assert_int_equal(is->kind, want->kind);
	if (is->kind == EVENT_TASK) {
		assert_same_task(is, want, b->thread_comes);
		b->thread_comes = want->task.is_process && !b->thread_comes;
		if (b->thread_comes)
			return;
	} else {
		assert_int_equal(is->ts_ns, want->ts_ns);
		assert_int_equal(is->pid, want->kind == EVENT_FRAME ? FXT_KOID_CODE : want->pid);
		assert_int_equal(is->tid, want->kind == EVENT_FRAME ? FXT_KOID_CODE : want->tid);
		assert_int_equal(is->cpu,
				 is->kind == EVENT_MIGRATE ? want->migrate.to_cpu : want->cpu);
		assert_same_detail(is, want);
	}
	b->next++;
	b->left--;
}

TEST(test_round_trip)
{
	struct fixture *f = *state;
	struct back back = { 0 };

	back.next = event_set(&back.left);
	write_set(f);
	archive_events(&f->out, compare, &back);
	assert_int_equal(back.left, 0);
}

/* Mappings, one per line. */
static void mapping_line(const struct event *ev, void *userdata)
{
	if (ev->kind != EVENT_MAPPING)
		return;
	fprintf(userdata, "%llu %u '%s' %llx+%llx @%llx id %u", (unsigned long long)ev->ts_ns,
		ev->pid, ev->mapping.path, (unsigned long long)ev->mapping.start,
		(unsigned long long)ev->mapping.size, (unsigned long long)ev->mapping.file_offset,
		ev->mapping.module_id);
	for (uint32_t i = 0; i < ev->mapping.build_id_size; i++)
		fprintf(userdata, " %02x", ev->mapping.build_id[i]);
	fputc('\n', userdata);
}

static void write_module(struct fixture *f, uint32_t pid, uint32_t id, const char *name)
{
	assert_int_equal(
		fxt_write_module(&f->a.writer,
				 &(struct fxt_module){ 5, { pid, pid }, id, name, "\xab\x01", 2 }),
		0);
}

static void write_mmap(struct fixture *f, uint32_t pid, uint32_t id, unsigned flags)
{
	assert_int_equal(fxt_write_mmap(&f->a.writer,
					&(struct fxt_mmap){
						6, { pid, pid }, id, flags, 0x1000, 0x200, 0x30 }),
			 0);
}

/* Archives of other writers have only module and mmap records. */
TEST(test_foreign_mappings)
{
	const struct event ours = { .kind = EVENT_MAPPING,
				    .ts_ns = 7,
				    .pid = 10,
				    .tid = 11,
				    .mapping = { .path = "/ours", .start = 1, .size = 2 } };
	struct fixture *f = *state;
	_cleanup_free_ char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);

	write_module(f, 20, 1, "libc");
	write_module(f, 20, 1, "libc.so");
	write_mmap(f, 20, 1, 0);
	write_mmap(f, 20, 1, FXT_MMAP_READABLE);
	write_mmap(f, 20, 1, FXT_MMAP_EXECUTABLE);
	/* of a module without a name, also in another process */
	write_mmap(f, 21, 1, 7);
	write_mmap(f, 20, 2, 7);
	/* If there is an event, the records add nothing. */
	write_mmap(f, 10, 3, 7);
	archive_write(f, &ours, 1);
	write_module(f, 10, 1, "late");
	write_mmap(f, 10, 1, 7);
	archive_events(&f->out, mapping_line, to);
	fclose(to);
	assert_string_equal(text, "6 20 'libc.so' 1000+200 @30 id 1 ab 01\n"
				  "6 20 'libc.so' 1000+200 @30 id 1 ab 01\n"
				  "6 21 '' 1000+200 @30 id 1\n"
				  "6 20 '' 1000+200 @30 id 2\n"
				  "6 10 '' 1000+200 @30 id 3\n"
				  "7 10 '/ours' 1+2 @0 id 0\n");
}

/* The set contains all kinds. */
TEST(test_set_has_all_kinds)
{
	bool seen[EVENT_KIND_MAX] = { 0 };
	size_t n;
	const struct event *set = event_set(&n);

	for (size_t i = 0; i < n; i++)
		seen[set[i].kind] = true;
	for (size_t kind = 1; kind < EVENT_KIND_MAX; kind++)
		assert_true(seen[kind]);
}

TEST(test_golden)
{
	struct fixture *f = *state;

	write_set(f);
	assert_golden("fxt/events.fxt", f->out.data, f->out.size);
}

TEST(test_golden_small)
{
	struct fixture *f = *state;
	const struct event events[] = {
		START_EVENT(false),
		{ .kind = EVENT_CLOCK, .ts_ns = 5, .clock = { 5, 4, 6 } },
		{ .kind = EVENT_CLOCK, .ts_ns = 10, .clock = { 10, 9, 11 } },
		{ .kind = EVENT_STOP, .ts_ns = 10, .stop = { .reason = "requested" } },
	};

	archive_write(f, events, ARRAY_SIZE(events));
	assert_golden("fxt/empty-session.fxt", f->out.data, f->out.size);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, archive_set_up, archive_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_round_trip), CASE(test_foreign_mappings), CASE(test_set_has_all_kinds),
		CASE(test_golden),     CASE(test_golden_small),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
