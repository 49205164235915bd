/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds records in the input, and keeps the state that one record leaves for the next: which
 * provider is being read, and what it registered. What is inside a record is fxt-parse.c's.
 *
 * A provider that a section names without an introduction gets empty tables; this is reported, and
 * its records are read. Providers are limited, so that an archive cannot ask for tables without end.
 *
 * An archive of a big-endian machine would be read here, too: a record lies in our own buffer, and
 * take_record() could swap the words of it (streams are bytes and stay) before it is parsed.
 */
#include "reader/fxt/fxt-reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "reader/fxt/fxt-parse.h"

enum { PROVIDERS_MAX = 256 };

/* A larger record is skipped: nothing that we show needs one. */
#define RECORD_BYTES_MAX ((uint64_t)64 << 20)

static const char truncated_tail[] = "truncated tail: the last record is not all there";

struct fxt_reader {
	struct input input;
	struct fxt_provider *current;
	struct fxt_provider *overflow; /* in place of those over the limit; never has tables */
	struct table providers;        /* id + 1 -> struct fxt_provider, owned */
	struct fxt_record record;
	struct fxt_damage damage;
	const char *late; /* what is wrong with the record that was handed out last */
};

static uint64_t first_word(const struct input *in)
{
	uint64_t word;

	memcpy(&word, in->data + in->begin, sizeof(word));
	return word;
}

/* The size that the record with this header claims. */
static uint64_t header_bytes(uint64_t head)
{
	if (fxt_get_record_type(head) == FXT_RECORD_LARGE)
		return FXT_WORD_BYTES * fxt_get_large_words(head);
	return FXT_WORD_BYTES * fxt_get_record_words(head);
}

/* Returns 0 if the input starts with our magic number. */
static int check_magic(struct fxt_reader *r)
{
	static const uint8_t xz[] = { 0xfd, '7', 'z', 'X', 'Z' };
	int full = input_need(&r->input, FXT_WORD_BYTES);

	if (full < 0)
		return full;
	if (input_ready(&r->input) == 0)
		return FXT_ALIEN_EMPTY;
	if (input_ready(&r->input) >= sizeof(xz) && memcmp(r->input.data, xz, sizeof(xz)) == 0)
		return FXT_ALIEN_XZ;
	if (full && first_word(&r->input) == FXT_MAGIC)
		return 0;
	if (full && first_word(&r->input) == FXT_MAGIC_SWAPPED)
		return FXT_ALIEN_BIG_ENDIAN;
	return FXT_ALIEN_OTHER;
}

/* The provider ID, made if need be; *RET_IS_NEW says so. */
static int get_provider(struct fxt_reader *r, uint32_t id, struct fxt_provider **ret,
			bool *ret_is_new)
{
	_cleanup_(fxt_provider_freep) struct fxt_provider *p = NULL;
	struct fxt_provider *old = table_get(&r->providers, (uint64_t)id + 1);
	int e;

	*ret_is_new = false;
	if (old) {
		*ret = old;
		return 0;
	}
	if (r->providers.n_used >= PROVIDERS_MAX) {
		*ret = r->overflow;
		return 0;
	}
	e = fxt_provider_new(&p, id);
	if (e < 0)
		return e;
	e = table_set(&r->providers, (uint64_t)id + 1, p);
	if (e < 0)
		return e;
	*ret_is_new = true;
	*ret = TAKE_PTR(p);
	return 0;
}

static int start(struct fxt_reader *r)
{
	bool is_new;
	int e = check_magic(r);

	if (e != 0)
		return e;
	e = fxt_provider_new(&r->overflow, UINT32_MAX);
	if (e < 0)
		return e;
	/* Some writers introduce no provider at all. */
	return get_provider(r, 0, &r->current, &is_new);
}

int fxt_reader_new_fd(struct fxt_reader **ret, int fd)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return -ENOMEM;
	e = input_init_fd(&r->input, fd);
	if (e < 0)
		return e;
	e = start(r);
	if (e != 0)
		return e;
	*ret = TAKE_PTR(r);
	return 0;
}

int fxt_reader_new_memory(struct fxt_reader **ret, const void *p, size_t n)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return -ENOMEM;
	e = input_init_memory(&r->input, p, n);
	if (e < 0)
		return e;
	e = start(r);
	if (e != 0)
		return e;
	*ret = TAKE_PTR(r);
	return 0;
}

int fxt_reader_new_source(struct fxt_reader **ret, input_read_fn read, void *userdata)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return -ENOMEM;
	e = input_init_source(&r->input, read, userdata);
	if (e < 0)
		return e;
	e = start(r);
	if (e != 0)
		return e;
	*ret = TAKE_PTR(r);
	return 0;
}

struct fxt_reader *fxt_reader_free(struct fxt_reader *r)
{
	struct fxt_provider *p;
	size_t pos = 0;

	if (!r)
		return NULL;
	while ((p = table_next(&r->providers, &pos)))
		fxt_provider_free(p);
	table_deinit(&r->providers);
	fxt_provider_free(r->overflow);
	input_deinit(&r->input);
	free(r);
	return NULL;
}

static int report(struct fxt_reader *r, uint64_t offset, uint64_t bytes, const char *what)
{
	r->damage = (struct fxt_damage){ .offset = offset, .bytes = bytes, .what = what };
	return FXT_READER_DAMAGE;
}

/* The input ends inside a record, or what looks like one: nothing behind it can be found. */
static int report_truncated(struct fxt_reader *r)
{
	uint64_t offset = r->input.offset;
	int e = input_skip(&r->input, UINT64_MAX);

	if (e < 0)
		return e;
	report(r, offset, r->input.offset - offset, truncated_tail);
	r->damage.truncated = true;
	return FXT_READER_DAMAGE;
}

/* Skips words that cannot be headers; a run of them is one damage. */
static int skip_sizeless(struct fxt_reader *r)
{
	uint64_t offset = r->input.offset;
	bool zero = true;
	int e;

	do {
		uint64_t word = first_word(&r->input);

		if (header_bytes(word) != 0)
			break;
		if (word != 0)
			zero = false;
		input_take(&r->input, FXT_WORD_BYTES);
		e = input_need(&r->input, FXT_WORD_BYTES);
		if (e < 0)
			return e;
	} while (e > 0);
	return report(r, offset, r->input.offset - offset,
		      zero ? "zeros where a record should be" : "a record of size 0");
}

static int become_provider(struct fxt_reader *r, const struct fxt_record *record)
{
	bool is_new;
	int e = get_provider(r, record->metadata.provider_id, &r->current, &is_new);

	if (e < 0)
		return e;
	if (r->current == r->overflow) {
		r->late = "more providers than kymo reads; the strings of this one are not known";
		return 0;
	}
	if (record->subtype == FXT_METADATA_PROVIDER_SECTION) {
		if (is_new && record->metadata.provider_id != 0)
			r->late = "a section of a provider that was not introduced";
		return 0;
	}
	fxt_provider_reset(r->current);
	memcpy(r->current->name, record->name.bytes, record->name.length);
	r->current->name_length = (uint8_t)record->name.length;
	return 0;
}

/* Keeps what RECORD says for those that follow. */
static int remember(struct fxt_reader *r, const struct fxt_record *record)
{
	int e;

	switch (record->type) {
	case FXT_RECORD_METADATA:
		if (record->subtype == FXT_METADATA_PROVIDER_INFO ||
		    record->subtype == FXT_METADATA_PROVIDER_SECTION)
			return become_provider(r, record);
		return 0;
	case FXT_RECORD_INITIALIZATION:
		r->current->ticks_per_second = record->initialization.ticks_per_second;
		return 0;
	case FXT_RECORD_STRING:
		if (record->string.index == 0 || r->current == r->overflow)
			return 0;
		e = fxt_provider_set_string(r->current, record->string.index, record->name.bytes,
					    record->name.length);
		if (e == -ENOBUFS)
			r->late = "more text in the string table than kymo holds";
		return e == -ENOBUFS ? 0 : e;
	case FXT_RECORD_THREAD:
		if (record->thread_record.index != 0 && r->current != r->overflow)
			r->current->threads[record->thread_record.index] = record->thread;
		return 0;
	default:
		return 0;
	}
}

/* Takes the record of BYTES bytes that is ready. */
static int take_record(struct fxt_reader *r, uint64_t bytes, const struct fxt_record **ret)
{
	struct fxt_record *record = &r->record;
	const char *what;

	record->offset = r->input.offset;
	record->n_words = bytes / FXT_WORD_BYTES;
	record->words = input_take(&r->input, (size_t)bytes);
	record->provider = r->current;
	what = fxt_parse_record(record);
	if (what)
		return report(r, record->offset, bytes, what);
	if (record->type <= FXT_RECORD_THREAD) {
		int e = remember(r, record);

		if (e < 0)
			return e;
		record->provider = r->current;
	}
	*ret = record;
	return FXT_READER_RECORD;
}

/* The record does not lie in the buffer yet: get it, or find out why there is none. */
static int get_record(struct fxt_reader *r, uint64_t bytes)
{
	uint64_t offset = r->input.offset;
	int e;

	if (bytes > RECORD_BYTES_MAX) {
		e = input_skip(&r->input, bytes);
		if (e < 0)
			return e;
		report(r, offset, r->input.offset - offset,
		       e ? "a record over 64 MiB, skipped" : truncated_tail);
		r->damage.truncated = e == 0;
		return FXT_READER_DAMAGE;
	}
	e = input_fill(&r->input, (size_t)bytes);
	if (e < 0)
		return e;
	if (e == 0)
		return report_truncated(r);
	return 0;
}

int fxt_reader_next(struct fxt_reader *r, const struct fxt_record **ret)
{
	uint64_t bytes;
	int e;

	*ret = NULL;
	if (r->late) {
		report(r, r->record.offset, 0, r->late);
		r->late = NULL;
		return FXT_READER_DAMAGE;
	}
	e = input_need(&r->input, FXT_WORD_BYTES);
	if (e < 0)
		return e;
	if (e == 0) {
		if (input_ready(&r->input) == 0)
			return FXT_READER_END;
		return report_truncated(r);
	}
	bytes = header_bytes(first_word(&r->input));
	if (bytes == 0)
		return skip_sizeless(r);
	if (bytes > input_ready(&r->input)) {
		e = get_record(r, bytes);
		if (e != 0)
			return e;
	}
	return take_record(r, bytes, ret);
}

const struct fxt_damage *fxt_reader_damage(const struct fxt_reader *r)
{
	return &r->damage;
}

uint64_t fxt_reader_offset(const struct fxt_reader *r)
{
	return r->input.offset;
}
