/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/common/machine-memory.h"

#include <sys/sysinfo.h>

uint64_t machine_memory(void)
{
	struct sysinfo info;

	return sysinfo(&info) < 0 ? UINT64_MAX : (uint64_t)info.totalram * info.mem_unit;
}
