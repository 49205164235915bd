/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/calls/probed-inodes.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/array.h"
#include "base/cleanup.h"

static void probed_inodes_add(struct probed_inodes *p, int fd)
{
	struct probed_inode *f = &p->list[p->n];
	char link[64], path[PATH_MAX];
	const char *name;
	struct stat st;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* (a system call has no file) */
	n = fd < 0 ? -1 : readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || fstat(fd, &st) < 0)
		return;
	path[n] = '\0';
	name = strrchr(path, '/');
	f->name = strdup(name ? name + 1 : path);
	if (!f->name)
		return;
	other_files_stem(f->stem, path);
	f->device = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
	f->inode = st.st_ino;
	f->is_anonymous = major(st.st_dev) == 0;
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
		free(p->list[i].name);
	free(p->list);
	return free_ptr(p);
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

		if (f->inode == ev->mapping.inode &&
		    (f->is_anonymous || f->device == ev->mapping.device))
			return NULL;
		if (strcmp(f->stem, stem) == 0)
			missed = f->name;
	}
	return missed;
}
