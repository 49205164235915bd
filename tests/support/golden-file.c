/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/golden-file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "tests/support/unit.h"

static void write_file(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

void assert_golden(const char *name, const void *p, size_t n)
{
	const char *update = getenv("GOLDEN_UPDATE");
	_cleanup_free_ uint8_t *want = NULL;
	const uint8_t *is = p;
	char path[512];
	FILE *f;
	size_t got;

	/* GOLDEN_DIR is the directory in the source tree; the build says where. */
	snprintf(path, sizeof(path), "%s/%s", GOLDEN_DIR, name);
	if (update && strcmp(update, "1") == 0) {
		write_file(path, p, n);
		return;
	}
	f = fopen(path, "re");
	if (!f)
		fail_msg("%s is missing; GOLDEN_UPDATE=1 makes it", path);
	want = malloc(n + 1);
	assert_non_null(want);
	got = fread(want, 1, n + 1, f);
	fclose(f);
	for (size_t i = 0; i < got && i < n; i++)
		if (is[i] != want[i])
			fail_msg("%s: byte %zu is %#x and has to be %#x", name, i, is[i], want[i]);
	if (got != n)
		fail_msg("%s: %zu bytes%s, and have to be %zu", name, n, got > n ? " or more" : "",
			 got);
}
