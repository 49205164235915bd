/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/whole-file.h"

#include <stdio.h>
#include <stdlib.h>

uint8_t *whole_file(const char *path, size_t *ret_n)
{
	size_t n = 0, room = 4096, got;
	FILE *f = fopen(path, "re");
	uint8_t *data;

	if (!f)
		return NULL;
	data = malloc(room);
	while (data && (got = fread(data + n, 1, room - n, f)) > 0) {
		n += got;
		if (n == room) {
			room *= 2;
			data = realloc(data, room);
		}
	}
	if (!data || ferror(f)) {
		fclose(f);
		free(data);
		return NULL;
	}
	fclose(f);
	*ret_n = n;
	return realloc(data, n ? n : 1);
}
