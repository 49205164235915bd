/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input as an ELF file, and finds the places of probes in it, by its symbols, segments,
 * relocations and machine code.
 */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "capture/probes/allocators.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* A copy of the exact size, so that reads past its end are detected. */
	_cleanup_free_ uint8_t *copy = malloc(size ? size : 1);
	struct allocator_list list;

	assert(copy);
	if (size)
		memcpy(copy, data, size);
	if (allocators_find_in(copy, size, &list) < 0)
		return 0;
	assert(allocator_list_is_valid(&list, size));
	allocator_list_deinit(&list);
	return 0;
}
