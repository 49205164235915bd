/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "reader/fxt/fxt-resync.h"

#include <string.h>

/*
 * The weight of a record as evidence that an archive continues here. Two records whose only
 * evidence is their shape are not enough; one record with a plausible time is.
 */
enum {
	WORTH_SHAPE = 10, /* known kind, exact size, all reserved bits zero */
	WORTH_NEAR = 40,  /* the time is near the times read before */
	/* The record has a time, but no earlier times exist to compare with. */
	WORTH_TIME = 5,
	WORTH_NEXT = 15,       /* the time is near that of the previous record */
	WORTH_FAR = -10,       /* the time is not near other times */
	WORTH_REFERENCES = 10, /* the record has references, all of them registered */
	WORTH_UNDEFINED = -5,  /* an unregistered reference; its record can be lost */
	WORTH_TEXT = 15,
	WORTH_NO_TEXT = -15, /* a text is invalid */
	WORTH_KNOWN = 10,    /* a value in the record is known and frequent */
	WORTH_MAGIC = 60,
	WORTH_LARGE = 40,   /* two sizes agree in 32 bits */
	WORTH_LONGER = -10, /* words follow the contents, so the size is weak evidence */
	WORTH_NOTHING = -1000,

	ENOUGH_AT_END = 30, /* required evidence if the input ends behind the last record */
	/* Required evidence if the input, or the part that is examined, ends inside a record. */
	ENOUGH_AT_CUT = 40,

	CHAIN_MAX = 16,
	/* Maximum number of records of unknown kind in a chain; these add no evidence. */
	UNKNOWN_MAX = 4,
	FOLLOW_MAX = 8,
	TEXT_BYTES = 3, /* minimum length of text; shorter text is no evidence */
};

#define SECOND UINT64_C(1000000000)

enum verdict {
	BAD,
	GOOD,
	CUT, /* the input ends before the record does */
};

/* A chain of consecutive records from the examined position on. */
struct chain {
	/* The provider of the current section; NULL = one that was introduced in the chain. */
	const struct fxt_provider *provider;
	uint64_t last_ns;
	int worth;
	unsigned n, n_strings, n_unknown;
	/* The previous record introduced the provider: an initialization record may follow. */
	bool introduced;
	bool has_new; /* a provider, new_id, was introduced in the chain */
	uint64_t new_id;
	uint16_t strings[CHAIN_MAX]; /* indices of strings that were registered in the chain */
	uint64_t offsets[CHAIN_MAX];
};

void fxt_resync_begin(struct fxt_resync *s)
{
	if (s->n_dead > 0)
		memset(s->dead, 0, sizeof(s->dead));
	s->n_dead = 0;
}

static bool fxt_resync_is_dead(const struct fxt_resync *s, uint64_t offset)
{
	return s->dead[offset % FXT_RESYNC_DEAD] == offset + 1;
}

static void fxt_resync_mark_dead(struct fxt_resync *s, uint64_t offset)
{
	s->dead[offset % FXT_RESYNC_DEAD] = offset + 1;
	s->n_dead++;
}

/*
 * Returns true if NS is within the range of times read so far, or outside by at most the length of
 * the range plus some slack.
 */
static bool fxt_resync_is_near(const struct fxt_resync *s, uint64_t ns)
{
	uint64_t low = s->first_ns < s->last_ns ? s->first_ns : s->last_ns;
	uint64_t high = s->first_ns < s->last_ns ? s->last_ns : s->first_ns;
	uint64_t before = high - low + 60 * SECOND, behind = high - low + 3600 * SECOND;

	return ns >= (low > before ? low - before : 0) &&
	       ns <= (high < UINT64_MAX - behind ? high + behind : UINT64_MAX);
}

/*
 * Returns true if the record has a few words after its contents. Only records with a time qualify,
 * since other records cannot be distinguished from garbage then.
 */
static bool fxt_resync_is_longer(const struct fxt_shape *shape)
{
	return shape->timed && shape->words > 0 && shape->claimed > shape->words &&
	       (shape->claimed - shape->words) * FXT_WORD_BYTES <= FXT_RESYNC_LONGER_MAX &&
	       fxt_get_record_type(shape->head) != FXT_RECORD_LARGE;
}

static int fxt_resync_worth_of_time(const struct fxt_resync *s, struct chain *c,
				    const struct fxt_shape *shape)
{
	static const struct fxt_provider plain = { .ticks_per_second = SECOND };
	uint64_t ns = fxt_provider_ns(c->provider ? c->provider : &plain, shape->ticks);
	uint64_t last = c->last_ns, apart = ns > last ? ns - last : last - ns;

	c->last_ns = ns;
	if (s->last_ns && fxt_resync_is_near(s, ns))
		return WORTH_NEAR;
	if (last && apart < 3600 * SECOND)
		return WORTH_NEXT;
	return s->last_ns ? WORTH_FAR : WORTH_TIME;
}

static bool fxt_resync_is_registered(const struct chain *c, uint16_t ref)
{
	for (unsigned i = 0; i < c->n_strings; i++)
		if (c->strings[i] == ref)
			return true;
	return !c->provider || fxt_provider_string(c->provider, ref).bytes;
}

static int fxt_resync_worth_of_references(const struct chain *c, const struct fxt_shape *shape)
{
	for (unsigned i = 0; i < shape->n_refs; i++)
		if (!fxt_resync_is_registered(c, shape->refs[i]))
			return WORTH_UNDEFINED;
	for (unsigned i = 0; i < shape->n_threads; i++)
		if (c->provider && !c->provider->threads[shape->threads[i]].defined)
			return WORTH_UNDEFINED;
	return shape->n_refs + shape->n_threads > 0 ? WORTH_REFERENCES : 0;
}

static int fxt_resync_worth_of_metadata(const struct fxt_resync *s, struct chain *c,
					const struct fxt_shape *shape)
{
	uint64_t id = fxt_get_provider_id(shape->head);

	switch (fxt_get_metadata_type(shape->head)) {
	case FXT_METADATA_PROVIDER_INFO:
		if (shape->clean_bytes == 0 || shape->odd_text)
			return WORTH_NOTHING;
		c->provider = NULL;
		c->has_new = true;
		c->new_id = id;
		return 0;
	case FXT_METADATA_PROVIDER_SECTION:
		/* A null argument can look like a section, so the provider must be known. */
		c->provider = table_get(s->providers, id + 1);
		if (c->has_new && c->new_id == id)
			c->provider = NULL;
		else if (!c->provider)
			return WORTH_NOTHING;
		return WORTH_KNOWN;
	case FXT_METADATA_PROVIDER_EVENT:
		return table_get(s->providers, id + 1) && fxt_get_provider_event_id(shape->head) ==
								  FXT_PROVIDER_EVENT_BUFFER_FILLED
			       ? WORTH_KNOWN
			       : WORTH_NOTHING;
	default:
		return WORTH_MAGIC;
	}
}

/* Returns the evidence of the record's contents. WORTH_NOTHING rejects the record. */
static int fxt_resync_worth_of_kind(const struct fxt_resync *s, struct chain *c,
				    const struct fxt_shape *shape)
{
	const struct fxt_thread *thread;
	uint64_t head = shape->head;

	switch (fxt_get_record_type(head)) {
	case FXT_RECORD_METADATA:
		return fxt_resync_worth_of_metadata(s, c, shape);
	case FXT_RECORD_INITIALIZATION:
		if (c->introduced)
			return shape->value ? WORTH_KNOWN : WORTH_NOTHING;
		if (!c->provider || shape->value != c->provider->ticks_per_second)
			return WORTH_NOTHING;
		return 2 * WORTH_KNOWN;
	case FXT_RECORD_STRING:
		if (fxt_get_string_index(head) == 0 || shape->clean_bytes == 0)
			return WORTH_NOTHING;
		if (c->n == 0 && shape->odd_text)
			return WORTH_NOTHING;
		if (c->n_strings < CHAIN_MAX)
			c->strings[c->n_strings++] = (uint16_t)fxt_get_string_index(head);
		return 0;
	case FXT_RECORD_THREAD:
		if (fxt_get_thread_index(head) == 0)
			return WORTH_NOTHING;
		thread = c->provider ? &c->provider->threads[fxt_get_thread_index(head)] : NULL;
		return c->n == 0 && thread && thread->defined ? WORTH_NOTHING : 0;
	case FXT_RECORD_EVENT:
		return fxt_get_event_name(head) == 0 ? WORTH_NOTHING : 0;
	case FXT_RECORD_BLOB:
		return fxt_get_blob_name(head) == 0 ? WORTH_NOTHING : 0;
	case FXT_RECORD_KERNEL_OBJECT:
		/* A pointer argument looks like a kernel object without a name. */
		if (fxt_get_kernel_object_name(head) == 0)
			return WORTH_NOTHING;
		return fxt_get_kernel_object_type(head) == FXT_OBJECT_PROCESS ||
				       fxt_get_kernel_object_type(head) == FXT_OBJECT_THREAD
			       ? WORTH_KNOWN
			       : 0;
	case FXT_RECORD_LARGE:
		return WORTH_LARGE;
	default:
		return 0;
	}
}

/* Adds the evidence of a record to the chain. Returns BAD if the record cannot be one, otherwise
 * GOOD. */
static enum verdict fxt_resync_weigh(const struct fxt_resync *s, struct chain *c,
				     const struct fxt_shape *shape)
{
	int worth = WORTH_SHAPE, kind = fxt_resync_worth_of_kind(s, c, shape);

	if (kind == WORTH_NOTHING)
		return BAD;
	worth += kind + fxt_resync_worth_of_references(c, shape);
	if (shape->timed) {
		int of_time = fxt_resync_worth_of_time(s, c, shape);

		if (fxt_resync_is_longer(shape)) {
			if (of_time == WORTH_FAR)
				return BAD;
			worth += WORTH_LONGER;
		}
		worth += of_time;
	}
	if (shape->odd_text)
		worth += WORTH_NO_TEXT;
	else if (shape->clean_bytes >= TEXT_BYTES)
		worth += WORTH_TEXT;
	c->worth += worth;
	c->introduced = fxt_get_record_type(shape->head) == FXT_RECORD_METADATA;
	return GOOD;
}

/* Makes the record at AT available in the buffer; of a large record, only the begin. Returns the
 * number of available words, 0 if the input ends before, or a negative errno. */
static ssize_t fxt_resync_fill(struct fxt_resync *s, size_t at, uint64_t head)
{
	uint64_t words = fxt_claimed_words(head);
	int r;

	if (words > FXT_RECORD_WORDS_MAX)
		words = FXT_RECORD_WORDS_MAX;
	r = input_need(s->input, at + (size_t)words * FXT_WORD_BYTES);
	/* The input ends inside a large record: the part in the buffer is enough. */
	if (r == 0 && fxt_get_record_type(head) == FXT_RECORD_LARGE &&
	    fxt_claimed_words(head) > FXT_RECORD_WORDS_MAX)
		return (ssize_t)((input_ready(s->input) - at) / FXT_WORD_BYTES);
	return r <= 0 ? r : (ssize_t)words;
}

/* Judges the record at AT. Returns an enum verdict or a negative errno. *RET_BYTES is set for a
 * good record. */
static int fxt_resync_judge(struct fxt_resync *s, size_t at, struct chain *c, uint64_t *ret_bytes)
{
	struct fxt_shape shape;
	ssize_t words;
	uint64_t head;
	int r = input_need(s->input, at + FXT_WORD_BYTES);

	if (r <= 0)
		return r < 0 ? r : CUT;
	head = fxt_load_word(input_peek(s->input) + at, s->swap);
	if (!fxt_shape_begins(head))
		return BAD;
	words = fxt_resync_fill(s, at, head);
	if (words <= 0)
		return words < 0 ? (int)words : CUT;
	fxt_shape_of(input_peek(s->input) + at, (uint64_t)words, s->swap, &shape);
	if (shape.flawed)
		return BAD;
	if (shape.words != shape.claimed &&
	    (!fxt_resync_is_longer(&shape) || s->enough > FXT_RESYNC_ENOUGH))
		return BAD;
	*ret_bytes = shape.claimed * FXT_WORD_BYTES;
	return fxt_resync_weigh(s, c, &shape);
}

/*
 * Steps over a record of unknown kind at AT, where no good record begins. *RET_BYTES is its size.
 * Returns 1, 0 if no such record is at AT, or a negative errno.
 */
static int fxt_resync_steps_over(struct fxt_resync *s, size_t at, struct chain *c,
				 uint64_t *ret_bytes)
{
	struct fxt_shape shape;
	ssize_t words;
	uint64_t head;

	if (c->n == 0 || ++c->n_unknown > UNKNOWN_MAX || s->enough > FXT_RESYNC_ENOUGH)
		return 0;
	head = fxt_load_word(input_peek(s->input) + at, s->swap);
	if (fxt_claimed_words(head) == 0)
		return 0;
	words = fxt_resync_fill(s, at, head);
	if (words <= 0 || fxt_claimed_words(head) > FXT_RECORD_WORDS_MAX)
		return words < 0 ? (int)words : 0;
	fxt_shape_of(input_peek(s->input) + at, (uint64_t)words, s->swap, &shape);
	*ret_bytes = shape.claimed * FXT_WORD_BYTES;
	return shape.unknown;
}

/* Returns true if the evidence is enough, given that the input ends at AT or inside the record at
 * AT. */
static bool fxt_resync_enough_at_end(const struct fxt_resync *s, const struct chain *c, size_t at)
{
	int needed = input_ready(s->input) == at ? ENOUGH_AT_END : ENOUGH_AT_CUT;

	if (s->enough > FXT_RESYNC_ENOUGH)
		needed = s->enough;
	return c->worth >= needed;
}

/* Tries the chain from AT on. Returns 1 if its records are valid, 0 if not, or a negative errno. */
static int fxt_resync_try_chain(struct fxt_resync *s, struct chain *c, size_t at)
{
	size_t begin = at;

	for (;;) {
		uint64_t offset = s->input->offset + at, bytes = 0;
		int r;

		if (fxt_resync_is_dead(s, offset))
			return 0;
		c->offsets[c->n] = offset;
		r = fxt_resync_judge(s, at, c, &bytes);
		if (r == CUT)
			return c->n > 0 && fxt_resync_enough_at_end(s, c, at);
		if (r == GOOD)
			c->n++;
		else if (r == BAD)
			r = fxt_resync_steps_over(s, at, c, &bytes);
		if (r <= 0)
			return r;
		if (c->worth >= s->enough)
			return 1;
		if (c->n == CHAIN_MAX)
			return s->enough == FXT_RESYNC_ENOUGH;
		if (bytes > FXT_RESYNC_WINDOW || at + bytes - begin > FXT_RESYNC_WINDOW)
			return s->enough == FXT_RESYNC_ENOUGH && c->worth >= ENOUGH_AT_CUT;
		at += bytes;
	}
}

static struct chain fxt_resync_new_chain(const struct fxt_resync *s)
{
	struct chain c;

	c.provider = s->provider;
	c.last_ns = 0;
	c.worth = 0;
	c.n = c.n_strings = c.n_unknown = 0;
	c.introduced = c.has_new = false;
	return c;
}

int fxt_resync_at(struct fxt_resync *s, size_t at)
{
	struct chain c = fxt_resync_new_chain(s);
	int r = fxt_resync_try_chain(s, &c, at);

	/* Chains from the later records of this chain would fail at the same place: do not try
	 * them. */
	for (unsigned i = 1; r == 0 && i < c.n; i++)
		fxt_resync_mark_dead(s, c.offsets[i]);
	return r;
}

/*
 * Finds out whether a chain of good records leads from AT to a record that begins before END and
 * ends after it. Returns 1, 0 if not, or a negative errno.
 */
static int fxt_resync_leads_over(struct fxt_resync *s, size_t at, size_t end)
{
	struct chain c = fxt_resync_new_chain(s);
	int r = GOOD;

	for (size_t begin = at; r == GOOD && at < end; c.n = 1) {
		uint64_t bytes = 0, offset = s->input->offset + at;

		r = at > begin && fxt_resync_is_dead(s, offset)
			    ? BAD
			    : fxt_resync_judge(s, at, &c, &bytes);
		/*
		 * If this chain does not lead over END, chains from its later records do not,
		 * either.
		 */
		fxt_resync_mark_dead(s, offset);
		at += bytes;
	}
	return r < 0 ? r : r == GOOD && at > end;
}

/* Returns true if the first word at AT can be a header. */
static bool fxt_resync_begins_at(const struct fxt_resync *s, size_t at)
{
	return fxt_shape_begins(fxt_load_word(input_peek(s->input) + at, s->swap));
}

int fxt_resync_find(struct fxt_resync *s, size_t from, size_t to, size_t end, size_t *ret_at)
{
	for (size_t at = from; at < to; at++) {
		int r = input_need(s->input, at + FXT_WORD_BYTES);

		if (r <= 0)
			return r;
		if (!fxt_resync_begins_at(s, at))
			continue;
		r = fxt_resync_at(s, at);
		if (r > 0 && end > 0)
			r = fxt_resync_leads_over(s, at, end);
		if (r < 0)
			return r;
		if (r > 0) {
			*ret_at = at;
			return 1;
		}
	}
	return 0;
}

int fxt_resync_find_on(struct fxt_resync *s, size_t from)
{
	/* Number of bytes to search before they are discarded from the buffer. */
	enum { STEP = 64 * 1024 };
	int r;

	for (;;) {
		size_t at;

		r = fxt_resync_find(s, from, from + STEP, 0, &at);
		if (r < 0)
			return r;
		if (r > 0) {
			input_consume(s->input, at);
			return 1;
		}
		if (input_ready(s->input) < from + STEP)
			break; /* end of the input */
		input_consume(s->input, from + STEP);
		from = 0;
	}
	r = input_skip(s->input, UINT64_MAX);
	return r < 0 ? r : 0;
}

/*
 * Returns true if the record has words after its contents, but a time that is sufficient evidence.
 */
static bool fxt_resync_is_longer_and_near(const struct fxt_resync *s, const struct fxt_shape *shape)
{
	struct chain c = fxt_resync_new_chain(s);

	return fxt_resync_is_longer(shape) && fxt_resync_worth_of_time(s, &c, shape) == WORTH_NEAR;
}

int fxt_resync_follows(struct fxt_resync *s, size_t at, size_t *ret_to)
{
	*ret_to = at;
	for (int i = 0; i < FOLLOW_MAX; i++) {
		struct fxt_shape shape;
		uint64_t head;
		ssize_t words;
		int r = input_need(s->input, at + FXT_WORD_BYTES);

		if (r <= 0)
			return r < 0 ? r : 1;
		head = fxt_load_word(input_peek(s->input) + at, s->swap);
		if (fxt_claimed_words(head) == 0)
			return head == 0; /* zeros are a hole, or the end of a preallocated file */
		words = fxt_resync_fill(s, at, head);
		if (words < 0)
			return (int)words;
		if (words == 0)
			return fxt_shape_begins(head); /* can be the last record, truncated */
		fxt_shape_of(input_peek(s->input) + at, (uint64_t)words, s->swap, &shape);
		*ret_to = at;
		if (!shape.flawed &&
		    (shape.words == shape.claimed || fxt_resync_is_longer_and_near(s, &shape)))
			return 1;
		if ((shape.words == 0 && !shape.unknown) || shape.words > shape.claimed ||
		    shape.claimed * FXT_WORD_BYTES > FXT_RESYNC_WINDOW || at > FXT_RESYNC_WINDOW)
			return 0;
		at += shape.claimed * FXT_WORD_BYTES;
	}
	return 1;
}

size_t fxt_resync_contents(struct fxt_resync *s, bool *ret_sure)
{
	struct chain c = { .provider = s->provider };
	size_t ready = input_ready(s->input) / FXT_WORD_BYTES;
	struct fxt_shape shape;

	if (ready > FXT_RECORD_WORDS_MAX)
		ready = FXT_RECORD_WORDS_MAX;
	if (ready == 0)
		return 0;
	fxt_shape_of(input_peek(s->input), ready, s->swap, &shape);
	shape.claimed = shape.words; /* (the size in the header must not count here) */
	if (shape.flawed || shape.odd_text || shape.words == 0 ||
	    shape.words > FXT_RECORD_WORDS_MAX || fxt_resync_weigh(s, &c, &shape) != GOOD)
		return 0;
	*ret_sure = c.worth >= s->enough;
	/* If a record has a time, the time must be plausible; otherwise the data is garbage. */
	if (shape.timed ? c.worth < ENOUGH_AT_CUT && s->last_ns : c.worth < 2 * WORTH_SHAPE)
		return 0;
	return shape.words * FXT_WORD_BYTES;
}
