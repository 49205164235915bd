/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * lock-drop-load DIRECTORY: threads that wait for a lock whose memory comes and goes.
 *
 * The lock is in a page of a private mapping of a file whose file system is mounted over DIRECTORY
 * (mute-fuse.h). The page is written, so it belongs to the process; then it is dropped, while the
 * file system answers nobody; and so on. If another process waits for the page, it waits until this
 * program ends, which then prints "waits". It begins to drop the page when it has read a line.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "tests/support/fakes/mute-fuse.h"

/* The value of a mutex of glibc for which threads wait. */
enum { WAITERS = 400, LOCK_HAS_WAITERS = 2, STATE_US = 20 };

static volatile uint32_t *word;

static void *wait_for_lock(void *arg)
{
	for (;;)
		syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, LOCK_HAS_WAITERS, NULL, NULL, 0);
	return arg;
}

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static void drop_page(int file)
{
	mute_fuse_keep_pages(true);
	posix_fadvise(file, 0, MUTE_FUSE_BYTES, POSIX_FADV_DONTNEED);
	if (madvise((void *)(uintptr_t)word, MUTE_FUSE_BYTES, MADV_DONTNEED) < 0)
		die("madvise");
	usleep(STATE_US);
	if (mute_fuse_waiting() == 0) {
		mute_fuse_keep_pages(false);
		return;
	}
	puts("waits");
	fflush(stdout);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	char path[PATH_MAX];
	pthread_t thread;
	int file;

	if (argc != 2 || mute_fuse_mount(argv[1], 0) < 0)
		return 77;
	snprintf(path, sizeof(path), "%s/%s", argv[1], MUTE_FUSE_FILE);
	file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		die("open");
	word = mmap(NULL, MUTE_FUSE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
	if (word == MAP_FAILED)
		die("mmap");
	*word = LOCK_HAS_WAITERS;
	for (unsigned i = 0; i < WAITERS; i++)
		if (pthread_create(&thread, NULL, wait_for_lock, NULL) != 0)
			die("pthread_create");
	getchar();
	for (;;) {
		drop_page(file);
		*word = LOCK_HAS_WAITERS;
		usleep(STATE_US);
	}
}
