/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A parsed record of an archive.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "reader/fxt/fxt-args.h"
#include "reader/fxt/fxt-provider.h"
#include "writer/fxt/fxt-wire.h"

/*
 * The type of a scheduling, profiler or large record with an unknown subtype: complete and skipped,
 * as are records of unknown type. The subtype is kept, and the type is in words[0].
 */
enum { FXT_RECORD_UNKNOWN_KIND = 16 };

struct fxt_record {
	unsigned type;    /* enum fxt_record_type, FXT_RECORD_UNKNOWN_KIND, or 11..14: unknown */
	unsigned subtype; /* metadata, event, scheduling, profiler type; large: blob format */
	uint64_t offset;  /* in the input; can be in the previous record, which overlapped it */
	uint64_t n_words;
	uint64_t
		n_behind; /* words after its contents; for an unknown kind: all except the header */
	const uint64_t *words; /* the record, header first; native, aligned */
	const struct fxt_provider *provider;
	bool ignored; /* it would change the tables, but is odd and was not used */

	/*
	 * Set if the record has them, otherwise undefined, except for args.n_left, which is then 0.
	 */
	uint64_t ts_ticks, ts_ns;
	struct fxt_thread thread; /* also of thread records; pid only of userspace objects */
	struct fxt_text category, name;
	struct fxt_args args; /* a copy of it is an iterator */

	union {
		struct {
			uint32_t provider_id;
			uint32_t number; /* number of the provider event, or the trace info type */
		} metadata;              /* a provider info's name is in name */
		struct {
			uint64_t ticks_per_second;
		} initialization;
		struct {
			unsigned index;
		} string; /* the text is in name */
		struct {
			unsigned index;
		} thread_record;
		struct {
			uint64_t value;  /* counter id, end time, correlation id; 0 without one */
			uint64_t end_ns; /* end of a duration complete */
		} event;
		struct {
			unsigned type; /* not of large ones */
			const uint8_t *data;
			uint64_t size;
		} blob; /* large ones too */
		struct {
			uint64_t pointer;
		} userspace_object;
		struct {
			uint64_t koid;
			unsigned type;
		} kernel_object;
		struct {
			uint64_t out_tid, in_tid;
			uint64_t out_pid, in_pid; /* only in the legacy record; otherwise 0 */
			uint16_t cpu;
			uint8_t out_state;
			uint8_t out_priority, in_priority; /* only in the legacy record */
			bool out_defined, in_defined;      /* the legacy record's thread refs */
		} sw;
		struct {
			uint64_t tid;
			uint16_t cpu;
		} wake;
		struct {
			uint16_t id;
			const uint8_t *build_id;
			uint8_t build_id_size;
		} module; /* its name is in name; so is a log record's message */
		struct {
			uint16_t module_id;
			uint8_t flags;
			uint64_t start, range, vaddr;
		} mmap;
		struct {
			const uint64_t *frames;
			unsigned n_frames;
		} backtrace;
	};
};

/* Whether ts_ticks and ts_ns are set. */
static inline bool fxt_record_has_time(const struct fxt_record *r)
{
	switch (r->type) {
	case FXT_RECORD_EVENT:
	case FXT_RECORD_SCHEDULING:
	case FXT_RECORD_LOG:
	case FXT_RECORD_PROFILER:
		return true;
	case FXT_RECORD_LARGE:
		return r->subtype == FXT_LARGE_BLOB_METADATA;
	default:
		return false;
	}
}
