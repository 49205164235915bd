/* SPDX-License-Identifier: MIT */
/*
 * The buffers of recordings. A slot (one per CPU) has a current block. A record is reserved by one
 * atomic addition to the slot's word. The word has both the block and the offset, so a reservation
 * is never in a block that was replaced. The header of a record is written last: until then, 0 or
 * the header of a busy record is in its place.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "provider/provider-state.h"

struct provider_state *provider_state;

static int init_result;

static void provider_session_init_once(void)
{
	void *p = mmap(NULL, sizeof(*provider_state), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, sizeof(*provider_state), MADV_WIPEONFORK) < 0 ||
	    provider_strings_init() < 0)
		init_result = -ENOMEM;
	else
		provider_state = p;
}

int provider_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, provider_session_init_once);
	return init_result;
}

bool provider_session_enter(struct provider_session *s)
{
	__atomic_fetch_add(&s->slow, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&s->on, __ATOMIC_SEQ_CST))
		return true;
	provider_session_leave(s);
	return false;
}

void provider_session_leave(struct provider_session *s)
{
	__atomic_fetch_sub(&s->slow, 1, __ATOMIC_SEQ_CST);
}

/* ---- records ---- */

static bool provider_session_is_busy(uint64_t head)
{
	return head == 0 || (head & PROVIDER_BUSY_MASK & ~UINT64_C(0xfff0)) == PROVIDER_BUSY_BITS;
}

void provider_session_append(struct provider_session *s, const uint64_t *words, unsigned n)
{
	uint64_t bytes = n * sizeof(*words), at;
	uint64_t *to;

	at = __atomic_load_n(&s->data->durable_used, __ATOMIC_RELAXED);
	if (at + bytes <= PROVIDER_DURABLE_BYTES)
		at = __atomic_fetch_add(&s->data->durable_used, bytes, __ATOMIC_RELAXED);
	if (at + bytes > PROVIDER_DURABLE_BYTES) {
		__atomic_fetch_add(&s->data->counters[0].durable, 1, __ATOMIC_RELAXED);
		return;
	}
	to = (uint64_t *)((uint8_t *)s->data + PROVIDER_DURABLE_OFFSET + at);
	__atomic_store_n(to, PROVIDER_BUSY_BITS | fxt_put_record_words(n), __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	memcpy(to + 1, words + 1, bytes - sizeof(*words));
	__atomic_store_n(to, words[0], __ATOMIC_RELEASE);
}

/* ---- blocks ---- */

static uint8_t *provider_session_block(struct provider_session *s, uint32_t block)
{
	return s->blocks + block * s->block_bytes;
}

void provider_session_end_block(struct provider_session *s, uint64_t word)
{
	struct provider_block *b = &s->table[(word >> PROVIDER_WORD_BLOCK) - 1];

	__atomic_store_n(&b->end, PROVIDER_OFFSET(word) + 1, __ATOMIC_RELEASE);
}

/* Returns true if all records of BLOCK up to END are finished; *RET_N is the number of finished
 * records. */
static bool provider_session_is_complete(struct provider_session *s, uint32_t block, uint64_t end,
					 uint64_t *ret_n)
{
	const uint8_t *p = provider_session_block(s, block);
	uint64_t at = 0, head;

	*ret_n = 0;
	for (; at < end && at < s->block_bytes; (*ret_n)++) {
		head = __atomic_load_n((const uint64_t *)(p + at), __ATOMIC_ACQUIRE);
		if (provider_session_is_busy(head) || fxt_get_record_words(head) == 0)
			return false;
		at += fxt_get_record_words(head) * FXT_WORD_BYTES;
	}
	return true;
}

/* Clears BLOCK, which the caller has taken, and sets its number. */
static void provider_session_prepare(struct provider_session *s, uint32_t block, uint64_t number)
{
	struct provider_block *b = &s->table[block];

	__atomic_store_n(&b->number, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&b->end, 0, __ATOMIC_RELAXED);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	memset(provider_session_block(s, block), 0, s->block_bytes);
	__atomic_store_n(&b->number, number, __ATOMIC_RELEASE);
}

/* Takes the oldest block without unfinished records, for circular buffers. Returns its index; -1 =
 * none. */
static int64_t provider_session_take_oldest(struct provider_session *s, unsigned slot)
{
	for (uint32_t tries = 0; tries < s->n_blocks; tries++) {
		uint64_t taken = __atomic_fetch_add(&s->taken, 1, __ATOMIC_ACQ_REL), n;
		uint32_t block = (uint32_t)(taken % s->n_blocks);
		struct provider_block *b = &s->table[block];
		uint64_t end = __atomic_load_n(&b->end, __ATOMIC_ACQUIRE);

		if (end == 0 || !__atomic_compare_exchange_n(&b->end, &end, 0, false,
							     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			continue;
		if (!provider_session_is_complete(s, block, end - 1, &n)) {
			__atomic_store_n(&b->end, end, __ATOMIC_RELEASE);
			continue;
		}
		__atomic_fetch_add(&s->data->counters[slot].overwritten, n, __ATOMIC_RELAXED);
		provider_session_prepare(s, block, taken + 1);
		return block;
	}
	return -1;
}

/* Takes the next free block. Returns its index; -1 = none. */
static int64_t provider_session_take(struct provider_session *s, unsigned slot)
{
	uint64_t taken = __atomic_load_n(&s->taken, __ATOMIC_ACQUIRE);
	uint32_t block;

	if (s->mode == PROVIDER_CIRCULAR)
		return provider_session_take_oldest(s, slot);
	do {
		if (taken >= __atomic_load_n(&s->control->released, __ATOMIC_ACQUIRE))
			return -1;
		block = __atomic_load_n(&s->control->ring[taken % s->n_blocks], __ATOMIC_RELAXED);
	} while (!__atomic_compare_exchange_n(&s->taken, &taken, taken + 1, false, __ATOMIC_ACQ_REL,
					      __ATOMIC_ACQUIRE));
	if (block >= s->n_blocks)
		return -1;
	provider_session_prepare(s, block, taken + 1);
	return block;
}

static uint64_t *provider_session_reserve_entered(struct provider_session *s, unsigned slot,
						  uint64_t bytes)
{
	struct provider_counters *counters = &s->data->counters[slot];
	uint64_t *word = &s->slots[slot].word, w;
	int64_t block;

	if (bytes > s->block_bytes || bytes > FXT_RECORD_WORDS_MAX * FXT_WORD_BYTES) {
		__atomic_fetch_add(&counters->large, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	for (;;) {
		w = __atomic_load_n(word, __ATOMIC_ACQUIRE);
		if (w >> PROVIDER_WORD_BLOCK && PROVIDER_OFFSET(w) + bytes <= s->block_bytes) {
			w = __atomic_fetch_add(word, bytes, __ATOMIC_ACQ_REL);
			if (PROVIDER_OFFSET(w) + bytes <= s->block_bytes)
				return (uint64_t *)(provider_session_block(
							    s,
							    (uint32_t)(w >> PROVIDER_WORD_BLOCK) -
								    1) +
						    PROVIDER_OFFSET(w));
			if (PROVIDER_OFFSET(w) <= s->block_bytes)
				provider_session_end_block(s, w);
			continue;
		}
		block = provider_session_take(s, slot);
		if (block < 0) {
			__atomic_fetch_add(&counters->full, 1, __ATOMIC_RELAXED);
			return NULL;
		}
		if (__atomic_compare_exchange_n(
			    word, &w, ((uint64_t)block + 1) << PROVIDER_WORD_BLOCK | bytes, false,
			    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			if (w >> PROVIDER_WORD_BLOCK && PROVIDER_OFFSET(w) <= s->block_bytes)
				provider_session_end_block(s, w);
			return (uint64_t *)provider_session_block(s, (uint32_t)block);
		}
		/* Another thread has changed the slot's word first: give the block back, empty. */
		__atomic_store_n(&s->table[block].end, 1, __ATOMIC_RELEASE);
	}
}

uint64_t *provider_session_reserve_slow(struct provider_session *s, unsigned slot, uint64_t bytes)
{
	uint64_t *p;

	if (!provider_session_enter(s))
		return NULL;
	p = provider_session_reserve_entered(s, slot, bytes);
	provider_session_leave(s);
	return p;
}

/* ---- begin and end ---- */

static size_t provider_session_bytes(const struct provider_message *m)
{
	return PROVIDER_BLOCKS_OFFSET + (size_t)m->n_blocks * m->block_bytes;
}

static int provider_session_check(const struct provider_message *m, int data_fd, int control_fd)
{
	struct stat data, control;

	if (m->version != PROVIDER_WIRE_VERSION)
		return -EPROTONOSUPPORT;
	if (m->mode < PROVIDER_ONESHOT || m->mode > PROVIDER_CIRCULAR || m->n_blocks < 1 ||
	    m->n_blocks > PROVIDER_BLOCKS_MAX || m->block_bytes < PROVIDER_BLOCK_MIN ||
	    m->block_bytes > PROVIDER_BLOCK_MAX || (m->block_bytes & (m->block_bytes - 1)) ||
	    m->text_bytes >= PROVIDER_CATEGORIES_MAX || m->session == 0 ||
	    (m->clock != PROVIDER_CLOCK_BOOTTIME && m->clock != PROVIDER_CLOCK_TSC))
		return -EINVAL;
	if (fstat(data_fd, &data) < 0 || fstat(control_fd, &control) < 0)
		return -errno;
	return (uint64_t)data.st_size < provider_session_bytes(m) ||
			       (uint64_t)control.st_size < sizeof(struct provider_control)
		       ? -EINVAL
		       : 0;
}

int provider_session_begin(const struct provider_message *m, int data_fd, int control_fd)
{
	struct provider_session *s = NULL;
	size_t bytes = provider_session_bytes(m);
	unsigned i;
	void *data, *control;
	int r = provider_session_check(m, data_fd, control_fd);

	if (r < 0)
		return r;
	for (i = 0; i < PROVIDER_SESSIONS && !s; i++)
		if (!provider_state->sessions[i].used)
			s = &provider_state->sessions[i];
	if (!s)
		return -EBUSY;
	i--;
	/* A process has one clock, since an event has the same time in all recordings. */
	if (provider_state->active && provider_state->clock != m->clock)
		return -EINVAL;
	data = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, data_fd, 0);
	if (data == MAP_FAILED)
		return -errno;
	control = mmap(NULL, sizeof(*s->control), PROT_READ, MAP_SHARED, control_fd, 0);
	if (control == MAP_FAILED) {
		r = -errno;
		munmap(data, bytes);
		return r;
	}
	__atomic_store_n(&provider_state->clock, m->clock, __ATOMIC_RELAXED);
	s->data = data;
	s->data_bytes = bytes;
	s->control = control;
	s->table = (struct provider_block *)((uint8_t *)data + PROVIDER_TABLE_OFFSET);
	s->blocks = (uint8_t *)data + PROVIDER_BLOCKS_OFFSET;
	s->block_bytes = m->block_bytes;
	s->n_blocks = m->n_blocks;
	s->mode = m->mode;
	s->id = m->session;
	s->taken = 0;
	s->used = true;
	s->ending = s->closed = false;
	memcpy(s->patterns, m->text, m->text_bytes);
	s->patterns[m->text_bytes] = 0;
	for (uint32_t b = 0; m->mode == PROVIDER_CIRCULAR && b < m->n_blocks; b++)
		s->table[b].end = 1;
	s->data->magic = PROVIDER_WIRE_MAGIC;
	provider_strings_forget(i);
	__atomic_store_n(&s->on, 1, __ATOMIC_SEQ_CST);
	__atomic_fetch_or(&provider_state->active, 1U << i, __ATOMIC_SEQ_CST);
	provider_strings_begin();
	provider_event_begin(i);
	return 0;
}

void provider_session_turn_on(uint64_t id)
{
	for (unsigned i = 0; i < PROVIDER_SESSIONS; i++)
		if (provider_state->sessions[i].used && !provider_state->sessions[i].ending &&
		    provider_state->sessions[i].id == id)
			provider_categories_set(i, provider_state->sessions[i].patterns);
}

static void provider_session_turn_off(unsigned i)
{
	struct provider_session *s = &provider_state->sessions[i];

	provider_categories_set(i, NULL);
	__atomic_fetch_and(&provider_state->active, ~(1U << i), __ATOMIC_SEQ_CST);
	__atomic_store_n(&s->on, 0, __ATOMIC_SEQ_CST);
	s->ending = true;
}

void provider_session_end(uint64_t id)
{
	for (unsigned i = 0; i < PROVIDER_SESSIONS; i++)
		if (provider_state->sessions[i].used && !provider_state->sessions[i].ending &&
		    provider_state->sessions[i].id == id)
			provider_session_turn_off(i);
}

void provider_session_end_all(void)
{
	for (unsigned i = 0; i < PROVIDER_SESSIONS; i++)
		if (provider_state->sessions[i].used && !provider_state->sessions[i].ending)
			provider_session_turn_off(i);
}

/* Ends all blocks of S, which is off. Returns true if no thread uses the mappings of S any more. */
static bool provider_session_is_quiet(struct provider_session *s)
{
	uint64_t word, n;

	/* (a thread in provider_session_enter() can still give a slot a new block) */
	if (__atomic_load_n(&s->slow, __ATOMIC_SEQ_CST))
		return false;
	for (unsigned i = 0; !s->closed && i < PROVIDER_SLOTS; i++) {
		word = __atomic_exchange_n(&s->slots[i].word, 0, __ATOMIC_SEQ_CST);
		if (word >> PROVIDER_WORD_BLOCK && PROVIDER_OFFSET(word) <= s->block_bytes)
			provider_session_end_block(s, word);
	}
	s->closed = true;
	for (uint32_t b = 0; b < s->n_blocks; b++) {
		struct provider_block *row = &s->table[b];
		uint64_t end = __atomic_load_n(&row->end, __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&row->number, __ATOMIC_ACQUIRE) == 0)
			continue;
		if (end == 0 || !provider_session_is_complete(s, b, end - 1, &n))
			return false;
	}
	return true;
}

uint64_t provider_session_reap(void)
{
	for (unsigned i = 0; i < PROVIDER_SESSIONS; i++) {
		struct provider_session *s = &provider_state->sessions[i];

		if (!s->ending || !provider_session_is_quiet(s))
			continue;
		munmap(s->data, s->data_bytes);
		munmap((void *)s->control, sizeof(*s->control));
		s->ending = s->used = false;
		return s->id;
	}
	return 0;
}

bool provider_session_has_ending(void)
{
	for (unsigned i = 0; i < PROVIDER_SESSIONS; i++)
		if (provider_state->sessions[i].ending)
			return true;
	return false;
}
