/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/cgroup-paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/table.h"
#include "base/text.h"

enum {
	DEPTH_MAX = 32,
	WANTED_MAX = 65536,        /* that the walk looks for at once */
	MEMBERSHIP_ROOM = 1 << 14, /* of /proc/PID/cgroup: a line for each hierarchy */
	ENTRIES_PER_LOOK = 64,     /* between two looks at the clock */
};

struct cgroup_paths {
	char *root;
	int fd;              /* of the hierarchy */
	uint64_t id;         /* its root's */
	struct table wanted; /* id -> 1 + the round from which on it is looked for */

	/* the walk: directories that are open, each below the one before */
	DIR *dirs[DEPTH_MAX];
	size_t lengths[DEPTH_MAX]; /* of the path of each */
	unsigned n_dirs;
	uintptr_t round;
	bool all; /* what nobody looks for is reported, too, until the end of the round */
	char path[CGROUP_PATH_ROOM]; /* of the last one; "" is the root */
};

/* ---- the hierarchy ---- */

/* Where systemd has it: alone, or beside the older hierarchies. */
static int open_hierarchy(const char *root)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char place[PATH_MAX];
	struct statfs fs;

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		int fd;

		snprintf(place, sizeof(place), "%s%s", root, places[i]);
		fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		/* (a root of its own is a test's, of ordinary directories) */
		if (fd >= 0 && fstatfs(fd, &fs) == 0 && (*root || fs.f_type == CGROUP2_SUPER_MAGIC))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	return -ENODEV;
}

int cgroup_paths_new(const char *root, struct cgroup_paths **ret)
{
	_cleanup_(cgroup_paths_freep) struct cgroup_paths *c = calloc(1, sizeof(*c));
	struct stat st;

	if (!c)
		return -ENOMEM;
	c->fd = open_hierarchy(root);
	if (c->fd < 0)
		return c->fd;
	c->root = strdup(root);
	if (!c->root)
		return -ENOMEM;
	if (fstat(c->fd, &st) < 0)
		return -errno;
	c->id = st.st_ino;
	*ret = TAKE_PTR(c);
	return 0;
}

static void end_round(struct cgroup_paths *c)
{
	while (c->n_dirs > 0)
		closedir(c->dirs[--c->n_dirs]);
}

struct cgroup_paths *cgroup_paths_free(struct cgroup_paths *c)
{
	if (!c)
		return NULL;
	end_round(c);
	close_fd(c->fd);
	table_deinit(&c->wanted);
	free(c->root);
	return free_ptr(c);
}

static int cgroup_paths_call(uint64_t id, const char *path, cgroup_path_fn fn, void *userdata)
{
	char clean[CGROUP_PATH_ROOM];

	if (!*path)
		return fn(id, "/", userdata);
	text_clean(clean, sizeof(clean), path, strlen(path));
	return fn(id, clean, userdata);
}

/* ---- what a process says ---- */

/* The path in the line of the unified hierarchy, cut off in place; NULL if there is none. */
static char *unified_line(char *text)
{
	for (char *line = text, *next; line && *line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (strncmp(line, "0::/", 4) == 0)
			return line + 3;
	}
	return NULL;
}

/* Where process PID says that it is, in BUFFER; NULL if it does not. */
static const char *path_of_process(const struct cgroup_paths *c, uint32_t pid,
				   char buffer[static MEMBERSHIP_ROOM])
{
	_cleanup_close_ int fd = -1;
	size_t have = 0;
	ssize_t n;

	snprintf(buffer, MEMBERSHIP_ROOM, "%s/proc/%u/cgroup", c->root, pid);
	fd = open(buffer, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	while (have < MEMBERSHIP_ROOM - 1 &&
	       (n = read(fd, buffer + have, MEMBERSHIP_ROOM - 1 - have)) > 0)
		have += (size_t)n;
	buffer[have] = '\0';
	return unified_line(buffer);
}

/*
 * Whether the directory PATH is that of ID: a process that moved, or reuses the pid, names another.
 */
static bool is_at(const struct cgroup_paths *c, const char *path, uint64_t id)
{
	struct stat st;

	/* (beginning with that it is outside of our namespace of cgroups) */
	if (strncmp(path, "/..", 3) == 0 || strlen(path) >= CGROUP_PATH_ROOM)
		return false;
	return fstatat(c->fd, path[1] ? path + 1 : ".", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISDIR(st.st_mode) && st.st_ino == id;
}

int cgroup_paths_find(struct cgroup_paths *c, uint64_t id, uint32_t pid, cgroup_path_fn fn,
		      void *userdata)
{
	char buffer[MEMBERSHIP_ROOM];
	const char *path;

	if (id == c->id)
		return cgroup_paths_call(id, "", fn, userdata);
	path = path_of_process(c, pid, buffer);
	if (path && is_at(c, path, id)) {
		table_remove(&c->wanted, id);
		return cgroup_paths_call(id, path, fn, userdata);
	}
	/* A round that has begun may be past it, so it may take the next one, too. Without memory,
	 * or when too many are wanted, it stays unknown. */
	if (c->wanted.n_used < WANTED_MAX && !table_get(&c->wanted, id))
		table_set(&c->wanted, id, (void *)(c->round + (c->n_dirs > 0 ? 2 : 1)));
	return 0;
}

/* ---- the walk ---- */

/*
 * Goes into the directory at PATH, open as FD (taken over). A directory that goes away counts as
 * empty.
 */
static void cgroup_paths_enter(struct cgroup_paths *c, int fd)
{
	DIR *dir = fd >= 0 && c->n_dirs < DEPTH_MAX ? fdopendir(fd) : NULL;

	if (!dir) {
		close_fd(fd);
		return;
	}
	c->lengths[c->n_dirs] = strlen(c->path);
	c->dirs[c->n_dirs++] = dir;
}

static void begin_round(struct cgroup_paths *c)
{
	*c->path = '\0';
	/* (a description of its own: where it has been read to is kept there) */
	cgroup_paths_enter(c, openat(c->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

static bool cgroup_paths_is_directory(const struct cgroup_paths *c, const struct dirent *entry)
{
	return entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
	       strcmp(entry->d_name, "..") != 0 &&
	       c->lengths[c->n_dirs - 1] + strlen(entry->d_name) + 2 <= sizeof(c->path);
}

/* The next entry of the directory where the walk is. */
static int cgroup_paths_step(struct cgroup_paths *c, cgroup_path_fn fn, void *userdata)
{
	DIR *dir = c->dirs[c->n_dirs - 1];
	size_t used = c->lengths[c->n_dirs - 1];
	const struct dirent *entry = readdir(dir);
	int r = 0;

	if (!entry) {
		closedir(dir);
		c->n_dirs--;
		return 0;
	}
	if (!cgroup_paths_is_directory(c, entry))
		return 0;
	c->path[used] = '/';
	strcpy(c->path + used + 1, entry->d_name);
	if (table_remove(&c->wanted, entry->d_ino) || c->all)
		r = cgroup_paths_call(entry->d_ino, c->path, fn, userdata);
	cgroup_paths_enter(c, openat(dirfd(dir), entry->d_name,
				     O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
	return r;
}

/* Forgets ids that were wanted during all of the round that ends. */
static void cgroup_paths_give_up(struct cgroup_paths *c)
{
	struct table rest = { 0 };

	for (size_t i = 0; i < c->wanted.n_slots; i++) {
		const struct table_slot *slot = &c->wanted.slots[i];

		/* (without memory nobody knows it) */
		if (slot->key && (uintptr_t)slot->value > c->round + 1)
			table_set(&rest, slot->key, slot->value);
	}
	table_deinit(&c->wanted);
	c->wanted = rest;
	c->round++;
	c->all = false;
}

int cgroup_paths_walk(struct cgroup_paths *c, uint64_t budget_ns, cgroup_path_fn fn, void *userdata)
{
	uint64_t until_ns = clock_read_ns(CLOCK_THREAD_CPUTIME_ID) + budget_ns;
	int r = 0;

	for (unsigned n = 1; r == 0 && (c->all || c->wanted.n_used > 0); n++) {
		if (c->n_dirs == 0)
			begin_round(c);
		if (c->n_dirs > 0)
			r = cgroup_paths_step(c, fn, userdata);
		if (c->n_dirs == 0)
			cgroup_paths_give_up(c);
		if (n % ENTRIES_PER_LOOK == 0 && clock_read_ns(CLOCK_THREAD_CPUTIME_ID) >= until_ns)
			break;
	}
	if (c->wanted.n_used == 0)
		end_round(c);
	return r < 0 ? r : c->wanted.n_used > 0;
}

int cgroup_paths_list(struct cgroup_paths *c, uint64_t budget_ns, cgroup_path_fn fn, void *userdata)
{
	int r;

	end_round(c);
	c->all = true;
	r = cgroup_paths_walk(c, budget_ns, fn, userdata);
	c->all = false;
	return r;
}
