/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the input as a packet of a hostile program: unchanged, and with a right head, so that the
 * packet's text is examined. If the packet is accepted, it has the properties on which the manager
 * relies.
 */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "capture/providers/provider-packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_packet(const void *bytes, size_t n)
{
	struct provider_packet packet;
	char again[PROVIDER_NAME_BYTES];
	int r = provider_packet_check(&packet, bytes, n);
	size_t length;

	assert(r == 0 || r == -EPROTO || r == -EPROTONOSUPPORT);
	if (r < 0)
		return;
	switch (packet.kind) {
	case PROVIDER_HELLO:
		length = strnlen(packet.name, sizeof(packet.name));
		assert(length > 0 && length < sizeof(packet.name));
		assert(text_clean(again, sizeof(again), packet.name, length) == length);
		assert(memcmp(again, packet.name, length) == 0);
		break;
	case PROVIDER_CATEGORIES:
		assert(packet.n_categories > 0 && packet.n_categories <= n / 2);
		break;
	case PROVIDER_STARTED:
		assert(packet.error <= 0);
		break;
	default:
		assert(packet.kind == PROVIDER_STOPPED);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct provider_message head = { .version = PROVIDER_WIRE_VERSION };
	uint8_t *copy;

	check_packet(data, size);
	if (size == 0)
		return 0;
	/* (the size is exact, so that a sanitizer finds reads behind the packet) */
	copy = malloc(PROVIDER_MESSAGE_HEAD + size - 1);
	if (copy) {
		head.kind = data[0];
		head.text_bytes = (uint32_t)size - 1;
		memcpy(copy, &head, PROVIDER_MESSAGE_HEAD);
		memcpy(copy + PROVIDER_MESSAGE_HEAD, data + 1, size - 1);
		check_packet(copy, PROVIDER_MESSAGE_HEAD + size - 1);
	}
	free(copy);
	return 0;
}
