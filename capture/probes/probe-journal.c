/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/probes/probe-journal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/directory.h"

#define SLOT_MAGIC UINT64_C(0x31656265726f7270)

enum {
	NAME_TRIES = 16,
	LEFTOVER_MAX = 64, /* maximum number of journals that are read at once */
};

/* The beginning of a slot. The offsets follow it. */
struct journal_head {
	uint64_t magic; /* 0 = the slot is free */
	uint64_t device, inode;
	uint64_t n;
};

enum {
	SLOT_BYTES = sizeof(struct journal_head) + PROBE_JOURNAL_OFFSETS * sizeof(uint64_t),
};

struct probe_journal {
	int dir_fd, fd;
	char name[32];
	bool in_use[PROBE_JOURNAL_SLOTS];
};

/* ---- writing ---- */

static int probe_journal_lock(int fd)
{
	return flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : 0;
}

/*
 * Creates and locks a journal. Returns a descriptor or a negative errno. Before the journal is
 * locked, another process can mistake it for an abandoned one, and remove it.
 */
static int probe_journal_make_locked(int dir_fd, const char *name)
{
	_cleanup_close_ int fd =
		openat(dir_fd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;
	int r;

	if (fd < 0)
		return -errno;
	r = probe_journal_lock(fd);
	if (r == 0 && (fstat(fd, &st) < 0 || st.st_nlink == 0))
		r = -EEXIST;
	if (r == -EWOULDBLOCK)
		r = -EEXIST;
	return r < 0 ? r : TAKE_FD(fd);
}

int probe_journal_new(struct probe_journal **ret)
{
	_cleanup_(probe_journal_freep) struct probe_journal *j = calloc(1, sizeof(*j));

	if (!j)
		return -ENOMEM;
	j->fd = -1;
	j->dir_fd = directory_open_runtime("probes");
	if (j->dir_fd < 0)
		return j->dir_fd;
	/* An abandoned journal can have the same name, so several names are tried. */
	for (unsigned i = 0; i < NAME_TRIES && (i == 0 || j->fd == -EEXIST); i++) {
		snprintf(j->name, sizeof(j->name), "%d-%u", (int)getpid(), i);
		j->fd = probe_journal_make_locked(j->dir_fd, j->name);
	}
	if (j->fd < 0)
		return j->fd;
	*ret = TAKE_PTR(j);
	return 0;
}

struct probe_journal *probe_journal_free(struct probe_journal *j)
{
	if (!j)
		return NULL;
	if (j->fd >= 0)
		close(j->fd);
	if (j->dir_fd >= 0)
		close(j->dir_fd);
	return free_ptr(j);
}

static int probe_journal_write_at(const struct probe_journal *j, const void *data, size_t size,
				  size_t at)
{
	ssize_t n = pwrite(j->fd, data, size, (off_t)at);

	if (n < 0)
		return -errno;
	return (size_t)n == size ? 0 : -EIO;
}

/* Writes a slot. The head is written last, so that an incomplete slot counts as free. */
static int probe_journal_write_slot(const struct probe_journal *j, int slot,
				    const struct probe_file *file)
{
	const struct journal_head head = { SLOT_MAGIC, file->device, file->inode, file->n };
	size_t at = (size_t)slot * SLOT_BYTES;

	return probe_journal_write_at(j, file->offsets, file->n * sizeof(uint64_t),
				      at + sizeof(head))
		       ?: probe_journal_write_at(j, &head, sizeof(head), at);
}

int probe_journal_add(struct probe_journal *j, const struct probe_file *file)
{
	int r;

	if (file->n == 0 || file->n > PROBE_JOURNAL_OFFSETS)
		return -EINVAL;
	for (int i = 0; i < PROBE_JOURNAL_SLOTS; i++) {
		if (j->in_use[i])
			continue;
		r = probe_journal_write_slot(j, i, file);
		if (r < 0)
			return r;
		j->in_use[i] = true;
		return i;
	}
	return -ENOSPC;
}

void probe_journal_clear(struct probe_journal *j, int slot)
{
	const struct journal_head none = { 0 };

	if (slot < 0 || slot >= PROBE_JOURNAL_SLOTS)
		return;
	/* If this write fails, a file is checked needlessly later. */
	probe_journal_write_at(j, &none, sizeof(none), (size_t)slot * SLOT_BYTES);
	j->in_use[slot] = false;
}

void probe_journal_remove(struct probe_journal *j)
{
	unlinkat(j->dir_fd, j->name, 0);
}

/* ---- abandoned journals ---- */

static bool probe_journal_is_name(const char *name)
{
	return *name >= '0' && *name <= '9';
}

bool probe_journal_any(void)
{
	_cleanup_close_ int dir_fd = directory_open_runtime("probes");
	DIR *dir = dir_fd < 0 ? NULL : directory_list(dir_fd);
	const struct dirent *entry;
	bool any = false;

	while (dir && !any && (entry = readdir(dir)))
		any = probe_journal_is_name(entry->d_name);
	if (dir)
		closedir(dir);
	return any;
}

/*
 * Opens and locks a journal. Returns a descriptor, or a negative errno if another process uses it
 * or it is not a journal of this user.
 */
static int probe_journal_open_leftover(int dir_fd, const char *name)
{
	_cleanup_close_ int fd = openat(dir_fd, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_mode & 077 ||
	    st.st_size > (off_t)PROBE_JOURNAL_SLOTS * SLOT_BYTES)
		return -EPERM;
	return probe_journal_lock(fd) ?: TAKE_FD(fd);
}

static int probe_journal_read_leftover(int fd,
				       int (*fn)(const struct probe_file *file, void *userdata),
				       void *userdata)
{
	_cleanup_free_ uint64_t *offsets = calloc(PROBE_JOURNAL_OFFSETS, sizeof(*offsets));
	struct journal_head head;
	int r = 0;

	if (!offsets)
		return -ENOMEM;
	for (off_t at = 0; r == 0 && pread(fd, &head, sizeof(head), at) == sizeof(head);
	     at += SLOT_BYTES) {
		size_t size = head.n * sizeof(*offsets);
		struct probe_file file = { head.device, head.inode, offsets, head.n };

		if (head.magic != SLOT_MAGIC || head.n == 0 || head.n > PROBE_JOURNAL_OFFSETS ||
		    pread(fd, offsets, size, at + (off_t)sizeof(head)) != (ssize_t)size)
			continue;
		r = fn(&file, userdata);
	}
	return r;
}

/* Abandoned journals, locked. */
struct leftover_journals {
	int dir_fd;
	size_t n;
	int fds[LEFTOVER_MAX];
	char names[LEFTOVER_MAX][32];
};

static void probe_journal_lock_leftover(struct leftover_journals *left)
{
	DIR *dir = directory_list(left->dir_fd);
	const struct dirent *entry;

	while (dir && left->n < LEFTOVER_MAX && (entry = readdir(dir))) {
		int fd;

		if (!probe_journal_is_name(entry->d_name) ||
		    strlen(entry->d_name) >= sizeof(left->names[0]))
			continue;
		fd = probe_journal_open_leftover(left->dir_fd, entry->d_name);
		if (fd < 0)
			continue;
		strcpy(left->names[left->n], entry->d_name);
		left->fds[left->n++] = fd;
	}
	if (dir)
		closedir(dir);
}

int probe_journal_each_leftover(int (*fn)(const struct probe_file *file, void *userdata),
				int (*done)(void *userdata), void *userdata)
{
	_cleanup_close_ int dir_fd = directory_open_runtime("probes");
	struct leftover_journals left = { .dir_fd = dir_fd };
	int r = 0;

	if (dir_fd < 0)
		return dir_fd;
	probe_journal_lock_leftover(&left);
	for (size_t i = 0; r == 0 && i < left.n; i++)
		r = probe_journal_read_leftover(left.fds[i], fn, userdata);
	if (r == 0 && left.n > 0)
		r = done(userdata);
	for (size_t i = 0; i < left.n; i++) {
		if (r == 0)
			unlinkat(dir_fd, left.names[i], 0);
		close(left.fds[i]);
	}
	return r;
}
