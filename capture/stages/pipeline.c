/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/pipeline.h"

#include "base/clock.h"
#include "capture/programs/collector.h"

int pipeline_write_shortage(const struct pipeline *p, enum event_class class, uint64_t *n)
{
	uint64_t now_ns = clock_boot_ns();
	uint64_t ts_ns = now_ns < p->to_ns ? now_ns : p->to_ns;
	const struct rec_lost lost = { .count = *n, .first_ns = ts_ns, .last_ns = ts_ns };

	*n = 0;
	return lost.count ? p->links.lost(class, &lost, p->links.userdata) : 0;
}

void pipeline_forget_cgroups(const struct pipeline *p)
{
	if (p->tasks->cgroups_forgotten && p->collector)
		collector_forget_cgroups(p->collector);
	p->tasks->cgroups_forgotten = false;
}
