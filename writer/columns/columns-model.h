/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The model of columns, shared by columns_split() and columns_join(): the streams, the operations,
 * and the state from which a scheduling record is predicted. docs/COLUMNS.md specifies the model.
 *
 * The model consists only of data that the splitter and the joiner have at the same record. Every
 * rule of prediction is a function here, so their predictions cannot differ.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "writer/fxt/fxt-wire.h"

/* Kinds of events take different times, so their times compress better in separate streams. */
enum { COLUMNS_TIME_GROUPS = 4 };

enum columns_stream {
	COLUMNS_OPERATIONS,
	COLUMNS_CPUS,
	COLUMNS_IDS_LOW,
	COLUMNS_IDS_HIGH,
	COLUMNS_EXCEPTIONS,
	COLUMNS_LITERALS,
	COLUMNS_TIMES_LOW, /* one stream for each group */
	COLUMNS_TIMES_HIGH = COLUMNS_TIMES_LOW + COLUMNS_TIME_GROUPS,
	COLUMNS_STREAM_MAX = COLUMNS_TIMES_HIGH + COLUMNS_TIME_GROUPS,
};

enum {
	COLUMNS_SHAPE_BITS = 4,
	COLUMNS_LITERAL = (1 << COLUMNS_SHAPE_BITS) - 1, /* shape of all other bytes */
	COLUMNS_SHAPE_MAX = COLUMNS_LITERAL,

	/* Flags of an operation, for the parts whose prediction was wrong. */
	COLUMNS_OTHER_CPU = 1 << 4,
	COLUMNS_OTHER_ACTOR = 1 << 5, /* the outgoing thread, or the waker, was not predicted */
	/* The incoming thread, or the woken one, was not predicted. */
	COLUMNS_OTHER_THREAD = 1 << 6,
	COLUMNS_OTHER_WORDS = 1 << 7,

	COLUMNS_CPU_MAX = 1024,
	COLUMNS_ID_MAX = 4096,

	COLUMNS_CPU_LONG = 0xff, /* the CPU is in the stream of exceptions */
	COLUMNS_CPU_NONE = 0xfe, /* the waker does not run on any CPU; its id follows */
	COLUMNS_TIME_LONG = 0xff,

	COLUMNS_SCHED_WORDS_MIN = 6,
	COLUMNS_SCHED_WORDS_MAX = 8,
	COLUMNS_SCHED_BYTES_MIN = COLUMNS_SCHED_WORDS_MIN * 8,

	/* The maximum number of bytes by which all streams together are longer than the data. */
	COLUMNS_EXTRA_BYTES = 64,
};

enum columns_role {
	COLUMNS_OUTGOING,
	COLUMNS_INCOMING,
	COLUMNS_WOKEN,
	COLUMNS_ROLE_MAX,
};

struct columns_id {
	uint64_t koid;
	uint32_t weight;
	uint16_t cpu;  /* CPU on which the thread ran or was woken last */
	uint16_t woke; /* id of the thread that this one woke last */
};

struct columns_cpu {
	uint16_t running;
	/*
	 * Id of the thread that is predicted to run next: the one woken since the last switch, or
	 * else the one that ran last.
	 */
	uint16_t next;
};

struct columns_shape {
	uint64_t head; /* the header without the CPU */
	uint64_t word; /* the seventh word of the last record with this shape */
};

struct columns_model {
	uint64_t time;       /* time of the last record */
	uint64_t koid;       /* koid of the newest id */
	uint64_t waker_head; /* header of the last argument with a waker */
	uint32_t weight;     /* last weight that was not predicted */
	uint32_t cpu;        /* CPU of the last record */
	uint32_t actor_cpu;  /* CPU of the thread that switched or woke in the last record */
	uint32_t n_ids, n_shapes;
	uint32_t role_heads[COLUMNS_ROLE_MAX];
	struct columns_shape shapes[COLUMNS_SHAPE_MAX];
	struct columns_cpu cpus[COLUMNS_CPU_MAX];
	struct columns_id ids[COLUMNS_ID_MAX];
};

/*
 * Initializes M at the beginning of a piece: the only id is 0 (koid 0), and the thread with this id
 * runs on every CPU.
 */
static inline void columns_model_init(struct columns_model *m)
{
	memset(m, 0, offsetof(struct columns_model, ids) + sizeof(m->ids[0]));
	m->n_ids = 1;
}

static inline uint64_t columns_get_word(const uint8_t *p)
{
	uint64_t word;

	memcpy(&word, p, sizeof(word));
	return le64toh(word);
}

static inline void columns_put_word(uint8_t *p, uint64_t word)
{
	word = htole64(word);
	memcpy(p, &word, sizeof(word));
}

static inline uint64_t columns_without_cpu(uint64_t head)
{
	return head & ~fxt_put_sched_cpu(FXT_CPU_MAX);
}

/* Returns the group of times of a shape. */
static inline unsigned columns_time_group(unsigned shape)
{
	return shape < COLUMNS_TIME_GROUPS ? shape : COLUMNS_TIME_GROUPS - 1;
}

static inline bool columns_is_switch(uint64_t head)
{
	return fxt_get_sched_type(head) == FXT_SCHED_SWITCH;
}

/* Returns true if a record with this header has columns. */
static inline bool columns_has_shape(uint64_t head)
{
	unsigned words = (unsigned)fxt_get_record_words(head);

	if (fxt_get_record_type(head) != FXT_RECORD_SCHEDULING || words < COLUMNS_SCHED_WORDS_MIN)
		return false;
	return columns_is_switch(head) ? words <= 7
				       : fxt_get_sched_type(head) == FXT_SCHED_WAKEUP &&
						 words <= COLUMNS_SCHED_WORDS_MAX;
}

static inline struct columns_id *columns_add_id(struct columns_model *m, uint64_t koid)
{
	struct columns_id *id = &m->ids[m->n_ids++];

	*id = (struct columns_id){ .koid = koid, .weight = m->weight, .cpu = (uint16_t)m->cpu };
	m->koid = koid;
	return id;
}

/* Returns a word with the weight of a thread, as predicted from the records before it. */
static inline uint64_t columns_weight_word(const struct columns_model *m, enum columns_role role,
					   const struct columns_id *id)
{
	return (uint64_t)id->weight << 32 | m->role_heads[role];
}

static inline void columns_learn_weight(struct columns_model *m, enum columns_role role,
					struct columns_id *id, uint64_t word)
{
	id->weight = m->weight = (uint32_t)(word >> 32);
	m->role_heads[role] = (uint32_t)word;
}

static inline void columns_after_switch(struct columns_model *m, unsigned cpu, unsigned out,
					unsigned in)
{
	m->cpus[cpu] = (struct columns_cpu){ .running = (uint16_t)in, .next = (uint16_t)out };
	m->ids[in].cpu = (uint16_t)cpu;
	m->cpu = m->actor_cpu = cpu;
}

static inline void columns_after_wakeup(struct columns_model *m, unsigned cpu, unsigned waker,
					unsigned waker_cpu, unsigned woken)
{
	m->cpus[cpu].next = (uint16_t)woken;
	m->ids[woken].cpu = (uint16_t)cpu;
	m->ids[waker].woke = (uint16_t)woken;
	m->actor_cpu = waker_cpu;
	m->cpu = cpu;
}
