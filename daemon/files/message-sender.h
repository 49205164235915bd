/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the sender of a message in its first bytes, before the bus library receives it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	MESSAGE_SENDER_MAX = 256,   /* maximum size of a name, with NUL */
	MESSAGE_HEADER_PEEK = 4096, /* number of bytes to examine */
};

/*
 * Copies the header field SENDER, which the bus has set, to RET, with a NUL. The message begins
 * with the N bytes at DATA. Returns 0, or -ENODATA if these bytes do not contain the field, or if
 * an unexpected field precedes SENDER.
 */
int message_find_sender(const uint8_t *data, size_t n, char ret[static MESSAGE_SENDER_MAX]);
