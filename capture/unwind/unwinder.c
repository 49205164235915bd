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
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "base/array.h"
#include "base/clock.h"
#include "capture/sandbox/thread.h"

#define PARSE_NS_MAX UINT64_C(10000000000)

enum {
	ASKS_MAX = 4096,   /* that wait */
	OPEN_MAX = 64,     /* files of those that are open */
	MISSED_MAX = 200,  /* processes that may have gone before their file was opened */
	NAMES_EVERY = 128, /* tables between two looks at how many names are left */
};

struct unwinder_file {
	struct unwind_ask ask;
	int fd; /* owned; -1: not opened yet */
};

struct unwinder {
	pthread_mutex_t lock; /* guards all to the next blank line */
	pthread_cond_t answered;
	unsigned n_holders; /* 2: owner and thread */
	bool quits;
	bool busy; /* asks wait, or may lie in the ring */
	struct unwinder_counts counts;

	/* the thread's own */
	int stop_fd;
	uint64_t bytes_max;
	struct unwind_maps maps;
	struct ring_buffer *ring;
	struct unwinder_file *asks;
	size_t n_asks, room;
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
	for (size_t i = 0; i < u->n_asks; i++)
		close_fd(u->asks[i].fd);
	ring_buffer__free(u->ring);
	unwind_maps_deinit(&u->maps);
	close_fd(u->stop_fd);
	free(u->asks);
	pthread_cond_destroy(&u->answered);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

/* ---- one table ---- */

static int unwinder_open_mapped(const struct unwind_ask *ask)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/map_files/%" PRIx64 "-%" PRIx64, ask->pid,
		 (uint64_t)ask->start, (uint64_t)ask->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	return fd < 0 ? -errno : fd;
}

/*
 * The file that was mapped there when it was asked for. By now it may be another one: so the process must have changed
 * nothing between two looks. The vdso's number is never asked for.
 */
static int unwinder_open(const struct unwinder *u, const struct unwind_ask *ask)
{
	uint32_t before, after;
	_cleanup_close_ int fd = -1;

	if (!unwind_maps_has(&u->maps, ask, &before))
		return -ESTALE;
	fd = unwinder_open_mapped(ask);
	if (fd >= 0 && (!unwind_maps_has(&u->maps, ask, &after) || after != before))
		return -ESTALE;
	return TAKE_FD(fd);
}

/* Until there is room for BYTES. */
static bool unwinder_make_room(struct unwinder *u, uint32_t number, uint64_t bytes)
{
	uint32_t least;

	while (u->maps.all_bytes + bytes > u->bytes_max) {
		least = unwind_maps_least_used(&u->maps, number);
		if (least == UNWIND_FILE_NONE)
			return false;
		unwind_maps_take(&u->maps, least);
		pthread_mutex_lock(&u->lock);
		u->counts.n_evicted++;
		pthread_mutex_unlock(&u->lock);
	}
	return true;
}

static int unwinder_put(struct unwinder *u, uint32_t number, const struct unwind_table *table)
{
	if (!unwinder_make_room(u, number, unwind_maps_table_bytes(table)))
		return -ENOBUFS;
	return unwind_maps_put(&u->maps, number, table);
}

static int unwinder_answer_file(struct unwinder *u, const struct unwind_ask *ask, int fd)
{
	_cleanup_(unwind_table_deinit) struct unwind_table table = { 0 };
	int r = unwind_table_read_sandboxed(fd, PARSE_NS_MAX, &table);

	return r < 0 ? r : unwinder_put(u, ask->number, &table);
}

static bool unwinder_is_of_now(const struct unwinder *u, const struct unwind_ask *ask)
{
	return ask->number < UNWIND_FILES_MAX &&
	       (uint16_t)u->maps.files[ask->number].generation == ask->generation;
}

/*
 * The process is gone, or has something else there by now. The next one that has the file mapped asks
 * again, unless that never helps.
 */
static void unwinder_miss(struct unwinder *u, const struct unwind_ask *ask)
{
	if (!unwinder_is_of_now(u, ask))
		return;
	if (u->n_missed[ask->number]++ < MISSED_MAX)
		unwind_maps_ask_again(&u->maps, ask->number);
	else
		unwind_maps_put_nothing(&u->maps, ask->number);
}

static void unwinder_answer(struct unwinder *u, const struct unwinder_file *file)
{
	const struct unwind_ask *ask = &file->ask;
	_cleanup_close_ int fd = file->fd < 0 ? unwinder_open(u, ask) : file->fd;
	int r = fd;

	if (!unwinder_is_of_now(u, ask))
		return;
	if (fd >= 0) {
		u->n_missed[ask->number] = 0;
		r = unwinder_answer_file(u, ask, fd);
		if (r < 0)
			unwind_maps_put_nothing(&u->maps, ask->number);
	} else {
		unwinder_miss(u, ask);
	}
	pthread_mutex_lock(&u->lock);
	u->counts.n_asked++;
	u->counts.n_tables += r == 0;
	u->counts.n_failed += fd >= 0 && r < 0;
	u->counts.bytes = u->maps.all_bytes;
	pthread_mutex_unlock(&u->lock);
	if (u->counts.n_asked % NAMES_EVERY == 0)
		unwind_maps_recycle_names(&u->maps);
}

/* Code that the kernel maps into each process, this one, too: the kernel's word is good. */
static void unwinder_answer_vdso(struct unwinder *u)
{
	_cleanup_(unwind_table_deinit) struct unwind_table table = { 0 };
	const Elf64_Ehdr *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	/* (its sections are listed at its end) */
	size_t size = vdso ? vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize : 0;

	if (size == 0 || unwind_table_read(vdso, size, &table) < 0 ||
	    unwinder_put(u, UNWIND_FILE_VDSO, &table) < 0)
		unwind_maps_put_nothing(&u->maps, UNWIND_FILE_VDSO);
}

/* ---- the thread ---- */

/* The file is opened at once: who has it mapped may be gone when its turn comes. */
static int unwinder_on_ask(void *userdata, void *data, size_t size)
{
	struct unwinder *u = userdata;
	struct unwinder_file file;

	if (size < sizeof(file.ask))
		return 0;
	memcpy(&file.ask, data, sizeof(file.ask));
	if (u->n_asks >= ASKS_MAX || GROW(u->asks, u->room, u->n_asks + 1) < 0) {
		unwinder_miss(u, &file.ask);
		return 0;
	}
	file.fd = u->n_asks < OPEN_MAX ? unwinder_open(u, &file.ask) : -1;
	u->asks[u->n_asks++] = file;
	return 0;
}

/* Of those that wait, the one that walks need most; of several the newest. */
static struct unwinder_file unwinder_take(struct unwinder *u)
{
	size_t best = u->n_asks - 1;
	struct unwinder_file file;

	for (size_t i = best; i-- > 0;) {
		const struct unwind_file *files = u->maps.files;

		if (files[u->asks[i].ask.number % UNWIND_FILES_MAX].missed >
		    files[u->asks[best].ask.number % UNWIND_FILES_MAX].missed)
			best = i;
	}
	file = u->asks[best];
	memmove(u->asks + best, u->asks + best + 1, (--u->n_asks - best) * sizeof(file));
	return file;
}

/* True if it is to end. */
static bool unwinder_look(struct unwinder *u)
{
	bool quits;

	ring_buffer__consume(u->ring);
	pthread_mutex_lock(&u->lock);
	quits = u->quits;
	if (u->n_asks == 0) {
		u->busy = false;
		pthread_cond_broadcast(&u->answered);
	}
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

	unwinder_answer_vdso(u);
	while (!unwinder_look(u)) {
		if (u->n_asks > 0) {
			struct unwinder_file file = unwinder_take(u);

			unwinder_answer(u, &file);
		} else {
			unwinder_sleep(u);
		}
	}
	unwinder_release(u);
	return NULL;
}

/* ---- its owner ---- */

int unwinder_new(const struct unwind_maps *maps, uint64_t bytes_max, struct unwinder **ret)
{
	struct unwinder *u = calloc(1, sizeof(*u));
	int r;

	if (!u)
		return -ENOMEM;
	u->n_holders = 1;
	u->bytes_max = bytes_max;
	u->busy = true;
	pthread_mutex_init(&u->lock, NULL);
	pthread_cond_init(&u->answered, NULL);
	u->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = u->stop_fd < 0 ? -errno : 0;
	if (r == 0)
		r = unwind_maps_init(&u->maps, maps);
	if (r == 0) {
		u->ring = ring_buffer__new(u->maps.asks_fd, unwinder_on_ask, u, NULL);
		r = u->ring ? 0 : -errno;
	}
	if (r == 0) {
		u->n_holders = 2;
		r = thread_start(unwinder_run, u);
		if (r < 0)
			u->n_holders = 1;
	}
	if (r < 0)
		unwinder_release(u);
	else
		*ret = u;
	return r;
}

struct unwinder *unwinder_free(struct unwinder *u)
{
	if (!u)
		return NULL;
	pthread_mutex_lock(&u->lock);
	u->quits = true;
	pthread_mutex_unlock(&u->lock);
	thread_signal(u->stop_fd);
	unwinder_release(u);
	return NULL;
}

bool unwinder_wait(struct unwinder *u, uint64_t timeout_ns)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + timeout_ns;
	struct timespec end = { .tv_sec = (time_t)(end_ns / 1000000000),
				.tv_nsec = (long)(end_ns % 1000000000) };
	int r = 0;
	bool done;

	pthread_mutex_lock(&u->lock);
	u->busy = true;
	thread_signal(u->stop_fd);
	while (u->busy && r == 0)
		r = pthread_cond_clockwait(&u->answered, &u->lock, CLOCK_MONOTONIC, &end);
	done = !u->busy;
	pthread_mutex_unlock(&u->lock);
	return done;
}

struct unwinder_counts unwinder_counts(struct unwinder *u)
{
	struct unwinder_counts counts;

	pthread_mutex_lock(&u->lock);
	counts = u->counts;
	pthread_mutex_unlock(&u->lock);
	return counts;
}
