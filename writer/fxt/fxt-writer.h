/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * FXT records, one function per type: the wire side of the writer. Callers decide which records and
 * names they write; fxt-archive writes kymo's own archives.
 *
 * An archive has one or more providers, each with its own tables. The writer marks a change of
 * provider with a section record. The caller decides whether a string or thread is inline or in the
 * provider's table. If it is in the table, a string or thread record is written directly before the
 * first record that uses it.
 *
 * A record is written completely or not at all. A record that the format cannot hold is refused:
 * -EMSGSIZE if it is too long, -EINVAL if a value is out of bounds. Nothing is then written, not
 * even its string and thread records. After a failure for lack of room or memory, the output buffer
 * refuses all later records.
 *
 * Large records (fxt_write_large_blob()) can be longer than FXT_RECORD_WORDS_MAX, and the format
 * requires one record. But known readers, including Perfetto, read the size of every record from 12
 * bits, and fail after a longer record. So for these readers, longer data must be split. A CPU
 * number has 16 bits, but Perfetto rejects a trace with CPU 4096 or above.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/outbuf.h"
#include "writer/fxt/fxt-names.h"
#include "writer/fxt/fxt-table.h"
#include "writer/fxt/fxt-wire.h"

/* The texts of fxt-names.h by their indices; NULL = no name has the index. */
extern const char *const fxt_name_texts[FXT_NAME_RESERVED + 1];

/* ---- parts of records ---- */

/*
 * A string ("String references"): INDEX is a fixed index at which it was registered, such as an
 * enum fxt_name; or INDEX is 0, and the LENGTH bytes of UTF-8 at TEXT are written inline or through
 * the table. A struct with all bytes zero is the empty string.
 */
struct fxt_out_string {
	unsigned index;
	bool is_inline;
	const char *text; /* borrowed */
	size_t length;
};

static inline struct fxt_out_string fxt_named(enum fxt_name name)
{
	return (struct fxt_out_string){ .index = name };
}

static inline struct fxt_out_string fxt_interned(const char *text)
{
	return (struct fxt_out_string){ .text = text, .length = strlen(text) };
}

static inline struct fxt_out_string fxt_inline(const char *text)
{
	return (struct fxt_out_string){ 0, true, text, strlen(text) };
}

/* A thread ("Thread references"), by its koids, which are written inline or through the table. */
struct fxt_out_thread {
	uint64_t pid, tid;
	bool is_inline;
};

/* An argument ("Arguments"). */
struct fxt_out_arg {
	enum fxt_arg_type type;
	struct fxt_out_string name;
	union {
		int32_t i32;
		uint32_t u32;
		int64_t i64;
		uint64_t u64; /* value of unsigned numbers, pointers and koids */
		double f64;
		bool boolean;
		struct fxt_out_string text;
		struct {
			const void *data; /* borrowed */
			size_t size;
		} blob;
	};
};

/* ---- providers ---- */

/*
 * A provider. The caller registers strings at indexes up to FXT_STRING_FIXED_MAX; the table assigns
 * higher indexes.
 */
struct fxt_out_provider {
	uint32_t id;
	bool introduced;
	uint64_t registered[FXT_STRING_FIXED_MAX / 64 + 1]; /* a bit for each fixed index */
	struct fxt_table strings, threads;
};

/* Initializes P. In an archive, each provider must have another ID. Returns 0 or -ENOMEM. */
int fxt_out_provider_init(struct fxt_out_provider *p, uint32_t id);
void fxt_out_provider_deinit(struct fxt_out_provider *p);

/*
 * Empties P's tables: strings and threads are registered anew from now on, except strings at fixed
 * indexes. Returns 0 or -ENOMEM.
 */
int fxt_out_provider_forget(struct fxt_out_provider *p);

struct fxt_writer {
	struct outbuf *out; /* borrowed; can be replaced between records */
	struct fxt_out_provider
		*provider; /* borrowed; that of the current section; NULL = no section yet */
};

/* ---- the frame of an archive ---- */

/* Writes the "Magic number record". */
int fxt_write_magic(struct fxt_writer *w);

/*
 * Writes "Provider info metadata". NAME has at most FXT_PROVIDER_NAME_MAX bytes. Empties P's
 * tables; later records belong to P.
 */
int fxt_write_provider_info(struct fxt_writer *w, struct fxt_out_provider *p, const char *name);

/* Writes "Provider section metadata": later records belong to P, which was introduced before. */
int fxt_write_section(struct fxt_writer *w, struct fxt_out_provider *p);

/* Writes "Provider event metadata" of the current provider. */
int fxt_write_provider_event(struct fxt_writer *w, unsigned event_id);

/* Writes an "Initialization record". */
int fxt_write_initialization(struct fxt_writer *w, uint64_t ticks_per_second);

/* Writes a "String record" for a fixed index, 1..FXT_STRING_FIXED_MAX. */
int fxt_write_string(struct fxt_writer *w, unsigned index, const char *text, size_t n);

/* Writes all strings of fxt-names.h. */
int fxt_write_names(struct fxt_writer *w);

/*
 * Writes the begin of an archive with one provider: magic, provider info and section,
 * initialization (a tick is a nanosecond), and the names.
 */
int fxt_write_head(struct fxt_writer *w, struct fxt_out_provider *p, const char *name);

/* ---- events and objects ---- */

struct fxt_event {
	enum fxt_event_type type;
	struct fxt_out_string category, name;
	uint64_t ts_ticks;
	struct fxt_out_thread thread;
	const struct fxt_out_arg *args;
	unsigned n_args;
	uint64_t id; /* of a counter, async event or flow; or the end of a complete event */
};

struct fxt_userspace_object {
	uint64_t pointer;
	struct fxt_out_thread process; /* if it is inline, its tid is not written */
	struct fxt_out_string name;
	const struct fxt_out_arg *args;
	unsigned n_args;
};

struct fxt_kernel_object {
	unsigned type; /* FXT_OBJECT_*, or another of Zircon's types; at most 255 */
	uint64_t koid;
	struct fxt_out_string name;
	const struct fxt_out_arg *args;
	unsigned n_args;
};

struct fxt_log {
	uint64_t ts_ticks;
	struct fxt_out_thread thread;
	const char *text;
	size_t length;
};

/* Write an "Event record" and the other records that the format describes. */
int fxt_write_event(struct fxt_writer *w, const struct fxt_event *ev);
int fxt_write_userspace_object(struct fxt_writer *w, const struct fxt_userspace_object *o);
int fxt_write_kernel_object(struct fxt_writer *w, const struct fxt_kernel_object *o);
int fxt_write_log(struct fxt_writer *w, const struct fxt_log *log);

/* ---- bulk data ---- */

struct fxt_blob {
	struct fxt_out_string name;
	enum fxt_blob_type type;
	const void *data;
	size_t size;
};

struct fxt_large_blob {
	struct fxt_out_string category, name;
	const void *data;
	size_t size;
	bool has_metadata; /* the following members are written */
	uint64_t ts_ticks;
	struct fxt_out_thread thread;
	const struct fxt_out_arg *args;
	unsigned n_args;
};

int fxt_write_blob(struct fxt_writer *w, const struct fxt_blob *blob);

/* Writes a "Large BLOB record". Known readers fail after long ones: see the begin of this file. */
int fxt_write_large_blob(struct fxt_writer *w, const struct fxt_large_blob *blob);

/* ---- scheduling ---- */

struct fxt_switch {
	uint64_t ts_ticks;
	uint32_t cpu;
	enum fxt_thread_state out_state;
	uint64_t out_tid, in_tid;
	const struct fxt_out_arg *args;
	unsigned n_args;
};

struct fxt_wakeup {
	uint64_t ts_ticks;
	uint32_t cpu;
	uint64_t tid;
	const struct fxt_out_arg *args;
	unsigned n_args;
};

struct fxt_legacy_switch {
	uint64_t ts_ticks;
	uint32_t cpu; /* at most 255 */
	enum fxt_thread_state out_state;
	struct fxt_out_thread out, in;
	uint8_t out_priority, in_priority;
};

int fxt_write_switch(struct fxt_writer *w, const struct fxt_switch *sw);
int fxt_write_wakeup(struct fxt_writer *w, const struct fxt_wakeup *wake);
int fxt_write_legacy_switch(struct fxt_writer *w, const struct fxt_legacy_switch *sw);

/* ---- profiler ---- */

struct fxt_module {
	uint64_t ts_ticks;
	struct fxt_out_thread thread;
	uint32_t id; /* at most 16 bits */
	const char *name;
	const void *build_id;
	size_t build_id_size;
};

struct fxt_mmap {
	uint64_t ts_ticks;
	struct fxt_out_thread thread;
	uint32_t module_id; /* at most 16 bits */
	unsigned flags;     /* at most 3 bits */
	uint64_t start, range, vaddr;
};

struct fxt_backtrace {
	uint64_t ts_ticks;
	struct fxt_out_thread thread;
	const uint64_t *frames;
	size_t n_frames;
};

int fxt_write_module(struct fxt_writer *w, const struct fxt_module *module);
int fxt_write_mmap(struct fxt_writer *w, const struct fxt_mmap *map);
int fxt_write_backtrace(struct fxt_writer *w, const struct fxt_backtrace *trace);

/* ---- finished records ---- */

/*
 * Returns the number of bytes of the whole records at the begin of the N bytes at DATA, by the
 * sizes in their headers.
 */
size_t fxt_whole_records(const uint8_t *data, size_t n);

/* Writes N words of finished records. */
static inline int fxt_write_words(struct fxt_writer *w, const uint64_t *words, size_t n)
{
	return outbuf_append(w->out, words, n * FXT_WORD_BYTES);
}
