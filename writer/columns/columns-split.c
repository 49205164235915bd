/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "writer/columns/columns-split.h"

#include <assert.h>
#include <stdlib.h>

enum {
	HASH_BITS = 13,
	HASH_SIZE = 1 << HASH_BITS,
	VARINT_BYTES_MAX = 10,
	ID_PER_RECORD = 3,

	/* The maximum number of bytes that one record adds to COLUMNS_EXCEPTIONS: four words (a new
	 * shape and three others), and as varints, new ids, a time, two CPUs, and the length of the
	 * literal before the record. OTHER_BYTES_MAX is the maximum for each other stream of
	 * records. */
	EXCEPTION_BYTES_MAX = (1 + 3) * FXT_WORD_BYTES + (ID_PER_RECORD + 4) * VARINT_BYTES_MAX,
	OTHER_BYTES_MAX = ID_PER_RECORD,
};

_Static_assert(HASH_SIZE >= 2 * COLUMNS_ID_MAX, "a free slot ends each search");

struct columns_split {
	struct columns_model model;
	uint8_t *at[COLUMNS_STREAM_MAX];
	uint8_t *begin[COLUMNS_STREAM_MAX];
	uint16_t slots
		[HASH_SIZE]; /* ids by koid; 0 = free (the idle thread has id 0 without a slot) */
	size_t n_max;
	uint8_t *room; /* owned */
};

/* Returns the size of STREAM's buffer that is sufficient for any input of N bytes. */
static size_t columns_split_room(enum columns_stream stream, size_t n)
{
	size_t records = n / COLUMNS_SCHED_BYTES_MIN + 2;

	if (stream == COLUMNS_LITERALS)
		return n + 8;
	return records * (stream == COLUMNS_EXCEPTIONS ? EXCEPTION_BYTES_MAX : OTHER_BYTES_MAX);
}

struct columns_split *columns_split_new(size_t n_max)
{
	struct columns_split *s = calloc(1, sizeof(*s));
	size_t room = 0;

	for (unsigned i = 0; i < COLUMNS_STREAM_MAX; i++)
		room += columns_split_room(i, n_max);
	if (s)
		s->room = malloc(room);
	if (!s || !s->room)
		return columns_split_free(s);
	s->n_max = n_max;
	for (unsigned i = 0, at = 0; i < COLUMNS_STREAM_MAX; i++) {
		s->begin[i] = s->room + at;
		at += columns_split_room(i, n_max);
	}
	return s;
}

struct columns_split *columns_split_free(struct columns_split *s)
{
	if (s)
		free(s->room);
	free(s);
	return NULL;
}

static inline void columns_split_byte(struct columns_split *s, enum columns_stream stream,
				      unsigned byte)
{
	*s->at[stream]++ = (uint8_t)byte;
}

static void columns_split_varint(struct columns_split *s, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		columns_split_byte(s, COLUMNS_EXCEPTIONS, (unsigned)(value & 0x7f) | 0x80);
	columns_split_byte(s, COLUMNS_EXCEPTIONS, (unsigned)value);
}

static void columns_split_word(struct columns_split *s, uint64_t word)
{
	columns_put_word(s->at[COLUMNS_EXCEPTIONS], word);
	s->at[COLUMNS_EXCEPTIONS] += sizeof(word);
}

static unsigned columns_split_slot_of(uint64_t koid)
{
	return (unsigned)(koid * UINT64_C(0x9e3779b97f4a7c15) >> (64 - HASH_BITS));
}

/* Returns the id of KOID; n_ids if it has no id. */
static inline unsigned columns_split_find_id(struct columns_split *s, uint64_t koid,
					     unsigned *ret_slot)
{
	unsigned slot = columns_split_slot_of(koid), id;

	if (koid == 0)
		return 0;
	while ((id = s->slots[slot]) != 0 && s->model.ids[id].koid != koid)
		slot = (slot + 1) % HASH_SIZE;
	*ret_slot = slot;
	return id ? id : s->model.n_ids;
}

/* Writes KOID and returns its id. */
static inline unsigned columns_split_id(struct columns_split *s, uint64_t koid)
{
	unsigned slot = 0, id = columns_split_find_id(s, koid, &slot);
	uint64_t difference;

	columns_split_byte(s, COLUMNS_IDS_LOW, id & 0xff);
	columns_split_byte(s, COLUMNS_IDS_HIGH, id >> 8);
	if (id < s->model.n_ids)
		return id;
	s->slots[slot] = (uint16_t)id;
	difference = koid - s->model.koid;
	columns_split_varint(s, difference << 1 ^ (uint64_t)((int64_t)difference >> 63));
	columns_add_id(&s->model, koid);
	return id;
}

static inline void columns_split_cpu(struct columns_split *s, unsigned cpu, unsigned expected)
{
	unsigned code = cpu ^ expected;

	if (code < COLUMNS_CPU_NONE) {
		columns_split_byte(s, COLUMNS_CPUS, code);
		return;
	}
	columns_split_byte(s, COLUMNS_CPUS, COLUMNS_CPU_LONG);
	columns_split_varint(s, cpu);
}

static inline void columns_split_time(struct columns_split *s, uint64_t time, unsigned shape)
{
	uint64_t passed = time - s->model.time, high = passed >> 8;
	unsigned group = columns_time_group(shape);

	s->model.time = time;
	columns_split_byte(s, COLUMNS_TIMES_LOW + group, (unsigned)passed & 0xff);
	if (high < COLUMNS_TIME_LONG) {
		columns_split_byte(s, COLUMNS_TIMES_HIGH + group, (unsigned)high);
		return;
	}
	columns_split_byte(s, COLUMNS_TIMES_HIGH + group, COLUMNS_TIME_LONG);
	columns_split_varint(s, high);
}

/* Returns the number of the shape of HEAD; n_shapes if it is new. */
static inline unsigned columns_split_find_shape(const struct columns_model *m, uint64_t head)
{
	uint64_t shape = columns_without_cpu(head);
	unsigned i = 0;

	while (i < m->n_shapes && m->shapes[i].head != shape)
		i++;
	return i;
}

static void columns_split_switch(struct columns_split *s, const uint64_t *w, unsigned n,
				 unsigned shape)
{
	struct columns_model *m = &s->model;
	unsigned cpu = (unsigned)fxt_get_sched_cpu(w[0]), out, in, op = shape;
	uint64_t *last = &m->shapes[shape].word;
	uint8_t *at = s->at[COLUMNS_OPERATIONS]++;

	if (cpu != m->cpu) {
		op |= COLUMNS_OTHER_CPU;
		columns_split_cpu(s, cpu, m->cpu);
	}
	out = m->cpus[cpu].running;
	if (m->ids[out].koid != w[2]) {
		op |= COLUMNS_OTHER_ACTOR;
		out = columns_split_id(s, w[2]);
	}
	in = m->cpus[cpu].next;
	if (m->ids[in].koid != w[3]) {
		op |= COLUMNS_OTHER_THREAD;
		in = columns_split_id(s, w[3]);
	}
	columns_split_time(s, w[1], shape);
	if (w[4] != columns_weight_word(m, COLUMNS_OUTGOING, &m->ids[out]) ||
	    w[5] != columns_weight_word(m, COLUMNS_INCOMING, &m->ids[in]) ||
	    (n > 6 && w[6] != *last)) {
		op |= COLUMNS_OTHER_WORDS;
		for (unsigned i = 4; i < n; i++)
			columns_split_word(s, w[i]);
		columns_learn_weight(m, COLUMNS_OUTGOING, &m->ids[out], w[4]);
		columns_learn_weight(m, COLUMNS_INCOMING, &m->ids[in], w[5]);
		if (n > 6)
			*last = w[6];
	}
	*at = (uint8_t)op;
	columns_after_switch(m, cpu, out, in);
}

static void columns_split_wakeup(struct columns_split *s, const uint64_t *w, unsigned n,
				 unsigned shape)
{
	struct columns_model *m = &s->model;
	unsigned cpu = (unsigned)fxt_get_sched_cpu(w[0]), waker, woken, op = shape;
	unsigned waker_cpu = m->actor_cpu;
	uint64_t *last = &m->shapes[shape].word;
	uint8_t *at = s->at[COLUMNS_OPERATIONS]++;

	waker = m->cpus[waker_cpu].running;
	if (m->ids[waker].koid != w[5]) {
		unsigned slot = 0;

		op |= COLUMNS_OTHER_ACTOR;
		waker = columns_split_find_id(s, w[5], &slot);
		if (waker < m->n_ids && m->cpus[m->ids[waker].cpu].running == waker) {
			waker_cpu = m->ids[waker].cpu;
			columns_split_cpu(s, waker_cpu, m->actor_cpu);
		} else {
			columns_split_byte(s, COLUMNS_CPUS, COLUMNS_CPU_NONE);
			waker = columns_split_id(s, w[5]);
		}
	}
	woken = m->ids[waker].woke;
	if (m->ids[woken].koid != w[2]) {
		op |= COLUMNS_OTHER_THREAD;
		woken = columns_split_id(s, w[2]);
	}
	if (cpu != m->ids[woken].cpu) {
		op |= COLUMNS_OTHER_CPU;
		columns_split_cpu(s, cpu, m->ids[woken].cpu);
	}
	columns_split_time(s, w[1], shape);
	if (n > 7)
		columns_split_id(s, w[7]);
	if (w[3] != columns_weight_word(m, COLUMNS_WOKEN, &m->ids[woken]) ||
	    w[4] != m->waker_head || (n > 6 && w[6] != *last)) {
		op |= COLUMNS_OTHER_WORDS;
		columns_split_word(s, w[3]);
		columns_split_word(s, w[4]);
		columns_learn_weight(m, COLUMNS_WOKEN, &m->ids[woken], w[3]);
		m->waker_head = w[4];
		if (n > 6) {
			columns_split_word(s, w[6]);
			*last = w[6];
		}
	}
	*at = (uint8_t)op;
	columns_after_wakeup(m, cpu, waker, waker_cpu, woken);
}

static void columns_split_literal(struct columns_split *s, const uint8_t *data, size_t n)
{
	if (n == 0)
		return;
	columns_split_byte(s, COLUMNS_OPERATIONS, COLUMNS_LITERAL);
	columns_split_varint(s, n);
	memcpy(s->at[COLUMNS_LITERALS], data, n);
	s->at[COLUMNS_LITERALS] += n;
}

/* Returns true if the record at the beginning of N bytes can be split into columns. */
static inline bool columns_split_can(const struct columns_split *s, uint64_t head, size_t n)
{
	return columns_has_shape(head) && fxt_get_record_words(head) * FXT_WORD_BYTES <= n &&
	       fxt_get_sched_cpu(head) < COLUMNS_CPU_MAX &&
	       s->model.n_ids + ID_PER_RECORD <= COLUMNS_ID_MAX &&
	       columns_split_find_shape(&s->model, head) < COLUMNS_SHAPE_MAX;
}

static inline void columns_split_record(struct columns_split *s, const uint8_t *p, uint64_t head)
{
	unsigned n = (unsigned)fxt_get_record_words(head),
		 shape = columns_split_find_shape(&s->model, head);
	uint64_t words[COLUMNS_SCHED_WORDS_MAX];

	if (shape == s->model.n_shapes) {
		uint64_t without_cpu = columns_without_cpu(head);

		s->model.shapes[s->model.n_shapes++] = (struct columns_shape){ without_cpu, 0 };
		columns_split_word(s, without_cpu);
	}
	for (unsigned i = 0; i < n; i++)
		words[i] = columns_get_word(p + i * FXT_WORD_BYTES);
	if (columns_is_switch(head))
		columns_split_switch(s, words, n, shape);
	else
		columns_split_wakeup(s, words, n, shape);
}

static void columns_split_begin(struct columns_split *s)
{
	columns_model_init(&s->model);
	memset(s->slots, 0, sizeof(s->slots));
	memcpy(s->at, s->begin, sizeof(s->at));
}

/* Returns the total size of all streams. */
static size_t columns_split_end(const struct columns_split *s,
				struct columns_bytes ret[COLUMNS_STREAM_MAX])
{
	size_t sum = 0;

	for (unsigned i = 0; i < COLUMNS_STREAM_MAX; i++) {
		ret[i] = (struct columns_bytes){ s->begin[i], (size_t)(s->at[i] - s->begin[i]) };
		sum += ret[i].n;
	}
	return sum;
}

void columns_split(struct columns_split *s, const uint8_t *data, size_t n,
		   struct columns_bytes ret[COLUMNS_STREAM_MAX])
{
	size_t at = 0, literal = 0;

	assert(n <= s->n_max);
	columns_split_begin(s);
	while (n - at >= FXT_WORD_BYTES) {
		uint64_t head = columns_get_word(data + at), words = fxt_get_record_words(head);
		size_t size = (words ? words : 1) * FXT_WORD_BYTES;
		bool can = columns_split_can(s, head, n - at);

		if (can) {
			columns_split_literal(s, data + literal, at - literal);
			columns_split_record(s, data + at, head);
			literal = at + size;
		}
		if (size > n - at)
			break;
		at += size;
	}
	columns_split_literal(s, data + literal, n - literal);
	if (columns_split_end(s, ret) <= n + COLUMNS_EXTRA_BYTES)
		return;
	/* The predictions were so bad that the streams are too long. Storing all data as one
	 * literal is shorter. */
	columns_split_begin(s);
	columns_split_literal(s, data, n);
	columns_split_end(s, ret);
}
