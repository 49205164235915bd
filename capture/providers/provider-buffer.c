/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/providers/provider-buffer.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"
#include "writer/fxt/fxt-wire.h"

enum {
	GAPS_MAX = 16,
	DURABLE_WORDS_MAX = 256,
	DURABLE_READS = 2, /* how often one read of the buffer may read the whole durable part */
};

/*
 * The maximum of a counter. Otherwise, a program could let the sum of all programs' losses
 * overflow.
 */
#define COUNTER_MAX (UINT64_C(1) << 44)

/* A block, as far as it was read. */
struct block_state {
	uint64_t number; /* number of the block's use that is being read */
	uint32_t at;     /* bytes that were read */
	bool is_free;    /* the block is in the ring, and has not been taken since */
	bool is_bad;     /* the rest of the block is garbage */
};

/* A range of the durable part that was skipped, since its records were unfinished. */
struct gap {
	uint32_t from, to;
};

/* A block to read, and its number. */
struct turn {
	uint64_t number;
	uint32_t block;
};

DEFINE_ORDER(provider_buffer_order, struct turn, COMPARE(x->number, y->number))

struct provider_buffer {
	struct provider_buffer_options options;
	int data_fd, control_fd;
	const uint8_t *data; /* the data file, which the program writes */
	size_t data_bytes;
	struct provider_control *control;
	uint64_t released;
	struct block_state *states;
	struct turn *turns;
	uint64_t *copy; /* room for a block */
	uint64_t durable_copy[DURABLE_WORDS_MAX];
	uint32_t durable_at;
	uint32_t durable_budget; /* bytes of gaps that this read may still examine */
	struct gap gaps[GAPS_MAX];
	unsigned n_gaps;
	struct provider_losses losses;
};

/* ---- the files ---- */

static int provider_buffer_make_file(const char *name, size_t bytes, int *ret)
{
	_cleanup_close_ int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0)
		return -errno;
	*ret = TAKE_FD(fd);
	return 0;
}

static int provider_buffer_map(int fd, size_t bytes, int protection, void *ret)
{
	void *p = mmap(NULL, bytes, protection, MAP_SHARED, fd, 0);

	if (p == MAP_FAILED)
		return -errno;
	memcpy(ret, &p, sizeof(p));
	return 0;
}

static int provider_buffer_seal(int fd, int seals)
{
	return fcntl(fd, F_ADD_SEALS, seals | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0
		       ? -errno
		       : 0;
}

static int provider_buffer_make_files(struct provider_buffer *b)
{
	size_t control_bytes = sizeof(*b->control);

	b->data_bytes =
		PROVIDER_BLOCKS_OFFSET + (size_t)b->options.n_blocks * b->options.block_bytes;
	/*
	 * Only the manager can write to the control file: the manager maps it before the seal,
	 * which forbids later writable mappings.
	 */
	return provider_buffer_make_file("kymo-provider-data", b->data_bytes, &b->data_fd)
		       ?: provider_buffer_make_file("kymo-provider-control", control_bytes,
						    &b->control_fd)
		       ?: provider_buffer_map(b->data_fd, b->data_bytes, PROT_READ, &b->data)
		       ?: provider_buffer_map(b->control_fd, control_bytes, PROT_READ | PROT_WRITE,
					      &b->control)
		       ?: provider_buffer_seal(b->data_fd, 0)
		       ?: provider_buffer_seal(b->control_fd, F_SEAL_FUTURE_WRITE);
}

static void provider_buffer_release(struct provider_buffer *b, uint32_t block)
{
	b->states[block].is_free = true;
	__atomic_store_n(&b->control->ring[b->released % b->options.n_blocks], block,
			 __ATOMIC_RELAXED);
	__atomic_store_n(&b->control->released, ++b->released, __ATOMIC_RELEASE);
}

int provider_buffer_new(struct provider_buffer **ret, const struct provider_buffer_options *options)
{
	_cleanup_(provider_buffer_freep) struct provider_buffer *b = NULL;
	int r;

	if (options->n_blocks < 1 || options->n_blocks > PROVIDER_BLOCKS_MAX ||
	    options->block_bytes < PROVIDER_BLOCK_MIN ||
	    options->block_bytes > PROVIDER_BLOCK_MAX ||
	    (options->block_bytes & (options->block_bytes - 1)) != 0 ||
	    options->mode < PROVIDER_ONESHOT || options->mode > PROVIDER_CIRCULAR)
		return -EINVAL;
	b = calloc(1, sizeof(*b));
	if (!b)
		return -ENOMEM;
	b->options = *options;
	b->data_fd = b->control_fd = -1;
	b->states = calloc(options->n_blocks, sizeof(*b->states));
	b->turns = calloc(options->n_blocks, sizeof(*b->turns));
	b->copy = malloc(options->block_bytes);
	if (!b->states || !b->turns || !b->copy)
		return -ENOMEM;
	r = provider_buffer_make_files(b);
	if (r < 0)
		return r;
	b->control->magic = PROVIDER_WIRE_MAGIC;
	for (uint32_t i = 0; options->mode != PROVIDER_CIRCULAR && i < options->n_blocks; i++)
		provider_buffer_release(b, i);
	*ret = TAKE_PTR(b);
	return 0;
}

struct provider_buffer *provider_buffer_free(struct provider_buffer *b)
{
	if (!b)
		return NULL;
	if (b->data)
		munmap((void *)b->data, b->data_bytes);
	if (b->control)
		munmap(b->control, sizeof(*b->control));
	close_fd(b->data_fd);
	close_fd(b->control_fd);
	free(b->states);
	free(b->turns);
	free(b->copy);
	return free_ptr(b);
}

int provider_buffer_data_fd(const struct provider_buffer *b)
{
	return b->data_fd;
}

int provider_buffer_control_fd(const struct provider_buffer *b)
{
	return b->control_fd;
}

/* ---- records ---- */

/* Loads the word at offset AT of the data file. */
static uint64_t provider_buffer_load(const struct provider_buffer *b, size_t at)
{
	return __atomic_load_n((const uint64_t *)(b->data + at), __ATOMIC_ACQUIRE);
}

static bool provider_buffer_is_busy(uint64_t head)
{
	return (head & PROVIDER_BUSY_MASK & ~UINT64_C(0xfff0)) == PROVIDER_BUSY_BITS;
}

enum step {
	STEP_RECORD,     /* a finished record of *RET_BYTES bytes */
	STEP_UNFINISHED, /* *RET_BYTES bytes without a finished record */
	STEP_END,        /* nothing more */
	STEP_GARBAGE,
};

/*
 * Examines the word that is AT bytes after offset BASE of the data file. The words up to LIMIT
 * bytes after BASE can be read. *RET_HEAD is the header of a record. Programs finish no record of 0
 * words, and write 0 before a record, so a word that is not 0 after a gap is a header.
 */
static enum step provider_buffer_step(const struct provider_buffer *b, size_t base, uint32_t at,
				      uint32_t limit, uint64_t *ret_head, uint32_t *ret_bytes)
{
	uint64_t head = provider_buffer_load(b, base + at);
	uint32_t bytes = (uint32_t)(fxt_get_record_words(head) * FXT_WORD_BYTES), to = at;

	if (head == 0) {
		while (to < limit && provider_buffer_load(b, base + to) == 0)
			to += FXT_WORD_BYTES;
		*ret_bytes = to - at;
		return to < limit ? STEP_UNFINISHED : STEP_END;
	}
	*ret_head = head;
	*ret_bytes = bytes;
	if (bytes == 0 || bytes > limit - at)
		return STEP_GARBAGE;
	return provider_buffer_is_busy(head) ? STEP_UNFINISHED : STEP_RECORD;
}

/* Copies a record, whose header is loaded already. */
static void provider_buffer_copy(const struct provider_buffer *b, size_t from, uint64_t head,
				 uint32_t bytes, uint64_t *to)
{
	memcpy(to, b->data + from, bytes);
	to[0] = head;
}

/* ---- the durable part ---- */

static int provider_buffer_pass_durable(struct provider_buffer *b, uint32_t at, uint64_t head,
					uint32_t bytes, provider_record_fn fn, void *userdata)
{
	if (bytes > sizeof(b->durable_copy)) {
		b->losses.garbage++;
		return 0;
	}
	provider_buffer_copy(b, PROVIDER_DURABLE_OFFSET + at, head, bytes, b->durable_copy);
	return fn(userdata, b->durable_copy, bytes / FXT_WORD_BYTES, true);
}

/* Reads the records in GAP that have been finished. Returns 1 if the gap is closed. */
static int provider_buffer_read_gap(struct provider_buffer *b, struct gap *gap, bool is_last,
				    provider_record_fn fn, void *userdata)
{
	uint64_t head;
	uint32_t bytes;
	int r;

	while (gap->from < gap->to) {
		switch (provider_buffer_step(b, PROVIDER_DURABLE_OFFSET, gap->from, gap->to, &head,
					     &bytes)) {
		case STEP_RECORD:
			r = provider_buffer_pass_durable(b, gap->from, head, bytes, fn, userdata);
			if (r < 0)
				return r;
			break;
		case STEP_GARBAGE:
			b->losses.garbage++;
			return 1;
		default:
			if (!is_last)
				return 0;
			b->losses.unfinished++;
		}
		gap->from += bytes;
	}
	return 1;
}

static int provider_buffer_read_gaps(struct provider_buffer *b, bool is_last, provider_record_fn fn,
				     void *userdata)
{
	unsigned n = 0;
	int r;

	for (unsigned i = 0; i < b->n_gaps; i++) {
		r = provider_buffer_read_gap(b, &b->gaps[i], is_last, fn, userdata);
		if (r < 0)
			return r;
		if (r == 0)
			b->gaps[n++] = b->gaps[i];
	}
	b->n_gaps = n;
	return 0;
}

/* Returns the bytes that a read of the durable part up to LIMIT can examine in vain. */
static uint32_t provider_buffer_gap_bytes(const struct provider_buffer *b, uint32_t limit)
{
	uint32_t sum = limit > b->durable_at ? limit - b->durable_at : 0;

	for (unsigned i = 0; i < b->n_gaps; i++)
		sum += b->gaps[i].to - b->gaps[i].from;
	return sum;
}

static int provider_buffer_read_durable(struct provider_buffer *b, bool is_last,
					provider_record_fn fn, void *userdata)
{
	uint64_t used = provider_buffer_load(b, offsetof(struct provider_data, durable_used)), head;
	uint32_t limit = used > PROVIDER_DURABLE_BYTES ? PROVIDER_DURABLE_BYTES
						       : (uint32_t)(used & ~UINT64_C(7));
	uint32_t bytes;
	int r;

	/*
	 * Otherwise, a program could make the read of each block search gaps of the size of the
	 * durable part.
	 */
	if (b->durable_budget < provider_buffer_gap_bytes(b, limit))
		return 0;
	b->durable_budget -= provider_buffer_gap_bytes(b, limit);
	r = provider_buffer_read_gaps(b, is_last, fn, userdata);
	while (r == 0 && b->durable_at < limit) {
		switch (provider_buffer_step(b, PROVIDER_DURABLE_OFFSET, b->durable_at, limit,
					     &head, &bytes)) {
		case STEP_RECORD:
			r = provider_buffer_pass_durable(b, b->durable_at, head, bytes, fn,
							 userdata);
			break;
		case STEP_UNFINISHED:
			/*
			 * The unfinished record becomes a gap. Strings behind it can be in use
			 * already, so they are read now.
			 */
			if (is_last)
				b->losses.unfinished++;
			else if (b->n_gaps < GAPS_MAX)
				b->gaps[b->n_gaps++] =
					(struct gap){ b->durable_at, b->durable_at + bytes };
			else
				return 0;
			break;
		case STEP_END:
			return 0;
		case STEP_GARBAGE:
			b->losses.garbage++;
			bytes = PROVIDER_DURABLE_BYTES - b->durable_at;
			break;
		}
		b->durable_at += bytes;
	}
	return r;
}

/* ---- blocks ---- */

static size_t provider_buffer_row(uint32_t block)
{
	return PROVIDER_TABLE_OFFSET + block * sizeof(struct provider_block);
}

/* Lists the blocks with something to read, in the order of their numbers. */
static uint32_t provider_buffer_list(struct provider_buffer *b)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->options.n_blocks; i++) {
		struct block_state *s = &b->states[i];
		uint64_t number = provider_buffer_load(b, provider_buffer_row(i));

		if (number == 0 || (s->is_free && number == s->number))
			continue;
		if (b->options.mode == PROVIDER_CIRCULAR || number != s->number)
			*s = (struct block_state){ .number = number };
		b->turns[n++] = (struct turn){ number, i };
	}
	SORT(b->turns, n, provider_buffer_order);
	return n;
}

/* A gap of BYTES bytes in a copy: a header without a size, which no record has. */
static uint64_t provider_buffer_gap(uint32_t bytes)
{
	return (uint64_t)bytes << 16;
}

/*
 * Copies the new finished records of BLOCK to b->copy, each to its place in the block, with gaps
 * between them. Returns the place behind the last record. *RET_DONE is set to true if the block has
 * been read to its end.
 */
static uint32_t provider_buffer_copy_block(struct provider_buffer *b, uint32_t block, bool is_last,
					   bool *ret_done)
{
	struct block_state *s = &b->states[block];
	uint64_t end = provider_buffer_load(b, provider_buffer_row(block) +
						       offsetof(struct provider_block, end));
	size_t base = PROVIDER_BLOCKS_OFFSET + (size_t)block * b->options.block_bytes;
	uint32_t limit = b->options.block_bytes, bytes;
	uint64_t head;

	if (end > 0 && (end - 1 > limit || (end - 1) % FXT_WORD_BYTES != 0 || end - 1 < s->at))
		s->is_bad = true;
	else if (end > 0)
		limit = (uint32_t)(end - 1);
	while (!s->is_bad && s->at < limit) {
		enum step step;

		/* (an unfinished record is here; the length of this gap does not matter yet) */
		if (!is_last && provider_buffer_load(b, base + s->at) == 0)
			break;
		step = provider_buffer_step(b, base, s->at, limit, &head, &bytes);

		if (step == STEP_GARBAGE)
			s->is_bad = true;
		if (s->is_bad || (!is_last && (step == STEP_END || step == STEP_UNFINISHED)))
			break;
		if (step == STEP_RECORD) {
			provider_buffer_copy(b, base + s->at, head, bytes,
					     b->copy + s->at / FXT_WORD_BYTES);
		} else if (step == STEP_UNFINISHED || end > 0) {
			b->copy[s->at / FXT_WORD_BYTES] = provider_buffer_gap(bytes);
		} else {
			/* The block is in use, and nothing more was begun. */
			break;
		}
		s->at += bytes;
	}
	*ret_done = end > 0 && (s->is_bad || s->at >= limit);
	return s->at;
}

/* Passes the copied records from S->at to END, and counts gaps. Sets S->at behind them. */
static int provider_buffer_pass_block(struct provider_buffer *b, struct block_state *s,
				      uint32_t end, provider_record_fn fn, void *userdata)
{
	int r = 0;

	while (s->at < end) {
		const uint64_t *words = b->copy + s->at / FXT_WORD_BYTES;
		uint32_t n = (uint32_t)fxt_get_record_words(words[0]);

		if (n == 0)
			b->losses.unfinished++;
		else
			r = fn(userdata, words, n, false);
		if (r != 0)
			break;
		s->at += n ? n * FXT_WORD_BYTES : (uint32_t)(words[0] >> 16);
	}
	return r;
}

static int provider_buffer_read_block(struct provider_buffer *b, uint32_t block, bool is_last,
				      provider_record_fn fn, void *userdata)
{
	struct block_state *s = &b->states[block], before = *s;
	bool is_circular = b->options.mode == PROVIDER_CIRCULAR, done;
	uint32_t end = provider_buffer_copy_block(b, block, is_last || is_circular, &done);
	int r;

	if (is_circular) {
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (provider_buffer_load(b, provider_buffer_row(block)) != s->number) {
			b->losses.changed++;
			return 0;
		}
	}
	/*
	 * A program finishes a string before it refers to the string, so all strings of the copied
	 * records can be read now.
	 */
	r = provider_buffer_read_durable(b, is_last, fn, userdata)
		    ?: provider_buffer_pass_block(b, &before, end, fn, userdata);
	if (r > 0) {
		*s = before; /* the rest is copied again */
		return r;
	}
	b->losses.garbage += s->is_bad && !before.is_bad;
	if (done && b->options.mode == PROVIDER_STREAMING)
		provider_buffer_release(b, block);
	return r;
}

int provider_buffer_read(struct provider_buffer *b, bool is_last, provider_record_fn fn,
			 void *userdata)
{
	uint32_t n = provider_buffer_list(b);
	int r = 0, later = 0;

	b->durable_budget = DURABLE_READS * PROVIDER_DURABLE_BYTES;
	for (uint32_t i = 0; i < n; i++) {
		r = provider_buffer_read_block(b, b->turns[i].block, is_last, fn, userdata);
		if (r < 0 || r == PROVIDER_READ_ENDS)
			return r;
		later |= r;
	}
	return provider_buffer_read_durable(b, is_last, fn, userdata) ?: later;
}

/* ---- losses ---- */

static void provider_buffer_add_up(const struct provider_buffer *b, size_t member, uint64_t *total)
{
	uint64_t sum = 0, n;

	for (size_t i = 0; i < PROVIDER_SLOTS; i++) {
		n = provider_buffer_load(b, offsetof(struct provider_data, counters) +
						    i * sizeof(struct provider_counters) + member);
		sum += n < COUNTER_MAX ? n : COUNTER_MAX;
	}
	if (sum > COUNTER_MAX)
		sum = COUNTER_MAX;
	if (sum > *total)
		*total = sum;
}

void provider_buffer_losses(struct provider_buffer *b, struct provider_losses *ret)
{
	struct provider_losses *l = &b->losses;

	provider_buffer_add_up(b, offsetof(struct provider_counters, full), &l->full);
	provider_buffer_add_up(b, offsetof(struct provider_counters, large), &l->large);
	provider_buffer_add_up(b, offsetof(struct provider_counters, overwritten), &l->overwritten);
	provider_buffer_add_up(b, offsetof(struct provider_counters, durable), &l->durable);
	*ret = *l;
}
