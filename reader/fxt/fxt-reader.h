/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads a Fuchsia trace archive, record by record, in one pass.
 *
 * fxt_reader_next() finds the next record, parses it and returns a view of it. Everything in the
 * view is proven to be inside the record. Strings and threads are resolved through the tables of
 * the section's provider. The view and its pointers are valid until the next call. Unreadable bytes
 * are damage: they are reported with position and length, and reading continues at the next place
 * where records begin. No content of an archive can make the reader fail in another way.
 * docs/architecture/damage.md describes how records are found again.
 *
 * Archives of big-endian machines give the same results as little-endian ones: native words, and
 * unchanged streams (strings, blobs).
 *
 * Arguments are checked and resolved on demand (fxt_args_next()). References to unregistered
 * strings or threads are not damage here: the record is returned with empty text or an undefined
 * thread. fxt-check.h checks these.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "base/input.h"
#include "reader/fxt/fxt-args.h"
#include "reader/fxt/fxt-provider.h"
#include "writer/fxt/fxt-wire.h"

/* The results of fxt_reader_new_*(), besides 0 and negative errnos. */
enum fxt_alien {
	FXT_ALIEN_EMPTY = 1, /* an empty input */
	FXT_ALIEN_XZ,        /* compressed */
	FXT_ALIEN_REPORT,    /* a leak report, which is text: "version=..." */
	FXT_ALIEN_OTHER,     /* no magic number, and no records were found in it */
};

/* The results of fxt_reader_next(), besides negative errnos. */
enum fxt_reader_outcome {
	FXT_READER_END = 0,
	FXT_READER_RECORD = 1,
	FXT_READER_DAMAGE = 2,
};

/* Bytes that are not a record, or an inconsistent record. */
struct fxt_damage {
	uint64_t offset;  /* in the input */
	uint64_t bytes;   /* skipped bytes; 0: reported without skipping */
	const char *what; /* static text */
	bool truncated;   /* the input ends inside this record */
};

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
			uint32_t number; /* of the provider event; the trace info type */
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
			uint64_t end_ns; /* of duration complete */
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
			uint64_t out_pid, in_pid; /* of the legacy record; otherwise 0 */
			uint16_t cpu;
			uint8_t out_state;
			uint8_t out_priority, in_priority; /* of the legacy record */
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

struct fxt_reader;

/*
 * Start to read from FD (borrowed, from its position), N bytes at P (borrowed), or data from READ.
 * Wait for the first bytes. Return 0, an enum fxt_alien if the input is not a supported archive, or
 * a negative errno (-EISDIR, -ENOMEM, an error of read()).
 */
int fxt_reader_new_fd(struct fxt_reader **ret, int fd);
int fxt_reader_new_memory(struct fxt_reader **ret, const void *p, size_t n);
int fxt_reader_new_source(struct fxt_reader **ret, input_read_fn read, void *userdata);

struct fxt_reader *fxt_reader_free(struct fxt_reader *r);
DEFINE_CLEANUP(struct fxt_reader *, fxt_reader_free)

/*
 * Continues to read. FXT_READER_RECORD: *RET is the next record. FXT_READER_DAMAGE: *RET is NULL,
 * and fxt_reader_damage() has the damage. FXT_READER_END, an error of read(), or -ENOMEM.
 */
int fxt_reader_next(struct fxt_reader *r, const struct fxt_record **ret);

/* The last damage. */
const struct fxt_damage *fxt_reader_damage(const struct fxt_reader *r);

/* The number of bytes read or skipped: the position of the next record. */
uint64_t fxt_reader_offset(const struct fxt_reader *r);

/* Whether it is an archive of a big-endian machine. */
bool fxt_reader_swaps(const struct fxt_reader *r);
