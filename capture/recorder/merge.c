/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The merge has a heap of sources, ordered by the time of their next record. The source at the top
 * is read until another source is due, so the heap is adjusted once for many records.
 *
 * A record of a BPF ring buffer must leave the ring before the later ones can be read, so it is
 * copied into a queue until its time has come. These records are rare, so the copies cost little.
 *
 * The rings are read one after another, and the last one can contain the oldest record. So a round
 * first copies all records up to its horizon, and then delivers the first one. Before a round
 * begins to copy, the queues contain MERGE_SPARE_BYTES at most:
 *   - If an earlier round ended early and left more, its records are delivered first.
 *   - A record after the horizon stays in its ring if it would exceed this sum.
 */
#include "capture/recorder/merge.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "capture/programs/decode.h"
#include "writer/fxt/fxt-wire.h"

enum {
	QUEUE_KEPT_BYTES = 1 << 20, /* memory that a queue with few records keeps */
	RECORD_BYTES_MAX = 8192,    /* most records are smaller */
	/* The eBPF programs get the space of merged records back after at most this many bytes. */
	PUBLISH_BYTES = 64 << 10,
};

enum source_kind { SOURCE_QUEUE, SOURCE_WORDS };

/* Each CPU has one queue for each BPF ring buffer, and one for mappings. Another queue is for
 * records from user space. */
enum { QUEUE_ADDED = REC_RING_NONE };

struct source {
	enum source_kind kind;
	struct merge_ring id; /* SOURCE_WORDS: which ring */
	/* Time of the next record; UINT64_MAX = no record (later than every horizon). */
	uint64_t ts_ns;

	/* SOURCE_WORDS */
	struct word_ring *ring;
	uint64_t ring_mask;
	uint64_t *words; /* the next record */
	unsigned n_words;
	uint64_t head, tail; /* of the merge; the ring's tail is set to `tail` later */
	/* The next record is the mark of a loss whose beginning was delivered, but not its end. */
	bool in_loss;

	/* SOURCE_QUEUE */
	uint8_t *queue; /* owned */
	size_t from, to, room;
};

struct merge {
	struct collector *collector;
	unsigned n_cpus;
	struct source *sources; /* the queues, then the word rings that exist */
	size_t n_sources;
	/*
	 * The ring of CPU 0 for CLASS_SCHED; the rings of other CPUs follow. NULL = no such rings.
	 */
	struct source *sched;
	struct source **heap;
	size_t n_heap;
	/*
	 * Bytes of records from rings, and of added records. The two sums are separate, so that
	 * added records do not take the room of records from rings.
	 */
	size_t ring_bytes, added_bytes;
	/* The horizon of the round that reads the rings, or of the last such round. */
	uint64_t read_ns;
	/*
	 * The memory that a queue may keep even when it is empty: its share of the memory that is
	 * counted for the session.
	 */
	size_t kept_bytes;
	int error; /* of copying into queues */
};

static struct source *merge_queue_of(struct merge *m, unsigned ring, unsigned cpu)
{
	return &m->sources[ring * m->n_cpus + cpu];
}

static size_t merge_n_queues(const struct merge *m)
{
	return (size_t)REC_SOURCES * m->n_cpus + 1;
}

/* Adds the word rings of CLASS, if it has any. */
static void merge_add_rings(struct merge *m, enum event_class class)
{
	struct source *first = &m->sources[m->n_sources];

	for (unsigned cpu = 0; cpu < m->n_cpus; cpu++) {
		struct word_ring *ring = collector_ring(m->collector, class, cpu);

		if (!ring)
			return;
		m->sources[m->n_sources++] = (struct source){
			.kind = SOURCE_WORDS,
			.id = { class, cpu },
			.ring = ring,
			.ring_mask = collector_ring_bytes(m->collector, class) - 1,
		};
	}
	if (class == CLASS_SCHED)
		m->sched = first;
}

int merge_new(struct collector *collector, struct merge **ret)
{
	_cleanup_(merge_freep) struct merge *m = calloc(1, sizeof(*m));
	size_t most;

	if (!m)
		return -ENOMEM;
	m->collector = collector;
	m->n_cpus = collector_n_cpus(collector);
	m->kept_bytes =
		(collector_records_bytes(collector) + MERGE_SPARE_BYTES) / merge_n_queues(m);
	if (m->kept_bytes > QUEUE_KEPT_BYTES)
		m->kept_bytes = QUEUE_KEPT_BYTES;
	most = merge_n_queues(m) + (size_t)CLASS_MAX * m->n_cpus;
	m->sources = calloc(most, sizeof(*m->sources));
	m->heap = calloc(most, sizeof(*m->heap));
	if (!m->sources || !m->heap)
		return -ENOMEM;
	m->n_sources = merge_n_queues(m);
	for (enum event_class class = 0; class < CLASS_MAX; class ++)
		merge_add_rings(m, class);
	*ret = TAKE_PTR(m);
	return 0;
}

struct merge *merge_free(struct merge *m)
{
	if (!m)
		return NULL;
	for (size_t i = 0; m->sources && i < merge_n_queues(m); i++)
		free(m->sources[i].queue);
	free(m->sources);
	free(m->heap);
	return free_ptr(m);
}

/* ---- sources ---- */

/* Returns the sum that counts the records of queue S. */
static size_t *merge_bytes(struct merge *m, const struct source *s)
{
	return s == merge_queue_of(m, QUEUE_ADDED, 0) ? &m->added_bytes : &m->ring_bytes;
}

/*
 * Makes room for BYTES in queue S. A queue of many records grows in smaller steps than with GROW().
 */
static int merge_grow_queue(struct source *s, size_t bytes)
{
	size_t room = bytes + bytes / 4 + RECORD_BYTES_MAX;
	uint8_t *queue = realloc(s->queue, room);

	if (!queue)
		return -ENOMEM;
	s->queue = queue;
	s->room = room;
	return 0;
}

static int merge_append(struct merge *m, struct source *s, const struct rec_head *rec)
{
	if (s->from == s->to)
		s->from = s->to = 0;
	if (rec->size > s->room - s->to && s->from > 0) {
		memmove(s->queue, s->queue + s->from, s->to - s->from);
		s->to -= s->from;
		s->from = 0;
	}
	if (rec->size > s->room - s->to && merge_grow_queue(s, s->to + rec->size) < 0)
		return m->error = -ENOMEM;
	memcpy(s->queue + s->to, rec, rec->size);
	s->to += rec->size;
	*merge_bytes(m, s) += rec->size;
	return 0;
}

/* Returns the source of REC, which came from a ring. */
static unsigned merge_source(const struct rec_head *rec)
{
	return rec->kind == REC_LOST ? ((const struct rec_lost *)rec)->ring
				     : rec_kind_ring(rec->kind);
}

static int merge_queue_record(const struct rec_head *rec, void *userdata)
{
	struct merge *m = userdata;
	unsigned source = merge_source(rec);
	/*
	 * A kind of record that comes through no ring (no eBPF program sends it) goes into the
	 * queue of added records.
	 */
	struct source *s = merge_queue_of(m, source, source == QUEUE_ADDED ? 0 : rec->cpu);

	/* A mapping cannot stay in its ring. */
	if (rec->ts_ns > m->read_ns && source != REC_RING_MAPPINGS &&
	    *merge_bytes(m, s) + rec->size > MERGE_SPARE_BYTES)
		return 1;
	return merge_append(m, s, rec);
}

int merge_add(struct merge *m, const struct rec_head *rec)
{
	if (m->added_bytes > MERGE_SPARE_BYTES)
		return -ENOBUFS;
	return merge_append(m, merge_queue_of(m, QUEUE_ADDED, 0), rec);
}

static const struct rec_head *merge_queue_front(const struct source *s)
{
	return (const struct rec_head *)(s->queue + s->from);
}

/* Finds the next record of S, if it has any. */
static int merge_source_peek(struct source *s)
{
	const struct ring_lost *mark;

	s->ts_ns = UINT64_MAX;
	if (s->kind == SOURCE_QUEUE) {
		if (s->from < s->to)
			s->ts_ns = merge_queue_front(s)->ts_ns;
		return 0;
	}
	if (s->tail == s->head)
		return 0;
	s->words = (uint64_t *)(s->ring->bytes + (s->tail & s->ring_mask));
	s->n_words = decode_ring_words(s->words, (s->head - s->tail) / sizeof(uint64_t),
				       s->id.class, s->id.cpu);
	if (s->n_words == 0)
		return -EBADMSG;
	s->ts_ns = decode_time(s->words, s->n_words, s->id.class);
	if (s->in_loss) {
		mark = (const struct ring_lost *)s->words;
		s->ts_ns = mark->last_ns;
	}
	return 0;
}

/* Gives the consumed part of the ring back to the eBPF programs. */
static void merge_source_publish(struct source *s)
{
	if (s->kind == SOURCE_WORDS && s->ring->tail != s->tail)
		__atomic_store_n(&s->ring->tail, s->tail, __ATOMIC_RELEASE);
}

/* Skips the first record of S. */
static void merge_source_step(struct merge *m, struct source *s)
{
	if (s->kind == SOURCE_QUEUE) {
		size_t size = merge_queue_front(s)->size;

		s->from += size;
		*merge_bytes(m, s) -= size;
		return;
	}
	s->tail += s->n_words * sizeof(uint64_t);
	if (s->tail - s->ring->tail >= PUBLISH_BYTES)
		merge_source_publish(s);
}

/* Passes the first record of S to SINK, and skips it. */
static int merge_source_deliver(struct merge *m, struct source *s, const struct merge_sink *sink)
{
	const struct ring_lost *mark;
	int r;

	if (s->kind == SOURCE_QUEUE) {
		r = sink->record(merge_queue_front(s), sink->userdata);
	} else if (!decode_is_lost(s->words)) {
		r = sink->words(&s->id, s->words, s->n_words, sink->userdata);
	} else {
		mark = (const struct ring_lost *)s->words;
		s->in_loss = !s->in_loss;
		/* The mark stays the first record, and is delivered again when the loss ends. */
		if (s->in_loss)
			return sink->loss_begins(&s->id, mark, sink->userdata);
		r = sink->loss_ends(&s->id, mark, sink->userdata);
	}
	merge_source_step(m, s);
	return r;
}

/* ---- the heap ---- */

static bool merge_is_sched(const struct source *s, enum fxt_sched_type type)
{
	return s->kind == SOURCE_WORDS && s->id.class == CLASS_SCHED &&
	       decode_is_sched(s->words, type);
}

static int merge_rank(const struct source *s)
{
	if (s->kind == SOURCE_QUEUE)
		return 0;
	if (s->id.class != CLASS_SCHED)
		return 1;
	return merge_is_sched(s, FXT_SCHED_WAKEUP) ? 1 : 2;
}

static bool merge_before(const struct source *a, const struct source *b)
{
	if (a->ts_ns != b->ts_ns)
		return a->ts_ns < b->ts_ns;
	return merge_rank(a) < merge_rank(b);
}

static void merge_sift_down(struct merge *m, size_t i)
{
	struct source *moved = m->heap[i];

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= m->n_heap)
			break;
		if (child + 1 < m->n_heap && merge_before(m->heap[child + 1], m->heap[child]))
			child++;
		if (!merge_before(m->heap[child], moved))
			break;
		m->heap[i] = m->heap[child];
		i = child;
	}
	m->heap[i] = moved;
}

static void merge_build_heap(struct merge *m, uint64_t horizon_ns)
{
	m->n_heap = 0;
	for (size_t i = 0; i < m->n_sources; i++)
		if (m->sources[i].ts_ns <= horizon_ns)
			m->heap[m->n_heap++] = &m->sources[i];
	for (size_t i = m->n_heap / 2; i-- > 0;)
		merge_sift_down(m, i);
}

/*
 * If the next record of S is a switch that puts a thread on a CPU, returns the index in the heap of
 * a switch that takes this thread off another CPU at the same time; 0 = no such switch.
 */
static size_t merge_find_switch_out(const struct merge *m, const struct source *s)
{
	if (!merge_is_sched(s, FXT_SCHED_SWITCH) || s->words[SWITCH_IN] == 0)
		return 0;
	for (size_t i = 1; i < m->n_heap; i++)
		if (m->heap[i]->ts_ns == s->ts_ns && merge_is_sched(m->heap[i], FXT_SCHED_SWITCH) &&
		    m->heap[i]->words[SWITCH_OUT] == s->words[SWITCH_IN])
			return i;
	return 0;
}

/*
 * Orders switches with equal times: a thread is taken off one CPU before it is put on another. The
 * heap does not order equal times, so the switch that must be first is searched.
 */
static void merge_settle_tie(struct merge *m)
{
	for (size_t tries = 0; tries < m->n_heap; tries++) {
		struct source *s = m->heap[0];
		size_t i;

		if ((m->n_heap < 2 || m->heap[1]->ts_ns != s->ts_ns) &&
		    (m->n_heap < 3 || m->heap[2]->ts_ns != s->ts_ns))
			return;
		i = merge_find_switch_out(m, s);
		if (i == 0)
			return;
		m->heap[0] = m->heap[i];
		m->heap[i] = s;
	}
}

/* Delivers records of the first source until another source is due. */
static int merge_deliver_run(struct merge *m, uint64_t horizon_ns, const struct merge_sink *sink)
{
	uint64_t until_ns = horizon_ns + 1;
	struct source *s;
	int r, stop;

	merge_settle_tie(m);
	s = m->heap[0];
	for (size_t child = 1; child <= 2 && child < m->n_heap; child++)
		if (m->heap[child]->ts_ns < until_ns)
			until_ns = m->heap[child]->ts_ns;
	do {
		stop = merge_source_deliver(m, s, sink);
		r = merge_source_peek(s);
		if (r < 0)
			return r;
	} while (stop == 0 && s->ts_ns < until_ns);
	if (s->ts_ns > horizon_ns)
		m->heap[0] = m->heap[--m->n_heap];
	if (m->n_heap > 0)
		merge_sift_down(m, 0);
	return stop;
}

/* Finds the next record of each source. */
static int merge_peek_all(struct merge *m)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < m->n_sources; i++) {
		struct source *s = &m->sources[i];

		if (s->kind == SOURCE_WORDS)
			s->head = __atomic_load_n(&s->ring->head, __ATOMIC_ACQUIRE);
		r = merge_source_peek(s);
	}
	return r;
}

/* Copies the records up to HORIZON_NS, and later ones as far as there is room. */
static int merge_read_rings(struct merge *m, uint64_t horizon_ns)
{
	int r;

	m->read_ns = horizon_ns;
	r = collector_drain_records(m->collector, merge_queue_record, m);
	return m->error < 0 ? m->error : r;
}

/* Delivers the records up to HORIZON_NS that can be read now. */
static int merge_deliver(struct merge *m, uint64_t horizon_ns, const struct merge_sink *sink)
{
	int r = merge_peek_all(m);

	if (r < 0)
		return r;
	merge_build_heap(m, horizon_ns);
	while (r == 0 && m->n_heap > 0)
		r = merge_deliver_run(m, horizon_ns, sink);
	return r;
}

/*
 * Frees memory of queue S if the queue has more room than its share (kept_bytes), and uses less
 * than half of it. Otherwise, all queues together could keep more memory than is counted.
 */
static void merge_shrink_queue(const struct merge *m, struct source *s)
{
	size_t used = s->to - s->from, room = used + used / 4;
	uint8_t *queue;

	if (s->room <= m->kept_bytes || used >= s->room / 2)
		return;
	memmove(s->queue, s->queue + s->from, used);
	s->from = 0;
	s->to = used;
	if (room < m->kept_bytes)
		room = m->kept_bytes;
	queue = realloc(s->queue, room);
	if (!queue)
		return;
	s->queue = queue;
	s->room = room;
}

int merge_round(struct merge *m, uint64_t horizon_ns, const struct merge_sink *sink)
{
	int r = 0;

	if (m->ring_bytes > MERGE_SPARE_BYTES || m->added_bytes > 2 * MERGE_SPARE_BYTES)
		r = merge_deliver(m, horizon_ns < m->read_ns ? horizon_ns : m->read_ns, sink);
	r = r ?: merge_read_rings(m, horizon_ns) ?: merge_deliver(m, horizon_ns, sink);
	for (size_t i = merge_n_queues(m); i < m->n_sources; i++)
		merge_source_publish(&m->sources[i]);
	for (size_t i = 0; i < merge_n_queues(m); i++)
		merge_shrink_queue(m, &m->sources[i]);
	return r;
}

int merge_peek_switch(struct merge *m, unsigned cpu, uint64_t from_ns, uint64_t to_ns,
		      struct merge_switch *ret)
{
	struct source *s = &m->sched[cpu];
	uint64_t head = __atomic_load_n(&s->ring->head, __ATOMIC_ACQUIRE);
	const uint64_t *words;
	unsigned n;

	for (uint64_t tail = s->tail; tail != head; tail += n * sizeof(*words)) {
		words = (const uint64_t *)(s->ring->bytes + (tail & s->ring_mask));
		n = decode_ring_words(words, (head - tail) / sizeof(*words), CLASS_SCHED, cpu);
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

bool merge_peek_loss(struct merge *m, unsigned cpu, uint64_t to_ns, uint64_t *ret_first_ns)
{
	struct source *s = m->sched ? &m->sched[cpu] : NULL;
	uint64_t head = s ? __atomic_load_n(&s->ring->head, __ATOMIC_ACQUIRE) : 0;
	const uint64_t *words;
	unsigned n;

	for (uint64_t tail = s ? s->tail : 0; tail != head; tail += n * sizeof(*words)) {
		words = (const uint64_t *)(s->ring->bytes + (tail & s->ring_mask));
		n = decode_ring_words(words, (head - tail) / sizeof(*words), CLASS_SCHED, cpu);
		if (n == 0 || words[WORD_TS] > to_ns)
			break;
		/* If the beginning of a loss was delivered, its mark is already known. */
		if (decode_is_lost(words) && !(s->in_loss && tail == s->tail)) {
			*ret_first_ns = ((const struct ring_lost *)words)->first_ns;
			return true;
		}
	}
	return false;
}
