/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Prints values by shapes, both from the input: a text that ends with NUL, and bytes after it. The
 * output always fits its buffer, and is text. The text of the input is also parsed as the arguments
 * of a static probe, which are text in a recorded program's file.
 */
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model/moments/place-print.h"
#include "reader/places/place-usdt.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void print(const char *shape, const void *data, size_t n, size_t room)
{
	char *to = malloc(room);
	size_t length;

	assert(to);
	length = place_print(&(struct place_bytes){ shape, data, n }, to, room);
	assert(length < room && strlen(to) == length);
	free(to);
}

static void check_arguments(const char *text)
{
	struct place_arguments a;
	int r = place_usdt_arguments(NULL, 0x1000, text, &a);

	assert(r == 0);
	assert(a.n <= PLACE_ARGUMENTS_MAX);
	for (size_t i = 0; i < a.n; i++)
		assert(a.list[i].reason ||
		       (a.list[i].bytes >= 1 && a.list[i].bytes <= 8 &&
			a.list[i].load.reg < PLACE_REGISTERS &&
			a.list[i].load.index < PLACE_REGISTERS && a.list[i].load.scale <= 8 &&
			a.list[i].load.n_steps == 0));
	place_arguments_deinit(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = strnlen((const char *)data, size);
	char *shape = malloc(n + 1), *bytes;
	size_t n_bytes = n < size ? size - n - 1 : 0;

	assert(shape);
	memcpy(shape, data, n);
	shape[n] = '\0';
	bytes = malloc(n_bytes + 1);
	assert(bytes);
	memcpy(bytes, data + size - n_bytes, n_bytes);
	print(shape, bytes, n_bytes, 4096);
	print(shape, bytes, n_bytes, 8);
	check_arguments(shape);
	free(bytes);
	free(shape);
	return 0;
}
