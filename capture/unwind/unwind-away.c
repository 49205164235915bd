/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-away.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/sandbox/thread.h"

enum unwind_away_state {
	AWAY_FREE,
	AWAY_TO_OPEN,
	AWAY_TO_READ,
	AWAY_TO_CLOSE,
	AWAY_AT_WORK,
	AWAY_DONE, /* to be returned by unwind_away_next() */
	AWAY_HELD, /* the caller checks the opened file */
};

struct unwind_away_slot {
	enum unwind_away_state state;
	struct unwind_away_file file;
};

struct unwind_away {
	pthread_mutex_t lock; /* guards all members */
	int done_fd;          /* owned */
	unsigned n_threads;
	bool has_owner;
	struct unwind_away *next; /* in `away_orphans` */
	struct unwind_away_slot slots[UNWIND_AWAY_FILES_MAX];
};

/* For all sessions. This lock is taken last. */
static pthread_mutex_t away_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned away_n_threads;
static struct unwind_away
	*away_orphans; /* without an owner, with files to close, and no thread to close them */

int unwind_open_mapped(const struct unwind_ask *ask)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, ask->pid,
		 (uint64_t)ask->start, (uint64_t)ask->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* ---- threads ---- */

static bool unwind_away_is_to_do(const struct unwind_away_slot *slot)
{
	return slot->state >= AWAY_TO_OPEN && slot->state <= AWAY_TO_CLOSE;
}

static bool unwind_away_device_works(const struct unwind_away *a, uint32_t device)
{
	for (size_t i = 0; i < UNWIND_AWAY_FILES_MAX; i++)
		if (a->slots[i].state == AWAY_AT_WORK && a->slots[i].file.device == device)
			return true;
	return false;
}

/* The next work for a thread; NULL = none. */
static struct unwind_away_slot *unwind_away_choose(struct unwind_away *a)
{
	for (size_t i = 0; i < UNWIND_AWAY_FILES_MAX; i++) {
		struct unwind_away_slot *slot = &a->slots[i];

		if (unwind_away_is_to_do(slot) && !unwind_away_device_works(a, slot->file.device))
			return slot;
	}
	return NULL;
}

/* Each of these steps can take forever. */
static void unwind_away_do(enum unwind_away_state what, struct unwind_away_file *file)
{
	if (what == AWAY_TO_OPEN) {
		file->step = UNWIND_AWAY_OPENED;
		file->fd = unwind_open_mapped(&file->ask);
		file->result = file->fd < 0 ? file->fd : 0;
		return;
	}
	file->step = UNWIND_AWAY_READ;
	if (what == AWAY_TO_READ)
		file->result =
			unwind_table_read_sandboxed(file->fd, UNWIND_PARSE_NS_MAX, &file->table);
	close_fd(file->fd);
	file->fd = -1;
}

static void unwind_away_work_at(struct unwind_away *a, struct unwind_away_slot *slot)
{
	enum unwind_away_state what = slot->state;
	struct unwind_away_file file = slot->file;

	slot->state = AWAY_AT_WORK;
	pthread_mutex_unlock(&a->lock);
	unwind_away_do(what, &file);
	pthread_mutex_lock(&a->lock);
	slot->file = file;
	slot->state = what == AWAY_TO_CLOSE ? AWAY_FREE : AWAY_DONE;
	if (!a->has_owner && what == AWAY_TO_OPEN)
		slot->state = AWAY_TO_CLOSE;
	thread_signal(a->done_fd);
}

/* The last one, owner or thread, frees everything. Called with the lock. */
static void unwind_away_leave(struct unwind_away *a)
{
	bool last = !a->has_owner && a->n_threads == 0;

	pthread_mutex_unlock(&a->lock);
	if (!last)
		return;
	for (size_t i = 0; i < UNWIND_AWAY_FILES_MAX; i++)
		if (a->slots[i].state == AWAY_DONE)
			unwind_table_deinit(&a->slots[i].file.table);
	pthread_mutex_destroy(&a->lock);
	close_fd(a->done_fd);
	free(a);
}

static void unwind_away_work(struct unwind_away *a)
{
	struct unwind_away_slot *slot;

	pthread_mutex_lock(&a->lock);
	while ((slot = unwind_away_choose(a)))
		unwind_away_work_at(a, slot);
	a->n_threads--;
	unwind_away_leave(a);
}

/* An orphan, now adopted by this thread; NULL = there is none, and the thread no longer counts. */
static struct unwind_away *unwind_away_adopt(void)
{
	struct unwind_away *a;

	pthread_mutex_lock(&away_lock);
	a = away_orphans;
	if (a) {
		away_orphans = a->next;
		a->n_threads = 1;
	} else {
		away_n_threads--;
	}
	pthread_mutex_unlock(&away_lock);
	return a;
}

static void *unwind_away_run(void *userdata)
{
	struct unwind_away *a = userdata;

	if (a)
		unwind_away_work(a);
	while ((a = unwind_away_adopt()))
		unwind_away_work(a);
	return NULL;
}

/* Starts a thread for A, or if A is NULL, for the orphans. */
static bool unwind_away_start_thread(struct unwind_away *a)
{
	bool may;

	pthread_mutex_lock(&away_lock);
	may = away_n_threads < UNWIND_AWAY_ALL_MAX;
	away_n_threads += may;
	pthread_mutex_unlock(&away_lock);
	if (!may)
		return false;
	if (thread_start(unwind_away_run, a) == 0)
		return true;
	pthread_mutex_lock(&away_lock);
	away_n_threads--;
	pthread_mutex_unlock(&away_lock);
	return false;
}

/* Starts another thread, if there is work for one. Called with the lock. */
static void unwind_away_start(struct unwind_away *a)
{
	if (unwind_away_choose(a) && a->n_threads < UNWIND_AWAY_THREADS_MAX &&
	    unwind_away_start_thread(a))
		a->n_threads++;
}

/* Makes A an orphan: the next thread without other work closes its files. */
static void unwind_away_leave_alone(struct unwind_away *a)
{
	pthread_mutex_lock(&away_lock);
	a->next = away_orphans;
	away_orphans = a;
	pthread_mutex_unlock(&away_lock);
	/* (in case the last thread has ended meanwhile) */
	unwind_away_start_thread(NULL);
}

/* ---- the owner ---- */

int unwind_away_new(int done_fd, struct unwind_away **ret)
{
	struct unwind_away *a = calloc(1, sizeof(*a));

	if (!a)
		return -ENOMEM;
	a->done_fd = fcntl(done_fd, F_DUPFD_CLOEXEC, 0);
	if (a->done_fd < 0) {
		int r = -errno;

		free(a);
		return r;
	}
	a->has_owner = true;
	pthread_mutex_init(&a->lock, NULL);
	*ret = a;
	return 0;
}

/* The state of a slot after the owner is gone. */
static enum unwind_away_state unwind_away_without_owner(const struct unwind_away_slot *slot)
{
	switch (slot->state) {
	case AWAY_AT_WORK:
		return AWAY_AT_WORK;
	case AWAY_TO_OPEN:
		return AWAY_FREE;
	default:
		return slot->file.fd >= 0 ? AWAY_TO_CLOSE : slot->state;
	}
}

struct unwind_away *unwind_away_free(struct unwind_away *a)
{
	if (!a)
		return NULL;
	pthread_mutex_lock(&a->lock);
	a->has_owner = false;
	for (size_t i = 0; i < UNWIND_AWAY_FILES_MAX; i++)
		if (a->slots[i].state != AWAY_FREE)
			a->slots[i].state = unwind_away_without_owner(&a->slots[i]);
	unwind_away_start(a);
	if (a->n_threads == 0 && unwind_away_choose(a)) {
		pthread_mutex_unlock(&a->lock);
		unwind_away_leave_alone(a);
	} else {
		unwind_away_leave(a);
	}
	return NULL;
}

int unwind_away_open(struct unwind_away *a, const struct unwind_away_file *file)
{
	int r = -EAGAIN;

	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < UNWIND_AWAY_FILES_MAX && r < 0; i++) {
		if (a->slots[i].state != AWAY_FREE)
			continue;
		a->slots[i] = (struct unwind_away_slot){ AWAY_TO_OPEN, *file };
		a->slots[i].file.fd = -1;
		r = 0;
	}
	unwind_away_start(a);
	pthread_mutex_unlock(&a->lock);
	return r;
}

void unwind_away_read(struct unwind_away *a, const struct unwind_away_file *file, bool wanted)
{
	if (file->fd < 0)
		return;
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < UNWIND_AWAY_FILES_MAX; i++)
		if (a->slots[i].state == AWAY_HELD && a->slots[i].file.fd == file->fd)
			a->slots[i].state = wanted ? AWAY_TO_READ : AWAY_TO_CLOSE;
	unwind_away_start(a);
	pthread_mutex_unlock(&a->lock);
}

bool unwind_away_next(struct unwind_away *a, struct unwind_away_file *ret)
{
	bool found = false;

	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < UNWIND_AWAY_FILES_MAX && !found; i++) {
		struct unwind_away_slot *slot = &a->slots[i];

		if (slot->state != AWAY_DONE)
			continue;
		*ret = slot->file;
		slot->state = slot->file.fd >= 0 ? AWAY_HELD : AWAY_FREE;
		found = true;
	}
	/* (a thread that could not be started before may start now) */
	unwind_away_start(a);
	pthread_mutex_unlock(&a->lock);
	return found;
}

bool unwind_away_is_busy(struct unwind_away *a)
{
	bool busy = false;

	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < UNWIND_AWAY_FILES_MAX; i++)
		busy |= a->slots[i].state != AWAY_FREE;
	pthread_mutex_unlock(&a->lock);
	return busy;
}
