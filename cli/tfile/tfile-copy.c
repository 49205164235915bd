/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/tfile/tfile-copy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/common/verb.h"
#include "reader/tfile/tfile-lines.h"
#include "writer/tfile/tfile-link-map.h"
#include "writer/tfile/tfile-writer.h"

/* The maximum size of the frames. All frames are kept in memory, since their number precedes them
 * in the file. */
#define COPY_BYTES_MAX ((size_t)1 << 30)

/*
 * Limits of the search for the list of libraries: maps that can be the program, and blocks of a
 * frame.
 */
enum { PROGRAMS_MAX = 64, SEARCHED_MAX = 4096 };

void tfile_copy_deinit(struct tfile_copy *c)
{
	for (size_t i = 0; i < c->n_link_map; i++)
		free((void *)c->link_map[i].memory.bytes);
	free(c->link_map);
	outbuf_deinit(&c->head);
	outbuf_deinit(&c->frames);
}

void tfile_copy_found(void *userdata, enum tfile_finding_id id, uint64_t offset)
{
	struct tfile_copy *c = userdata;

	(void)offset;
	c->shortened += id == TFILE_FINDING_UNKNOWN_BLOCK;
}

static int tfile_copy_failed(const struct open_trace *t, int e)
{
	switch (e) {
	case -EMSGSIZE:
		return cli_failed("%s: the result would be larger than %s", t->name,
				  TEXT_SIZE(COPY_BYTES_MAX));
	case -EOVERFLOW:
		return cli_failed("%s: a line has 1000 bytes or more, which GDB refuses", t->name);
	case -EINVAL:
		return cli_failed("%s: the head is damaged; cannot write a file from it", t->name);
	}
	return cli_failed("%s: %s", t->name, strerror(-e));
}

/* ---- the list of libraries ---- */

/* Returns how many of the N bytes at ADDRESS are in BLOCK, from the first of these bytes on. */
static size_t tfile_copy_overlap(const struct tfile_block *block, uint64_t address, size_t n)
{
	uint64_t at = address - block->memory.address;

	if (block->kind != TFILE_MEMORY || address < block->memory.address || at >= block->memory.n)
		return 0;
	return n < block->memory.n - at ? n : block->memory.n - (size_t)at;
}

/* Reads memory of a frame. If only the first bytes are available, the others are set to 0, since
 * texts of unknown length are read in pieces. */
static int tfile_copy_read(void *userdata, uint64_t address, void *to, size_t n)
{
	const struct tfile_frame *frame = userdata;

	for (size_t i = 0; i < frame->n_blocks; i++) {
		const struct tfile_block *b = &frame->blocks[i];
		size_t there = tfile_copy_overlap(b, address, n);

		if (there == 0)
			continue;
		memset(to, 0, n);
		memcpy(to, b->memory.bytes + (address - b->memory.address), there);
		return 0;
	}
	return -EFAULT;
}

static int tfile_copy_keep(struct tfile_copy *c, const struct tfile_block *from, uint64_t address,
			   size_t n)
{
	uint8_t *bytes = malloc(n);

	if (!bytes || GROW(c->link_map, c->link_map_room, c->n_link_map + 1) < 0) {
		free(bytes);
		return -ENOMEM;
	}
	memcpy(bytes, from->memory.bytes + (address - from->memory.address), n);
	c->link_map[c->n_link_map++] = (struct tfile_block){
		.kind = TFILE_MEMORY,
		.memory = { .address = address, .bytes = bytes, .n = n },
	};
	return 0;
}

/* Keeps the parts of the blocks of MAP that FRAME contains. */
static int tfile_copy_keep_all(struct tfile_copy *c, const struct tfile_frame *frame,
			       const struct tfile_link_map *map)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < map->n_blocks; i++) {
		const struct tfile_link_map_block *wanted = &map->blocks[i];
		size_t n = 0;

		for (size_t k = 0; n == 0 && k < frame->n_blocks; k++) {
			n = tfile_copy_overlap(&frame->blocks[k], wanted->address, wanted->bytes);
			if (n > 0)
				r = tfile_copy_keep(c, &frame->blocks[k], wanted->address, n);
		}
	}
	return r;
}

/* Finds the list of libraries in FRAME, the first frame: the list that belongs to the first program
 * whose headers are in the frame. */
static int tfile_copy_find_libraries(struct tfile_copy *c, const struct tfile_head *head,
				     const struct tfile_frame *frame)
{
	char text[TFILE_LINE_MAX + 1];
	unsigned tried = 0;
	int r = 0;

	if (frame->n_blocks > SEARCHED_MAX)
		return 0;
	for (size_t i = 0; i < head->n_description && tried < PROGRAMS_MAX; i++) {
		struct tfile_link_map libraries = { 0 };
		struct tfile_map map;

		if (!tfile_lines_map(head->description[i], &map, text) || map.file_offset != 0)
			continue;
		tried++;
		r = tfile_link_map_find(&libraries, tfile_copy_read, (void *)frame, map.start);
		if (r == 0 && libraries.n_libraries > 0)
			r = tfile_copy_keep_all(c, frame, &libraries);
		tfile_link_map_deinit(&libraries);
		if (r != -ENOEXEC && (r < 0 || c->n_link_map > 0))
			return r;
	}
	return 0;
}

/* Writes FRAME, followed by the list of libraries. */
static int tfile_copy_with_libraries(struct tfile_copy *c, struct tfile_writer *w,
				     const struct tfile_frame *frame)
{
	size_t n = frame->n_blocks + c->n_link_map;
	_cleanup_free_ struct tfile_block *blocks = calloc(n + 1, sizeof(*blocks));
	int r;

	if (!blocks)
		return -ENOMEM;
	if (frame->n_blocks)
		memcpy(blocks, frame->blocks, frame->n_blocks * sizeof(*blocks));
	if (c->n_link_map)
		memcpy(blocks + frame->n_blocks, c->link_map, c->n_link_map * sizeof(*blocks));
	r = tfile_writer_frame(w, &(struct tfile_frame){ frame->tracepoint, blocks, n });
	/* (this frame has no room for the list) */
	return r == -EOVERFLOW ? tfile_writer_frame(w, frame) : r;
}

/* ---- frames ---- */

static int tfile_copy_frame(struct tfile_copy *c, struct tfile_writer *w,
			    const struct tfile_frame *frame)
{
	return w->frames == 0 && c->n_link_map > 0 ? tfile_copy_with_libraries(c, w, frame)
						   : tfile_writer_frame(w, frame);
}

/* Copies the selected frames. Returns CLI_OK, or CLI_FAILED after an error message. */
static int tfile_copy_frames(struct tfile_copy *c, struct open_trace *t, tfile_copy_fn wanted,
			     void *userdata, struct tfile_writer *w)
{
	const struct tfile_frame *frame;
	int r;

	for (uint64_t no = 0; (r = open_trace_next_frame(t, &frame)) > 0; no++) {
		if (wanted && !wanted(userdata, no, frame)) {
			c->left_out++;
			r = no == 0 ? tfile_copy_find_libraries(c, tfile_reader_head(t->frames),
								frame)
				    : 0;
		} else {
			r = tfile_copy_frame(c, w, frame);
		}
		if (r < 0)
			return tfile_copy_failed(t, r);
	}
	return r < 0 ? CLI_FAILED : CLI_OK;
}

int tfile_copy(struct tfile_copy *c, struct open_trace *t, tfile_copy_fn wanted, void *userdata)
{
	struct tfile_head head = *tfile_reader_head(t->frames);
	struct tfile_writer w;
	int r;

	c->frames.limit = COPY_BYTES_MAX;
	tfile_writer_init(&w, &c->frames, head.register_bytes,
			  tfile_reader_is_big_endian(t->frames) ? TFILE_BIG : TFILE_LITTLE);
	r = tfile_copy_frames(c, t, wanted, userdata, &w);
	if (r != CLI_OK)
		return r;
	c->n_frames = w.frames;
	head.status.frames = w.frames;
	head.status.has |= TFILE_HAS_FRAMES;
	head.keep_order = true;
	/* Frames that are not selected do not count as dropped. */
	head.status.created -= c->left_out < head.status.created ? c->left_out : 0;
	r = tfile_writer_end(&w) ?: tfile_writer_head(&c->head, &head);
	return r < 0 ? tfile_copy_failed(t, r) : CLI_OK;
}

void tfile_copy_report_missing(const struct tfile_copy *c, const char *name)
{
	if (c->shortened > 0)
		cli_error("%s: %" PRIu64 " frame%s incomplete: blocks could not be read", name,
			  c->shortened, text_s(c->shortened));
}
