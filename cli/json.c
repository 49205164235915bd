/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/json.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "cli/verb.h"

static void *needed(void *p)
{
	if (!p) {
		cli_error("out of memory");
		exit(CLI_FAILED);
	}
	return p;
}

void json_add(struct json_object *to, const char *key, struct json_object *value)
{
	if (json_object_object_add(to, key, value) < 0)
		needed(NULL);
}

void json_add_u64(struct json_object *to, const char *key, uint64_t value)
{
	json_add(to, key, needed(json_object_new_uint64(value)));
}

void json_add_i64(struct json_object *to, const char *key, int64_t value)
{
	json_add(to, key, needed(json_object_new_int64(value)));
}

void json_add_double(struct json_object *to, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6g", value);
	json_add(to, key, needed(json_object_new_double_s(value, text)));
}

struct json_object *json_from_bytes(const char *p, size_t n)
{
	_cleanup_free_ char *clean = NULL;

	if (!p)
		return NULL;
	if (text_is_utf8(p, n))
		return needed(json_object_new_string_len(p, (int)n));
	clean = needed(malloc(3 * n + 1));
	n = text_clean(clean, 3 * n + 1, p, n);
	return needed(json_object_new_string_len(clean, (int)n));
}

void json_add_bytes(struct json_object *to, const char *key, const char *p, size_t n)
{
	json_add(to, key, json_from_bytes(p, n));
}

void json_add_string(struct json_object *to, const char *key, const char *text)
{
	json_add(to, key, text ? needed(json_object_new_string(text)) : NULL);
}

void json_add_hex(struct json_object *to, const char *key, const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	_cleanup_free_ char *hex = needed(malloc(2 * n + 1));

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[p[i] >> 4];
		hex[2 * i + 1] = digits[p[i] & 15];
	}
	json_add(to, key, needed(json_object_new_string_len(hex, (int)(2 * n))));
}

/* What json-c leaves as it is, but a terminal would obey: it stands in strings only. */
static size_t control_bytes(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;

	if (p[0] == 0x7f)
		return 1;
	return n > 1 && p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0 ? 2 : 0;
}

void json_print_value(struct json_object *value, int flags)
{
	size_t n, done = 0, bytes;
	const char *text = needed((void *)json_object_to_json_string_length(
		value, flags | JSON_C_TO_STRING_NOSLASHESCAPE, &n));

	for (size_t i = 0; i < n; i += bytes ?: 1) {
		bytes = control_bytes(text + i, n - i);
		if (bytes == 0)
			continue;
		fwrite(text + done, 1, i - done, stdout);
		printf("\\u%04x", (unsigned char)text[i + bytes - 1]);
		done = i + bytes;
	}
	fwrite(text + done, 1, n - done, stdout);
}

static void print(struct json_object *root, int flags)
{
	json_print_value(root, flags);
	putchar('\n');
	json_object_put(root);
}

void json_print_line(struct json_object *root)
{
	print(root, JSON_C_TO_STRING_PLAIN);
}

void json_print_pretty(struct json_object *root)
{
	print(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);
}
