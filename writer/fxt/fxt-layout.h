/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands in each kind of record, once: a list of its parts in their order, for code that
 * defines the words. By it the reader takes records apart (fxt-parse.c), swaps them and finds them
 * again (fxt-shape.c), and judges them (fxt-check.c). It expands to straight code: nothing is
 * looked up for a record.
 *
 * * HEAD(member, field) a field of the header, and its member of struct fxt_record *
 * RESERVED(field) bits of the header that are zero * TIME() the word of the time * THREAD(field)
 * two words, unless the header's field is an index * PROCESS(field) one word, likewise * IDS() two
 * words, always * REF(member, field) a string, unless the header's field is an index * TEXT(field)
 * a string of so many bytes * BYTES(member, length, field) a stream of so many bytes; WORDS(...) of
 * so many words * WORD(member) a word * ARGS(field) so many arguments; in events, with the word
 * that may follow them
 *
 * Scheduling records are read by plain loads, since they are the bulk of most archives, and large
 * ones have two headers: both are written out where they are needed.
 */
#pragma once

#include "writer/fxt/fxt-wire.h"

#define FXT_LAYOUT_PROVIDER_INFO                                                                   \
	RESERVED(provider_info_reserved)                                                           \
	HEAD(metadata.provider_id, provider_id) TEXT(provider_name_length)
#define FXT_LAYOUT_PROVIDER_SECTION                                                                \
	RESERVED(provider_section_reserved) HEAD(metadata.provider_id, provider_id)
#define FXT_LAYOUT_PROVIDER_EVENT                                                                  \
	RESERVED(provider_event_reserved)                                                          \
	HEAD(metadata.provider_id, provider_id) HEAD(metadata.number, provider_event_id)

#define FXT_LAYOUT_INITIALIZATION                                                                  \
	RESERVED(initialization_reserved) WORD(initialization.ticks_per_second)
#define FXT_LAYOUT_STRING                                                                          \
	RESERVED(string_zero_31)                                                                   \
	RESERVED(string_zero_47)                                                                   \
	RESERVED(string_reserved) HEAD(string.index, string_index) TEXT(string_length)
#define FXT_LAYOUT_THREAD RESERVED(thread_reserved) HEAD(thread_record.index, thread_index) IDS()
#define FXT_LAYOUT_EVENT                                                                           \
	HEAD(subtype, event_type)                                                                  \
	TIME()                                                                                     \
	THREAD(event_thread) REF(category, event_category) REF(name, event_name) ARGS(event_n_args)
#define FXT_LAYOUT_BLOB                                                                            \
	RESERVED(blob_zero_47)                                                                     \
	RESERVED(blob_reserved)                                                                    \
	HEAD(blob.blob_type, blob_type)                                                            \
	REF(name, blob_name) BYTES(blob.bytes, blob.length, blob_length)
#define FXT_LAYOUT_USERSPACE_OBJECT                                                                \
	RESERVED(userspace_reserved)                                                               \
	WORD(userspace_object.pointer)                                                             \
	PROCESS(userspace_thread) REF(name, userspace_name) ARGS(userspace_n_args)
#define FXT_LAYOUT_KERNEL_OBJECT                                                                   \
	RESERVED(kernel_object_reserved)                                                           \
	HEAD(kernel_object.object_type, kernel_object_type)                                        \
	WORD(kernel_object.koid) REF(name, kernel_object_name) ARGS(kernel_object_n_args)
#define FXT_LAYOUT_LOG                                                                             \
	RESERVED(log_zero_31) RESERVED(log_reserved) TIME() THREAD(log_thread) TEXT(log_length)

#define FXT_LAYOUT_MODULE                                                                          \
	RESERVED(module_reserved)                                                                  \
	HEAD(module.id, module_id)                                                                 \
	TIME()                                                                                     \
	THREAD(profiler_thread)                                                                    \
	TEXT(module_name_length)                                                                   \
	BYTES(module.build_id, module.build_id_length, module_build_id_length)
#define FXT_LAYOUT_MMAP                                                                            \
	RESERVED(mmap_reserved)                                                                    \
	HEAD(mmap.module_id, mmap_module_id)                                                       \
	HEAD(mmap.flags, mmap_flags)                                                               \
	TIME() THREAD(profiler_thread) WORD(mmap.start) WORD(mmap.range) WORD(mmap.vaddr)
#define FXT_LAYOUT_BACKTRACE                                                                       \
	RESERVED(backtrace_reserved)                                                               \
	TIME()                                                                                     \
	THREAD(profiler_thread) WORDS(backtrace.frames, backtrace.n_frames, backtrace_n_frames)

/* X(name, record type, subtype or 0, what dump calls it): whose layouts these are. */
#define FXT_LAYOUTS(X)                                                                             \
	X(PROVIDER_INFO, FXT_RECORD_METADATA, FXT_METADATA_PROVIDER_INFO, "provider_info")         \
	X(PROVIDER_SECTION, FXT_RECORD_METADATA, FXT_METADATA_PROVIDER_SECTION,                    \
	  "provider_section")                                                                      \
	X(PROVIDER_EVENT, FXT_RECORD_METADATA, FXT_METADATA_PROVIDER_EVENT, "provider_event")      \
	X(INITIALIZATION, FXT_RECORD_INITIALIZATION, 0, "initialization")                          \
	X(STRING, FXT_RECORD_STRING, 0, "string")                                                  \
	X(THREAD, FXT_RECORD_THREAD, 0, "thread")                                                  \
	X(EVENT, FXT_RECORD_EVENT, 0, "event")                                                     \
	X(BLOB, FXT_RECORD_BLOB, 0, "blob")                                                        \
	X(USERSPACE_OBJECT, FXT_RECORD_USERSPACE_OBJECT, 0, "userspace_object")                    \
	X(KERNEL_OBJECT, FXT_RECORD_KERNEL_OBJECT, 0, "kernel_object")                             \
	X(LOG, FXT_RECORD_LOG, 0, "log")                                                           \
	X(MODULE, FXT_RECORD_PROFILER, FXT_PROFILER_MODULE, "module")                              \
	X(MMAP, FXT_RECORD_PROFILER, FXT_PROFILER_MMAP, "mmap")                                    \
	X(BACKTRACE, FXT_RECORD_PROFILER, FXT_PROFILER_BACKTRACE, "backtrace")

/* A record type and its subtype, for a switch over the layouts; 0 where a list has none. */
#define FXT_LAYOUT_KEY(type, subtype) ((unsigned)(type) << 4 | (unsigned)(subtype))

static inline __attribute__((unused)) unsigned fxt_layout_key(fxt_word head)
{
	unsigned type = (unsigned)fxt_get_record_type(head);

	return FXT_LAYOUT_KEY(type, type == FXT_RECORD_METADATA   ? fxt_get_metadata_type(head)
				    : type == FXT_RECORD_PROFILER ? fxt_get_profiler_type(head)
								  : 0);
}

/* Whether a word follows the arguments of an event: an id, or the end of a complete one. */
static inline __attribute__((unused)) int fxt_event_has_value(unsigned type)
{
	return type == FXT_EVENT_COUNTER ||
	       (type >= FXT_EVENT_DURATION_COMPLETE && type <= FXT_EVENT_FLOW_END);
}
