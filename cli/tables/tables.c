/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tables/tables.h"

#include <errno.h>
#include <string.h>

#include "cli/common/read-events.h"
#include "cli/common/verb.h"
#include "cli/tables/table-calls.h"
#include "cli/tables/table-events.h"
#include "cli/tables/table-heap.h"
#include "cli/tables/table-machine.h"
#include "cli/tables/table-partition.h"
#include "cli/tables/table-set.h"
#include "cli/tables/table-slices.h"
#include "cli/tables/table-stacks.h"

struct tables {
	struct table_set set;
	struct table_slices slices;
	struct table_stacks stacks;
	struct table_heap heap;
	const struct tables_args *args;
	bool open;               /* the files are open */
	char *directory;         /* of the partition; owned; NULL = args->directory */
	struct summary *summary; /* owned */
	bool late_clock;         /* the first clock came after the first row */
	int error;               /* why a row was not written; printed at the end */
};

static void tables_deinit(struct tables *t)
{
	table_slices_deinit(&t->slices);
	table_stacks_deinit(&t->stacks);
	table_heap_deinit(&t->heap);
	table_set_deinit(&t->set);
	summary_freep(&t->summary);
	free(t->directory);
}

/*
 * Notes the first clock record. All times of the archive are moved by the difference of its clocks.
 */
static void tables_note_clock(struct tables *t, const struct event *ev)
{
	if (t->set.has_clock || t->set.fixed_clock) {
		t->late_clock = t->late_clock || !t->set.has_clock;
		return;
	}
	t->set.has_clock = true;
	t->set.offset_ns = (int64_t)(ev->clock.real_ns - ev->clock.boot_ns);
}

static int tables_open(struct tables *t)
{
	t->open = true;
	return table_set_open(&t->set, t->directory ?: t->args->directory, t->args->force);
}

/*
 * Opens the files of a partition when the first records, which have no rows, have named the host
 * and related the clocks. Returns 0, or -ECANCELED after an error message.
 */
static int tables_open_partition(struct tables *t, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_START:
	case EVENT_PART:
	case EVENT_SAMPLING:
	case EVENT_STACKS:
	case EVENT_PYTHON:
	case EVENT_TASK: /* (the recorder itself) */
		return 0;
	case EVENT_CLOCK:
		if (!t->summary->recording.host || !*t->summary->recording.host)
			break;
		return table_partition_make(t->args->directory, t->summary->recording.host,
					    ev->clock.real_ns, &t->directory)
			       ?: tables_open(t) ? -ECANCELED
						 : 0;
	default:
		break;
	}
	cli_error("the archive does not begin with its host and a clock, so that --partition does "
		  "not know the directory");
	return -ECANCELED;
}

static int tables_on_event(void *userdata, const struct event *ev)
{
	struct tables *t = userdata;
	int r;

	if (ev->kind == EVENT_CLOCK)
		tables_note_clock(t, ev);
	t->slices.ev = ev;
	r = t->open ? 0 : tables_open_partition(t, ev);
	if (r < 0)
		return r;
	r = summary_add(t->summary, ev) ?: table_events_add(&t->set, ev) ?: table_stacks_add(&t->stacks, ev) ?: table_heap_add(&t->heap, ev);
	if (r == 0 && ev->kind == EVENT_CALL)
		r = table_calls_put(&t->set, &t->stacks, ev);
	if (r < 0)
		t->error = r;
	return r;
}

static int tables_finish(struct tables *t, struct open_trace *trace)
{
	int r, status = open_trace_finish(trace);

	t->slices.ev = NULL;
	r = summary_finish(t->summary) ?: table_stacks_finish(&t->stacks) ?: table_machine_put(&t->set, status == CLI_DAMAGE);
	if (r < 0)
		return cli_failed("cannot write the tables: %s", strerror(-r));
	if (!t->set.has_clock)
		cli_error("%s: its %s, so the times in the tables count from the boot", trace->name,
			  t->late_clock ? "first events precede its clocks"
					: "clocks are not recorded");
	return table_set_finish(&t->set)
		       ?: read_events_unmapped(trace, maps_n_dropped(t->stacks.maps), status);
}

int tables_write(struct open_trace *trace, const struct tables_args *args, char **ret_directory,
		 size_t *ret_n)
{
	_cleanup_(tables_deinit) struct tables t = { .args = args };
	int r;

	table_set_init(&t.set);
	r = args->partition ? CLI_OK : tables_open(&t);
	if (r != CLI_OK)
		return r;
	if (summary_new(&t.summary) < 0 || table_stacks_init(&t.stacks, &t.set) < 0)
		return cli_failed("out of memory");
	t.set.summary = t.summary;
	t.slices.set = &t.set;
	t.heap.set = &t.set;
	t.heap.stacks = &t.stacks;
	summary_listen(t.summary, table_slices_add, &t.slices);
	r = read_events(trace, tables_on_event, &t);
	if (t.error < 0 && t.error != -ENOMEM)
		return cli_failed("cannot write the tables: %s", strerror(-t.error));
	if (r != CLI_OK)
		return r;
	if (!t.open)
		return cli_failed("%s: no partition: the archive has no events", trace->name);
	*ret_n = TABLES_MAX;
	*ret_directory = TAKE_PTR(t.directory);
	return tables_finish(&t, trace);
}
