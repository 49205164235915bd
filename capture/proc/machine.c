/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/machine.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

uint64_t machine_memory_end(const char *zoneinfo, bool *ret_is_accepted)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE), spanned = 0, start, end = 0;
	uint64_t n_unaccepted;
	_cleanup_free_ char *line = NULL;
	char zone[16] = "";
	size_t room = 0;
	FILE *f = fopen(zoneinfo, "re");

	*ret_is_accepted = f != NULL;
	if (!f)
		return 0;
	while (getline(&line, &room, f) > 0)
		if (sscanf(line, " nr_unaccepted %" SCNu64, &n_unaccepted) == 1)
			*ret_is_accepted &= n_unaccepted == 0;
		else if (sscanf(line, "Node %*u, zone %15s", zone) == 1)
			spanned = 0;
		else if (sscanf(line, " start_pfn: %" SCNu64, &start) == 1 &&
			 strcmp(zone, "Device") != 0 && (start + spanned) * page_bytes > end)
			end = (start + spanned) * page_bytes;
		else
			sscanf(line, " spanned %" SCNu64, &spanned);
	fclose(f);
	return end;
}
