/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * check-recovery FILE VARIANTS PER_MILLE: damages the archive in VARIANTS ways. Exits with 1 if, in
 * any of these variants, the reader recovers less than PER_MILLE of the undamaged part.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/fixtures/recovery.h"
#include "tests/support/fixtures/whole-file.h"

int main(int argc, char **argv)
{
	_cleanup_free_ uint8_t *data = NULL;
	size_t n;

	if (argc != 4) {
		fprintf(stderr, "Usage: check-recovery FILE VARIANTS PER_MILLE\n");
		return 2;
	}
	data = whole_file(argv[1], &n);
	if (!data) {
		fprintf(stderr, "check-recovery: cannot read %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	return recovery_try_all(data, n, (unsigned)atoi(argv[2]), (unsigned)atoi(argv[3])) > 0;
}
