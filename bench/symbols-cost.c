/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * symbols-cost [FILE ...]: measures the cost of naming addresses: 20,000 of them in 50 files
 * (programs or libraries; by default those of this machine), with and without lines. Each is
 * queried again after everything has been read.
 */
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "reader/symbols/elf-file.h"
#include "reader/symbols/symbols.h"

enum { ADDRESSES = 20000, FILES_MAX = 50, ROUNDS = 3 };

#define PAGE_MASK UINT64_C(4095)

/* Maps the code of PATH at its own address. Returns false if it has none. */
static bool map_code(struct symbol_mapping *mapping, const char *path, size_t i)
{
	_cleanup_(elf_file_freep) struct elf_file *elf = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	const char *what;

	if (fd < 0 || elf_file_open_fd(&elf, fd, &what) < 0)
		return false;
	for (size_t k = 0; k < elf->segments.n; k++) {
		const struct elf_segment *segment = &elf->segments.items[k];

		if (!segment->executable)
			continue;
		*mapping = (struct symbol_mapping){
			.path = path,
			.start = (i + 1) << 40,
			.file_offset = segment->offset & ~PAGE_MASK,
		};
		mapping->size = segment->offset + segment->file_size - mapping->file_offset;
		return true;
	}
	return false;
}

static void symbols_cost_measure(const struct symbol_mapping *mappings, size_t n, bool lines)
{
	struct symbols *s = NULL;

	if (symbols_new(&s, &(struct symbols_options){ .lines = lines }) < 0)
		exit(1);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint64_t start = clock_boot_ns(), named = 0, with_line = 0, inlined = 0;

		srand(1);
		for (unsigned int i = 0; i < ADDRESSES; i++) {
			struct symbol_query query = { .mapping = mappings[(size_t)rand() % n] };
			const struct symbol_frame *frames;
			size_t n_frames;

			query.address = query.mapping.start + (uint64_t)rand() % query.mapping.size;
			if (symbols_resolve(s, &query, &frames, &n_frames) < 0)
				exit(1);
			named += frames[n_frames - 1].function != NULL;
			with_line += frames[0].line > 0;
			inlined += n_frames - 1;
		}
		printf("%-9s %-5s %8.1f ms  %5" PRIu64 " named  %5" PRIu64 " with a line  %5" PRIu64
		       " inlined  %6.1f MiB\n",
		       lines ? "lines" : "functions", round == 0 ? "cold" : "warm",
		       (double)(clock_boot_ns() - start) / 1e6, named, with_line, inlined,
		       (double)symbols_memory(s) / (1 << 20));
	}
	symbols_free(s);
}

int main(int argc, char **argv)
{
	struct symbol_mapping mappings[FILES_MAX];
	size_t n = 0;
	glob_t found = { 0 };

	if (argc < 2 && (glob("/usr/lib/*/*.so.*", 0, NULL, &found) != 0 ||
			 glob("/usr/bin/*", GLOB_APPEND, NULL, &found) != 0))
		return 1;
	for (size_t i = 0; i < found.gl_pathc && n < FILES_MAX; i++)
		n += map_code(&mappings[n], found.gl_pathv[i], n);
	/* (recorded paths are absolute; these stay until the end) */
	for (int i = 1; i < argc && n < FILES_MAX; i++) {
		const char *path = realpath(argv[i], NULL);

		n += path && map_code(&mappings[n], path, n);
	}
	if (n == 0) {
		fprintf(stderr, "symbols-cost: none of these is a program or a library\n");
		return 1;
	}
	printf("%u addresses in %zu files\n", ADDRESSES, n);
	symbols_cost_measure(mappings, n, false);
	symbols_cost_measure(mappings, n, true);
	globfree(&found);
	return 0;
}
