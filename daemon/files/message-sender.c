/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * D-Bus Specification, "Message Format": 12 bytes, the length of the array of header fields, and
 * the array. Each field is a struct of a byte and a variant, aligned to 8 bytes.
 */
#include "daemon/files/message-sender.h"

#include <endian.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>

enum { FIELDS_LENGTH_AT = 12, FIELDS_AT = 16, FIELD_SENDER = 7 };

struct cursor {
	const uint8_t *data;
	size_t n, at;
	bool is_big; /* big-endian */
};

static int message_sender_cursor_align(struct cursor *c, size_t to)
{
	c->at = (c->at + to - 1) / to * to;
	return c->at <= c->n ? 0 : -ENODATA;
}

static int message_sender_cursor_skip(struct cursor *c, size_t n)
{
	if (n > c->n - c->at)
		return -ENODATA;
	c->at += n;
	return 0;
}

static int message_sender_cursor_u8(struct cursor *c, uint8_t *ret)
{
	if (c->at == c->n)
		return -ENODATA;
	*ret = c->data[c->at++];
	return 0;
}

static int message_sender_cursor_u32(struct cursor *c, uint32_t *ret)
{
	uint32_t value;
	int r = message_sender_cursor_align(c, sizeof(value));

	if (r < 0 || c->n - c->at < sizeof(value))
		return -ENODATA;
	memcpy(&value, c->data + c->at, sizeof(value));
	c->at += sizeof(value);
	*ret = c->is_big ? be32toh(value) : le32toh(value);
	return 0;
}

/* Reads a string. *RET_SIZE does not include the NUL. */
static int message_sender_cursor_text(struct cursor *c, const uint8_t **ret, uint32_t *ret_size)
{
	int r = message_sender_cursor_u32(c, ret_size);

	if (r < 0)
		return r;
	*ret = c->data + c->at;
	return message_sender_cursor_skip(c, *ret_size) ?: message_sender_cursor_skip(c, 1);
}

/* Reads a field. *RET_TEXT is NULL if the field is not a string. */
static int message_sender_cursor_field(struct cursor *c, uint8_t *ret_code,
				       const uint8_t **ret_text, uint32_t *ret_size)
{
	uint8_t signature_size, type, end, size;
	uint32_t number;
	int r = message_sender_cursor_align(c, 8);

	*ret_text = NULL;
	if (r < 0 || message_sender_cursor_u8(c, ret_code) < 0 ||
	    message_sender_cursor_u8(c, &signature_size) < 0 || signature_size != 1 ||
	    message_sender_cursor_u8(c, &type) < 0 || message_sender_cursor_u8(c, &end) < 0)
		return -ENODATA;
	switch (type) {
	case 's':
	case 'o':
		return message_sender_cursor_text(c, ret_text, ret_size);
	case 'u':
		return message_sender_cursor_u32(c, &number);
	case 'g':
		return message_sender_cursor_u8(c, &size)
			       ?: message_sender_cursor_skip(c, (size_t)size + 1);
	default:
		return -ENODATA;
	}
}

int message_find_sender(const uint8_t *data, size_t n, char ret[static MESSAGE_SENDER_MAX])
{
	struct cursor c = { data, n, FIELDS_LENGTH_AT, n > 0 && data[0] == 'B' };
	uint32_t fields_size, size;
	const uint8_t *text;
	uint8_t code;

	if (n < FIELDS_AT || message_sender_cursor_u32(&c, &fields_size) < 0)
		return -ENODATA;
	if (fields_size < n - FIELDS_AT)
		c.n = FIELDS_AT + fields_size;
	while (c.at < c.n && message_sender_cursor_field(&c, &code, &text, &size) == 0) {
		if (code != FIELD_SENDER || !text)
			continue;
		if (size >= MESSAGE_SENDER_MAX)
			return -ENODATA;
		memcpy(ret, text, size);
		ret[size] = '\0';
		return 0;
	}
	return -ENODATA;
}
