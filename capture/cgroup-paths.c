/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/cgroup-paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

enum { DEPTH_MAX = 32, CGROUPS_MAX = 65536, PATH_ROOM = 1024 };

struct walk {
	int (*take)(uint64_t id, const char *path, void *userdata);
	void *userdata;
	unsigned n;
	char path[PATH_ROOM]; /* of where we are; "" is the root */
};

static int tell(struct walk *w, uint64_t id)
{
	char clean[PATH_ROOM];

	w->n++;
	if (!*w->path)
		return w->take(id, "/", w->userdata);
	text_clean(clean, sizeof(clean), w->path, strlen(w->path));
	return w->take(id, clean, w->userdata);
}

/* Goes through the folder FD, which is closed. A cgroup that goes meanwhile has nothing in it. */
static int walk_below(struct walk *w, int fd, unsigned depth)
{
	size_t used = strlen(w->path);
	const struct dirent *entry;
	DIR *dir = fdopendir(fd);
	int r = 0;

	if (!dir) {
		close(fd);
		return 0;
	}
	while (r == 0 && w->n < CGROUPS_MAX && (entry = readdir(dir))) {
		size_t n = strlen(entry->d_name);

		if (entry->d_type != DT_DIR || strcmp(entry->d_name, ".") == 0 ||
		    strcmp(entry->d_name, "..") == 0 || used + n + 2 > sizeof(w->path))
			continue;
		w->path[used] = '/';
		memcpy(w->path + used + 1, entry->d_name, n + 1);
		r = tell(w, entry->d_ino);
		fd = r != 0 || depth == DEPTH_MAX
			     ? -1
			     : openat(dirfd(dir), entry->d_name,
				      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd >= 0)
			r = walk_below(w, fd, depth + 1);
		w->path[used] = '\0';
	}
	closedir(dir);
	return r;
}

/* Where systemd has it: alone, or beside the older hierarchies. */
static int open_root(void)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct statfs fs;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		if (fd >= 0 && fstatfs(fd, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC)
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENODEV;
}

int cgroup_paths(int (*take)(uint64_t id, const char *path, void *userdata), void *userdata)
{
	struct walk w = { .take = take, .userdata = userdata };
	int fd = open_root(), r;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0) {
		r = -errno;
		close(fd);
		return r;
	}
	r = tell(&w, st.st_ino);
	if (r == 0)
		return walk_below(&w, fd, 1);
	close(fd);
	return r;
}
