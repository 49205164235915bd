/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The format of a tracepoint: its fields, as its file `format` in tracefs describes them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/options/tracepoint-spec.h"
#include "capture/tracepoints/tracepoint-symbols.h"

enum {
	/* Maximum number of fields that events have. Further ones are left out. */
	TRACEPOINT_FIELDS_MAX = 14,
	/* Maximum number of fields in a format that is read. */
	TRACEPOINT_FORMAT_FIELDS_MAX = 64,
	TRACEPOINT_FORMAT_BYTES_MAX = 64 << 10, /* maximum size of a file `format` */
};

enum tracepoint_form {
	TRACEPOINT_INT, /* numbers of 1, 2, 4 or 8 bytes; with `count`, a list of numbers */
	TRACEPOINT_UINT,
	TRACEPOINT_POINTER,
	TRACEPOINT_BOOL,
	TRACEPOINT_CHARS, /* text in an array of characters */
	TRACEPOINT_BYTES, /* any other type: shown as hexadecimal digits */
};

struct tracepoint_field {
	char name[TRACEPOINT_NAME_MAX];
	enum tracepoint_form form;
	uint16_t offset;  /* in the event, including its head */
	uint16_t size;    /* of the field; for a dynamic one, of its place (4) */
	uint16_t element; /* size of a number; otherwise 1 */
	uint16_t count;   /* 0 = one number; otherwise the number of elements of a list */
	bool is_dynamic;
	bool is_relative; /* the place of dynamic data is relative to the end of the field */
};

struct tracepoint_format {
	char name[TRACEPOINT_NAME_MAX];
	uint32_t id;
	uint32_t end; /* end of the last field of constant size, as an offset in the event */
	size_t n_fields;
	struct tracepoint_field fields[TRACEPOINT_FORMAT_FIELDS_MAX];
};

/*
 * Parses the N bytes of a file `format`. Common fields are left out. Returns 0, -EBADMSG if the
 * bytes are not a format, or -E2BIG if a limit is exceeded.
 */
int tracepoint_format_parse(const char *text, size_t n, struct tracepoint_format *ret);

/*
 * Reads and parses the format of tracepoint NAME of SYSTEM; both must come from tracefs_list(). DIR
 * is the result of tracefs_open(). Also sets *RET_SYMBOLS, which the caller owns; after an error,
 * *RET_SYMBOLS is empty. Returns like tracepoint_format_parse(), or another negative errno.
 */
int tracepoint_format_read(int dir, const char *system, const char *name,
			   struct tracepoint_format *ret, struct tracepoint_symbols *ret_symbols);

/* Returns the field NAME, or NULL. */
const struct tracepoint_field *tracepoint_format_find(const struct tracepoint_format *f,
						      const char *name);
