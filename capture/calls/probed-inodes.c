/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/probed-inodes.h"

#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/text.h"

/* Room for a path after text_clean(), which can replace each byte by three. */
enum { PATH_ROOM = 3 * PATH_MAX + 1 };

/*
 * Returns whether records of mappings show the file of FD by its device and inode numbers. The
 * files of an overlayfs have numbers of their own, but mappings of these files can have the numbers
 * of the files below.
 */
static bool probed_inodes_is_comparable(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type != OVERLAYFS_SUPER_MAGIC;
}

static void probed_inodes_add(struct probed_inodes *p, int fd)
{
	struct probed_inode *f = &p->list[p->n];
	char link[64], path[PATH_MAX], clean[PATH_ROOM];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* (a system call has no file) */
	n = fd < 0 ? -1 : readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || !probed_inodes_is_comparable(fd) || file_identity_get(fd, &f->identity) < 0)
		return;
	/* (cleaned like the paths of mappings, with which it is compared) */
	text_clean(clean, sizeof(clean), path, (size_t)n);
	f->path = strdup(clean);
	if (!f->path)
		return;
	other_files_stem(f->stem, clean);
	p->n++;
}

struct probed_inodes *probed_inodes_new(const struct session_options *o)
{
	const struct option_files *files[] = { &o->calls.files, &o->moments.files };
	struct probed_inodes *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->list = calloc(files[0]->n + files[1]->n + 1, sizeof(*p->list));
	for (size_t i = 0; p->list && i < ARRAY_SIZE(files); i++)
		for (size_t k = 0; k < files[i]->n; k++)
			probed_inodes_add(p, files[i]->fds[k]);
	return p->list ? p : probed_inodes_free(p);
}

struct probed_inodes *probed_inodes_free(struct probed_inodes *p)
{
	if (!p)
		return NULL;
	for (size_t i = 0; i < p->n; i++)
		free(p->list[i].path);
	free(p->list);
	return free_ptr(p);
}

/*
 * Returns the path of F if it is equal to MAPPED; otherwise, the name of the file without its
 * directory.
 */
static const char *probed_inodes_name(const struct probed_inode *f, const char *mapped)
{
	const char *slash = strrchr(f->path, '/');

	return strcmp(f->path, mapped) == 0 || !slash ? f->path : slash + 1;
}

const char *probed_inodes_missed(const struct probed_inodes *p, const struct event *ev)
{
	char stem[OTHER_FILES_STEM];
	const char *missed = NULL;

	if (!p || p->n == 0 || ev->mapping.inode == 0)
		return NULL;
	other_files_stem(stem, ev->mapping.path);
	for (size_t i = 0; i < p->n; i++) {
		const struct probed_inode *f = &p->list[i];

		if (file_identity_is_of(&f->identity, ev->mapping.device, ev->mapping.inode))
			return NULL;
		if (strcmp(f->stem, stem) == 0)
			missed = probed_inodes_name(f, ev->mapping.path);
	}
	return missed;
}
