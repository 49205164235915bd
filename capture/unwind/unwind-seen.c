/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-seen.h"

/* The maximum number of ancestors between a process and the process that has made its mapping. */
enum { GENERATIONS_MAX = 64 };

void unwind_seen_init(struct unwind_seen *s)
{
	s->n = 0;
	s->last = (struct table){ 0 };
	pthread_mutex_init(&s->lock, NULL);
}

void unwind_seen_deinit(struct unwind_seen *s)
{
	table_deinit(&s->last);
	pthread_mutex_destroy(&s->lock);
}

static uint64_t unwind_seen_key(uint32_t pid)
{
	return (uint64_t)pid + 1;
}

static uint64_t unwind_seen_last_of(const struct unwind_seen *s, uint32_t pid)
{
	return (uintptr_t)table_get(&s->last, unwind_seen_key(pid));
}

static struct unwind_seen_entry *unwind_seen_slot(struct unwind_seen *s, uint64_t number)
{
	return &s->list[(number - 1) % UNWIND_SEEN_MAX];
}

static void unwind_seen_put(struct unwind_seen *s, const struct unwind_seen_entry *new)
{
	struct unwind_seen_entry *entry;
	uint32_t oldest;

	pthread_mutex_lock(&s->lock);
	entry = unwind_seen_slot(s, ++s->n);
	oldest = entry->mapping.pid;
	/*
	 * The new entry overwrites the oldest one. If that is the last entry of its process,
	 * removes the process from the table, which would otherwise grow without limit.
	 */
	if (s->n > UNWIND_SEEN_MAX && unwind_seen_last_of(s, oldest) == s->n - UNWIND_SEEN_MAX)
		table_remove(&s->last, unwind_seen_key(oldest));
	*entry = *new;
	entry->earlier = unwind_seen_last_of(s, new->mapping.pid);
	/* If there is no memory for the table, later searches do not find the entry. */
	(void)!table_set(&s->last, unwind_seen_key(new->mapping.pid), (void *)(uintptr_t)s->n);
	pthread_mutex_unlock(&s->lock);
}

void unwind_seen_add(struct unwind_seen *s, const struct unwind_seen_mapping *mapping)
{
	unwind_seen_put(s, &(struct unwind_seen_entry){ .mapping = *mapping });
}

void unwind_seen_begin(struct unwind_seen *s, const struct unwind_seen_begin *begin)
{
	unwind_seen_put(s, &(struct unwind_seen_entry){
				   .mapping = { .ts_ns = begin->ts_ns, .pid = begin->pid },
				   .begins = true,
				   .parent = begin->parent,
			   });
}

/* Returns the entry of the same process before ENTRY, or the last entry of PID; NULL = no entry. */
static const struct unwind_seen_entry *unwind_seen_earlier(struct unwind_seen *s, uint32_t pid,
							   const struct unwind_seen_entry *entry)
{
	uint64_t number = entry ? entry->earlier : unwind_seen_last_of(s, pid);

	return number == 0 || number + UNWIND_SEEN_MAX <= s->n ? NULL : unwind_seen_slot(s, number);
}

/* Returns the latest fork or exec that gave PID its address space, up to TS_NS; NULL = unknown. */
static const struct unwind_seen_entry *unwind_seen_begin_of(struct unwind_seen *s, uint32_t pid,
							    uint64_t ts_ns)
{
	const struct unwind_seen_entry *latest = NULL, *e = NULL;

	/*
	 * Each CPU has its own ring, so the entries are not in the order of time, and all of them
	 * are examined.
	 */
	while ((e = unwind_seen_earlier(s, pid, e)))
		if (e->begins && e->mapping.ts_ns <= ts_ns &&
		    (!latest || e->mapping.ts_ns > latest->mapping.ts_ns))
			latest = e;
	return latest;
}

/*
 * Returns the latest mapping at ADDRESS that PID has made from FROM_NS to TS_NS; NULL = no mapping.
 */
static const struct unwind_seen_mapping *unwind_seen_made_by(struct unwind_seen *s, uint32_t pid,
							     uint64_t address, uint64_t from_ns,
							     uint64_t ts_ns)
{
	const struct unwind_seen_mapping *latest = NULL;
	const struct unwind_seen_entry *e = NULL;

	while ((e = unwind_seen_earlier(s, pid, e))) {
		const struct unwind_seen_mapping *m = &e->mapping;

		if (!e->begins && m->ts_ns >= from_ns && m->ts_ns <= ts_ns && address >= m->start &&
		    address < m->end && (!latest || m->ts_ns > latest->ts_ns))
			latest = m;
	}
	return latest;
}

/* Copies the mapping that PID had at ADDRESS at TS_NS to RET. Returns false if it is unknown. */
static bool unwind_seen_latest(struct unwind_seen *s, uint32_t pid, uint64_t address,
			       uint64_t ts_ns, struct unwind_seen_mapping *ret)
{
	const struct unwind_seen_mapping *latest = NULL;
	const struct unwind_seen_entry *begin;

	pthread_mutex_lock(&s->lock);
	for (unsigned i = 0; i < GENERATIONS_MAX; i++) {
		begin = unwind_seen_begin_of(s, pid, ts_ns);
		latest = unwind_seen_made_by(s, pid, address, begin ? begin->mapping.ts_ns : 0,
					     ts_ns);
		if (latest || !begin || !begin->parent)
			break;
		pid = begin->parent;
		ts_ns = begin->mapping.ts_ns;
	}
	if (latest)
		*ret = *latest;
	pthread_mutex_unlock(&s->lock);
	return latest != NULL;
}

/* Stores the file of M in RET, if only one file is possible. */
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
