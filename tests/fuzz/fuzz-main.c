/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a fuzz target on the given files, without an engine, so that corpora are ordinary tests. A
 * directory stands for the files in it.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
	_cleanup_free_ uint8_t *data = NULL;
	FILE *f = fopen(path, "re");
	size_t n = 0, room = 0, got;

	if (!f) {
		perror(path);
		return 1;
	}
	do {
		if (n == room) {
			room = room ? 2 * room : 4096;
			data = realloc(data, room);
			if (!data)
				abort();
		}
		got = fread(data + n, 1, room - n, f);
		n += got;
	} while (got > 0);
	fclose(f);
	/* The memory has exactly the size of the file, so that a sanitizer detects reads past the
	 * end. */
	data = realloc(data, n ? n : 1);
	if (!data)
		abort();
	LLVMFuzzerTestOneInput(data, n);
	printf("%s: %zu bytes\n", path, n);
	return 0;
}

static int run(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	int r = 0;

	if (!dir)
		return run_file(path);
	while ((entry = readdir(dir))) {
		_cleanup_free_ char *file = NULL;

		if (entry->d_name[0] == '.')
			continue;
		if (asprintf(&file, "%s/%s", path, entry->d_name) < 0)
			abort();
		r |= run_file(file);
	}
	closedir(dir);
	return r;
}

int main(int argc, char **argv)
{
	int r = 0;

	for (int i = 1; i < argc; i++)
		r |= run(argv[i]);
	return r;
}
