/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/query/trace-points.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "cli/common/verb.h"
#include "model/koids.h"
#include "model/moment-values.h"
#include "writer/tracedb/tracedb-writer.h"

/* Types of values. */
enum { TYPE_INT, TYPE_UINT, TYPE_POINTER, TYPE_BOOL, TYPE_TEXT, TYPE_FLOAT, TYPES };

/* Names of variables: the result of a call, and data of a moment. */
enum {
	VALUES_MAX = 2 * MOMENT_PLAN_VARIABLES_MAX + MOMENT_PLAN_TSVS_MAX,
	PRINTED_MAX = 4096,
	NAME_ROOM = 256,
};

struct trace_points_value {
	const char *name; /* name in the set of texts */
	uint32_t type;
	uint32_t n_text;
	union {
		int64_t i;
		uint64_t u;
		double f;
		size_t text_at; /* position in `texts` */
	};
};

struct trace_points_item {
	uint64_t ts_ns, order;
	struct trace_points_space space;
	uint32_t tid;
	uint32_t statement;     /* 0 = the item is not a point, but a live block */
	bool is_block;          /* a block was allocated or freed: */
	uint64_t address, size; /* address and size of the block; size 0 = freed */
	uint32_t n;
	struct trace_points_value *values; /* owned */
};

int trace_points_init(struct trace_points *t)
{
	const struct symbol_options symbols = { 0 };

	t->has_stacks = true;
	return call_stacks_init(&t->stacks, &symbols);
}

void trace_points_deinit(struct trace_points *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->items[i].values);
	free(t->items);
	outbuf_deinit(&t->texts);
	trace_statements_deinit(&t->statements);
	if (t->has_stacks)
		call_stacks_deinit(&t->stacks);
	moment_store_deinit(&t->moments);
	table_deinit(&t->spaces);
	text_set_deinit(&t->names);
}

/* ---- input ---- */

static struct trace_points_item *trace_points_add(struct trace_points *t, const struct event *ev)
{
	struct trace_points_item *item;

	if (GROW(t->items, t->room, t->n + 1) < 0)
		return NULL;
	item = &t->items[t->n];
	*item = (struct trace_points_item){
		.ts_ns = ev->ts_ns,
		.order = t->n,
		.space = { ev->pid,
			   (uint32_t)(uintptr_t)table_get(&t->spaces, (uint64_t)ev->pid + 1) },
		.tid = ev->tid,
	};
	t->n++;
	return item;
}

/* Adds a value to ITEM; NULL if there is no memory. */
static struct trace_points_value *trace_points_add_value(struct trace_points *t,
							 struct trace_points_item *item,
							 const char *name, uint32_t type)
{
	struct trace_points_value *v = &item->values[item->n];

	*v = (struct trace_points_value){ .name = text_set_keep(&t->names, name), .type = type };
	if (!v->name)
		return NULL;
	item->n++;
	return v;
}

/* Decodes the escape after a backslash at *P, and moves *P behind it. */
static char trace_points_unescape(const char **p, const char *end)
{
	static const char from[] = "abfnrtve", to[] = "\a\b\f\n\r\t\v\033";
	const char *letter = memchr(from, **p, sizeof(from) - 1);
	unsigned n = 0, digits = 0;

	if (letter) {
		++*p;
		return to[letter - from];
	}
	for (; *p < end && **p >= '0' && **p <= '7' && digits < 3; digits++)
		n = n * 8 + (unsigned)(*(*p)++ - '0');
	return digits ? (char)n : *(*p)++;
}

/* Adds TEXT, or, if it starts with a quotation mark, the bytes in the quotes. */
static int trace_points_add_text(struct trace_points *t, struct trace_points_item *item,
				 const char *name, const char *text)
{
	struct trace_points_value *v = trace_points_add_value(t, item, name, TYPE_TEXT);
	bool quoted = *text == '"';
	const char *p = text + quoted, *end = text + strlen(text);

	if (!v)
		return -ENOMEM;
	v->text_at = t->texts.size;
	while (p < end && !(quoted && *p == '"')) {
		char c = *p++;

		if (quoted && c == '\\' && p < end)
			c = trace_points_unescape(&p, end);
		if (outbuf_append(&t->texts, &c, 1) < 0)
			return -ENOMEM;
	}
	v->n_text = (uint32_t)(t->texts.size - v->text_at);
	return 0;
}

static int trace_points_add_call_value(struct trace_points *t, struct trace_points_item *item,
				       const struct call_value *from, const char *name)
{
	static const uint32_t types[] = {
		[CALL_VALUE_INT] = TYPE_INT,
		[CALL_VALUE_UINT] = TYPE_UINT,
		[CALL_VALUE_POINTER] = TYPE_POINTER,
		[CALL_VALUE_BOOL] = TYPE_BOOL,
	};
	struct trace_points_value *v;

	if (from->form == CALL_VALUE_NONE)
		return 0;
	if (from->form == CALL_VALUE_TEXT)
		return trace_points_add_text(t, item, name, from->text);
	v = trace_points_add_value(t, item, name, types[from->form]);
	if (!v)
		return -ENOMEM;
	v->u = from->form == CALL_VALUE_BOOL ? from->yes : from->u64;
	return 0;
}

static struct trace_points_item *trace_points_add_point(struct trace_points *t,
							const struct event *ev, uint32_t statement)
{
	struct trace_points_item *item = statement ? trace_points_add(t, ev) : NULL;

	if (!item)
		return NULL;
	item->statement = statement;
	item->values = calloc(VALUES_MAX, sizeof(*item->values));
	t->n_points++;
	return item->values ? item : NULL;
}

/* Frees the unused memory of the values, since there are many points. */
static void trace_points_fit(struct trace_points_item *item)
{
	void *fits = realloc(item->values, (item->n + 1) * sizeof(*item->values));

	item->values = fits ?: item->values;
}

static int trace_points_on_call(struct trace_points *t, const struct event *ev)
{
	uint32_t node = t->has_stacks ? call_stacks_find(&t->stacks, ev->pid, ev->call.stack) : 0;
	struct trace_points_item *item = trace_points_add_point(
		t, ev,
		trace_statements_of_call(&t->statements, ev->call.function, &t->stacks, node));
	int r = item ? 0 : -ENOMEM;

	for (unsigned i = 0; r == 0 && i < ev->call.n_args; i++)
		r = trace_points_add_call_value(t, item, &ev->call.args[i], ev->call.args[i].name);
	r = r ?: trace_points_add_call_value(t, item, &ev->call.result, "return");
	if (r == 0)
		trace_points_fit(item);
	return r;
}

/* ---- moments ---- */

/* The number in BYTES with SHAPE. Returns false if it is not a number, or must be computed. */
static bool trace_points_number(const char *shape, const struct outbuf *bytes,
				struct trace_points_value *ret)
{
	char *end;
	size_t n = *shape ? strtoul(shape + 1, &end, 10) : 0;
	float narrow;

	if (!*shape || !strchr("iceubhfp", *shape) || (n != 1 && n != 2 && n != 4 && n != 8) ||
	    n > bytes->size)
		return false;
	ret->u = 0;
	memcpy(&ret->u, bytes->data, n);
	switch (*shape) {
	case 'f':
		memcpy(&narrow, bytes->data, sizeof(narrow));
		if (n == sizeof(narrow))
			ret->f = (double)narrow;
		ret->type = TYPE_FLOAT;
		return n >= sizeof(narrow);
	case 'i':
	case 'c':
	case 'e':
		ret->i = (int64_t)(ret->u << (64 - 8 * n)) >> (64 - 8 * n);
		ret->type = TYPE_INT;
		return true;
	default:
		ret->type = *shape == 'p' ? TYPE_POINTER : TYPE_UINT;
		return true;
	}
}

/* Parses TEXT, a value that was computed by printing it. */
static bool trace_points_printed_number(const char *text, struct trace_points_value *ret)
{
	char *end;

	errno = 0;
	ret->i = strtoll(text, &end, 10);
	ret->type = TYPE_INT;
	return errno == 0 && end != text && *end == '\0';
}

static int trace_points_add_variable(struct trace_points *t, struct trace_points_item *item,
				     const struct moment_plan_variable *v, const struct event *ev)
{
	_cleanup_(outbuf_deinit) struct outbuf bytes = { 0 };
	struct trace_points_value number = { 0 }, *to;
	char text[PRINTED_MAX];
	const char *quote;

	if (moment_values_collect(v, ev, &bytes) || !moment_values_print(v, ev, text, sizeof(text)))
		return 0;
	if (!trace_points_number(v->shape, &bytes, &number) &&
	    !trace_points_printed_number(text, &number))
		return trace_points_add_text(t, item, v->name, text);
	to = trace_points_add_value(t, item, v->name, number.type);
	if (!to)
		return -ENOMEM;
	to->u = number.u;
	quote = number.type == TYPE_POINTER ? strstr(text, " \"") : NULL;
	if (quote)
		return trace_points_add_text(t, item, v->name, quote + 1);
	return *v->shape == 'e' ? trace_points_add_text(t, item, v->name, text) : 0;
}

/* Adds a trace state variable, with a `$` before its name. */
static int trace_points_add_tsv(struct trace_points *t, struct trace_points_item *item,
				const struct moment_plan *plan, uint32_t i, const struct event *ev)
{
	char name[NAME_ROOM];
	struct trace_points_value *to;
	uint64_t value;

	if (!moment_values_tsv(plan, ev, i, &value))
		return 0;
	snprintf(name, sizeof(name), "$%s", plan->tsvs[i].name);
	to = trace_points_add_value(t, item, name, TYPE_INT);
	if (!to)
		return -ENOMEM;
	to->u = value;
	return 0;
}

static int trace_points_on_moment(struct trace_points *t, const struct event *ev)
{
	const struct moment_plan *plan = moment_store_plan(&t->moments, ev);
	struct trace_points_item *item;
	int r = 0;

	if (!plan)
		return 0;
	item = trace_points_add_point(t, ev,
				      trace_statements_of_point(&t->statements, plan->name,
								plan->file, plan->source,
								plan->vaddr));
	if (!item)
		return -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < plan->n_tsvs; i++)
		r = trace_points_add_tsv(t, item, plan, i, ev);
	for (uint32_t i = 0; r == 0 && i < plan->n_variables; i++)
		r = trace_points_add_variable(t, item, &plan->variables[i], ev);
	if (r == 0)
		trace_points_fit(item);
	return r;
}

/* Returns the statement that allocates or frees a block. */
static uint32_t trace_points_block_statement(struct trace_points *t, const struct event *ev)
{
	const char *function = ev->block.function;
	uint32_t node = t->has_stacks ? call_stacks_find(&t->stacks, ev->pid, ev->block.stack) : 0;

	if (!function || !*function)
		function = ev->kind == EVENT_FREE ? "free" : "malloc";
	return trace_statements_of_call(&t->statements, function, &t->stacks, node);
}

static int trace_points_on_block(struct trace_points *t, const struct event *ev)
{
	struct trace_points_item *item;

	if (ev->block.resource != RESOURCE_MEMORY && ev->block.resource != RESOURCE_MAPPING)
		return 0;
	item = trace_points_add(t, ev);
	if (!item)
		return -ENOMEM;
	item->is_block = t->has_blocks = true;
	item->address = ev->block.id;
	item->size = ev->kind == EVENT_FREE ? 0 : ev->block.size;
	if (ev->kind == EVENT_BLOCK)
		return 0;
	item->statement = trace_points_block_statement(t, ev);
	t->name_of_address = t->name_of_address ?: text_set_keep(&t->names, "address");
	t->name_of_bytes = t->name_of_bytes ?: text_set_keep(&t->names, "bytes");
	t->n_points++;
	return item->statement && t->name_of_address && t->name_of_bytes ? 0 : -ENOMEM;
}

/* Handles an exec: the process has a new address space from now on. */
static int trace_points_on_exec(struct trace_points *t, const struct event *ev)
{
	uint64_t key = (uint64_t)ev->pid + 1;
	uintptr_t number = (uintptr_t)table_get(&t->spaces, key);

	return table_set(&t->spaces, key, (void *)(number + 1));
}

int trace_points_on_event(void *points, const struct event *ev)
{
	struct trace_points *t = points;
	int r = moment_store_add(&t->moments, ev);

	if (r == 0 && t->has_stacks)
		r = call_stacks_add(&t->stacks, ev);
	if (r < 0)
		return r;
	switch (ev->kind) {
	case EVENT_CALL:
		return trace_points_on_call(t, ev);
	case EVENT_MOMENT:
		return trace_points_on_moment(t, ev);
	case EVENT_ALLOC:
	case EVENT_BLOCK:
	case EVENT_FREE:
		return trace_points_on_block(t, ev);
	case EVENT_EXEC:
		return trace_points_on_exec(t, ev);
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

/* Reports that the archive OF has none of the events that become points. */
static int trace_points_say_none(const struct open_trace *of)
{
	static const enum nothing_part kinds[] = { NOTHING_CALLS, NOTHING_MOMENTS,
						   NOTHING_ALLOCATIONS };
	int r = CLI_FAILED;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (of->parts.recording_request & 1u << kinds[i])
			r = nothing_there_say(&of->parts, kinds[i], of->name);
	if (r != CLI_OK)
		cli_error("%s contains no calls, moments or allocations; record calls with 'kymo "
			  "record --call=SPEC'",
			  of->name);
	return r;
}

int trace_points_complain(const struct trace_points *t, const struct open_trace *of)
{
	const char *name = of->name;

	if (t->n_points == 0)
		return trace_points_say_none(of);
	if (t->sampled)
		return cli_failed(
			"%s: allocations were sampled, so sizes of buffers are unknown; record "
			"without --memory-interval",
			name);
	if (t->n_lost)
		cli_error("%s: %" PRIu64 " calls or allocations were lost: sizes of buffers may be "
			  "out of date",
			  name, t->n_lost);
	return CLI_OK;
}

DEFINE_ORDER(trace_points_compare_spaces, struct trace_points_space,
	     COMPARE(x->pid, y->pid) ?: COMPARE(x->number, y->number))

int trace_points_spaces(const struct trace_points *t, struct trace_points_space **ret,
			size_t *ret_n)
{
	struct trace_points_space *list = calloc(t->n + 1, sizeof(*list));
	size_t n = 0, kept = 0;

	if (!list)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i].statement)
			list[n++] = t->items[i].space;
	SORT(list, n, trace_points_compare_spaces);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || trace_points_compare_spaces(&list[kept - 1], &list[i]) != 0)
			list[kept++] = list[i];
	*ret = list;
	*ret_n = kept;
	return 0;
}

/* ---- writing ---- */

/* The names of a dictionary. Equal names have the same address. */
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

static uint32_t trace_points_number_of(const struct trace_points_names *n, const char *name)
{
	return (uint32_t)(uintptr_t)table_get(&n->numbers, (uint64_t)(uintptr_t)name) - 1;
}

static struct tracedb_value trace_points_value(const struct trace_points *t,
					       const struct trace_points_names *names,
					       const struct trace_points_value *v)
{
	struct tracedb_value to = {
		.name = trace_points_number_of(names, v->name),
		.type = v->type,
		.size = v->type == TYPE_TEXT   ? v->n_text
			: v->type == TYPE_BOOL ? 1
					       : sizeof(v->u),
		.u = v->u,
	};

	if (v->type == TYPE_TEXT)
		to.bytes = v->n_text ? t->texts.data + v->text_at : (const uint8_t *)"";
	return to;
}

DEFINE_ORDER_OF_POINTERS(trace_points_compare_times, struct trace_points_item,
			 COMPARE(x->ts_ns, y->ts_ns) ?: COMPARE(x->order, y->order))

/* The items of SPACE, sorted by time, as a new array. Returns NULL without memory. */
static const struct trace_points_item **
trace_points_of(const struct trace_points *t, const struct trace_points_space *space, size_t *ret_n)
{
	const struct trace_points_item **list = calloc(t->n + 1, sizeof(*list));

	*ret_n = 0;
	for (size_t i = 0; list && i < t->n; i++)
		if (trace_points_compare_spaces(&t->items[i].space, space) == 0)
			list[(*ret_n)++] = &t->items[i];
	SORT(list, *ret_n, trace_points_compare_times);
	return list;
}

static struct tracedb_entry trace_points_buffer(const struct trace_points_item *item)
{
	return (struct tracedb_entry){ .tag = TRACEDB_BUFFER,
				       .buffer = { item->address, item->size } };
}

/* Writes a block. At an allocation, its buffer is written before the point; at a free, the buffer
 * exists until the point. */
static size_t trace_points_put_block(const struct trace_points *t,
				     const struct trace_points_names *names,
				     const struct trace_points_item *item,
				     struct tracedb_entry *entries)
{
	const struct trace_points_value address = { .name = t->name_of_address,
						    .type = TYPE_POINTER,
						    .u = item->address };
	const struct trace_points_value bytes = { .name = t->name_of_bytes,
						  .type = TYPE_UINT,
						  .u = item->size };
	size_t n = 0;

	if (item->size > 0)
		entries[n++] = trace_points_buffer(item);
	entries[n++] = (struct tracedb_entry){ .tag = TRACEDB_VARIABLE,
					       .variable = trace_points_value(t, names, &address) };
	if (item->size == 0)
		entries[n++] = trace_points_buffer(item);
	else
		entries[n++] =
			(struct tracedb_entry){ .tag = TRACEDB_VARIABLE,
						.variable = trace_points_value(t, names, &bytes) };
	return n;
}

/* Writes a point, with all blocks that are not points and were added since the previous point. */
static int trace_points_put(const struct trace_points *t, struct tracedb_writer *w,
			    const struct trace_points_names *names,
			    const struct trace_points_item *const *items, size_t n)
{
	const struct trace_points_item *last = items[n - 1];
	_cleanup_free_ struct tracedb_entry *entries = calloc(n + last->n + 6, sizeof(*entries));
	size_t n_entries = 1;
	uint64_t id;

	if (!entries)
		return -ENOMEM;
	if (trace_statements_id(&t->statements, last->statement, w->layout, &id) < 0)
		return -EOVERFLOW;
	entries[0] = (struct tracedb_entry){ .tag = TRACEDB_STATEMENT, .statement = id };
	for (size_t i = 0; i + 1 < n; i++)
		entries[n_entries++] = trace_points_buffer(items[i]);
	if (last->is_block)
		n_entries += trace_points_put_block(t, names, last, entries + n_entries);
	for (uint32_t i = 0; i < last->n; i++)
		entries[n_entries++] = (struct tracedb_entry){
			.tag = TRACEDB_VARIABLE,
			.variable = trace_points_value(t, names, &last->values[i]),
		};
	entries[n_entries++] =
		(struct tracedb_entry){ .tag = TRACEDB_AUXILIARY, .auxiliary = last->ts_ns };
	entries[n_entries++] = (struct tracedb_entry){
		.tag = TRACEDB_AUXILIARY,
		.auxiliary = (uint64_t)(last->space.pid & FXT_KOID_TID_MASK) << 32 |
			     (last->tid & FXT_KOID_TID_MASK),
	};
	return tracedb_writer_point(w, &(struct tracedb_point){ entries, n_entries });
}

int trace_points_write(const struct trace_points *t, const struct trace_points_space *space,
		       enum tracedb_layout layout, struct outbuf *to)
{
	static const char *const type_names[TYPES] = { "int",  "uint", "pointer",
						       "bool", "text", "float" };
	static const uint32_t formats[TYPES] = { TRACEDB_SIGNED,  TRACEDB_UNSIGNED,
						 TRACEDB_POINTER, TRACEDB_UNSIGNED,
						 TRACEDB_BLOB,    TRACEDB_FLOAT };
	static const uint32_t sizes[TYPES] = { 8, 8, 8, 1, 0, 8 };
	_cleanup_(trace_points_names_deinit) struct trace_points_names names = { 0 };
	struct tracedb_type types[TYPES];
	struct tracedb_dictionary dictionary = { .types = types, .n_types = TYPES };
	struct tracedb_writer w;
	size_t n = 0, begin = 0;
	_cleanup_free_ const struct trace_points_item **items = trace_points_of(t, space, &n);
	int r = items ? 0 : -ENOMEM;

	for (uint32_t i = 0; r == 0 && i < TYPES; i++) {
		r = trace_points_name(&names, type_names[i]);
		types[i] = (struct tracedb_type){ i, formats[i], sizes[i] };
	}
	if (r == 0 && t->name_of_bytes)
		r = trace_points_name(&names, t->name_of_address)
			    ?: trace_points_name(&names, t->name_of_bytes);
	for (size_t i = 0; r == 0 && i < n; i++)
		for (uint32_t j = 0; r == 0 && j < items[i]->n; j++)
			r = trace_points_name(&names, items[i]->values[j].name);
	dictionary.names = names.list;
	dictionary.n_names = names.n;
	r = r ?: tracedb_writer_begin(&w, to, layout, &dictionary);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (!items[i]->statement)
			continue;
		r = trace_points_put(t, &w, &names, items + begin, i + 1 - begin);
		begin = i + 1;
	}
	return r;
}
