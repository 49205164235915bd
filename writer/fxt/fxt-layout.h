/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The layout of each kind of record: the list of its parts, in order. The including code defines
 * the macros below. The writer checks and writes records by these lists (fxt-write-layouts.c). The
 * reader parses them (fxt-parse.c), swaps and finds them (fxt-shape.c), and checks them
 * (fxt-check.c). edit-copy-types.c copies them, and `kymo dump` prints them (dump-json.c). A list
 * expands to straight-line code, without lookups at run time.
 *
 *   RESERVED(field)             bits of the header that are zero
 *   KIND(field)                 a field of the header, the subtype
 *   HEAD(of, m, field, key)     a field of the header
 *   STATE(of, m, field, key)    a field of the header, the state of a thread
 *   CPU(of, m, field, key)      a field of the header, a CPU
 *   TIME()                      the word with the time
 *   THREAD(field)               two words, unless the header's field is an index
 *   PROCESS(field)              one word, unless the header's field is an index
 *   IDS()                       two words, always
 *   REF(m, field, key)          a string, unless the header's field is an index
 *   TEXT(m, field, key)         a string with that many bytes
 *   BYTES(of, m, n, field, key) a stream with that many bytes
 *   BULK(of, m, n, field)       a stream with that many bytes, opaque data
 *   WORDS(of, m, n, field, key) that many words
 *   WORD(of, m, key)            a word
 *   KOID(of, m, key)            a word, a kernel object
 *   ARGS(field)                 that many arguments
 *   VALUE()                     the word that can follow those of an event
 *
 * OF.M is the member of struct fxt_record for the part, and OF.N its length. M alone is the member
 * of the struct that is written (fxt-writer.h). The value of TEXT is in `name`. KEY is the name of
 * the part in `kymo dump`.
 *
 * Most records of an archive are scheduling records, so these are read by plain loads. The legacy
 * scheduling record has two threads, and large records have two headers: code for these is written
 * by hand where needed.
 */
#pragma once

#include "writer/fxt/fxt-wire.h"

/* clang-format off */
#define FXT_LAYOUT_provider_info \
	RESERVED(provider_info_reserved) \
	HEAD(metadata, provider_id, provider_id, "provider_id") \
	TEXT(name, provider_name_length, "provider_name")
#define FXT_LAYOUT_provider_section \
	RESERVED(provider_section_reserved) HEAD(metadata, provider_id, provider_id, "provider_id")
#define FXT_LAYOUT_provider_event \
	RESERVED(provider_event_reserved) \
	HEAD(metadata, provider_id, provider_id, "provider_id") \
	HEAD(metadata, number, provider_event_id, "event_id")
#define FXT_LAYOUT_initialization \
	RESERVED(initialization_reserved) WORD(initialization, ticks_per_second, "ticks_per_second")
#define FXT_LAYOUT_string \
	RESERVED(string_zero_31) RESERVED(string_zero_47) RESERVED(string_reserved) \
	HEAD(string, index, string_index, "string_index") TEXT(name, string_length, "string_value")
#define FXT_LAYOUT_thread \
	RESERVED(thread_reserved) HEAD(thread_record, index, thread_index, "thread_index") IDS()

#define FXT_LAYOUT_event \
	KIND(event_type) TIME() THREAD(event_thread) \
	REF(category, event_category, "category") REF(name, event_name, "name") \
	ARGS(event_n_args) VALUE()
#define FXT_LAYOUT_blob \
	RESERVED(blob_zero_47) RESERVED(blob_reserved) \
	REF(name, blob_name, "blob_name") HEAD(blob, type, blob_type, "blob_type") \
	BULK(blob, data, size, blob_length)
#define FXT_LAYOUT_userspace_object \
	RESERVED(userspace_reserved) WORD(userspace_object, pointer, "pointer") \
	PROCESS(userspace_thread) REF(name, userspace_name, "name") ARGS(userspace_n_args)
#define FXT_LAYOUT_kernel_object \
	RESERVED(kernel_object_reserved) \
	HEAD(kernel_object, type, kernel_object_type, "kernel_object_type") \
	KOID(kernel_object, koid, "koid") REF(name, kernel_object_name, "name") \
	ARGS(kernel_object_n_args)
#define FXT_LAYOUT_log \
	RESERVED(log_zero_31) RESERVED(log_reserved) \
	TIME() THREAD(log_thread) TEXT(text, log_length, "log_message")

#define FXT_LAYOUT_module \
	RESERVED(module_reserved) TIME() THREAD(profiler_thread) \
	HEAD(module, id, module_id, "module_id") TEXT(name, module_name_length, "module_name") \
	BYTES(module, build_id, build_id_size, module_build_id_length, "build_id")
#define FXT_LAYOUT_mmap \
	RESERVED(mmap_reserved) TIME() THREAD(profiler_thread) \
	HEAD(mmap, module_id, mmap_module_id, "module_id") HEAD(mmap, flags, mmap_flags, "flags") \
	WORD(mmap, start, "start_address") WORD(mmap, range, "address_range") \
	WORD(mmap, vaddr, "vaddr")
#define FXT_LAYOUT_backtrace \
	RESERVED(backtrace_reserved) TIME() THREAD(profiler_thread) \
	WORDS(backtrace, frames, n_frames, backtrace_n_frames, "backtrace")

#define FXT_LAYOUT_switch \
	RESERVED(sched_switch_reserved) TIME() CPU(sw, cpu, sched_cpu, "cpu_number") \
	STATE(sw, out_state, sched_out_state, "outgoing_thread_state") \
	KOID(sw, out_tid, "outgoing_thread_id") KOID(sw, in_tid, "incoming_thread_id") \
	ARGS(sched_n_args)
#define FXT_LAYOUT_wakeup \
	RESERVED(sched_wakeup_reserved) TIME() CPU(wake, cpu, sched_cpu, "cpu_number") \
	KOID(wake, tid, "waking_thread_id") ARGS(sched_n_args)

/*
 * X(layout, record type, subtype or 0, name in dump): records that control how other records are
 * read,
 */
#define FXT_FRAME_LAYOUTS(X) \
	X(provider_info, FXT_RECORD_METADATA, FXT_METADATA_PROVIDER_INFO, "provider_info") \
	X(provider_section, FXT_RECORD_METADATA, FXT_METADATA_PROVIDER_SECTION, "provider_section") \
	X(provider_event, FXT_RECORD_METADATA, FXT_METADATA_PROVIDER_EVENT, "provider_event") \
	X(initialization, FXT_RECORD_INITIALIZATION, 0, "initialization") \
	X(string, FXT_RECORD_STRING, 0, "string") \
	X(thread, FXT_RECORD_THREAD, 0, "thread")

/* ... records that are written from a struct fxt_LAYOUT, such as struct fxt_blob, */
#define FXT_DATA_LAYOUTS(X) \
	X(event, FXT_RECORD_EVENT, 0, "event") \
	X(blob, FXT_RECORD_BLOB, 0, "blob") \
	X(userspace_object, FXT_RECORD_USERSPACE_OBJECT, 0, "userspace_object") \
	X(kernel_object, FXT_RECORD_KERNEL_OBJECT, 0, "kernel_object") \
	X(log, FXT_RECORD_LOG, 0, "log") \
	X(module, FXT_RECORD_PROFILER, FXT_PROFILER_MODULE, "module") \
	X(mmap, FXT_RECORD_PROFILER, FXT_PROFILER_MMAP, "mmap") \
	X(backtrace, FXT_RECORD_PROFILER, FXT_PROFILER_BACKTRACE, "backtrace")

/* ... and records that are written likewise, but that the reader reads in a faster way. */
#define FXT_SCHED_LAYOUTS(X) \
	X(switch, FXT_RECORD_SCHEDULING, FXT_SCHED_SWITCH, "context_switch") \
	X(wakeup, FXT_RECORD_SCHEDULING, FXT_SCHED_WAKEUP, "thread_wakeup")

#define FXT_LAYOUTS(X) FXT_FRAME_LAYOUTS(X) FXT_DATA_LAYOUTS(X) FXT_SCHED_LAYOUTS(X)
/* clang-format on */

/* A record type and its subtype as one number, for a switch over the layouts. No layout has 0. */
#define FXT_LAYOUT_KEY(type, subtype) ((unsigned)(type) << 4 | (unsigned)(subtype))

static inline __attribute__((unused)) unsigned fxt_layout_key_of(unsigned type, unsigned subtype)
{
	int has_subtypes = type == FXT_RECORD_METADATA || type == FXT_RECORD_PROFILER ||
			   type == FXT_RECORD_SCHEDULING;

	return FXT_LAYOUT_KEY(type, has_subtypes ? subtype : 0);
}

/* Returns the FXT_LAYOUT_KEY() of a record with the header HEAD. */
static inline __attribute__((unused)) unsigned fxt_layout_key(fxt_word head)
{
	unsigned type = (unsigned)fxt_get_record_type(head);

	return fxt_layout_key_of(
		type, (unsigned)(type == FXT_RECORD_SCHEDULING ? fxt_get_sched_type(head)
				 : type == FXT_RECORD_METADATA ? fxt_get_metadata_type(head)
							       : fxt_get_profiler_type(head)));
}

/* Returns SUBTYPE at its place in a header of TYPE; 0 = the type has no subtypes. */
static inline __attribute__((unused)) fxt_word fxt_layout_subtype(unsigned type, unsigned subtype)
{
	return type == FXT_RECORD_METADATA     ? fxt_put_metadata_type(subtype)
	       : type == FXT_RECORD_PROFILER   ? fxt_put_profiler_type(subtype)
	       : type == FXT_RECORD_SCHEDULING ? fxt_put_sched_type(subtype)
					       : 0;
}

/* 1 = a word follows the arguments of an event of TYPE: an id, or the end of a complete event. */
static inline __attribute__((unused)) int fxt_event_has_value(unsigned type)
{
	return type == FXT_EVENT_COUNTER ||
	       (type >= FXT_EVENT_DURATION_COMPLETE && type <= FXT_EVENT_FLOW_END);
}
