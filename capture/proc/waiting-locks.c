/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "capture/proc/waiting-locks.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/syscall.h>

#include "base/cleanup.h"
#include "capture/proc/task-state.h"

/* Of an entry of /proc/PID/pagemap. */
#define PAGE_PRESENT   (UINT64_C(1) << 63)
#define PAGE_OF_OTHERS (UINT64_C(1) << 61) /* a page of a file, or of shared memory */

/* The value of the word of a mutex for which threads wait; a robust one has FUTEX_WAITERS. */
enum { LOCK_HAS_WAITERS = 2, LOCK_BYTES = 20 /* of a mutex, as far as it is read */ };

/* Whether a thread that waits with OPERATION for VALUE can wait for a mutex. */
static bool waiting_locks_may_be(uint64_t operation, uint32_t value)
{
	switch (operation & FUTEX_CMD_MASK) {
	case FUTEX_LOCK_PI:
	case 13: /* FUTEX_LOCK_PI2 of Linux 5.14 */
		return true;
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
		return value == LOCK_HAS_WAITERS || value & FUTEX_WAITERS;
	default:
		return false;
	}
}

/* The address of the lock for which the thread waits; 0 = it waits for none. */
static uint64_t waiting_locks_address(pid_t pid, pid_t tid)
{
	uint64_t address, operation, value;
	char path[64], text[256];
	_cleanup_close_ int fd = -1;
	long number;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", (int)pid, (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd >= 0 ? read(fd, text, sizeof(text) - 1) : -1;
	if (n <= 0)
		return 0;
	text[n] = '\0';
	if (sscanf(text, "%ld 0x%" SCNx64 " 0x%" SCNx64 " 0x%" SCNx64, &number, &address,
		   &operation, &value) != 4)
		return 0;
	return number == SYS_futex && waiting_locks_may_be(operation, (uint32_t)value) ? address
										       : 0;
}

/* Whether all pages of the lock at ADDRESS are present, and belong to the process alone. */
static bool waiting_locks_is_private(pid_t pid, uint64_t address)
{
	uint64_t size = (uint64_t)sysconf(_SC_PAGESIZE), entry;
	uint64_t last = (address + LOCK_BYTES - 1) / size;
	_cleanup_close_ int fd = -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	for (uint64_t page = address / size; page <= last; page++)
		if (fd < 0 ||
		    pread(fd, &entry, sizeof(entry), (off_t)(page * sizeof(entry))) !=
			    (ssize_t)sizeof(entry) ||
		    !(entry & PAGE_PRESENT) || entry & PAGE_OF_OTHERS)
			return false;
	return true;
}

struct waiting_locks {
	waiting_locks_fn fn;
	void *userdata;
};

static int waiting_locks_of_task(pid_t pid, pid_t tid, void *userdata)
{
	const struct waiting_locks *w = userdata;
	uint64_t address = waiting_locks_address(pid, tid);

	if (address == 0 || !waiting_locks_is_private(pid, address))
		return 0;
	return w->fn(pid, tid, address, w->userdata);
}

int waiting_locks_each(waiting_locks_fn fn, void *userdata)
{
	struct waiting_locks w = { fn, userdata };
	const struct dirent *entry;
	DIR *dir = opendir("/proc");
	int r = 0;

	if (!dir)
		return -errno;
	while (r == 0 && (entry = readdir(dir))) {
		pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

		/* (a process that has ended meanwhile has no tasks) */
		r = pid > 0 ? task_state_each(pid, waiting_locks_of_task, &w) : 0;
		r = r == -ENOENT || r == -ESRCH || r == -EACCES ? 0 : r;
	}
	closedir(dir);
	return r;
}
