/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reading beyond the end of a stream returns zeros and sets a flag. The flag is checked once per
 * operation, so each byte needs only one comparison.
 */
#include "reader/columns/columns-join.h"

#include <errno.h>
#include <stdlib.h>

struct columns_join {
	struct columns_model model;
	const uint8_t *at[COLUMNS_STREAM_MAX], *end[COLUMNS_STREAM_MAX];
	bool bad;
};

struct columns_join *columns_join_new(void)
{
	return malloc(sizeof(struct columns_join));
}

struct columns_join *columns_join_free(struct columns_join *j)
{
	free(j);
	return NULL;
}

static inline unsigned columns_join_byte(struct columns_join *j, enum columns_stream stream)
{
	if (j->at[stream] < j->end[stream])
		return *j->at[stream]++;
	j->bad = true;
	return 0;
}

static uint64_t columns_join_varint(struct columns_join *j)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		unsigned byte = columns_join_byte(j, COLUMNS_EXCEPTIONS);

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return value;
	}
	j->bad = true;
	return 0;
}

static uint64_t columns_join_word(struct columns_join *j)
{
	const uint8_t *p = j->at[COLUMNS_EXCEPTIONS];

	if (j->end[COLUMNS_EXCEPTIONS] - p < (ptrdiff_t)sizeof(uint64_t)) {
		j->bad = true;
		return 0;
	}
	j->at[COLUMNS_EXCEPTIONS] += sizeof(uint64_t);
	return columns_get_word(p);
}

static inline unsigned columns_join_id(struct columns_join *j)
{
	unsigned id = columns_join_byte(j, COLUMNS_IDS_LOW);
	uint64_t code;

	id |= columns_join_byte(j, COLUMNS_IDS_HIGH) << 8;
	if (id < j->model.n_ids)
		return id;
	code = columns_join_varint(j);
	if (id > j->model.n_ids || id >= COLUMNS_ID_MAX || j->bad) {
		j->bad = true;
		return 0;
	}
	columns_add_id(&j->model, j->model.koid + (code >> 1 ^ -(code & 1)));
	return id;
}

static inline unsigned columns_join_cpu(struct columns_join *j, unsigned code, unsigned expected)
{
	uint64_t cpu = code == COLUMNS_CPU_LONG ? columns_join_varint(j) : code ^ expected;

	if (code != COLUMNS_CPU_NONE && cpu < COLUMNS_CPU_MAX)
		return (unsigned)cpu;
	j->bad = true;
	return 0;
}

static inline unsigned columns_join_other_cpu(struct columns_join *j, unsigned expected)
{
	return columns_join_cpu(j, columns_join_byte(j, COLUMNS_CPUS), expected);
}

static inline uint64_t columns_join_time(struct columns_join *j, unsigned shape)
{
	unsigned group = columns_time_group(shape);
	uint64_t low = columns_join_byte(j, COLUMNS_TIMES_LOW + group);
	uint64_t high = columns_join_byte(j, COLUMNS_TIMES_HIGH + group);

	if (high == COLUMNS_TIME_LONG)
		high = columns_join_varint(j);
	return j->model.time += high << 8 | low;
}

static void columns_join_switch(struct columns_join *j, unsigned op, unsigned shape, uint64_t *w,
				unsigned n)
{
	struct columns_model *m = &j->model;
	uint64_t *last = &m->shapes[shape].word;
	unsigned cpu = op & COLUMNS_OTHER_CPU ? columns_join_other_cpu(j, m->cpu) : m->cpu, out, in;

	out = op & COLUMNS_OTHER_ACTOR ? columns_join_id(j) : m->cpus[cpu].running;
	in = op & COLUMNS_OTHER_THREAD ? columns_join_id(j) : m->cpus[cpu].next;
	w[0] = m->shapes[shape].head | fxt_put_sched_cpu(cpu);
	w[1] = columns_join_time(j, shape);
	w[2] = m->ids[out].koid;
	w[3] = m->ids[in].koid;
	if (op & COLUMNS_OTHER_WORDS) {
		for (unsigned i = 4; i < n; i++)
			w[i] = columns_join_word(j);
		columns_learn_weight(m, COLUMNS_OUTGOING, &m->ids[out], w[4]);
		columns_learn_weight(m, COLUMNS_INCOMING, &m->ids[in], w[5]);
		if (n > 6)
			*last = w[6];
	} else {
		w[4] = columns_weight_word(m, COLUMNS_OUTGOING, &m->ids[out]);
		w[5] = columns_weight_word(m, COLUMNS_INCOMING, &m->ids[in]);
		w[6] = *last;
	}
	columns_after_switch(m, cpu, out, in);
}

/* Reads the waker of a wakeup. Returns its id. */
static unsigned columns_join_waker(struct columns_join *j, unsigned op, unsigned *cpu)
{
	unsigned code;

	if (op & COLUMNS_OTHER_ACTOR) {
		code = columns_join_byte(j, COLUMNS_CPUS);
		if (code == COLUMNS_CPU_NONE)
			return columns_join_id(j);
		*cpu = columns_join_cpu(j, code, *cpu);
	}
	return j->model.cpus[*cpu].running;
}

static void columns_join_wakeup(struct columns_join *j, unsigned op, unsigned shape, uint64_t *w,
				unsigned n)
{
	struct columns_model *m = &j->model;
	uint64_t *last = &m->shapes[shape].word;
	unsigned waker_cpu = m->actor_cpu, waker = columns_join_waker(j, op, &waker_cpu), woken,
		 cpu;

	woken = op & COLUMNS_OTHER_THREAD ? columns_join_id(j) : m->ids[waker].woke;
	cpu = m->ids[woken].cpu;
	if (op & COLUMNS_OTHER_CPU)
		cpu = columns_join_other_cpu(j, cpu);
	w[0] = m->shapes[shape].head | fxt_put_sched_cpu(cpu);
	w[1] = columns_join_time(j, shape);
	w[2] = m->ids[woken].koid;
	w[5] = m->ids[waker].koid;
	if (n > 7)
		w[7] = m->ids[columns_join_id(j)].koid;
	if (op & COLUMNS_OTHER_WORDS) {
		w[3] = columns_join_word(j);
		w[4] = columns_join_word(j);
		columns_learn_weight(m, COLUMNS_WOKEN, &m->ids[woken], w[3]);
		m->waker_head = w[4];
		if (n > 6)
			*last = columns_join_word(j);
	} else {
		w[3] = columns_weight_word(m, COLUMNS_WOKEN, &m->ids[woken]);
		w[4] = m->waker_head;
	}
	w[6] = *last;
	columns_after_wakeup(m, cpu, waker, waker_cpu, woken);
}

/*
 * Reads a shape. Returns false if SHAPE is neither a known shape nor a valid new one. Shape 15 with
 * flags is never new.
 */
static bool columns_join_shape(struct columns_join *j, unsigned shape)
{
	struct columns_model *m = &j->model;
	uint64_t head;

	if (shape < m->n_shapes)
		return true;
	head = columns_join_word(j);
	if (shape > m->n_shapes || shape >= COLUMNS_SHAPE_MAX || !columns_has_shape(head) ||
	    head != columns_without_cpu(head))
		return false;
	m->shapes[m->n_shapes++] = (struct columns_shape){ head, 0 };
	return true;
}

/*
 * Writes at most N bytes that are stored unchanged. Returns their number, or 0 if the columns are
 * invalid.
 */
static size_t columns_join_literal(struct columns_join *j, uint8_t *to, size_t n)
{
	uint64_t size = columns_join_varint(j);

	if (j->bad || size > n ||
	    size > (size_t)(j->end[COLUMNS_LITERALS] - j->at[COLUMNS_LITERALS]))
		return 0;
	memcpy(to, j->at[COLUMNS_LITERALS], size);
	j->at[COLUMNS_LITERALS] += size;
	return size;
}

/* Writes a record. Returns like columns_join_literal(). */
static inline size_t columns_join_record(struct columns_join *j, unsigned op, uint8_t *to,
					 size_t room)
{
	unsigned shape = op & ((1 << COLUMNS_SHAPE_BITS) - 1), n;
	uint64_t words[COLUMNS_SCHED_WORDS_MAX];

	if (!columns_join_shape(j, shape))
		return 0;
	n = (unsigned)fxt_get_record_words(j->model.shapes[shape].head);
	if (n * FXT_WORD_BYTES > room)
		return 0;
	if (columns_is_switch(j->model.shapes[shape].head))
		columns_join_switch(j, op, shape, words, n);
	else
		columns_join_wakeup(j, op, shape, words, n);
	if (j->bad)
		return 0;
	for (unsigned i = 0; i < n; i++)
		columns_put_word(to + i * FXT_WORD_BYTES, words[i]);
	return n * FXT_WORD_BYTES;
}

int columns_join(struct columns_join *j, const struct columns_bytes streams[COLUMNS_STREAM_MAX],
		 uint8_t *to, size_t size)
{
	size_t done = 0;

	columns_model_init(&j->model);
	j->bad = false;
	for (unsigned i = 0; i < COLUMNS_STREAM_MAX; i++) {
		j->at[i] = streams[i].data;
		j->end[i] = streams[i].data + streams[i].n;
	}
	while (done < size) {
		unsigned op = columns_join_byte(j, COLUMNS_OPERATIONS);
		size_t n = op == COLUMNS_LITERAL
				   ? columns_join_literal(j, to + done, size - done)
				   : columns_join_record(j, op, to + done, size - done);

		if (n == 0 || j->bad)
			return -EBADMSG;
		done += n;
	}
	for (unsigned i = 0; i < COLUMNS_STREAM_MAX; i++)
		if (j->at[i] != j->end[i])
			return -EBADMSG;
	return 0;
}
