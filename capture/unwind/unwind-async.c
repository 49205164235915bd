/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwind-async.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/proc/reader-process.h"
#include "capture/sandbox/thread.h"

enum unwind_async_state {
	ASYNC_FREE,
	ASYNC_TO_OPEN,
	ASYNC_TO_READ,
	ASYNC_TO_CLOSE,
	ASYNC_BUSY,
	ASYNC_DONE, /* unwind_async_next() must return it */
	ASYNC_HELD, /* the caller checks the file, which is open */
};

struct unwind_async_slot {
	enum unwind_async_state state;
	struct unwind_async_file file;
};

struct unwind_async {
	pthread_mutex_t lock; /* guards all members */
	int done_fd;          /* owned */
	unsigned n_threads;
	bool has_owner;
	struct unwind_async *next; /* the next element in `async_orphans` */
	struct unwind_async_slot slots[UNWIND_ASYNC_FILES_MAX];
};

/* Guards the variables of all sessions, which follow. This lock is taken last. */
static pthread_mutex_t async_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned async_n_threads;
static struct unwind_async *
	/* Instances that have neither owner nor thread, but files that must be closed. */
	async_orphans;

int unwind_open_mapped(const struct unwind_ask *ask)
{
	char path[64];
	int fd;

	/* (the process is not visible here; its id can be that of another process) */
	if (ask->seen_pid == 0)
		return -ESRCH;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64,
		 ask->seen_pid, (uint64_t)ask->start, (uint64_t)ask->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/* ---- the child that opens files ---- */

enum { UNWIND_ASYNC_OPENINGS_MAX = 64 };

static struct reader_pool unwind_async_pool =
	READER_POOL_INIT(UNWIND_ASYNC_OPENINGS_MAX, UNWIND_ASYNC_OPEN_NS_MAX);

/* A reader_process_fn. ARGS is a struct unwind_ask. */
static int unwind_async_serve(const void *args, struct outbuf *to, int *ret_fd)
{
	int fd = unwind_open_mapped(args);

	(void)to;
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return 0;
}

/* Returns a descriptor or a negative errno. */
static int unwind_async_open_apart(const struct unwind_async_file *file)
{
	const struct reader_job job = {
		.owner = hang_limits_owner_of("", file->ask.seen_pid),
		.place = file->device,
		.fn = unwind_async_serve,
		.args = &file->ask,
		.n_args = sizeof(file->ask),
	};
	struct reader_answer answer;
	int r = reader_process_run(&unwind_async_pool, &job, &answer);

	outbuf_deinit(&answer.data);
	if (r == 0)
		return answer.fd < 0 ? -EBADMSG : answer.fd;
	close_fd(answer.fd);
	return r;
}

/* ---- threads ---- */

static bool unwind_async_is_pending(const struct unwind_async_slot *slot)
{
	return slot->state >= ASYNC_TO_OPEN && slot->state <= ASYNC_TO_CLOSE;
}

static bool unwind_async_device_is_busy(const struct unwind_async *a, uint32_t device)
{
	for (size_t i = 0; i < UNWIND_ASYNC_FILES_MAX; i++)
		if (a->slots[i].state == ASYNC_BUSY && a->slots[i].file.device == device)
			return true;
	return false;
}

/* Returns the next work for a thread; NULL = no work. */
static struct unwind_async_slot *unwind_async_choose(struct unwind_async *a)
{
	for (size_t i = 0; i < UNWIND_ASYNC_FILES_MAX; i++) {
		struct unwind_async_slot *slot = &a->slots[i];

		if (unwind_async_is_pending(slot) &&
		    !unwind_async_device_is_busy(a, slot->file.device))
			return slot;
	}
	return NULL;
}

/* Runs the step WHAT for FILE. Reading or closing a file can take forever. */
static void unwind_async_run_step(enum unwind_async_state what, struct unwind_async_file *file)
{
	if (what == ASYNC_TO_OPEN) {
		file->step = UNWIND_ASYNC_OPENED;
		file->fd = unwind_async_open_apart(file);
		file->result = file->fd < 0 ? file->fd : 0;
		return;
	}
	file->step = UNWIND_ASYNC_READ;
	if (what == ASYNC_TO_READ)
		file->result =
			unwind_table_read_sandboxed(file->fd, UNWIND_PARSE_NS_MAX, &file->table);
	close_fd(file->fd);
	file->fd = -1;
}

static void unwind_async_work_on(struct unwind_async *a, struct unwind_async_slot *slot)
{
	enum unwind_async_state what = slot->state;
	struct unwind_async_file file = slot->file;

	slot->state = ASYNC_BUSY;
	pthread_mutex_unlock(&a->lock);
	unwind_async_run_step(what, &file);
	pthread_mutex_lock(&a->lock);
	slot->file = file;
	slot->state = what == ASYNC_TO_CLOSE ? ASYNC_FREE : ASYNC_DONE;
	if (!a->has_owner && what == ASYNC_TO_OPEN)
		slot->state = ASYNC_TO_CLOSE;
	thread_signal(a->done_fd);
}

/* Frees A if it has neither an owner nor a thread; otherwise unlocks it. Called with the lock. */
static void unwind_async_unlock_or_free(struct unwind_async *a)
{
	bool last = !a->has_owner && a->n_threads == 0;

	pthread_mutex_unlock(&a->lock);
	if (!last)
		return;
	for (size_t i = 0; i < UNWIND_ASYNC_FILES_MAX; i++)
		if (a->slots[i].state == ASYNC_DONE)
			unwind_table_deinit(&a->slots[i].file.table);
	pthread_mutex_destroy(&a->lock);
	close_fd(a->done_fd);
	free(a);
}

static void unwind_async_work(struct unwind_async *a)
{
	struct unwind_async_slot *slot;

	pthread_mutex_lock(&a->lock);
	while ((slot = unwind_async_choose(a)))
		unwind_async_work_on(a, slot);
	a->n_threads--;
	unwind_async_unlock_or_free(a);
}

/*
 * Returns an instance of `async_orphans`, which belongs to this thread from now on. If there is
 * none, returns NULL, and the thread no longer counts.
 */
static struct unwind_async *unwind_async_adopt(void)
{
	struct unwind_async *a;

	pthread_mutex_lock(&async_lock);
	a = async_orphans;
	if (a) {
		async_orphans = a->next;
		a->n_threads = 1;
	} else {
		async_n_threads--;
	}
	pthread_mutex_unlock(&async_lock);
	return a;
}

static void *unwind_async_run(void *userdata)
{
	struct unwind_async *a = userdata;

	if (a)
		unwind_async_work(a);
	while ((a = unwind_async_adopt()))
		unwind_async_work(a);
	return NULL;
}

/* Starts a thread for A, or for the orphans if A is NULL. */
static bool unwind_async_start_thread(struct unwind_async *a)
{
	bool may;

	pthread_mutex_lock(&async_lock);
	may = async_n_threads < UNWIND_ASYNC_ALL_MAX;
	async_n_threads += may;
	pthread_mutex_unlock(&async_lock);
	if (!may)
		return false;
	if (thread_start(unwind_async_run, a) == 0)
		return true;
	pthread_mutex_lock(&async_lock);
	async_n_threads--;
	pthread_mutex_unlock(&async_lock);
	return false;
}

/* Starts another thread, if there is work for one. Called with the lock. */
static void unwind_async_start(struct unwind_async *a)
{
	if (unwind_async_choose(a) && a->n_threads < UNWIND_ASYNC_THREADS_MAX &&
	    unwind_async_start_thread(a))
		a->n_threads++;
}

/* Makes A an orphan: the next thread without other work closes its files. */
static void unwind_async_make_orphan(struct unwind_async *a)
{
	pthread_mutex_lock(&async_lock);
	a->next = async_orphans;
	async_orphans = a;
	pthread_mutex_unlock(&async_lock);
	/* No thread is left to adopt A if the last one has ended meanwhile. */
	unwind_async_start_thread(NULL);
}

/* ---- the owner ---- */

int unwind_async_new(int done_fd, struct unwind_async **ret)
{
	struct unwind_async *a = calloc(1, sizeof(*a));

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

/* Returns the state of a slot after the owner has released the instance. */
static enum unwind_async_state unwind_async_without_owner(const struct unwind_async_slot *slot)
{
	switch (slot->state) {
	case ASYNC_BUSY:
		return ASYNC_BUSY;
	case ASYNC_TO_OPEN:
		return ASYNC_FREE;
	default:
		return slot->file.fd >= 0 ? ASYNC_TO_CLOSE : slot->state;
	}
}

struct unwind_async *unwind_async_free(struct unwind_async *a)
{
	if (!a)
		return NULL;
	pthread_mutex_lock(&a->lock);
	a->has_owner = false;
	for (size_t i = 0; i < UNWIND_ASYNC_FILES_MAX; i++)
		if (a->slots[i].state != ASYNC_FREE)
			a->slots[i].state = unwind_async_without_owner(&a->slots[i]);
	unwind_async_start(a);
	if (a->n_threads == 0 && unwind_async_choose(a)) {
		pthread_mutex_unlock(&a->lock);
		unwind_async_make_orphan(a);
	} else {
		unwind_async_unlock_or_free(a);
	}
	return NULL;
}

int unwind_async_open(struct unwind_async *a, const struct unwind_async_file *file)
{
	int r = -EAGAIN;

	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < UNWIND_ASYNC_FILES_MAX && r < 0; i++) {
		if (a->slots[i].state != ASYNC_FREE)
			continue;
		a->slots[i] = (struct unwind_async_slot){ ASYNC_TO_OPEN, *file };
		a->slots[i].file.fd = -1;
		r = 0;
	}
	unwind_async_start(a);
	pthread_mutex_unlock(&a->lock);
	return r;
}

void unwind_async_read(struct unwind_async *a, const struct unwind_async_file *file, bool wanted)
{
	if (file->fd < 0)
		return;
	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < UNWIND_ASYNC_FILES_MAX; i++)
		if (a->slots[i].state == ASYNC_HELD && a->slots[i].file.fd == file->fd)
			a->slots[i].state = wanted ? ASYNC_TO_READ : ASYNC_TO_CLOSE;
	unwind_async_start(a);
	pthread_mutex_unlock(&a->lock);
}

bool unwind_async_next(struct unwind_async *a, struct unwind_async_file *ret)
{
	bool found = false;

	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < UNWIND_ASYNC_FILES_MAX && !found; i++) {
		struct unwind_async_slot *slot = &a->slots[i];

		if (slot->state != ASYNC_DONE)
			continue;
		*ret = slot->file;
		slot->state = slot->file.fd >= 0 ? ASYNC_HELD : ASYNC_FREE;
		found = true;
	}
	/* If a thread could not be started before, it may be possible now. */
	unwind_async_start(a);
	pthread_mutex_unlock(&a->lock);
	return found;
}

bool unwind_async_is_busy(struct unwind_async *a)
{
	bool busy = false;

	pthread_mutex_lock(&a->lock);
	for (size_t i = 0; i < UNWIND_ASYNC_FILES_MAX; i++)
		busy |= a->slots[i].state != ASYNC_FREE;
	pthread_mutex_unlock(&a->lock);
	return busy;
}
