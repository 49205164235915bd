/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The parts of a call trace: bytes, signatures, values. Only for the reader.
 *
 * All functions return 0 or a negative errno; -EBADMSG: damage, which is in p->damage.
 */
#pragma once

#include "base/input.h"
#include "base/table.h"
#include "reader/apitrace/apitrace-finding.h"
#include "reader/apitrace/apitrace-pool.h"
#include "writer/apitrace/apitrace-model.h"

enum {
	APITRACE_TEXT_MAX = 256 << 20,
	APITRACE_CALL_BYTES_MAX = 512 << 20,
	APITRACE_SIGNATURE_BYTES_MAX = 256 << 20,
	APITRACE_PENDING_BYTES_MAX = 256 << 20,
	APITRACE_DEPTH_MAX = 200, /* maximum depth of values in values */
};

struct apitrace_parse {
	struct input input;
	uint64_t version;
	struct apitrace_damage damage;
	apitrace_finding_fn finding; /* may be NULL */
	void *userdata;
	struct apitrace_pool signatures;
	struct table functions, structs, enums, bitmasks, frames; /* by id + 1 */
};

void apitrace_parse_deinit(struct apitrace_parse *p);

/* Reports the damage WHAT at OFFSET. Returns -EBADMSG. */
int apitrace_parse_damage(struct apitrace_parse *p, uint64_t offset, const char *what);

void apitrace_parse_found(struct apitrace_parse *p, enum apitrace_finding_id id);

/* ---- bytes ---- */

int apitrace_parse_byte(struct apitrace_parse *p, uint8_t *ret);
int apitrace_parse_number(struct apitrace_parse *p, uint64_t *ret);

/* Parse a value of an enum, and a number with a sign. */
int apitrace_parse_signed(struct apitrace_parse *p, int64_t *ret);

/* Allocates SIZE bytes in POOL, which may have at most MAX bytes. */
int apitrace_parse_room(struct apitrace_parse *p, struct apitrace_pool *pool, size_t size,
			size_t max, void *ret);

/* Parses a string into POOL, which may have at most MAX bytes. */
int apitrace_parse_text(struct apitrace_parse *p, struct apitrace_pool *pool, size_t max,
			struct apitrace_text *ret);

/* ---- signatures ---- */

int apitrace_parse_function(struct apitrace_parse *p, struct apitrace_names **ret);
int apitrace_parse_struct(struct apitrace_parse *p, struct apitrace_names **ret);
int apitrace_parse_enum(struct apitrace_parse *p, struct apitrace_set **ret);
int apitrace_parse_bitmask(struct apitrace_parse *p, struct apitrace_set **ret);
int apitrace_parse_frame(struct apitrace_parse *p, struct apitrace_frame **ret);

/* ---- values ---- */

int apitrace_parse_value(struct apitrace_parse *p, struct apitrace_pool *pool,
			 struct apitrace_value **ret);
