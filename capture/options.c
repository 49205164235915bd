/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/options.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const struct category_row category_rows[] = {
	{ "sched", CATEGORY_SCHED, "context switches, wakeups, migrations",
	  "48 bytes and about a quarter of a microsecond an event" },
	{ "irq", CATEGORY_IRQ, "handlers of hardware interrupts",
	  "about 70 bytes and a third of a microsecond an interrupt" },
	{ "softirq", CATEGORY_SOFTIRQ, "softirqs: timers, network, block devices, RCU, ...",
	  "40 bytes and about a fifth of a microsecond a softirq" },
	{ "workqueue", CATEGORY_WORKQUEUE, "work items that kernel workers run",
	  "40 bytes and about half a microsecond a work item" },
	{ "power", CATEGORY_POWER, "idle states and frequencies of CPUs",
	  "48 bytes and about a third of a microsecond a stay in an idle state" },
	{ "counters", CATEGORY_COUNTERS,
	  "memory, load, pressure and CPU frequencies, sampled (--counter-interval)",
	  "half a KiB and about 0.15 ms of CPU time a sample, in the recorder" },
	{ "profile", CATEGORY_PROFILE, "call stacks of what runs, sampled (-F)",
	  "about 200 bytes and 4 to 9 microseconds a sample" },
	{ "offcpu", CATEGORY_OFFCPU,
	  "call stacks of threads that were away from a CPU for long (--offcpu-min)",
	  "about 300 bytes a time; under a microsecond a switch, a sixth of one a wakeup" },
	{ 0 },
};

int categories_parse(const char *text, uint32_t *ret, const char **reterr_word,
		     size_t *reterr_bytes)
{
	uint32_t bits = 0;

	for (;;) {
		size_t n = strcspn(text, ",");
		const struct category_row *row = category_rows;

		while (row->name && (strlen(row->name) != n || memcmp(row->name, text, n) != 0))
			row++;
		if (!row->name) {
			if (reterr_word)
				*reterr_word = text;
			if (reterr_bytes)
				*reterr_bytes = n;
			return -EINVAL;
		}
		bits |= row->bit;
		if (text[n] == '\0')
			break;
		text += n + 1;
	}
	*ret = bits;
	return 0;
}

char *categories_format(char ret[static CATEGORIES_TEXT_MAX], uint32_t categories)
{
	size_t used = 0;

	*ret = '\0';
	for (const struct category_row *row = category_rows; row->name; row++)
		if (categories & row->bit)
			used += (size_t)snprintf(ret + used, CATEGORIES_TEXT_MAX - used, "%s%s",
						 used ? "," : "", row->name);
	return ret;
}

bool capture_filter_is_set(const struct capture_filter *f)
{
	return f->n_pids || f->n_uids || f->n_comms || f->n_cgroups;
}

void session_options_deinit(struct session_options *o)
{
	free(o->command);
	free(o->filter.pids);
	free(o->filter.uids);
	free(o->filter.comms);
	free(o->filter.cgroups);
	*o = (struct session_options){ 0 };
}

static void *copy_of(const void *p, size_t n, int *reterr)
{
	void *copy = n ? malloc(n) : NULL;

	if (copy)
		memcpy(copy, p, n);
	else if (n)
		*reterr = -ENOMEM;
	return copy;
}

int session_options_copy(struct session_options *ret, const struct session_options *o)
{
	const struct capture_filter *f = &o->filter;
	int r = 0;

	*ret = *o;
	ret->command = copy_of(o->command, o->command ? strlen(o->command) + 1 : 0, &r);
	ret->filter.pids = copy_of(f->pids, f->n_pids * sizeof(*f->pids), &r);
	ret->filter.uids = copy_of(f->uids, f->n_uids * sizeof(*f->uids), &r);
	ret->filter.comms = copy_of(f->comms, f->n_comms * sizeof(*f->comms), &r);
	ret->filter.cgroups = copy_of(f->cgroups, f->n_cgroups * sizeof(*f->cgroups), &r);
	if (r < 0)
		session_options_deinit(ret);
	return r;
}

bool session_name_valid(const char *name)
{
	size_t n = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");

	return n >= 1 && n <= 64 && name[n] == '\0';
}

char *session_options_describe(const struct session_options *o)
{
	char ring[TEXT_FORMAT_MAX], flush[TEXT_FORMAT_MAX], interval[TEXT_FORMAT_MAX];
	char categories[CATEGORIES_TEXT_MAX], frequency[24], least[TEXT_FORMAT_MAX], *text;
	bool usual = o->categories == CATEGORIES_DEFAULT || o->categories == 0;
	bool counters = o->categories & CATEGORY_COUNTERS, offcpu = o->categories & CATEGORY_OFFCPU;

	snprintf(frequency, sizeof(frequency), "%" PRIu64, o->frequency);
	if (asprintf(&text,
		     "ring=%s flush=%s duration_ns=%" PRIu64 " max_bytes=%" PRIu64
		     "%s%s%s%s%s%s%s%s%s%s%s",
		     text_format_size(ring, o->ring_bytes), text_format_time(flush, o->flush_ns),
		     o->duration_ns, o->max_bytes, o->compress ? " compress=" : "",
		     pack_ops(o->compress)->name, usual ? "" : " categories=",
		     usual ? "" : categories_format(categories, o->categories),
		     counters ? " counters=" : "",
		     counters ? text_format_time(interval, o->counter_interval_ns) : "",
		     o->categories & CATEGORY_PROFILE ? " frequency=" : "",
		     o->categories & CATEGORY_PROFILE ? frequency : "",
		     offcpu ? " offcpu_min=" : "",
		     offcpu ? text_format_time(least, o->offcpu_min_ns) : "",
		     o->no_perfetto_blobs ? " no_perfetto_blobs" : "") < 0)
		return NULL;
	return text;
}
