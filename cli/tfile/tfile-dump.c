/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tfile/tfile-dump.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "base/text.h"
#include "cli/common/verb.h"
#include "reader/tfile/tfile-lines.h"
#include "writer/tfile/tfile-wire.h"
#include "writer/tfile/tfile-x86-64.h"

/* The size of a line of the head, with a reserve. */
enum { LINE_ROOM = 4096 };

struct tfile_dump {
	struct open_trace *trace;
	const struct tfile_head *head;
	bool named; /* the registers have names */
	bool big;
	struct table variables; /* number of the variable + 1 -> variable */
	char text[LINE_ROOM];
};

const char *tfile_dump_clean(char *to, size_t size, const char *text)
{
	text_clean(to, size, text, strlen(text));
	return to;
}

/* TEXT without control characters; valid until the next call. */
static const char *tfile_dump_text(struct tfile_dump *d, const char *text)
{
	return tfile_dump_clean(d->text, sizeof(d->text), text);
}

/* ---- status ---- */

const char *tfile_dump_reason(char *to, const struct tfile_status *s)
{
	size_t n = (size_t)snprintf(to, TFILE_DUMP_TEXT, "%s", tfile_stops[s->stop].name);

	if (s->stop_text) {
		n += (size_t)snprintf(to + n, TFILE_DUMP_TEXT - n, ": ");
		n += text_clean(to + n, TFILE_DUMP_TEXT - n - 32, s->stop_text,
				strlen(s->stop_text));
	}
	if (s->stop_tracepoint)
		snprintf(to + n, TFILE_DUMP_TEXT - n, ", tracepoint %" PRIu32, s->stop_tracepoint);
	return to;
}

static const uint64_t *tfile_dump_number(const struct tfile_status *s, size_t i)
{
	return (const void *)((const char *)s + tfile_status_numbers[i].offset);
}

static const char *tfile_dump_status_text(const struct tfile_status *s, size_t i)
{
	return *(const char *const *)(const void *)((const char *)s + tfile_status_texts[i].offset);
}

struct json_object *tfile_dump_status(const struct tfile_status *s)
{
	struct json_object *o =
		JSON_OBJECT(JSON_OF(s, running), JSON("reason", tfile_stops[s->stop].name),
			    JSON_IF(s->stop_text, "text", json_from_text(s->stop_text)),
			    JSON_IF(s->stop_tracepoint, "tracepoint", s->stop_tracepoint));

	for (size_t i = 0; i < ARRAY_SIZE(tfile_status_numbers); i++)
		if (s->has & tfile_status_numbers[i].has)
			JSON_ADD(o, JSON(tfile_status_numbers[i].name, *tfile_dump_number(s, i)));
	for (size_t i = 0; i < ARRAY_SIZE(tfile_status_texts); i++)
		if (tfile_dump_status_text(s, i))
			JSON_ADD(o, JSON(tfile_status_texts[i].name,
					 json_from_text(tfile_dump_status_text(s, i))));
	return JSON_ADD(o, JSON_IF(s->n_keys, "others",
				   JSON_LIST(k, s->keys, s->n_keys, json_from_text(*k))));
}

static void tfile_dump_print_status(struct tfile_dump *d)
{
	const struct tfile_status *s = &d->head->status;
	char reason[TFILE_DUMP_TEXT];

	printf("status %s %s", s->running ? "running" : "stopped", tfile_dump_reason(reason, s));
	for (size_t i = 0; i < ARRAY_SIZE(tfile_status_numbers); i++)
		if (s->has & tfile_status_numbers[i].has)
			printf(" %s=%" PRIu64, tfile_status_numbers[i].name,
			       *tfile_dump_number(s, i));
	for (size_t i = 0; i < ARRAY_SIZE(tfile_status_texts); i++)
		if (tfile_dump_status_text(s, i))
			printf(" %s=\"%s\"", tfile_status_texts[i].name,
			       tfile_dump_text(d, tfile_dump_status_text(s, i)));
	for (size_t i = 0; i < s->n_keys; i++)
		printf(" %s", tfile_dump_text(d, s->keys[i]));
	putchar('\n');
}

/* ---- head ---- */

static struct json_object *tfile_dump_variable_json(const struct tfile_variable *v)
{
	return JSON_OBJECT(JSON("type", "variable"), JSON_OF(v, number),
			   JSON("name", json_from_text(v->name)), JSON_OF(v, initial, builtin));
}

static struct json_object *tfile_dump_texts(const char *const *texts, size_t n)
{
	return n == 0 ? NULL : JSON_LIST(t, texts, n, json_from_text(*t));
}

static struct json_object *tfile_dump_tracepoint_json(const struct tfile_tracepoint *t)
{
	return JSON_OBJECT(
		JSON("type", "tracepoint"), JSON_OF(t, number, address),
		JSON("enabled", !t->disabled), JSON_OF(t, steps, passes),
		JSON_IF(t->is_fast, "fast_bytes", t->fast_bytes),
		JSON_IF(t->is_static, "static", true),
		JSON_IF(t->condition, "condition_code",
			json_from_hex(t->condition, t->condition_bytes)),
		JSON_IF(t->at, "at", json_from_text(t->at)),
		JSON_IF(t->condition_text, "condition", json_from_text(t->condition_text)),
		JSON_IF(t->n_commands, "commands", tfile_dump_texts(t->commands, t->n_commands)),
		JSON_IF(t->n_actions, "actions", tfile_dump_texts(t->actions, t->n_actions)),
		JSON_IF(t->n_step_actions, "step_actions",
			tfile_dump_texts(t->step_actions, t->n_step_actions)),
		JSON_IF(t->has_counts, "hits", t->hits),
		JSON_IF(t->has_counts, "usage_bytes", t->usage_bytes));
}

static struct json_object *tfile_dump_line_json(const char *line)
{
	char text[TFILE_LINE_MAX + 1];
	struct tfile_map m;

	if (!tfile_lines_map(line, &m, text))
		return JSON_OBJECT(JSON("type", "description"), JSON("line", json_from_text(line)));
	return JSON_OBJECT(JSON("type", "map"), JSON_OF(&m, start, end, file_offset),
			   JSON_IF(*m.build_id, "build_id", json_from_text(m.build_id)),
			   JSON("path", json_from_text(m.path)));
}

static void tfile_dump_head_json(const struct tfile_dump *d)
{
	const struct tfile_head *h = d->head;

	json_print_line(JSON_OBJECT(JSON("type", "head"), JSON_OF(h, register_bytes),
				    JSON("byte_order", d->big ? "big" : "little"),
				    JSON("status", tfile_dump_status(&h->status))));
	for (size_t i = 0; i < h->n_variables; i++)
		json_print_line(tfile_dump_variable_json(&h->variables[i]));
	for (size_t i = 0; i < h->n_tracepoints; i++)
		json_print_line(tfile_dump_tracepoint_json(&h->tracepoints[i]));
	for (size_t i = 0; i < h->n_description; i++)
		json_print_line(tfile_dump_line_json(h->description[i]));
	for (size_t i = 0; i < h->n_others; i++)
		json_print_line(JSON_OBJECT(JSON("type", "line"),
					    JSON("line", json_from_text(h->others[i]))));
}

static void tfile_dump_list(struct tfile_dump *d, const char *what, const char *const *texts,
			    size_t n)
{
	for (size_t i = 0; i < n; i++)
		printf("    %s %s\n", what, tfile_dump_text(d, texts[i]));
}

static void tfile_dump_tracepoint(struct tfile_dump *d, const struct tfile_tracepoint *t)
{
	printf("tracepoint %" PRIu32 " 0x%" PRIx64 " %s", t->number, t->address,
	       t->disabled ? "disabled" : "enabled");
	if (t->is_fast)
		printf(" fast=%" PRIu32, t->fast_bytes);
	if (t->is_static)
		printf(" static");
	if (t->steps)
		printf(" steps=%" PRIu64, t->steps);
	if (t->passes)
		printf(" passes=%" PRIu64, t->passes);
	if (t->has_counts)
		printf(" hits=%" PRIu64 " usage=%" PRIu64, t->hits, t->usage_bytes);
	if (t->at)
		printf(" at %s", tfile_dump_text(d, t->at));
	putchar('\n');
	if (t->condition_text)
		printf("    if %s\n", tfile_dump_text(d, t->condition_text));
	if (t->condition)
		printf("    condition <%zu bytes>\n", t->condition_bytes);
	tfile_dump_list(d, "command", t->commands, t->n_commands);
	tfile_dump_list(d, "action", t->actions, t->n_actions);
	tfile_dump_list(d, "step-action", t->step_actions, t->n_step_actions);
}

static void tfile_dump_line(struct tfile_dump *d, const char *line)
{
	char text[TFILE_LINE_MAX + 1];
	struct tfile_map m;

	if (!tfile_lines_map(line, &m, text)) {
		printf("description %s\n", tfile_dump_text(d, line));
		return;
	}
	printf("map 0x%" PRIx64 "-0x%" PRIx64 " offset 0x%" PRIx64, m.start, m.end, m.file_offset);
	if (*m.build_id)
		printf(" build ID %s", tfile_dump_text(d, m.build_id));
	printf(" %s\n", tfile_dump_text(d, m.path));
}

static void tfile_dump_head(struct tfile_dump *d)
{
	const struct tfile_head *h = d->head;

	printf("registers %" PRIu32 " bytes, %s-endian\n", h->register_bytes,
	       d->big ? "big" : "little");
	tfile_dump_print_status(d);
	for (size_t i = 0; i < h->n_variables; i++) {
		const struct tfile_variable *v = &h->variables[i];

		printf("variable %" PRIu32 " $%s initial %" PRId64 "%s\n", v->number,
		       tfile_dump_text(d, v->name), v->initial, v->builtin ? " builtin" : "");
	}
	for (size_t i = 0; i < h->n_tracepoints; i++)
		tfile_dump_tracepoint(d, &h->tracepoints[i]);
	for (size_t i = 0; i < h->n_description; i++)
		tfile_dump_line(d, h->description[i]);
	for (size_t i = 0; i < h->n_others; i++)
		printf("line %s\n", tfile_dump_text(d, h->others[i]));
}

/* ---- frames ---- */

/* Register I of x86-64 in BYTES. */
static uint64_t tfile_dump_register(const uint8_t *bytes, unsigned i)
{
	unsigned wide = i < TFILE_X86_64_WIDE ? i : TFILE_X86_64_WIDE;
	unsigned n = i < TFILE_X86_64_WIDE ? 8 : 4;
	uint64_t value = 0;

	bytes += 8 * wide + 4 * (i - wide);
	for (unsigned k = 0; k < n; k++)
		value |= (uint64_t)bytes[k] << 8 * k;
	return value;
}

static const struct tfile_variable *tfile_dump_variable(const struct tfile_dump *d, uint32_t number)
{
	return table_get(&d->variables, (uint64_t)number + 1);
}

static struct json_object *tfile_dump_registers_json(const struct tfile_dump *d,
						     const struct tfile_block *b)
{
	struct json_object *o = NULL;

	if (d->named) {
		o = json_object_new_object();
		for (unsigned i = 0; i < TFILE_X86_64_REGISTERS; i++)
			JSON_ADD(o, JSON(tfile_x86_64_names[i],
					 tfile_dump_register(b->registers.bytes, i)));
	}
	return JSON_OBJECT(JSON("type", "registers"), JSON_IF(o, "registers", o),
			   JSON("bytes", json_from_hex(b->registers.bytes, b->registers.n)));
}

static struct json_object *tfile_dump_block_json(const struct tfile_dump *d,
						 const struct tfile_block *b)
{
	const struct tfile_variable *v;

	if (b->kind == TFILE_REGISTERS)
		return tfile_dump_registers_json(d, b);
	if (b->kind == TFILE_MEMORY)
		return JSON_OBJECT(JSON("type", "memory"), JSON("address", b->memory.address),
				   JSON("bytes", json_from_hex(b->memory.bytes, b->memory.n)));
	v = tfile_dump_variable(d, b->variable.number);
	return JSON_OBJECT(JSON("type", "variable"), JSON("number", b->variable.number),
			   JSON_IF(v, "name", json_from_text(v->name)),
			   JSON("value", b->variable.value));
}

static void tfile_dump_registers(const struct tfile_dump *d, const struct tfile_block *b)
{
	printf("    registers");
	if (!d->named)
		printf(" <%zu bytes>", b->registers.n);
	for (unsigned i = 0; d->named && i < TFILE_X86_64_REGISTERS; i++)
		printf(" %s=0x%" PRIx64, tfile_x86_64_names[i],
		       tfile_dump_register(b->registers.bytes, i));
	putchar('\n');
}

static void tfile_dump_block(struct tfile_dump *d, const struct tfile_block *b)
{
	const struct tfile_variable *v;

	if (b->kind == TFILE_REGISTERS) {
		tfile_dump_registers(d, b);
	} else if (b->kind == TFILE_MEMORY) {
		printf("    memory 0x%" PRIx64 " <%zu bytes>\n", b->memory.address, b->memory.n);
	} else {
		v = tfile_dump_variable(d, b->variable.number);
		if (v && *v->name)
			printf("    $%s", tfile_dump_text(d, v->name));
		else
			printf("    variable %" PRIu32, b->variable.number);
		printf(" = %" PRId64 "\n", b->variable.value);
	}
}

static void tfile_dump_frame(struct tfile_dump *d, uint64_t no, const struct tfile_frame *f,
			     bool json)
{
	if (json) {
		json_print_line(JSON_OBJECT(
			JSON("type", "frame"), JSON("frame", no), JSON_OF(f, tracepoint),
			JSON("offset", tfile_reader_frame_offset(d->trace->frames)),
			JSON("blocks",
			     JSON_LIST(b, f->blocks, f->n_blocks, tfile_dump_block_json(d, b)))));
		return;
	}
	printf("frame %" PRIu64 " tracepoint %" PRIu32 "\n", no, f->tracepoint);
	for (size_t i = 0; i < f->n_blocks; i++)
		tfile_dump_block(d, &f->blocks[i]);
}

static void tfile_dump_deinit(struct tfile_dump *d)
{
	table_deinit(&d->variables);
}

static int tfile_dump_all(struct tfile_dump *d, bool json)
{
	const struct tfile_frame *frame;
	int r;

	if (json)
		tfile_dump_head_json(d);
	else
		tfile_dump_head(d);
	for (uint64_t no = 0; (r = open_trace_next_frame(d->trace, &frame)) > 0; no++) {
		tfile_dump_frame(d, no, frame, json);
		/* If the reader of standard output has closed it, this is no failure. */
		if (ferror(stdout))
			return CLI_OK;
	}
	return r < 0 ? CLI_FAILED : open_trace_finish(d->trace);
}

int tfile_dump(struct open_trace *t, bool json)
{
	_cleanup_(tfile_dump_deinit) struct tfile_dump d = {
		.trace = t,
		.head = tfile_reader_head(t->frames),
		.named = tfile_x86_64_is(tfile_reader_head(t->frames)),
		.big = tfile_reader_is_big_endian(t->frames),
	};

	for (size_t i = 0; i < d.head->n_variables; i++)
		if (table_set(&d.variables, (uint64_t)d.head->variables[i].number + 1,
			      (void *)&d.head->variables[i]) < 0)
			return cli_failed("out of memory");
	return tfile_dump_all(&d, json);
}
