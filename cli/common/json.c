/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/outbuf.h"
#include "base/text.h"
#include "cli/common/verb.h"

static void *json_needed(void *p)
{
	if (!p) {
		cli_error("out of memory");
		exit(CLI_FAILED);
	}
	return p;
}

struct json_object *json_boolean(bool value)
{
	return json_needed(json_object_new_boolean(value));
}

struct json_object *json_i64(int64_t value)
{
	return json_needed(json_object_new_int64(value));
}

struct json_object *json_u64(uint64_t value)
{
	return json_needed(json_object_new_uint64(value));
}

struct json_object *json_double(double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6g", value);
	return json_needed(json_object_new_double_s(value, text));
}

struct json_object *json_real(double value)
{
	if (isfinite(value))
		return json_needed(json_object_new_double(value));
	return json_string(isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
}

struct json_object *json_string(const char *value)
{
	return value ? json_needed(json_object_new_string(value)) : NULL;
}

struct json_object *json_same(struct json_object *value)
{
	return value;
}

struct json_object *json_add_members(struct json_object *to, const struct json_member *members)
{
	json_needed(to);
	for (const struct json_member *m = members; m->key; m++)
		if (*m->key && json_object_object_add(to, m->key, m->value) < 0)
			json_needed(NULL);
	return to;
}

void json_append_item(struct json_object *list, struct json_object *item)
{
	if (item && json_object_array_add(json_needed(list), item) < 0)
		json_needed(NULL);
}

struct json_object *json_from_bytes(const char *p, size_t n)
{
	_cleanup_free_ char *clean = NULL;

	if (!p)
		return NULL;
	if (text_is_utf8(p, n))
		return json_needed(json_object_new_string_len(p, (int)n));
	clean = json_needed(malloc(3 * n + 1));
	n = text_clean(clean, 3 * n + 1, p, n);
	return json_needed(json_object_new_string_len(clean, (int)n));
}

struct json_object *json_from_text(const char *text)
{
	return json_from_bytes(text, strlen(text));
}

struct json_object *json_from_hex(const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	_cleanup_free_ char *hex = json_needed(malloc(2 * n + 1));

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[p[i] >> 4];
		hex[2 * i + 1] = digits[p[i] & 15];
	}
	return json_needed(json_object_new_string_len(hex, (int)(2 * n)));
}

/* Appends C as an escape sequence in ASCII. */
static int json_put_escaped(struct outbuf *to, uint32_t c)
{
	if (c < 0x10000)
		return outbuf_print(to, "\\u%04" PRIx32, c);
	return outbuf_print(to, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + ((c - 0x10000) >> 10),
			    0xdc00 + ((c - 0x10000) & 0x3ff));
}

int json_append(struct outbuf *to, struct json_object *value, int flags)
{
	size_t n, done = 0, bytes;
	const char *text = json_object_to_json_string_length(
		value, flags | JSON_C_TO_STRING_NOSLASHESCAPE, &n);

	if (!text)
		return -ENOMEM;
	for (size_t i = 0; i < n; i += bytes ?: 1) {
		uint32_t c;

		/*
		 * Outside of strings, there are no control characters that json-c does not escape.
		 */
		bytes = text[i] == '\n' ? 0 : text_is_control(text + i, n - i, &c);
		if (bytes == 0)
			continue;
		outbuf_append(to, text + done, i - done);
		json_put_escaped(to, c);
		done = i + bytes;
	}
	return outbuf_append(to, text + done, n - done);
}

void json_print_value(struct json_object *value, int flags)
{
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };

	if (json_append(&text, value, flags) < 0)
		json_needed(NULL);
	fwrite(text.data, 1, text.size, stdout);
}

static void json_print(struct json_object *root, int flags)
{
	json_print_value(root, flags);
	putchar('\n');
	json_object_put(root);
}

void json_print_line(struct json_object *root)
{
	json_print(root, JSON_C_TO_STRING_PLAIN);
}

void json_print_pretty(struct json_object *root)
{
	json_print(root, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED);
}
