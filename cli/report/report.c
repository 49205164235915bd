/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/report/report.h"

#include <errno.h>

enum { WORST_SHOWN = 6 };

void report_deinit(struct report *r)
{
	r->why = why_free(r->why);
	r->latencies = latencies_free(r->latencies);
	r->timeline = cpu_timeline_free(r->timeline);
	r->leaks = leaks_free(r->leaks);
	r->profile = profile_free(r->profile);
	r->summary = summary_free(r->summary);
	call_sums_deinit(&r->calls);
	resolver_deinit(&r->resolver);
}

static const char *report_name_process(void *userdata, uint32_t pid)
{
	const struct report *r = userdata;
	const struct summary_process *p = table_get(&r->summary->processes, (uint64_t)pid + 1);

	return p && p->name && *p->name ? p->name : NULL;
}

static int report_find_names(void *userdata, const struct profile_place *place,
			     const struct frame **ret)
{
	struct report *r = userdata;

	return resolver_find(&r->resolver, place, ret);
}

int report_add(struct report *r, const struct event *ev)
{
	if (ev->kind == EVENT_CLOCK && r->real_offset_ns == 0)
		r->real_offset_ns = (int64_t)(ev->clock.real_ns - ev->clock.boot_ns);
	return summary_add(r->summary, ev) ?: resolver_add(&r->resolver, ev)
					   ?: profile_add(r->profile, ev)
					   ?: why_add(r->why, ev)
					   ?: latencies_add(r->latencies, ev)
					   ?: call_sums_add(&r->calls, ev)
					   ?: leaks_add(r->leaks, ev);
}

int report_init(struct report *r)
{
	const struct profile_options profile = {
		.on_cpu = true,
		.off_cpu = true,
		.to_ns = UINT64_MAX,
	};
	const struct why_options why = {
		.to_ns = UINT64_MAX,
		.n_worst = WORST_SHOWN,
		.names = &r->names,
	};
	const struct latencies_options latencies = { .to_ns = UINT64_MAX };

	r->names = (struct profile_names){ report_find_names, report_name_process, r };
	if (summary_new(&r->summary) < 0 || profile_new(&r->profile, &profile) < 0 ||
	    cpu_timeline_new(&r->timeline, r->summary) < 0 ||
	    latencies_new(&r->latencies, &latencies, r->summary) < 0 ||
	    why_new(&r->why, &why, r->summary, r->profile) < 0 ||
	    leaks_new(&r->leaks, &(struct leaks_options){ 0 }) < 0)
		return -ENOMEM;
	return 0;
}

int report_finish(struct report *r)
{
	int e;

	if (summary_finish(r->summary) < 0 || profile_finish(r->profile) < 0 ||
	    latencies_finish(r->latencies) < 0 || leaks_finish(r->leaks) < 0)
		return -ENOMEM;
	cpu_timeline_finish(r->timeline);
	e = why_finish(r->why);
	if (e < 0 && e != -ENODATA)
		return -ENOMEM;
	r->has_why = e == 0;
	return 0;
}
