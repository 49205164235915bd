/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/call-table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "reader/views/call-sums.h"

void call_table_deinit(struct call_table *t)
{
	struct call_table_left_out *left_out;
	struct call_table_row *row;

	for (size_t pos = 0; (row = table_next(&t->rows, &pos));) {
		free(row->function);
		latency_deinit(&row->took);
	}
	for (size_t pos = 0; (left_out = table_next(&t->left_out, &pos));)
		free(left_out->function);
	table_deinit_free(&t->rows);
	table_deinit_free(&t->left_out);
	table_deinit_free(&t->processes);
}

/* Finds or adds the row for FUNCTION in process PID. Returns NULL if there is no memory. */
static struct call_table_row *call_table_row_of(struct call_table *t, uint32_t pid,
						const char *function)
{
	struct call_table_process *process =
		table_make(&t->processes, (uint64_t)pid + 1, sizeof(*process));
	uint64_t key = table_hash_seeded(pid, function, strlen(function));
	struct call_table_row *row = table_make(&t->rows, key, sizeof(*row));

	if (!process || !row)
		return NULL;
	process->pid = pid;
	if (!row->function) {
		row->function = strdup(function);
		row->process = process;
	}
	return row->function ? row : NULL;
}

static int call_table_add_call(struct call_table *t, const struct event *ev)
{
	struct call_table_row *row = call_table_row_of(t, ev->pid, ev->call.function);
	struct call_table_process *process;
	uint64_t ns = ev->call.end_ns - ev->ts_ns;
	bool failed;

	if (!row)
		return -ENOMEM;
	/* (a call that did not return has no known duration) */
	if (*ev->call.left_by) {
		row->unreturned++;
		return 0;
	}
	failed = call_sums_has_failed(&ev->call.result);
	process = table_get(&t->processes, (uint64_t)ev->pid + 1);
	process->n++;
	process->failed += failed;
	process->total_ns += ns;
	row->failed += failed;
	return latency_add(&row->took, ns);
}

int call_table_add(struct call_table *t, const struct event *ev)
{
	struct call_table_left_out *left_out;
	const char *function = ev->left_out.function;

	if (ev->kind == EVENT_CALL)
		return call_table_add_call(t, ev);
	if (ev->kind != EVENT_LEFT_OUT)
		return 0;
	left_out =
		table_make(&t->left_out, table_hash(function, strlen(function)), sizeof(*left_out));
	if (left_out && !left_out->function)
		left_out->function = strdup(function);
	if (!left_out || !left_out->function)
		return -ENOMEM;
	left_out->n += ev->left_out.count;
	return 0;
}

DEFINE_ORDER_OF_POINTERS(call_table_compare, struct call_table_row,
			 COMPARE(y->process->total_ns, x->process->total_ns)
				 ?: COMPARE(x->process->pid, y->process->pid)
				 ?: COMPARE(y->took.sum_ns, x->took.sum_ns)
				 ?: strcmp(x->function, y->function))

DEFINE_ORDER_OF_POINTERS(call_table_compare_left_out, struct call_table_left_out,
			 strcmp(x->function, y->function))

int call_table_rows(const struct call_table *t, struct call_table_row ***ret, size_t *ret_n)
{
	*ret = (struct call_table_row **)table_sorted(&t->rows, call_table_compare, ret_n);
	return *ret ? 0 : -ENOMEM;
}

int call_table_all_left_out(const struct call_table *t, struct call_table_left_out ***ret,
			    size_t *ret_n)
{
	*ret = (struct call_table_left_out **)table_sorted(&t->left_out,
							   call_table_compare_left_out, ret_n);
	return *ret ? 0 : -ENOMEM;
}
