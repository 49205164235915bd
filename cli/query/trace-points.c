/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/query/trace-points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "writer/koids.h"
#include "writer/tracedb/tracedb-writer.h"

/* Types of values, and the name of the result. */
enum { TYPE_INT, TYPE_UINT, TYPE_POINTER, TYPE_BOOL, TYPE_TEXT, TYPES };

enum { VALUES_MAX = EVENT_CALL_ARGS_MAX + 1 }; /* with the result */

struct trace_points_item {
	uint64_t ts_ns, order;
	uint32_t pid, tid;
	uint32_t statement;     /* 0: a block was allocated or freed */
	uint64_t address, size; /* of that; size 0 = freed */
	uint32_t n;
	struct call_value *values; /* owned; texts and names are of the set */
};

void trace_points_deinit(struct trace_points *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->items[i].values);
	free(t->items);
	free(t->functions);
	table_deinit(&t->statements);
	text_set_deinit(&t->texts);
}

/* ---- taking in ---- */

static struct trace_points_item *trace_points_add(struct trace_points *t, const struct event *ev)
{
	struct trace_points_item *item;

	if (GROW(t->items, t->room, t->n + 1) < 0)
		return NULL;
	item = &t->items[t->n];
	*item = (struct trace_points_item){
		.ts_ns = ev->ts_ns,
		.order = t->n,
		.pid = ev->pid,
		.tid = ev->tid,
	};
	t->n++;
	return item;
}

/* 0 without memory. */
static uint32_t trace_points_statement(struct trace_points *t, const char *function)
{
	uint64_t key = table_hash(function, strlen(function)) | 1;
	uint32_t statement = (uint32_t)(uintptr_t)table_get(&t->statements, key);
	const char *name;

	if (statement)
		return statement;
	name = text_set_keep(&t->texts, function);
	if (!name || GROW(t->functions, t->functions_room, t->n_functions + 1) < 0)
		return 0;
	t->functions[t->n_functions++] = name;
	statement = (uint32_t)t->n_functions;
	return table_set(&t->statements, key, (void *)(uintptr_t)statement) < 0 ? 0 : statement;
}

static int trace_points_keep_value(struct trace_points *t, struct trace_points_item *item,
				   const struct call_value *v, const char *name)
{
	struct call_value *to = &item->values[item->n];

	if (v->form == CALL_VALUE_NONE)
		return 0;
	*to = *v;
	to->name = text_set_keep(&t->texts, name);
	if (v->form == CALL_VALUE_TEXT)
		to->text = text_set_keep(&t->texts, v->text);
	item->n++;
	return to->name && (v->form != CALL_VALUE_TEXT || to->text) ? 0 : -ENOMEM;
}

static int trace_points_take_call(struct trace_points *t, const struct event *ev)
{
	struct trace_points_item *item = trace_points_add(t, ev);
	int r = 0;

	if (!item)
		return -ENOMEM;
	item->statement = trace_points_statement(t, ev->call.function);
	item->values = calloc(VALUES_MAX, sizeof(*item->values));
	if (!item->statement || !item->values)
		return -ENOMEM;
	for (unsigned i = 0; r == 0 && i < ev->call.n_args; i++)
		r = trace_points_keep_value(t, item, &ev->call.args[i], ev->call.args[i].name);
	t->n_calls++;
	return r ?: trace_points_keep_value(t, item, &ev->call.result, "return");
}

static int trace_points_take_block(struct trace_points *t, const struct event *ev)
{
	struct trace_points_item *item;

	if (ev->block.resource != RESOURCE_MEMORY && ev->block.resource != RESOURCE_MAPPING)
		return 0;
	item = trace_points_add(t, ev);
	if (!item)
		return -ENOMEM;
	item->address = ev->block.id;
	item->size = ev->kind == EVENT_FREE ? 0 : ev->block.size;
	return 0;
}

int trace_points_take(void *points, const struct event *ev)
{
	struct trace_points *t = points;

	switch (ev->kind) {
	case EVENT_CALL:
		return trace_points_take_call(t, ev);
	case EVENT_ALLOC:
	case EVENT_BLOCK:
	case EVENT_FREE:
		return trace_points_take_block(t, ev);
	case EVENT_WATCH_BEGIN:
		t->sampled |= ev->watch.interval;
		return 0;
	case EVENT_LOST:
		if (strcmp(ev->lost.class_name, event_class_names[CLASS_CALLS]) == 0 ||
		    strcmp(ev->lost.class_name, event_class_names[CLASS_MEMORY]) == 0)
			t->n_lost += ev->lost.count;
		return 0;
	default:
		return 0;
	}
}

static int trace_points_compare_pids(const void *a, const void *b)
{
	return COMPARE(*(const uint32_t *)a, *(const uint32_t *)b);
}

int trace_points_processes(const struct trace_points *t, uint32_t **ret, size_t *ret_n)
{
	uint32_t *pids = calloc(t->n + 1, sizeof(*pids));
	size_t n = 0, kept = 0;

	if (!pids)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i].statement)
			pids[n++] = t->items[i].pid;
	if (n > 1)
		qsort(pids, n, sizeof(*pids), trace_points_compare_pids);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || pids[kept - 1] != pids[i])
			pids[kept++] = pids[i];
	*ret = pids;
	*ret_n = kept;
	return 0;
}

const char *trace_points_function(const struct trace_points *t, uint64_t statement)
{
	return statement > 0 && statement <= t->n_functions ? t->functions[statement - 1] : NULL;
}

/* ---- writing ---- */

/* The names of a dictionary, of which equal ones have one address. */
struct trace_points_names {
	const char **list; /* owned */
	size_t n, room;
	struct table numbers; /* address -> number + 1 */
};

static void trace_points_names_deinit(struct trace_points_names *n)
{
	free(n->list);
	table_deinit(&n->numbers);
}

static int trace_points_name(struct trace_points_names *n, const char *name)
{
	if (table_get(&n->numbers, (uint64_t)(uintptr_t)name))
		return 0;
	if (GROW(n->list, n->room, n->n + 1) < 0)
		return -ENOMEM;
	n->list[n->n++] = name;
	return table_set(&n->numbers, (uint64_t)(uintptr_t)name, (void *)(uintptr_t)n->n);
}

static uint32_t trace_points_number(const struct trace_points_names *n, const char *name)
{
	return (uint32_t)(uintptr_t)table_get(&n->numbers, (uint64_t)(uintptr_t)name) - 1;
}

static struct tracedb_value trace_points_value(const struct trace_points_names *names,
					       const struct call_value *v)
{
	struct tracedb_value to = { .name = trace_points_number(names, v->name), .size = 8 };

	switch (v->form) {
	case CALL_VALUE_INT:
		to.type = TYPE_INT;
		to.s = v->i64;
		break;
	case CALL_VALUE_BOOL:
		to.type = TYPE_BOOL;
		to.size = 1;
		to.u = v->yes;
		break;
	case CALL_VALUE_TEXT:
		to.type = TYPE_TEXT;
		to.size = (uint32_t)strlen(v->text);
		to.bytes = (const uint8_t *)v->text;
		break;
	default:
		to.type = v->form == CALL_VALUE_POINTER ? TYPE_POINTER : TYPE_UINT;
		to.u = v->u64;
	}
	return to;
}

static int trace_points_compare_times(const void *a, const void *b)
{
	const struct trace_points_item *const *x = a, *const *y = b;

	return COMPARE((*x)->ts_ns, (*y)->ts_ns) ?: COMPARE((*x)->order, (*y)->order);
}

/* The items of PID by time, into a new array; NULL without memory. */
static const struct trace_points_item **trace_points_of(const struct trace_points *t, uint32_t pid,
							size_t *ret_n)
{
	const struct trace_points_item **list = calloc(t->n + 1, sizeof(*list));

	*ret_n = 0;
	for (size_t i = 0; list && i < t->n; i++)
		if (t->items[i].pid == pid)
			list[(*ret_n)++] = &t->items[i];
	if (*ret_n > 1)
		qsort(list, *ret_n, sizeof(*list), trace_points_compare_times);
	return list;
}

/* A point takes all blocks of memory with it that have come since the one before. */
static int trace_points_put(struct tracedb_writer *w, const struct trace_points_names *names,
			    const struct trace_points_item *const *items, size_t n)
{
	const struct trace_points_item *call = items[n - 1];
	_cleanup_free_ struct tracedb_entry *entries = calloc(n + VALUES_MAX + 2, sizeof(*entries));
	size_t n_entries = 0;

	if (!entries)
		return -ENOMEM;
	entries[n_entries++] =
		(struct tracedb_entry){ .tag = TRACEDB_STATEMENT, .statement = call->statement };
	for (size_t i = 0; i + 1 < n; i++)
		entries[n_entries++] = (struct tracedb_entry){
			.tag = TRACEDB_BUFFER,
			.buffer = { items[i]->address, items[i]->size },
		};
	for (uint32_t i = 0; i < call->n; i++)
		entries[n_entries++] = (struct tracedb_entry){
			.tag = TRACEDB_VARIABLE,
			.variable = trace_points_value(names, &call->values[i]),
		};
	entries[n_entries++] =
		(struct tracedb_entry){ .tag = TRACEDB_AUXILIARY, .auxiliary = call->ts_ns };
	entries[n_entries++] = (struct tracedb_entry){
		.tag = TRACEDB_AUXILIARY,
		.auxiliary = (uint64_t)(call->pid & FXT_KOID_TID_MASK) << 32 |
			     (call->tid & FXT_KOID_TID_MASK),
	};
	return tracedb_writer_point(w, &(struct tracedb_point){ entries, n_entries });
}

int trace_points_write(const struct trace_points *t, uint32_t pid, enum tracedb_layout layout,
		       struct outbuf *to)
{
	static const char *const type_names[TYPES] = { "int", "uint", "pointer", "bool", "text" };
	static const uint32_t formats[TYPES] = { TRACEDB_SIGNED, TRACEDB_UNSIGNED, TRACEDB_POINTER,
						 TRACEDB_UNSIGNED, TRACEDB_BLOB };
	static const uint32_t sizes[TYPES] = { 8, 8, 8, 1, 0 };
	_cleanup_(trace_points_names_deinit) struct trace_points_names names = { 0 };
	struct tracedb_type types[TYPES];
	struct tracedb_dictionary dictionary = { .types = types, .n_types = TYPES };
	struct tracedb_writer w;
	size_t n = 0, begin = 0;
	_cleanup_free_ const struct trace_points_item **items = trace_points_of(t, pid, &n);
	int r = items ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < TYPES; i++) {
		r = trace_points_name(&names, type_names[i]);
		types[i] = (struct tracedb_type){ i, formats[i], sizes[i] };
	}
	for (size_t i = 0; r == 0 && i < n; i++)
		for (uint32_t j = 0; r == 0 && j < items[i]->n; j++)
			r = trace_points_name(&names, items[i]->values[j].name);
	dictionary.names = names.list;
	dictionary.n_names = names.n;
	r = r ?: tracedb_writer_begin(&w, to, layout, &dictionary);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!items[i]->statement)
			continue;
		r = trace_points_put(&w, &names, items + begin, i + 1 - begin);
		begin = i + 1;
	}
	return r;
}
