/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Checks packets that a program sends to the manager. Everything else in the manager can rely on
 * the result.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "provider/provider-wire.h"

struct provider_packet {
	enum provider_message_kind kind; /* one that programs send */
	uint64_t session;                /* STARTED, STOPPED */
	int error;                       /* STARTED: 0 or a negative errno */
	/* HELLO: valid UTF-8 without control characters except TAB, not empty */
	char name[PROVIDER_NAME_BYTES];
	unsigned n_categories; /* CATEGORIES: the number of names in the packet */
};

/*
 * Checks the N bytes of a packet. Returns 0; -EPROTO if no version of the library sends such a
 * packet; or -EPROTONOSUPPORT if a later version could send it, so that it can be ignored.
 */
int provider_packet_check(struct provider_packet *ret, const void *bytes, size_t n);
