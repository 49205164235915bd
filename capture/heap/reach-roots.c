/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/reach-roots.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

#define RING_NAP_NS 200000 /* between two attempts to read a ring */

static bool reach_roots_begins_with(const char *text, const char *begin)
{
	return strncmp(text, begin, strlen(begin)) == 0;
}

/*
 * Returns true if PATH is memory of a device: reading it can have side effects. Shared memory does
 * not count.
 */
static bool reach_roots_is_device(const char *path)
{
	return reach_roots_begins_with(path, "anon_inode:") ||
	       reach_roots_begins_with(path, "[vvar") ||
	       (reach_roots_begins_with(path, "/dev/") &&
		!reach_roots_begins_with(path, "/dev/shm/") &&
		!reach_roots_begins_with(path, "/dev/zero"));
}

/*
 * Returns true if the kernel made the mapping. A mapping that the program has named is [anon:...].
 */
static bool reach_roots_is_of_kernel(const char *path)
{
	return *path == '[' && !reach_roots_begins_with(path, "[anon") &&
	       strcmp(path, "[heap]") != 0 && strcmp(path, "[stack]") != 0;
}

/* Returns true if PATH is shared memory that is empty at first: all its content was written. */
static bool reach_roots_is_shared_memory(const char *path)
{
	return reach_roots_begins_with(path, "/dev/zero") ||
	       reach_roots_begins_with(path, "/memfd:") || reach_roots_begins_with(path, "/SYSV") ||
	       reach_roots_begins_with(path, "[anon_shmem:");
}

/* Returns true if the mapping in LINE is a root. */
static bool reach_roots_parse_root(const char *line, struct root *root)
{
	const char *path;
	char permissions[8];
	bool is_writable;
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %*s %*s %*s %n", &root->from, &root->to,
		   permissions, &at) < 3 ||
	    at == 0 || reach_roots_is_device(line + at))
		return false;
	path = line + at;
	is_writable = strncmp(permissions, "rw", 2) == 0;
	if (!is_writable && (permissions[3] == 'p' ? reach_roots_is_of_kernel(path)
						   : !reach_roots_is_shared_memory(path)))
		return false;
	root->is_heap = strcmp(path, "[heap]") == 0;
	root->is_stack = strcmp(path, "[stack]") == 0;
	root->is_anonymous = *path == '\0' && permissions[3] == 'p';
	root->is_secret = reach_roots_begins_with(path, "/secretmem");
	root->is_guard = *path == '\0' && strncmp(permissions, "---p", 4) == 0;
	root->only_own = !is_writable && permissions[3] == 'p';
	return true;
}

int reach_roots_read(pid_t task, struct outbuf *roots)
{
	char path[48], line[4352];
	bool begins = true;
	int r = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)task);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (r == 0 && fgets(line, sizeof(line), f)) {
		bool is_begin = begins;
		struct root root = { 0 };

		begins = strchr(line, '\n');
		line[strcspn(line, "\n")] = '\0';
		if (is_begin && reach_roots_parse_root(line, &root))
			r = outbuf_append(roots, &root, sizeof(root));
	}
	r = r == 0 && ferror(f) ? -EIO : r;
	fclose(f);
	return r == 0 && roots->size == 0 ? -ESRCH : r;
}

/* ---- counts of pages ---- */

static int reach_roots_check_time(uint64_t deadline_ns)
{
	return clock_read_ns(CLOCK_MONOTONIC) < deadline_ns ? 0 : -ETIME;
}

/* Adds the count of own pages in LINE ("NAME: N kB") to *OWN; UINT64_MAX = no count yet. */
static void reach_roots_add_own(const char *line, uint64_t *own)
{
	uint64_t kib;

	if (sscanf(line, "Anonymous: %" SCNu64, &kib) == 1 ||
	    sscanf(line, "Swap: %" SCNu64, &kib) == 1)
		*own = (*own == UINT64_MAX ? 0 : *own) + kib * 1024;
}

uint64_t reach_roots_own_bytes(pid_t task, uint64_t from, uint64_t deadline_ns)
{
	uint64_t mapping = 0, own = UINT64_MAX, begin, end;
	char path[48], line[4352];
	bool begins = true;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/smaps", (int)task);
	f = fopen(path, "re");
	/* "BEGIN-END ...", and then the counts of this mapping */
	while (f && mapping <= from && fgets(line, sizeof(line), f)) {
		if (begins && sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &begin, &end) == 2) {
			mapping = begin;
			if (reach_roots_check_time(deadline_ns) < 0)
				break;
		} else if (begins && mapping == from) {
			reach_roots_add_own(line, &own);
		}
		begins = strchr(line, '\n');
	}
	if (f)
		fclose(f);
	return own;
}

/* ---- data in the kernel ---- */

/* Reads one epoll instance: "tfd: FD events: MASK data: WORD ..." for each of its descriptors. */
static int reach_roots_read_instance(pid_t task, const char *fd, uint64_t deadline_ns,
				     struct outbuf *words)
{
	char path[64], line[256];
	uint64_t word;
	int r = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.20s", (int)task, fd);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (r == 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "tfd: %*d events: %*x data: %" SCNx64, &word) == 1)
			r = outbuf_append(words, &word, sizeof(word))
				    ?: reach_roots_check_time(deadline_ns);
	fclose(f);
	return r;
}

/*
 * Reads one io_uring: "INDEX: ADDRESS/BYTES" for each of its buffers, and "user_data=NUMBER" for
 * results that its ring has no room for. Returns 1 if buffers are missing. The kernel lists the
 * buffers only if no task holds the lock of the ring at that moment. If a task does, only the
 * number of buffers is listed, or nothing.
 */
static int reach_roots_try_ring(const char *path, uint64_t deadline_ns, struct outbuf *words)
{
	unsigned n = 0, n_expected = UINT_MAX;
	char line[256];
	uint64_t word;
	int r = 0;
	FILE *f;

	f = fopen(path, "re");
	if (!f)
		return 0;
	while (r == 0 && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "UserBufs: %u", &n_expected) == 1) {
			n = 0; /* (lines of files look like those of buffers, and precede them) */
			continue;
		}
		n += strspn(line, " 0123456789") > 0 && line[strspn(line, " 0123456789")] == ':';
		if (sscanf(line, " %*u: 0x%" SCNx64 "/%*u", &word) == 1 ||
		    sscanf(line, " user_data=%" SCNu64, &word) == 1)
			r = outbuf_append(words, &word, sizeof(word))
				    ?: reach_roots_check_time(deadline_ns);
	}
	fclose(f);
	return r ?: n_expected == UINT_MAX || n < n_expected;
}

static int reach_roots_read_ring(pid_t task, const char *fd, uint64_t deadline_ns,
				 struct outbuf *words)
{
	const struct timespec nap = { .tv_nsec = RING_NAP_NS };
	size_t before = words->size;
	char path[64];
	int r;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%.20s", (int)task, fd);
	while ((r = reach_roots_try_ring(path, deadline_ns, words)) > 0) {
		words->size = before;
		r = reach_roots_check_time(deadline_ns);
		if (r < 0)
			break;
		nanosleep(&nap, NULL);
	}
	return r;
}

/* Reads the timers: "signal: NUMBER/WORD" for each of them. Some kernels do not have this list. */
static int reach_roots_read_timers(pid_t task, uint64_t deadline_ns, struct outbuf *words)
{
	char path[48], line[128];
	uint64_t word;
	int r = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/timers", (int)task);
	f = fopen(path, "re");
	if (!f)
		return 0;
	while (r == 0 && fgets(line, sizeof(line), f))
		if (sscanf(line, "signal: %*d/%" SCNx64, &word) == 1)
			r = outbuf_append(words, &word, sizeof(word))
				    ?: reach_roots_check_time(deadline_ns);
	fclose(f);
	return r;
}

int reach_roots_read_kernel(pid_t task, uint64_t deadline_ns, struct outbuf *words)
{
	int r = reach_roots_read_timers(task, deadline_ns, words);
	const struct dirent *entry;
	char path[64], target[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)task);
	dir = opendir(path);
	while (r == 0 && dir && (entry = readdir(dir))) {
		ssize_t n = readlinkat(dirfd(dir), entry->d_name, target, sizeof(target) - 1);

		target[n > 0 ? n : 0] = '\0';
		if (strcmp(target, "anon_inode:[eventpoll]") == 0)
			r = reach_roots_read_instance(task, entry->d_name, deadline_ns, words);
		else if (strcmp(target, "anon_inode:[io_uring]") == 0)
			r = reach_roots_read_ring(task, entry->d_name, deadline_ns, words);
		r = r ?: reach_roots_check_time(deadline_ns);
	}
	if (dir)
		closedir(dir);
	return r;
}
