/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which system calls make, pass on and give back what bpf/resources.bpf.c looks at: their numbers
 * on this machine and their names.
 */
#pragma once

#include <stdint.h>

/* CALLS has RESOURCE_CALLS_MAX elements, all 0: sets those of the calls that CATEGORIES ask for. */
void resource_calls_fill(uint8_t *calls, uint32_t categories);

/* What RESOURCE_OP_* is called; "" if that is no call. */
const char *resource_call_name(uint32_t operation);
