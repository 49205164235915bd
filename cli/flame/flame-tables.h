/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables that profiles of pprof and OpenTelemetry share: texts, mappings and functions. Their
 * entries are numbered as they are used, and are written at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/table.h"
#include "base/text-set.h"
#include "reader/views/profile-names.h"

struct flame_function {
	uint64_t name, file; /* numbers of texts */
};

struct flame_mapping {
	const struct mapping *map;
	bool functions, files, lines; /* known at all places in the mapping */
};

struct flame_tables {
	struct text_set texts;
	struct table text_numbers; /* address of a pooled text -> its number + 1 */
	struct outbuf text_list;   /* the string table in its encoded form */
	unsigned text_field;       /* field of a text in the string table */
	uint64_t n_texts;
	struct table function_numbers; /* hash of name and file, plus 1 for each collision -> id */
	struct flame_function *functions; /* function id - 1; owned */
	size_t n_functions, room_functions;
	struct table mapping_numbers;   /* number of the mapping -> id */
	struct flame_mapping *mappings; /* mapping id - 1; owned */
	size_t n_mappings, room_mappings;
	int error; /* the first failure */
};

/* Begins the string table, whose first text is "". */
void flame_tables_init(struct flame_tables *t, unsigned text_field);
void flame_tables_deinit(struct flame_tables *t);

/* Appends the string table to OUT. Returns 0, or the first failure. */
int flame_tables_finish(const struct flame_tables *t, struct outbuf *out);

void flame_tables_fail(struct flame_tables *t, int error);

/* Returns the number of TEXT in the string table. 0 is "". */
uint64_t flame_tables_text(struct flame_tables *t, const char *text);

/* Return ids, from 1 on. 0 = PLACE has no mapping; or a failure. */
uint64_t flame_tables_mapping(struct flame_tables *t, const struct profile_place *place);
uint64_t flame_tables_function(struct flame_tables *t, const struct frame *frame);

/* Returns the number of the path of a mapping's file, by which viewers show the file. */
uint64_t flame_tables_file_name(struct flame_tables *t, const struct mapping *map);

/* Returns the build id of MAP in hexadecimal digits, valid as long as T; "" if there is none. */
const char *flame_tables_build_id(struct flame_tables *t, const struct mapping *map);

/* Returns the address of PLACE; for a return address, that of the call before it; 0 = none. */
uint64_t flame_tables_address(const struct profile_place *place);
