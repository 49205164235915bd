/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /proc/PID/maps lists files by their names in the mount namespace of the process, as seen from the
 * root directory of this process. /proc/PID/map_files leads to each file itself, even if it was
 * deleted. /proc/PID/root leads to the file by its name, next to which its debug information may
 * be. The kernel follows an absolute link below /proc/PID/root from the root directory of this
 * process, so links are followed here.
 */
#include "cli/places/process-file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/options/program-file.h"
#include "cli/common/verb.h"
#include "reader/symbols/open-below.h"

#define PROCESS_FILE_DELETED " (deleted)"

struct process_file_search {
	const char *name;
	char path[PATH_MAX]; /* path of this machine's file in the kernel; "" = no such file */
	struct stat st;      /* attributes of this file */
	bool is_used;        /* a process has mapped this file */
	char root[PATH_MAX]; /* root directory of the process; "" = this machine's, or unknown */
	struct stat other;   /* attributes of the file that was found instead */
};

static bool process_file_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Stores the root directory of process PID. */
static void process_file_read_root(struct process_file_search *s, uint32_t pid)
{
	char link[32];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/%" PRIu32 "/root", pid);
	n = readlink(link, s->root, sizeof(s->root) - 1);
	s->root[n > 1 ? n : 0] = '\0';
}

/* Returns PATH, a path from a list of mappings, in the form in which the process names it. */
static const char *process_file_inner(const struct process_file_search *s, const char *path)
{
	size_t n = strlen(s->root);

	return strncmp(path, s->root, n) == 0 && path[n] == '/' ? path + n : path;
}

/* Returns true if PATH, from a list of mappings, matches the name. */
static bool process_file_is_named(const struct process_file_search *s, const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return false;
	return strchr(s->name, '/') ? strcmp(path, s->name) == 0 || strcmp(path, s->path) == 0 ||
					      strcmp(process_file_inner(s, path), s->name) == 0
				    : strcmp(slash + 1, s->name) == 0;
}

/*
 * Finds the file PATH below the root directory of process PID. Writes to RET a path that leads to
 * the file. Returns whether the file is readable.
 */
static bool process_file_below(uint32_t pid, const char *path, char ret[static PATH_MAX],
			       struct stat *ret_st)
{
	_cleanup_close_ int root_fd = -1, fd = -1;
	char root[32], found[PATH_MAX];

	snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", pid);
	root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root_fd < 0)
		return false;
	fd = open_below_find(root_fd, path, found);
	return fd >= 0 && fstat(fd, ret_st) == 0 &&
	       snprintf(ret, PATH_MAX, "%s%s", root, found) < PATH_MAX;
}

/*
 * Returns true if the file PATH can have the name of a link: the names begin alike, up to the
 * version. Files of other names are not accessed, since a file system can hang.
 */
static bool process_file_may_be_linked(const struct process_file_search *s, const char *path)
{
	size_t n = strcspn(s->name, ".-");

	return n > 0 && !strchr(s->name, '/') && strncmp(strrchr(path, '/') + 1, s->name, n) == 0;
}

/*
 * Returns true if the name (without a directory) is a symbolic link to the file ST: libz.so.1 leads
 * to libz.so.1.2.13. The link must be beside PATH, as which process PID has mapped the file.
 */
static bool process_file_is_linked(const struct process_file_search *s, uint32_t pid,
				   const char *path, const struct stat *st)
{
	const char *inner = process_file_inner(s, path);
	char link[PATH_MAX], found[PATH_MAX];
	struct stat other;

	if (snprintf(link, sizeof(link), "%.*s/%s", (int)(strrchr(path, '/') - path), path,
		     s->name) < PATH_MAX &&
	    stat(link, &other) == 0 && process_file_same(&other, st))
		return true;
	return snprintf(link, sizeof(link), "%.*s/%s", (int)(strrchr(inner, '/') - inner), inner,
			s->name) < PATH_MAX &&
	       process_file_below(pid, link, found, &other) && process_file_same(&other, st);
}

/*
 * Finds a path to the file that process PID has mapped at RANGE as PATH. PATH is below the root
 * directory of the process. Returns whether the file is accessible.
 */
static bool process_file_reach(uint32_t pid, const char *range, const char *path,
			       char ret[static PATH_MAX], struct stat *ret_st)
{
	char mapped[64];
	struct stat st;
	bool known;

	snprintf(mapped, sizeof(mapped), "/proc/%" PRIu32 "/map_files/%s", pid, range);
	known = stat(mapped, &st) == 0;
	if (process_file_below(pid, path, ret, ret_st) &&
	    (!known || process_file_same(&st, ret_st)))
		return true;
	snprintf(ret, PATH_MAX, "%s", mapped);
	*ret_st = st;
	return known;
}

static void process_file_set(struct process_file *ret, uint32_t pid, const char *inner)
{
	ret->pid = pid;
	snprintf(ret->inner, sizeof(ret->inner), "%s", inner);
}

/* Parses one line of /proc/TID/maps, of a thread of process PID. */
static void process_file_parse_line(struct process_file_search *s, uint32_t pid, uint32_t tid,
				    char *line, struct process_file *ret)
{
	char range[40], permissions[5], path[PATH_MAX];
	unsigned long long start, end, major, minor, inode;
	struct stat st;
	int at = 0;
	bool named, may_be_linked;
	size_t n;

	if (sscanf(line, "%39s %4s %*s %llx:%llx %llu %n", range, permissions, &major, &minor,
		   &inode, &at) < 5 ||
	    at == 0 || !strchr(permissions, 'x') || line[at] != '/' ||
	    sscanf(range, "%llx-%llx", &start, &end) != 2)
		return;
	line += at;
	line[strcspn(line, "\n")] = '\0';
	n = strlen(line);
	if (n > strlen(PROCESS_FILE_DELETED) &&
	    strcmp(line + n - strlen(PROCESS_FILE_DELETED), PROCESS_FILE_DELETED) == 0)
		line[n - strlen(PROCESS_FILE_DELETED)] = '\0';
	/*
	 * (a file with another name can be this machine's file: the name is a symbolic link, or the
	 * file has several names)
	 */
	named = process_file_is_named(s, line);
	may_be_linked = !named && process_file_may_be_linked(s, line);
	if ((!named && !may_be_linked &&
	     !(*s->path && (inode == s->st.st_ino || strcmp(line, s->path) == 0))) ||
	    !process_file_reach(tid, range, process_file_inner(s, line), path, &st))
		return;
	named |= may_be_linked && process_file_is_linked(s, tid, line, &st);
	if (*s->path && process_file_same(&st, &s->st)) {
		s->is_used = true;
	} else if (!named) {
		return;
	} else if (ret->pid == 0) {
		s->other = st;
		snprintf(ret->path, sizeof(ret->path), "%s", path);
		process_file_set(ret, pid, process_file_inner(s, line));
		ret->living.pid = tid;
		ret->living.start = start;
		ret->living.size = end - start;
		ret->living.device = major << 20 | minor;
		ret->living.inode = inode;
	} else if (!process_file_same(&st, &s->other)) {
		ret->another = pid;
	}
}

/* Reads the mappings of thread TID of process PID. Returns whether the thread has any. */
static bool process_file_scan_thread(struct process_file_search *s, uint32_t pid, uint32_t tid,
				     struct process_file *ret)
{
	_cleanup_free_ char *line = NULL;
	bool any = false;
	char maps[64];
	size_t room = 0;
	FILE *f;

	snprintf(maps, sizeof(maps), "/proc/%" PRIu32 "/maps", tid);
	f = fopen(maps, "re");
	process_file_read_root(s, tid);
	while (f && getline(&line, &room, f) >= 0) {
		process_file_parse_line(s, pid, tid, line, ret);
		any = true;
	}
	if (f)
		fclose(f);
	return any;
}

/*
 * (if the first thread of a process has ended, /proc/PID shows no memory, but /proc/TID of other
 * threads does)
 */
static void process_file_scan_maps(struct process_file_search *s, uint32_t pid,
				   struct process_file *ret)
{
	bool found = process_file_scan_thread(s, pid, pid, ret);
	const struct dirent *entry;
	char tasks[64];
	DIR *d;

	if (found)
		return;
	snprintf(tasks, sizeof(tasks), "/proc/%" PRIu32 "/task", pid);
	d = opendir(tasks);
	while (d && !found && (entry = readdir(d))) {
		unsigned long tid = strtoul(entry->d_name, NULL, 10);

		found = tid && tid != pid && process_file_scan_thread(s, pid, (uint32_t)tid, ret);
	}
	if (d)
		closedir(d);
}

/* Finds a path that exists only in the mount namespace of one of the processes. */
static int process_file_below_root(const char *name, const struct capture_filter *filter,
				   struct process_file *ret)
{
	struct stat st;

	for (size_t i = 0; *name == '/' && i < filter->n_pids; i++)
		if (process_file_below(filter->pids[i], name, ret->path, &st)) {
			process_file_set(ret, filter->pids[i], name);
			return 0;
		}
	return -ENOENT;
}

int process_file_find(const char *name, const struct capture_filter *filter,
		      struct process_file *ret)
{
	struct process_file_search s = { .name = name };
	char host[PATH_MAX];
	int r = program_file_find(name, PROGRAM_FILE_CACHE, getenv("PATH"), host, sizeof(host));
	bool there = r == 0 && stat(host, &s.st) == 0 && realpath(host, s.path);

	*ret = (struct process_file){ 0 };
	for (size_t i = 0; i < filter->n_pids; i++)
		process_file_scan_maps(&s, filter->pids[i], ret);
	if (ret->pid && !s.is_used)
		return 0;
	ret->is_unused = filter->n_pids > 0 && !ret->pid && !s.is_used;
	/*
	 * Some processes have mapped this machine's file, and others another file. Then this
	 * machine's file is used.
	 */
	ret->another = ret->pid;
	ret->pid = 0;
	if (!there && process_file_below_root(name, filter, ret) == 0)
		return 0;
	if (r == 0)
		snprintf(ret->path, sizeof(ret->path), "%s", host);
	return r;
}

int process_file_open(const struct process_file *f, struct places **ret, char *why, size_t size)
{
	struct places_living living = f->living;

	living.pid = f->living.pid ?: f->pid;
	living.path = f->inner;
	return places_open(ret, f->path,
			   &(struct places_options){ .living = f->pid ? &living : NULL }, why,
			   size);
}

void process_file_report(const struct process_file *f, const char *option, const char *name)
{
	if (f->pid)
		cli_error("%s: process %" PRIu32 " uses another '%s' than this machine: %s", option,
			  f->pid, name, f->path);
	if (f->is_unused)
		cli_error("%s: no selected process has loaded '%s' yet; nothing of it is recorded "
			  "until a process loads it",
			  option, name);
	if (f->another)
		cli_error("%s: the calls of process %" PRIu32
			  " are not recorded, because its '%s' differs from that of the first "
			  "process",
			  option, f->another, name);
}
