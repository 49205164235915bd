/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/usdt-note.h"

#include <errno.h>
#include <string.h>

enum { NOTE_TYPE = 3, ADDRESSES = 3 * 8 };

/*
 * Returns the text at *P, and moves *P behind its NUL. Returns NULL if there is no NUL before END.
 */
static const char *usdt_note_text(const char **p, const char *end)
{
	const char *text = *p, *nul = memchr(text, '\0', (size_t)(end - text));

	if (!nul)
		return NULL;
	*p = nul + 1;
	return text;
}

static int usdt_note_parse_one(const char *desc, size_t n, struct usdt_note *ret)
{
	const char *p = desc + ADDRESSES, *end = desc + n;
	uint64_t at[3];

	if (n < ADDRESSES)
		return -EBADMSG;
	memcpy(at, desc, sizeof(at));
	*ret = (struct usdt_note){ .vaddr = at[0], .base = at[1], .semaphore = at[2] };
	ret->provider = usdt_note_text(&p, end);
	ret->name = ret->provider ? usdt_note_text(&p, end) : NULL;
	ret->arguments = ret->name ? usdt_note_text(&p, end) : NULL;
	return ret->arguments ? 1 : -EBADMSG;
}

int usdt_note_next(const char *notes, size_t n, size_t *at, struct usdt_note *ret)
{
	while (n - *at >= 12) {
		uint32_t head[3]; /* sizes of the name and the description; type */
		size_t name, desc;
		const char *p = notes + *at + sizeof(head);

		memcpy(head, notes + *at, sizeof(head));
		*at += sizeof(head);
		name = ((size_t)head[0] + 3) & ~(size_t)3;
		desc = ((size_t)head[1] + 3) & ~(size_t)3;
		if (name > n - *at || head[1] > n - *at - name)
			return -EBADMSG;
		*at = desc > n - *at - name ? n : *at + name + desc;
		if (head[2] == NOTE_TYPE && head[0] == 8 && memcmp(p, "stapsdt", 8) == 0)
			return usdt_note_parse_one(p + name, head[1], ret);
	}
	return 0;
}

uint64_t usdt_note_vaddr(const struct usdt_note *note, uint64_t vaddr, uint64_t base)
{
	return vaddr + (base ? base - note->base : 0);
}
