/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/call-lists.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>

#include "model/calls/call-print.h"
#include "model/calls/call-sets.h"
#include "model/calls/call-structs.h"

#define POLL_SET "flags:poll"

enum call_member_kind call_list_kind(const struct call_type *type)
{
	const struct call_struct *row = call_struct_by_number(type->layout);

	return type->form == CALL_STRUCT && row ? call_struct_list(row) : CALL_MEMBER_INT;
}

uint8_t call_list_memory(const struct call_type *type)
{
	switch (call_list_kind(type)) {
	case CALL_MEMBER_STRINGS:
		return CALL_MEMORY_ARGV;
	case CALL_MEMBER_POINTERS:
		return CALL_MEMORY_POINTERS;
	case CALL_MEMBER_ENTRIES:
		return CALL_MEMORY_ENTRIES;
	case CALL_MEMBER_PARTS:
		return CALL_MEMORY_PARTS;
	case CALL_MEMBER_MESSAGE:
		return CALL_MEMORY_MESSAGE;
	case CALL_MEMBER_MESSAGES:
	case CALL_MEMBER_SENT:
		return CALL_MEMORY_MESSAGES;
	default:
		return type->form == CALL_STR ? CALL_MEMORY_STRING : CALL_MEMORY_BYTES;
	}
}

bool call_type_is_list(const struct call_type *type)
{
	return call_list_memory(type) > CALL_MEMORY_STRING;
}

void call_list_address(struct call_print *p, uint64_t address)
{
	if (address)
		call_print_add(p, "%#" PRIx64, address);
	else
		call_print_add(p, "NULL");
}

/* ---- strings ---- */

static void call_list_strings(struct call_print *p, const struct call_text *text)
{
	size_t n = (size_t)text->bytes, used = 0;

	call_print_add(p, "[");
	while (used < n) {
		bool is_string = text->text[used++] == CALL_ARGV_STRING;
		size_t length = strnlen(text->text + used, n - used);
		uint64_t address = 0;

		call_print_add(p, used > 1 ? ", " : "");
		if (is_string) {
			/* (only the last string can be cut; it has no NUL then) */
			call_print_quoted(p, text->text + used, length, used + length >= n);
			used += length + 1;
		} else {
			length = n - used < sizeof(address) ? n - used : sizeof(address);
			memcpy(&address, text->text + used, length);
			call_list_address(p, address);
			used += length;
		}
	}
	if (text->cut & CALL_CUT_ELEMENTS)
		call_print_add(p, n > 0 ? ", ..." : "...");
	call_print_add(p, "]");
}

/* ---- numbers ---- */

static bool call_list_number(struct call_print *p, const struct call_text *text, uint64_t address,
			     const char *one, const char *several)
{
	uint32_t n;

	if (text->bytes < (int32_t)sizeof(n))
		return false;
	memcpy(&n, text->text, sizeof(n));
	call_list_address(p, address);
	call_print_add(p, " /* %" PRIu32 " %s */", n, n == 1 ? one : several);
	return true;
}

/* ---- buffers ---- */

/* One buffer of a call: the content of a struct iovec in a 64-bit program. */
struct call_list_part {
	uint64_t address, bytes;
};

/*
 * Shows the buffer PART, of which the call has used SHOWN bytes. N of these bytes are in the copy
 * at FROM.
 */
static void call_list_part(struct call_print *p, const struct call_list_part *part, uint64_t shown,
			   const char *from, size_t n)
{
	call_print_add(p, "{iov_base=");
	if (part->address == 0 || part->bytes & CALL_PART_UNREADABLE || (n == 0 && shown > 0))
		call_list_address(p, part->address);
	else
		call_print_quoted(p, from, n, n < shown);
	call_print_add(p, ", iov_len=%" PRIu64 "}",
		       (uint64_t)(part->bytes & ~CALL_PART_UNREADABLE));
}

void call_list_parts(struct call_print *p, const char *from, size_t n,
		     const struct call_list_buffers *buffers)
{
	uint64_t total = buffers->total, i = 0;
	size_t used = 0;

	call_print_add(p, "[");
	for (; i < buffers->n && n - used >= sizeof(struct call_list_part); i++) {
		struct call_list_part part;
		uint64_t shown, copied;

		memcpy(&part, from + used, sizeof(part));
		used += sizeof(part);
		shown = part.bytes & ~CALL_PART_UNREADABLE;
		shown = shown < total ? shown : total;
		total -= shown;
		copied = part.bytes & CALL_PART_UNREADABLE ? 0
			 : shown < buffers->most           ? shown
							   : buffers->most;
		if (copied > n - used || part.address == 0)
			copied = 0;
		call_print_add(p, i ? ", " : "");
		call_list_part(p, &part, shown, from + used, (size_t)copied);
		used += (size_t)copied;
	}
	if (i < buffers->n)
		call_print_add(p, i ? ", ..." : "...");
	call_print_add(p, "]");
}

size_t call_list_format(const struct call_type *type, const struct call_text *text, uint64_t count,
			uint64_t total, uint64_t address, char *to, size_t size)
{
	struct call_print p = call_print_begin(to, size);
	bool shown = true;

	if (!text || text->bytes < 0)
		return 0;
	switch (call_list_memory(type)) {
	case CALL_MEMORY_ARGV:
		call_list_strings(&p, text);
		break;
	case CALL_MEMORY_POINTERS:
		shown = call_list_number(&p, text, address, "var", "vars");
		break;
	case CALL_MEMORY_ENTRIES:
		shown = call_list_number(&p, text, address, "entries", "entries");
		break;
	default:
		call_list_parts(&p, text->text, (size_t)text->bytes,
				&(struct call_list_buffers){
					.n = count,
					.total = total,
					.most = count <= CALL_PARTS_MAX ? CALL_PART_BYTES(count)
									: 0,
				});
		break;
	}
	return shown ? p.used : 0;
}

/* ---- descriptors that are ready ---- */

size_t call_list_ready(const struct call_text *text, uint64_t count, char *to, size_t size)
{
	size_t n = text->bytes > 0 ? (size_t)text->bytes / sizeof(struct pollfd) : 0;
	unsigned set = call_set_find(POLL_SET, strlen(POLL_SET));
	struct call_print p = call_print_begin(to, size);
	char words[CALL_SET_TEXT_MAX];
	bool is_first = true;

	for (size_t i = 0; i < n && i < count; i++) {
		struct pollfd fd;

		memcpy(&fd, text->text + i * sizeof(fd), sizeof(fd));
		if (fd.revents == 0)
			continue;
		call_set_format(set, (uint16_t)fd.revents, words, sizeof(words));
		call_print_add(&p, "%s{fd=%d, revents=%s}", is_first ? "[" : ", ", fd.fd, words);
		is_first = false;
	}
	if (!is_first)
		call_print_add(&p, "%s]", n < count ? ", ..." : "");
	return p.used;
}
