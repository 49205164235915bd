/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/unwind/unwinder.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file-kind.h"
#include "capture/sandbox/thread.h"
#include "capture/unwind/unwind-aside.h"
#include "capture/unwind/unwind-async.h"
#include "capture/unwind/unwind-cache.h"
#include "capture/unwind/unwind-pythons.h"
#include "capture/unwind/unwind-queue.h"

/* Files of this size are read in a separate thread: their tables take up to some seconds. */
#define LARGE_BYTES ((off_t)8 << 20)

enum {
	LISTS_MAX = 64,
	/*
	 * A file is given up after this many misses: processes can end before their file is opened.
	 */
	MISSED_MAX = 200,
};

/* The interval in which a wait checks whether it is called off. */
#define CALLED_OFF_NS UINT64_C(50000000)

struct unwinder {
	pthread_mutex_t lock; /* guards all members up to the next blank line */
	pthread_cond_t answered;
	pthread_cond_t to_list_more;
	unsigned n_holders; /* 3 = owner and both threads */
	bool quits;
	uint64_t n_asked;    /* incremented when there can be new requests in the ring */
	uint64_t n_answered; /* all requests are answered up to this value of n_asked */
	uint64_t n_local;    /* as n_answered, without files on remote and FUSE file systems */
	uint32_t to_list[LISTS_MAX]; /* processes that must be listed */
	unsigned n_to_list;
	bool lists; /* a process is being listed */
	struct unwinder_counts counts;
	struct unwind_pythons pythons;

	/* The members below are for the thread that answers requests. */
	int stop_fd;
	uint64_t bytes_max;
	struct unwind_maps maps;
	struct unwind_cache *cache; /* NULL = no cache */
	struct unwind_async *async;
	/*
	 * Each of the two makes one table at a time: the first one of a small file, the second one
	 * of a large file
	 */
	struct unwind_aside *small_aside, *large_aside;
	struct ring_buffer *ring;
	struct unwind_queue asks;
	struct unwind_queue large; /* large files that are open and wait */
	uint8_t n_missed[UNWIND_FILES_MAX];
};

static void unwinder_release(struct unwinder *u)
{
	bool last;

	pthread_mutex_lock(&u->lock);
	last = --u->n_holders == 0;
	pthread_mutex_unlock(&u->lock);
	if (!last)
		return;
	unwind_queue_deinit(&u->asks);
	unwind_queue_deinit(&u->large);
	ring_buffer__free(u->ring);
	unwind_maps_deinit(&u->maps);
	unwind_cache_free(u->cache);
	unwind_async_free(u->async);
	unwind_aside_free(u->small_aside);
	unwind_aside_free(u->large_aside);
	close_fd(u->stop_fd);
	pthread_cond_destroy(&u->answered);
	pthread_cond_destroy(&u->to_list_more);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

static void unwinder_count(struct unwinder *u, uint64_t *count)
{
	pthread_mutex_lock(&u->lock);
	(*count)++;
	pthread_mutex_unlock(&u->lock);
}

/* ---- one table ---- */

/*
 * Opens the requested file. The mapping may have been replaced by another file meanwhile, so the
 * mappings of the process must be the same before and after opening. The number of the vdso is
 * never requested.
 */
static int unwinder_open(const struct unwinder *u, const struct unwind_ask *ask)
{
	uint32_t before, after;
	_cleanup_close_ int fd = -1;

	if (!unwind_maps_has(&u->maps, ask, &before))
		return -ESTALE;
	fd = unwind_open_mapped(ask);
	if (fd >= 0 && (!unwind_maps_has(&u->maps, ask, &after) || after != before))
		return -ESTALE;
	return TAKE_FD(fd);
}

static int unwinder_put(struct unwinder *u, uint32_t number, const struct unwind_table *table)
{
	uint64_t n_taken = 0;
	int r = -ENOBUFS;
	bool has_room = unwind_maps_make_room(&u->maps, number, unwind_maps_table_bytes(table),
					      u->bytes_max, &n_taken);

	pthread_mutex_lock(&u->lock);
	u->counts.n_evicted += n_taken;
	unwind_pythons_collect(&u->pythons, u->maps.files, number);
	pthread_mutex_unlock(&u->lock);
	if (has_room)
		r = unwind_maps_put(&u->maps, number, table);
	/* (a table without rows is not stored) */
	if (r < 0 || table->n_rows == 0 ||
	    u->maps.files[number].python.layout != PYTHON_LAYOUT_UNKNOWN)
		return r;
	pthread_mutex_lock(&u->lock);
	unwind_pythons_add(&u->pythons, number, (uint32_t)table->python.version);
	pthread_mutex_unlock(&u->lock);
	return r;
}

static bool unwinder_is_of_now(const struct unwinder *u, const struct unwind_ask *ask)
{
	return ask->number < UNWIND_FILES_MAX &&
	       (uint16_t)u->maps.files[ask->number].generation == ask->generation;
}

/*
 * Called if the requesting process has ended, or has another mapping at this address. The next
 * process that maps the file requests the table again, unless there were too many such failures.
 */
static void unwinder_miss(struct unwinder *u, const struct unwind_ask *ask)
{
	if (!unwinder_is_of_now(u, ask))
		return;
	if (u->n_missed[ask->number]++ < MISSED_MAX)
		unwind_maps_mark_new(&u->maps, ask->number);
	else
		unwind_maps_put_nothing(&u->maps, ask->number);
}

/*
 * Counts an answer. A file that could not be opened (WAS_OPENED is false) does not count as failed.
 */
static void unwinder_count_answer(struct unwinder *u, bool was_opened, int result)
{
	pthread_mutex_lock(&u->lock);
	u->counts.n_asked++;
	u->counts.n_tables += result == 0;
	u->counts.n_failed += was_opened && result < 0;
	u->counts.bytes = u->maps.all_bytes;
	pthread_mutex_unlock(&u->lock);
}

/*
 * Counts a table from the cache, if RESULT of unwind_cache_make() says so. Returns the error in
 * RESULT, or 0.
 */
static int unwinder_count_made(struct unwinder *u, int result)
{
	if (result == UNWIND_CACHE_FOUND)
		unwinder_count(u, &u->counts.n_cached);
	return result < 0 ? result : 0;
}

/* Stores the result of reading a file: TABLE, or RESULT, which says why there is no table. */
static void unwinder_store_table(struct unwinder *u, const struct unwind_ask *ask, int result,
				 const struct unwind_table *table)
{
	/*
	 * A process that reads another file of this file system already hangs. That process can
	 * still end, so the table is requested again later.
	 */
	if (result == -EBUSY) {
		unwinder_miss(u, ask);
		unwinder_count_answer(u, false, result);
		return;
	}
	u->n_missed[ask->number] = 0;
	if (result == 0)
		result = unwinder_put(u, ask->number, table);
	if (result < 0)
		unwind_maps_put_nothing(&u->maps, ask->number);
	unwinder_count_answer(u, true, result);
}

/*
 * Answers the request for FILE with its cached table. FILE is open. Returns false if the cache has
 * no table.
 */
static bool unwinder_answer_cached(struct unwinder *u, const struct unwind_waiting *file)
{
	_cleanup_(unwind_table_deinit) struct unwind_table table = { 0 };

	if (!u->cache || unwind_cache_find(u->cache, file->fd, &table) < 0)
		return false;
	unwinder_store_table(u, &file->ask, unwinder_count_made(u, UNWIND_CACHE_FOUND), &table);
	close_fd(file->fd);
	return true;
}

/* Makes the table of FILE in ASIDE. FILE is open, and ASIDE is not busy. */
static void unwinder_begin(struct unwinder *u, struct unwind_aside *aside,
			   const struct unwind_waiting *file)
{
	_cleanup_(unwind_table_deinit) struct unwind_table table = { 0 };
	int r;

	if (unwind_aside_begin(aside, file) == 0)
		return;
	/* No thread could be started, so this thread does the work. */
	r = unwind_cache_make(u->cache, file->fd, &table);
	unwinder_store_table(u, &file->ask, unwinder_count_made(u, r), &table);
	close_fd(file->fd);
}

static bool unwinder_is_large(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_size >= LARGE_BYTES;
}

/* Puts FILE, which is large and open, into the queue of files that wait for a table. */
static void unwinder_queue_large(struct unwinder *u, const struct unwind_waiting *file)
{
	if (u->large.n == UNWIND_QUEUE_OPEN_MAX) {
		close_fd(file->fd);
		unwinder_miss(u, &file->ask);
	} else if (unwind_queue_put(&u->large, file) < 0) {
		unwinder_miss(u, &file->ask);
	}
}

/*
 * Returns true if the file is on a remote or FUSE file system, so that opening it can take forever.
 */
static bool unwinder_is_async(const struct unwinder *u, const struct unwind_ask *ask)
{
	return !file_system_is_local(u->maps.files[ask->number % UNWIND_FILES_MAX].filesystem);
}

/*
 * Requests the file of ASK on a remote or FUSE file system. Returns false if the process does not
 * have the file, or too many files wait.
 */
static bool unwinder_request_async(struct unwinder *u, const struct unwind_ask *ask)
{
	struct unwind_async_file file = { .ask = *ask, .fd = -1 };

	file.device = u->maps.files[ask->number % UNWIND_FILES_MAX].device;
	return unwind_maps_has(&u->maps, ask, &file.changes) &&
	       unwind_async_open(u->async, &file) == 0;
}

/*
 * Handles the next request in the queue. If the requested table is not cached, another thread makes
 * it. (The calling thread must be free to open the files of further requests, since processes may
 * end, or unmap the files, at any moment.)
 */
static void unwinder_answer_next(struct unwinder *u)
{
	struct unwind_waiting file = unwind_queue_pop(&u->asks, u->maps.files);
	uint64_t begun_ns = clock_read_ns(CLOCK_MONOTONIC);

	/*
	 * A file that is already open is local, even if its number belongs to another file by now.
	 */
	if (file.fd < 0 && unwinder_is_async(u, &file.ask)) {
		if (!unwinder_request_async(u, &file.ask))
			unwinder_miss(u, &file.ask);
		return;
	}
	if (file.fd < 0)
		file.fd = unwinder_open(u, &file.ask);
	if (!unwinder_is_of_now(u, &file.ask)) {
		close_fd(file.fd);
		return;
	}
	if (file.fd < 0) {
		unwinder_miss(u, &file.ask);
		unwinder_count_answer(u, false, file.fd);
		return;
	}
	if (unwinder_answer_cached(u, &file))
		unwind_queue_charge(&u->asks, file.owner,
				    clock_read_ns(CLOCK_MONOTONIC) - begun_ns);
	else if (unwinder_is_large(file.fd))
		unwinder_queue_large(u, &file);
	else
		unwinder_begin(u, u->small_aside, &file);
}

/* ---- tables that are made aside ---- */

/* Stores the table that ASIDE has made for a file of QUEUE, if it has made one. */
static void unwinder_fetch(struct unwinder *u, struct unwind_aside *aside,
			   struct unwind_queue *queue)
{
	struct unwind_aside_file made;
	int r;

	if (!unwind_aside_next(aside, &made))
		return;
	r = unwinder_count_made(u, made.result);
	unwind_queue_charge(queue, made.file.owner, made.ns);
	if (unwinder_is_of_now(u, &made.file.ask))
		unwinder_store_table(u, &made.file.ask, r, &made.table);
	unwind_table_deinit(&made.table);
}

static void unwinder_look_aside(struct unwinder *u)
{
	struct unwind_waiting file;

	unwinder_fetch(u, u->small_aside, &u->asks);
	unwinder_fetch(u, u->large_aside, &u->large);
	if (u->large.n == 0 || unwind_aside_is_busy(u->large_aside))
		return;
	file = unwind_queue_pop(&u->large, u->maps.files);
	unwinder_begin(u, u->large_aside, &file);
}

/*
 * Returns true if any table is being made. If a table was made, but not fetched, this counts, too.
 */
static bool unwinder_makes_any(struct unwinder *u)
{
	return unwind_aside_is_busy(u->small_aside) || unwind_aside_is_busy(u->large_aside);
}

/* ---- files on remote and FUSE file systems ---- */

/* Checks that the opened file is the mapped file, as unwinder_open() does. */
static void unwinder_on_opened(struct unwinder *u, struct unwind_async_file *file)
{
	uint32_t changes;
	bool is_it = file->fd >= 0 && unwinder_is_of_now(u, &file->ask) &&
		     unwind_maps_has(&u->maps, &file->ask, &changes) && changes == file->changes;

	if (!is_it) {
		unwinder_miss(u, &file->ask);
		unwinder_count_answer(u, false, -ESTALE);
	}
	unwind_async_read(u->async, file, is_it);
}

static void unwinder_poll_async(struct unwinder *u)
{
	struct unwind_async_file file;

	while (unwind_async_next(u->async, &file)) {
		if (file.step == UNWIND_ASYNC_OPENED) {
			unwinder_on_opened(u, &file);
			continue;
		}
		if (unwinder_is_of_now(u, &file.ask))
			unwinder_store_table(u, &file.ask, file.result, &file.table);
		unwind_table_deinit(&file.table);
	}
}

/*
 * Makes the table of the vdso. The kernel maps the vdso into each process, including this one, so
 * it is trusted.
 */
static void unwinder_answer_vdso(struct unwinder *u)
{
	_cleanup_(unwind_table_deinit) struct unwind_table table = { 0 };
	const Elf64_Ehdr *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	/* The section headers are at the end of the vdso, so they show its size. */
	size_t size = vdso ? vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize : 0;

	if (size == 0 || unwind_table_read(vdso, size, &table) < 0 ||
	    unwinder_put(u, UNWIND_FILE_VDSO, &table) < 0)
		unwind_maps_put_nothing(&u->maps, UNWIND_FILE_VDSO);
}

/* ---- the thread ---- */

/*
 * Opens the file at once, because the process that maps the file may end before the file is read.
 * While the mappings of the process change, it can seem that the process does not map the file. So
 * a request that fails here is put into the queue, and is tried once more.
 */
static void unwinder_take_ask(struct unwinder *u, const struct unwind_ask *ask)
{
	struct unwind_waiting file = { .ask = *ask, .fd = -1 };
	bool is_async = unwinder_is_async(u, ask);

	file.ask.seen_pid = unwind_maps_seen_pid(&u->maps, ask->pid);
	if (file.ask.seen_pid == 0) {
		/* A process that can be seen here may request it later. */
		if (unwinder_is_of_now(u, ask))
			unwind_maps_mark_new(&u->maps, ask->number);
		return;
	}
	if (is_async && unwinder_request_async(u, &file.ask))
		return;
	if (!is_async && u->asks.n < UNWIND_QUEUE_OPEN_MAX)
		file.fd = unwinder_open(u, &file.ask);
	if (unwind_queue_put(&u->asks, &file) < 0)
		unwinder_miss(u, ask);
}

/*
 * Requests tables of the other files of a process when one file needs a table: a walk that has
 * stopped at one file does not know the next files.
 */
static void unwinder_ask_for_rest(struct unwinder *u, uint32_t pid)
{
	struct unwind_process process;
	struct unwind_ask ask;

	if (!unwind_maps_look_up(&u->maps, pid, &process))
		return;
	for (uint32_t i = 0; i < process.n; i++)
		if (unwind_maps_ask(&u->maps, pid, &process.mappings[i], &ask))
			unwinder_take_ask(u, &ask);
}

static int unwinder_on_request(void *userdata, void *data, size_t size)
{
	struct unwinder *u = userdata;
	struct unwind_ask ask;

	if (size < sizeof(ask))
		return 0;
	memcpy(&ask, data, sizeof(ask));
	if (ask.number == UNWIND_FILE_NONE) {
		unwind_maps_recycle_names(&u->maps);
		/* A recycled number belongs to another file, so its misses begin at 0. */
		memset(u->n_missed, 0, sizeof(u->n_missed));
		return 0;
	}
	unwinder_take_ask(u, &ask);
	unwinder_ask_for_rest(u, ask.pid);
	return 0;
}

/*
 * A separate thread that lists the mappings of the processes that wait for it. The kernel waits for
 * a lock of such a process, and the thread that has the lock may get no CPU for a while.
 */
static void *unwinder_run_lists(void *userdata)
{
	struct unwinder *u = userdata;

	pthread_mutex_lock(&u->lock);
	while (!u->quits) {
		uint32_t pid;

		if (u->n_to_list == 0) {
			pthread_cond_wait(&u->to_list_more, &u->lock);
			continue;
		}
		pid = u->to_list[--u->n_to_list];
		u->lists = true;
		pthread_mutex_unlock(&u->lock);
		unwind_maps_list(&u->maps, pid);
		pthread_mutex_lock(&u->lock);
		u->lists = false;
		if (u->n_to_list == 0) {
			u->n_asked++;
			thread_signal(u->stop_fd);
		}
	}
	pthread_mutex_unlock(&u->lock);
	unwinder_release(u);
	return NULL;
}

static uint64_t unwinder_n_asked(struct unwinder *u)
{
	uint64_t n;

	pthread_mutex_lock(&u->lock);
	n = u->n_asked;
	pthread_mutex_unlock(&u->lock);
	return n;
}

/* Waits for work and does it. Returns true if the thread must end. */
static bool unwinder_poll(struct unwinder *u)
{
	/*
	 * This number is read first: a request that is made from now on may reach the ring only
	 * after this round.
	 */
	uint64_t n_asked = unwinder_n_asked(u);
	bool quits, is_idle, answers;

	ring_buffer__consume(u->ring);
	unwinder_poll_async(u);
	unwinder_look_aside(u);
	is_idle = u->asks.n + u->large.n == 0 && !unwinder_makes_any(u);
	answers = is_idle && !unwind_async_is_busy(u->async);
	if ((is_idle && n_asked != u->n_local) || (answers && n_asked != u->n_answered))
		unwind_maps_settle(&u->maps);
	pthread_mutex_lock(&u->lock);
	quits = u->quits;
	if (is_idle)
		u->n_local = n_asked;
	if (answers)
		u->n_answered = n_asked;
	if (is_idle)
		pthread_cond_broadcast(&u->answered);
	pthread_mutex_unlock(&u->lock);
	return quits;
}

static void unwinder_sleep(struct unwinder *u)
{
	struct pollfd fds[] = {
		{ .fd = u->stop_fd, .events = POLLIN },
		{ .fd = ring_buffer__epoll_fd(u->ring), .events = POLLIN },
	};

	poll(fds, ARRAY_SIZE(fds), -1);
	if (fds[0].revents)
		thread_quiet(u->stop_fd);
}

static void *unwinder_run(void *userdata)
{
	struct unwinder *u = userdata;

	(void)unwind_cache_open(UNWIND_CACHE_BYTES_MAX, &u->cache);
	unwinder_answer_vdso(u);
	while (!unwinder_poll(u)) {
		/*
		 * While the thread for small files is busy, no request is answered, since the
		 * answer could need this thread.
		 */
		if (u->asks.n > 0 && !unwind_aside_is_busy(u->small_aside))
			unwinder_answer_next(u);
		else
			unwinder_sleep(u);
	}
	unwinder_release(u);
	return NULL;
}

/* ---- the owner ---- */

struct unwinder *unwinder_free(struct unwinder *u)
{
	if (!u)
		return NULL;
	pthread_mutex_lock(&u->lock);
	u->quits = true;
	pthread_cond_signal(&u->to_list_more);
	pthread_mutex_unlock(&u->lock);
	thread_signal(u->stop_fd);
	unwinder_release(u);
	return NULL;
}

/* Starts a thread of U. The thread has a reference to U. */
static int unwinder_start(struct unwinder *u, void *(*run)(void *))
{
	int r;

	pthread_mutex_lock(&u->lock);
	u->n_holders++;
	pthread_mutex_unlock(&u->lock);
	r = thread_start(run, u);
	if (r < 0)
		unwinder_release(u);
	return r;
}

int unwinder_new(const struct unwind_maps *maps, uint64_t bytes_max, struct unwinder **ret)
{
	struct unwinder *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->n_holders = 1;
	u->bytes_max = bytes_max;
	u->n_asked = 1;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->answered, NULL);
	pthread_cond_init(&u->to_list_more, NULL);
	/*
	 * This comes first: it sets all descriptors to invalid values, so that none is closed by
	 * mistake after a failure.
	 */
	r = unwind_maps_init(&u->maps, maps);
	u->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (r == 0)
		r = u->stop_fd < 0 ? -errno
				   : unwind_async_new(u->stop_fd, &u->async)
					     ?: unwind_aside_new(u->stop_fd, &u->small_aside)
					     ?: unwind_aside_new(u->stop_fd, &u->large_aside);
	if (r == 0) {
		u->ring = ring_buffer__new(u->maps.asks_fd, unwinder_on_request, u, NULL);
		r = u->ring ? 0 : -errno;
	}
	r = r ?: unwinder_start(u, unwinder_run) ?: unwinder_start(u, unwinder_run_lists);
	if (r < 0)
		unwinder_free(u);
	else
		*ret = u;
	return r;
}

/*
 * Whether requests wait, or can be in the ring. All requests are answered up to the value
 * *N_ANSWERED of n_asked. Called with the lock.
 */
static bool unwinder_is_busy(const struct unwinder *u, const uint64_t *n_answered)
{
	return *n_answered < u->n_asked || u->n_to_list > 0 || u->lists;
}

static bool unwinder_is_called_off(struct unwinder *u, const struct unwinder_limits *limits)
{
	bool off;

	if (!limits->called_off)
		return false;
	pthread_mutex_unlock(&u->lock);
	off = limits->called_off(limits->userdata);
	pthread_mutex_lock(&u->lock);
	return off;
}

/*
 * Waits until *N_ANSWERED has reached n_asked and nothing waits, at most until END_NS, or until
 * LIMITS calls the wait off. Called with the lock, which is released meanwhile.
 */
static void unwinder_wait_until(struct unwinder *u, const uint64_t *n_answered, uint64_t end_ns,
				const struct unwinder_limits *limits)
{
	uint64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);

	while (unwinder_is_busy(u, n_answered) && now_ns < end_ns &&
	       !unwinder_is_called_off(u, limits)) {
		uint64_t next_ns =
			end_ns - now_ns < CALLED_OFF_NS ? end_ns : now_ns + CALLED_OFF_NS;
		struct timespec next = { .tv_sec = (time_t)(next_ns / 1000000000),
					 .tv_nsec = (long)(next_ns % 1000000000) };

		/* (an answer may have come while the lock was released) */
		if (unwinder_is_busy(u, n_answered))
			pthread_cond_clockwait(&u->answered, &u->lock, CLOCK_MONOTONIC, &next);
		now_ns = clock_read_ns(CLOCK_MONOTONIC);
	}
}

bool unwinder_wait(struct unwinder *u, const struct unwinder_limits *limits)
{
	uint64_t begun_ns = clock_read_ns(CLOCK_MONOTONIC);
	bool done;

	pthread_mutex_lock(&u->lock);
	u->n_asked++;
	thread_signal(u->stop_fd);
	unwinder_wait_until(u, &u->n_answered, begun_ns + limits->all_ns, limits);
	unwinder_wait_until(u, &u->n_local, begun_ns + limits->local_ns, limits);
	done = !unwinder_is_busy(u, &u->n_answered);
	pthread_mutex_unlock(&u->lock);
	return done;
}

bool unwinder_list(struct unwinder *u, uint32_t pid)
{
	bool waits = u->maps.list_fd < 0;

	if (waits)
		return true;
	pthread_mutex_lock(&u->lock);
	for (unsigned i = 0; i < u->n_to_list; i++)
		waits |= u->to_list[i] == pid;
	if (!waits && u->n_to_list < LISTS_MAX) {
		u->to_list[u->n_to_list++] = pid;
		pthread_cond_signal(&u->to_list_more);
		waits = true;
	}
	pthread_mutex_unlock(&u->lock);
	return waits;
}

static bool unwinder_is_file(const struct unwind_file *f, uint32_t device, uint64_t inode)
{
	return f->inode == inode && f->device == device;
}

bool unwinder_has_asked(const struct unwinder *u, uint32_t device, uint64_t inode, uint16_t *number)
{
	const struct unwind_file *files = u->maps.files;

	if (*number >= UNWIND_FILES_MAX || !unwinder_is_file(&files[*number], device, inode)) {
		*number = UNWIND_FILE_NONE;
		for (uint16_t i = UNWIND_FILE_VDSO + 1; i < UNWIND_FILES_MAX; i++)
			if (unwinder_is_file(&files[i], device, inode))
				*number = i;
	}
	return *number != UNWIND_FILE_NONE &&
	       __atomic_load_n(&files[*number].state, __ATOMIC_RELAXED) != UNWIND_FILE_NEW;
}

struct unwinder_counts unwinder_counts(struct unwinder *u)
{
	struct unwinder_counts counts;

	pthread_mutex_lock(&u->lock);
	counts = u->counts;
	pthread_mutex_unlock(&u->lock);
	return counts;
}

unsigned unwinder_unknown_pythons(struct unwinder *u,
				  uint32_t versions[static UNWINDER_PYTHONS_MAX])
{
	unsigned n;

	pthread_mutex_lock(&u->lock);
	n = unwind_pythons_list(&u->pythons, u->maps.files, versions, UNWINDER_PYTHONS_MAX);
	pthread_mutex_unlock(&u->lock);
	return n;
}

struct unwind_resumed unwinder_resume(struct unwinder *u, struct unwind_seen *seen,
				      const struct rec_piece *piece, const void *stack,
				      uint64_t frames[static STACK_FRAMES_MAX])
{
	return unwind_resume(&u->maps.kept, u->maps.processes_fd, seen, piece, stack, frames);
}
