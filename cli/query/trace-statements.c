/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/query/trace-statements.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "model/maps.h"

enum { BUILD_ID_TEXT_MAX = 65 };

/* The layout of an id. The highest bit is set if the statement has a module. */
static const struct trace_statements_bits {
	unsigned number, module, known;
} trace_statements_bits[] = {
	[TRACEDB_W16] = { 20, 11, 31 },
	[TRACEDB_W64] = { 40, 23, 63 },
};

void trace_statements_deinit(struct trace_statements *s)
{
	free(s->list);
	table_deinit(&s->by_key);
	table_deinit(&s->modules);
	text_set_deinit(&s->texts);
}

/* The number of KEY. If KEY is new, *RET_NEW is its new statement, else NULL. Returns 0 without
 * memory. */
static uint32_t trace_statements_number(struct trace_statements *s, const void *key, size_t n,
					struct trace_statement **ret_new)
{
	uint64_t hash = table_hash(key, n);
	uint32_t number = (uint32_t)(uintptr_t)table_get(&s->by_key, hash);

	*ret_new = NULL;
	if (number)
		return number;
	if (GROW(s->list, s->room, s->n + 1) < 0 ||
	    table_set(&s->by_key, hash, (void *)(uintptr_t)(s->n + 1)) < 0)
		return 0;
	s->list[s->n] = (struct trace_statement){
		.caller = "", .source = "", .module = "", .build_id = ""
	};
	*ret_new = &s->list[s->n++];
	return (uint32_t)s->n;
}

/* Keeps a copy of a text. Returns false without memory. */
static bool trace_statements_keep(struct trace_statements *s, const char **to, const char *text)
{
	*to = text_set_keep(&s->texts, text ?: "");
	return *to != NULL;
}

/* Numbers the module of TO and keeps its texts. Returns false if there is no memory. */
static bool trace_statements_set_module(struct trace_statements *s, struct trace_statement *to)
{
	const uint64_t key[] = { (uintptr_t)to->module, (uintptr_t)to->build_id };
	uint64_t hash = table_hash(key, sizeof(key));

	if (!*to->module)
		return true;
	to->module_number = (uint32_t)(uintptr_t)table_get(&s->modules, hash);
	if (to->module_number)
		return true;
	to->module_number = (uint32_t)s->modules.n_used + 1;
	return table_set(&s->modules, hash, (void *)(uintptr_t)to->module_number) == 0;
}

static bool trace_statements_set_caller(struct trace_statements *s, struct trace_statement *to,
					const struct call_stacks_step *caller)
{
	const struct mapping *mapping = caller->at->mapping;
	char build_id[BUILD_ID_TEXT_MAX] = "";

	to->address = caller->at->address;
	if (mapping) {
		to->address += mapping->file_offset - mapping->start;
		for (uint32_t i = 0; i < mapping->build_id_size && 2 * i + 3 < sizeof(build_id);
		     i++)
			snprintf(build_id + 2 * i, 3, "%02x", mapping->build_id[i]);
	}
	if (caller->n_frames > 0) {
		to->line = caller->frames[0].line;
		if (!trace_statements_keep(s, &to->caller, caller->frames[0].function) ||
		    !trace_statements_keep(s, &to->source, caller->frames[0].source))
			return false;
	}
	to->module = text_set_keep_path(&s->texts, mapping ? mapping->path : "");
	return to->module && trace_statements_keep(s, &to->build_id, build_id) &&
	       trace_statements_set_module(s, to);
}

uint32_t trace_statements_of_call(struct trace_statements *s, const char *name,
				  struct call_stacks *stacks, uint32_t node)
{
	const char *kept = text_set_keep(&s->texts, name);
	const uint64_t key[] = { (uintptr_t)kept, node ? stacks->profile->nodes[node].place : 0 };
	struct trace_statement *new;
	struct call_stacks_step caller;
	uint32_t number;

	if (!kept)
		return 0;
	number = trace_statements_number(s, key, sizeof(key), &new);
	if (!number || !new)
		return number;
	new->name = kept;
	if (node && (call_stacks_step(stacks, &node, &caller) < 0 ||
		     !trace_statements_set_caller(s, new, &caller)))
		return 0;
	return number;
}

uint32_t trace_statements_of_point(struct trace_statements *s, const char *name, const char *module,
				   const char *source, uint64_t address)
{
	const char *kept = text_set_keep(&s->texts, name), *colon = strrchr(source, ':');
	const uint64_t key[] = { (uintptr_t)kept, address, 1 };
	_cleanup_free_ char *file = strndup(source, colon ? (size_t)(colon - source) : 0);
	struct trace_statement *new;
	uint32_t number;

	if (!kept || !file)
		return 0;
	number = trace_statements_number(s, key, sizeof(key), &new);
	if (!number || !new)
		return number;
	new->name = kept;
	new->address = address;
	new->line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
	return trace_statements_keep(s, &new->module, module) &&
			       trace_statements_keep(s, &new->source, file) &&
			       trace_statements_set_module(s, new)
		       ? number
		       : 0;
}

int trace_statements_id(const struct trace_statements *s, uint32_t number,
			enum tracedb_layout layout, uint64_t *ret)
{
	const struct trace_statements_bits *bits = &trace_statements_bits[layout];
	uint64_t module = s->list[number - 1].module_number;

	if ((uint64_t)number >> bits->number || module >> bits->module)
		return -EOVERFLOW;
	*ret = module << bits->number | number | (uint64_t)(module > 0) << bits->known;
	return 0;
}

const struct trace_statement *trace_statements_get(const struct trace_statements *s, uint64_t id)
{
	uint64_t number = id & ((UINT64_C(1) << trace_statements_bits[TRACEDB_W64].number) - 1);

	return number > 0 && number <= s->n ? &s->list[number - 1] : NULL;
}

static const char *trace_statements_or_none(const char *text)
{
	return *text ? text : "-";
}

void trace_statements_print(const struct trace_statements *s, enum tracedb_layout layout, FILE *to)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct trace_statement *at = &s->list[i];
		uint64_t id = 0;

		if (trace_statements_id(s, (uint32_t)i + 1, layout, &id) < 0)
			continue;
		fprintf(to, "0x%" PRIx64 "\t%s\t%s\t%s\t%" PRIu32 "\t0x%" PRIx64 "\t%s\t%s\n", id,
			at->name, trace_statements_or_none(at->caller),
			trace_statements_or_none(at->source), at->line, at->address,
			trace_statements_or_none(at->build_id),
			trace_statements_or_none(at->module));
	}
}
