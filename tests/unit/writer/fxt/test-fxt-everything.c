/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An archive with every feature of the format, as a file for authors of FXT readers: each record
 * type, each type of argument, strings and threads inline and indexed, two providers with their own
 * tables. It is also a consistent trace: durations nest and end, flows connect, threads are named,
 * and the lint finds nothing. Other tests check the words of each record (test-fxt-records.c), and
 * the results of readers (tests/cli/).
 */
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/golden-file.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-perfetto.h"
#include "writer/fxt/fxt-writer.h"

#define OK(call) assert_int_equal(call, 0)
#define INLINE(text_)                                                                              \
	{                                                                                          \
		.is_inline = true, .text = (text_), .length = sizeof(text_) - 1                    \
	}
#define INTERNED(text_)                                                                            \
	{                                                                                          \
		.text = (text_), .length = sizeof(text_) - 1                                       \
	}
#define THREAD(tid)                                                                                \
	{                                                                                          \
		100, tid                                                                           \
	}
#define THREAD_INLINE(tid)                                                                         \
	{                                                                                          \
		100, tid, true                                                                     \
	}
#define ARGS(list) .args = (list), .n_args = ARRAY_SIZE(list)

/* Provider 1 registers these by hand. */
enum { SHARED = 1, OTHER = 255 };

static const struct fxt_out_arg inline_args[] = {
	{ FXT_ARG_NULL, INLINE("null") },
	{ FXT_ARG_INT32, INLINE("int32"), .i32 = INT32_MIN },
	{ FXT_ARG_UINT32, INLINE("uint32"), .u32 = UINT32_MAX },
	{ FXT_ARG_INT64, INLINE("int64"), .i64 = INT64_MIN },
	{ FXT_ARG_UINT64, INLINE("uint64"), .u64 = UINT64_MAX },
	{ FXT_ARG_DOUBLE, INLINE("double"), .f64 = -0.25 },
	{ FXT_ARG_STRING, INLINE("string"), .text = INLINE("inline \u65e5\u672c\u8a9e") },
	{ FXT_ARG_STRING, INLINE("string"), .text = INTERNED("indexed") },
	{ FXT_ARG_STRING, INLINE("empty") },
	{ FXT_ARG_POINTER, INLINE("pointer"), .u64 = 0x7fff12345678 },
	{ FXT_ARG_KOID, INLINE("koid"), .u64 = 101 },
	{ FXT_ARG_BOOL, INLINE("true"), .boolean = true },
	{ FXT_ARG_BOOL, INLINE("false"), .boolean = false },
	{ FXT_ARG_BLOB, INLINE("blob"), .blob = { "\0\1\2\3\4\5\6\7\10", 9 } },
	{ FXT_ARG_BLOB, INLINE("no blob"), .blob = { NULL, 0 } },
};

static const struct fxt_out_arg indexed_args[] = {
	{ FXT_ARG_NULL, INTERNED("null") },
	{ FXT_ARG_INT32, INTERNED("int32"), .i32 = -1 },
	{ FXT_ARG_UINT32, INTERNED("uint32"), .u32 = 1 },
	{ FXT_ARG_INT64, INTERNED("int64"), .i64 = -2 },
	{ FXT_ARG_UINT64, INTERNED("uint64"), .u64 = 2 },
	{ FXT_ARG_DOUBLE, INTERNED("double"), .f64 = 1e300 },
	{ FXT_ARG_STRING, INTERNED("string"), .text = INLINE("12345678") },
	{ FXT_ARG_STRING, INTERNED("string"), .text = { .index = SHARED } },
	{ FXT_ARG_POINTER, INTERNED("pointer"), .u64 = 0x7fff12345678 },
	{ FXT_ARG_KOID, INTERNED("koid"), .u64 = 102 },
	{ FXT_ARG_BOOL, { .index = OTHER }, .boolean = true },
	{ FXT_ARG_BLOB, INTERNED("blob"), .blob = { "12345678", 8 } },
};

static void instant(struct fxt_writer *w, uint64_t ts, struct fxt_out_thread thread,
		    const struct fxt_out_arg *args, unsigned n_args)
{
	OK(fxt_write_event(w, &(struct fxt_event){
				      .type = FXT_EVENT_INSTANT,
				      .category = fxt_inline("inline category"),
				      .name = { .index = SHARED },
				      .ts_ticks = ts,
				      .thread = thread,
				      .args = args,
				      .n_args = n_args,
			      }));
}

/* Makes a loss visible. */
static void lost(struct fxt_writer *w, uint64_t ts)
{
	OK(fxt_write_event(w, &(struct fxt_event){
				      .type = FXT_EVENT_INSTANT,
				      .category = INTERNED("category"),
				      .name = INTERNED("lost"),
				      .ts_ticks = ts,
				      .thread = THREAD(102),
			      }));
}

/* Names the threads 100/101 and 100/102. */
static void write_objects(struct fxt_writer *w)
{
	const struct fxt_out_arg process[] = {
		{ FXT_ARG_KOID, INTERNED("process"), .u64 = 100 },
	};
	const struct fxt_kernel_object objects[] = {
		{ FXT_OBJECT_PROCESS, 100, INTERNED("everything"), NULL, 0 },
		{ FXT_OBJECT_THREAD, 101, INTERNED("first thread"), process, 1 },
		{ FXT_OBJECT_THREAD, 102, INTERNED("second thread"), process, 1 },
		{ 16, 5001, INLINE("inline"), inline_args, 1 },
		{ 17, 5000, { .index = 0 }, inline_args, 2 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(objects); i++)
		OK(fxt_write_kernel_object(w, &objects[i]));
	OK(fxt_write_userspace_object(
		w, &(struct fxt_userspace_object){ 0x7fff12345678, THREAD(101), INTERNED("object"),
						   ARGS(indexed_args) }));
	OK(fxt_write_userspace_object(
		w, &(struct fxt_userspace_object){ 0x7fff87654321, THREAD_INLINE(0),
						   INLINE("object, inline"), NULL, 0 }));
}

static void write_events(struct fxt_writer *w)
{
	static const struct fxt_out_arg counters[] = {
		{ FXT_ARG_INT64, INTERNED("int64"), .i64 = -7 },
		{ FXT_ARG_DOUBLE, INLINE("inline"), .f64 = 7.5 },
	};
	static const struct {
		enum fxt_event_type type;
		uint64_t ts, id;
	} rows[] = {
		{ FXT_EVENT_COUNTER, 1000, 42 },       { FXT_EVENT_DURATION_BEGIN, 2000, 0 },
		{ FXT_EVENT_FLOW_BEGIN, 2100, 77 },    { FXT_EVENT_DURATION_COMPLETE, 2200, 2400 },
		{ FXT_EVENT_FLOW_STEP, 2500, 77 },     { FXT_EVENT_ASYNC_BEGIN, 2600, 99 },
		{ FXT_EVENT_ASYNC_INSTANT, 2700, 99 }, { FXT_EVENT_ASYNC_END, 2800, 99 },
		{ FXT_EVENT_FLOW_END, 2900, 77 },      { FXT_EVENT_DURATION_END, 3000, 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		OK(fxt_write_event(w, &(struct fxt_event){
					      .type = rows[i].type,
					      .category = INTERNED("category"),
					      .name = INLINE("name \u00e4"),
					      .ts_ticks = rows[i].ts,
					      .thread = { 100, 101, i % 2 == 0 },
					      .id = rows[i].id,
					      ARGS(counters),
				      }));
	instant(w, 3100, (struct fxt_out_thread)THREAD(101), inline_args, ARRAY_SIZE(inline_args));
	instant(w, 3200, (struct fxt_out_thread)THREAD_INLINE(102), indexed_args,
		ARRAY_SIZE(indexed_args));
}

static void write_scheduling(struct fxt_writer *w)
{
	static const struct fxt_out_arg to_102[] = {
		{ FXT_ARG_INT32, INTERNED("outgoing_weight"), .i32 = 120 },
		{ FXT_ARG_INT32, INTERNED("incoming_weight"), .i32 = 100 },
	};
	static const struct fxt_out_arg to_idle[] = {
		{ FXT_ARG_INT32, INLINE("outgoing_weight"), .i32 = 100 },
		{ FXT_ARG_INT32, INLINE("incoming_weight"), .i32 = FXT_IDLE_WEIGHT },
	};
	static const struct fxt_out_arg waking[] = {
		{ FXT_ARG_INT32, INTERNED("weight"), .i32 = 100 },
		{ FXT_ARG_KOID, INLINE("waker"), .u64 = 101 },
	};

	OK(fxt_write_legacy_switch(
		w, &(struct fxt_legacy_switch){
			   4000, 3, FXT_STATE_NEW, { 0, 0, true }, THREAD(101), 0, 16 }));
	OK(fxt_write_wakeup(w, &(struct fxt_wakeup){ 4100, 3, 102, ARGS(waking) }));
	OK(fxt_write_switch(w, &(struct fxt_switch){ 4200, 3, FXT_STATE_BLOCKED, 101, 102,
						     ARGS(to_102) }));
	OK(fxt_write_switch(w, &(struct fxt_switch){ 4300, 3, FXT_STATE_DEAD, 102, 0,
						     ARGS(to_idle) }));
	OK(fxt_write_legacy_switch(w, &(struct fxt_legacy_switch){ 4400, 255, FXT_STATE_SUSPENDED,
								   THREAD(102), THREAD_INLINE(101),
								   1, 255 }));
	OK(fxt_write_legacy_switch(w, &(struct fxt_legacy_switch){ 4500,
								   255,
								   FXT_STATE_BLOCKED,
								   THREAD_INLINE(101),
								   { 0, 0, true },
								   255,
								   0 }));
	OK(fxt_write_wakeup(w, &(struct fxt_wakeup){ 4600, 300, 102, NULL, 0 }));
}

static void write_log_and_profiler(struct fxt_writer *w)
{
	static const uint64_t frames[] = { 0x401000, 0x402000, UINT64_MAX };
	static const char build_id[] = "\x01\x23\x45\x67\x89\xab\xcd\xef\xfe";

	OK(fxt_write_log(w, &(struct fxt_log){ 5000, THREAD(101), "indexed thread", 14 }));
	OK(fxt_write_log(w, &(struct fxt_log){ 5001, THREAD_INLINE(102), "\u00e4", 2 }));
	OK(fxt_write_module(w, &(struct fxt_module){ 5100, THREAD(101), 1, "libc.so.6", build_id,
						     sizeof(build_id) - 1 }));
	OK(fxt_write_module(w, &(struct fxt_module){ 5101, THREAD(102), FXT_MODULE_ID_MAX, "", NULL,
						     0 }));
	OK(fxt_write_mmap(w, &(struct fxt_mmap){ 5200, THREAD(101), 1, 5, 0x400000, 0x10000,
						 0x1000 }));
	OK(fxt_write_mmap(w, &(struct fxt_mmap){ 5201, THREAD(102), FXT_MODULE_ID_MAX, 7,
						 UINT64_MAX, 1, 0 }));
	OK(fxt_write_backtrace(w, &(struct fxt_backtrace){ 5300, THREAD(101), frames, 3 }));
	OK(fxt_write_backtrace(w, &(struct fxt_backtrace){ 5301, THREAD_INLINE(102), frames, 1 }));
}

static void write_blobs(struct fxt_writer *w)
{
	_cleanup_(outbuf_deinit) struct outbuf packet = { 0 };

	fxt_perfetto_system_info(&packet, "6.1.0", "x86_64");
	OK(fxt_write_blob(w, &(struct fxt_blob){ INTERNED("blob"), FXT_BLOB_DATA, "bytes", 5 }));
	OK(fxt_write_blob(w,
			  &(struct fxt_blob){ INLINE("no bytes"), FXT_BLOB_LAST_BRANCH, "", 0 }));
	OK(fxt_write_blob(w, &(struct fxt_blob){ INTERNED("perfetto"), FXT_BLOB_PERFETTO,
						 packet.data, packet.size }));
	OK(fxt_write_large_blob(w, &(struct fxt_large_blob){
					   .category = INTERNED("category"),
					   .name = INLINE("with metadata"),
					   .data = "twelve bytes",
					   .size = 12,
					   .has_metadata = true,
					   .ts_ticks = 6000,
					   .thread = THREAD(101),
					   ARGS(indexed_args),
				   }));
	OK(fxt_write_large_blob(w, &(struct fxt_large_blob){
					   .category = INLINE("inline category"),
					   .name = INTERNED("object"),
					   .has_metadata = true,
					   .ts_ticks = 6001,
					   .thread = THREAD_INLINE(102),
					   ARGS(inline_args),
				   }));
	OK(fxt_write_large_blob(w, &(struct fxt_large_blob){ INTERNED("category"),
							     INLINE("without metadata"), "8 bytes!",
							     8 }));
}

static void write_first(struct fxt_writer *w, struct fxt_out_provider *p)
{
	OK(fxt_write_provider_info(w, p, "first provider"));
	OK(fxt_write_initialization(w, 1000000000));
	OK(fxt_write_string(w, SHARED, "shared index", 12));
	OK(fxt_write_string(w, OTHER, "last fixed index", 16));
	write_objects(w);
	write_events(w);
	write_scheduling(w);
	write_log_and_profiler(w);
	write_blobs(w);
}

TEST(test_everything)
{
	_cleanup_(outbuf_deinit) struct outbuf out = { 0 };
	_cleanup_(fxt_out_provider_deinit) struct fxt_out_provider first, second;
	struct fxt_writer w = { .out = &out };

	OK(fxt_out_provider_init(&first, 1));
	OK(fxt_out_provider_init(&second, UINT32_MAX));
	OK(fxt_write_magic(&w));
	write_first(&w, &first);

	/* The same indices for other strings and threads; half a nanosecond per tick. */
	OK(fxt_write_provider_info(&w, &second, "\u00e4"));
	OK(fxt_write_initialization(&w, 2000000000));
	OK(fxt_write_string(&w, SHARED, "of the second", 13));
	instant(&w, 14000, (struct fxt_out_thread)THREAD(102), NULL, 0);
	OK(fxt_write_provider_event(&w, FXT_PROVIDER_EVENT_BUFFER_FILLED));
	lost(&w, 14002);
	OK(fxt_write_section(&w, &first));
	instant(&w, 7001, (struct fxt_out_thread)THREAD(101), NULL, 0);
	OK(fxt_write_section(&w, &second));
	instant(&w, 14004, (struct fxt_out_thread)THREAD(102), NULL, 0);
	OK(out.error);
	assert_golden("fxt/everything.fxt", out.data, out.size);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_everything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
