/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/sandbox/after-fork.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cleanup.h"
#include "base/foreign-fds.h"

/* The whole file is read before the first unmapping, because unmapping changes the file. */
int after_fork_unmap_shared(void)
{
	struct {
		uintptr_t start, end;
	} maps[256];
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	size_t n = 0;
	bool begins = true;
	int r = 0;

	foreign_fds_end();
	if (!f)
		return -errno;
	while (r == 0 && fgets(line, sizeof(line), f)) {
		bool is_begin = begins;
		char shared;

		begins = strchr(line, '\n');
		if (!is_begin ||
		    sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*3c%c", &maps[n].start, &maps[n].end,
			   &shared) != 3 ||
		    shared != 's')
			continue;
		if (++n == ARRAY_SIZE(maps))
			r = -E2BIG;
	}
	fclose(f);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (munmap((void *)maps[i].start, maps[i].end - maps[i].start) < 0)
			r = -errno;
	return r;
}
