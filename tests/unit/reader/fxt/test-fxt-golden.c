/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The FXT reader's results for a record of every type, compared with records that were made by hand
 * (support/fxt-golden.h).
 */
#include "reader/fxt/fxt-check.h"
#include "tests/support/fixtures/golden-archive.h"
#include "tests/support/unit.h"

TEST(test_golden_frames)
{
	struct golden_archive *f = *state;
	const struct fxt_record *record;
	uint64_t offset = 0;

	for (int i = 0; i < GOLDEN_MAX; i++) {
		assert_int_equal(fxt_reader_next(f->reader, &record), FXT_READER_RECORD);
		assert_int_equal(record->offset, offset);
		assert_int_equal(record->n_words, golden_records[i].n_words);
		assert_memory_equal(record->words, golden_records[i].words, 8 * record->n_words);
		offset += 8 * record->n_words;
	}
	assert_int_equal(fxt_reader_next(f->reader, &record), FXT_READER_END);
	assert_int_equal(fxt_reader_next(f->reader, &record), FXT_READER_END);
	assert_int_equal(fxt_reader_offset(f->reader), offset);
}

TEST(test_golden_metadata)
{
	struct golden_archive *f = *state;
	const struct fxt_record *r = golden_read_to(f->reader, GOLDEN_PROVIDER_INFO);

	assert_int_equal(r->type, FXT_RECORD_METADATA);
	assert_int_equal(r->subtype, FXT_METADATA_PROVIDER_INFO);
	assert_int_equal(r->metadata.provider_id, 7);
	golden_assert_text(&r->name, "kymo-test");
	assert_string_equal(r->provider->name, "kymo-test");
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->subtype, FXT_METADATA_PROVIDER_SECTION);
	assert_int_equal(r->metadata.provider_id, 7);
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->subtype, FXT_METADATA_PROVIDER_EVENT);
	assert_int_equal(r->metadata.number, FXT_PROVIDER_EVENT_BUFFER_FILLED);
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->initialization.ticks_per_second, 2000000000);
}

TEST(test_golden_tables)
{
	struct golden_archive *f = *state;
	const struct fxt_record *r = golden_read_to(f->reader, GOLDEN_STRING);

	assert_int_equal(r->string.index, 1);
	golden_assert_text(&r->name, "category");
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->string.index, 2);
	golden_assert_text(&r->name, "\u00e4");
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->thread_record.index, 3);
	assert_int_equal(r->thread.pid, 1000);
	assert_int_equal(r->thread.tid, 1001);
}

TEST(test_golden_instant)
{
	struct golden_archive *f = *state;
	const struct fxt_record *r = golden_read_to(f->reader, GOLDEN_INSTANT);
	struct fxt_args it = r->args;
	struct fxt_arg arg;

	assert_int_equal(r->type, FXT_RECORD_EVENT);
	assert_int_equal(r->subtype, FXT_EVENT_INSTANT);
	assert_int_equal(r->ts_ticks, 2000);
	assert_int_equal(r->ts_ns, 1000);
	assert_true(r->thread.defined);
	assert_int_equal(r->thread.pid, 5);
	assert_int_equal(r->thread.tid, 6);
	golden_assert_text(&r->category, "category");
	golden_assert_text(&r->name, "now");
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_END);
}

static void next_arg(struct fxt_args *it, struct fxt_arg *arg, unsigned type, const char *name)
{
	assert_int_equal(fxt_args_next(it, arg), FXT_ARGS_NEXT);
	assert_int_equal(arg->type, type);
	golden_assert_text(&arg->name, name);
}

TEST(test_golden_arguments)
{
	struct golden_archive *f = *state;
	const struct fxt_record *r = golden_read_to(f->reader, GOLDEN_COUNTER);
	struct fxt_args it = r->args;
	struct fxt_arg arg;

	assert_int_equal(r->subtype, FXT_EVENT_COUNTER);
	assert_int_equal(r->event.value, 77);
	next_arg(&it, &arg, FXT_ARG_NULL, "n");
	next_arg(&it, &arg, FXT_ARG_INT32, "i");
	assert_int_equal(arg.int32, -5);
	next_arg(&it, &arg, FXT_ARG_UINT32, "u");
	assert_int_equal(arg.uint32, 4000000000u);
	next_arg(&it, &arg, FXT_ARG_INT64, "I");
	assert_true(arg.int64 == -(INT64_C(1) << 40));
	next_arg(&it, &arg, FXT_ARG_UINT64, "U");
	assert_true(arg.uint64 == UINT64_MAX);
	next_arg(&it, &arg, FXT_ARG_DOUBLE, "d");
	assert_true(arg.real == 1.5);
	next_arg(&it, &arg, FXT_ARG_STRING, "s");
	golden_assert_text(&arg.text, "str");
	next_arg(&it, &arg, FXT_ARG_POINTER, "p");
	assert_int_equal(arg.uint64, 0xdeadbeef);
	next_arg(&it, &arg, FXT_ARG_KOID, "k");
	assert_int_equal(arg.uint64, 1001);
	next_arg(&it, &arg, FXT_ARG_BOOL, "b");
	assert_true(arg.boolean);
	next_arg(&it, &arg, FXT_ARG_BLOB, "B");
	assert_int_equal(arg.blob.size, 3);
	assert_memory_equal(arg.blob.data, "\1\2\3", 3);
	assert_int_equal(fxt_args_next(&it, &arg), FXT_ARGS_END);
}

TEST(test_golden_event_types)
{
	static const uint64_t values[] = { 0, 0, 8000, 11, 11, 11, 12, 12, 12 };
	struct golden_archive *f = *state;
	const struct fxt_record *r;

	golden_read_to(f->reader, GOLDEN_COUNTER);
	for (unsigned i = 0; i < ARRAY_SIZE(values); i++) {
		struct fxt_args it;
		struct fxt_arg arg;

		assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
		assert_int_equal(r->type, FXT_RECORD_EVENT);
		assert_int_equal(r->subtype, FXT_EVENT_DURATION_BEGIN + i);
		assert_int_equal(r->event.value, values[i]);
		assert_int_equal(r->thread.tid, 1001);
		it = r->args;
		next_arg(&it, &arg, FXT_ARG_INT32, "\u00e4");
		assert_int_equal(arg.int32, 9);
		if (r->subtype == FXT_EVENT_DURATION_COMPLETE)
			assert_int_equal(r->event.end_ns, 4000);
	}
}

TEST(test_golden_blob_and_objects)
{
	struct golden_archive *f = *state;
	const struct fxt_record *r = golden_read_to(f->reader, GOLDEN_BLOB);
	struct fxt_args it;
	struct fxt_arg arg;

	assert_int_equal(r->blob.type, FXT_BLOB_DATA);
	assert_int_equal(r->blob.size, 5);
	assert_memory_equal(r->blob.data, "bytes", 5);
	golden_assert_text(&r->name, "\u00e4");
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->userspace_object.pointer, 0xabc);
	assert_int_equal(r->thread.pid, 1000);
	golden_assert_text(&r->name, "object");
	it = r->args;
	next_arg(&it, &arg, FXT_ARG_INT32, "\u00e4");
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->kernel_object.type, FXT_OBJECT_THREAD);
	assert_int_equal(r->kernel_object.koid, 1001);
	golden_assert_text(&r->name, "worker");
	it = r->args;
	next_arg(&it, &arg, FXT_ARG_KOID, "process");
	assert_int_equal(arg.uint64, 1000);
}

TEST(test_golden_scheduling)
{
	struct golden_archive *f = *state;
	const struct fxt_record *r = golden_read_to(f->reader, GOLDEN_LEGACY_SWITCH);

	assert_int_equal(r->subtype, FXT_SCHED_LEGACY_SWITCH);
	assert_int_equal(r->ts_ns, 5000);
	assert_int_equal(r->sw.cpu, 2);
	assert_int_equal(r->sw.out_state, FXT_STATE_BLOCKED);
	assert_int_equal(r->sw.out_pid, 1000);
	assert_int_equal(r->sw.out_tid, 1001);
	assert_int_equal(r->sw.in_pid, 8);
	assert_int_equal(r->sw.in_tid, 9);
	assert_int_equal(r->sw.out_priority, 1);
	assert_int_equal(r->sw.in_priority, 2);
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->subtype, FXT_SCHED_SWITCH);
	assert_int_equal(r->ts_ns, 6000);
	assert_int_equal(r->sw.cpu, 300);
	assert_int_equal(r->sw.out_state, FXT_STATE_RUNNING);
	assert_int_equal(r->sw.out_tid, 1001);
	assert_int_equal(r->sw.in_tid, 1002);
	assert_int_equal(r->args.n_left, 1);
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->subtype, FXT_SCHED_WAKEUP);
	assert_int_equal(r->wake.cpu, 300);
	assert_int_equal(r->wake.tid, 1001);
}

TEST(test_golden_log_and_profiler)
{
	struct golden_archive *f = *state;
	const struct fxt_record *r = golden_read_to(f->reader, GOLDEN_LOG);

	golden_assert_text(&r->name, "hello, log");
	assert_int_equal(r->thread.tid, 1001);
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->subtype, FXT_PROFILER_MODULE);
	assert_int_equal(r->module.id, 4);
	golden_assert_text(&r->name, "libc");
	assert_int_equal(r->module.build_id_size, 3);
	assert_memory_equal(r->module.build_id, "\xaa\xbb\xcc", 3);
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->subtype, FXT_PROFILER_MMAP);
	assert_int_equal(r->mmap.flags, 5);
	assert_int_equal(r->mmap.start, 0x1000);
	assert_int_equal(r->mmap.range, 0x2000);
	assert_int_equal(r->mmap.vaddr, 0x3000);
	assert_int_equal(r->thread.pid, 1000);
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->subtype, FXT_PROFILER_BACKTRACE);
	assert_int_equal(r->backtrace.n_frames, 3);
	assert_int_equal(r->backtrace.frames[2], 0x33);
}

TEST(test_golden_large)
{
	struct golden_archive *f = *state;
	const struct fxt_record *r = golden_read_to(f->reader, GOLDEN_LARGE_BLOB);

	assert_int_equal(r->type, FXT_RECORD_LARGE);
	assert_int_equal(r->subtype, FXT_LARGE_BLOB_METADATA);
	golden_assert_text(&r->category, "category");
	golden_assert_text(&r->name, "big");
	assert_int_equal(r->ts_ns, 11000);
	assert_int_equal(r->thread.tid, 6);
	assert_int_equal(r->args.n_left, 1);
	assert_int_equal(r->blob.size, 9);
	assert_memory_equal(r->blob.data, "ninebytes", 9);
	assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
	assert_int_equal(r->subtype, FXT_LARGE_BLOB_NO_METADATA);
	assert_int_equal(r->blob.size, 4);
	assert_int_equal(r->args.n_left, 0);
}

/* The check only finds that one of them has an unknown type. */
TEST(test_golden_is_clean)
{
	struct golden_archive *f = *state;
	const struct fxt_record *r;

	for (int i = 0; i < GOLDEN_MAX; i++) {
		struct fxt_findings findings;

		assert_int_equal(fxt_reader_next(f->reader, &r), FXT_READER_RECORD);
		fxt_check_record(r, &findings);
		assert_int_equal(findings.n_errors, 0);
		assert_int_equal(findings.n > 0 &&
					 findings.list[0].id == FXT_FINDING_RECORD_UNKNOWN,
				 i == GOLDEN_UNKNOWN);
	}
}

#define WITH_ARCHIVE(test) cmocka_unit_test_setup_teardown(test, golden_set_up, golden_tear_down)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_ARCHIVE(test_golden_frames),           WITH_ARCHIVE(test_golden_metadata),
		WITH_ARCHIVE(test_golden_tables),           WITH_ARCHIVE(test_golden_instant),
		WITH_ARCHIVE(test_golden_arguments),        WITH_ARCHIVE(test_golden_event_types),
		WITH_ARCHIVE(test_golden_blob_and_objects), WITH_ARCHIVE(test_golden_scheduling),
		WITH_ARCHIVE(test_golden_log_and_profiler), WITH_ARCHIVE(test_golden_large),
		WITH_ARCHIVE(test_golden_is_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
