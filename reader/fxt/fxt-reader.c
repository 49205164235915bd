/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds records in the input, and keeps the state between records: the current provider, and the
 * tables of each provider. fxt-parse.c reads the contents of a record.
 *
 * A section can name a provider that was not introduced. Such a provider gets empty tables, its
 * records are read, and the section is reported. The number of providers is limited, so that an
 * archive cannot make the reader allocate tables without limit.
 *
 * A record that follows the specification exactly is returned at once. The data around any other
 * record decides whether the record is odd or damaged (fxt_reader_doubt()). Records are parsed in
 * the input's buffer. A record is copied if it is not aligned there (since bytes are missing before
 * it), or if its words must be swapped.
 */
#include "reader/fxt/fxt-reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/table.h"
#include "reader/fxt/fxt-kymo.h"
#include "reader/fxt/fxt-parse.h"
#include "reader/fxt/fxt-resync.h"
#include "reader/fxt/fxt-shape.h"

enum { PROVIDERS_MAX = 256 };

/* Larger records are skipped, since kymo shows no data of records so large. */
#define RECORD_BYTES_MAX ((uint64_t)64 << 20)

/* If data may not be a record, up to this number of bytes is read to find out. */
#define DOUBTFUL_BYTES_MAX ((uint64_t)1 << 20)

static const char lost_start[] = "the archive does not begin with its magic number";
static const char odd_record[] = "an odd record, and no record behind it";
static const char truncated_tail[] = "truncated tail: the last record is incomplete";

struct fxt_reader {
	struct input input;
	bool swap; /* the archive is big-endian */
	struct fxt_provider *current;
	/* replaces providers beyond the limit; its tables stay empty */
	struct fxt_provider *overflow;
	struct table providers; /* id + 1 -> struct fxt_provider, owned */
	struct fxt_record record;
	struct fxt_damage damage;
	/* Number of bytes before the first record. The reader reports them before that record. */
	uint64_t lost_start;
	const char *late;           /* error of the last returned record, to be reported next */
	uint64_t *copy;             /* a copy of a record that cannot be used in place; owned */
	size_t copy_room;           /* size of `copy` in bytes */
	uint64_t first_ns, last_ns; /* range of the times that were read; 0 = no times yet */
	/* odd records before this position in the input were examined */
	uint64_t trusted_to;
	size_t last_bytes; /* size of the last record; 0 = the last result was damage */
	struct fxt_resync resync;
};

static uint64_t fxt_reader_first_word(const struct fxt_reader *r)
{
	return fxt_load_word(input_peek(&r->input), r->swap);
}

/* Returns the size in bytes that the header HEAD claims for its record. */
static uint64_t fxt_reader_header_bytes(uint64_t head)
{
	return FXT_WORD_BYTES * fxt_claimed_words(head);
}

static struct fxt_resync *fxt_reader_resync(struct fxt_reader *r)
{
	r->resync.input = &r->input;
	r->resync.providers = &r->providers;
	r->resync.provider = r->current;
	r->resync.swap = r->swap;
	r->resync.enough = FXT_RESYNC_ENOUGH;
	r->resync.first_ns = r->first_ns;
	r->resync.last_ns = r->last_ns;
	fxt_resync_begin(&r->resync);
	return &r->resync;
}

static int fxt_reader_report(struct fxt_reader *r, uint64_t offset, uint64_t bytes,
			     const char *what)
{
	r->damage = (struct fxt_damage){ .offset = offset, .bytes = bytes, .what = what };
	return FXT_READER_DAMAGE;
}

/* Returns true if the input starts with a magic number of which at most half of the bytes are
 * damaged. */
static bool fxt_reader_resembles_magic(const struct fxt_reader *r)
{
	uint8_t differs[FXT_WORD_BYTES];
	unsigned n_same = 0;
	uint64_t word;

	if (input_ready(&r->input) < FXT_WORD_BYTES)
		return false;
	word = fxt_reader_first_word(r) ^ FXT_MAGIC;
	memcpy(differs, &word, sizeof(differs));
	for (size_t i = 0; i < sizeof(differs); i++)
		n_same += differs[i] == 0;
	return n_same >= FXT_WORD_BYTES / 2;
}

/*
 * Finds the archive in an input whose magic number is damaged or missing. The archive begins at the
 * first place, in either byte order, with more consecutive records than chance explains.
 */
static int fxt_reader_find_archive(struct fxt_reader *r)
{
	size_t found = SIZE_MAX;
	bool found_swap = false;

	for (int swap = 0; swap <= 1; swap++) {
		struct fxt_resync *s;
		size_t at;
		int e;

		r->swap = swap;
		s = fxt_reader_resync(r);
		s->enough = fxt_reader_resembles_magic(r) ? FXT_RESYNC_ENOUGH : FXT_RESYNC_ARCHIVE;
		e = fxt_resync_find(s, 0, found < FXT_RESYNC_WINDOW ? found : FXT_RESYNC_WINDOW, 0,
				    &at);
		if (e < 0)
			return e;
		if (e > 0) {
			found = at;
			found_swap = swap;
		}
	}
	if (found == SIZE_MAX)
		return FXT_ALIEN_OTHER;
	r->swap = found_swap;
	r->lost_start = found;
	r->late = lost_start;
	input_consume(&r->input, found);
	return 0;
}

/* Checks the magic number. Returns 0 if the input is an archive, an enum fxt_alien, or a negative
 * errno. */
static int fxt_reader_check_magic(struct fxt_reader *r)
{
	static const uint8_t xz[] = { 0xfd, '7', 'z', 'X', 'Z' };
	static const uint8_t report[] = { 'v', 'e', 'r', 's', 'i', 'o', 'n', '=' };
	int full = input_need(&r->input, FXT_WORD_BYTES);

	if (full < 0)
		return full;
	if (input_ready(&r->input) == 0)
		return FXT_ALIEN_EMPTY;
	if (input_ready(&r->input) >= sizeof(xz) && memcmp(r->input.data, xz, sizeof(xz)) == 0)
		return FXT_ALIEN_XZ;
	if (input_ready(&r->input) >= sizeof(report) &&
	    memcmp(r->input.data, report, sizeof(report)) == 0)
		return FXT_ALIEN_REPORT;
	if (full && fxt_reader_first_word(r) == FXT_MAGIC)
		return 0;
	r->swap = full && fxt_reader_first_word(r) == FXT_MAGIC_SWAPPED;
	return r->swap ? 0 : fxt_reader_find_archive(r);
}

/* Finds or makes the provider ID; *RET_IS_NEW = true if it was made. If there are too many, *RET is
 * the overflow provider. */
static int fxt_reader_get_provider(struct fxt_reader *r, uint32_t id, struct fxt_provider **ret,
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
	e = fxt_provider_new(&p, id) ?: table_set(&r->providers, (uint64_t)id + 1, p);
	if (e < 0)
		return e;
	*ret_is_new = true;
	*ret = TAKE_PTR(p);
	return 0;
}

/*
 * Completes TAKEN, whose input was opened with the result OPENED, and moves it to *RET. Takes
 * ownership of TAKEN.
 */
static int fxt_reader_start(struct fxt_reader **ret, struct fxt_reader *taken, int opened)
{
	_cleanup_(fxt_reader_freep) struct fxt_reader *r = taken;
	bool is_new;
	int e = opened < 0 ? opened : fxt_provider_new(&r->overflow, UINT32_MAX);

	/* fxt_reader_search_back() needs these bytes. */
	r->input.keep = FXT_RECORD_WORDS_MAX * FXT_WORD_BYTES;

	/* Some writers introduce no provider. */
	e = e ?: fxt_reader_get_provider(r, 0, &r->current, &is_new) ?: fxt_reader_check_magic(r);
	if (e == 0)
		*ret = TAKE_PTR(r);
	return e;
}

int fxt_reader_new_fd(struct fxt_reader **ret, int fd)
{
	struct fxt_reader *r = calloc(1, sizeof(*r));

	return r ? fxt_reader_start(ret, r, input_init_fd(&r->input, fd)) : -ENOMEM;
}

int fxt_reader_new_memory(struct fxt_reader **ret, const void *p, size_t n)
{
	struct fxt_reader *r = calloc(1, sizeof(*r));

	return r ? fxt_reader_start(ret, r, input_init_memory(&r->input, p, n)) : -ENOMEM;
}

int fxt_reader_new_source(struct fxt_reader **ret, input_read_fn read, void *userdata)
{
	struct fxt_reader *r = calloc(1, sizeof(*r));

	return r ? fxt_reader_start(ret, r, input_init_source(&r->input, read, userdata)) : -ENOMEM;
}

struct fxt_reader *fxt_reader_free(struct fxt_reader *r)
{
	struct fxt_provider *p;

	if (!r)
		return NULL;
	for (size_t pos = 0; (p = table_next(&r->providers, &pos));)
		fxt_provider_free(p);
	table_deinit(&r->providers);
	fxt_provider_free(r->overflow);
	free(r->copy);
	input_deinit(&r->input);
	return free_ptr(r);
}

static int fxt_reader_become_provider(struct fxt_reader *r, const struct fxt_record *record)
{
	bool is_new;
	int e = fxt_reader_get_provider(r, record->metadata.provider_id, &r->current, &is_new);

	if (e < 0)
		return e;
	if (r->current == r->overflow) {
		r->late = "too many providers; the strings of this one are unknown";
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

/*
 * Returns true if the data of RECORD is used. RECORD is correct, except for reserved bits, which a
 * newer format may define. So its data fills gaps in the tables, but replaces no known data.
 */
static bool fxt_reader_is_wanted(const struct fxt_record *record, const struct fxt_shape *s)
{
	const struct fxt_provider *p = record->provider;

	switch (record->type) {
	case FXT_RECORD_INITIALIZATION:
		return !p->timed;
	case FXT_RECORD_STRING:
		return s->clean_bytes > 0 && !s->odd_text &&
		       !fxt_provider_string(p, record->string.index).bytes;
	case FXT_RECORD_THREAD:
		return !p->threads[record->thread_record.index].defined;
	default:
		return false;
	}
}

/*
 * Returns true if later records may depend on the data of RECORD, which is odd. An odd record can
 * be a record of another type with a damaged header. Its data would then make later records wrong,
 * too.
 */
static bool fxt_reader_is_to_be_believed(const struct fxt_record *record)
{
	struct fxt_shape s;

	if (record->type > FXT_RECORD_THREAD ||
	    (record->type == FXT_RECORD_METADATA && record->subtype != FXT_METADATA_PROVIDER_INFO &&
	     record->subtype != FXT_METADATA_PROVIDER_SECTION))
		return true; /* other records change no state */
	fxt_shape_of((const uint8_t *)record->words, record->n_words, false, &s);
	if (s.words == 0)
		return false;
	if (s.flawed)
		return s.words == s.claimed && fxt_reader_is_wanted(record, &s);
	if (s.words == s.claimed)
		return true;
	/*
	 * The record has words after its contents. That is allowed, but not believed in a section:
	 * a section has no text that could confirm the record.
	 */
	return !s.odd_text && (record->type != FXT_RECORD_METADATA || s.clean_bytes > 0);
}

/* Notes WHAT (NULL = nothing) as the error of the record that is returned, unless one was noted. */
static void fxt_reader_note_late(struct fxt_reader *r, const char *what)
{
	if (!r->late)
		r->late = what;
}

/* Updates the state from RECORD. */
static int fxt_reader_remember(struct fxt_reader *r, const struct fxt_record *record)
{
	bool was_right;
	int e;

	switch (record->type) {
	case FXT_RECORD_METADATA:
		if (record->subtype == FXT_METADATA_PROVIDER_INFO ||
		    record->subtype == FXT_METADATA_PROVIDER_SECTION)
			return fxt_reader_become_provider(r, record);
		/* Another archive can be from another machine. */
		if (record->subtype == FXT_METADATA_TRACE_INFO)
			r->record.ts_ns = r->first_ns = r->last_ns = 0;
		return 0;
	case FXT_RECORD_INITIALIZATION:
		r->current->ticks_per_second = record->initialization.ticks_per_second;
		r->current->timed = true;
		fxt_reader_note_late(r, fxt_kymo_see_ticks(r->current));
		return 0;
	case FXT_RECORD_STRING:
		if (record->string.index == 0 || r->current == r->overflow)
			return 0;
		was_right = fxt_kymo_is_right(r->current, record->string.index);
		e = fxt_provider_set_string(r->current, record->string.index, record->name.bytes,
					    record->name.length);
		if (e == -ENOBUFS)
			r->late = "more text in the string table than kymo holds";
		if (e == 0)
			fxt_reader_note_late(r,
					     fxt_kymo_see_string(r->current, record->string.index,
								 was_right));
		return e == -ENOBUFS ? 0 : e;
	case FXT_RECORD_THREAD:
		if (record->thread_record.index != 0 && r->current != r->overflow)
			r->current->threads[record->thread_record.index] = record->thread;
		return 0;
	default:
		return 0;
	}
}

/* Sets record.words to the record of BYTES bytes, which is in the buffer: in place if possible,
 * otherwise as a copy. COPY forces a copy. */
static int fxt_reader_lay_out(struct fxt_reader *r, size_t bytes, bool copy)
{
	const uint8_t *p = input_peek(&r->input);

	if (!copy && !r->swap && (uintptr_t)p % sizeof(uint64_t) == 0) {
		r->record.words = (const uint64_t *)(const void *)p;
		return 0;
	}
	if (bytes > r->copy_room) {
		uint64_t *room = realloc(r->copy, bytes);

		if (!room)
			return -ENOMEM;
		r->copy = room;
		r->copy_room = bytes;
	}
	fxt_shape_copy(p, bytes / FXT_WORD_BYTES, r->swap, r->copy);
	r->record.words = r->copy;
	return 0;
}

/* Parses the record of BYTES bytes that fxt_reader_lay_out() prepared, without consuming it.
 * Returns NULL or an error, like fxt_parse_record(). */
static inline const char *fxt_reader_parse(struct fxt_reader *r, size_t bytes, bool *ret_odd)
{
	struct fxt_record *record = &r->record;

	record->offset = r->input.offset;
	record->n_words = bytes / FXT_WORD_BYTES;
	record->provider = r->current;
	record->ignored = false;
	return fxt_parse_record(record, ret_odd);
}

/* Returns the parsed record, and consumes its BYTES bytes of input. */
static inline int fxt_reader_return_record(struct fxt_reader *r, size_t bytes,
					   const struct fxt_record **ret)
{
	struct fxt_record *record = &r->record;

	input_consume(&r->input, bytes);
	r->last_bytes = bytes;
	/* A record without a time still has the time of the previous record in this member. */
	r->last_ns = record->ts_ns;
	if (__builtin_expect(r->first_ns == 0, 0))
		r->first_ns = r->last_ns;
	if (record->type <= FXT_RECORD_THREAD && !record->ignored) {
		int e = fxt_reader_remember(r, record);

		if (e < 0)
			return e;
		record->provider = r->current;
	}
	*ret = record;
	return FXT_READER_RECORD;
}

/* Reports that the input ends inside a record, or inside data that looks like a record. */
static int fxt_reader_report_truncated(struct fxt_reader *r, uint64_t offset)
{
	fxt_reader_report(r, offset, r->input.offset - offset, truncated_tail);
	r->damage.truncated = true;
	return FXT_READER_DAMAGE;
}

/*
 * Searches for the next record inside the previous one. The previous record was valid by itself,
 * but if bytes are missing in it, its last part was the begin of the next record. Finds a record
 * that begins inside the previous one and ends after it. Returns 1 if reading continues there, 0,
 * or a negative errno.
 */
static int fxt_reader_search_back(struct fxt_reader *r)
{
	size_t back = r->last_bytes, at;
	int e;

	r->last_bytes = 0;
	if (back == 0 || back > FXT_RECORD_WORDS_MAX * FXT_WORD_BYTES)
		return 0;
	input_back(&r->input, back);
	e = fxt_resync_find(fxt_reader_resync(r), 1, back, back, &at);
	if (e > 0)
		fxt_reader_report(r, r->input.offset, at,
				  "a record that runs into the next one, which was read again");
	input_consume(&r->input, e > 0 ? at : back);
	return e;
}

/* Skips damage at the current position, where no valid record begins. Continues at the next record
 * that begins at FROM or later. If there is none, and the header claims (CLAIMED) more bytes than
 * the input has, the record was truncated. */
static int fxt_reader_skip_damage(struct fxt_reader *r, size_t from, uint64_t claimed,
				  const char *what)
{
	uint64_t offset = r->input.offset;
	int e = fxt_reader_search_back(r);

	if (e != 0)
		return e < 0 ? e : FXT_READER_DAMAGE;
	e = fxt_resync_find_on(fxt_reader_resync(r), from);
	if (e < 0)
		return e;
	if (e == 0 && claimed > r->input.offset - offset)
		return fxt_reader_report_truncated(r, offset);
	return fxt_reader_report(r, offset, r->input.offset - offset, what);
}

/*
 * Returns the record at this position, although the size in its header is wrong: BYTES, the size of
 * its contents, is used.
 */
static int fxt_reader_repair_size(struct fxt_reader *r, size_t bytes, const struct fxt_record **ret)
{
	const char *what;
	bool odd;
	int e = fxt_reader_lay_out(r, bytes, true);

	if (e < 0)
		return e;
	r->copy[0] = fxt_with_record_words(r->copy[0], bytes / FXT_WORD_BYTES);
	what = fxt_reader_parse(r, bytes, &odd);
	if (what)
		return fxt_reader_skip_damage(r, bytes, 0, what);
	e = fxt_reader_return_record(r, bytes, ret);
	if (e == FXT_READER_RECORD && !r->late)
		r->late = "the size of this record was wrong; it was read by its contents";
	return e;
}

/* Returns an odd record that was found valid. It is laid out again, since the examination can have
 * moved the record in the buffer. */
static int fxt_reader_return_odd(struct fxt_reader *r, size_t bytes, const struct fxt_record **ret)
{
	bool odd;
	int e = fxt_reader_lay_out(r, bytes, false);

	if (e < 0)
		return e;
	fxt_reader_parse(r, bytes, &odd);
	if (!fxt_reader_is_to_be_believed(&r->record)) {
		r->record.ignored = true;
		r->late = "reserved bits in a record that others depend on; it is not used";
	}
	return fxt_reader_return_record(r, bytes, ret);
}

/*
 * Decides whether a record of BYTES bytes that is odd or damaged (WHAT = the error) is valid, by
 * the data around it. CUT = its header claims more bytes than the input has.
 */
static int fxt_reader_doubt(struct fxt_reader *r, uint64_t bytes, const char *what, bool cut,
			    const struct fxt_record **ret)
{
	struct fxt_resync *s = fxt_reader_resync(r);
	size_t contents, at, to;
	bool sure = false;
	int e;

	/* Read enough, so that the decision does not depend on how much is in the buffer by
	 * chance. */
	e = input_need(&r->input, FXT_RECORD_WORDS_MAX * FXT_WORD_BYTES);
	if (e < 0)
		return e;
	contents = fxt_resync_contents(s, &sure);
	if (contents > 0 && contents != bytes) {
		e = fxt_resync_at(s, contents);
		if (e == 0 && cut)
			e = sure && contents == input_ready(&r->input);
		if (e > 0 && contents > bytes) {
			/*
			 * If a length inside the record is wrong, the contents seem to include
			 * other records: search for them.
			 */
			e = fxt_resync_find(s, 1, contents, 0, &at);
			if (e > 0)
				return fxt_reader_skip_damage(r, at, 0, what ? what : odd_record);
			e = e < 0 ? e : 1;
		}
		if (e != 0)
			return e < 0 ? e : fxt_reader_repair_size(r, contents, ret);
	}
	if (cut)
		return fxt_reader_skip_damage(r, 1, bytes, what);
	e = fxt_resync_find(s, 1, (size_t)bytes, 0, &at);
	if (e < 0)
		return e;
	if (e > 0)
		return fxt_reader_skip_damage(r, at, 0,
					      what ? what : "a record that takes in others");
	if (what)
		return fxt_reader_skip_damage(r, (size_t)bytes, 0, what);
	sure = sure && contents < bytes && bytes - contents <= FXT_RESYNC_LONGER_MAX;
	if (!sure && r->input.offset + bytes > r->trusted_to) {
		e = fxt_resync_follows(s, (size_t)bytes, &to);
		if (e < 0)
			return e;
		if (e == 0)
			return fxt_reader_skip_damage(r, (size_t)bytes, 0, odd_record);
		r->trusted_to = r->input.offset + to;
	}
	return fxt_reader_return_odd(r, (size_t)bytes, ret);
}

/* Makes a large record available. If the record is doubtful, decides how much of it to wait for.
 * Returns 0, or like fxt_reader_next() if the record is not valid or is too large. */
static int fxt_reader_doubt_large(struct fxt_reader *r, uint64_t bytes,
				  const struct fxt_record **ret)
{
	uint64_t offset = r->input.offset;
	struct fxt_shape shape;
	size_t words;
	int e = input_need(&r->input, FXT_RECORD_WORDS_MAX * FXT_WORD_BYTES);

	if (e < 0)
		return e;
	words = input_ready(&r->input) / FXT_WORD_BYTES;
	if (words > FXT_RECORD_WORDS_MAX)
		words = FXT_RECORD_WORDS_MAX;
	fxt_shape_of(input_peek(&r->input), words, r->swap, &shape);
	if (shape.flawed || shape.words != shape.claimed) {
		e = bytes <= DOUBTFUL_BYTES_MAX ? input_need(&r->input, (size_t)bytes) : 0;
		if (e < 0)
			return e;
		return e > 0 ? 0
			     : fxt_reader_doubt(r, bytes, "a large record that is missing", true,
						ret);
	}
	if (bytes <= RECORD_BYTES_MAX) {
		e = input_need(&r->input, (size_t)bytes);
		return e != 0 ? (e < 0 ? e : 0)
			      : fxt_reader_doubt(r, bytes, truncated_tail, true, ret);
	}
	e = input_skip(&r->input, bytes);
	if (e < 0)
		return e;
	r->last_bytes = 0;
	if (e == 0)
		return fxt_reader_report_truncated(r, offset);
	return fxt_reader_report(r, offset, bytes, "a record over 64 MiB, skipped");
}

/* Makes the record of BYTES bytes available. Returns 0, or like fxt_reader_next() if the record is
 * not valid. */
static int fxt_reader_fill(struct fxt_reader *r, uint64_t bytes, const struct fxt_record **ret)
{
	int e;

	if (bytes == 0)
		return fxt_reader_skip_damage(r, 1, 0,
					      fxt_reader_first_word(r) == 0
						      ? "zeros where a record should be"
						      : "a record of size 0");
	if (bytes > FXT_RECORD_WORDS_MAX * FXT_WORD_BYTES)
		return fxt_reader_doubt_large(r, bytes, ret);
	e = input_fill(&r->input, (size_t)bytes);
	if (e < 0)
		return e;
	if (e == 0)
		return fxt_reader_doubt(r, bytes, "a record that claims more than the archive has",
					true, ret);
	return 0;
}

/* Reports the error that was noted for the last record, or for the begin of the input. */
static int fxt_reader_report_late(struct fxt_reader *r)
{
	const char *what = r->late;

	r->late = NULL;
	if (what == lost_start)
		return fxt_reader_report(r, 0, r->lost_start, what);
	return fxt_reader_report(r, r->record.offset, 0, what);
}

int fxt_reader_next(struct fxt_reader *r, const struct fxt_record **ret)
{
	const char *what;
	uint64_t bytes;
	bool odd;
	int e;

	*ret = NULL;
	if (__builtin_expect(r->late != NULL, 0))
		return fxt_reader_report_late(r);
	e = input_need(&r->input, FXT_WORD_BYTES);
	if (e < 0)
		return e;
	if (e == 0) {
		if (input_ready(&r->input) == 0)
			return FXT_READER_END;
		return fxt_reader_skip_damage(r, input_ready(&r->input), FXT_WORD_BYTES,
					      truncated_tail);
	}
	bytes = fxt_reader_header_bytes(fxt_reader_first_word(r));
	if (bytes == 0 || bytes > input_ready(&r->input)) {
		e = fxt_reader_fill(r, bytes, ret);
		if (e != 0)
			return e;
	}
	e = fxt_reader_lay_out(r, (size_t)bytes, false);
	if (e < 0)
		return e;
	what = fxt_reader_parse(r, (size_t)bytes, &odd);
	if (__builtin_expect(what || odd, 0))
		return fxt_reader_doubt(r, bytes, what, false, ret);
	return fxt_reader_return_record(r, (size_t)bytes, ret);
}

const struct fxt_damage *fxt_reader_damage(const struct fxt_reader *r)
{
	return &r->damage;
}

uint64_t fxt_reader_offset(const struct fxt_reader *r)
{
	return r->input.offset;
}

bool fxt_reader_swaps(const struct fxt_reader *r)
{
	return r->swap;
}
