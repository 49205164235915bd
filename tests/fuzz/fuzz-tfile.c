/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Reads the input as a GDB trace file. The file can be written again, except if a line is too long,
 * and the written file has the same frames.
 */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "reader/tfile/tfile-lines.h"
#include "reader/tfile/tfile-reader.h"
#include "writer/tfile/tfile-writer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_finding(void *userdata, enum tfile_finding_id id, uint64_t offset)
{
	const size_t *size = userdata;

	assert(id < TFILE_FINDING_MAX && offset <= *size);
}

static void touch(const struct tfile_block *b, uint32_t register_bytes)
{
	static volatile uint8_t seen;

	assert(b->kind != TFILE_REGISTERS || b->registers.n == register_bytes);
	if (b->kind == TFILE_REGISTERS && b->registers.n)
		seen = seen ^ b->registers.bytes[b->registers.n - 1];
	for (size_t i = 0; b->kind == TFILE_MEMORY && i < b->memory.n; i++)
		seen = seen ^ b->memory.bytes[i];
}

static void touch_head(const struct tfile_head *h)
{
	char text[TFILE_LINE_MAX + 1];
	struct tfile_map map;

	for (size_t i = 0; i < h->n_description; i++)
		if (tfile_lines_map(h->description[i], &map, text))
			assert(strlen(map.path) + strlen(map.build_id) < sizeof(text));
}

/* Reads all frames, and writes them to W, if not NULL. Returns the number of frames. */
static size_t read_all(struct tfile_reader *r, struct tfile_writer *w)
{
	uint32_t register_bytes = tfile_reader_head(r)->register_bytes;
	const struct tfile_frame *f;
	size_t n = 0;
	int e;

	while ((e = tfile_reader_next(r, &f)) == TFILE_FRAME) {
		for (size_t i = 0; i < f->n_blocks; i++)
			touch(&f->blocks[i], register_bytes);
		assert(!w || tfile_writer_frame(w, f) == 0);
		n++;
	}
	assert(e != TFILE_DAMAGE || tfile_reader_damage(r)->what);
	assert(tfile_reader_next(r, &f) == TFILE_TRACE_END);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(tfile_reader_freep) struct tfile_reader *r = NULL, *again = NULL;
	_cleanup_(outbuf_deinit) struct outbuf b = { 0 };
	const struct tfile_head *head;
	struct tfile_writer w;
	bool big;
	size_t n;
	int e;

	if (tfile_reader_new_memory(&r, data, size, add_finding, &size) != 0)
		return 0;
	head = tfile_reader_head(r);
	big = tfile_reader_is_big_endian(r);
	touch_head(head);
	e = tfile_writer_head(&b, head);
	/* (a head without registers, or with a line that is too long, cannot be written) */
	assert(e == 0 || e == -EINVAL || e == -EOVERFLOW);
	tfile_writer_init(&w, &b, head->register_bytes, big ? TFILE_BIG : TFILE_LITTLE);
	n = read_all(r, &w);
	assert(tfile_writer_end(&w) == 0);
	if (e < 0)
		return 0;
	assert(tfile_reader_new_memory(&again, b.data, b.size, NULL, NULL) == 0);
	/* (if a frame is valid in either byte order, the reader may choose the other one) */
	if (tfile_reader_is_big_endian(again) == big)
		assert(read_all(again, NULL) == n);
	return 0;
}
