/* SPDX-License-Identifier: GPL-2.0-or-later OR BSD-2-Clause */
/*
 * The Fuchsia trace format on the wire: a list of all its constants and bit fields.
 *
 * The writer, the reader and the eBPF programs share this list; no other file has shifts or masks
 * of the format. This header uses no libc, since the bpf target has none. Section names are those
 * of the specification ("Fuchsia trace format").
 *
 * FXT_FIELD(name, lo, hi) defines fxt_put_name(value) -> bits in place, fxt_get_name(word) ->
 * value, and fxt_fits_name(value). A word is composed by combining the results of several
 * fxt_put_name() with |. kymo writes little-endian words. The reader swaps the words of a
 * big-endian archive before it uses these functions.
 */
#pragma once

typedef unsigned long long fxt_word;

#if defined(__bpf__)
#define fxt_assert(x) ((void)0)
#else
#include <assert.h>
#define fxt_assert(x) assert(x)
#endif

#define FXT_FIELD(name, lo, hi)                                                                    \
	_Static_assert((lo) <= (hi) && (hi) < 64 && (hi) - (lo) < 63, #name);                      \
	static inline __attribute__((always_inline, unused)) int fxt_fits_##name(fxt_word v)       \
	{                                                                                          \
		return v >> ((hi) - (lo) + 1) == 0;                                                \
	}                                                                                          \
	static inline __attribute__((always_inline, unused)) fxt_word fxt_put_##name(fxt_word v)   \
	{                                                                                          \
		fxt_assert(fxt_fits_##name(v));                                                    \
		return v << (lo);                                                                  \
	}                                                                                          \
	static inline __attribute__((always_inline, unused)) fxt_word fxt_get_##name(fxt_word w)   \
	{                                                                                          \
		return (w >> (lo)) & ((1ull << ((hi) - (lo) + 1)) - 1);                            \
	}

/* ---- limits ("Records", "String references", "Thread references", "Arguments") ---- */

#define FXT_WORD_BYTES       8
#define FXT_RECORD_WORDS_MAX 4095 /* maximum number of words in a size field of 12 bits */
/* Maximum number of words of a large record, whose size field has 32 bits. */
#define FXT_LARGE_WORDS_MAX    0xffffffffull
#define FXT_LARGE_BYTES_MAX    (FXT_LARGE_WORDS_MAX * FXT_WORD_BYTES)
#define FXT_STRING_INDEX_MAX   0x7fff
#define FXT_STRING_BYTES_MAX   32000
#define FXT_THREAD_INDEX_MAX   0xff
#define FXT_ARGS_MAX           15
#define FXT_CPU_MAX            0xffff
#define FXT_LEGACY_CPU_MAX     0xff
#define FXT_PROVIDER_EVENT_MAX 0xf
#define FXT_OBJECT_TYPE_MAX    0xff
#define FXT_BLOB_TYPE_MAX      0xff
#define FXT_MODULE_ID_MAX      0xffff
#define FXT_MMAP_FLAGS_MAX     7
#define FXT_PROVIDER_NAME_MAX  255
#define FXT_BLOB_BYTES_MAX     0x7fff
#define FXT_BACKTRACE_MAX      255
#define FXT_MODULE_NAME_MAX    255
#define FXT_BUILD_ID_BYTES_MAX 255

/* ---- record header ---- */

FXT_FIELD(record_type, 0, 3)
FXT_FIELD(record_words, 4, 15)

enum fxt_record_type {
	FXT_RECORD_METADATA = 0,
	FXT_RECORD_INITIALIZATION = 1,
	FXT_RECORD_STRING = 2,
	FXT_RECORD_THREAD = 3,
	FXT_RECORD_EVENT = 4,
	FXT_RECORD_BLOB = 5,
	FXT_RECORD_USERSPACE_OBJECT = 6,
	FXT_RECORD_KERNEL_OBJECT = 7,
	FXT_RECORD_SCHEDULING = 8,
	FXT_RECORD_LOG = 9,
	FXT_RECORD_PROFILER = 10,
	FXT_RECORD_LARGE = 15,
};

/* ---- large record header ---- */

FXT_FIELD(large_words, 4, 35)
FXT_FIELD(large_type, 36, 39)
#define FXT_LARGE_BLOB 0

/* ---- string references ---- */

/* The length of an inline string; if string_ref_inline is 0, the index of a string instead. */
FXT_FIELD(string_ref_length, 0, 14)
FXT_FIELD(string_ref_inline, 15, 15)

/* ---- metadata record (type 0) ---- */

FXT_FIELD(metadata_type, 16, 19)

enum fxt_metadata_type {
	FXT_METADATA_PROVIDER_INFO = 1,
	FXT_METADATA_PROVIDER_SECTION = 2,
	FXT_METADATA_PROVIDER_EVENT = 3,
	FXT_METADATA_TRACE_INFO = 4,
};

FXT_FIELD(provider_id, 20, 51) /* in provider info, section and event */
FXT_FIELD(provider_name_length, 52, 59)
FXT_FIELD(provider_info_reserved, 60, 63)
FXT_FIELD(provider_section_reserved, 52, 63)
FXT_FIELD(provider_event_id, 52, 55)
FXT_FIELD(provider_event_reserved, 56, 63)
#define FXT_PROVIDER_EVENT_BUFFER_FILLED 0

FXT_FIELD(trace_info_type, 20, 23)
#define FXT_TRACE_INFO_MAGIC 0
#define FXT_MAGIC            0x0016547846040010ull /* the whole record in one word */
#define FXT_MAGIC_SWAPPED    0x1000044678541600ull /* the same word in the other byte order */

/* ---- initialization record (type 1) ---- */

FXT_FIELD(initialization_reserved, 16, 63)

/* ---- string record (type 2) ---- */

FXT_FIELD(string_index, 16, 30)
FXT_FIELD(string_zero_31, 31, 31)
FXT_FIELD(string_length, 32, 46)
FXT_FIELD(string_zero_47, 47, 47)
FXT_FIELD(string_reserved, 48, 63)

/* ---- thread record (type 3) ---- */

FXT_FIELD(thread_index, 16, 23)
FXT_FIELD(thread_reserved, 24, 63)

/* ---- event record (type 4) ---- */

FXT_FIELD(event_type, 16, 19)
FXT_FIELD(event_n_args, 20, 23)
FXT_FIELD(event_thread, 24, 31)
FXT_FIELD(event_category, 32, 47)
FXT_FIELD(event_name, 48, 63)

enum fxt_event_type {
	FXT_EVENT_INSTANT = 0,
	FXT_EVENT_COUNTER = 1,
	FXT_EVENT_DURATION_BEGIN = 2,
	FXT_EVENT_DURATION_END = 3,
	FXT_EVENT_DURATION_COMPLETE = 4,
	FXT_EVENT_ASYNC_BEGIN = 5,
	FXT_EVENT_ASYNC_INSTANT = 6,
	FXT_EVENT_ASYNC_END = 7,
	FXT_EVENT_FLOW_BEGIN = 8,
	FXT_EVENT_FLOW_STEP = 9,
	FXT_EVENT_FLOW_END = 10,
};

/* ---- BLOB record (type 5) ---- */

FXT_FIELD(blob_name, 16, 31)
FXT_FIELD(blob_length, 32, 46)
FXT_FIELD(blob_zero_47, 47, 47)
FXT_FIELD(blob_type, 48, 55)
FXT_FIELD(blob_reserved, 56, 63)

enum fxt_blob_type {
	FXT_BLOB_DATA = 1,
	FXT_BLOB_LAST_BRANCH = 2,
	FXT_BLOB_PERFETTO = 3,
};

/* ---- userspace object record (type 6) ---- */

FXT_FIELD(userspace_thread, 16, 23)
FXT_FIELD(userspace_name, 24, 39)
FXT_FIELD(userspace_n_args, 40, 43)
FXT_FIELD(userspace_reserved, 44, 63)

/* ---- kernel object record (type 7) ---- */

FXT_FIELD(kernel_object_type, 16, 23)
FXT_FIELD(kernel_object_name, 24, 39)
FXT_FIELD(kernel_object_n_args, 40, 43)
FXT_FIELD(kernel_object_reserved, 44, 63)

#define FXT_OBJECT_PROCESS 1 /* ZX_OBJ_TYPE_PROCESS */
#define FXT_OBJECT_THREAD  2 /* ZX_OBJ_TYPE_THREAD */

/* ---- scheduling record (type 8) ---- */

FXT_FIELD(sched_type, 60, 63)

enum fxt_sched_type {
	FXT_SCHED_LEGACY_SWITCH = 0,
	FXT_SCHED_SWITCH = 1,
	FXT_SCHED_WAKEUP = 2,
};

/* context switch (1) and thread wakeup (2) */
FXT_FIELD(sched_n_args, 16, 19)
FXT_FIELD(sched_cpu, 20, 35)
FXT_FIELD(sched_out_state, 36, 39) /* only in a context switch */
FXT_FIELD(sched_switch_reserved, 40, 59)
FXT_FIELD(sched_wakeup_reserved, 36, 59)

/* legacy context switch (0) */
FXT_FIELD(legacy_cpu, 16, 23)
FXT_FIELD(legacy_out_state, 24, 27)
FXT_FIELD(legacy_out_thread, 28, 35)
FXT_FIELD(legacy_in_thread, 36, 43)
FXT_FIELD(legacy_out_priority, 44, 51)
FXT_FIELD(legacy_in_priority, 52, 59)

enum fxt_thread_state {
	FXT_STATE_NEW = 0,
	FXT_STATE_PREEMPTED = FXT_STATE_NEW, /* in kymo's switches, which have no new thread */
	FXT_STATE_RUNNING = 1,
	FXT_STATE_SUSPENDED = 2,
	FXT_STATE_BLOCKED = 3,
	FXT_STATE_DYING = 4,
	FXT_STATE_DEAD = 5,
	/* 6..15 are unassigned */
	FXT_STATE_MAX = 15,
};

/* The weight that marks a side of a switch as the idle thread (Zircon's kIdleWeight). */
#define FXT_IDLE_WEIGHT (-2147483647 - 1)

/* ---- log record (type 9) ---- */

FXT_FIELD(log_length, 16, 30)
FXT_FIELD(log_zero_31, 31, 31)
FXT_FIELD(log_thread, 32, 39)
FXT_FIELD(log_reserved, 40, 63)

/* ---- profiler record (type 10) ---- */

FXT_FIELD(profiler_type, 16, 19)
FXT_FIELD(profiler_thread, 20, 27)

enum fxt_profiler_type {
	FXT_PROFILER_MODULE = 0,
	FXT_PROFILER_MMAP = 1,
	FXT_PROFILER_BACKTRACE = 2,
};

/* Flags of a mapping. */
#define FXT_MMAP_READABLE   1
#define FXT_MMAP_WRITABLE   2
#define FXT_MMAP_EXECUTABLE 4

FXT_FIELD(module_id, 28, 43)
FXT_FIELD(module_name_length, 44, 51)
FXT_FIELD(module_build_id_length, 52, 59)
FXT_FIELD(module_reserved, 60, 63)
FXT_FIELD(mmap_module_id, 28, 43)
FXT_FIELD(mmap_flags, 44, 46)
FXT_FIELD(mmap_reserved, 47, 63)
FXT_FIELD(backtrace_n_frames, 28, 35)
FXT_FIELD(backtrace_reserved, 36, 63)

/* ---- large BLOB record (type 15, large type 0) ---- */

FXT_FIELD(large_blob_format, 40, 43)
FXT_FIELD(large_blob_reserved, 44, 63)
#define FXT_LARGE_BLOB_METADATA    0
#define FXT_LARGE_BLOB_NO_METADATA 1

/* The format header word. Blobs with metadata have the fields from category to header_reserved;
 * others have category, name and bare_reserved. */
FXT_FIELD(large_blob_category, 0, 15)
FXT_FIELD(large_blob_name, 16, 31)
FXT_FIELD(large_blob_n_args, 32, 35)
FXT_FIELD(large_blob_thread, 36, 43)
FXT_FIELD(large_blob_header_reserved, 44, 63)
FXT_FIELD(large_blob_bare_reserved, 32, 63)

/* ---- arguments ---- */

FXT_FIELD(arg_type, 0, 3)
FXT_FIELD(arg_words, 4, 15)
FXT_FIELD(arg_name, 16, 31)
FXT_FIELD(arg_value32, 32, 63)   /* value of int32, uint32 and bool, and size of a blob */
FXT_FIELD(arg_value_ref, 32, 47) /* reference to the value of a string */
FXT_FIELD(arg_string_reserved, 48, 63)
FXT_FIELD(arg_reserved, 32, 63) /* in null, int64, uint64, double, pointer and koid */

enum fxt_arg_type {
	FXT_ARG_NULL = 0,
	FXT_ARG_INT32 = 1,
	FXT_ARG_UINT32 = 2,
	FXT_ARG_INT64 = 3,
	FXT_ARG_UINT64 = 4,
	FXT_ARG_DOUBLE = 5,
	FXT_ARG_STRING = 6,
	FXT_ARG_POINTER = 7,
	FXT_ARG_KOID = 8,
	FXT_ARG_BOOL = 9,
	FXT_ARG_BLOB = 10,
};

/* Returns HEAD with another number of words, for records whose size field has 12 bits. */
static inline __attribute__((always_inline, unused)) fxt_word fxt_with_record_words(fxt_word head,
										    fxt_word words)
{
	return (head & ~fxt_put_record_words(FXT_RECORD_WORDS_MAX)) | fxt_put_record_words(words);
}

/* Returns the number of words of a stream of N bytes. */
static inline __attribute__((always_inline, unused)) fxt_word fxt_stream_words(fxt_word n)
{
	return (n + FXT_WORD_BYTES - 1) / FXT_WORD_BYTES;
}

/* ---- words that are composed in several places ---- */

static inline __attribute__((always_inline, unused)) fxt_word
fxt_switch_header(unsigned words, unsigned n_args, unsigned cpu, unsigned out_state)
{
	return fxt_put_record_type(FXT_RECORD_SCHEDULING) | fxt_put_record_words(words) |
	       fxt_put_sched_n_args(n_args) | fxt_put_sched_cpu(cpu) |
	       fxt_put_sched_out_state(out_state) | fxt_put_sched_type(FXT_SCHED_SWITCH);
}

static inline __attribute__((always_inline, unused)) fxt_word
fxt_wakeup_header(unsigned words, unsigned n_args, unsigned cpu)
{
	return fxt_put_record_type(FXT_RECORD_SCHEDULING) | fxt_put_record_words(words) |
	       fxt_put_sched_n_args(n_args) | fxt_put_sched_cpu(cpu) |
	       fxt_put_sched_type(FXT_SCHED_WAKEUP);
}

static inline __attribute__((always_inline, unused)) fxt_word fxt_string_header(unsigned index,
										fxt_word n_bytes)
{
	return fxt_put_record_type(FXT_RECORD_STRING) |
	       fxt_put_record_words(1 + fxt_stream_words(n_bytes)) | fxt_put_string_index(index) |
	       fxt_put_string_length(n_bytes);
}

/* Returns an argument of one word: the string index NAME, and VALUE, which is 32 bits or a string
 * index. */
static inline __attribute__((always_inline, unused)) fxt_word
fxt_arg32(enum fxt_arg_type type, unsigned name, unsigned value)
{
	return fxt_put_arg_type(type) | fxt_put_arg_words(1) | fxt_put_arg_name(name) |
	       fxt_put_arg_value32(value);
}

/* Returns the header of an argument whose value is the next word. */
static inline __attribute__((always_inline, unused)) fxt_word fxt_arg64(enum fxt_arg_type type,
									unsigned name)
{
	return fxt_put_arg_type(type) | fxt_put_arg_words(2) | fxt_put_arg_name(name);
}
