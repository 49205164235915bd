/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/store/chunk-list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/cleanup.h"
#include "base/directory.h"

DEFINE_ORDER(by_age, struct chunk,
	     COMPARE(x->name.begin_us, y->name.begin_us) ?: strcmp(x->file, y->file))

/* Returns 1 if FILE is a regular file, 0 if it is not, or no longer exists, or a negative errno. */
static int chunk_list_stat(int dir_fd, const char *file, struct chunk *ret)
{
	struct stat st;

	if (fstatat(dir_fd, file, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno == ENOENT ? 0 : -errno;
	snprintf(ret->file, sizeof(ret->file), "%s", file);
	ret->bytes = (uint64_t)st.st_size;
	return S_ISREG(st.st_mode) ? 1 : 0;
}

int chunk_list_read(int dir_fd, const char *name, enum chunk_list_how how, struct chunk **ret,
		    size_t *ret_n)
{
	_cleanup_free_ struct chunk *chunks = NULL;
	DIR *dir = directory_list(dir_fd);
	const struct dirent *entry;
	size_t n = 0, room = 0;
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0 && (errno = 0, entry = readdir(dir))) {
		struct chunk one = { 0 };

		if (!chunk_name_parse(entry->d_name, name, &one.name))
			continue;
		r = chunk_list_stat(dir_fd, entry->d_name, &one);
		if (r < 0 && how == CHUNK_LIST_READABLE)
			r = 0;
		if (r > 0 && (r = GROW(chunks, room, n + 1)) == 0)
			chunks[n++] = one;
	}
	/* An incomplete list is an error, since the missing chunks would count as removed. */
	if (r == 0 && errno != 0 && how == CHUNK_LIST_WHOLE)
		r = -errno;
	closedir(dir);
	if (r < 0)
		return r;
	SORT(chunks, n, by_age);
	*ret = TAKE_PTR(chunks);
	*ret_n = n;
	return 0;
}
