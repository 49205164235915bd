/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * text-differs PID: how many bytes of the code of a process are not those of the files that it was
 * mapped from, with the addresses of the first ones: probes are among them, if there are any.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"

static uint64_t compare(int memory, int file, uint64_t start, uint64_t size, uint64_t offset)
{
	static uint8_t in_memory[65536], in_file[65536];
	uint64_t n_different = 0;

	for (uint64_t at = 0; at < size; at += sizeof(in_file)) {
		ssize_t a = pread(memory, in_memory, sizeof(in_memory), (off_t)(start + at));
		ssize_t b = pread(file, in_file, sizeof(in_file), (off_t)(offset + at));

		for (ssize_t i = 0; i < a && i < b && at + (uint64_t)i < size; i++) {
			if (in_memory[i] == in_file[i])
				continue;
			if (n_different++ < 3)
				fprintf(stderr, "text-differs: %" PRIx64 "\n",
					start + at + (uint64_t)i);
		}
	}
	return n_different;
}

int main(int argc, char **argv)
{
	_cleanup_close_ int memory = -1;
	uint64_t start, end, offset, n_different = 0;
	char path[64], line[4352], rights[8];
	FILE *maps;

	if (argc != 2)
		return 2;
	snprintf(path, sizeof(path), "/proc/%s/mem", argv[1]);
	memory = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%s/maps", argv[1]);
	maps = fopen(path, "re");
	if (memory < 0 || !maps) {
		fprintf(stderr, "text-differs: %s: %s\n", path, strerror(errno));
		return 1;
	}
	while (fgets(line, sizeof(line), maps)) {
		_cleanup_close_ int file = -1;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &start, &end, rights,
			   &offset) != 4 ||
		    rights[2] != 'x')
			continue;
		snprintf(path, sizeof(path), "/proc/%s/map_files/%" PRIx64 "-%" PRIx64, argv[1],
			 start, end);
		file = open(path, O_RDONLY | O_CLOEXEC);
		if (file >= 0)
			n_different += compare(memory, file, start, end - start, offset);
	}
	fclose(maps);
	printf("%" PRIu64 "\n", n_different);
	return 0;
}
