/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/value.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { SHOWN_MAX = 80 }; /* of a value, in a sentence */

static int is_no(const char *text, const char *what, char *why)
{
	snprintf(why, VALUE_WHY_MAX, "'%.*s' is not %s", SHOWN_MAX, text, what);
	return -EINVAL;
}

/* (upper bounds that nobody comes near are not worth saying) */
static int is_out_of_range(const char *text, const char *low, const char *high, uint64_t max,
			   char *why)
{
	if (max >= INT64_MAX)
		snprintf(why, VALUE_WHY_MAX, "'%.*s' is out of range: %s or more", SHOWN_MAX, text,
			 low);
	else
		snprintf(why, VALUE_WHY_MAX, "'%.*s' is out of range: %s to %s", SHOWN_MAX, text,
			 low, high);
	return -EINVAL;
}

int value_parse_time(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns,
		     char why[static VALUE_WHY_MAX])
{
	char low[TEXT_FORMAT_MAX], high[TEXT_FORMAT_MAX];
	uint64_t ns;
	int r = text_parse_time(text, &ns);

	if (r == -EINVAL)
		return is_no(text, "a time; say 5, 500ms or 2m", why);
	if (r < 0 || ns < min_ns || ns > max_ns)
		return is_out_of_range(text, text_format_time(low, min_ns),
				       text_format_time(high, max_ns), max_ns, why);
	*ret_ns = ns;
	return 0;
}

int value_parse_size(const char *text, uint64_t min_bytes, uint64_t max_bytes, uint64_t *ret_bytes,
		     char why[static VALUE_WHY_MAX])
{
	char low[TEXT_FORMAT_MAX], high[TEXT_FORMAT_MAX];
	uint64_t bytes;
	int r = text_parse_size(text, &bytes);

	if (r == -EINVAL)
		return is_no(text, "a size; say 4096, 64K or 8M", why);
	if (r < 0 || bytes < min_bytes || bytes > max_bytes)
		return is_out_of_range(text, text_format_size(low, min_bytes),
				       text_format_size(high, max_bytes), max_bytes, why);
	*ret_bytes = bytes;
	return 0;
}

int value_parse_count(const char *text, uint64_t min, uint64_t max, uint64_t *ret,
		      char why[static VALUE_WHY_MAX])
{
	char low[TEXT_FORMAT_MAX], high[TEXT_FORMAT_MAX];
	uint64_t n;
	int r = text_parse_u64(text, max, &n);

	if (r == -EINVAL)
		return is_no(text, "a whole number", why);
	snprintf(low, sizeof(low), "%" PRIu64, min);
	snprintf(high, sizeof(high), "%" PRIu64, max);
	if (r < 0 || n < min)
		return is_out_of_range(text, low, high, max, why);
	*ret = n;
	return 0;
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

/* A decimal number with up to four digits behind the point, then '%'. Returns 0, -EINVAL or -ERANGE. */
static int parse_percent(const char *text, uint64_t *ret_ppm)
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
	return p[0] == '%' && p[1] == '\0' && p[-1] != '.' ? 0 : -EINVAL;
}

int value_parse_percent(const char *text, uint64_t min_ppm, uint64_t max_ppm, uint64_t *ret_ppm,
			char why[static VALUE_WHY_MAX])
{
	char low[TEXT_FORMAT_MAX], high[TEXT_FORMAT_MAX];
	uint64_t ppm;
	int r = parse_percent(text, &ppm);

	if (r == -EINVAL)
		return is_no(text, "a percentage; say 5% or 0.5%", why);
	if (r < 0 || ppm < min_ppm || ppm > max_ppm)
		return is_out_of_range(text, value_format_percent(low, min_ppm),
				       value_format_percent(high, max_ppm), max_ppm, why);
	*ret_ppm = ppm;
	return 0;
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
	return is_no(text, "yes or no", why);
}

/* Levenshtein. */
unsigned value_distance(const char *a, const char *b)
{
	unsigned row[32];
	size_t n = strlen(b);

	if (n + 1 > ARRAY_SIZE(row))
		return 99;
	for (size_t j = 0; j <= n; j++)
		row[j] = (unsigned)j;
	for (size_t i = 1; *a; i++, a++) {
		unsigned diagonal = row[0];

		row[0] = (unsigned)i;
		for (size_t j = 1; j <= n; j++) {
			unsigned best = diagonal + (tolower((unsigned char)*a) !=
						    tolower((unsigned char)b[j - 1]));

			diagonal = row[j];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			row[j] = best;
		}
	}
	return row[n];
}

bool value_nearest_try(struct value_nearest *n, const char *candidate)
{
	unsigned d = value_distance(n->text, candidate);

	/* (of a word of two letters everything would be near) */
	if (d >= n->distance || d >= strlen(n->text))
		return false;
	n->distance = d;
	n->nearest = candidate;
	return true;
}
