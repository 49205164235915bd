/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Requests of ioctl. The number of most requests contains the size of the memory at the third
 * argument, and whether the call reads or writes this memory.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "capture/options/call-spec.h"
#include "model/calls/call-sets.h"

/*
 * Sets RET to the type of the memory for REQUEST: bytes that are shown as they are before the call,
 * at its return, or both. Returns false if the number does not have a size.
 */
bool call_request_type(uint32_t request, struct call_type *ret);

/*
 * Returns a copy of TEXT in TO, with the first BYTES bytes. (The eBPF programs do not know the
 * size, and copy more.) Returns NULL if TEXT is NULL.
 */
const struct call_text *call_request_limit(const struct call_text *text, uint32_t bytes,
					   struct call_text *to);

/* Writes the parts of REQUEST, which has no name, to TO, as strace does. */
void call_request_format(uint32_t request, char to[static CALL_SET_TEXT_MAX]);
