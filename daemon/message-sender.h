/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sender of a message, from its first bytes, before the bus library has it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum {
	MESSAGE_SENDER_MAX = 256,   /* with the NUL; a name has no more */
	MESSAGE_HEADER_PEEK = 4096, /* as many bytes are looked at */
};

/*
 * The header field SENDER, which the bus has set, of the message that begins with the N bytes at
 * DATA: in RET, with a NUL. Returns 0; or -ENODATA if it is not among them, or stands behind
 * something that no message needs.
 */
int message_find_sender(const uint8_t *data, size_t n, char ret[static MESSAGE_SENDER_MAX]);
