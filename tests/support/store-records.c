/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/store-records.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "reader/pack/unpack.h"
#include "tests/support/unit.h"
#include "writer/fxt/fxt-writer.h"

int directory_fd(const char *name)
{
	int fd;

	mkdir(name, 0700);
	fd = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(fd >= 0);
	return fd;
}

void add_records(struct outbuf *to, uint64_t first, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t *words = outbuf_reserve(to, RECORD_BYTES);

		assert_non_null(words);
		words[0] = fxt_put_record_type(FXT_RECORD_EVENT) |
			   fxt_put_record_words(RECORD_BYTES / FXT_WORD_BYTES);
		words[1] = first + i;
	}
}

int store_records(struct store *s, enum store_part part, uint64_t first, unsigned n)
{
	struct outbuf b = { 0 };
	size_t kept = 0;
	int r;

	add_records(&b, first, n);
	r = s->ops->write(s, part, b.data, b.size, fxt_whole_records, &kept);
	assert_true(kept <= b.size && kept % RECORD_BYTES == 0);
	outbuf_deinit(&b);
	return r;
}

void store_chunk(struct store *s, uint64_t begin_ns, uint64_t first, unsigned n)
{
	const struct store_moment at = { begin_ns, begin_ns };

	assert_int_equal(s->ops->begin(s, &at), 0);
	assert_int_equal(store_records(s, STORE_HEAD, RECORD_HEAD, 1), 0);
	assert_int_equal(store_records(s, STORE_BODY, first, n), 0);
}

const char *records_in(const void *p, size_t n)
{
	static char text[4096];
	uint64_t from = 0, last = 0;
	bool open = false;
	size_t at = 0;

	*text = '\0';
	for (; n - at >= RECORD_BYTES; at += RECORD_BYTES) {
		char *end = text + strlen(text);
		uint64_t number;

		memcpy(&number, (const char *)p + at + sizeof(number), sizeof(number));
		if (open && number == last + 1) {
			last = number;
			end = strrchr(text, '-');
			sprintf(end, "-%" PRIu64, number);
			continue;
		}
		assert_true(strlen(text) < sizeof(text) - 64);
		from = last = number;
		open = number < RECORD_HEAD;
		if (open)
			sprintf(end, "%s%" PRIu64 "-%" PRIu64, at ? " " : "", from, from);
		else
			sprintf(end, "%s%c", at ? " " : "", number == RECORD_HEAD ? 'H' : 'T');
	}
	return at < n ? strcat(text, "?") : text;
}

const char *records_in_file(const char *file)
{
	_cleanup_close_ int fd = open(file, O_RDONLY | O_CLOEXEC);
	_cleanup_(unpack_freep) struct unpack *u = NULL;
	static uint8_t bytes[1 << 20];
	size_t n = 0;
	ssize_t got;

	assert_true(fd >= 0);
	assert_int_equal(unpack_new_fd(&u, fd), 0);
	while ((got = unpack_read(u, bytes + n, sizeof(bytes) - n)) > 0)
		n += (size_t)got;
	assert_true(got == 0);
	return unpack_damage(u) ? "damaged" : records_in(bytes, n);
}
