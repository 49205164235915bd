/* SPDX-License-Identifier: MIT */
/*
 * What the library's files share.
 *
 *   provider-strings     texts that were registered, and their indexes
 *   provider-session     the buffers of recordings: reservation, blocks, the durable part
 *   provider-event       records, written
 *   provider-categories  the categories of the process
 *   provider-start       the thread that waits for recordings
 *
 * Everything that a thread needs to write an event is in struct provider_state. In a child process,
 * the state is zeroed (MADV_WIPEONFORK), so all recordings are off.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "provider/kymo-provider.h"
#include "provider/provider-wire.h"
#include "writer/fxt/fxt-wire.h"

#define provider_likely(x) __builtin_expect(!!(x), 1)

enum {
	PROVIDER_SESSIONS = 8,
	PROVIDER_THREADS = FXT_THREAD_INDEX_MAX, /* threads with an index; others are inline */
	PROVIDER_NAMED_MAX = 1000,
	PROVIDER_INLINE = KYMO_NAME_INLINE, /* kymo_name.ref: the text is in each record */
};

/*
 * The word of a slot: from bit 40 on, the index of its current block + 1; below, the offset of the
 * next record. 0 = the slot has no block. The offset can be beyond the end of the block.
 */
#define PROVIDER_WORD_BLOCK   40
#define PROVIDER_OFFSET(word) ((word) & ((UINT64_C(1) << PROVIDER_WORD_BLOCK) - 1))

struct provider_slot {
	_Alignas(64) uint64_t word;
};

/* A recording. Only the library's thread changes the members above `taken`. */
struct provider_session {
	_Alignas(64) uint8_t *blocks;
	uint64_t block_bytes;
	struct provider_data *data;
	struct provider_block *table;
	const struct provider_control *control;
	size_t data_bytes;
	uint64_t id;
	uint32_t n_blocks, mode;
	bool used, ending, closed;
	uint32_t on;   /* events are written */
	uint32_t slow; /* threads in provider_session_enter() */
	char patterns[PROVIDER_CATEGORIES_MAX];
	_Alignas(64) uint64_t taken; /* blocks that were taken */
	struct provider_slot slots[PROVIDER_SLOTS];
};

struct provider_state {
	uint32_t epoch;  /* another number in a process and in its children; 0 = not started */
	uint32_t clock;  /* enum provider_clock */
	uint32_t active; /* bits of sessions whose durable part exists */
	uint32_t n_threads;
	uint32_t threads[PROVIDER_THREADS + 1]; /* tids by thread index; 0 = not registered yet */
	struct provider_session sessions[PROVIDER_SESSIONS];
};

extern struct provider_state *provider_state; /* NULL before provider_init() */

/* Allocates the state and the tables of strings, once. Returns 0 or -ENOMEM. */
int provider_init(void);

/* ---- provider-strings ---- */

int provider_strings_init(void);

/* Returns the index of the text in all recordings; 0 = there is no room, so the text must be
 * inline. */
uint32_t provider_strings_intern(const char *text, uint32_t length);

/* Writes to each active session the strings that the session does not have. */
void provider_strings_begin(void);
void provider_strings_forget(unsigned i);

/* ---- provider-session ---- */

/* Keeps the mappings of S until provider_session_leave(). Returns false if S is off; then they may
 * be gone. */
bool provider_session_enter(struct provider_session *s);
void provider_session_leave(struct provider_session *s);

/* Appends a record of N words to the durable part of S, after provider_session_enter(). */
void provider_session_append(struct provider_session *s, const uint64_t *words, unsigned n);

/* Ends the block in WORD, a slot's word, at the offset in WORD. */
void provider_session_end_block(struct provider_session *s, uint64_t word);

/* Reserves BYTES in SLOT, in a new block if needed. If there is no room, counts a loss and returns
 * NULL. */
uint64_t *provider_session_reserve_slow(struct provider_session *s, unsigned slot, uint64_t bytes);

/*
 * Begins the session of MESSAGE. Maps the two files; the caller closes their descriptors. The
 * session's categories are off until provider_session_turn_on(). Returns 0 or a negative errno.
 */
int provider_session_begin(const struct provider_message *message, int data_fd, int control_fd);

/* Turns on the categories of the session with this ID. */
void provider_session_turn_on(uint64_t id);

/* Turns off the session with this ID. provider_session_reap() removes its mappings later. */
void provider_session_end(uint64_t id);
void provider_session_end_all(void);

/* Frees a session that is off, once no thread uses its mappings. Returns its id; 0 = there is
 * none. */
uint64_t provider_session_reap(void);
bool provider_session_has_ending(void);

static inline uint64_t *provider_session_reserve(struct provider_session *s, unsigned slot,
						 uint64_t bytes)
{
	uint64_t *word = &s->slots[slot].word, w = __atomic_load_n(word, __ATOMIC_RELAXED);

	if (provider_likely(w >> PROVIDER_WORD_BLOCK &&
			    PROVIDER_OFFSET(w) + bytes <= s->block_bytes)) {
		w = __atomic_fetch_add(word, bytes, __ATOMIC_ACQ_REL);
		if (provider_likely(w >> PROVIDER_WORD_BLOCK &&
				    PROVIDER_OFFSET(w) + bytes <= s->block_bytes))
			return (uint64_t *)(s->blocks +
					    ((w >> PROVIDER_WORD_BLOCK) - 1) * s->block_bytes +
					    PROVIDER_OFFSET(w));
		if (w >> PROVIDER_WORD_BLOCK && PROVIDER_OFFSET(w) <= s->block_bytes)
			provider_session_end_block(s, w);
	}
	return provider_session_reserve_slow(s, slot, bytes);
}

/* ---- provider-event ---- */

/* Writes the known threads and names to session I, after provider_session_enter(). */
void provider_event_begin(unsigned i);

/* ---- provider-categories ---- */

/* Turns on the categories that match PATTERNS in session I, and all others off; NULL = none
 * match. */
void provider_categories_set(unsigned i, const char *patterns);

/*
 * Fills TEXT with names of categories, each followed by a NUL, from number *NEXT on, and advances
 * *NEXT. Returns the number of bytes; 0 = no more names.
 */
uint32_t provider_categories_list(char *text, uint32_t room, unsigned *next);

/* Counts the categories that were ever added. */
unsigned provider_categories_count(void);
void provider_categories_lock(void);
void provider_categories_unlock(void);
void provider_categories_off(void);

/* ---- provider-start ---- */

/* Wakes the library's thread up, since there is a new category. */
void provider_start_notify(void);
