/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * FXT records, one function a type: the wire side of the writer. What is written when, and under
 * which names, is decided in fxt-archive.
 *
 * Strings that recur go through the string table (their record is written right before the first
 * use), values of string arguments stand inline. Threads of events go through the thread table.
 * A record is written whole or not at all; a failure for lack of room or memory sticks to the
 * output buffer, an argument out of the format's bounds is refused with -EINVAL or -EMSGSIZE
 * and nothing is written of that record.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-table.h"
#include "writer/fxt/fxt-wire.h"

struct fxt_writer {
	struct outbuf *out; /* borrowed; may be exchanged between records */
	struct fxt_table strings;
	struct fxt_table threads;
	uint32_t provider_id;
};

/* One argument ("Arguments"). The name is one of the fixed ones. */
struct fxt_arg {
	enum fxt_arg_type type;
	enum fxt_name name;
	union {
		int32_t i32;
		uint32_t u32;
		int64_t i64;
		uint64_t u64; /* also pointer and koid */
		double f64;
		bool boolean;
		const char *text; /* UTF-8, borrowed; "" is the empty string */
		struct {
			const void *data;
			uint32_t size;
		} blob;
	};
};

struct fxt_event {
	enum fxt_event_type type;
	enum fxt_name category, name;
	uint64_t ts_ns;
	uint32_t pid, tid; /* koids */
	const struct fxt_arg *args;
	unsigned n_args;
	uint64_t id; /* counter, async and flow: their id; complete: the end time */
};

struct fxt_switch {
	uint64_t ts_ns;
	uint32_t cpu, out_tid, in_tid;
	int32_t out_weight, in_weight; /* FXT_IDLE_WEIGHT: that side is idle */
	enum fxt_thread_state out_state;
};

/* Returns 0 or -ENOMEM; nothing is written yet. */
int fxt_writer_init(struct fxt_writer *w, struct outbuf *out);
void fxt_writer_deinit(struct fxt_writer *w);

/*
 * Magic, provider info and section, initialization (ticks are nanoseconds), and the strings of
 * fxt-names.h. NAME is at most FXT_PROVIDER_NAME_MAX bytes.
 */
int fxt_write_head(struct fxt_writer *w, uint32_t provider_id, const char *name);

/* "Kernel object record": NAME is cut to 256 bytes by the caller; empty is allowed. */
int fxt_write_kernel_object(struct fxt_writer *w, unsigned type, uint64_t koid, const char *name,
			    const struct fxt_arg *args, unsigned n_args);

/* "Event record" */
int fxt_write_event(struct fxt_writer *w, const struct fxt_event *ev);

/* "Context Switch Record", one that did not happen: with the argument `synthetic`. */
int fxt_write_synthetic_switch(struct fxt_writer *w, const struct fxt_switch *sw);

/* "BLOB record" */
int fxt_write_blob(struct fxt_writer *w, enum fxt_name name, enum fxt_blob_type type,
		   const void *data, size_t size);

/* "Provider event metadata" */
int fxt_write_provider_event(struct fxt_writer *w, unsigned event_id);

/* How many of the N bytes at DATA, which we wrote, are whole records. */
size_t fxt_whole_records(const uint8_t *data, size_t n);

/* N words of finished records. */
static inline int fxt_write_words(struct fxt_writer *w, const uint64_t *words, size_t n)
{
	return outbuf_append(w->out, words, n * FXT_WORD_BYTES);
}
