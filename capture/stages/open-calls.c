/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/stages/open-calls.h"

#include <stdlib.h>
#include <string.h>

enum {
	PLACE_PID_SHIFT = 42
}; /* the lower bits are for the stack pointer, except those of its bits that are always 0 */

/*
 * The last bit is 1, so that the key is never 0: programs choose the other bits, and these can be
 * 0.
 */
static uint64_t open_calls_key(uint32_t pid, uint64_t sp)
{
	return (((uint64_t)pid << PLACE_PID_SHIFT) ^ sp / sizeof(sp)) | 1;
}

void open_calls_list(struct table *places, struct call_open *call)
{
	uint64_t key = open_calls_key(call->rec.head.pid, call->rec.sp);

	call->same = table_get(places, key);
	if (table_set(places, key, call) < 0)
		call->same = NULL;
}

static void open_calls_unlist(struct table *places, struct call_open *call)
{
	uint64_t key = open_calls_key(call->rec.head.pid, call->rec.sp);
	struct call_open *list = table_get(places, key), **at = &list;

	while (*at && *at != call)
		at = &(*at)->same;
	if (!*at)
		return;
	*at = call->same;
	/* The key exists, so replacing its value needs no memory. */
	if (list)
		table_set(places, key, list);
	else
		table_remove(places, key);
}

void open_calls_free(struct table *places, struct call_open *call)
{
	open_calls_unlist(places, call);
	free(call);
}

void open_calls_free_thread(struct table *places, struct call_thread *thread)
{
	struct call_open *call;

	for (size_t i = 0; i < thread->n_open; i++)
		open_calls_free(places, thread->open[i]);
	free(thread->open);
	for (size_t pos = 0; (call = table_next(&thread->doubted, &pos));) {
		while (call) {
			struct call_open *next = call->next;

			open_calls_free(places, call);
			call = next;
		}
	}
	table_deinit(&thread->doubted);
	free(thread);
}

static bool open_calls_is_ended(const struct call_open *call, const struct rec_call_end *end)
{
	return call->rec.sp == end->sp && call->rec.function == end->function;
}

size_t open_calls_find(const struct call_thread *thread, const struct rec_call_end *end)
{
	for (size_t i = thread->n_open; i > 0 && thread->open[i - 1]->rec.sp <= end->sp; i--)
		if (open_calls_is_ended(thread->open[i - 1], end))
			return i;
	return 0;
}

struct call_open *open_calls_remove(struct call_thread *thread, size_t at)
{
	struct call_open *call = thread->open[at - 1];

	memmove(&thread->open[at - 1], &thread->open[at],
		(thread->n_open - at) * sizeof(*thread->open));
	thread->n_open--;
	return call;
}

struct call_open *open_calls_remove_doubted(struct call_thread *thread,
					    const struct rec_call_end *end)
{
	struct call_open *list = table_get(&thread->doubted, end->sp + 1), *found;
	struct call_open **at = &list;

	while (*at && (*at)->rec.function != end->function)
		at = &(*at)->next;
	found = *at;
	if (!found)
		return NULL;
	*at = found->next;
	/* The key exists, so replacing its value needs no memory. */
	if (list)
		table_set(&thread->doubted, end->sp + 1, list);
	else
		table_remove(&thread->doubted, end->sp + 1);
	return found;
}

struct call_open *open_calls_remove_elsewhere(const struct table *places,
					      const struct rec_call_end *end)
{
	const struct call_open *listed = table_get(places, open_calls_key(end->head.pid, end->sp));
	struct call_thread *thread;
	size_t at;

	while (listed &&
	       (listed->rec.head.pid != end->head.pid || !open_calls_is_ended(listed, end)))
		listed = listed->same;
	if (!listed)
		return NULL;
	thread = listed->thread;
	thread->switches = true;
	at = open_calls_find(thread, end);
	return at > 0 ? open_calls_remove(thread, at) : open_calls_remove_doubted(thread, end);
}
