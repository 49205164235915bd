/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { SHOWN_MAX = 80 }; /* characters of a value in a message */

int value_refuse(char why[static VALUE_WHY_MAX], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, VALUE_WHY_MAX, format, ap);
	va_end(ap);
	return -EINVAL;
}

char *value_format_percent(char *to, uint64_t ppm)
{
	int n = snprintf(to, TEXT_FORMAT_MAX, "%" PRIu64 ".%04" PRIu64, ppm / 10000, ppm % 10000);

	while (to[n - 1] == '0')
		n--;
	n -= to[n - 1] == '.';
	strcpy(to + n, "%");
	return to;
}

double value_share(uint64_t ppm, unsigned n_cpus)
{
	return (double)ppm / 1e4 / (n_cpus ? n_cpus : 1);
}

const char *value_share_of(unsigned n_cpus)
{
	return n_cpus ? "the machine" : "a CPU";
}

/* Parses a decimal number with up to four digits after the point, and an optional '%'. Returns 0,
 * -EINVAL or -ERANGE. */
static int value_parse_percent(const char *text, uint64_t *ret_ppm)
{
	uint64_t ppm = 0, scale = 10000;
	bool behind = false;
	const char *p = text;

	if (!isdigit((unsigned char)*p))
		return -EINVAL;
	for (; isdigit((unsigned char)*p) || (*p == '.' && !behind); p++) {
		if (*p == '.') {
			behind = true;
			continue;
		}
		if (behind && (scale /= 10) == 0)
			return -EINVAL;
		if (!behind && __builtin_mul_overflow(ppm, 10, &ppm))
			return -ERANGE;
		if (__builtin_add_overflow(ppm, (uint64_t)(*p - '0') * scale, &ppm))
			return -ERANGE;
	}
	*ret_ppm = ppm;
	return p[*p == '%'] == '\0' && p[-1] != '.' ? 0 : -EINVAL;
}

static int value_parse_number(enum value_unit unit, const char *text, uint64_t *ret)
{
	switch (unit) {
	case VALUE_TIME:
		return text_parse_time(text, ret);
	case VALUE_SHARE:
		return value_parse_percent(text, ret);
	default:
		return text_parse_size(text, ret);
	}
}

char *value_format(enum value_unit unit, uint64_t value, char *to)
{
	if (unit == VALUE_TIME)
		return text_format_time(to, value);
	if (unit == VALUE_SIZE)
		return text_format_size(to, value);
	if (unit == VALUE_SHARE)
		return value_format_percent(to, value);
	snprintf(to, TEXT_FORMAT_MAX, "%" PRIu64, value);
	return to;
}

int value_parse(enum value_unit unit, const char *text, uint64_t min, uint64_t max, uint64_t *ret,
		char why[static VALUE_WHY_MAX])
{
	static const char *const what[] = {
		[VALUE_TIME] = "a time; say 5, 500ms or 2m",
		[VALUE_SIZE] = "a size; say 4096, 64K or 8M",
		[VALUE_COUNT] = "a whole number",
		[VALUE_SHARE] = "a percentage; say 5% or 0.5%",
	};
	char low[TEXT_FORMAT_MAX], high[TEXT_FORMAT_MAX];
	uint64_t n;
	int r = value_parse_number(unit, text, &n);

	if (r == -EINVAL)
		return value_refuse(why, "'%.*s' is not %s", SHOWN_MAX, text, what[unit]);
	if (r == 0 && n >= min && n <= max) {
		*ret = n;
		return 0;
	}
	/* The upper bound is left out of the message if it is unlimited. */
	return value_refuse(why, "'%.*s' is out of range: %s%s%s", SHOWN_MAX, text,
			    value_format(unit, min, low), max >= INT64_MAX ? " or more" : " to ",
			    max >= INT64_MAX ? "" : value_format(unit, max, high));
}

int value_parse_bool(const char *text, bool *ret, char why[static VALUE_WHY_MAX])
{
	static const char *const words[] = { "no", "yes", "false", "true", "off", "on", "0", "1" };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (strcasecmp(text, words[i]) == 0) {
			*ret = i & 1;
			return 0;
		}
	}
	return value_refuse(why, "'%.*s' is not yes or no", SHOWN_MAX, text);
}

static bool value_equal_letters(char a, char b)
{
	return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Levenshtein distance, with swaps of neighbours (of which no other letter is changed). */
unsigned value_distance(const char *a, const char *b)
{
	unsigned rows[3][32]; /* of the last letters of A: the row of letter I is rows[I % 3] */
	size_t n = strlen(b), i;

	if (n + 1 > ARRAY_SIZE(rows[0]))
		return 99;
	for (size_t j = 0; j <= n; j++)
		rows[0][j] = (unsigned)j;
	for (i = 1; a[i - 1]; i++) {
		const unsigned *last = rows[(i - 1) % 3], *before = rows[(i + 1) % 3];
		unsigned *row = rows[i % 3];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			unsigned best = last[j - 1] + !value_equal_letters(a[i - 1], b[j - 1]);

			best = last[j] + 1 < best ? last[j] + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			if (i > 1 && j > 1 && value_equal_letters(a[i - 1], b[j - 2]) &&
			    value_equal_letters(a[i - 2], b[j - 1]) && before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return rows[(i - 1) % 3][n];
}

bool value_nearest_try(struct value_nearest *n, const char *candidate)
{
	unsigned d = value_distance(n->text, candidate);

	/* A distance as large as the word itself would make any text similar. */
	if (d >= n->distance || d >= strlen(n->text))
		return false;
	n->distance = d;
	n->nearest = candidate;
	return true;
}
