/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tables/table-calls.h"

#include <errno.h>
#include <inttypes.h>

#include "base/outbuf.h"

static void table_calls_print_value(struct outbuf *to, const struct call_value *v)
{
	switch (v->form) {
	case CALL_VALUE_INT:
		outbuf_print(to, "%" PRId64, v->i64);
		break;
	case CALL_VALUE_UINT:
		outbuf_print(to, "%" PRIu64, v->u64);
		break;
	case CALL_VALUE_POINTER:
		outbuf_print(to, "%#" PRIx64, v->u64);
		break;
	case CALL_VALUE_BOOL:
		outbuf_print(to, "%s", v->yes ? "true" : "false");
		break;
	case CALL_VALUE_TEXT:
		outbuf_print(to, "%s", v->text);
		break;
	case CALL_VALUE_NONE:
		break;
	}
}

/* Sets COLUMN to the text in TO, and empties TO. Returns 0 or a negative errno. */
static int table_calls_put_text(struct table_set *s, size_t column, struct outbuf *to)
{
	int r;

	outbuf_append(to, "", 1);
	r = to->error;
	if (r == 0)
		table_put_text(s, TABLE_CALLS, column, (const char *)to->data);
	outbuf_reset(to);
	return r;
}

/* Sets the result as a text and, if it is a number, as a number. */
static int table_calls_put_result(struct table_set *s, const struct call_value *v,
				  struct outbuf *to)
{
	if (v->form == CALL_VALUE_INT || v->form == CALL_VALUE_UINT ||
	    v->form == CALL_VALUE_POINTER)
		table_put(s, TABLE_CALLS, CALL_NUMBER, v->u64);
	table_calls_print_value(to, v);
	return table_calls_put_text(s, CALL_RESULT, to);
}

int table_calls_put(struct table_set *s, const struct table_stacks *stacks, const struct event *ev)
{
	uint64_t stack = table_stacks_named(stacks, ev->pid, ev->call.stack);
	_cleanup_(outbuf_deinit) struct outbuf text = { 0 };
	const enum table_number t = TABLE_CALLS;
	uint64_t end_ns = ev->call.end_ns;

	table_put_time(s, t, CALL_TIME, ev->ts_ns);
	table_put(s, t, CALL_DURATION, end_ns > ev->ts_ns ? end_ns - ev->ts_ns : 0);
	parquet_set_text(s->files[t].rows, CALL_FUNCTION, ev->call.function);
	table_put_text(s, t, CALL_END, ev->call.left_by);
	if (ev->call.return_address)
		table_put(s, t, CALL_RETURN, ev->call.return_address);
	if (stack)
		table_put(s, t, CALL_STACK, stack);
	for (unsigned i = 0; i < ev->call.n_args; i++) {
		outbuf_print(&text, "%s%s=", i ? ", " : "", ev->call.args[i].name);
		table_calls_print_value(&text, &ev->call.args[i]);
	}
	return table_calls_put_text(s, CALL_ARGUMENTS, &text)
		       ?: table_calls_put_result(s, &ev->call.result, &text)
		       ?: table_put_thread(s, t, CALL_THREAD, ev->tid, ev->pid)
		       ?: table_end_row(s, t);
}
