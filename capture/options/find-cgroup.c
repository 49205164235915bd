/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The id of a cgroup is the id of its kernfs node. The file handle of the node consists of these 8
 * bytes.
 */
#include "capture/options/find-cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"

/* The inode of the initial cgroup namespace: PROC_CGROUP_INIT_INO. */
#define INITIAL_CGROUPS UINT32_C(0xeffffffb)

/*
 * Returns true if paths begin at the root of the hierarchy. Otherwise the level of a cgroup is
 * unknown, and a filter would select nothing.
 */
static bool find_cgroup_sees_root(void)
{
	struct stat st;

	return stat("/proc/self/ns/cgroup", &st) < 0 || st.st_ino == INITIAL_CGROUPS;
}

/* Decodes the escapes of mountinfo, such as \040 for a space. */
static void find_cgroup_unescape(char *text)
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

/* Finds the mount point of the whole cgroup2 hierarchy. */
static int find_cgroup_find_mount(char *to, size_t room)
{
	char line[PATH_MAX + 512], root[PATH_MAX], point[PATH_MAX];
	int r = -ENODEV;
	FILE *f;

	if (!find_cgroup_sees_root())
		return -EXDEV;
	f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return -errno;
	while (r < 0 && fgets(line, sizeof(line), f)) {
		const char *type = strstr(line, " - ");

		if (!type || strncmp(type + 3, "cgroup2 ", 8) != 0 ||
		    sscanf(line, "%*s %*s %*s %4095s %4095s", root, point) != 2 ||
		    strcmp(root, "/") != 0)
			continue;
		find_cgroup_unescape(point);
		if ((size_t)snprintf(to, room, "%s", point) < room)
			r = 0;
	}
	fclose(f);
	return r;
}

static int find_cgroup_read_id(const char *path, uint64_t *ret)
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

/*
 * Fills in RET for a cgroup that need not exist. BELOW is a path without a slash at either end, and
 * without "." and "..". The parent must exist.
 */
__attribute__((nonnull)) static int find_cgroup_resolve_to_be(const char *mount, const char *below,
							      struct filter_cgroup *ret)
{
	struct filter_cgroup c = { .level = 1 };
	char path[2 * PATH_MAX], *name;
	uint64_t parent_id = 0;
	int r;

	snprintf(path, sizeof(path), "%s/%s", mount, below);
	name = strrchr(path, '/') + 1;
	if (strlen(name) >= sizeof(c.name))
		return -EINVAL;
	strcpy(c.name, name);
	for (const char *p = below; *p; p++)
		c.level += *p == '/';
	name[-1] = '\0';
	r = find_cgroup_read_id(path, &parent_id);
	if (r < 0)
		return r;
	c.parent_id = parent_id;
	*ret = c;
	return 0;
}

/* Like find_cgroup_resolve_to_be(), but the cgroup must exist. */
static int find_cgroup_resolve(const char *mount, const char *below, struct filter_cgroup *ret)
{
	char path[2 * PATH_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", mount, below);
	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOENT;
	return find_cgroup_resolve_to_be(mount, below, ret);
}

/*
 * Copies PATH without empty components. Returns -ENOENT for "." and "..", which are not names of
 * cgroups.
 */
static int find_cgroup_normalize(const char *path, char *to, size_t room)
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
	int r = find_cgroup_find_mount(mount, sizeof(mount));

	if (r < 0)
		return r;
	n = strlen(mount);
	if (strncmp(path, mount, n) == 0 && (path[n] == '/' || path[n] == '\0'))
		path += n;
	return find_cgroup_normalize(path, below, sizeof(below))
		       ?: find_cgroup_resolve(mount, below, ret);
}

/* Writes the name of UNIT's cgroup to TO. */
static int find_cgroup_unit_name(const char *unit, char to[static FILTER_CGROUP_BYTES])
{
	if (strchr(unit, '/') || *unit == '\0' ||
	    (size_t)snprintf(to, FILTER_CGROUP_BYTES, "%s%s", unit,
			     strchr(unit, '.') ? "" : ".service") >= FILTER_CGROUP_BYTES)
		return -EINVAL;
	return 0;
}

/*
 * Finds cgroups with the name of UNIT. OF_ROOT excludes cgroups that users create in a subtree
 * delegated to them.
 */
static int find_cgroup_by_unit(const char *unit, bool of_root, struct filter_cgroup *list, int max)
{
	char mount[PATH_MAX], name[FILTER_CGROUP_BYTES];
	char *roots[] = { mount, NULL };
	int n = 0, r;
	FTSENT *entry;
	FTS *tree;

	r = find_cgroup_unit_name(unit, name) ?: find_cgroup_find_mount(mount, sizeof(mount));
	if (r < 0)
		return r;
	tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	if (!tree)
		return -errno;
	while (r >= 0 && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_D || entry->fts_level == 0)
			continue;
		if (of_root && entry->fts_statp->st_uid != 0) {
			/* Skip the whole subtree, which can be of any size. */
			fts_set(tree, entry, FTS_SKIP);
			continue;
		}
		if (strcmp(entry->fts_name, name) != 0)
			continue;
		if (n == max) {
			r = -E2BIG;
			break;
		}
		r = find_cgroup_resolve(mount, entry->fts_path + strlen(mount) + 1, &list[n++]);
		fts_set(tree, entry, FTS_SKIP);
	}
	fts_close(tree);
	if (r < 0)
		return r;
	return n ?: -ENOENT;
}

int find_cgroup_unit(const char *unit, struct filter_cgroup *list, int max)
{
	return find_cgroup_by_unit(unit, false, list, max);
}

int find_cgroup_unit_trusted(const char *unit, struct filter_cgroup *list, int max)
{
	int n = find_cgroup_by_unit(unit, true, list, max);

	return n == -ENOENT ? find_cgroup_by_unit(unit, false, list, max) : n;
}

/* Expands "a-b-c" to "a.slice/a-b.slice/a-b-c.slice". Returns the required length. */
static size_t find_cgroup_slice_path(char *to, size_t room, const char *slice)
{
	size_t used = 0;

	for (size_t n = 1; used < room && n <= strlen(slice); n++) {
		if (slice[n] == '-' || slice[n] == '\0')
			used += (size_t)snprintf(to + used, room - used, "%s%.*s.slice",
						 used ? "/" : "", (int)n, slice);
	}
	return used;
}

/*
 * Writes the slice of services from TEMPLATE. A "-" in the template's name is escaped, since it
 * would separate levels of slices.
 */
static void find_cgroup_template_slice(char *to, size_t room, const char *template, size_t n)
{
	size_t used = (size_t)snprintf(to, room, "system-");

	for (size_t i = 0; i < n && used + 5 < room; i++) {
		if (template[i] == '-') {
			strcpy(to + used, "\\x2d");
			used += 4;
		} else {
			to[used++] = template[i];
		}
	}
	to[used] = '\0';
}

/* Writes to TO the cgroup in which systemd runs the unit NAME by default. */
static int find_cgroup_usual_path(const char *name, char *to, size_t room)
{
	char slice[2 * FILTER_CGROUP_BYTES] = "system";
	const char *at = strchr(name, '@'), *suffix = strrchr(name, '.');
	size_t used;

	if (!suffix || suffix == name)
		return -EINVAL;
	if (strcmp(suffix, ".slice") == 0) {
		snprintf(slice, sizeof(slice), "%.*s", (int)(suffix - name), name);
		return find_cgroup_slice_path(to, room, slice) < room ? 0 : -EINVAL;
	}
	if (at && at > name)
		find_cgroup_template_slice(slice, sizeof(slice), name, (size_t)(at - name));
	used = find_cgroup_slice_path(to, room, slice);
	if (used >= room || (size_t)snprintf(to + used, room - used, "/%s", name) >= room - used)
		return -EINVAL;
	return 0;
}

int find_cgroup_unit_to_be(const char *unit, struct filter_cgroup *list, int max, bool *ret_runs)
{
	char mount[PATH_MAX], name[FILTER_CGROUP_BYTES], below[PATH_MAX];
	int n = find_cgroup_by_unit(unit, true, list, max), r;

	*ret_runs = n > 0;
	if (n != -ENOENT)
		return n;
	/*
	 * A cgroup with that name that belongs to a user may be the unit, so such cgroups are
	 * included.
	 */
	n = find_cgroup_by_unit(unit, false, list, max - 1);
	*ret_runs = n > 0;
	if (n == -ENOENT || n == -E2BIG)
		n = 0;
	if (n < 0)
		return n;
	r = find_cgroup_unit_name(unit, name);
	r = r ?: find_cgroup_usual_path(name, below, sizeof(below));
	r = r ?: find_cgroup_find_mount(mount, sizeof(mount));
	r = r ?: find_cgroup_resolve_to_be(mount, below, &list[n]);
	return r == 0 ? n + 1 : n > 0 ? n : r;
}

char *find_cgroup_error(int error, const char *what, char why[static VALUE_WHY_MAX])
{
	switch (error) {
	case -ENOENT:
		snprintf(
			why, VALUE_WHY_MAX,
			"there is no cgroup '%.80s'; is its unit running? 'systemd-cgls' lists all",
			what);
		break;
	case -EINVAL:
		snprintf(why, VALUE_WHY_MAX, "'%.80s' is not the name of a cgroup below the root",
			 what);
		break;
	case -ENODEV:
		snprintf(why, VALUE_WHY_MAX, "no cgroup2 hierarchy is mounted on this machine");
		break;
	case -EXDEV:
		snprintf(why, VALUE_WHY_MAX,
			 "cgroups cannot be selected in a cgroup namespace (a container): run kymo "
			 "on the host");
		break;
	case -E2BIG:
		snprintf(why, VALUE_WHY_MAX,
			 "more than %d cgroups have the name '%.80s'; select one by its path",
			 FILTER_CGROUPS_MAX, what);
		break;
	default:
		snprintf(why, VALUE_WHY_MAX, "cannot inspect cgroup '%.80s': %s", what,
			 strerror(-error));
	}
	return why;
}
