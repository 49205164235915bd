/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tables/table-events.h"

/* A counter has a row for each of its values. */
static int table_events_put_counter(struct table_set *s, const struct event *ev)
{
	const enum table_number t = TABLE_COUNTERS;
	struct parquet_file *f = s->files[t].rows;
	int r = 0;

	for (unsigned i = 0; r == 0 && i < ev->counter.n_values; i++) {
		const struct event_value *v = &ev->counter.values[i];

		table_put_time(s, t, COUNTER_TIME, ev->ts_ns);
		parquet_set_text(f, COUNTER_CATEGORY, ev->counter.category);
		parquet_set_text(f, COUNTER_NAME, ev->counter.name);
		table_put(s, t, COUNTER_ID, ev->counter.id);
		parquet_set_text(f, COUNTER_FIELD, v->name);
		parquet_set_double(f, COUNTER_VALUE, v->whole ? (double)v->u64 : v->f64);
		if (v->whole)
			table_put(s, t, COUNTER_WHOLE, v->u64);
		r = table_put_thread(s, t, COUNTER_THREAD, ev->tid, ev->pid) ?: table_end_row(s, t);
	}
	return r;
}

static int table_events_put_mark(struct table_set *s, const struct event *ev)
{
	table_put_time(s, TABLE_MARKS, MARK_TIME, ev->ts_ns);
	parquet_set_text(s->files[TABLE_MARKS].rows, MARK_TEXT, ev->mark.text);
	return table_end_row(s, TABLE_MARKS);
}

static int table_events_put_loss(struct table_set *s, const struct event *ev)
{
	table_put_time(s, TABLE_LOSSES, LOSS_TIME, ev->ts_ns);
	parquet_set_text(s->files[TABLE_LOSSES].rows, LOSS_CLASS, ev->lost.class_name);
	table_put(s, TABLE_LOSSES, LOSS_COUNT, ev->lost.count);
	if (ev->lost.first_ns)
		table_put_time(s, TABLE_LOSSES, LOSS_FIRST, ev->lost.first_ns);
	if (ev->lost.last_ns)
		table_put_time(s, TABLE_LOSSES, LOSS_LAST, ev->lost.last_ns);
	return table_end_row(s, TABLE_LOSSES);
}

static int table_events_put_shed(struct table_set *s, const struct event *ev)
{
	struct parquet_file *f = s->files[TABLE_SHEDS].rows;
	const double ppm = 1e6;

	table_put_time(s, TABLE_SHEDS, SHED_TIME, ev->ts_ns);
	parquet_set_text(f, SHED_WHAT, ev->shed.what);
	table_put(s, TABLE_SHEDS, SHED_BACK, ev->shed.back);
	parquet_set_double(f, SHED_COST, (double)ev->shed.cost_ppm / ppm);
	parquet_set_double(f, SHED_LIMIT, (double)ev->shed.limit_ppm / ppm);
	return table_end_row(s, TABLE_SHEDS);
}

int table_events_add(struct table_set *s, const struct event *ev)
{
	switch (ev->kind) {
	case EVENT_COUNTER:
		return table_events_put_counter(s, ev);
	case EVENT_MARK:
		return table_events_put_mark(s, ev);
	case EVENT_LOST:
		return table_events_put_loss(s, ev);
	case EVENT_SHED:
		return table_events_put_shed(s, ev);
	default:
		return 0;
	}
}
