/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"

unsigned machine_n_cpus(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n > 0 ? (unsigned)n : 1;
}

uint64_t machine_switches(const char *proc)
{
	_cleanup_free_ char *line = NULL;
	uint64_t n = 0;
	size_t room = 0;
	FILE *f = fopen(proc, "re");

	if (!f)
		return 0;
	while (getline(&line, &room, f) > 0)
		if (sscanf(line, "ctxt %" SCNu64, &n) == 1)
			break;
	fclose(f);
	return n;
}
