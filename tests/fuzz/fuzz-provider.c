/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes the input as the buffer of a hostile program: its durable part and a block of records, in
 * all modes. The archive has only whole records, which the reader accepts.
 */
#include <assert.h>
#include <string.h>
#include <sys/mman.h>

#include "capture/providers/provider-buffer.h"
#include "capture/providers/provider-records.h"
#include "reader/fxt/fxt-check.h"
#include "reader/fxt/fxt-reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCKS = 2, BLOCK_BYTES = 4096 };

struct world {
	struct provider_records *records;
	struct outbuf out;
	struct fxt_writer writer;
};

static bool any_koid(void *userdata, uint64_t thread, uint64_t *ret)
{
	*ret = thread & 0x3fffff;
	return thread != 0;
}

static bool any_time(void *userdata, uint64_t stamp, uint64_t *ret)
{
	*ret = stamp >> 1;
	return stamp >> 63 == 0;
}

static int take_record(void *userdata, const uint64_t *words, unsigned n_words, bool is_durable)
{
	struct world *w = userdata;

	assert(n_words > 0 && fxt_get_record_words(words[0]) == n_words);
	return provider_records_add(w->records, &w->writer, words, n_words, is_durable);
}

/*
 * The first four words of the input are durable_used, the number and the end of the first block,
 * and the number of the second block. The durable part and the first block follow.
 */
static void write_file(uint8_t *file, const uint8_t *data, size_t size)
{
	uint64_t head[4] = { 0 };
	struct provider_block *table = (struct provider_block *)(file + PROVIDER_TABLE_OFFSET);
	size_t durable;

	memcpy(head, data, size < sizeof(head) ? size : sizeof(head));
	data += size < sizeof(head) ? size : sizeof(head);
	size -= size < sizeof(head) ? size : sizeof(head);
	durable = (size_t)(head[0] & 0x3f8);
	durable = durable < size ? durable : size;
	((struct provider_data *)file)->durable_used = head[0];
	memcpy(file + PROVIDER_DURABLE_OFFSET, data, durable);
	table[0].number = head[1];
	table[0].end = head[2];
	table[1].number = head[3];
	size -= durable;
	memcpy(file + PROVIDER_BLOCKS_OFFSET, data + durable,
	       size < BLOCKS * BLOCK_BYTES ? size : BLOCKS * BLOCK_BYTES);
}

static void check_archive(const struct world *w)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *reader = NULL;
	const struct fxt_record *record;
	struct fxt_findings findings;

	if (fxt_reader_new_memory(&reader, w->out.data, w->out.size) != 0)
		return;
	while (fxt_reader_next(reader, &record) > 0) {
		assert(record);
		fxt_check_record(record, &findings);
		assert(findings.n_errors == 0);
	}
}

static void read_buffer(struct world *w, enum provider_mode mode, const uint8_t *data, size_t size)
{
	_cleanup_(provider_buffer_freep) struct provider_buffer *buffer = NULL;
	size_t bytes = PROVIDER_BLOCKS_OFFSET + BLOCKS * BLOCK_BYTES;
	struct provider_losses losses;
	uint8_t *file;

	if (provider_buffer_new(&buffer,
				&(struct provider_buffer_options){ mode, BLOCKS, BLOCK_BYTES }) < 0)
		return;
	file = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
		    provider_buffer_data_fd(buffer), 0);
	if (file == MAP_FAILED)
		return;
	write_file(file, data, size);
	for (int i = 0; i < 3; i++)
		provider_buffer_read(buffer, i == 2, take_record, w);
	provider_buffer_losses(buffer, &losses);
	munmap(file, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct provider_rules rules = { .pid = 77, .koid = any_koid, .time = any_time };

	if (size == 0)
		return 0;
	struct world w = { .writer = { .out = &w.out } };

	if (provider_records_new(&w.records, 3, "fuzz", &rules) < 0)
		return 0;
	fxt_write_magic(&w.writer);
	read_buffer(&w, (enum provider_mode)(1 + data[0] % 3), data + 1, size - 1);
	assert(fxt_whole_records(w.out.data, w.out.size) == w.out.size);
	check_archive(&w);
	provider_records_free(w.records);
	outbuf_deinit(&w.out);
	return 0;
}
