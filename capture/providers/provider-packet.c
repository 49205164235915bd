/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-packet.h"

#include <errno.h>
#include <string.h>

#include "base/text.h"

static int provider_packet_check_name(struct provider_packet *p, const char *text, size_t n)
{
	if (n == 0 || n >= sizeof(p->name) || memchr(text, '\0', n))
		return -EPROTO;
	text_clean(p->name, sizeof(p->name), text, n);
	return 0;
}

/*
 * Checks that the N bytes at TEXT are names of categories: each ends with NUL, and none is empty.
 */
static int provider_packet_check_categories(struct provider_packet *p, const char *text, size_t n)
{
	const char *end = text + n;

	if (n == 0 || end[-1] != '\0')
		return -EPROTO;
	for (; text < end; text += strlen(text) + 1, p->n_categories++)
		if (*text == '\0')
			return -EPROTO;
	return 0;
}

int provider_packet_check(struct provider_packet *ret, const void *bytes, size_t n)
{
	struct provider_message head;
	const char *text = (const char *)bytes + PROVIDER_MESSAGE_HEAD;

	*ret = (struct provider_packet){ 0 };
	if (n < PROVIDER_MESSAGE_HEAD || n > PROVIDER_MESSAGE_HEAD + PROVIDER_TEXT_MAX)
		return -EPROTO;
	memcpy(&head, bytes, PROVIDER_MESSAGE_HEAD);
	if (head.version != PROVIDER_WIRE_VERSION)
		return -EPROTONOSUPPORT;
	if (head.text_bytes != n - PROVIDER_MESSAGE_HEAD)
		return -EPROTO;
	ret->kind = head.kind;
	ret->session = head.session;
	switch (head.kind) {
	case PROVIDER_HELLO:
		return provider_packet_check_name(ret, text, head.text_bytes);
	case PROVIDER_CATEGORIES:
		return provider_packet_check_categories(ret, text, head.text_bytes);
	case PROVIDER_STARTED:
		ret->error = head.error;
		return head.text_bytes != 0 || head.error > 0 ? -EPROTO : 0;
	case PROVIDER_STOPPED:
		return head.text_bytes != 0 ? -EPROTO : 0;
	case PROVIDER_START:
	case PROVIDER_STOP:
		return -EPROTO;
	default:
		return -EPROTONOSUPPORT;
	}
}
