/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Values that people write, on command lines and in files: each within bounds, or with a sentence about what is wrong with it.
 *
 * All functions return 0, or -EINVAL with the sentence in WHY; *RET is set only on success.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Room for a sentence, the NUL included; a long value is cut in it. */
enum { VALUE_WHY_MAX = 256 };

int value_parse_time(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns,
		     char why[static VALUE_WHY_MAX]);
int value_parse_size(const char *text, uint64_t min_bytes, uint64_t max_bytes, uint64_t *ret_bytes,
		     char why[static VALUE_WHY_MAX]);
int value_parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *ret,
		      char why[static VALUE_WHY_MAX]);

/* "5%", "0.25%": in millionths. */
int value_parse_percent(const char *text, uint64_t min_ppm, uint64_t max_ppm, uint64_t *ret_ppm,
			char why[static VALUE_WHY_MAX]);

/* yes, no, true, false, on, off, 1, 0. */
int value_parse_bool(const char *text, bool *ret, char why[static VALUE_WHY_MAX]);

/* The share that PPM of one CPU is of N_CPUS (0: of one), in percent, and of what that is: "a CPU", "the machine". */
double value_share(uint64_t ppm, unsigned n_cpus);
const char *value_share_of(unsigned n_cpus);

/* "0.1%": room as for text_format_*(); writes to TO and returns TO. */
char *value_format_percent(char *to, uint64_t ppm);

/*
 * For "did you mean": how many characters have to be put in, taken out or changed to make B of A, whatever their case. Texts over 31
 * characters are never near.
 */
unsigned value_distance(const char *a, const char *b);
enum { VALUE_NEAR = 3 }; /* what is less is near */

/* The nearest of many: begin with .text = what was written, .distance = VALUE_NEAR. */
struct value_nearest {
	const char *text;
	unsigned distance;
	const char *nearest; /* borrowed; NULL = none is near */
};

/* Looks whether CANDIDATE is nearer than what was there before. Returns whether it is. */
bool value_nearest_try(struct value_nearest *n, const char *candidate);
