/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/text.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"

/* Returns the number of bytes of the valid UTF-8 character at P, or 0. */
static size_t text_utf8_len(const unsigned char *p, size_t n)
{
	size_t len;
	uint32_t c;

	if (n == 0)
		return 0;
	if (p[0] < 0x80)
		return 1;
	if (p[0] >= 0xc2 && p[0] <= 0xdf) {
		len = 2;
		c = p[0] & 0x1f;
	} else if (p[0] >= 0xe0 && p[0] <= 0xef) {
		len = 3;
		c = p[0] & 0x0f;
	} else if (p[0] >= 0xf0 && p[0] <= 0xf4) {
		len = 4;
		c = p[0] & 0x07;
	} else {
		return 0;
	}
	if (len > n)
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if ((len == 3 && (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))) ||
	    (len == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	return len;
}

bool text_is_utf8(const char *p, size_t n)
{
	const unsigned char *from = (const unsigned char *)p;

	while (n > 0) {
		size_t len = text_utf8_len(from, n);

		if (len == 0)
			return false;
		from += len;
		n -= len;
	}
	return true;
}

size_t text_cut(const char *p, size_t n, size_t max)
{
	size_t cut = max;

	if (n <= max)
		return n;
	while (cut > 0 && max - cut < 3 && (p[cut] & 0xc0) == 0x80)
		cut--;
	return cut;
}

/* Decodes the character of LEN bytes at P. */
static uint32_t text_utf8_get(const unsigned char *p, size_t len)
{
	static const uint8_t masks[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 };
	uint32_t c = p[0] & masks[len];

	for (size_t i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

/* Invisible characters that change or hide the text next to them; sorted. */
static const struct {
	uint32_t first, last;
} deceptive[] = {
	{ 0x80, 0x9f },     /* terminals treat these as ESC and a letter */
	{ 0xad, 0xad },     /* soft hyphen */
	{ 0x61c, 0x61c },   /* Arabic letter mark */
	{ 0x180e, 0x180e }, /* Mongolian vowel separator */
	{ 0x200b, 0x200f }, /* zero width; direction */
	{ 0x2028, 0x202e }, /* line and paragraph separators; embedding and overriding direction */
	{ 0x2060, 0x206f }, /* zero width; isolating direction */
	{ 0xfeff, 0xfeff }, /* zero width */
	{ 0xfff9, 0xfffb }, /* annotations */
	{ 0xe0000, 0xe007f }, /* tags */
};

/* Returns true if the character C can mislead a terminal or a user. */
static bool text_is_control_at(uint32_t c)
{
	if (c < 0x80)
		return (c < 0x20 && c != '\t') || c == 0x7f;
	for (size_t i = 0; i < ARRAY_SIZE(deceptive) && c >= deceptive[i].first; i++)
		if (c <= deceptive[i].last)
			return true;
	return false;
}

size_t text_is_control(const char *p, size_t n, uint32_t *ret)
{
	const unsigned char *from = (const unsigned char *)p;
	size_t len = text_utf8_len(from, n);

	if (len == 0)
		return 0;
	*ret = text_utf8_get(from, len);
	return text_is_control_at(*ret) ? len : 0;
}

/* Returns the length of the printable ASCII text at the beginning of the N bytes at P. */
static size_t text_plain_length(const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] >= ' ' && p[i] < 0x7f)
		i++;
	return i;
}

/* Like text_clean(). Sets *RET_WHOLE to true if the whole text fits. */
static size_t text_clean_into(char *to, size_t room, const char *from, size_t n, bool *ret_whole)
{
	static const char replacement[] = "\xef\xbf\xbd";
	const unsigned char *p = (const unsigned char *)from;
	size_t used = 0;

	assert(room > 0);
	while (n > 0) {
		const char *piece = (const char *)p;
		size_t rest = room - 1 - used;
		/* (nearly all texts are plain) */
		size_t len = text_plain_length(p, n < rest ? n : rest), step = len;

		if (len == 0) {
			len = text_utf8_len(p, n);
			step = len ? len : 1;
			if (len == 0 || text_is_control_at(text_utf8_get(p, len))) {
				piece = replacement;
				len = sizeof(replacement) - 1;
			}
			if (len > rest)
				break;
		}
		memcpy(to + used, piece, len);
		used += len;
		p += step;
		n -= step;
	}
	to[used] = '\0';
	*ret_whole = n == 0;
	return used;
}

size_t text_clean(char *to, size_t room, const char *from, size_t n)
{
	bool whole;

	return text_clean_into(to, room, from, n, &whole);
}

/* Joins the arguments as far as they fit. Sets *RET_WHOLE to true if all fit. */
static size_t text_join_into(char *to, size_t room, const char *args, size_t n, bool *ret_whole)
{
	size_t used = 0;

	*ret_whole = true;
	*to = '\0';
	while (n > 0) {
		size_t len = strnlen(args, n);

		used += text_clean_into(to + used, room - used, args, len, ret_whole);
		args += len;
		n -= len;
		if (!*ret_whole)
			break; /* no later, shorter argument may follow one that was cut */
		if (n == 0)
			break;
		if (used + 1 >= room) {
			*ret_whole = false;
			break;
		}
		args++;
		n--;
		to[used++] = ' ';
		to[used] = '\0';
	}
	return used;
}

size_t text_join_args(char *to, size_t room, const char *args, size_t n, bool is_cut)
{
	const size_t mark = sizeof(TEXT_CUT_MARK) - 1;
	size_t used, fits = room > mark ? room - 1 - mark : 0;
	bool whole;

	/*
	 * (A program that has shortened its command line leaves NULs at the end. If IS_CUT, one NUL
	 * is kept, which separates the last argument from the next one.)
	 */
	while (n > 0 && args[n - 1] == '\0' && (!is_cut || n == 1 || args[n - 2] == '\0'))
		n--;
	used = text_join_into(to, room, args, n, &whole);
	if ((whole && !is_cut) || room <= mark)
		return used;
	used = text_cut(to, used, fits);
	memcpy(to + used, TEXT_CUT_MARK, mark + 1);
	return used + mark;
}

/*
 * Parses leading digits, and stores their value. Returns the count of digits, or a negative errno.
 */
static int text_parse_digits(const char *text, uint64_t *ret)
{
	uint64_t v = 0;
	int n = 0;

	for (; isdigit((unsigned char)text[n]); n++) {
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(text[n] - '0'), &v))
			return -ERANGE;
	}
	if (n == 0)
		return -EINVAL;
	*ret = v;
	return n;
}

int text_parse_u64(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t v;
	int n = text_parse_digits(text, &v);

	if (n < 0)
		return n;
	if (text[n] != '\0')
		return -EINVAL;
	if (v > max)
		return -ERANGE;
	*ret = v;
	return 0;
}

int text_parse_size(const char *text, uint64_t *ret_bytes)
{
	static const char units[] = "KMGT";
	const char *unit;
	uint64_t v;
	int shift = 0, n = text_parse_digits(text, &v);

	if (n < 0)
		return n;
	text += n;
	unit = *text ? strchr(units, toupper((unsigned char)*text)) : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		text++;
		if (*text == 'i' && text[1] == 'B')
			text++;
	}
	if (*text == 'B')
		text++;
	if (*text != '\0')
		return -EINVAL;
	if (shift && v >> (64 - shift))
		return -ERANGE;
	*ret_bytes = v << shift;
	return 0;
}

/* Parses one number with its unit. Returns the length of both, or a negative errno. */
static int text_parse_one_time(const char *text, uint64_t *ret_ns)
{
	static const struct {
		const char *suffix;
		uint64_t ns;
	} units[] = {
		{ "", 1000000000 },
		{ "s", 1000000000 },
		{ "sec", 1000000000 },
		{ "ms", 1000000 },
		{ "msec", 1000000 },
		{ "us", 1000 },
		{ "usec", 1000 },
		{ "ns", 1 },
		{ "nsec", 1 },
		{ "m", UINT64_C(60000000000) },
		{ "min", UINT64_C(60000000000) },
		{ "h", UINT64_C(3600000000000) },
		{ "hr", UINT64_C(3600000000000) },
		{ "d", UINT64_C(86400000000000) },
		{ "day", UINT64_C(86400000000000) },
		{ "w", UINT64_C(604800000000000) },
		{ "week", UINT64_C(604800000000000) },
	};
	uint64_t whole, fraction = 0, scale = 1, ns;
	const char *p = text;
	size_t letters;
	int n = text_parse_digits(p, &whole);

	if (n < 0)
		return n;
	p += n;
	if (*p == '.') {
		if (!isdigit((unsigned char)*++p))
			return -EINVAL;
		for (; isdigit((unsigned char)*p); p++) {
			if (scale >= UINT64_C(1000000000))
				continue; /* finer than a nanosecond, for units up to a second */
			fraction = 10 * fraction + (uint64_t)(*p - '0');
			scale *= 10;
		}
	}
	letters = strspn(p, "abcdefghijklmnopqrstuvwxyz");
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strlen(units[i].suffix) != letters || memcmp(p, units[i].suffix, letters) != 0)
			continue;
		if (__builtin_mul_overflow(whole, units[i].ns, &ns) ||
		    __builtin_add_overflow(
			    ns, (uint64_t)((unsigned __int128)fraction * units[i].ns / scale), &ns))
			return -ERANGE;
		*ret_ns = ns;
		return (int)(p - text + (ptrdiff_t)letters);
	}
	return -EINVAL;
}

int text_parse_time(const char *text, uint64_t *ret_ns)
{
	uint64_t sum = 0, part;

	for (;;) {
		int n = text_parse_one_time(text, &part);

		if (n < 0)
			return n;
		if (__builtin_add_overflow(sum, part, &sum))
			return -ERANGE;
		text += n;
		if (*text == '\0')
			break;
		if (*text != ' ')
			return -EINVAL;
		text += strspn(text, " ");
	}
	*ret_ns = sum;
	return 0;
}

char *text_format_size(char *to, uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes;
	size_t i = 0;

	while (v >= 1023.95 && i + 1 < sizeof(units) / sizeof(units[0])) {
		v /= 1024;
		i++;
	}
	if (i == 0)
		snprintf(to, TEXT_FORMAT_MAX, "%" PRIu64 " B", bytes);
	else
		snprintf(to, TEXT_FORMAT_MAX, "%.1f %s", v, units[i]);
	return to;
}

char *text_format_time(char *to, uint64_t ns)
{
	static const struct {
		double ns;
		const char *unit;
	} units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		double v = (double)ns / units[i].ns;

		if (v < 0.9995)
			continue;
		snprintf(to, TEXT_FORMAT_MAX,
			 v < 9.995   ? "%.2f %s"
			 : v < 99.95 ? "%.1f %s"
				     : "%.0f %s",
			 v, units[i].unit);
		return to;
	}
	snprintf(to, TEXT_FORMAT_MAX, "%" PRIu64 " ns", ns);
	return to;
}

bool text_append(char *to, size_t size, size_t *used, const char *format, va_list args)
{
	size_t room = size - *used;
	int n = vsnprintf(to + *used, room, format, args);

	if (n > 0)
		*used += (size_t)n < room ? (size_t)n : room - 1;
	return n < 0 || (size_t)n < room;
}

int text_error(int error, char **reterr_text, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (vasprintf(reterr_text, format, args) < 0)
		*reterr_text = NULL;
	va_end(args);
	return error;
}

size_t text_path_length(const char *path)
{
	static const char deleted[] = " (deleted)";
	size_t n = strlen(path), n_deleted = sizeof(deleted) - 1;

	return n > n_deleted && strcmp(path + n - n_deleted, deleted) == 0 ? n - n_deleted : n;
}
