/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/views/call-sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/calls/call-errors.h"

void call_sums_deinit(struct call_sums *s)
{
	struct call_sum *sum;

	for (size_t pos = 0; (sum = table_next(&s->functions, &pos));) {
		free(sum->function);
		latency_deinit(&sum->took);
	}
	table_deinit_free(&s->functions);
	other_files_deinit(&s->others);
}

bool call_sums_has_failed(const struct call_value *result)
{
	if (result->form == CALL_VALUE_INT)
		return result->i64 == -1;
	return result->form == CALL_VALUE_TEXT && call_is_error(result->text);
}

/* Finds or adds the sum of FUNCTION; a new sum is zero. Returns NULL if there is no memory. */
static struct call_sum *call_sums_of(struct call_sums *s, const char *function)
{
	struct call_sum *sum =
		table_make(&s->functions, table_hash(function, strlen(function)), sizeof(*sum));

	if (sum && !sum->function)
		sum->function = strdup(function);
	return sum && sum->function ? sum : NULL;
}

int call_sums_add(struct call_sums *s, const struct event *ev)
{
	struct call_sum *sum;

	if (other_files_add(&s->others, ev) < 0)
		return -ENOMEM;
	if (ev->kind != EVENT_CALL && ev->kind != EVENT_LEFT_OUT)
		return 0;
	sum = call_sums_of(s, ev->kind == EVENT_CALL ? ev->call.function : ev->left_out.function);
	if (!sum)
		return -ENOMEM;
	if (ev->kind == EVENT_LEFT_OUT) {
		sum->left_out += ev->left_out.count;
		return 0;
	}
	/* (a call that did not return has no known duration) */
	if (*ev->call.left_by) {
		sum->unwound += strcmp(ev->call.left_by, "unwound") == 0;
		sum->open += strcmp(ev->call.left_by, "unwound") != 0;
		return 0;
	}
	sum->failed += call_sums_has_failed(&ev->call.result);
	return latency_add(&sum->took, ev->call.end_ns - ev->ts_ns);
}

DEFINE_ORDER_OF_POINTERS(call_sums_compare, struct call_sum,
			 COMPARE(y->took.sum_ns, x->took.sum_ns)
				 ?: strcmp(x->function, y->function))

int call_sums_by_time(const struct call_sums *s, struct call_sum ***ret, size_t *ret_n)
{
	*ret = (struct call_sum **)table_sorted(&s->functions, call_sums_compare, ret_n);
	return *ret ? 0 : -ENOMEM;
}
