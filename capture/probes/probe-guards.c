/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/probe-guards.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/outbuf.h"

struct probe_guard {
	uint64_t key;
	enum probes_way way;
	int fd;                         /* the file */
	uint64_t *offsets, *semaphores; /* owned */
	size_t n;
	struct probes *probes; /* NULL = the guard rests, or the kernel has no such probes */
	size_t uses;
	int slot; /* its slot in the journal; negative = no slot */
	unsigned removals_slot;
};

void probe_guards_init(struct probe_guards *g, struct probe_removals *removals)
{
	struct probe_journal *journal = NULL;

	/* This fails for users other than root. Then there is no journal. */
	probe_journal_new(&journal);
	*g = (struct probe_guards){ .journal = journal, .removals = removals };
}

/* Lists each offset once, with the semaphore of the offset. Returns the number of offsets. */
static size_t probe_guards_list_offsets(const struct probes_target *t, uint64_t *ret,
					uint64_t *ret_semaphores)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		if (n > 0 && ret[n - 1] == t->probes[i].offset)
			continue;
		ret_semaphores[n] = t->probes[i].semaphore;
		ret[n++] = t->probes[i].offset;
	}
	return n;
}

static void probe_guards_free_guard(struct probe_guard *guard)
{
	if (!guard)
		return;
	close_fd(guard->fd);
	free(guard->offsets);
	free(guard->semaphores);
	free(guard);
}

static struct probe_guard *probe_guards_make(struct probe_guards *g, const struct probes_target *t,
					     const struct probe_file *file,
					     const uint64_t *semaphores, uint64_t key)
{
	struct probe_guard *guard = calloc(1, sizeof(*guard));

	if (!guard)
		return NULL;
	guard->key = key;
	guard->way = t->way;
	guard->n = file->n;
	guard->fd = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);
	guard->offsets = calloc(file->n + 1, sizeof(*guard->offsets));
	guard->semaphores = calloc(file->n + 1, sizeof(*guard->semaphores));
	if (guard->fd < 0 || !guard->offsets || !guard->semaphores ||
	    table_set(&g->by_places, key, guard) < 0) {
		probe_guards_free_guard(guard);
		return NULL;
	}
	memcpy(guard->offsets, file->offsets, file->n * sizeof(*guard->offsets));
	memcpy(guard->semaphores, semaphores, file->n * sizeof(*semaphores));
	guard->removals_slot = probe_removals_slot(guard->fd);
	guard->slot = g->journal ? probe_journal_add(g->journal, file) : -1;
	return guard;
}

void probe_guards_wake(struct probe_guards *g, struct probe_guard *guard)
{
	if (!guard || guard->probes)
		return;
	if (probes_new_for_nobody(guard->way, guard->fd, guard->offsets, guard->semaphores,
				  guard->n, &guard->probes) == 0)
		g->n_awake++;
	else
		guard->probes = NULL;
	/*
	 * If the kernel refused a probe, the call above has removed probes, so this removal is
	 * noted.
	 */
	if (!guard->probes || probes_were_retried(guard->probes)) {
		probe_removals_begin(g->removals, guard->removals_slot);
		probe_removals_end(g->removals);
	}
}

struct probe_guard *probe_guards_acquire(struct probe_guards *g, const struct probes_target *t)
{
	/* The words for the key are the device, the inode and the offsets, in this order. */
	_cleanup_free_ uint64_t *words = calloc(t->n + 2, sizeof(*words));
	_cleanup_free_ uint64_t *semaphores = calloc(t->n + 1, sizeof(*semaphores));
	struct probe_guard *guard;
	struct probe_file file;
	struct stat st;
	uint64_t key;

	if (!words || !semaphores || fstat(t->fd, &st) < 0)
		return NULL;
	file = (struct probe_file){ st.st_dev, st.st_ino, words + 2,
				    probe_guards_list_offsets(t, words + 2, semaphores) };
	words[0] = file.device;
	words[1] = file.inode;
	key = table_hash(words, (file.n + 2) * sizeof(*words));
	guard = table_get(&g->by_places, key);
	if (!guard)
		guard = probe_guards_make(g, t, &file, semaphores, key);
	else if (guard->uses == 0)
		g->n_unused--;
	if (!guard)
		return NULL;
	guard->uses++;
	probe_guards_wake(g, guard);
	return guard;
}

void probe_guards_drop(struct probe_guards *g, struct probe_guard *guard)
{
	if (guard && --guard->uses == 0)
		g->n_unused++;
}

static struct probe_guard *probe_guards_find_unused(const struct probe_guards *g)
{
	struct probe_guard *guard;

	for (size_t pos = 0; (guard = table_next(&g->by_places, &pos));)
		if (guard->uses == 0)
			return guard;
	return NULL;
}

void probe_guards_rest(struct probe_guards *g)
{
	_cleanup_(outbuf_deinit) struct outbuf list = { 0 };
	struct probe_guard *guard;

	for (size_t pos = 0; (guard = table_next(&g->by_places, &pos));)
		if (guard->probes)
			probe_removals_begin(g->removals, guard->removals_slot);
	for (size_t pos = 0; (guard = table_next(&g->by_places, &pos));) {
		if (outbuf_append(&list, &guard->probes, sizeof(guard->probes)) < 0)
			probes_free(guard->probes);
		guard->probes = NULL;
	}
	probes_free_all((struct probes **)list.data, list.size / sizeof(struct probes *));
	probe_removals_end(g->removals);
	g->n_awake = 0;
	while (g->n_unused > 0 && (guard = probe_guards_find_unused(g))) {
		table_remove(&g->by_places, guard->key);
		g->n_unused--;
		if (g->journal)
			probe_journal_clear(g->journal, guard->slot);
		probe_guards_free_guard(guard);
	}
}

void probe_guards_end(struct probe_guards *g)
{
	const struct probe_guard *guard;

	/*
	 * When this process ends, the kernel closes the guards' descriptors first, and then
	 * releases these locks.
	 */
	for (size_t pos = 0; (guard = table_next(&g->by_places, &pos));)
		probe_removals_begin(g->removals, guard->removals_slot);
	if (g->journal)
		probe_journal_remove(g->journal);
}
