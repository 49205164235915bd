/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Values from command lines and files. Each must be within bounds, or is refused with a sentence
 * that says why.
 *
 * All functions return 0, or -EINVAL with the sentence in WHY. *RET is set only on success.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Room for a sentence with its NUL. Long values in a sentence are cut. */
enum { VALUE_WHY_MAX = 256 };

/* Writes the sentence. Returns -EINVAL. */
__attribute__((format(printf, 2, 3))) int value_refuse(char why[static VALUE_WHY_MAX],
						       const char *format, ...);

/* The unit of a number. */
enum value_unit {
	VALUE_TIME,  /* ns: "5", "500ms" */
	VALUE_SIZE,  /* bytes: "4096", "64K" */
	VALUE_COUNT, /* "99", "64K" */
	VALUE_SHARE, /* millionths: "5%", "0.25" */
};

/* A MAX of INT64_MAX or above means no upper bound, and WHY does not mention it. */
int value_parse(enum value_unit unit, const char *text, uint64_t min, uint64_t max, uint64_t *ret,
		char why[static VALUE_WHY_MAX]);

/* "250 ms", "4.0 MiB", "99", "2.5%": room as for text_format_*(); writes to TO and returns TO. */
char *value_format(enum value_unit unit, uint64_t value, char *to);

/* yes, no, true, false, on, off, 1, 0. */
int value_parse_bool(const char *text, bool *ret, char why[static VALUE_WHY_MAX]);

/*
 * value_share() converts PPM of one CPU to a percentage of N_CPUS (0: of one CPU). value_share_of()
 * returns the name of that base: "a CPU", "the machine".
 */
double value_share(uint64_t ppm, unsigned n_cpus);
const char *value_share_of(unsigned n_cpus);

/* "0.1%": room as for text_format_*(); writes to TO and returns TO. */
char *value_format_percent(char *to, uint64_t ppm);

/*
 * Returns the number of characters to insert, delete or change, or of neighbours to swap, to turn A
 * into B, ignoring case, for "did you mean". Texts over 31 characters are never near.
 */
unsigned value_distance(const char *a, const char *b);
enum { VALUE_NEAR = 3 }; /* smaller distances are near */

/*
 * The candidate that is nearest so far. Begin with .text = the user's text, .distance = VALUE_NEAR.
 */
struct value_nearest {
	const char *text;
	unsigned distance;
	const char *nearest; /* borrowed; NULL = none is near */
};

/* If CANDIDATE is nearer than the previous ones, stores it and returns true. */
bool value_nearest_try(struct value_nearest *n, const char *candidate);
