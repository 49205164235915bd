/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Whether bytes begin a call trace. The format has no magic number, only its container has; so
 * the first function's name, or the first property, has to look like one.
 */
#include "reader/apitrace/apitrace-reader.h"

struct head {
	const uint8_t *p;
	size_t n, at;
};

/* Takes a number; what is cut off is as good as any. */
static uint64_t head_take_number(struct head *h)
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

/* Takes a name: not empty, not long, of characters that names have. */
static bool head_take_name(struct head *h)
{
	uint64_t n = head_take_number(h);

	if (h->at == h->n)
		return true;
	if (n == 0 || n > 4096)
		return false;
	for (; n > 0 && h->at < h->n; n--, h->at++)
		if (h->p[h->at] < ' ' || h->p[h->at] == 0x7f)
			return false;
	return true;
}

/* The first event enters a function, which has a name. */
static bool is_enter(struct head *h, uint64_t version)
{
	if (h->at == h->n)
		return true;
	if (h->p[h->at++] != APITRACE_EVENT_ENTER)
		return false;
	if (version >= APITRACE_VERSION_THREADS)
		head_take_number(h);
	head_take_number(h);
	return head_take_name(h);
}

bool apitrace_is_stream(const uint8_t *p, size_t n)
{
	struct head h = { .p = p, .n = n };
	uint64_t version;

	if (n == 0)
		return false;
	version = head_take_number(&h);
	if (version > APITRACE_VERSION_MAX)
		return false;
	if (version < APITRACE_VERSION_PROPERTIES)
		return is_enter(&h, version);
	/* (and it must not be one byte that is 6 by chance) */
	if (h.at == n || head_take_number(&h) > version)
		return false;
	if (h.at < n && p[h.at] != 0)
		return head_take_name(&h);
	h.at += h.at < n;
	return is_enter(&h, version);
}

uint64_t apitrace_head_version(const uint8_t *p, size_t n)
{
	struct head h = { .p = p, .n = n };

	return head_take_number(&h);
}
