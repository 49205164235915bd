/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The system calls that make, pass on and release the resources of bpf/resources.bpf.c: their
 * numbers on this machine and their names.
 */
#pragma once

#include <stdint.h>

/*
 * Sets the elements of CALLS that belong to calls for CATEGORIES. CALLS has RESOURCE_CALLS_MAX
 * elements, all of which are 0 before.
 */
void resource_calls_fill(uint8_t *calls, uint32_t categories);

/* Returns the name of OPERATION, a RESOURCE_OP_*; "" if it is not a call. */
const char *resource_call_name(uint32_t operation);
