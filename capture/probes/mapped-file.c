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
#include "capture/proc/file-identity.h"
#include "capture/proc/hang-limits.h"
#include "capture/proc/reader-process.h"
#include "capture/sandbox/thread.h"

/* The time for opening a file, and the time after which a close counts as hanging. */
#define OPEN_NS_MAX UINT64_C(5000000000)
#define CLOSE_NS    UINT64_C(1000000000)

/* A flag in a place (mapped_file_place()): the other bits of the place are a process ID. */
#define MAPPED_FILE_PATHS (UINT64_C(1) << 63)

/* An open file that is not local. */
struct mapped_file_opening {
	struct hang_request request;
	int fd;
};

/* The requests and the open files of all sessions, including those that hang. */
static struct reader_pool mapped_file_pool = READER_POOL_INIT(64, OPEN_NS_MAX);

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
 * Opens a file of a local file system, and waits for no other file system: the function follows no
 * path of the process. If the process has mapped another file at these addresses meanwhile, the
 * function does not query that file. Returns a descriptor, -ENOEXEC, or another negative errno.
 */
static int mapped_file_open_local(pid_t pid, const struct rec_mapping *rec, struct stat *ret)
{
	_cleanup_close_ int place = -1;
	struct statx st;
	char path[96];
	int fd;

	mapped_file_path_of_entry(path, pid, rec);
	place = open(path, O_PATH | O_CLOEXEC);
	if (place < 0 ||
	    statx(place, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) < 0)
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

/*
 * Opens the path of the mapping. The process can have mounted any file system there, so this can
 * hang.
 */
static int mapped_file_open_below_root(pid_t pid, const struct rec_mapping *rec, struct stat *ret)
{
	char path[MAPPING_PATH_BYTES + 32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, rec->path);
	/* Opening a device can have side effects, so only regular files are opened. */
	if (stat(path, ret) < 0)
		return -errno;
	if (!S_ISREG(ret->st_mode))
		return -ENOEXEC;
	fd = mapped_file_open_path(path);
	if (fd >= 0 && fstat(fd, ret) < 0) {
		close(fd);
		return -ESTALE;
	}
	return fd;
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
	fd = mapped_file_open_below_root(pid, rec, ret);
	if (fd < 0 || (ret->st_ino == rec->inode &&
		       ((uint64_t)major(ret->st_dev) << 20 | minor(ret->st_dev)) == rec->device))
		return fd;
	close(fd);
	return -ESTALE;
}

/*
 * Like mapped_file_open_now(), but after the end of the process: its mappings no longer exist, so
 * only the path is used. On btrfs and overlayfs, REC and the file itself have different devices.
 */
static int mapped_file_open_ended(const struct rec_mapping *rec, struct stat *ret)
{
	struct file_identity identity;
	int fd = mapped_file_open_below_root((pid_t)rec->head.pid, rec, ret);

	if (fd < 0 || (file_identity_get(fd, &identity) == 0 &&
		       file_identity_is_of(&identity, rec->device, rec->inode)))
		return fd;
	close(fd);
	return -ESTALE;
}

/* ---- the child ---- */

static int mapped_file_answer(int fd, const struct stat *st, struct outbuf *to, int *ret_fd)
{
	if (fd < 0)
		return fd;
	*ret_fd = fd;
	return outbuf_append(to, st, sizeof(*st));
}

/* The next two functions are reader_process_fn. ARGS is a struct rec_mapping. */

static int mapped_file_serve(const void *args, struct outbuf *to, int *ret_fd)
{
	const struct rec_mapping *rec = args;
	struct stat st = { 0 };
	int fd = mapped_file_open_now((pid_t)rec->head.pid, rec, &st);

	return mapped_file_answer(fd, &st, to, ret_fd);
}

static int mapped_file_serve_ended(const void *args, struct outbuf *to, int *ret_fd)
{
	struct stat st = { 0 };
	int fd = mapped_file_open_ended(args, &st);

	return mapped_file_answer(fd, &st, to, ret_fd);
}

/* ---- the owner ---- */

/* Stores the file of ANSWER in *RET. REQUEST has the file system at which its close can hang. */
static int mapped_file_keep(const struct reader_answer *answer, const struct hang_request *request,
			    struct mapped_file *ret)
{
	struct mapped_file_opening *o;

	if (answer->fd < 0 || answer->data.size != sizeof(ret->st))
		return -EBADMSG;
	if (!answer->closes_soon) {
		o = calloc(1, sizeof(*o));
		if (!o) {
			close(answer->fd);
			return -ENOMEM;
		}
		o->request = *request;
		o->fd = answer->fd;
		pthread_mutex_lock(&mapped_file_pool.lock);
		hang_limits_put(&mapped_file_pool.limits, &o->request);
		pthread_mutex_unlock(&mapped_file_pool.lock);
		ret->opening = o;
	}
	ret->fd = answer->fd;
	memcpy(&ret->st, answer->data.data, sizeof(ret->st));
	return 0;
}

/* Opens the file in a child, by FN. */
static int mapped_file_open_apart(pid_t pid, const struct rec_mapping *rec, uint64_t place,
				  reader_process_fn fn, struct mapped_file *ret)
{
	union {
		struct rec_mapping rec;
		char bytes[READER_ARGS_MAX];
	} args;
	const struct hang_request request = {
		.owner = hang_limits_owner_of("", (uint32_t)pid),
		.place = place,
		.hangs_ns = UINT64_MAX,
	};
	const struct reader_job job = {
		.owner = request.owner,
		.place = place,
		.fn = fn,
		.args = &args,
		.n_args = rec->head.size,
		.max = sizeof(ret->st),
	};
	struct reader_answer answer;
	int r;

	if (rec->head.size > sizeof(args))
		return -ENAMETOOLONG;
	memcpy(args.bytes, rec, rec->head.size);
	args.rec.head.pid = (uint32_t)pid;
	r = reader_process_run(&mapped_file_pool, &job, &answer);
	if (r == 0)
		r = mapped_file_keep(&answer, &request, ret);
	outbuf_deinit(&answer.data);
	return r;
}

/*
 * Returns the place that can hang: the file system of the file, or, if it is local, all paths below
 * the root of PID.
 */
static uint64_t mapped_file_place(pid_t pid, const struct rec_mapping *rec, bool is_local)
{
	return is_local ? MAPPED_FILE_PATHS | (uint32_t)pid : rec->device;
}

int mapped_file_open(pid_t pid, const struct rec_mapping *rec, struct local_devices *local,
		     struct mapped_file *ret)
{
	bool is_local = local_devices_has(local, "", rec->device);
	int r;

	*ret = (struct mapped_file){ .fd = -1 };
	if (is_local) {
		r = mapped_file_open_local(pid, rec, &ret->st);
		ret->fd = r < 0 ? -1 : r;
		if (r >= 0 || r == -ENOEXEC)
			return r < 0 ? r : 0;
	}
	return mapped_file_open_apart(pid, rec, mapped_file_place(pid, rec, is_local),
				      mapped_file_serve, ret);
}

int mapped_file_open_by_path(const struct rec_mapping *rec, struct local_devices *local,
			     struct mapped_file *ret)
{
	pid_t own = getpid();
	uint64_t place = mapped_file_place(own, rec, local_devices_has(local, "", rec->device));

	*ret = (struct mapped_file){ .fd = -1 };
	return mapped_file_open_apart(own, rec, place, mapped_file_serve_ended, ret);
}

/* Closes the file, which can take forever. */
static void *mapped_file_run_close(void *userdata)
{
	struct mapped_file_opening *o = userdata;

	close(o->fd);
	pthread_mutex_lock(&mapped_file_pool.lock);
	hang_limits_remove(&mapped_file_pool.limits, &o->request);
	pthread_mutex_unlock(&mapped_file_pool.lock);
	free(o);
	return NULL;
}

void mapped_file_close(struct mapped_file *f)
{
	if (f->opening) {
		pthread_mutex_lock(&mapped_file_pool.lock);
		f->opening->request.hangs_ns = clock_read_ns(CLOCK_MONOTONIC) + CLOSE_NS;
		pthread_mutex_unlock(&mapped_file_pool.lock);
		if (thread_start(mapped_file_run_close, f->opening) < 0)
			mapped_file_run_close(f->opening);
	} else {
		close_fd(f->fd);
	}
	*f = (struct mapped_file){ .fd = -1 };
}
