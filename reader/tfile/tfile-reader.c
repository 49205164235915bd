/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/tfile/tfile-reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/table.h"
#include "reader/tfile/tfile-lines.h"
#include "writer/tfile/tfile-wire.h"

struct tfile_reader {
	struct input in;
	tfile_finding_fn finding;
	void *userdata;
	struct tfile_lines lines;
	struct table known;         /* numbers of defined tracepoints */
	struct table variables;     /* numbers + 1 of defined variables */
	struct tfile_block *blocks; /* blocks of the frame; owned */
	size_t n_blocks, room;
	struct tfile_frame frame;
	uint64_t frame_offset, n_frames;
	struct tfile_damage damage;
	bool big, damaged, ended;
};

bool tfile_reader_is_trace(const uint8_t *p, size_t n)
{
	return n >= TFILE_MAGIC_BYTES && memcmp(p, TFILE_MAGIC, TFILE_MAGIC_BYTES) == 0;
}

static void tfile_reader_found(struct tfile_reader *r, enum tfile_finding_id id, uint64_t offset)
{
	if (r->finding)
		r->finding(r->userdata, id, offset);
}

static void tfile_reader_harm(struct tfile_reader *r, uint64_t offset, const char *what,
			      bool truncated)
{
	r->damage = (struct tfile_damage){ offset, what, truncated };
	r->damaged = true;
}

/* ---- head ---- */

/*
 * Finds the end of the next line. *RET is its number of bytes, with the line feed. Returns 1, 0 if
 * the line has no end, or a negative errno.
 */
static int tfile_reader_line(struct tfile_reader *r, size_t *ret)
{
	size_t looked = 0;

	for (;;) {
		const uint8_t *p = input_peek(&r->in);
		size_t n = input_ready(&r->in);
		const uint8_t *end = n > looked ? memchr(p + looked, '\n', n - looked) : NULL;
		int got;

		if (end) {
			*ret = (size_t)(end - p) + 1;
			return 1;
		}
		looked = n;
		if (n > TFILE_HEAD_MAX)
			return 0;
		got = input_need(&r->in, n + 1);
		if (got <= 0)
			return got;
	}
}

/* Reads the lines of the head. Returns 0, even if there was damage, or a negative errno. */
static int tfile_reader_read_lines(struct tfile_reader *r)
{
	size_t n;
	int got;

	while ((got = tfile_reader_line(r, &n)) > 0) {
		uint64_t offset = r->in.offset;
		const char *line = input_consume(&r->in, n);

		if (n == 1)
			return 0;
		got = tfile_lines_add(&r->lines, line, n - 1, offset);
		if (got > 0)
			tfile_reader_harm(r, offset, r->lines.damage, false);
		else if (r->in.offset > TFILE_HEAD_MAX)
			tfile_reader_harm(r, offset, "the lines take more than 16 MiB", false);
		if (got < 0 || r->damaged)
			return got < 0 ? got : 0;
	}
	if (got == 0)
		tfile_reader_harm(r, r->in.offset, "no empty line after the description",
				  input_ready(&r->in) <= TFILE_HEAD_MAX);
	return got;
}

static int tfile_reader_note_numbers(struct tfile_reader *r)
{
	const struct tfile_head *h = &r->lines.head;

	for (size_t i = 0; i < h->n_tracepoints; i++)
		if (table_set(&r->known, h->tracepoints[i].number, r) < 0)
			return -ENOMEM;
	for (size_t i = 0; i < h->n_variables; i++)
		if (table_set(&r->variables, (uint64_t)h->variables[i].number + 1, r) < 0)
			return -ENOMEM;
	return 0;
}

/* ---- blocks ---- */

static uint64_t tfile_reader_number(const uint8_t *p, unsigned n, bool big)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < n; i++)
		value |= (uint64_t)p[big ? n - 1 - i : i] << 8 * i;
	return value;
}

/*
 * Parses the block at P; LEFT bytes of the frame remain. Returns the size of the block, or 0 if it
 * is invalid.
 */
static size_t tfile_reader_block(const struct tfile_reader *r, const uint8_t *p, size_t left,
				 bool big, struct tfile_block *ret)
{
	size_t n = r->lines.head.register_bytes;

	*ret = (struct tfile_block){ .kind = *p };
	switch (*p) {
	case TFILE_REGISTERS:
		if (left - 1 < n)
			return 0;
		ret->registers.bytes = p + 1;
		ret->registers.n = n;
		return 1 + n;
	case TFILE_MEMORY:
		if (left < TFILE_MEMORY_HEAD_BYTES)
			return 0;
		n = tfile_reader_number(p + 9, 2, big);
		ret->memory.address = tfile_reader_number(p + 1, 8, big);
		ret->memory.bytes = p + TFILE_MEMORY_HEAD_BYTES;
		ret->memory.n = n;
		/* A block of memory does not extend beyond the end of the address space. */
		if (n > left - TFILE_MEMORY_HEAD_BYTES ||
		    (n && ret->memory.address + (n - 1) < ret->memory.address))
			return 0;
		return TFILE_MEMORY_HEAD_BYTES + n;
	case TFILE_VARIABLE:
		if (left < TFILE_VARIABLE_BYTES)
			return 0;
		ret->variable.number = (uint32_t)tfile_reader_number(p + 1, 4, big);
		ret->variable.value = (int64_t)tfile_reader_number(p + 5, 8, big);
		return ret->variable.number > INT32_MAX ? 0 : TFILE_VARIABLE_BYTES;
	}
	return 0;
}

/* Returns the number of bytes of the N bytes at P that are valid blocks in the byte order BIG. */
static size_t tfile_reader_readable(const struct tfile_reader *r, const uint8_t *p, size_t n,
				    bool big)
{
	struct tfile_block block;
	size_t at = 0, bytes;

	while (at < n && (bytes = tfile_reader_block(r, p + at, n - at, big, &block)) > 0)
		at += bytes;
	return at;
}

/* ---- byte order ---- */

/*
 * Returns how well the first frame can be read in one byte order: 0 = not at all, 1 = it may be a
 * frame, 2 = its first block is valid, 3 = all its blocks are valid. Or a negative errno.
 */
static int tfile_reader_fit(struct tfile_reader *r, bool big)
{
	uint64_t number, size, readable;
	const uint8_t *p = input_peek(&r->in);
	int got;

	number = tfile_reader_number(p, 2, big);
	size = tfile_reader_number(p + 2, 4, big);
	if (number < 1 || number > TFILE_TRACEPOINT_MAX || size > TFILE_FRAME_MAX)
		return 0;
	got = input_need(&r->in, TFILE_FRAME_HEAD_BYTES + size);
	if (got <= 0)
		return got < 0 ? got : 1;
	p = input_peek(&r->in) + TFILE_FRAME_HEAD_BYTES;
	readable = tfile_reader_readable(r, p, size, big);
	return readable == size ? 3 : readable > 0 ? 2 : 1;
}

/* Finds the byte order by the sizes in the first frame, since the format does not specify it. */
static int tfile_reader_find_order(struct tfile_reader *r)
{
	int little, big, got = input_need(&r->in, TFILE_FRAME_HEAD_BYTES);

	if (got <= 0)
		return got;
	little = tfile_reader_fit(r, false);
	big = little < 0 || little == 3 ? 0 : tfile_reader_fit(r, true);
	if (little < 0 || big < 0)
		return little < 0 ? little : big;
	r->big = big > little;
	return 0;
}

/* ---- frames ---- */

static void tfile_reader_judge_block(struct tfile_reader *r, const struct tfile_block *block,
				     uint64_t offset)
{
	if (block->kind == TFILE_VARIABLE &&
	    !table_get(&r->variables, (uint64_t)block->variable.number + 1))
		tfile_reader_found(r, TFILE_FINDING_UNDEFINED_VARIABLE, offset);
}

static int tfile_reader_read_blocks(struct tfile_reader *r, const uint8_t *p, size_t n)
{
	uint64_t begin = r->frame_offset + TFILE_FRAME_HEAD_BYTES;
	bool registers = false;

	r->n_blocks = 0;
	for (size_t at = 0, bytes; at < n; at += bytes) {
		struct tfile_block block;

		bytes = tfile_reader_block(r, p + at, n - at, r->big, &block);
		if (bytes == 0 || (registers && block.kind == TFILE_REGISTERS)) {
			tfile_reader_found(r, TFILE_FINDING_UNKNOWN_BLOCK, begin + at);
			break;
		}
		if (GROW(r->blocks, r->room, r->n_blocks + 1) < 0)
			return -ENOMEM;
		r->blocks[r->n_blocks++] = block;
		registers |= block.kind == TFILE_REGISTERS;
		tfile_reader_judge_block(r, &block, begin + at);
	}
	if (!registers)
		tfile_reader_found(r, TFILE_FINDING_NO_REGISTERS, r->frame_offset);
	return 0;
}

static int tfile_reader_finish(struct tfile_reader *r)
{
	const struct tfile_status *s = &r->lines.head.status;

	r->ended = true;
	if (s->has & TFILE_HAS_FRAMES && s->frames != r->n_frames)
		tfile_reader_found(r, TFILE_FINDING_FRAME_COUNT, r->in.offset);
	return TFILE_TRACE_END;
}

/* Returns damage once. */
static int tfile_reader_return_damage(struct tfile_reader *r)
{
	r->damaged = false;
	r->ended = true;
	return TFILE_DAMAGE;
}

static int tfile_reader_fail(struct tfile_reader *r, const char *what, bool truncated)
{
	tfile_reader_harm(r, r->in.offset, what, truncated);
	return tfile_reader_return_damage(r);
}

/* Reads the end after the last frame. The end can be missing. */
static int tfile_reader_read_end(struct tfile_reader *r)
{
	uint64_t offset = r->in.offset;
	int got;

	if (input_ready(&r->in) < TFILE_END_BYTES) {
		tfile_reader_found(r, TFILE_FINDING_NO_END, offset);
		return tfile_reader_finish(r);
	}
	got = input_need(&r->in, TFILE_END_BYTES_WRITTEN);
	if (got < 0)
		return got;
	if (got && tfile_reader_number(input_peek(&r->in), TFILE_END_BYTES_WRITTEN, false) == 0)
		input_consume(&r->in, TFILE_END_BYTES_WRITTEN);
	else
		input_consume(&r->in, TFILE_END_BYTES);
	got = input_need(&r->in, 1);
	if (got > 0)
		tfile_reader_found(r, TFILE_FINDING_TRAILING, r->in.offset);
	return got < 0 ? got : tfile_reader_finish(r);
}

/* Reads a frame. Its first bytes are available. */
static int tfile_reader_read_frame(struct tfile_reader *r)
{
	const uint8_t *p = input_peek(&r->in);
	uint64_t number = tfile_reader_number(p, 2, r->big);
	uint64_t size = tfile_reader_number(p + 2, 4, r->big);
	int got;

	if (number > TFILE_TRACEPOINT_MAX)
		return tfile_reader_fail(r, "invalid tracepoint number", false);
	if (size > TFILE_FRAME_MAX)
		return tfile_reader_fail(r, "a frame has more than 16 MiB", false);
	got = input_need(&r->in, TFILE_FRAME_HEAD_BYTES + size);
	if (got <= 0)
		return got < 0 ? got
			       : tfile_reader_fail(r, "the file ends in the middle of a frame",
						   true);
	r->frame_offset = r->in.offset;
	p = input_consume(&r->in, TFILE_FRAME_HEAD_BYTES + size);
	got = tfile_reader_read_blocks(r, p + TFILE_FRAME_HEAD_BYTES, size);
	if (got < 0)
		return got;
	if (!table_get(&r->known, number))
		tfile_reader_found(r, TFILE_FINDING_UNDEFINED_TRACEPOINT, r->frame_offset);
	r->frame = (struct tfile_frame){ (uint32_t)number, r->blocks, r->n_blocks };
	r->n_frames++;
	return TFILE_FRAME;
}

int tfile_reader_next(struct tfile_reader *r, const struct tfile_frame **ret)
{
	int got;

	if (r->damaged)
		return tfile_reader_return_damage(r);
	if (r->ended)
		return TFILE_TRACE_END;
	got = input_need(&r->in, TFILE_END_BYTES);
	if (got < 0)
		return got;
	if (got == 0 && input_ready(&r->in) > 0)
		return tfile_reader_fail(r, "the file ends in the middle of a frame", true);
	if (got == 0 || tfile_reader_number(input_peek(&r->in), TFILE_END_BYTES, false) == 0)
		return tfile_reader_read_end(r);
	got = input_need(&r->in, TFILE_FRAME_HEAD_BYTES);
	if (got <= 0)
		return got < 0 ? got
			       : tfile_reader_fail(r, "the file ends in the middle of a frame",
						   true);
	got = tfile_reader_read_frame(r);
	if (got == TFILE_FRAME)
		*ret = &r->frame;
	return got;
}

/* ---- begin ---- */

static int tfile_reader_open(struct tfile_reader *r)
{
	int got = input_need(&r->in, TFILE_MAGIC_BYTES);

	if (got < 0)
		return got;
	if (!tfile_reader_is_trace(input_peek(&r->in), input_ready(&r->in)))
		return TFILE_ALIEN;
	input_consume(&r->in, TFILE_MAGIC_BYTES);
	got = tfile_reader_read_lines(r);
	if (got < 0)
		return got;
	got = tfile_lines_finish(&r->lines, r->in.offset);
	if (got > 0 && !r->damaged)
		tfile_reader_harm(r, r->in.offset, r->lines.damage, false);
	if (got < 0 || r->damaged)
		return got < 0 ? got : 0;
	got = tfile_reader_note_numbers(r);
	return got ?: tfile_reader_find_order(r);
}

/* Reads the head. Takes ownership of MADE. */
static int tfile_reader_begin(struct tfile_reader **ret, struct tfile_reader *made,
			      tfile_finding_fn finding, void *userdata)
{
	_cleanup_(tfile_reader_freep) struct tfile_reader *r = made;
	int got;

	r->finding = r->lines.finding = finding;
	r->userdata = r->lines.userdata = userdata;
	got = tfile_reader_open(r);
	if (got == 0)
		*ret = TAKE_PTR(r);
	return got;
}

int tfile_reader_new_source(struct tfile_reader **ret, input_read_fn read, void *source,
			    tfile_finding_fn finding, void *userdata)
{
	_cleanup_(tfile_reader_freep) struct tfile_reader *r = calloc(1, sizeof(*r));
	int got = r ? input_init_source(&r->in, read, source) : -ENOMEM;

	return got ?: tfile_reader_begin(ret, TAKE_PTR(r), finding, userdata);
}

int tfile_reader_new_memory(struct tfile_reader **ret, const void *p, size_t n,
			    tfile_finding_fn finding, void *userdata)
{
	_cleanup_(tfile_reader_freep) struct tfile_reader *r = calloc(1, sizeof(*r));
	int got = r ? input_init_memory(&r->in, p, n) : -ENOMEM;

	return got ?: tfile_reader_begin(ret, TAKE_PTR(r), finding, userdata);
}

struct tfile_reader *tfile_reader_free(struct tfile_reader *r)
{
	if (!r)
		return NULL;
	input_deinit(&r->in);
	tfile_lines_deinit(&r->lines);
	table_deinit(&r->known);
	table_deinit(&r->variables);
	free(r->blocks);
	return free_ptr(r);
}

const struct tfile_head *tfile_reader_head(const struct tfile_reader *r)
{
	return &r->lines.head;
}

bool tfile_reader_is_big_endian(const struct tfile_reader *r)
{
	return r->big;
}

const struct tfile_damage *tfile_reader_damage(const struct tfile_reader *r)
{
	return &r->damage;
}

uint64_t tfile_reader_frame_offset(const struct tfile_reader *r)
{
	return r->frame_offset;
}

uint64_t tfile_reader_offset(const struct tfile_reader *r)
{
	return r->in.offset;
}
