/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The records of a leak report, shared by writer and reader. Texts are borrowed: by the writer from
 * its caller, and by the reader's caller from the reader's buffer, until the next call of the
 * reader.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "writer/rtrace/rtrace-wire.h"

struct rtrace_text {
	const char *bytes; /* not NUL-terminated */
	size_t n;
};

#define RTRACE_TEXT(literal) ((struct rtrace_text){ "" literal, sizeof(literal) - 1 })

static inline struct rtrace_text rtrace_text(const char *text)
{
	return (struct rtrace_text){ text, text ? strlen(text) : 0 };
}

static inline bool rtrace_text_is(struct rtrace_text a, const char *b)
{
	return a.n == strlen(b) && memcmp(a.bytes, b, a.n) == 0;
}

enum rtrace_kind {
	RTRACE_HEADER,
	RTRACE_ATTACHMENT,
	RTRACE_CONTEXT,
	RTRACE_RESOURCE,
	RTRACE_MAP,
	RTRACE_CALL,
	RTRACE_ARG,   /* an argument of the last call */
	RTRACE_FRAME, /* a frame of the calls since the last backtrace */
	RTRACE_END,   /* the empty line at the end of a backtrace */
	RTRACE_NOTE,  /* a comment, or any other text */
	RTRACE_CALLS_SUMMARY,
	RTRACE_LEAKS_SUMMARY,
};

struct rtrace_header {
	/* Version of a report that was read; writers write RTRACE_VERSION. */
	struct rtrace_text version;
	struct rtrace_text arch, timestamp, process, origin; /* empty if unknown */
	uint32_t pid;                                        /* 0 = unknown */
	unsigned filters;                                    /* enum rtrace_filter */
	bool has_depth;
	uint32_t depth; /* maximum number of frames in a backtrace */
};

/* A mapped file. */
struct rtrace_map {
	struct rtrace_text path;
	/* Address at which the file's beginning is, or would be, mapped (the load bias). */
	uint64_t start;
	uint64_t end; /* end of its last mapping */
};

struct rtrace_context {
	uint32_t mask;
	struct rtrace_text name;
};

struct rtrace_resource {
	uint32_t mask; /* bit of the resource */
	/* The resource counts references: each allocation of an id needs a deallocation. */
	bool refcount;
	struct rtrace_text type, description;
};

struct rtrace_attachment {
	struct rtrace_text name, path;
};

/* An allocation or a deallocation. */
struct rtrace_call {
	uint64_t index;
	uint64_t id;
	uint64_t size; /* for allocations: size in bytes, or in the unit of the resource */
	uint64_t time_ns;
	uint32_t contexts;
	bool has_time;
	bool is_free;
	struct rtrace_text name;
	struct rtrace_text type; /* empty: the first type, or unknown */
};

struct rtrace_arg {
	struct rtrace_text name, value;
};

struct rtrace_frame {
	uint64_t address;        /* the return address */
	struct rtrace_text text; /* description of the frame; empty if unknown */
};

/* Sums of allocations that share a backtrace, or have the same resource. */
struct rtrace_summary {
	uint64_t count, size;
	struct rtrace_text type, description; /* only in RTRACE_LEAKS_SUMMARY */
};

struct rtrace_record {
	enum rtrace_kind kind;
	union {
		struct rtrace_header header;
		struct rtrace_attachment attachment;
		struct rtrace_context context;
		struct rtrace_resource resource;
		struct rtrace_map map;
		struct rtrace_call call;
		struct rtrace_arg arg;
		struct rtrace_frame frame;
		struct rtrace_text note; /* the line, without its line feed */
		struct rtrace_summary summary;
	};
	/* Set by the reader: */
	struct rtrace_text raw; /* the unchanged line, with its line feed if it has one */
	uint64_t offset;        /* its position in the input */
	uint64_t line;          /* number of the line, from 1 */
	int resource_number;    /* for a call: the number of its resource; -1 = none */
	bool opens;             /* the call is the first of those that share the next backtrace */
	bool continues;         /* a note that continues a line that was too long */
	bool temporary;         /* a note that post-processing drops */
};
