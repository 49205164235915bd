/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-seen.h"

void unwind_seen_init(struct unwind_seen *s)
{
	s->n = 0;
	pthread_mutex_init(&s->lock, NULL);
}

void unwind_seen_deinit(struct unwind_seen *s)
{
	pthread_mutex_destroy(&s->lock);
}

void unwind_seen_add(struct unwind_seen *s, const struct unwind_seen_mapping *mapping)
{
	pthread_mutex_lock(&s->lock);
	s->list[s->n++ % UNWIND_SEEN_MAX] = *mapping;
	pthread_mutex_unlock(&s->lock);
}

/* Copies the latest mapping of PID at ADDRESS up to TS_NS to RET. */
static bool unwind_seen_latest(struct unwind_seen *s, uint32_t pid, uint64_t address,
			       uint64_t ts_ns, struct unwind_seen_mapping *ret)
{
	const struct unwind_seen_mapping *latest = NULL;
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = s->n < UNWIND_SEEN_MAX ? s->n : UNWIND_SEEN_MAX;
	/* (each CPU reports its own, so they are not in the order of time) */
	for (size_t i = 0; i < n; i++) {
		const struct unwind_seen_mapping *m = &s->list[i];

		if (m->pid == pid && m->ts_ns <= ts_ns && address >= m->start && address < m->end &&
		    (!latest || m->ts_ns >= latest->ts_ns))
			latest = m;
	}
	if (latest)
		*ret = *latest;
	pthread_mutex_unlock(&s->lock);
	return latest != NULL;
}

/* Stores the only file that M can have in RET. */
static bool unwind_seen_file(const struct unwind_file *files, const struct unwind_seen_mapping *m,
			     struct unwind_mapping *ret)
{
	ret->file = UNWIND_FILE_NONE;
	ret->generation = 0;
	for (uint32_t i = UNWIND_FILE_VDSO + 1; m->inode && i < UNWIND_FILES_MAX; i++) {
		if (files[i].inode != m->inode || files[i].device != m->device)
			continue;
		if (ret->file != UNWIND_FILE_NONE)
			return false;
		ret->file = (uint16_t)i;
		ret->generation = (uint16_t)files[i].generation;
	}
	return !m->inode || ret->file != UNWIND_FILE_NONE;
}

bool unwind_seen_find(struct unwind_seen *s, const struct unwind_file *files, uint32_t pid,
		      uint64_t address, uint64_t ts_ns, struct unwind_mapping *ret)
{
	struct unwind_seen_mapping m;
	struct unwind_mapping found;

	if (!unwind_seen_latest(s, pid, address, ts_ns, &m) || !unwind_seen_file(files, &m, &found))
		return false;
	found.where =
		UNWIND_WHERE(m.start >> UNWIND_PAGE_SHIFT, (m.end - m.start) >> UNWIND_PAGE_SHIFT);
	found.file_page = (uint32_t)(m.file_offset >> UNWIND_PAGE_SHIFT);
	*ret = found;
	return true;
}
