/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A heap of sources, each with the time of its next record. The source at the top is emptied until
 * the next one is due, so the heap is touched once a run, not once a record. Lifecycle
 * records are taken out of their rings first and wait in a queue per CPU: they are rare, and a BPF
 * ring buffer cannot be looked into without taking.
 */
#include "capture/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/decode.h"
#include "writer/fxt/fxt-wire.h"

enum {
	QUEUES_MAX_BYTES = 16 << 20, /* all that waits; beyond, records stay in their rings */
	PUBLISH_BYTES = 64 << 10,    /* give room back to the programs at least this often */
};

enum source_kind { SOURCE_LIFECYCLE, SOURCE_SCHED };

struct source {
	enum source_kind kind;
	unsigned cpu;
	uint64_t ts_ns; /* of the next record; UINT64_MAX = none: beyond every horizon */

	/* SOURCE_SCHED */
	struct word_ring *ring;
	uint64_t *words; /* the next record */
	unsigned n_words;
	uint64_t head, tail; /* ours; the ring's follow */
	bool in_loss;        /* the next record is a mark whose beginning has been handed out */

	/* SOURCE_LIFECYCLE */
	uint8_t *queue; /* owned */
	size_t from, to, room;
};

struct merge {
	struct collector *collector;
	uint64_t ring_mask;
	unsigned n_cpus;
	struct source *sources; /* n_cpus of each kind */
	struct source **heap;
	size_t n_heap;
	size_t queued_bytes;
	int error; /* of the copying into queues */
};

static struct source *sched_source(struct merge *m, unsigned cpu)
{
	return &m->sources[cpu];
}

static struct source *lifecycle_source(struct merge *m, unsigned cpu)
{
	return &m->sources[m->n_cpus + cpu];
}

int merge_new(struct collector *collector, struct merge **ret)
{
	_cleanup_(merge_freep) struct merge *m = calloc(1, sizeof(*m));

	if (!m)
		return -ENOMEM;
	m->collector = collector;
	m->n_cpus = collector_n_cpus(collector);
	m->ring_mask = collector_ring_bytes(collector) - 1;
	m->sources = calloc((size_t)2 * m->n_cpus, sizeof(*m->sources));
	m->heap = calloc((size_t)2 * m->n_cpus, sizeof(*m->heap));
	if (!m->sources || !m->heap)
		return -ENOMEM;
	for (unsigned cpu = 0; cpu < m->n_cpus; cpu++) {
		*sched_source(m, cpu) = (struct source){
			.kind = SOURCE_SCHED,
			.cpu = cpu,
			.ring = collector_ring(collector, cpu),
		};
		*lifecycle_source(m, cpu) = (struct source){
			.kind = SOURCE_LIFECYCLE,
			.cpu = cpu,
		};
	}
	*ret = TAKE_PTR(m);
	return 0;
}

struct merge *merge_free(struct merge *m)
{
	if (!m)
		return NULL;
	for (size_t i = 0; m->sources && i < (size_t)2 * m->n_cpus; i++)
		free(m->sources[i].queue);
	free(m->sources);
	free(m->heap);
	free(m);
	return NULL;
}

/* ---- sources ---- */

static int queue_record(const struct rec_head *rec, void *userdata)
{
	struct merge *m = userdata;
	struct source *s = lifecycle_source(m, rec->cpu);

	if (s->from == s->to)
		s->from = s->to = 0;
	if (rec->size > s->room - s->to && s->from > 0) {
		memmove(s->queue, s->queue + s->from, s->to - s->from);
		s->to -= s->from;
		s->from = 0;
	}
	if (rec->size > s->room - s->to) {
		size_t room = s->room ? 2 * s->room : 4096;
		uint8_t *queue = realloc(s->queue, room);

		if (!queue)
			return m->error = -ENOMEM;
		s->queue = queue;
		s->room = room;
	}
	memcpy(s->queue + s->to, rec, rec->size);
	s->to += rec->size;
	m->queued_bytes += rec->size;
	return m->queued_bytes > QUEUES_MAX_BYTES ? -ENOBUFS : 0;
}

static const struct rec_head *queue_front(const struct source *s)
{
	return (const struct rec_head *)(s->queue + s->from);
}

/* Finds the next record of S, if there is one. */
static int source_look(struct merge *m, struct source *s)
{
	const struct ring_lost *mark;

	s->ts_ns = UINT64_MAX;
	if (s->kind == SOURCE_LIFECYCLE) {
		if (s->from < s->to)
			s->ts_ns = queue_front(s)->ts_ns;
		return 0;
	}
	if (s->tail == s->head)
		return 0;
	s->words = (uint64_t *)(s->ring->bytes + (s->tail & m->ring_mask));
	s->n_words = decode_ring_words(s->words, (s->head - s->tail) / sizeof(uint64_t), s->cpu);
	if (s->n_words == 0)
		return -EBADMSG;
	s->ts_ns = s->words[WORD_TS];
	if (s->in_loss) {
		mark = (const struct ring_lost *)s->words;
		s->ts_ns = mark->last_ns;
	}
	return 0;
}

/* Lets the programs have the room again. */
static void source_publish(struct source *s)
{
	if (s->kind == SOURCE_SCHED && s->ring->tail != s->tail)
		__atomic_store_n(&s->ring->tail, s->tail, __ATOMIC_RELEASE);
}

/* Steps over the record at the front. */
static void source_step(struct merge *m, struct source *s)
{
	if (s->kind == SOURCE_LIFECYCLE) {
		size_t size = queue_front(s)->size;

		s->from += size;
		m->queued_bytes -= size;
		return;
	}
	s->tail += s->n_words * sizeof(uint64_t);
	if (s->tail - s->ring->tail >= PUBLISH_BYTES)
		source_publish(s);
}

/* Hands the record at the front to SINK and steps over it. */
static int source_deliver(struct merge *m, struct source *s, const struct merge_sink *sink)
{
	const struct ring_lost *mark;
	int r;

	if (s->kind == SOURCE_LIFECYCLE) {
		r = sink->lifecycle(queue_front(s), sink->userdata);
	} else if (!decode_is_lost(s->words)) {
		r = sink->words(s->cpu, s->words, s->n_words, sink->userdata);
	} else {
		mark = (const struct ring_lost *)s->words;
		s->in_loss = !s->in_loss;
		if (s->in_loss) /* stays at the front, to come up again when it ends */
			return sink->loss_begins(s->cpu, mark, sink->userdata);
		r = sink->loss_ends(s->cpu, mark, sink->userdata);
	}
	source_step(m, s);
	return r;
}

/* ---- the heap ---- */

static bool is_sched(const struct source *s, enum fxt_sched_type type)
{
	return s->kind == SOURCE_SCHED && decode_is_sched(s->words, type);
}

static int rank(const struct source *s)
{
	if (s->kind == SOURCE_LIFECYCLE)
		return 0;
	return is_sched(s, FXT_SCHED_WAKEUP) ? 1 : 2;
}

static bool before(const struct source *a, const struct source *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns;
	return rank(a) < rank(b);
}

static void sift_down(struct merge *m, size_t i)
{
	struct source *moved = m->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= m->n_heap)
			break;
		if (child + 1 < m->n_heap && before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!before(m->heap[child], moved))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = moved;
}

static void build_heap(struct merge *m, uint64_t horizon_ns)
{
	m->n_heap = 0;
	for (size_t i = 0; i < (size_t)2 * m->n_cpus; i++)
		if (m->sources[i].ts_ns <= horizon_ns)
			m->heap[m->n_heap++] = &m->sources[i];
	for (size_t i = m->n_heap / 2; i-- > 0;)
		sift_down(m, i);
}

/* Where in the heap a switch stands that takes off, at that time, what S puts on; 0 = nowhere. */
static size_t find_taking_off(const struct merge *m, const struct source *s)
{
	if (!is_sched(s, FXT_SCHED_SWITCH) || s->words[SWITCH_IN] == 0)
		return 0;
	for (size_t i = 1; i < m->n_heap; i++)
		if (m->heap[i]->ts_ns == s->ts_ns && is_sched(m->heap[i], FXT_SCHED_SWITCH) &&
		    m->heap[i]->words[SWITCH_OUT] == s->words[SWITCH_IN])
			return i;
	return 0;
}

/*
 * Switches of one time: a thread is taken off here before it is put on there. That is no order that
 * a heap could hold, so the first one is looked for; in the heap they are all alike.
 */
static void settle_tie(struct merge *m)
{
	for (size_t tries = 0; tries < m->n_heap; tries++) {
		struct source *s = m->heap[0];
		size_t i;

		if ((m->n_heap < 2 || m->heap[1]->ts_ns != s->ts_ns) &&
		    (m->n_heap < 3 || m->heap[2]->ts_ns != s->ts_ns))
			return;
		i = find_taking_off(m, s);
		if (i == 0)
			return;
		m->heap[0] = m->heap[i];
		m->heap[i] = s;
	}
}

/* Empties the first source until another one is due. */
static int deliver_run(struct merge *m, uint64_t horizon_ns, const struct merge_sink *sink)
{
	uint64_t until_ns = horizon_ns + 1;
	struct source *s;
	int r, stop;

	settle_tie(m);
	s = m->heap[0];
	for (size_t child = 1; child <= 2 && child < m->n_heap; child++)
		if (m->heap[child]->ts_ns < until_ns)
			until_ns = m->heap[child]->ts_ns;
	do {
		stop = source_deliver(m, s, sink);
		r = source_look(m, s);
		if (r < 0)
			return r;
	} while (stop == 0 && s->ts_ns < until_ns);
	if (s->ts_ns > horizon_ns)
		m->heap[0] = m->heap[--m->n_heap];
	if (m->n_heap > 0)
		sift_down(m, 0);
	return stop;
}

/* Takes in what the rings hold by now. */
static int look_at_rings(struct merge *m)
{
	int r;

	if (m->queued_bytes <= QUEUES_MAX_BYTES) {
		r = collector_drain_lifecycle(m->collector, queue_record, m);
		if (r < 0 && r != -ENOBUFS)
			return m->error < 0 ? m->error : r;
	}
	for (size_t i = 0; i < (size_t)2 * m->n_cpus; i++) {
		struct source *s = &m->sources[i];

		if (s->kind == SOURCE_SCHED)
			s->head = __atomic_load_n(&s->ring->head, __ATOMIC_ACQUIRE);
		r = source_look(m, s);
		if (r < 0)
			return r;
	}
	return 0;
}

int merge_round(struct merge *m, uint64_t horizon_ns, const struct merge_sink *sink)
{
	int r = look_at_rings(m);

	if (r < 0)
		return r;
	build_heap(m, horizon_ns);
	while (r == 0 && m->n_heap > 0)
		r = deliver_run(m, horizon_ns, sink);
	for (unsigned cpu = 0; cpu < m->n_cpus; cpu++)
		source_publish(sched_source(m, cpu));
	return r;
}

int merge_peek_switch(struct merge *m, unsigned cpu, uint64_t from_ns, uint64_t to_ns,
		      struct merge_switch *ret)
{
	struct source *s = sched_source(m, cpu);
	uint64_t head = __atomic_load_n(&s->ring->head, __ATOMIC_ACQUIRE);
	const uint64_t *words;
	unsigned n;

	for (uint64_t tail = s->tail; tail != head; tail += n * sizeof(*words)) {
		words = (const uint64_t *)(s->ring->bytes + (tail & m->ring_mask));
		n = decode_ring_words(words, (head - tail) / sizeof(*words), cpu);
		if (n == 0 || words[WORD_TS] > to_ns)
			break;
		if (decode_is_lost(words) && ((const struct ring_lost *)words)->last_ns > from_ns)
			return MERGE_PEEK_LOSS;
		if (words[WORD_TS] > from_ns && decode_is_sched(words, FXT_SCHED_SWITCH)) {
			ret->out_tid = (uint32_t)words[SWITCH_OUT];
			ret->out_prio = (int32_t)fxt_get_arg_value32(words[SWITCH_OUT_WEIGHT]);
			return MERGE_PEEK_SWITCH;
		}
	}
	return MERGE_PEEK_NOTHING;
}
