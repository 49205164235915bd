/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/record/probed-files.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

static bool probed_files_have(const struct probed_files *p, const struct stat *st)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].dev == st->st_dev && p->list[i].ino == st->st_ino)
			return true;
	return false;
}

static void probed_files_add(struct probed_files *p, int fd)
{
	char link[64], path[PATH_MAX];
	struct stat st, named;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n < 0 || fstat(fd, &st) < 0 || probed_files_have(p, &st))
		return;
	path[n] = '\0';
	/* (if the name means another file, as in another mount namespace, the file is not noted) */
	if (stat(path, &named) < 0 || named.st_dev != st.st_dev || named.st_ino != st.st_ino)
		return;
	p->list[p->n] = (struct probed_file){ strdup(path), st.st_dev, st.st_ino };
	p->n += p->list[p->n].path != NULL;
}

void probed_files_note(struct probed_files *p, const struct session_options *o)
{
	const struct option_files *files[] = { &o->calls.files, &o->moments.files };

	probed_files_deinit(p);
	p->list = calloc(files[0]->n + files[1]->n + 1, sizeof(*p->list));
	for (size_t i = 0; p->list && i < ARRAY_SIZE(files); i++)
		for (size_t k = 0; k < files[i]->n; k++)
			probed_files_add(p, files[i]->fds[k]);
}

void probed_files_deinit(struct probed_files *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->list[i].path);
	free(p->list);
	*p = (struct probed_files){ 0 };
}

void probed_files_tell(const struct probed_files *p, const char *what)
{
	if (p->n == 0)
		return;
	fprintf(stderr, "%s: only %s", what, p->list[0].path);
	if (p->n > 1)
		fprintf(stderr, " and %zu other file%s have", p->n - 1, text_s(p->n - 1));
	else
		fputs(" has", stderr);
	fputs(" probes; with LD_LIBRARY_PATH, or in another root directory (chroot, a container), "
	      "programs use files of their own: name them by their path, or use -p\n",
	      stderr);
}

size_t probed_files_complain(const struct probed_files *p, const char *what)
{
	size_t n = 0;
	struct stat st;

	for (size_t i = 0; i < p->n; i++) {
		const struct probed_file *f = &p->list[i];

		if (stat(f->path, &st) < 0 || (st.st_dev == f->dev && st.st_ino == f->ino))
			continue;
		n++;
		fprintf(stderr,
			"%s: %s was replaced during the recording: calls and moments of the new "
			"file are missing; record again\n",
			what, f->path);
	}
	return n;
}
