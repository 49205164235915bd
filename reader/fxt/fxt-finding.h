/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What can be wrong with an archive: each kind of finding once, in the table of fxt-finding.c.
 *
 * An error is against the specification. A warning is within it, and a reader that people use makes
 * something wrong of it. A note is right, and shown nowhere by the most used reader. The identifier of
 * a kind is stable: scripts name it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum fxt_severity {
	FXT_SEVERITY_ERROR,
	FXT_SEVERITY_WARNING,
	FXT_SEVERITY_NOTE,
	FXT_SEVERITY_MAX,
};

enum fxt_finding_id {
	/* the file */
	FXT_FINDING_DAMAGE,
	FXT_FINDING_TRUNCATED,
	FXT_FINDING_MAGIC_WRONG,
	FXT_FINDING_MAGIC_AGAIN,
	FXT_FINDING_PROVIDER_UNKNOWN,
	FXT_FINDING_PROVIDER_AGAIN,
	FXT_FINDING_STRING_BEFORE_PROVIDER,
	FXT_FINDING_INIT_MISSING,
	FXT_FINDING_INIT_LATE,
	FXT_FINDING_TICKS_INEXACT,
	FXT_FINDING_TIME_HUGE,
	FXT_FINDING_LOSS_INVISIBLE,

	/* any record */
	FXT_FINDING_RESERVED_BITS,
	FXT_FINDING_PADDING,
	FXT_FINDING_RECORD_UNKNOWN,
	FXT_FINDING_RECORD_TRAILING,
	FXT_FINDING_RECORD_LONGER,
	FXT_FINDING_METADATA_UNKNOWN,
	FXT_FINDING_LARGE_LONG,
	FXT_FINDING_BLOB_TYPE,

	/* strings and references */
	FXT_FINDING_UTF8,
	FXT_FINDING_TEXT_NUL,
	FXT_FINDING_STRING_LONG,
	FXT_FINDING_NAME_LONG,
	FXT_FINDING_STRING_UNDEFINED,
	FXT_FINDING_STRING_INDEX_0,
	FXT_FINDING_STRING_EMPTY,
	FXT_FINDING_THREAD_UNDEFINED,
	FXT_FINDING_THREAD_INDEX_0,
	FXT_FINDING_THREAD_INDEX_SHARED,

	/* arguments */
	FXT_FINDING_ARG_DAMAGED,
	FXT_FINDING_ARG_UNKNOWN,
	FXT_FINDING_ARG_LONGER,
	FXT_FINDING_ARG_NAME_EMPTY,
	FXT_FINDING_ARG_NAME_TWICE,
	FXT_FINDING_ARG_OPAQUE,
	FXT_FINDING_ARG_NEGATIVE,
	FXT_FINDING_ARG_WIDE,

	/* who is who */
	FXT_FINDING_KOID_WIDE,
	FXT_FINDING_PROCESS_TYPE,
	FXT_FINDING_PROCESS_MISSING,
	FXT_FINDING_PROCESS_NOT_FIRST,
	FXT_FINDING_OBJECT_NAME_INLINE,
	FXT_FINDING_THREAD_UNNAMED,
	FXT_FINDING_PROCESS_UNNAMED,
	FXT_FINDING_TID_REUSED,
	FXT_FINDING_THREAD_PROCESSES,
	FXT_FINDING_RENAMED,
	FXT_FINDING_EVENT_THREAD_UNNAMED,

	/* scheduling */
	FXT_FINDING_THREAD_STATE,
	FXT_FINDING_LEGACY_RUNNING,
	FXT_FINDING_WEIGHT_TYPE,
	FXT_FINDING_WAKER_TYPE,
	FXT_FINDING_WEIGHT_MISSING,
	FXT_FINDING_IDLE_WEIGHT,
	FXT_FINDING_CPU_HUGE,
	FXT_FINDING_SCHED_UNSORTED,
	FXT_FINDING_WAKE_LATE,
	FXT_FINDING_SWITCH_OUT_LOST,
	FXT_FINDING_SWITCH_IN_LOST,
	FXT_FINDING_TWO_CPUS,
	FXT_FINDING_TIE_SWITCH,
	FXT_FINDING_WAKE_RUNNING,
	FXT_FINDING_TIE_WAKEUP,
	FXT_FINDING_WAKE_TWICE,
	FXT_FINDING_CPU_LEFT_OPEN,
	FXT_FINDING_WAKER_MISSING,
	FXT_FINDING_WAKERS_MANY,

	/* events */
	FXT_FINDING_EVENT_UNKNOWN,
	FXT_FINDING_COMPLETE_BACKWARDS,
	FXT_FINDING_COMPLETE_OVERLAP,
	FXT_FINDING_DURATION_END_ALONE,
	FXT_FINDING_DURATION_OPEN,
	FXT_FINDING_DURATION_NAMES,
	FXT_FINDING_ASYNC_UNMATCHED,
	FXT_FINDING_ASYNC_DIFFERS,
	FXT_FINDING_ASYNC_OUTSIDE,
	FXT_FINDING_FLOW_UNMATCHED,
	FXT_FINDING_FLOW_TWICE,
	FXT_FINDING_FLOW_NO_SLICE,
	FXT_FINDING_COUNTER_TYPE,
	FXT_FINDING_COUNTER_EMPTY,

	/* profiles */
	FXT_FINDING_PROFILER_INLINE,
	FXT_FINDING_MMAP_BEFORE_MODULE,
	FXT_FINDING_BACKTRACE_BEFORE_MMAP,

	/* what programs allocate */
	FXT_FINDING_MEMORY_UNWATCHED,
	FXT_FINDING_STACK_UNNAMED,
	FXT_FINDING_STACK_EMPTY,
	FXT_FINDING_SNAPSHOT_SHORT,

	/* what is shown nowhere */
	FXT_FINDING_LOG_UNSEEN,
	FXT_FINDING_PROFILER_UNSEEN,
	FXT_FINDING_USERSPACE_UNSEEN,
	FXT_FINDING_OBJECT_UNSEEN,
	FXT_FINDING_LOSS_UNSEEN,
	FXT_FINDING_BLOB_UNSEEN,
	FXT_FINDING_LARGE_UNSEEN,

	FXT_FINDING_MAX,
};

struct fxt_finding_kind {
	const char *id; /* lower case, digits and dashes */
	enum fxt_severity severity;
	const char *text; /* one line, without its end */
	const char
		*detail; /* one line about value[]: each '#' stands for the next of them; or NULL */
	const char *explain; /* a paragraph: what it means, who says so, what to do */
};

extern const struct fxt_finding_kind fxt_finding_kinds[FXT_FINDING_MAX];

/* One case of it. */
struct fxt_finding {
	enum fxt_finding_id id;
	uint64_t offset;   /* of the record, or the damage, in the archive */
	uint64_t number;   /* of the record, from 1; 0 = damage */
	const char *what;  /* static text that says more, or NULL */
	uint64_t value[2]; /* what the kind's detail speaks of */
};

/* "error", "warning", "note". */
const char *fxt_severity_text(enum fxt_severity severity);

/* The kind that is called ID; -1 if there is none. */
int fxt_finding_by_id(const char *id);

enum { FXT_FINDING_DETAIL_MAX = 256 };

/* What is to be said of this case alone, "" if nothing: writes to TO and returns TO. */
char *fxt_finding_detail(char to[FXT_FINDING_DETAIL_MAX], const struct fxt_finding *finding);
