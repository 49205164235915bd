/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/recorder/recorder-parts.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/text.h"
#include "capture/options/options-complete.h"

enum { COMMAND_MAX = 1024 };

int recorder_write_clock(struct fxt_archive *to, uint64_t ts_ns)
{
	return fxt_archive_event(to, &(struct event){ .kind = EVENT_CLOCK,
						      .ts_ns = ts_ns,
						      .clock = clock_snapshot() });
}

int recorder_write_start(const struct recorder *r, struct fxt_archive *to,
			 const struct session_options *o, uint64_t ts_ns)
{
	_cleanup_free_ char *options = session_options_describe(o);
	const char *asked = o->command ? o->command : "";
	char command[COMMAND_MAX];
	struct utsname u;

	uname(&u);
	if (!options)
		return -ENOMEM;
	text_clean(command, sizeof(command), asked, strlen(asked));
	return fxt_archive_event(to, &(struct event){
					     .kind = EVENT_START,
					     .ts_ns = ts_ns,
					     .start = {
						     .session = o->name,
						     .command = command,
						     .options = options,
						     .kernel = u.release,
						     .machine = u.machine,
						     .host = u.nodename,
						     .version = KYMO_VERSION,
						     .n_cpus = r->pipe.n_cpus,
						     .chunk = r->chunk,
						     .first_ns = r->chunk ? r->begun_ns : 0,
						     .filtered = r->pipe.filtered,
					     },
				     });
}

int recorder_write_sampling(const struct recorder *r, struct fxt_archive *to,
			    const struct session_options *o, uint64_t ts_ns)
{
	const struct event ev = {
		.kind = EVENT_SAMPLING,
		.ts_ns = ts_ns,
		.sampling = {
			.frequency =
				r->pipe.categories & CATEGORY_PROFILE ? (uint32_t)o->frequency : 0,
			.clock = collector_sample_clock(r->pipe.collector),
			.threshold_ns = r->pipe.categories & CATEGORY_OFFCPU ? o->offcpu_min_ns : 0,
		},
	};

	return r->pipe.categories & CATEGORIES_STACKS ? fxt_archive_event(to, &ev) : 0;
}

struct recorder_sums recorder_sums(const struct recorder *r)
{
	struct recorder_sums sums = {
		.events = recorder_n_events(r),
		.lost = r->schedule.lost + r->lifecycle.lost,
		.dismissed = r->schedule.n_dismissed,
		.unreported = r->schedule.n_unreported,
	};

	for (enum event_class class = 0; class < CLASS_MAX; class ++)
		sums.lost += r->activity.lost[class];
	memcpy(sums.walks, r->walks, sizeof(sums.walks));
	sums.tables = collector_count_tables(r->pipe.collector);
	collector_count_python(r->pipe.collector, sums.python);
	sums.python[PYTHON_STACKS_UNNAMED] = r->profiler.python.n_unknown;
	return sums;
}

/* Writes the results of stack walks after SINCE, if there were any. */
static int recorder_write_stacks(const struct recorder_sums *sums,
				 const struct recorder_sums *since, struct fxt_archive *to,
				 uint64_t ts_ns)
{
	struct event ev = { .kind = EVENT_STACKS, .ts_ns = ts_ns };
	struct stack_tables *tables = &ev.stacks.tables;
	uint64_t any = sums->tables.made;

	for (size_t i = 0; i < WALK_ENDS_MAX; i++) {
		ev.stacks.walks[i] = sums->walks[i] - since->walks[i];
		any |= ev.stacks.walks[i];
	}
	*tables = sums->tables;
	tables->made -= since->tables.made;
	tables->failed -= since->tables.failed;
	tables->evicted -= since->tables.evicted;
	tables->copied -= since->tables.copied;
	return any ? fxt_archive_event(to, &ev) : 0;
}

/*
 * Writes the numbers of stacks with functions of Python after SINCE, if there were any, and the
 * versions of Python whose functions are unknown.
 */
static int recorder_write_python(const struct recorder *r, const struct recorder_sums *sums,
				 const struct recorder_sums *since, struct fxt_archive *to,
				 uint64_t ts_ns)
{
	char unknown[COLLECTOR_PYTHONS_MAX][COLLECTOR_PYTHON_TEXT];
	unsigned n = collector_unknown_pythons(r->pipe.collector, unknown);
	struct event ev = { .kind = EVENT_PYTHON, .ts_ns = ts_ns };
	uint64_t any = 0;
	int error;

	for (size_t i = 0; i < PYTHON_STACKS_MAX; i++) {
		ev.python.stacks[i] = sums->python[i] - since->python[i];
		any |= ev.python.stacks[i];
	}
	error = any ? fxt_archive_event(to, &ev) : 0;
	memset(ev.python.stacks, 0, sizeof(ev.python.stacks));
	for (unsigned i = 0; error >= 0 && i < n; i++) {
		ev.python.version = unknown[i];
		error = fxt_archive_event(to, &ev);
	}
	return error;
}

int recorder_write_stop(const struct recorder *r, struct fxt_archive *to, uint64_t ts_ns,
			const struct recorder_end *end)
{
	const struct recorder_sums sums = recorder_sums(r);
	const struct recorder_sums *since = end->since ? end->since : &r->base;
	int error;
	struct event stop = {
		.kind = EVENT_STOP,
		.ts_ns = ts_ns,
		.stop = {
			.reason = end->reason,
			.session = end->session,
			.events = sums.events - since->events,
			.lost = sums.lost - since->lost,
			.dismissed = sums.dismissed - since->dismissed,
			.unreported = sums.unreported - since->unreported,
			.bytes = end->bytes,
			.daemon_cpu_ns = end->daemon_cpu_ns,
			.bpf_cpu_ns = end->bpf_cpu_ns,
			.dropped_bytes = end->dropped_bytes,
		},
	};

	error = recorder_write_stacks(&sums, since, to, ts_ns);
	if (error >= 0)
		error = recorder_write_python(r, &sums, since, to, ts_ns);
	return error < 0 ? error : fxt_archive_event(to, &stop);
}
