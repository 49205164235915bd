/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/tfile/tfile-writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "writer/tfile/tfile-wire.h"

/* Removes the output since BEGIN. */
static int tfile_writer_undo(struct outbuf *out, size_t begin, int error)
{
	out->size = begin;
	return error;
}

/* ---- lines ---- */

/* Ends the line that began at BEGIN. */
static int tfile_writer_line_end(struct outbuf *out, size_t begin)
{
	size_t n = out->size - begin;

	if (out->error)
		return out->error;
	if (memchr(out->data + begin, '\n', n))
		return -EINVAL;
	return n > TFILE_LINE_MAX ? -EOVERFLOW : outbuf_append(out, "\n", 1);
}

static int tfile_writer_hex(struct outbuf *out, const void *bytes, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	const uint8_t *from = bytes;
	char *to;

	if (n > TFILE_LINE_MAX)
		return -EOVERFLOW;
	to = outbuf_reserve(out, 2 * n);
	if (!to)
		return out->error;
	for (size_t i = 0; i < n; i++) {
		to[2 * i] = digits[from[i] >> 4];
		to[2 * i + 1] = digits[from[i] & 15];
	}
	return 0;
}

/* Writes a line with WORD and TEXT. */
static int tfile_writer_text(struct outbuf *out, const char *word, const char *text)
{
	size_t begin = out->size;
	int r = outbuf_append(out, word, strlen(word)) ?: outbuf_append(out, text, strlen(text));

	return r ?: tfile_writer_line_end(out, begin);
}

/* ---- status ---- */

static int tfile_writer_reason(struct outbuf *out, const struct tfile_status *s)
{
	int r;

	if (s->stop < 0 || s->stop >= TFILE_STOPS ||
	    (s->stop_text && !tfile_stops[s->stop].has_text))
		return -EINVAL;
	r = outbuf_print(out, TFILE_LINE_STATUS "%d;%s", s->running, tfile_stops[s->stop].name);
	/* (GDB writes this colon even if the text is empty) */
	if (r == 0 && tfile_stops[s->stop].has_text)
		r = outbuf_append(out, ":", 1)
			    ?: tfile_writer_hex(out, s->stop_text ?: "",
						strlen(s->stop_text ?: ""));
	return r ?: outbuf_print(out, ":%" PRIx32, s->stop_tracepoint);
}

static int tfile_writer_status_keys(struct outbuf *out, const struct tfile_status *s)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(tfile_status_numbers); i++) {
		const uint64_t *value =
			(const void *)((const char *)s + tfile_status_numbers[i].offset);

		if (s->has & tfile_status_numbers[i].has)
			r = outbuf_print(out, ";%s:%" PRIx64, tfile_status_numbers[i].name, *value);
	}
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(tfile_status_texts); i++) {
		const char *const *text =
			(const void *)((const char *)s + tfile_status_texts[i].offset);

		if (*text)
			r = outbuf_print(out, ";%s:", tfile_status_texts[i].name)
				    ?: tfile_writer_hex(out, *text, strlen(*text));
	}
	for (size_t i = 0; r == 0 && i < s->n_keys; i++)
		r = strchr(s->keys[i], ';') || !strchr(s->keys[i], ':')
			    ? -EINVAL
			    : outbuf_print(out, ";%s", s->keys[i]);
	return r;
}

static int tfile_writer_status(struct outbuf *out, const struct tfile_status *s)
{
	size_t begin = out->size;
	int r = s->n_keys > TFILE_LIST_MAX ? -EINVAL : 0;

	return r ?: tfile_writer_reason(out, s)
			?: tfile_writer_status_keys(out, s) ?: tfile_writer_line_end(out, begin);
}

/* ---- variables and tracepoints ---- */

static int tfile_writer_variable(struct outbuf *out, const struct tfile_variable *v)
{
	size_t begin = out->size;
	int r;

	if (v->number > INT32_MAX)
		return -EINVAL;
	r = outbuf_print(out, TFILE_LINE_VARIABLE "%" PRIx32 ":%" PRIx64 ":%d:", v->number,
			 (uint64_t)v->initial, v->builtin);
	return r ?: tfile_writer_hex(out, v->name, strlen(v->name))
			?: tfile_writer_line_end(out, begin);
}

/* Writes the begin of a line about a tracepoint: "tp T1:401136". */
static int tfile_writer_tp(struct outbuf *out, const struct tfile_tracepoint *t,
			   enum tfile_tracepoint_line line)
{
	return outbuf_print(out, TFILE_LINE_TRACEPOINT "%c%" PRIx32 ":%" PRIx64, line, t->number,
			    t->address);
}

static int tfile_writer_definition(struct outbuf *out, const struct tfile_tracepoint *t)
{
	size_t begin = out->size;
	int r = tfile_writer_tp(out, t, TFILE_TP_DEFINITION)
			?: outbuf_print(out, ":%c:%" PRIx64 ":%" PRIx64, t->disabled ? 'D' : 'E',
					t->steps, t->passes);

	if (r == 0 && t->is_fast)
		r = outbuf_print(out, ":F%" PRIx32, t->fast_bytes);
	if (r == 0 && t->is_static)
		r = outbuf_append(out, ":S", 2);
	if (r == 0 && t->condition)
		r = outbuf_print(out, ":X%zx,", t->condition_bytes)
			    ?: tfile_writer_hex(out, t->condition, t->condition_bytes);
	return r ?: tfile_writer_line_end(out, begin);
}

static int tfile_writer_actions(struct outbuf *out, const struct tfile_tracepoint *t,
				enum tfile_tracepoint_line line, const char *const *actions,
				size_t n)
{
	int r = n > TFILE_LIST_MAX ? -EINVAL : 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		size_t begin = out->size;

		r = tfile_writer_tp(out, t, line) ?: outbuf_print(out, ":%s", actions[i]);
		r = r ?: tfile_writer_line_end(out, begin);
	}
	return r;
}

static int tfile_writer_source(struct outbuf *out, const struct tfile_tracepoint *t,
			       const char *kind, const char *text)
{
	size_t begin = out->size;
	int r = strchr(text, '\n') ? -EINVAL : tfile_writer_tp(out, t, TFILE_TP_SOURCE);

	r = r ?: outbuf_print(out, ":%s:0:%zx:", kind, strlen(text));
	return r ?: tfile_writer_hex(out, text, strlen(text)) ?: tfile_writer_line_end(out, begin);
}

static int tfile_writer_sources(struct outbuf *out, const struct tfile_tracepoint *t)
{
	char at[32];
	int r = t->n_commands > TFILE_LIST_MAX ? -EINVAL : 0;

	snprintf(at, sizeof(at), "*0x%" PRIx64, t->address);
	r = r ?: tfile_writer_source(out, t, TFILE_SOURCE_AT, t->at ?: at);
	if (r == 0 && t->condition_text)
		r = tfile_writer_source(out, t, TFILE_SOURCE_CONDITION, t->condition_text);
	for (size_t i = 0; r == 0 && i < t->n_commands; i++)
		r = tfile_writer_source(out, t, TFILE_SOURCE_COMMAND, t->commands[i]);
	return r;
}

static int tfile_writer_counts(struct outbuf *out, const struct tfile_tracepoint *t)
{
	size_t begin = out->size;

	if (!t->has_counts)
		return 0;
	return tfile_writer_tp(out, t, TFILE_TP_COUNTS)
		       ?: outbuf_print(out, ":%" PRIx64 ":%" PRIx64, t->hits, t->usage_bytes)
			       ?: tfile_writer_line_end(out, begin);
}

static int tfile_writer_tracepoint(struct outbuf *out, const struct tfile_tracepoint *t)
{
	int r = t->number < 1 || t->number > TFILE_TRACEPOINT_MAX ? -EINVAL : 0;

	r = r ?: tfile_writer_definition(out, t)
			?: tfile_writer_actions(out, t, TFILE_TP_ACTION, t->actions, t->n_actions);
	if (r == 0)
		r = tfile_writer_actions(out, t, TFILE_TP_STEP_ACTION, t->step_actions,
					 t->n_step_actions);
	return r ?: tfile_writer_sources(out, t) ?: tfile_writer_counts(out, t);
}

/* Tracepoints with equal numbers keep their order. */
DEFINE_ORDER_OF_POINTERS(tfile_writer_compare, struct tfile_tracepoint,
			 COMPARE(y->number, x->number) ?: COMPARE(x, y))

static int tfile_writer_tracepoints(struct outbuf *out, const struct tfile_head *head)
{
	_cleanup_free_ const struct tfile_tracepoint **sorted = NULL;
	int r = 0;

	if (head->n_tracepoints == 0)
		return 0;
	sorted = calloc(head->n_tracepoints, sizeof(*sorted));
	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < head->n_tracepoints; i++)
		sorted[i] = &head->tracepoints[i];
	if (!head->keep_order)
		SORT(sorted, head->n_tracepoints, tfile_writer_compare);
	for (size_t i = 0; r == 0 && i < head->n_tracepoints; i++)
		r = tfile_writer_tracepoint(out, sorted[i]);
	return r;
}

/* ---- target description ---- */

/*
 * Writes TEXT into a comment of a line that began at BEGIN, without "--" and line feeds. Truncates
 * TEXT if the line would be too long.
 */
static int tfile_writer_comment(struct outbuf *out, size_t begin, const char *text)
{
	int r = 0;

	for (; r == 0 && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (out->size - begin > TFILE_LINE_MAX - strlen("%00...") - strlen(TFILE_MAP_END))
			return outbuf_append(out, "...", 3);
		if (c < 0x20 || c == 0x7f || c == '-' || c == '<' || c == '%')
			r = outbuf_print(out, "%%%02x", c);
		else
			r = outbuf_append(out, text, 1);
	}
	return r;
}

static int tfile_writer_map(struct outbuf *out, const struct tfile_map *m)
{
	size_t begin = out->size;
	int r = outbuf_print(out,
			     TFILE_LINE_DESCRIPTION TFILE_MAP_BEGIN "%" PRIx64 " %" PRIx64
								    " %" PRIx64 " ",
			     m->start, m->end, m->file_offset);

	r = r ?: tfile_writer_comment(out, begin, *m->build_id ? m->build_id : TFILE_MAP_NO_BUILD_ID)
			?: outbuf_append(out, " ", 1) ?: tfile_writer_comment(out, begin, m->path);
	return r ?: outbuf_append(out, TFILE_MAP_END, strlen(TFILE_MAP_END))
			?: tfile_writer_line_end(out, begin);
}

static int tfile_writer_description(struct outbuf *out, const struct tfile_head *head)
{
	int r = head->n_maps > 0 && head->n_description == 0 ? -EINVAL : 0;

	for (size_t i = 0; r == 0 && i < head->n_description; i++)
		r = tfile_includes(head->description[i])
			    ? -EINVAL
			    : tfile_writer_text(out, TFILE_LINE_DESCRIPTION, head->description[i]);
	for (size_t i = 0; r == 0 && i < head->n_maps; i++)
		r = tfile_writer_map(out, &head->maps[i]);
	return r;
}

/* ---- the head ---- */

static int tfile_writer_lines(struct outbuf *out, const struct tfile_head *head)
{
	int r = outbuf_append(out, TFILE_MAGIC, TFILE_MAGIC_BYTES)
			?: outbuf_print(out, TFILE_LINE_REGISTERS "%" PRIx32 "\n",
					head->register_bytes);

	r = r ?: tfile_writer_status(out, &head->status);
	for (size_t i = 0; r == 0 && i < head->n_variables; i++)
		r = tfile_writer_variable(out, &head->variables[i]);
	r = r ?: tfile_writer_tracepoints(out, head) ?: tfile_writer_description(out, head);
	for (size_t i = 0; r == 0 && i < head->n_others; i++)
		r = *head->others[i] ? tfile_writer_text(out, "", head->others[i]) : -EINVAL;
	return r ?: outbuf_append(out, "\n", 1);
}

int tfile_writer_head(struct outbuf *out, const struct tfile_head *head)
{
	size_t begin = out->size;
	int r;

	if (head->register_bytes < 1 || head->register_bytes > TFILE_REGISTERS_MAX ||
	    head->n_variables > TFILE_LIST_MAX || head->n_tracepoints > TFILE_LIST_MAX ||
	    head->n_description > TFILE_LIST_MAX || head->n_maps > TFILE_LIST_MAX ||
	    head->n_others > TFILE_LIST_MAX)
		return -EINVAL;
	r = tfile_writer_lines(out, head);
	if (r == 0 && out->size - begin > TFILE_HEAD_MAX)
		r = -EOVERFLOW;
	return r < 0 ? tfile_writer_undo(out, begin, r) : 0;
}

/* ---- frames ---- */

void tfile_writer_init(struct tfile_writer *w, struct outbuf *out, uint32_t register_bytes,
		       enum tfile_order order)
{
	*w = (struct tfile_writer){ out, register_bytes, order, 0 };
}

/* Writes the N low bytes of VALUE to TO, in the byte order of W. Returns the position after
 * them. */
static uint8_t *tfile_writer_number(const struct tfile_writer *w, uint8_t *to, uint64_t value,
				    unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		to[w->order == TFILE_BIG ? n - 1 - i : i] = (uint8_t)(value >> 8 * i);
	return to + n;
}

static uint64_t tfile_writer_memory_bytes(size_t n)
{
	uint64_t blocks = (n + (uint64_t)TFILE_MEMORY_MAX - 1) / TFILE_MEMORY_MAX;

	return n + blocks * TFILE_MEMORY_HEAD_BYTES;
}

/* Returns the number of bytes of BLOCK in the file, -EINVAL, or -EOVERFLOW. */
static int64_t tfile_writer_block_bytes(const struct tfile_writer *w,
					const struct tfile_block *block)
{
	switch (block->kind) {
	case TFILE_REGISTERS:
		return block->registers.n == w->register_bytes ? 1 + (int64_t)w->register_bytes
							       : -EINVAL;
	case TFILE_MEMORY:
		if (block->memory.n > TFILE_FRAME_MAX)
			return -EOVERFLOW;
		if (block->memory.n &&
		    block->memory.address + (block->memory.n - 1) < block->memory.address)
			return -EINVAL;
		return (int64_t)tfile_writer_memory_bytes(block->memory.n);
	case TFILE_VARIABLE:
		return block->variable.number > INT32_MAX ? -EINVAL : TFILE_VARIABLE_BYTES;
	}
	return -EINVAL;
}

static uint8_t *tfile_writer_memory(const struct tfile_writer *w, uint8_t *to,
				    const struct tfile_block *block)
{
	for (size_t at = 0, n; at < block->memory.n; at += n) {
		n = block->memory.n - at;
		if (n > TFILE_MEMORY_MAX)
			n = TFILE_MEMORY_MAX;
		*to++ = TFILE_MEMORY;
		to = tfile_writer_number(w, to, block->memory.address + at, 8);
		to = tfile_writer_number(w, to, n, 2);
		memcpy(to, block->memory.bytes + at, n);
		to += n;
	}
	return to;
}

static uint8_t *tfile_writer_block(const struct tfile_writer *w, uint8_t *to,
				   const struct tfile_block *block)
{
	if (block->kind == TFILE_MEMORY)
		return tfile_writer_memory(w, to, block);
	*to++ = (uint8_t)block->kind;
	if (block->kind == TFILE_REGISTERS) {
		memcpy(to, block->registers.bytes, block->registers.n);
		return to + block->registers.n;
	}
	to = tfile_writer_number(w, to, block->variable.number, 4);
	return tfile_writer_number(w, to, (uint64_t)block->variable.value, 8);
}

int tfile_writer_frame(struct tfile_writer *w, const struct tfile_frame *frame)
{
	uint64_t bytes = 0, registers = 0;
	uint8_t *to;

	for (size_t i = 0; i < frame->n_blocks; i++) {
		int64_t n = tfile_writer_block_bytes(w, &frame->blocks[i]);

		if (n < 0)
			return (int)n;
		bytes += (uint64_t)n;
		registers += frame->blocks[i].kind == TFILE_REGISTERS;
		if (bytes > TFILE_FRAME_MAX)
			return -EOVERFLOW;
	}
	if (frame->tracepoint < 1 || frame->tracepoint > TFILE_TRACEPOINT_MAX || registers > 1)
		return -EINVAL;
	to = outbuf_reserve(w->out, TFILE_FRAME_HEAD_BYTES + bytes);
	if (!to)
		return w->out->error;
	to = tfile_writer_number(w, to, frame->tracepoint, 2);
	to = tfile_writer_number(w, to, bytes, 4);
	for (size_t i = 0; i < frame->n_blocks; i++)
		to = tfile_writer_block(w, to, &frame->blocks[i]);
	w->frames++;
	return 0;
}

int tfile_writer_end(struct tfile_writer *w)
{
	return outbuf_reserve(w->out, TFILE_END_BYTES_WRITTEN) ? 0 : w->out->error;
}
