/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Parses bytes, numbers and texts of a call trace.
 */
#include "reader/apitrace/apitrace-parse.h"

#include <errno.h>
#include <string.h>

enum { NUMBER_BITS = 7, NUMBER_SHIFT_MAX = 63 };

void apitrace_parse_deinit(struct apitrace_parse *p)
{
	input_deinit(&p->input);
	apitrace_pool_deinit(&p->signatures);
	table_deinit(&p->functions);
	table_deinit(&p->structs);
	table_deinit(&p->enums);
	table_deinit(&p->bitmasks);
	table_deinit(&p->frames);
}

int apitrace_parse_damage(struct apitrace_parse *p, uint64_t offset, const char *what)
{
	p->damage = (struct apitrace_damage){ .offset = offset, .what = what };
	return -EBADMSG;
}

void apitrace_parse_found(struct apitrace_parse *p, enum apitrace_finding_id id)
{
	if (p->finding)
		p->finding(p->userdata, id, p->input.offset);
}

/* Makes N bytes available, or reports damage. */
static int apitrace_parse_need(struct apitrace_parse *p, size_t n)
{
	int r = input_need(&p->input, n);

	if (r != 0)
		return r < 0 ? r : 0;
	apitrace_parse_damage(p, p->input.offset, "the trace ends in the middle of an event");
	p->damage.truncated = true;
	return -EBADMSG;
}

int apitrace_parse_byte(struct apitrace_parse *p, uint8_t *ret)
{
	int r = apitrace_parse_need(p, 1);

	if (r == 0)
		*ret = *(const uint8_t *)input_consume(&p->input, 1);
	return r;
}

int apitrace_parse_number(struct apitrace_parse *p, uint64_t *ret)
{
	uint64_t at = p->input.offset, number = 0;
	unsigned shift = 0;
	uint8_t byte;

	for (;; shift += NUMBER_BITS) {
		int r = apitrace_parse_byte(p, &byte);

		if (r < 0)
			return r;
		if (shift >= NUMBER_SHIFT_MAX && byte > 1)
			return apitrace_parse_damage(p, at, "a number of more than 64 bits");
		number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	*ret = number;
	return 0;
}

int apitrace_parse_signed(struct apitrace_parse *p, int64_t *ret)
{
	uint64_t at = p->input.offset, number;
	uint8_t type;
	int r = apitrace_parse_byte(p, &type);

	if (r < 0)
		return r;
	if (type != APITRACE_SINT && type != APITRACE_UINT)
		return apitrace_parse_damage(p, at, "the value of an enum that is no integer");
	r = apitrace_parse_number(p, &number);
	if (r == 0)
		*ret = (int64_t)(type == APITRACE_SINT ? -number : number);
	return r;
}

int apitrace_parse_room(struct apitrace_parse *p, struct apitrace_pool *pool, size_t size,
			size_t max, void *ret)
{
	void *got;

	if (pool->bytes > max || size > max - pool->bytes)
		return apitrace_parse_damage(p, p->input.offset,
					     max == APITRACE_SIGNATURE_BYTES_MAX
						     ? "signatures of more than 256 MiB"
						     : "a call of more than 512 MiB");
	got = apitrace_pool_get(pool, size);
	if (!got)
		return -ENOMEM;
	*(void **)ret = got;
	return 0;
}

int apitrace_parse_text(struct apitrace_parse *p, struct apitrace_pool *pool, size_t max,
			struct apitrace_text *ret)
{
	uint64_t at = p->input.offset, n;
	char *bytes;
	int r = apitrace_parse_number(p, &n);

	if (r < 0)
		return r;
	if (n > APITRACE_TEXT_MAX)
		return apitrace_parse_damage(p, at, "a string or blob of more than 256 MiB");
	r = apitrace_parse_need(p, n) ?: apitrace_parse_room(p, pool, n + 1, max, &bytes);
	if (r < 0)
		return r;
	memcpy(bytes, input_consume(&p->input, n), n);
	*ret = (struct apitrace_text){ bytes, n };
	return 0;
}
