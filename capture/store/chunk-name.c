/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/store/chunk-name.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIME_CHARS = 23 }; /* the length of 20261120T190834.123456Z */

static const char suffix[] = ".fxt";
static const char part_suffix[] = ".part";

static void chunk_name_format_time(char to[static 32], uint64_t us)
{
	time_t seconds = (time_t)(us / 1000000);
	struct tm tm = { 0 };
	size_t n;

	gmtime_r(&seconds, &tm);
	n = strftime(to, 32, "%Y%m%dT%H%M%S", &tm);
	snprintf(to + n, 32 - n, ".%06uZ", (unsigned)(us % 1000000));
}

char *chunk_name_format(char to[static CHUNK_NAME_MAX], const char *name,
			const struct chunk_name *c, enum pack_method packed)
{
	char begin[32], end[32];

	chunk_name_format_time(begin, c->begin_us);
	chunk_name_format_time(end, c->end_us);
	snprintf(to, CHUNK_NAME_MAX, "%s-%s-%s%s%s", name, begin, end, suffix,
		 pack_ops(packed)->suffix);
	return to;
}

char *chunk_name_format_part(char to[static CHUNK_NAME_MAX], const char *name, uint64_t begin_us)
{
	char begin[32];

	chunk_name_format_time(begin, begin_us);
	snprintf(to, CHUNK_NAME_MAX, ".%s-%s%s", name, begin, part_suffix);
	return to;
}

/* Parses "-" and a time at *TEXT, and advances *TEXT past them. */
static bool chunk_name_parse_time(const char **text, uint64_t *ret_us)
{
	static const char form[] = "-########T######.######Z";
	char seconds[16], micros[7], again[32];
	const char *t = *text;
	struct tm tm = { 0 };
	time_t time;

	for (size_t i = 0; form[i]; i++)
		if (form[i] == '#' ? !isdigit((unsigned char)t[i]) : t[i] != form[i])
			return false;
	memcpy(seconds, t + 1, 15);
	seconds[15] = '\0';
	memcpy(micros, t + 17, 6);
	micros[6] = '\0';
	if (sscanf(seconds, "%4d%2d%2dT%2d%2d%2d", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
		   &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
		return false;
	tm.tm_year -= 1900;
	tm.tm_mon--;
	time = timegm(&tm);
	if (time < 0)
		return false;
	*ret_us = (uint64_t)time * 1000000 + strtoull(micros, NULL, 10);
	/* Rejects dates such as February 31. */
	chunk_name_format_time(again, *ret_us);
	if (strncmp(again, t + 1, TIME_CHARS) != 0)
		return false;
	*text = t + 1 + TIME_CHARS;
	return true;
}

static bool chunk_name_parse_word(const char **text, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*text, word, n) != 0)
		return false;
	*text += n;
	return true;
}

bool chunk_name_parse(const char *text, const char *name, struct chunk_name *ret)
{
	struct chunk_name c;

	if (!chunk_name_parse_word(&text, name) || !chunk_name_parse_time(&text, &c.begin_us) ||
	    !chunk_name_parse_time(&text, &c.end_us) || !chunk_name_parse_word(&text, suffix))
		return false;
	for (enum pack_method m = PACK_NONE; m < PACK_METHOD_MAX; m++) {
		if (strcmp(text, pack_ops(m)->suffix) == 0) {
			*ret = c;
			return true;
		}
	}
	return false;
}

bool chunk_name_parse_part(const char *text, const char *name, uint64_t *ret_begin_us)
{
	uint64_t begin_us;

	if (!chunk_name_parse_word(&text, ".") || !chunk_name_parse_word(&text, name) ||
	    !chunk_name_parse_time(&text, &begin_us) || strcmp(text, part_suffix) != 0)
		return false;
	*ret_begin_us = begin_us;
	return true;
}
