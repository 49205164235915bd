/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * All functions are called by the output's thread, except store_files_new() and cancel().
 *
 * A chunk is written to the disk before it is renamed as complete. Writing to the disk is started
 * early, so that the sync at the end is short.
 */
#include "capture/store/store-files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/directory.h"
#include "capture/store/chunk-list.h"
#include "capture/options/options.h"
#include "capture/store/whole-blocks.h"

enum {
	TRIES_MAX = 1000, /* attempts to find an unused name */
	WRITE_BACK_BYTES = 4 << 20,
};

struct store_files {
	struct store store;
	struct store_files_options options; /* the directory and the name are copies */
	bool tidy;                          /* the files of dead processes have been completed */
	struct store *chunk;                /* the chunk that is being written; NULL = no chunk */
	int chunk_fd;                       /* its own descriptor of that chunk */
	uint64_t begin_us;
	char part[CHUNK_NAME_MAX];
	uint64_t written, written_back;
};

/* ---- existing chunks ---- */

/* Removes the oldest chunks until the limits are met. Never removes LAST, nor the newest chunk
 * because of its size. */
static void store_files_retain(const struct store_files_options *o, const char *last)
{
	uint64_t now_us = clock_read_ns(CLOCK_REALTIME) / 1000, bytes = 0;
	_cleanup_free_ struct chunk *kept = NULL;
	size_t n = 0;

	if ((!o->keep_bytes && !o->keep_ns) ||
	    chunk_list_read(o->dir_fd, o->name, CHUNK_LIST_READABLE, &kept, &n) < 0)
		return;
	for (size_t i = 0; i < n; i++)
		bytes += kept[i].bytes;
	for (size_t i = 0; i < n; i++) {
		bool old = o->keep_ns && kept[i].name.end_us < now_us &&
			   now_us - kept[i].name.end_us > o->keep_ns / 1000;
		bool much = o->keep_bytes && bytes > o->keep_bytes && i + 1 < n;

		if ((old || much) && strcmp(kept[i].file, last) != 0 &&
		    unlinkat(o->dir_fd, kept[i].file, 0) == 0)
			bytes -= kept[i].bytes;
	}
}

/* ---- completion of a chunk ---- */

static int store_files_rename_new(int dir_fd, const char *from, const char *to)
{
	if (renameat2(dir_fd, from, dir_fd, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	/* The file system does not support renameat2(). It may support links. */
	if (linkat(dir_fd, from, dir_fd, to, 0) < 0)
		return -errno;
	return unlinkat(dir_fd, from, 0) < 0 ? -errno : 0;
}

/* Renames PART to the name *FROM, or the next unused name. Writes the name to RET. */
static int store_files_rename_part(const struct store_files_options *o, const char *part,
				   const struct chunk_name *from, enum pack_method packed,
				   char ret[static CHUNK_NAME_MAX])
{
	struct chunk_name c = *from;
	int r = -EEXIST;

	for (int i = 0; r == -EEXIST && i < TRIES_MAX; i++, c.end_us++) {
		chunk_name_format(ret, o->name, &c, packed);
		r = store_files_rename_new(o->dir_fd, part, ret);
	}
	if (r == 0)
		fsync(o->dir_fd); /* an error means that there is nothing to sync */
	return r;
}

/* ---- files of a dead process ---- */

static uint64_t store_files_timespec_us(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000 + (uint64_t)t->tv_nsec / 1000;
}

/* Finds the end of the whole data in FD. *RET_PACKED is its compression. */
static int store_files_whole_of(int fd, uint64_t bytes, enum pack_method *ret_packed, uint64_t *ret)
{
	const uint8_t *data;
	struct whole_blocks p;
	size_t n = 1;
	int r = whole_blocks_detect(fd, ret_packed);

	if (r < 0)
		return r;
	whole_blocks_init(&p, fd, bytes, *ret_packed, true);
	while (r == 0 && n > 0)
		r = whole_blocks_next(&p, &data, &n);
	*ret = p.at;
	whole_blocks_deinit(&p);
	return r;
}

static void store_files_recover_part(const struct store_files_options *o, const char *part,
				     uint64_t begin_us)
{
	_cleanup_close_ int fd =
		openat(o->dir_fd, part, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	struct chunk_name name = { .begin_us = begin_us };
	char done[CHUNK_NAME_MAX];
	enum pack_method packed;
	uint64_t whole;
	struct stat st;

	/* The file is locked by the process that writes it. */
	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0 ||
	    !S_ISREG(st.st_mode) || st.st_nlink == 0)
		return;
	if (store_files_whole_of(fd, (uint64_t)st.st_size, &packed, &whole) < 0)
		return; /* the next process may be able to read it */
	if (whole == 0) {
		unlinkat(o->dir_fd, part, 0);
		return;
	}
	if (whole < (uint64_t)st.st_size && ftruncate(fd, (off_t)whole) < 0)
		return;
	name.end_us = store_files_timespec_us(&st.st_mtim);
	fdatasync(fd);
	store_files_rename_part(o, part, &name, packed, done);
}

void store_files_recover(const struct store_files_options *o)
{
	const struct dirent *entry;
	uint64_t begin_us;
	DIR *dir = directory_list(o->dir_fd);

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (chunk_name_parse_part(entry->d_name, o->name, &begin_us))
			store_files_recover_part(o, entry->d_name, begin_us);
	closedir(dir);
}

/* ---- a chunk ---- */

/* Locks FD and checks that it is still the file at PART. Before FD is locked, another process can
 * mistake this file for that of a dead process, and complete and rename it. */
static bool store_files_is_ours(const struct store_files *s, int fd)
{
	struct stat st, there;

	return flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
	       fstatat(s->options.dir_fd, s->part, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_dev == there.st_dev && st.st_ino == there.st_ino;
}

/* Creates the file of a chunk that begins at *BEGIN_US or a little later. Returns a descriptor or a
 * negative errno. */
static int store_files_make_part(struct store_files *s, uint64_t *begin_us)
{
	for (int i = 0; i < TRIES_MAX; i++, ++*begin_us) {
		_cleanup_close_ int fd = -1;

		chunk_name_format_part(s->part, s->options.name, *begin_us);
		fd = openat(s->options.dir_fd, s->part,
			    O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
		if (fd < 0 && errno != EEXIST)
			return -errno;
		if (fd >= 0 && store_files_is_ours(s, fd))
			return TAKE_FD(fd);
	}
	return -EEXIST;
}

static int store_files_begin(struct store *store, const struct store_moment *at)
{
	struct store_files *s = (struct store_files *)store;
	_cleanup_close_ int fd = -1;
	int r;

	if (!s->tidy) {
		store_files_recover(&s->options);
		store_files_retain(&s->options, "");
		s->tidy = true;
	}
	s->begin_us = at->real_ns / 1000;
	s->written = s->written_back = 0;
	fd = store_files_make_part(s, &s->begin_us);
	if (fd < 0)
		return fd;
	s->chunk_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	r = s->chunk_fd < 0 ? -errno : store_fd_new(fd, &s->chunk);
	if (r < 0) {
		unlinkat(s->options.dir_fd, s->part, 0);
		s->chunk_fd = close_fd(s->chunk_fd);
		return r;
	}
	TAKE_FD(fd);
	return 0;
}

static int store_files_write(struct store *store, enum store_part part, const uint8_t *data,
			     size_t size, store_whole_fn whole, size_t *ret_kept)
{
	struct store_files *s = (struct store_files *)store;
	int r;

	*ret_kept = 0;
	r = s->chunk->ops->write(s->chunk, part, data, size, whole, ret_kept);
	s->written += *ret_kept;
	if (s->written - s->written_back >= WRITE_BACK_BYTES) {
		sync_file_range(s->chunk_fd, (off_t)s->written_back,
				(off_t)(s->written - s->written_back), SYNC_FILE_RANGE_WRITE);
		s->written_back = s->written;
	}
	return r;
}

/* Completes the chunk's file. */
static int store_files_complete(struct store_files *s, uint64_t end_us)
{
	const struct chunk_name name = { s->begin_us, end_us };
	char done[CHUNK_NAME_MAX];
	int r = 0, e;

	if (s->written == 0)
		return unlinkat(s->options.dir_fd, s->part, 0) < 0 ? -errno : 0;
	if (fdatasync(s->chunk_fd) < 0 && errno != EINVAL)
		r = -errno;
	/* The file is renamed even if the sync failed: its readable part is more useful with a name
	 * that users find. */
	e = store_files_rename_part(&s->options, s->part, &name, s->options.packed, done);
	if (e < 0)
		return r < 0 ? r : e;
	store_files_retain(&s->options, done);
	return r;
}

static int store_files_end(struct store *store, const struct store_moment *at)
{
	struct store_files *s = (struct store_files *)store;
	int r;

	if (!s->chunk)
		return 0;
	r = store_files_complete(s, at->real_ns / 1000);
	/* The lock is held until now, so that no other process completes the file. */
	s->chunk = store_free(s->chunk);
	s->chunk_fd = close_fd(s->chunk_fd);
	return r;
}

/* Does nothing, since writes to regular files never block for long. */
static void store_files_cancel(struct store *store)
{
}

static void store_files_free(struct store *store)
{
	struct store_files *s = (struct store_files *)store;
	const struct store_moment now = { .real_ns = clock_read_ns(CLOCK_REALTIME) };

	store_files_end(store, &now);
	close_fd(s->options.dir_fd);
	free((char *)s->options.name);
	free(s);
}

static const struct store_ops files_ops = {
	.begin = store_files_begin,
	.write = store_files_write,
	.end = store_files_end,
	.cancel = store_files_cancel,
	.free = store_files_free,
};

int store_files_new(const struct store_files_options *o, struct store **ret)
{
	struct store_files *s;

	if (!session_name_valid(o->name) || o->packed >= PACK_METHOD_MAX)
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->store.ops = &files_ops;
	s->options = *o;
	s->chunk_fd = -1;
	s->options.name = strdup(o->name);
	s->options.dir_fd = fcntl(o->dir_fd, F_DUPFD_CLOEXEC, 3);
	if (!s->options.name || s->options.dir_fd < 0) {
		int r = s->options.name ? -errno : -ENOMEM;

		store_files_free(&s->store);
		return r;
	}
	*ret = &s->store;
	return 0;
}
