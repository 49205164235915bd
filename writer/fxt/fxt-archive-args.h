/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Between the files of the archive's writer: arguments, and what each kind of event is written by.
 */
#pragma once

#include <assert.h>

#include "writer/fxt/fxt-archive.h"

/* Arguments of one record, added as they are known. */
struct args {
	struct fxt_out_arg list[FXT_ARGS_MAX];
	unsigned n;
};

static inline struct fxt_out_arg *archive_args_add(struct args *args, enum fxt_arg_type type,
						   enum fxt_name name)
{
	struct fxt_out_arg *arg = &args->list[args->n++];

	assert(args->n <= FXT_ARGS_MAX);
	*arg = (struct fxt_out_arg){ .type = type, .name = fxt_named(name) };
	return arg;
}

static inline void add_koid(struct args *args, enum fxt_name name, uint32_t koid)
{
	archive_args_add(args, FXT_ARG_KOID, name)->u64 = koid;
}

static inline void archive_args_add_u32(struct args *args, enum fxt_name name, uint32_t v)
{
	archive_args_add(args, FXT_ARG_UINT32, name)->u32 = v;
}

static inline void add_i32(struct args *args, enum fxt_name name, int32_t v)
{
	archive_args_add(args, FXT_ARG_INT32, name)->i32 = v;
}

static inline void add_u64(struct args *args, enum fxt_name name, uint64_t v)
{
	archive_args_add(args, FXT_ARG_UINT64, name)->u64 = v;
}

static inline void add_pointer(struct args *args, enum fxt_name name, uint64_t v)
{
	archive_args_add(args, FXT_ARG_POINTER, name)->u64 = v;
}

static inline void archive_args_add_text(struct args *args, enum fxt_name name, const char *text)
{
	archive_args_add(args, FXT_ARG_STRING, name)->text = fxt_inline(text);
}

static inline void add_bool(struct args *args, enum fxt_name name, bool v)
{
	archive_args_add(args, FXT_ARG_BOOL, name)->boolean = v;
}

/* An instant event of EV's thread and time. */
int fxt_archive_instant(struct fxt_archive *a, const struct event *ev, enum fxt_name category,
			enum fxt_name name, const struct args *args);

/* One on our own thread. */
int fxt_archive_on_kymo(struct fxt_archive *a, uint64_t ts_ns, enum fxt_name category,
			enum fxt_name name, const struct args *args);

/* The profiler (fxt-archive-profiler.c) */
int fxt_archive_sampling(struct fxt_archive *a, const struct event *ev);
int fxt_archive_mapping(struct fxt_archive *a, const struct event *ev);
int fxt_archive_sample(struct fxt_archive *a, const struct event *ev);
int fxt_archive_offcpu(struct fxt_archive *a, const struct event *ev);
int fxt_archive_frame(struct fxt_archive *a, const struct event *ev);

/* What programs allocate (fxt-archive-memory.c) */
int fxt_archive_stack_name(struct fxt_archive *a, const struct event *ev);
int fxt_archive_watch(struct fxt_archive *a, const struct event *ev);
int fxt_archive_watched(struct fxt_archive *a, const struct event *ev);
int fxt_archive_alloc(struct fxt_archive *a, const struct event *ev);
int fxt_archive_free(struct fxt_archive *a, const struct event *ev);
int fxt_archive_usage(struct fxt_archive *a, const struct event *ev);
int fxt_archive_snapshot(struct fxt_archive *a, const struct event *ev);
int fxt_archive_block(struct fxt_archive *a, const struct event *ev);
int fxt_archive_context(struct fxt_archive *a, const struct event *ev);
