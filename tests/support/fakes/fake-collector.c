/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "tests/support/fakes/fake-collector.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "writer/fxt/fxt-wire.h"

/*
 * A record in its "ring": an allocation of its own, so that a sanitizer detects reads past its end.
 */
struct record {
	struct record *next;
	uint64_t bytes[];
};

struct collector {
	unsigned n_cpus;
	uint64_t ring_bytes;
	struct word_ring **rings;
	struct collector_lost *pending;
	struct record *first, **end;
	size_t n_records;
	uint64_t n_malformed;
	uint64_t records_bytes;
};

static void *must(void *p)
{
	assert(p);
	return p;
}

static bool has_words(enum event_class class)
{
	return class != CLASS_LIFECYCLE && class != CLASS_WORKQUEUE && class != CLASS_FREQUENCY &&
	       class != CLASS_STACKS && class != CLASS_MAPPINGS;
}

struct collector *fake_collector_new(unsigned n_cpus, uint64_t ring_bytes)
{
	struct collector *c = must(calloc(1, sizeof(*c)));

	assert((ring_bytes & (ring_bytes - 1)) == 0);
	c->n_cpus = n_cpus;
	c->ring_bytes = ring_bytes;
	c->end = &c->first;
	c->rings = must(calloc((size_t)CLASS_MAX * n_cpus, sizeof(*c->rings)));
	c->pending = must(calloc((size_t)CLASS_MAX * n_cpus, sizeof(*c->pending)));
	for (unsigned i = 0; i < CLASS_MAX * n_cpus; i++)
		if (has_words(i / n_cpus))
			c->rings[i] =
				must(calloc(1, sizeof(**c->rings) + ring_bytes + RING_SLACK_BYTES));
	return c;
}

static void drop(struct collector *c, struct record **at)
{
	struct record *rec = *at;

	*at = rec->next;
	if (!*at)
		c->end = at;
	c->n_records--;
	free(rec);
}

struct collector *collector_free(struct collector *c)
{
	if (!c)
		return NULL;
	while (c->first)
		drop(c, &c->first);
	for (unsigned i = 0; i < CLASS_MAX * c->n_cpus; i++)
		free(c->rings[i]);
	free(c->rings);
	free(c->pending);
	free(c);
	return NULL;
}

bool fake_collector_put_words(struct collector *c, enum event_class class, unsigned cpu,
			      const uint64_t *words, size_t n)
{
	struct word_ring *ring = collector_ring(c, class, cpu);

	if (c->ring_bytes - (ring->head - ring->tail) < n * sizeof(*words))
		return false;
	memcpy(ring->bytes + (ring->head & (c->ring_bytes - 1)), words, n * sizeof(*words));
	ring->head += n * sizeof(*words);
	return true;
}

void fake_collector_put_loss(struct collector *c, unsigned cpu, uint64_t first, uint64_t last,
			     uint64_t count, uint32_t tid)
{
	const struct ring_lost mark = {
		.header = fxt_put_record_type(RING_RECORD_CONTROL) | fxt_put_record_words(5),
		.first_ns = first,
		.last_ns = last,
		.count = count,
		.tid = tid,
		.prio = 120,
	};
	uint64_t words[5];
	bool has_room;

	memcpy(words, &mark, sizeof(words));
	has_room = fake_collector_put_words(c, CLASS_SCHED, cpu, words, ARRAY_SIZE(words));
	assert(has_room);
	(void)has_room;
}

void fake_collector_put_record(struct collector *c, const void *rec, size_t size)
{
	struct record *copy = must(malloc(sizeof(*copy) + size));

	copy->next = NULL;
	memcpy(copy->bytes, rec, size);
	*c->end = copy;
	c->end = &copy->next;
	c->n_records++;
}

void fake_collector_set_records_bytes(struct collector *c, uint64_t bytes)
{
	c->records_bytes = bytes;
}

void fake_collector_set_pending(struct collector *c, enum event_class class, unsigned cpu,
				const struct collector_lost *lost)
{
	c->pending[class * c->n_cpus + cpu] = *lost;
}

size_t fake_collector_n_records(const struct collector *c)
{
	return c->n_records;
}

/* ---- capture/programs/collector.h ---- */

unsigned collector_n_cpus(const struct collector *c)
{
	return c->n_cpus;
}

struct word_ring *collector_ring(struct collector *c, enum event_class class, unsigned cpu)
{
	return c->rings[class * c->n_cpus + cpu];
}

uint64_t collector_ring_bytes(const struct collector *c, enum event_class class)
{
	(void)class;
	return c->ring_bytes;
}

/* Returns the place in `kept` of the ring of REC. */
static size_t ring_of(const struct collector *c, const struct rec_head *rec)
{
	unsigned source = rec->kind == REC_LOST ? ((const struct rec_lost *)rec)->ring
						: rec_kind_ring(rec->kind);

	return (size_t)source * c->n_cpus + rec->cpu;
}

/* As in collector-rings.c: if a record stays in its ring, the later ones of this ring stay, too. */
int collector_drain_records(struct collector *c, collector_record_fn fn, void *userdata)
{
	bool *kept = must(calloc((size_t)(REC_RING_NONE + 1) * c->n_cpus, sizeof(*kept)));
	struct record **at = &c->first;
	int r = 0;

	while (r >= 0 && *at) {
		const struct rec_head *rec = (const struct rec_head *)(*at)->bytes;
		bool *keep = &kept[ring_of(c, rec)];

		r = *keep ? 1 : fn(rec, userdata);
		*keep = r > 0;
		if (r > 0)
			at = &(*at)->next;
		else
			drop(c, at);
	}
	free(kept);
	return r < 0 ? r : 0;
}

uint64_t collector_records_bytes(const struct collector *c)
{
	return c->records_bytes;
}

struct collector_lost collector_pending_lost(struct collector *c, enum event_class class,
					     unsigned cpu)
{
	return c->pending[class * c->n_cpus + cpu];
}

void collector_forget_lost(struct collector *c)
{
	memset(c->pending, 0, sizeof(*c->pending) * CLASS_MAX * c->n_cpus);
}

void fake_collector_set_malformed(struct collector *c, uint64_t n)
{
	c->n_malformed = n;
}

uint64_t collector_n_malformed(const struct collector *c)
{
	return c->n_malformed;
}

uint64_t collector_skipped(struct collector *c, enum event_class class)
{
	(void)c;
	(void)class;
	return 0;
}

bool collector_idle(struct collector *c, unsigned cpu, uint32_t *ret_state, uint64_t *ret_begin_ns)
{
	(void)c;
	(void)cpu;
	(void)ret_state;
	(void)ret_begin_ns;
	return false;
}

const char *collector_sample_clock(const struct collector *c)
{
	(void)c;
	return "cpu-clock";
}

void collector_forget_stacks(struct collector *c)
{
	(void)c;
}

void collector_forget_python(struct collector *c)
{
	(void)c;
}

void collector_forget_cgroups(struct collector *c)
{
	(void)c;
}

void collector_set_context(struct collector *c, uint32_t bits)
{
	(void)c;
	(void)bits;
}
uint64_t collector_left_out(struct collector *c, uint32_t function)
{
	return 0;
}

uint64_t collector_foreign_calls(struct collector *c)
{
	(void)c;
	return 0;
}

void collector_count_walks(struct collector *c, uint64_t ret[static WALK_ENDS_MAX])
{
	(void)c;
	memset(ret, 0, WALK_ENDS_MAX * sizeof(*ret));
}

void collector_count_python(struct collector *c, uint64_t ret[static PYTHON_STACKS_MAX])
{
	(void)c;
	memset(ret, 0, PYTHON_STACKS_MAX * sizeof(*ret));
}

unsigned collector_unknown_pythons(struct collector *c,
				   char to[static COLLECTOR_PYTHONS_MAX][COLLECTOR_PYTHON_TEXT])
{
	(void)c;
	(void)to;
	return 0;
}

unsigned collector_walk_waiting(struct collector *c, const struct rec_piece *piece, bool can_retry,
				uint64_t frames[static STACK_FRAMES_MAX])
{
	(void)c;
	if (can_retry && piece->sp == FAKE_NO_TABLE)
		return 0;
	memcpy(frames, piece->frames, piece->n_frames * sizeof(*frames));
	return piece->n_frames;
}

int collector_list_process(struct collector *c, uint32_t pid, collector_record_fn fn,
			   void *userdata)
{
	(void)c, (void)pid, (void)fn, (void)userdata;
	return 0;
}

int collector_list_waiting(struct collector *c, collector_record_fn fn, void *userdata)
{
	(void)c, (void)fn, (void)userdata;
	return 0;
}

/* (also without a collector) */
static uint64_t n_taken_pieces;

uint64_t fake_collector_n_taken_pieces(void)
{
	return n_taken_pieces;
}

void collector_skip_walk(struct collector *c)
{
	(void)c;
	n_taken_pieces++;
}

/* Wakeups are at this address. */
uint64_t collector_wakes(const struct collector *c)
{
	return 0xffffffff81000000;
}

unsigned collector_resume_walk(struct collector *c, const struct rec_piece *piece, bool can_retry,
			       uint64_t frames[static STACK_FRAMES_MAX])
{
	n_taken_pieces++;
	return collector_walk_waiting(c, piece, can_retry, frames);
}

struct stack_tables collector_count_tables(struct collector *c)
{
	(void)c;
	return (struct stack_tables){ 0 };
}
