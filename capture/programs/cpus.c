/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/programs/cpus.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "bpf/record.h"

bool cpus_parse(const char *text, bool *ret, unsigned n)
{
	const char *p = text;
	char *end;

	memset(ret, 0, n * sizeof(*ret));
	while (*p >= '0' && *p <= '9') {
		unsigned long first = strtoul(p, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (unsigned long cpu = first; cpu <= last && cpu < n; cpu++)
			ret[cpu] = true;
		p = *end == ',' ? end + 1 : end;
	}
	if (p != text && (*p == '\0' || *p == '\n'))
		return true;
	memset(ret, 0, n * sizeof(*ret));
	return false;
}

void cpus_online(bool *ret, unsigned n)
{
	_cleanup_close_ int fd = open("/sys/devices/system/cpu/online", O_RDONLY | O_CLOEXEC);
	char text[4096];
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	text[got > 0 ? got : 0] = '\0';
	if (!cpus_parse(text, ret, n))
		memset(ret, true, n * sizeof(*ret));
}

bool cpus_clear_gone(const uint32_t *departures, uint32_t *seen, bool *ret, unsigned n)
{
	uint32_t now[CPU_DEPARTURES];
	bool any = false;

	for (unsigned i = 0; i < CPU_DEPARTURES; i++)
		now[i] = __atomic_load_n(&departures[i], __ATOMIC_RELAXED);
	for (unsigned cpu = 0; cpu < n; cpu++) {
		unsigned place = cpu % CPU_DEPARTURES;

		if (now[place] != seen[place]) {
			ret[cpu] = false;
			any = true;
		}
	}
	memcpy(seen, now, sizeof(now));
	return any;
}
