/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Names of chunks in a directory: NAME-BEGIN-END.fxt, with UTC times in microseconds
 * (20261120T190834.123456Z), and .NAME-BEGIN.part while a chunk is written.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "writer/pack/pack.h"

enum { CHUNK_NAME_MAX = 160 }; /* room for one name, the NUL included */

struct chunk_name {
	uint64_t begin_us, end_us; /* in microseconds since 1970 */
};

/* Writes the name to TO, and returns TO. */
char *chunk_name_format(char to[static CHUNK_NAME_MAX], const char *name,
			const struct chunk_name *c, enum pack_method packed);
char *chunk_name_format_part(char to[static CHUNK_NAME_MAX], const char *name, uint64_t begin_us);

/*
 * The first function returns true if TEXT is the name of a chunk of NAME. The second one returns
 * true if TEXT is the name of a chunk of NAME that is being written.
 */
bool chunk_name_parse(const char *text, const char *name, struct chunk_name *ret);
bool chunk_name_parse_part(const char *text, const char *name, uint64_t *ret_begin_us);
