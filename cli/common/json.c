/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/common/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

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

void json_add(struct json_object *to, const char *key, struct json_object *value)
{
	if (json_object_object_add(to, key, value) < 0)
		json_needed(NULL);
}

void json_add_u64(struct json_object *to, const char *key, uint64_t value)
{
	json_add(to, key, json_needed(json_object_new_uint64(value)));
}

void json_add_i64(struct json_object *to, const char *key, int64_t value)
{
	json_add(to, key, json_needed(json_object_new_int64(value)));
}

void json_add_double(struct json_object *to, const char *key, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.6g", value);
	json_add(to, key, json_needed(json_object_new_double_s(value, text)));
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

void json_add_bytes(struct json_object *to, const char *key, const char *p, size_t n)
{
	json_add(to, key, json_from_bytes(p, n));
}

void json_add_string(struct json_object *to, const char *key, const char *text)
{
	json_add(to, key, text ? json_needed(json_object_new_string(text)) : NULL);
}

void json_add_hex(struct json_object *to, const char *key, const uint8_t *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	_cleanup_free_ char *hex = json_needed(malloc(2 * n + 1));

	for (size_t i = 0; i < n; i++) {
		hex[2 * i] = digits[p[i] >> 4];
		hex[2 * i + 1] = digits[p[i] & 15];
	}
	json_add(to, key, json_needed(json_object_new_string_len(hex, (int)(2 * n))));
}

/* C as JSON says it that is only ASCII. */
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

		/* What json-c leaves as it is, but a terminal would obey, is in strings only. */
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
