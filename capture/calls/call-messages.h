/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Messages of sockets, which the eBPF programs collect (CALL_MEMORY_MESSAGE in bpf/record-calls.h):
 * struct msghdr of sendmsg() and recvmsg(), and arrays of struct mmsghdr, with their names, buffers
 * and control messages.
 *
 * For a message that is sent, the copy at the entry has all of it, and the copy at the return has
 * the array of struct mmsghdr. For a message that is received, it is the other way round.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/calls/call-copies.h"
#include "capture/options/call-types.h"

/* Returns true if TYPE is a message, or an array of them. */
bool call_type_is_message(const struct call_type *type);

/* Sets MEMORY to what is copied of messages of TYPE at the return (IS_OUT), or at the entry. */
void call_message_memory(const struct call_type *type, bool is_out, struct call_memory *memory);

/*
 * Writes COUNT messages of TYPE to TO (SIZE bytes), as strace shows them. Returns the length; 0 =
 * nothing can be shown.
 */
size_t call_messages_format(const struct call_type *type, const struct call_copies *copies,
			    uint64_t count, char *to, size_t size);
