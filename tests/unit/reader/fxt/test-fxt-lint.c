/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lint's findings that depend on the order of the file: the file, strings, arguments, names,
 * profiles, and unseen features. test-fxt-lint-time.c has those that depend on time.
 */
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/lint-build.h"
#include "tests/support/unit.h"

/* The header of a record of N words. */
static uint64_t head(enum fxt_record_type type, unsigned n)
{
	return fxt_put_record_type(type) | fxt_put_record_words(n);
}

static void provider_info(struct build *b, uint32_t id)
{
	RAW(b, head(FXT_RECORD_METADATA, 1) | fxt_put_metadata_type(FXT_METADATA_PROVIDER_INFO) |
		       fxt_put_provider_id(id));
}

/* ---- the file ---- */

static void damage(struct build *b, bool bad)
{
	if (bad)
		RAW(b, 0, 0);
}

static void truncated(struct build *b, bool bad)
{
	RAW(b, fxt_string_header(5, 16));
	if (!bad)
		RAW(b, 0x6161616161616161, 0x6161616161616161);
}

static void magic_wrong(struct build *b, bool bad)
{
	RAW(b, FXT_MAGIC ^ (bad ? UINT64_C(1) << 56 : 0));
}

static void magic_again(struct build *b, bool bad)
{
	if (bad)
		RAW(b, FXT_MAGIC);
}

static void provider_unknown(struct build *b, bool bad)
{
	RAW(b, head(FXT_RECORD_METADATA, 1) | fxt_put_metadata_type(FXT_METADATA_PROVIDER_SECTION) |
		       fxt_put_provider_id(bad ? 9 : 1));
}

static void provider_event_unknown(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_INSTANT, 100, 10, "dropped", 0);
	RAW(b, head(FXT_RECORD_METADATA, 1) | fxt_put_metadata_type(FXT_METADATA_PROVIDER_EVENT) |
		       fxt_put_provider_id(bad ? 9 : 1));
}

static void provider_again(struct build *b, bool bad)
{
	provider_info(b, bad ? 1 : 2);
}

static void string_before_provider(struct build *b, bool bad)
{
	if (!bad)
		provider_info(b, 1);
	RAW(b, fxt_string_header(5, 1), 'a');
	provider_info(b, 2);
}

static void init_missing(struct build *b, bool bad)
{
	provider_info(b, 1);
	if (!bad)
		OK(fxt_write_initialization(&b->w, 1000000000));
	build_instant(b, 100, NULL);
}

static void init_late(struct build *b, bool bad)
{
	build_instant(b, 100, NULL);
	OK(fxt_write_initialization(&b->w, bad ? 2000000000 : 1000000000));
}

static void ticks_inexact(struct build *b, bool bad)
{
	provider_info(b, 1);
	OK(fxt_write_initialization(&b->w, bad ? 2400000000 : 2000000000));
}

static void ticks_odd(struct build *b, bool bad)
{
	provider_info(b, 1);
	OK(fxt_write_initialization(&b->w, bad ? 500 : 1000));
}

static void ticks_odd_fast(struct build *b, bool bad)
{
	provider_info(b, 1);
	OK(fxt_write_initialization(&b->w, UINT64_C(1000000000) << (bad ? 10 : 9)));
}

static void time_huge(struct build *b, bool bad)
{
	build_instant(b, UINT64_C(1) << (bad ? 63 : 62), NULL);
}

static void loss_invisible(struct build *b, bool bad)
{
	OK(fxt_write_provider_event(&b->w, FXT_PROVIDER_EVENT_BUFFER_FILLED));
	build_event(b, FXT_EVENT_INSTANT, 100, 10, bad ? "found" : "Events LOST", 0);
}

/* ---- any record ---- */

static void reserved_bits(struct build *b, bool bad)
{
	RAW(b, head(FXT_RECORD_INITIALIZATION, 2) | fxt_put_initialization_reserved(bad),
	    1000000000);
}

static void padding(struct build *b, bool bad)
{
	RAW(b, fxt_string_header(5, 1), bad ? 'a' | 0x100 : 'a');
}

static void record_unknown(struct build *b, bool bad)
{
	RAW(b, bad ? head(11, 1) : FXT_MAGIC);
}

static void record_trailing(struct build *b, bool bad)
{
	RAW(b, fxt_wakeup_header(bad ? 4 : 3, 0, 0), 100, 11);
	if (bad)
		RAW(b, 0);
}

static void record_trailing_legacy(struct build *b, bool bad)
{
	OK(fxt_write_legacy_switch(
		&b->w,
		&(struct fxt_legacy_switch){
			100, 0, FXT_STATE_BLOCKED, { 10, 10, true }, { 0, 0, true }, 1, 0 }));
	/* 2 words of a header and a time, 4 of threads. */
	RAW(b,
	    head(FXT_RECORD_SCHEDULING, bad ? 7 : 6) | fxt_put_legacy_out_state(FXT_STATE_BLOCKED),
	    200, 0, 0, 0, 0);
	if (bad)
		RAW(b, 0);
}

static void record_trailing_backtrace(struct build *b, bool bad)
{
	OK(fxt_write_module(&b->w, &(struct fxt_module){ 100, { 10, 10 }, 3, "m", NULL, 0 }));
	OK(fxt_write_mmap(&b->w, &(struct fxt_mmap){ 100, { 10, 10 }, 3, 5, 0x1000, 0x1000, 0 }));
	RAW(b,
	    head(FXT_RECORD_PROFILER, 5) | fxt_put_profiler_type(FXT_PROFILER_BACKTRACE) |
		    fxt_put_backtrace_n_frames(bad ? 0 : 1),
	    100, 10, 10, 0x1001);
}

/* A word after a duration begin, which can be an uncounted argument. */
static void record_longer(struct build *b, bool bad)
{
	RAW(b, head(FXT_RECORD_EVENT, bad ? 5 : 4) | fxt_put_event_type(FXT_EVENT_DURATION_BEGIN),
	    100, 10, 10);
	if (bad)
		RAW(b, 1);
	build_event(b, FXT_EVENT_DURATION_END, 110, 10, "", 0);
	/* The scope of an instant is no finding. */
	RAW(b, head(FXT_RECORD_EVENT, 5), 120, 10, 10, 2);
}

static void record_longer_string(struct build *b, bool bad)
{
	RAW(b,
	    (fxt_string_header(5, 1) & ~fxt_put_record_words(15)) |
		    fxt_put_record_words(bad ? 3 : 2),
	    'a');
	if (bad)
		RAW(b, 7);
}

/* An event with N_ARGS arguments in WORDS words, which the caller adds. */
static void event_head(struct build *b, unsigned words, unsigned n_args)
{
	RAW(b, head(FXT_RECORD_EVENT, 4 + words) | fxt_put_event_n_args(n_args), 100, 10, 10);
}

static void arg_longer(struct build *b, bool bad)
{
	RAW(b, fxt_string_header(5, 1), 'a');
	RAW(b, fxt_string_header(6, 1), 'b');
	event_head(b, 3, 1 + !bad);
	RAW(b,
	    fxt_put_arg_type(FXT_ARG_POINTER) | fxt_put_arg_words(bad ? 3 : 2) |
		    fxt_put_arg_name(5),
	    7);
	RAW(b,
	    bad ? 0 : fxt_put_arg_type(FXT_ARG_INT32) | fxt_put_arg_words(1) | fxt_put_arg_name(6));
}

static void arg_name_empty(struct build *b, bool bad)
{
	RAW(b, fxt_string_header(5, 1), 'a');
	event_head(b, 1, 1);
	RAW(b,
	    fxt_put_arg_type(FXT_ARG_INT32) | fxt_put_arg_words(1) | fxt_put_arg_name(bad ? 0 : 5));
}

static void arg_name_twice(struct build *b, bool bad)
{
	RAW(b, fxt_string_header(5, 1), 'a');
	RAW(b, fxt_string_header(6, 1), bad ? 'a' : 'b');
	event_head(b, 2, 2);
	for (unsigned name = 5; name <= 6; name++)
		RAW(b, fxt_put_arg_type(FXT_ARG_INT32) | fxt_put_arg_words(1) |
			       fxt_put_arg_name(name));
}

static void text_nul(struct build *b, bool bad)
{
	RAW(b, fxt_string_header(5, 3), bad ? 0x610061 : 0x616161);
}

static void metadata_unknown(struct build *b, bool bad)
{
	RAW(b, bad ? head(FXT_RECORD_METADATA, 1) | fxt_put_metadata_type(9) : FXT_MAGIC);
}

static void large_long(struct build *b, bool bad)
{
	static const char data[4092 * 8];

	/* Header, format, size and one word of the name's stream. */
	OK(fxt_write_large_blob(&b->w, &(struct fxt_large_blob){
					       .name = fxt_inline("name"),
					       .data = data,
					       .size = sizeof(data) - (bad ? 0 : 8),
				       }));
}

static void blob_type(struct build *b, bool bad)
{
	RAW(b, head(FXT_RECORD_BLOB, 1) | fxt_put_blob_type(bad ? 4 : FXT_BLOB_PERFETTO));
}

/* ---- strings and references ---- */

static void utf8(struct build *b, bool bad)
{
	RAW(b, fxt_string_header(5, 1), bad ? 0xff : 'a');
}

static void utf8_inline(struct build *b, bool bad)
{
	const char text[] = { bad ? (char)0xff : 'a', '\0' };
	const struct fxt_out_arg arg = { FXT_ARG_STRING, fxt_interned("text"),
					 .text = fxt_inline(text) };

	build_instant(b, 100, &arg);
}

static void string_long(struct build *b, bool bad)
{
	static uint64_t text[4001];
	const unsigned n = 32000 + bad;

	memset(text, 0, sizeof(text));
	memset(text, 'a', n);
	RAW(b, fxt_string_header(5, n));
	build_raw(b, text, fxt_stream_words(n));
}

static void name_long(struct build *b, bool bad)
{
	char name[1026] = { 0 };

	memset(name, 'x', bad ? 1025 : 1024);
	build_event(b, FXT_EVENT_INSTANT, 100, 10, name, 0);
}

static void string_undefined(struct build *b, bool bad)
{
	RAW(b, head(FXT_RECORD_EVENT, 4) | fxt_put_event_category(bad ? 77 : 0), 100, 10, 10);
}

/* It is in the other provider's table: tables are not shared. */
static void string_of_another(struct build *b, bool bad)
{
	RAW(b, fxt_string_header(77, 1), 'a');
	if (bad) {
		provider_info(b, 2);
		OK(fxt_write_initialization(&b->w, 1000000000));
	}
	RAW(b, head(FXT_RECORD_EVENT, 4) | fxt_put_event_category(77), 100, 10, 10);
}

static void string_index_0(struct build *b, bool bad)
{
	RAW(b, fxt_string_header(bad ? 0 : 5, 1), 'a');
}

static void string_empty(struct build *b, bool bad)
{
	if (bad)
		RAW(b, fxt_string_header(5, 0));
}

static void thread_undefined(struct build *b, bool bad)
{
	RAW(b, head(FXT_RECORD_THREAD, 3) | fxt_put_thread_index(77), 10, 10);
	RAW(b, head(FXT_RECORD_EVENT, 2) | fxt_put_event_thread(bad ? 78 : 77), 100);
}

static void thread_index_0(struct build *b, bool bad)
{
	RAW(b, head(FXT_RECORD_THREAD, 3) | fxt_put_thread_index(bad ? 0 : 77), 10, 10);
}

static void thread_index_shared(struct build *b, bool bad)
{
	RAW(b, head(FXT_RECORD_THREAD, 3) | fxt_put_thread_index(77), 10, 10);
	provider_info(b, 2);
	RAW(b, head(FXT_RECORD_THREAD, 3) | fxt_put_thread_index(77), 10, bad ? 11 : 10);
}

/* ---- arguments ---- */

static void raw_arg(struct build *b, uint64_t arg)
{
	RAW(b, fxt_string_header(5, 1), 'a');
	RAW(b, head(FXT_RECORD_EVENT, 5) | fxt_put_event_n_args(1), 100, 10, 10, arg);
}

static void arg_damaged(struct build *b, bool bad)
{
	raw_arg(b, bad ? 0 : fxt_arg32(FXT_ARG_INT32, 5, 1));
}

static void arg_damaged_count(struct build *b, bool bad)
{
	RAW(b, head(FXT_RECORD_EVENT, 4) | fxt_put_event_n_args(bad), 100, 10, 10);
}

static void arg_unknown(struct build *b, bool bad)
{
	raw_arg(b, fxt_arg32(bad ? 11 : FXT_ARG_UINT32, 5, 1));
}

static void arg_opaque(struct build *b, bool bad)
{
	raw_arg(b, fxt_arg32(bad ? FXT_ARG_NULL : FXT_ARG_INT32, 5, 0));
}

static void arg_negative(struct build *b, bool bad)
{
	const struct fxt_out_arg arg = { FXT_ARG_UINT64, fxt_interned("n"),
					 .u64 = UINT64_C(1) << (bad ? 63 : 62) };

	build_instant(b, 100, &arg);
}

static void arg_wide(struct build *b, bool bad)
{
	const struct fxt_out_arg arg = { FXT_ARG_INT64, fxt_interned("n"),
					 .i64 = bad ? INT32_MIN : INT64_C(-1) + INT32_MIN };

	build_instant(b, 100, &arg);
}

/* ---- names ---- */

static void koid_wide(struct build *b, bool bad)
{
	build_thread(b, 10, bad ? (UINT64_C(1) << 32) + 10 : 13, "another");
}

static void koid_wide_event(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_INSTANT, 100, bad ? UINT64_C(1) << 32 : 11, "instant", 0);
}

static void thread_object(struct build *b, const struct fxt_out_arg *args, unsigned n_args)
{
	OK(fxt_write_kernel_object(&b->w, &(struct fxt_kernel_object){ FXT_OBJECT_THREAD, 13,
								       fxt_interned("object"), args,
								       n_args }));
}

static void process_type(struct build *b, bool bad)
{
	const struct fxt_out_arg arg = { bad ? FXT_ARG_UINT64 : FXT_ARG_KOID,
					 fxt_interned("process"), .u64 = 10 };

	thread_object(b, &arg, 1);
}

static void process_missing(struct build *b, bool bad)
{
	const struct fxt_out_arg arg = { FXT_ARG_KOID, fxt_interned("process"), .u64 = 10 };

	thread_object(b, &arg, bad ? 0 : 1);
}

static void process_not_first(struct build *b, bool bad)
{
	const struct fxt_out_arg args[] = {
		{ FXT_ARG_INT32, fxt_interned("number"), .i32 = 1 },
		{ FXT_ARG_KOID, fxt_interned("process"), .u64 = 10 },
		{ FXT_ARG_INT32, fxt_interned("number"), .i32 = 1 },
	};

	thread_object(b, args + !bad, 2);
}

static void object_name_inline(struct build *b, bool bad)
{
	OK(fxt_write_kernel_object(&b->w, &(struct fxt_kernel_object){ FXT_OBJECT_PROCESS, 20,
								       bad ? fxt_inline("name")
									   : fxt_interned("name"),
								       NULL, 0 }));
}

static void thread_unnamed(struct build *b, bool bad)
{
	uint64_t tid = bad ? 99 : 11;

	build_switch(b, 100, 0, 0, tid);
	build_switch(b, 200, 0, tid, 0);
}

static void process_unnamed(struct build *b, bool bad)
{
	build_thread(b, bad ? 20 : 10, 13, "thread");
}

static void tid_reused(struct build *b, bool bad)
{
	build_process(b, 20, "other");
	build_thread(b, bad ? 20 : 10, 11, "second");
}

/*
 * A thread that replaces an unknown one loses no data; if an unknown one replaces a known one, data
 * is lost.
 */
static void tid_unknown(struct build *b, bool bad)
{
	build_process(b, 13, "?");
	for (unsigned i = 0; i < 2; i++)
		if (i == bad)
			build_thread(b, 13, 13, "?");
		else
			build_thread(b, 10, 13, "known");
}

static void thread_processes(struct build *b, bool bad)
{
	OK(fxt_write_event(&b->w, &(struct fxt_event){
					  .ts_ticks = 100,
					  .thread = { bad ? 20 : 10, 11 },
				  }));
}

static void renamed(struct build *b, bool bad)
{
	build_thread(b, 10, 11, bad ? "new" : "second");
}

static void event_thread_unnamed(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_INSTANT, 100, bad ? 99 : 11, "instant", 0);
}

/* ---- counters, profiles ---- */

static void counter_type(struct build *b, bool bad)
{
	const struct fxt_out_arg arg = { bad ? FXT_ARG_KOID : FXT_ARG_UINT64, fxt_interned("value"),
					 .u64 = 5 };

	OK(fxt_write_event(&b->w, &(struct fxt_event){
					  .type = FXT_EVENT_COUNTER,
					  .name = fxt_interned("counter"),
					  .ts_ticks = 100,
					  .thread = { 10, 10 },
					  .args = &arg,
					  .n_args = 1,
				  }));
}

static void counter_empty(struct build *b, bool bad)
{
	if (bad)
		build_event(b, FXT_EVENT_COUNTER, 100, 10, "counter", 1);
	else
		counter_type(b, false);
}

static void profiler_inline(struct build *b, bool bad)
{
	OK(fxt_write_module(&b->w,
			    &(struct fxt_module){ 100, { 10, 10, bad }, 3, "module", NULL, 0 }));
}

static void mmap_before_module(struct build *b, bool bad)
{
	OK(fxt_write_module(
		&b->w, &(struct fxt_module){ 100, { 10, 10 }, bad ? 4 : 3, "module", "\1", 1 }));
	OK(fxt_write_mmap(&b->w, &(struct fxt_mmap){ 100, { 10, 11 }, 3, 5, 0x1000, 0x1000, 0 }));
}

static void backtrace_before_mmap(struct build *b, bool bad)
{
	static const uint64_t frame = 0x1001;

	if (!bad)
		mmap_before_module(b, false);
	OK(fxt_write_backtrace(&b->w, &(struct fxt_backtrace){ 200, { 10, 12, true }, &frame, 1 }));
}

/* ---- unseen features ---- */

static void log_unseen(struct build *b, bool bad)
{
	if (bad)
		OK(fxt_write_log(&b->w, &(struct fxt_log){ 100, { 10, 10 }, "hello", 5 }));
}

static void profiler_unseen(struct build *b, bool bad)
{
	if (bad)
		mmap_before_module(b, false);
}

static void userspace_unseen(struct build *b, bool bad)
{
	if (bad)
		OK(fxt_write_userspace_object(
			&b->w, &(struct fxt_userspace_object){
				       0x1000, { 10, 10 }, fxt_interned("object"), NULL, 0 }));
}

static void object_unseen(struct build *b, bool bad)
{
	OK(fxt_write_kernel_object(&b->w,
				   &(struct fxt_kernel_object){ bad ? 17 : FXT_OBJECT_PROCESS, 20,
								fxt_interned("object"), NULL, 0 }));
}

static void loss_unseen(struct build *b, bool bad)
{
	build_event(b, FXT_EVENT_INSTANT, 100, 10, "dropped", 0);
	if (bad)
		OK(fxt_write_provider_event(&b->w, FXT_PROVIDER_EVENT_BUFFER_FILLED));
}

static void blob_unseen(struct build *b, bool bad)
{
	OK(fxt_write_blob(&b->w,
			  &(struct fxt_blob){ fxt_interned("blob"),
					      bad ? FXT_BLOB_DATA : FXT_BLOB_PERFETTO, "", 0 }));
}

static void large_unseen(struct build *b, bool bad)
{
	if (bad)
		large_long(b, false);
}

/* ---- allocations of programs ---- */

/* An event of process 10 with up to two arguments. */
static void memory(struct build *b, uint64_t ts, const char *name, const struct fxt_out_arg *args,
		   unsigned n_args)
{
	OK(fxt_write_event(&b->w, &(struct fxt_event){
					  .category = fxt_interned("memory"),
					  .name = fxt_interned(name),
					  .ts_ticks = ts,
					  .thread = { 10, 10 },
					  .args = args,
					  .n_args = n_args,
				  }));
}

static void memory_watch(struct build *b, uint64_t ts)
{
	memory(b, ts, "watch",
	       &(struct fxt_out_arg){ .type = FXT_ARG_STRING,
				      .name = fxt_interned("resources"),
				      .text = fxt_interned("memory") },
	       1);
}

static void memory_block(struct build *b, uint64_t ts, uint64_t stack)
{
	const struct fxt_out_arg args[] = {
		{ .type = FXT_ARG_STRING,
		  .name = fxt_interned("resource"),
		  .text = fxt_interned("memory") },
		{ .type = FXT_ARG_UINT64, .name = fxt_interned("stack"), .u64 = stack },
	};

	memory(b, ts, "block", args, stack ? 2 : 1);
}

static void heap_trace_snapshot(struct build *b, uint64_t ts, uint64_t blocks)
{
	const struct fxt_out_arg args[] = {
		{ .type = FXT_ARG_UINT64, .name = fxt_interned("blocks"), .u64 = blocks },
		{ .type = FXT_ARG_UINT32, .name = fxt_interned("sequence"), .u32 = 1 },
	};

	memory(b, ts, "snapshot", args, 2);
}

static void memory_stack(struct build *b, uint64_t ts, bool frames)
{
	const uint64_t address = 0x1000;

	memory(b, ts, "stack",
	       &(struct fxt_out_arg){
		       .type = FXT_ARG_UINT64, .name = fxt_interned("id"), .u64 = 7 },
	       1);
	if (frames)
		OK(fxt_write_backtrace(&b->w, &(struct fxt_backtrace){ .ts_ticks = ts,
								       .thread = { 10, 10 },
								       .frames = &address,
								       .n_frames = 1 }));
}

static void memory_unwatched(struct build *b, bool bad)
{
	if (!bad)
		memory_watch(b, 100);
	memory_block(b, 200, 0);
}

static void memory_unwatched_any_more(struct build *b, bool bad)
{
	memory_watch(b, 100);
	if (bad)
		memory(b, 150, "watched",
		       &(struct fxt_out_arg){ .type = FXT_ARG_STRING,
					      .name = fxt_interned("reason"),
					      .text = fxt_interned("stop") },
		       1);
	memory_block(b, 200, 0);
}

/* In another watch, it is another stack. */
static void stack_unnamed(struct build *b, bool bad)
{
	memory_watch(b, 100);
	memory_stack(b, 110, true);
	if (bad)
		memory_watch(b, 120);
	memory_block(b, 200, 7);
}

static void stack_empty(struct build *b, bool bad)
{
	memory_watch(b, 100);
	memory_stack(b, 110, !bad);
}

static void snapshot_short(struct build *b, bool bad)
{
	memory_watch(b, 100);
	heap_trace_snapshot(b, 110, 1 + bad);
	memory_block(b, 110, 0);
	/* of no snapshot */
	memory_block(b, 115, 0);
	heap_trace_snapshot(b, 120, 0);
}

static const struct lint_case cases[] = {
	{ FXT_FINDING_DAMAGE, damage },
	{ FXT_FINDING_TRUNCATED, truncated },
	{ FXT_FINDING_MAGIC_WRONG, magic_wrong },
	{ FXT_FINDING_MAGIC_AGAIN, magic_again },
	{ FXT_FINDING_PROVIDER_UNKNOWN, provider_unknown },
	{ FXT_FINDING_PROVIDER_UNKNOWN, provider_event_unknown },
	{ FXT_FINDING_PROVIDER_AGAIN, provider_again },
	{ FXT_FINDING_STRING_BEFORE_PROVIDER, string_before_provider, .bare = true },
	{ FXT_FINDING_INIT_MISSING, init_missing, .bare = true },
	{ FXT_FINDING_INIT_LATE, init_late },
	{ FXT_FINDING_TICKS_INEXACT, ticks_inexact, .bare = true },
	{ FXT_FINDING_TICKS_ODD, ticks_odd, .bare = true },
	{ FXT_FINDING_TICKS_ODD, ticks_odd_fast, .bare = true },
	{ FXT_FINDING_TIME_HUGE, time_huge },
	{ FXT_FINDING_LOSS_INVISIBLE, loss_invisible },
	{ FXT_FINDING_RESERVED_BITS, reserved_bits },
	{ FXT_FINDING_PADDING, padding },
	{ FXT_FINDING_RECORD_UNKNOWN, record_unknown },
	{ FXT_FINDING_RECORD_TRAILING, record_trailing },
	{ FXT_FINDING_RECORD_TRAILING, record_trailing_legacy },
	{ FXT_FINDING_RECORD_TRAILING, record_trailing_backtrace },
	{ FXT_FINDING_RECORD_LONGER, record_longer },
	{ FXT_FINDING_RECORD_LONGER, record_longer_string },
	{ FXT_FINDING_METADATA_UNKNOWN, metadata_unknown },
	{ FXT_FINDING_LARGE_LONG, large_long },
	{ FXT_FINDING_BLOB_TYPE, blob_type },
	{ FXT_FINDING_UTF8, utf8 },
	{ FXT_FINDING_UTF8, utf8_inline },
	{ FXT_FINDING_TEXT_NUL, text_nul },
	{ FXT_FINDING_STRING_LONG, string_long },
	{ FXT_FINDING_NAME_LONG, name_long },
	{ FXT_FINDING_STRING_UNDEFINED, string_undefined },
	{ FXT_FINDING_STRING_UNDEFINED, string_of_another },
	{ FXT_FINDING_STRING_INDEX_0, string_index_0 },
	{ FXT_FINDING_STRING_EMPTY, string_empty },
	{ FXT_FINDING_THREAD_UNDEFINED, thread_undefined },
	{ FXT_FINDING_THREAD_INDEX_0, thread_index_0 },
	{ FXT_FINDING_THREAD_INDEX_SHARED, thread_index_shared },
	{ FXT_FINDING_ARG_DAMAGED, arg_damaged },
	{ FXT_FINDING_ARG_DAMAGED, arg_damaged_count },
	{ FXT_FINDING_ARG_UNKNOWN, arg_unknown },
	{ FXT_FINDING_ARG_LONGER, arg_longer },
	{ FXT_FINDING_ARG_NAME_EMPTY, arg_name_empty },
	{ FXT_FINDING_ARG_NAME_TWICE, arg_name_twice },
	{ FXT_FINDING_ARG_OPAQUE, arg_opaque },
	{ FXT_FINDING_ARG_NEGATIVE, arg_negative },
	{ FXT_FINDING_ARG_WIDE, arg_wide },
	{ FXT_FINDING_KOID_WIDE, koid_wide },
	{ FXT_FINDING_KOID_WIDE, koid_wide_event },
	{ FXT_FINDING_PROCESS_TYPE, process_type },
	{ FXT_FINDING_PROCESS_MISSING, process_missing },
	{ FXT_FINDING_PROCESS_NOT_FIRST, process_not_first },
	{ FXT_FINDING_OBJECT_NAME_INLINE, object_name_inline },
	{ FXT_FINDING_THREAD_UNNAMED, thread_unnamed },
	{ FXT_FINDING_PROCESS_UNNAMED, process_unnamed },
	{ FXT_FINDING_TID_REUSED, tid_reused },
	{ FXT_FINDING_TID_REUSED, tid_unknown },
	{ FXT_FINDING_THREAD_PROCESSES, thread_processes },
	{ FXT_FINDING_RENAMED, renamed },
	{ FXT_FINDING_EVENT_THREAD_UNNAMED, event_thread_unnamed },
	{ FXT_FINDING_COUNTER_TYPE, counter_type },
	{ FXT_FINDING_COUNTER_EMPTY, counter_empty },
	{ FXT_FINDING_PROFILER_INLINE, profiler_inline },
	{ FXT_FINDING_MMAP_BEFORE_MODULE, mmap_before_module },
	{ FXT_FINDING_BACKTRACE_BEFORE_MMAP, backtrace_before_mmap },
	{ FXT_FINDING_MEMORY_UNWATCHED, memory_unwatched },
	{ FXT_FINDING_MEMORY_UNWATCHED, memory_unwatched_any_more },
	{ FXT_FINDING_STACK_UNNAMED, stack_unnamed },
	{ FXT_FINDING_STACK_EMPTY, stack_empty },
	{ FXT_FINDING_SNAPSHOT_SHORT, snapshot_short },
	{ FXT_FINDING_LOG_UNSEEN, log_unseen },
	{ FXT_FINDING_PROFILER_UNSEEN, profiler_unseen },
	{ FXT_FINDING_USERSPACE_UNSEEN, userspace_unseen },
	{ FXT_FINDING_OBJECT_UNSEEN, object_unseen },
	{ FXT_FINDING_LOSS_UNSEEN, loss_unseen },
	{ FXT_FINDING_BLOB_UNSEEN, blob_unseen },
	{ FXT_FINDING_LARGE_UNSEEN, large_unseen },
};

int main(int argc, char **argv)
{
	static const struct lint_range ranges[] = {
		{ 0, FXT_FINDING_THREAD_STATE - 1 },
		{ FXT_FINDING_COUNTER_TYPE, FXT_FINDING_MAX - 1 },
	};

	return lint_cases_run(argc, argv,
			      &(struct lint_cases){ cases, ARRAY_SIZE(cases), ranges,
						    ARRAY_SIZE(ranges) });
}
