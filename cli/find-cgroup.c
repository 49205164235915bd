/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A cgroup's id is its kernfs node's, which its file handle holds: 8 bytes.
 */
#include "cli/find-cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* Undoes what mountinfo does to a space in a path: \040. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++) {
		if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' && from[2] && from[3]) {
			*to++ = (char)((from[1] - '0') << 6 | (from[2] - '0') << 3 |
				       (from[3] - '0'));
			from += 3;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
}

/* Where the whole cgroup2 hierarchy is mounted. */
static int find_mount(char *to, size_t room)
{
	char line[PATH_MAX + 512], root[PATH_MAX], point[PATH_MAX];
	FILE *f = fopen("/proc/self/mountinfo", "re");
	int r = -ENODEV;

	if (!f)
		return -errno;
	while (r < 0 && fgets(line, sizeof(line), f)) {
		const char *type = strstr(line, " - ");

		if (!type || strncmp(type + 3, "cgroup2 ", 8) != 0 ||
		    sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2 ||
		    strcmp(root, "/") != 0)
			continue;
		unescape(point);
		if ((size_t)snprintf(to, room, "%s", point) < room)
			r = 0;
	}
	fclose(f);
	return r;
}

static int read_id(const char *path, uint64_t *ret)
{
	union {
		struct file_handle handle;
		char room[sizeof(struct file_handle) + 8];
	} h = { .handle.handle_bytes = 8 };
	int mount_id;

	if (name_to_handle_at(AT_FDCWD, path, &h.handle, &mount_id, 0) < 0)
		return -errno;
	if (h.handle.handle_bytes != sizeof(*ret))
		return -EINVAL;
	memcpy(ret, h.handle.f_handle, sizeof(*ret));
	return 0;
}

/* BELOW is a path without a slash at either end, and without "." and "..". */
static int resolve(const char *mount, const char *below, struct filter_cgroup *ret)
{
	struct filter_cgroup c = { .level = 1 };
	const char *name = strrchr(below, '/');
	char path[2 * PATH_MAX];
	uint64_t parent_id = 0;
	struct stat st;
	int r;

	name = name ? name + 1 : below;
	snprintf(path, sizeof(path), "%s/%s", mount, below);
	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOENT;
	if (strlen(name) >= sizeof(c.name))
		return -EINVAL;
	strcpy(c.name, name);
	for (const char *p = below; *p; p++)
		c.level += *p == '/';
	path[strlen(path) - strlen(name) - 1] = '\0';
	r = read_id(path, &parent_id);
	if (r < 0)
		return r;
	c.parent_id = parent_id;
	*ret = c;
	return 0;
}

/* Copies PATH without empty components. Returns -ENOENT for "." and "..", which are no names. */
static int normalize(const char *path, char *to, size_t room)
{
	size_t used = 0;

	while (*path) {
		size_t n = strcspn(path, "/");

		if ((n == 1 && path[0] == '.') || (n == 2 && path[0] == '.' && path[1] == '.'))
			return -ENOENT;
		if (used + n + 2 > room)
			return -ENAMETOOLONG;
		if (n && used)
			to[used++] = '/';
		memcpy(to + used, path, n);
		used += n;
		path += n + (path[n] == '/');
	}
	to[used] = '\0';
	return used ? 0 : -EINVAL;
}

int find_cgroup_path(const char *path, struct filter_cgroup *ret)
{
	char mount[PATH_MAX], below[PATH_MAX];
	size_t n;
	int r;

	r = find_mount(mount, sizeof(mount));
	if (r < 0)
		return r;
	n = strlen(mount);
	if (strncmp(path, mount, n) == 0 && (path[n] == '/' || path[n] == '\0'))
		path += n;
	r = normalize(path, below, sizeof(below));
	return r < 0 ? r : resolve(mount, below, ret);
}

int find_cgroup_unit(const char *unit, struct filter_cgroup *list, int max)
{
	char mount[PATH_MAX], name[FILTER_CGROUP_BYTES];
	char *roots[] = { mount, NULL };
	int n = 0, r;
	FTSENT *entry;
	FTS *tree;

	if (strchr(unit, '/') || *unit == '\0' ||
	    (size_t)snprintf(name, sizeof(name), "%s%s", unit,
			     strchr(unit, '.') ? "" : ".service") >= sizeof(name))
		return -EINVAL;
	r = find_mount(mount, sizeof(mount));
	if (r < 0)
		return r;
	tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!tree)
		return -errno;
	while (r >= 0 && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_D || entry->fts_level == 0 ||
		    strcmp(entry->fts_name, name) != 0)
			continue;
		if (n == max) {
			r = -E2BIG;
			break;
		}
		r = resolve(mount, entry->fts_path + strlen(mount) + 1, &list[n++]);
		fts_set(tree, entry, FTS_SKIP);
	}
	fts_close(tree);
	if (r < 0)
		return r;
	return n ?: -ENOENT;
}
