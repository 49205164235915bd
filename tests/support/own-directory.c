/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/own-directory.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/unit.h"

static char directory[64];

int own_directory_set_up(void **state __attribute__((unused)))
{
	strcpy(directory, "/tmp/kymo-test.XXXXXX");
	return mkdtemp(directory) ? chdir(directory) : -1;
}

const char *own_directory(void)
{
	return directory;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st;
	(void)kind;
	(void)walk;
	return remove(path);
}

int own_directory_tear_down(void **state __attribute__((unused)))
{
	if (chdir("/") < 0)
		return -1;
	return getenv("KEEP_TMP") ? 0 : nftw(directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void put_bytes(const char *root, const char *path, const void *p, size_t n)
{
	char full[256];
	FILE *file;

	assert_true(snprintf(full, sizeof(full), "%s%s", root, path) < (int)sizeof(full));
	for (char *slash = strchr(full + strlen(root) + 1, '/'); slash;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0700);
		*slash = '/';
	}
	file = fopen(full, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(p, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

void put_text(const char *root, const char *path, const char *text)
{
	put_bytes(root, path, text, strlen(text));
}

long size_of_file(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 ? -errno : (long)st.st_size;
}
