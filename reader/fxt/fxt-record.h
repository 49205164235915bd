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
 * The type of a scheduling, profiler or large record with an unknown subtype. The reader returns it
 * whole, without its contents, like records of unknown type. The subtype is kept, and the type is
 * in words[0].
 */
enum { FXT_RECORD_UNKNOWN_KIND = 16 };

struct fxt_record {
	unsigned type; /* enum fxt_record_type, FXT_RECORD_UNKNOWN_KIND, or 11..14: unknown */
	/* Type of the metadata, event, scheduling or profiler record; format of a large blob. */
	unsigned subtype;
	/*
	 * Position in the input. It can be inside the previous record, if that record had seemed to
	 * end later.
	 */
	uint64_t offset;
	uint64_t n_words;
	uint64_t
		/*
		 * Number of words after its contents; for an unknown kind, of all words except the
		 * header.
		 */
		n_behind;
	/* The words of the record, from the header on; in native byte order, aligned. */
	const uint64_t *words;
	const struct fxt_provider *provider;
	bool ignored; /* the record would change the tables, but is odd, so it was not used */

	/*
	 * The members from here on are set if the record type has them, and undefined otherwise,
	 * except for args.n_left, which is 0 then.
	 */
	uint64_t ts_ticks, ts_ns;
	/* Also set for thread records; for userspace objects, only the pid. */
	struct fxt_thread thread;
	struct fxt_text category, name;
	struct fxt_args args; /* the arguments; a copy is an iterator */

	union {
		struct {
			uint32_t provider_id;
			uint32_t number; /* number of the provider event, or the trace info type */
		} metadata;              /* the name of a provider info record is in `name` */
		struct {
			uint64_t ticks_per_second;
		} initialization;
		struct {
			unsigned index;
		} string; /* the text of a string record is in `name` */
		struct {
			unsigned index;
		} thread_record;
		struct {
			/* Counter id, end time or correlation id; 0 = the event has none of
			 * them. */
			uint64_t value;
			uint64_t end_ns; /* end of a complete duration */
		} event;
		struct {
			unsigned type; /* not set for large blobs */
			const uint8_t *data;
			uint64_t size;
		} blob; /* for large blobs, too */
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
			/* true: the thread reference in the legacy record is defined */
			bool out_defined, in_defined;
		} sw;
		struct {
			uint64_t tid;
			uint16_t cpu;
		} wake;
		struct {
			uint16_t id;
			const uint8_t *build_id;
			uint8_t build_id_size;
		} module; /* the name of a module is in `name`, like the message of a log record */
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

/* Returns true if ts_ticks and ts_ns are set. */
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
