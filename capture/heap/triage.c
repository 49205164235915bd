/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/heap/triage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/table.h"

enum { PROCESSES_MAX = 65536 };

struct candidate {
	uint32_t pid;
	bool seen; /* sampled in this window */
	bool traced;
	bool known;          /* `bytes` and `fds` are known */
	uint64_t bytes, fds; /* the maximum so far */
	uint64_t now_bytes, now_fds;
	/* A bit for each window in which the process grew; the lowest bit is the latest window. */
	uint32_t grown;
	uint64_t growth; /* bytes since the growth began */
};

struct triage {
	struct triage_options options;
	struct table candidates; /* pid + 1 -> struct candidate, owned */
	unsigned n_armed;
};

int triage_new(const struct triage_options *options, struct triage **ret)
{
	struct triage *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->options = *options;
	*ret = t;
	return 0;
}

struct triage *triage_free(struct triage *t)
{
	if (!t)
		return NULL;
	table_deinit_free(&t->candidates);
	return free_ptr(t);
}

void triage_add(struct triage *t, const struct triage_sample *sample)
{
	struct candidate *c = table_get(&t->candidates, (uint64_t)sample->pid + 1);

	if (!c && t->candidates.n_used >= PROCESSES_MAX)
		return;
	c = table_make(&t->candidates, (uint64_t)sample->pid + 1, sizeof(*c));
	if (!c)
		return;
	c->pid = sample->pid;
	c->seen = true;
	c->now_bytes = sample->bytes;
	c->now_fds = sample->fds;
}

static uint32_t triage_windows(const struct triage *t)
{
	return t->options.of >= 32 ? UINT32_MAX : (UINT32_C(1) << t->options.of) - 1;
}

/* Updates C at the end of a window. */
static void triage_judge(const struct triage *t, struct candidate *c)
{
	bool more_bytes = c->known && c->now_bytes >= c->bytes + t->options.min_bytes;
	bool more_fds = c->fds && c->now_fds >= c->fds + t->options.min_fds;

	c->grown = (c->grown << 1 | (more_bytes || more_fds)) & triage_windows(t);
	if (!c->grown)
		c->growth = 0;
	if (more_bytes)
		c->growth += c->now_bytes - c->bytes;
	/* Growth below the minimum adds up over windows. */
	if (more_bytes || !c->known)
		c->bytes = c->now_bytes;
	if (more_fds || !c->fds)
		c->fds = c->now_fds;
	c->known = true;
	c->seen = false;
}

static void triage_forget_ended(struct triage *t, triage_fn fn, void *userdata)
{
	struct candidate *c;
	size_t pos = 0;

	while ((c = table_next(&t->candidates, &pos))) {
		if (c->seen)
			continue;
		if (c->traced) {
			fn(c->pid, false, userdata);
			t->n_armed--;
		}
		free(table_remove_last(&t->candidates, &pos));
	}
}

/* Returns the fastest growing process that qualifies for tracing and is not traced yet, or NULL. */
static struct candidate *triage_next_to_arm(const struct triage *t)
{
	struct candidate *c, *best = NULL;

	for (size_t pos = 0; (c = table_next(&t->candidates, &pos));) {
		if (!c->traced && (unsigned)__builtin_popcount(c->grown) >= t->options.need &&
		    (!best || c->growth > best->growth))
			best = c;
	}
	return best;
}

void triage_decide(struct triage *t, triage_fn fn, void *userdata)
{
	struct candidate *c;

	triage_forget_ended(t, fn, userdata);
	for (size_t pos = 0; (c = table_next(&t->candidates, &pos));) {
		triage_judge(t, c);
		if (!c->traced || c->grown)
			continue;
		fn(c->pid, false, userdata);
		c->traced = false;
		t->n_armed--;
	}
	while (t->n_armed < t->options.armed_max && (c = triage_next_to_arm(t))) {
		if (fn(c->pid, true, userdata)) {
			c->traced = true;
			t->n_armed++;
		} else {
			c->grown = 0;
		}
	}
}

/* ---- /proc ---- */

/*
 * Reads the size of the private memory of a process, without shared memory and files. Returns false
 * if the process is gone, or a kernel thread.
 */
static bool triage_read_memory(int proc_fd, const char *name, uint64_t page_bytes,
			       uint64_t *ret_bytes)
{
	uint64_t size, resident, shared;
	_cleanup_close_ int fd = -1;
	char path[300], text[128];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/statm", name);
	fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return false;
	text[n] = '\0';
	if (sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &size, &resident, &shared) != 3 ||
	    size == 0)
		return false;
	*ret_bytes = resident > shared ? (resident - shared) * page_bytes : 0;
	return true;
}

/* Returns the number of descriptors; 0 before Linux 6.2. */
static uint64_t triage_count_fds(int proc_fd, const char *name)
{
	char path[300];
	struct stat st;

	snprintf(path, sizeof(path), "%s/fd", name);
	return fstatat(proc_fd, path, &st, 0) == 0 ? (uint64_t)st.st_size : 0;
}

int triage_scan(struct triage *t, const char *root)
{
	uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	const struct dirent *entry;
	char path[4096];
	DIR *dir;
	int n = 0;

	if (snprintf(path, sizeof(path), "%s/proc", root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		struct triage_sample sample = { 0 };

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		sample.pid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		/* This process is skipped, since it grows because of its own work. */
		if (sample.pid == (uint32_t)getpid() ||
		    !triage_read_memory(dirfd(dir), entry->d_name, page_bytes, &sample.bytes))
			continue;
		sample.fds = triage_count_fds(dirfd(dir), entry->d_name);
		triage_add(t, &sample);
		n++;
	}
	closedir(dir);
	return n;
}
