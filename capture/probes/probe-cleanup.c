/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files are found by their mappings, so their paths and mount namespaces do not matter, and they
 * can have been replaced or removed. If no process maps a file, it has no breakpoints.
 */
#include "capture/probes/probe-cleanup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "capture/sandbox/after-fork.h"
#include "capture/sandbox/clean-fd-table.h"
#include "capture/probes/probe-journal.h"
#include "capture/probes/probe-removals.h"
#include "capture/probes/probes.h"

enum {
	CLEANUP_FILES_MAX = 1024,
	CLEANUP_SECONDS_MAX =
		60, /* after this time the process is killed, and the next recorder tries again */
};

struct cleanup_file {
	dev_t device;
	ino_t inode;
	uint64_t *offsets; /* owned */
	size_t n;
	int fd;      /* -1 = no known process maps it */
	size_t left; /* number of bytes of all processes that still differ from the file */
};

struct cleanup_job {
	struct cleanup_file files[CLEANUP_FILES_MAX];
	size_t n;
	void (*report)(const char *text);
};

/*
 * Returns true if FILE is already in the list: several recorders can have had probes in the same
 * file.
 */
static bool probe_cleanup_has_file(const struct cleanup_job *h, const struct probe_file *file)
{
	for (size_t i = 0; i < h->n; i++) {
		const struct cleanup_file *known = &h->files[i];

		if (known->inode == file->inode && known->device == file->device &&
		    known->n == file->n &&
		    memcmp(known->offsets, file->offsets, file->n * sizeof(*file->offsets)) == 0)
			return true;
	}
	return false;
}

static int probe_cleanup_add_file(const struct probe_file *file, void *userdata)
{
	struct cleanup_job *h = userdata;
	struct cleanup_file *to = &h->files[h->n];

	if (h->n == CLEANUP_FILES_MAX || probe_cleanup_has_file(h, file))
		return 0;
	*to = (struct cleanup_file){ .device = file->device, .inode = file->inode, .fd = -1 };
	to->offsets = calloc(file->n, sizeof(*to->offsets));
	if (!to->offsets)
		return -ENOMEM;
	memcpy(to->offsets, file->offsets, file->n * sizeof(*to->offsets));
	to->n = file->n;
	h->n++;
	return 0;
}

/* ---- processes ---- */

/* A mapping of code. */
struct cleanup_mapping {
	int pid, mem_fd;
	uint64_t start, end, offset, inode;
};

/*
 * If M maps FILE, opens FILE (unless it is open) and returns true. Files on other file systems can
 * have the same inode number.
 */
static bool probe_cleanup_open_mapped(struct cleanup_file *file, const struct cleanup_mapping *m)
{
	_cleanup_close_ int fd = -1;
	struct statx st;
	char path[80];

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, m->pid, m->start,
		 m->end);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 ||
	    statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &st) < 0 ||
	    !S_ISREG(st.stx_mode) || st.stx_ino != file->inode ||
	    makedev(st.stx_dev_major, st.stx_dev_minor) != file->device)
		return false;
	if (file->fd < 0)
		file->fd = TAKE_FD(fd);
	return true;
}

static void probe_cleanup_count_remaining(struct cleanup_file *file,
					  const struct cleanup_mapping *m)
{
	for (size_t i = 0; i < file->n; i++) {
		uint64_t at = file->offsets[i];
		uint8_t is, was;

		if (at >= m->offset && at - m->offset < m->end - m->start &&
		    pread(m->mem_fd, &is, 1, (off_t)(m->start + at - m->offset)) == 1 &&
		    pread(file->fd, &was, 1, (off_t)at) == 1)
			file->left += is != was;
	}
}

static void probe_cleanup_scan_mapping(struct cleanup_job *h, const struct cleanup_mapping *m)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->files[i].inode == m->inode && probe_cleanup_open_mapped(&h->files[i], m))
			probe_cleanup_count_remaining(&h->files[i], m);
}

static void probe_cleanup_scan_process(struct cleanup_job *h, int pid)
{
	struct cleanup_mapping m = { .pid = pid };
	_cleanup_free_ char *line = NULL;
	_cleanup_close_ int mem_fd = -1;
	char path[32], mode[8];
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	mem_fd = m.mem_fd = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	if (!f)
		return;
	while (getline(&line, &room, f) > 0) {
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %" SCNu64, &m.start,
			   &m.end, mode, &m.offset, &m.inode) == 5 &&
		    mode[2] == 'x' && m.inode)
			probe_cleanup_scan_mapping(h, &m);
	}
	fclose(f);
}

/* Searches all processes for the files and counts their remaining breakpoints. */
static void probe_cleanup_scan_all(struct cleanup_job *h)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	for (size_t i = 0; i < h->n; i++)
		h->files[i].left = 0;
	while (dir && (entry = readdir(dir))) {
		int pid = atoi(entry->d_name);

		if (pid > 0)
			probe_cleanup_scan_process(h, pid);
	}
	if (dir)
		closedir(dir);
}

/* ---- healing ---- */

static void probe_cleanup_report(const struct cleanup_job *h, const struct cleanup_file *file,
				 size_t left, int error)
{
	char link[32], path[512], text[1024];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", file->fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	if (left > file->left)
		snprintf(text, sizeof(text),
			 "removed %zu breakpoints that a killed recorder left in '%s'",
			 left - file->left, path);
	else
		snprintf(text, sizeof(text),
			 "cannot remove the breakpoints that a killed recorder left in '%s': %s",
			 path, strerror(-error));
	h->report(text);
}

static int probe_cleanup_run(void *userdata)
{
	_cleanup_(probe_removals_freep) struct probe_removals *removals = NULL;
	struct cleanup_job *h = userdata;
	size_t left[CLEANUP_FILES_MAX];
	int errors[CLEANUP_FILES_MAX] = { 0 };

	probe_removals_open(&removals);
	probe_cleanup_scan_all(h);
	for (size_t i = 0; i < h->n; i++) {
		struct cleanup_file *file = &h->files[i];
		struct probes *probes;

		left[i] = file->left;
		if (file->fd < 0)
			continue;
		/*
		 * The kernel refuses these probes if another probe at one of the places has a
		 * semaphore.
		 */
		probe_removals_begin(removals, probe_removals_slot(file->fd));
		errors[i] = probes_new_for_nobody(probes_way(), file->fd, file->offsets, NULL,
						  file->n, &probes);
		if (errors[i] == 0)
			probes_free(probes);
		probe_removals_end(removals);
	}
	probe_cleanup_scan_all(h);
	for (size_t i = 0; i < h->n; i++)
		if (left[i] > h->files[i].left || errors[i] < 0)
			probe_cleanup_report(h, &h->files[i], left[i], errors[i]);
	/* A second attempt would fail, too, so the journals are removed in any case. */
	return 0;
}

/* ---- the process ---- */

static void probe_cleanup_run_child(void (*report)(const char *text))
{
	static struct cleanup_job h;
	sigset_t all_but_alarm;

	setsid();
	signal(SIGALRM, SIG_DFL);
	sigfillset(&all_but_alarm);
	sigdelset(&all_but_alarm, SIGALRM);
	sigprocmask(SIG_SETMASK, &all_but_alarm, NULL);
	alarm(CLEANUP_SECONDS_MAX);
	if (after_fork_unmap_shared() < 0 || close_range(STDERR_FILENO + 1, ~0U, 0) < 0)
		_exit(1);
	h.report = report;
	_exit(probe_journal_each_leftover(probe_cleanup_add_file, probe_cleanup_run, &h) < 0);
}

/*
 * Runs in a thread with a clean descriptor table. The second fork makes the cleanup process
 * independent of this process.
 */
static int probe_cleanup_fork_child(void *userdata)
{
	void (**report)(const char *text) = userdata;
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (pid == 0) {
		pid = fork();
		if (pid == 0)
			probe_cleanup_run_child(*report);
		_exit(pid < 0);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return 0;
}

int probe_cleanup_start(void (*report)(const char *text))
{
	return probe_journal_any() ? clean_fd_table_run(probe_cleanup_fork_child, &report) : 0;
}
