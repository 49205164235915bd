/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Suppressions of leaks, in the formats of valgrind and LeakSanitizer. A file can have both:
 *
 *	{
 *	   a name
 *	   Memcheck:Leak
 *	   match-leak-kinds: definite,possible
 *	   fun:*alloc              the allocating function can come first, or be omitted
 *	   obj:/usr/lib/libx.so*
 *	   src:file.c:12
 *	   ...                     any frames, or none
 *	}
 *	leak:text                  in the function, source or module of a frame; ^, $, * as usual
 *	# a comment
 *
 * Entries for other errors than leaks are ignored. Functions are compared by their demangled names:
 * "fun:_ZN1a1bEv" is read as "a::b()", but a mangled name with wildcards never matches.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/cleanup.h"
#include "model/event.h"

struct suppression_frame {
	const char *function, *source, *module; /* "" = unknown */
	uint32_t line;                          /* 0 = unknown */
};

struct suppression_stack {
	const char *const *allocators;          /* functions that allocated the blocks */
	size_t n_allocators;                    /* 0 = the functions are unknown */
	const struct suppression_frame *frames; /* innermost first, including inlined functions */
	size_t n_frames;
	enum reach reach; /* result of the search for the blocks */
};

struct suppression {
	char *name;       /* owned; for "leak:", the text after it */
	unsigned line;    /* number of its first line */
	bool is_leak;     /* otherwise, the entry is for another error */
	bool substring;   /* the entry is a line "leak:" */
	unsigned reaches; /* bits 1 << enum reach */
	struct suppression_pattern {
		enum suppression_kind {
			SUPPRESSION_FUNCTION,
			SUPPRESSION_OBJECT,
			SUPPRESSION_SOURCE,
			SUPPRESSION_ANY, /* "...", any frames */
		} kind;
		bool literal; /* the text has no wildcards */
		char *text;   /* owned */
	} * patterns;
	size_t n_patterns, room_patterns;
	uint64_t n_groups, n_blocks, n_bytes; /* counts of suppressed groups, kept by the caller */
};

struct suppressions {
	struct suppression *list; /* owned */
	size_t n, room;
	size_t n_mangled; /* number of patterns that never match */
};

void suppressions_deinit(struct suppressions *s);

/* The error in a file. */
struct suppression_problem {
	unsigned line;
	const char *what;
};

/* Adds the entries of TEXT. Returns 0, -ENOMEM, or -EINVAL with *RETERR. */
int suppressions_parse(struct suppressions *s, const char *text,
		       struct suppression_problem *reterr);

/* Adds the entries of the file at PATH. Returns CLI_OK, or CLI_FAILED after an error message. */
int suppressions_read(struct suppressions *s, const char *path);

/* Returns the first entry that matches STACK, or NULL. */
struct suppression *suppressions_find(struct suppressions *s,
				      const struct suppression_stack *stack);
