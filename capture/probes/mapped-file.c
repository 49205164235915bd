/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/mapped-file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "capture/proc/hang-limits.h"
#include "capture/sandbox/thread.h"

/* The time for opening a file, and the time after which a close counts as hanging. */
#define OPEN_NS_MAX UINT64_C(5000000000)
#define CLOSE_NS    UINT64_C(1000000000)

/* A bit of a place: its other bits are a process. */
#define MAPPED_FILE_PATHS (UINT64_C(1) << 63)

/* The thread frees it, after the file is closed. */
struct mapped_file_opening {
	struct hang_request request; /* a released one hangs after some time */
	pthread_cond_t changed;
	pid_t pid;
	struct rec_mapping *rec; /* owned */
	int fd;                  /* the descriptor or a negative errno, when `is_done` */
	struct stat st;
	bool is_done;
	bool is_released; /* the owner needs the file no more */
};

/* Guards the limits, and the members of openings. */
static pthread_mutex_t mapped_file_lock = PTHREAD_MUTEX_INITIALIZER;

/* The openings of all sessions, with those that hang. */
static struct hang_limits mapped_file_limits = { .n_max = 64, .timeout_ns = OPEN_NS_MAX };

/* ---- opening ---- */

/* Opens PATH without blocking, since the path can be a FIFO. */
static int mapped_file_open_path(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

	return fd < 0 ? -errno : fd;
}

static void mapped_file_path_of_entry(char path[static 96], pid_t pid,
				      const struct rec_mapping *rec)
{
	snprintf(path, 96, "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid,
		 (uint64_t)rec->start, (uint64_t)(rec->start + rec->bytes));
}

/*
 * Opens a file of a local file system, and waits for no other one: it follows no path of the
 * process, and the process can have mapped another file there meanwhile, which is not asked for
 * anything. Returns a descriptor, -ENOEXEC, or another negative errno.
 */
static int mapped_file_open_local(pid_t pid, const struct rec_mapping *rec, struct stat *ret)
{
	_cleanup_close_ int place = -1;
	struct statx st;
	char path[96];
	int fd;

	mapped_file_path_of_entry(path, pid, rec);
	place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0 || statx(place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
			       STATX_TYPE | STATX_INO, &st) < 0)
		return -errno;
	if (st.stx_ino != rec->inode ||
	    ((uint64_t)st.stx_dev_major << 20 | st.stx_dev_minor) != rec->device)
		return -ESTALE;
	if (!S_ISREG(st.stx_mode))
		return -ENOEXEC;
	snprintf(path, sizeof(path), "/proc/thread-self/fd/%d", place);
	fd = mapped_file_open_path(path);
	if (fd >= 0 && fstat(fd, ret) < 0) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* Opens the path of the mapping. What the process sees there can be any file system. */
static int mapped_file_open_below_root(pid_t pid, const struct rec_mapping *rec, struct stat *ret)
{
	char path[MAPPING_PATH_BYTES + 32];
	int fd, r;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, rec->path);
	/* Opening a device can have side effects, so only regular files are opened. */
	if (stat(path, ret) < 0)
		return -errno;
	if (!S_ISREG(ret->st_mode))
		return -ENOEXEC;
	fd = mapped_file_open_path(path);
	if (fd < 0)
		return fd;
	r = fstat(fd, ret) < 0 ? -errno : 0;
	if (r == 0 && ret->st_ino == rec->inode &&
	    ((uint64_t)major(ret->st_dev) << 20 | minor(ret->st_dev)) == rec->device)
		return fd;
	close(fd);
	return r ?: -ESTALE;
}

/* Returns a descriptor or a negative errno. Can wait forever. */
static int mapped_file_open_now(pid_t pid, const struct rec_mapping *rec, struct stat *ret)
{
	char path[96];
	int fd;

	mapped_file_path_of_entry(path, pid, rec);
	fd = mapped_file_open_path(path);
	if (fd >= 0 && fstat(fd, ret) == 0)
		return fd;
	close_fd(fd);
	return mapped_file_open_below_root(pid, rec, ret);
}

/* ---- threads ---- */

static struct mapped_file_opening *mapped_file_new(pid_t pid, const struct rec_mapping *rec)
{
	struct mapped_file_opening *o = calloc(1, sizeof(*o));
	pthread_condattr_t attributes;

	if (!o)
		return NULL;
	o->pid = pid;
	o->rec = malloc(rec->head.size);
	if (!o->rec)
		return free_ptr(o);
	memcpy(o->rec, rec, rec->head.size);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&o->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return o;
}

static void mapped_file_free(struct mapped_file_opening *o)
{
	pthread_cond_destroy(&o->changed);
	free(o->rec);
	free(o);
}

/*
 * Adds O to the openings. Sets *RET_TIMEOUT_NS to its time. Returns 0, -EBUSY or -EUSERS
 * (hang_limits_add()).
 */
static int mapped_file_add(struct mapped_file_opening *o, uint64_t *ret_timeout_ns)
{
	int r;

	pthread_mutex_lock(&mapped_file_lock);
	r = hang_limits_add(&mapped_file_limits, &o->request, clock_read_ns(CLOCK_MONOTONIC),
			    ret_timeout_ns);
	pthread_mutex_unlock(&mapped_file_lock);
	return r;
}

static void mapped_file_remove(struct mapped_file_opening *o)
{
	pthread_mutex_lock(&mapped_file_lock);
	hang_limits_remove(&mapped_file_limits, &o->request);
	pthread_mutex_unlock(&mapped_file_lock);
	mapped_file_free(o);
}

/* Opens the file, and closes it when the owner does not need it any more. */
static void *mapped_file_run(void *userdata)
{
	struct mapped_file_opening *o = userdata;
	struct stat st = { 0 };
	int fd = mapped_file_open_now(o->pid, o->rec, &st);

	pthread_mutex_lock(&mapped_file_lock);
	o->fd = fd;
	o->st = st;
	o->is_done = true;
	pthread_cond_signal(&o->changed);
	while (!o->is_released)
		pthread_cond_wait(&o->changed, &mapped_file_lock);
	pthread_mutex_unlock(&mapped_file_lock);
	close_fd(fd);
	mapped_file_remove(o);
	return NULL;
}

/* From now on, O belongs to its thread, and counts as hanging after AFTER_NS. The lock is held. */
static void mapped_file_release(struct mapped_file_opening *o, uint64_t after_ns)
{
	o->request.hangs_ns = clock_read_ns(CLOCK_MONOTONIC) + after_ns;
	o->is_released = true;
	pthread_cond_signal(&o->changed);
}

/* Waits for the thread of O. Returns 0 or a negative errno; then O was released. */
static int mapped_file_wait(struct mapped_file_opening *o, uint64_t timeout_ns,
			    struct mapped_file *ret)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + timeout_ns;
	const struct timespec end = {
		.tv_sec = (time_t)(end_ns / 1000000000),
		.tv_nsec = (long)(end_ns % 1000000000),
	};
	int r = 0;

	pthread_mutex_lock(&mapped_file_lock);
	while (!o->is_done && r == 0)
		r = pthread_cond_timedwait(&o->changed, &mapped_file_lock, &end);
	if (!o->is_done)
		r = -ETIME;
	else
		r = o->fd < 0 ? o->fd : 0;
	if (r == 0)
		*ret = (struct mapped_file){ o->fd, o->st, o };
	else
		mapped_file_release(o, r == -ETIME ? 0 : CLOSE_NS);
	pthread_mutex_unlock(&mapped_file_lock);
	return r;
}

/* ---- the owner ---- */

int mapped_file_open(pid_t pid, const struct rec_mapping *rec, struct local_devices *local,
		     struct mapped_file *ret)
{
	bool is_local = local_devices_has(local, "", rec->device);
	struct mapped_file_opening *o;
	uint64_t timeout_ns;
	int r;

	*ret = (struct mapped_file){ .fd = -1 };
	if (is_local) {
		r = mapped_file_open_local(pid, rec, &ret->st);
		ret->fd = r < 0 ? -1 : r;
		if (r >= 0 || r == -ENOEXEC)
			return r < 0 ? r : 0;
	}
	o = mapped_file_new(pid, rec);
	if (!o)
		return -ENOMEM;
	o->request = (struct hang_request){
		.owner = hang_limits_owner_of("", (uint32_t)pid),
		/* (on a local file system, only the path of the process can hang) */
		.place = is_local ? MAPPED_FILE_PATHS | (uint32_t)pid : rec->device,
		.hangs_ns = UINT64_MAX,
	};
	r = mapped_file_add(o, &timeout_ns);
	if (r < 0) {
		mapped_file_free(o);
		return r;
	}
	r = thread_start(mapped_file_run, o);
	if (r < 0) {
		mapped_file_remove(o);
		return r;
	}
	return mapped_file_wait(o, timeout_ns, ret);
}

void mapped_file_close(struct mapped_file *f)
{
	if (f->opening) {
		pthread_mutex_lock(&mapped_file_lock);
		mapped_file_release(f->opening, CLOSE_NS);
		pthread_mutex_unlock(&mapped_file_lock);
	} else {
		close_fd(f->fd);
	}
	*f = (struct mapped_file){ .fd = -1 };
}
