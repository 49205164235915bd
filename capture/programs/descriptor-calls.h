/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a call that makes descriptors says of them, by its operation (RESOURCE_OP_*, less than
 * RESOURCE_OP_MAX).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"

/* Whether what it makes is another descriptor of what its first argument is one of. */
bool descriptor_call_copies(uint32_t operation);

/* Whether exec closes what CALL has made. */
bool descriptor_call_is_cloexec(const struct rec_resource *call);

/* What it makes, in a word for people; NULL: that is what the text of the call says. */
const char *descriptor_call_kind(uint32_t operation);
