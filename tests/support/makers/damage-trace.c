/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * damage-trace IN SEED OUT: writes a damaged copy of IN to OUT, and prints the kind of damage. The
 * same seed always gives the same damage; 12 consecutive seeds give 12 kinds.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/damage.h"
#include "tests/support/fixtures/whole-file.h"

int main(int argc, char **argv)
{
	_cleanup_free_ uint8_t *data = NULL;
	struct damage d;
	size_t n;
	FILE *f;

	if (argc != 4) {
		fprintf(stderr, "Usage: damage-trace IN SEED OUT\n");
		return 2;
	}
	data = whole_file(argv[1], &n);
	if (!data) {
		fprintf(stderr, "damage-trace: cannot read %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	damage_make(&d, data, n, strtoull(argv[2], NULL, 0));
	f = fopen(argv[3], "we");
	if (!f || fwrite(d.data, 1, d.n, f) != d.n || fclose(f) != 0) {
		fprintf(stderr, "damage-trace: cannot write %s: %s\n", argv[3], strerror(errno));
		return 1;
	}
	printf("%s: %zu bytes became %zu\n", d.what, n, d.n);
	damage_deinit(&d);
	return 0;
}
