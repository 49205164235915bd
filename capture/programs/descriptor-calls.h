/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The properties of calls that make descriptors, by operation (RESOURCE_OP_*, less than
 * RESOURCE_OP_MAX).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"

/* Returns true if the call duplicates its first argument. */
bool descriptor_call_copies(uint32_t operation);

/* Returns true if exec closes the descriptors of CALL. */
bool descriptor_call_is_cloexec(const struct rec_resource *call);

/*
 * Returns the kind of descriptor that the call makes, as a word for users; NULL = the text of the
 * call has the kind.
 */
const char *descriptor_call_kind(uint32_t operation);
