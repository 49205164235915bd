/* SPDX-License-Identifier: MIT */
/*
 * A table of texts, which only grows. Any thread and signal handler can add entries without a lock:
 * an entry is complete before it can be found. The memory is reserved at the start, and used on
 * demand.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "provider/provider-state.h"

enum {
	STRINGS_SLOTS = 1 << 16,
	/* With this limit, all texts, threads and names fit into the durable part. */
	STRINGS_TEXT_MAX = 512 << 10,
};

struct provider_string {
	uint32_t offset;
	uint16_t length;
	uint8_t complete;
	uint8_t written; /* a bit for each session */
};

struct strings {
	uint32_t n;    /* can exceed the number of entries */
	uint32_t used; /* bytes of text; can exceed the room */
	struct provider_string entries[FXT_STRING_INDEX_MAX + 1];
	uint16_t slots[STRINGS_SLOTS]; /* indexes of entries; 0 = free */
	char text[STRINGS_TEXT_MAX];
};

static struct strings *strings;

int provider_strings_init(void)
{
	void *p = mmap(NULL, sizeof(*strings), PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return -ENOMEM;
	strings = p;
	return 0;
}

static uint32_t provider_strings_hash(const char *text, uint32_t length)
{
	uint32_t hash = 2166136261U; /* (FNV-1a) */

	for (uint32_t i = 0; i < length; i++)
		hash = (hash ^ (uint8_t)text[i]) * 16777619U;
	return hash ^ hash >> 16;
}

/* Writes the string ID to the active sessions that do not have it. */
static void provider_strings_publish(uint32_t id)
{
	struct provider_string *e = &strings->entries[id];
	uint32_t missing = __atomic_load_n(&provider_state->active, __ATOMIC_SEQ_CST) &
			   ~(uint32_t)__atomic_load_n(&e->written, __ATOMIC_ACQUIRE);
	uint64_t words[1 + KYMO_NAME_MAX / FXT_WORD_BYTES];
	unsigned n = 1 + (unsigned)fxt_stream_words(e->length);

	if (!missing)
		return;
	words[0] = fxt_string_header(id, e->length);
	words[n - 1] = 0;
	memcpy(words + 1, strings->text + e->offset, e->length);
	for (unsigned i = 0; i < PROVIDER_SESSIONS; i++) {
		struct provider_session *s = &provider_state->sessions[i];

		if (!(missing >> i & 1) || !provider_session_enter(s))
			continue;
		provider_session_append(s, words, n);
		provider_session_leave(s);
		__atomic_fetch_or(&e->written, (uint8_t)(1 << i), __ATOMIC_RELEASE);
	}
}

/* Makes an entry for TEXT. Returns its index; 0 = there is no room. */
static uint32_t provider_strings_make(const char *text, uint32_t length)
{
	uint32_t id, offset;

	/* (checked before the counters are increased, so that these cannot overflow) */
	if (__atomic_load_n(&strings->n, __ATOMIC_RELAXED) >= FXT_STRING_INDEX_MAX ||
	    __atomic_load_n(&strings->used, __ATOMIC_RELAXED) + length > STRINGS_TEXT_MAX)
		return 0;
	offset = __atomic_fetch_add(&strings->used, length, __ATOMIC_RELAXED);
	if (offset + length > STRINGS_TEXT_MAX)
		return 0;
	id = __atomic_add_fetch(&strings->n, 1, __ATOMIC_RELAXED);
	if (id > FXT_STRING_INDEX_MAX)
		return 0;
	memcpy(strings->text + offset, text, length);
	strings->entries[id].offset = offset;
	strings->entries[id].length = (uint16_t)length;
	__atomic_store_n(&strings->entries[id].complete, 1, __ATOMIC_SEQ_CST);
	return id;
}

static bool provider_strings_is(uint32_t id, const char *text, uint32_t length)
{
	const struct provider_string *e = &strings->entries[id];

	return e->length == length && memcmp(strings->text + e->offset, text, length) == 0;
}

uint32_t provider_strings_intern(const char *text, uint32_t length)
{
	uint32_t id = 0, slot = provider_strings_hash(text, length) % STRINGS_SLOTS;

	if (length == 0 || length > KYMO_NAME_MAX || !strings)
		return 0;
	for (uint32_t tries = 0; tries < STRINGS_SLOTS; tries++) {
		uint16_t there = __atomic_load_n(&strings->slots[slot], __ATOMIC_ACQUIRE);

		if (there == 0) {
			if (id == 0)
				id = provider_strings_make(text, length);
			if (id == 0)
				return 0;
			if (__atomic_compare_exchange_n(&strings->slots[slot], &there, (uint16_t)id,
							false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				there = (uint16_t)id;
		}
		if (there == id || provider_strings_is(there, text, length)) {
			provider_strings_publish(there);
			return there;
		}
		slot = (slot + 1) % STRINGS_SLOTS;
	}
	return 0;
}

static uint32_t provider_strings_count(void)
{
	uint32_t n = __atomic_load_n(&strings->n, __ATOMIC_ACQUIRE);

	return n < FXT_STRING_INDEX_MAX ? n : FXT_STRING_INDEX_MAX;
}

void provider_strings_forget(unsigned i)
{
	for (uint32_t id = 1, n = provider_strings_count(); id <= n; id++)
		__atomic_fetch_and(&strings->entries[id].written, (uint8_t) ~(1 << i),
				   __ATOMIC_ACQ_REL);
}

void provider_strings_begin(void)
{
	for (uint32_t id = 1, n = provider_strings_count(); id <= n; id++)
		if (__atomic_load_n(&strings->entries[id].complete, __ATOMIC_SEQ_CST))
			provider_strings_publish(id);
}
