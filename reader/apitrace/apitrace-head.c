/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Recognizes call traces. The uncompressed format has no magic number, so its beginning must look
 * like a version, followed by a property or by the first function's name.
 */
#include "reader/apitrace/apitrace-reader.h"

struct head {
	const uint8_t *p;
	size_t n, at;
};

/* Parses a number. If the data end within the number, the result has the bits before the end. */
static uint64_t apitrace_head_parse_number(struct head *h)
{
	uint64_t number = 0;

	for (unsigned shift = 0; h->at < h->n; shift += 7) {
		uint8_t byte = h->p[h->at++];

		if (shift < 64)
			number |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			break;
	}
	return number;
}

/* Returns true if a name follows that is not empty, not long, and without control characters. The
 * data can end within the name. */
static bool apitrace_head_parse_name(struct head *h)
{
	uint64_t n = apitrace_head_parse_number(h);

	if (h->at == h->n)
		return true;
	if (n == 0 || n > 4096)
		return false;
	for (; n > 0 && h->at < h->n; n--, h->at++)
		if (h->p[h->at] < ' ' || h->p[h->at] == 0x7f)
			return false;
	return true;
}

/* Returns true if the first event enters a function with a valid name. */
static bool apitrace_is_enter(struct head *h, uint64_t version)
{
	if (h->at == h->n)
		return true;
	if (h->p[h->at++] != APITRACE_EVENT_ENTER)
		return false;
	if (version >= APITRACE_VERSION_THREADS)
		apitrace_head_parse_number(h);
	apitrace_head_parse_number(h);
	return apitrace_head_parse_name(h);
}

bool apitrace_is_stream(const uint8_t *p, size_t n)
{
	struct head h = { .p = p, .n = n };
	uint64_t version;

	if (n == 0)
		return false;
	version = apitrace_head_parse_number(&h);
	if (version > APITRACE_VERSION_MAX)
		return false;
	if (version < APITRACE_VERSION_PROPERTIES)
		return apitrace_is_enter(&h, version);
	/* A single byte is not enough evidence. */
	if (h.at == n || apitrace_head_parse_number(&h) > version)
		return false;
	if (h.at < n && p[h.at] != 0)
		return apitrace_head_parse_name(&h);
	h.at += h.at < n;
	return apitrace_is_enter(&h, version);
}

uint64_t apitrace_head_version(const uint8_t *p, size_t n)
{
	struct head h = { .p = p, .n = n };

	return apitrace_head_parse_number(&h);
}
