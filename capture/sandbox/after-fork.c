/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/sandbox/after-fork.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "base/foreign-fds.h"

/*
 * The maximum number of mappings that are unmapped at once. Their total number has no limit: each
 * user can connect programs, which have shared buffers.
 */
enum { PART_MAX = 256 };

/*
 * Unmaps the first shared mappings, at most PART_MAX. Returns their number or a negative errno. The
 * file is read before the first unmapping, because unmapping changes the file.
 */
static int after_fork_unmap_part(void)
{
	struct {
		uintptr_t start, end;
	} maps[PART_MAX];
	FILE *f = fopen("/proc/self/maps", "re");
	char line[512];
	int n = 0;
	bool begins = true;

	if (!f)
		return -errno;
	while (n < PART_MAX && fgets(line, sizeof(line), f)) {
		bool is_begin = begins;
		char shared;

		begins = strchr(line, '\n');
		if (is_begin &&
		    sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %*3c%c", &maps[n].start, &maps[n].end,
			   &shared) == 3 &&
		    shared == 's')
			n++;
	}
	fclose(f);
	for (int i = 0; i < n; i++)
		if (munmap((void *)maps[i].start, maps[i].end - maps[i].start) < 0)
			return -errno;
	return n;
}

int after_fork_unmap_shared(void)
{
	int n;

	foreign_fds_end();
	do
		n = after_fork_unmap_part();
	while (n == PART_MAX);
	return n < 0 ? n : 0;
}
