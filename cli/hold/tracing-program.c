/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "cli/hold/tracing-program.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "reader/symbols/elf-file.h"

enum { NAMES_BYTES_MAX = 64 << 20 };

/* The symbol's name between two NULs, which separate names. */
static const char tracing_program_name[] = "\0ptrace";

static bool tracing_program_has_name(const struct elf_file *f, const char *section)
{
	size_t n = 0;
	const void *names = elf_file_content(f, section, NAMES_BYTES_MAX, &n);

	return names && memmem(names, n, tracing_program_name, sizeof(tracing_program_name));
}

/*
 * Returns true if F has the name "ptrace" among its symbols. Imported names are in .dynstr. A
 * static program imports no names; its own names are in .strtab, even if it has the section
 * .dynstr, too.
 */
static bool tracing_program_is_one(const struct elf_file *f)
{
	bool is_static = !elf_file_section(f, ".interp", NULL);

	return tracing_program_has_name(f, ".dynstr") ||
	       (is_static && tracing_program_has_name(f, ".strtab"));
}

static bool tracing_program_read(pid_t pid)
{
	_cleanup_(elf_file_freep) struct elf_file *f = NULL;
	_cleanup_close_ int fd = -1;
	const char *what;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && elf_file_open_fd(&f, TAKE_FD(fd), &what) == 0 &&
	       tracing_program_is_one(f);
}

/* ---- a thread that can hang ---- */

struct tracing_program_check {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	pid_t pid;
	bool is_done,
		/* Set by the thread, and by its caller; the second of them frees the struct. */
		is_abandoned;
	bool result;
};

static atomic_uint tracing_program_n_hanging;

static void tracing_program_free(struct tracing_program_check *c)
{
	pthread_cond_destroy(&c->changed);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

static void *tracing_program_run(void *userdata)
{
	struct tracing_program_check *c = userdata;
	bool result = tracing_program_read(c->pid), is_abandoned;

	pthread_mutex_lock(&c->lock);
	c->result = result;
	c->is_done = true;
	is_abandoned = c->is_abandoned;
	pthread_cond_signal(&c->changed);
	pthread_mutex_unlock(&c->lock);
	if (is_abandoned) {
		atomic_fetch_sub(&tracing_program_n_hanging, 1);
		tracing_program_free(c);
	}
	return NULL;
}

static struct tracing_program_check *tracing_program_new(pid_t pid)
{
	struct tracing_program_check *c = calloc(1, sizeof(*c));
	pthread_condattr_t attributes;

	if (!c)
		return NULL;
	c->pid = pid;
	pthread_mutex_init(&c->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&c->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	return c;
}

/* Waits for the result of C. Frees C, or leaves that to its thread. */
static int tracing_program_wait(struct tracing_program_check *c)
{
	uint64_t end_ns = clock_read_ns(CLOCK_MONOTONIC) + TRACING_PROGRAM_NS;
	const struct timespec end = {
		.tv_sec = (time_t)(end_ns / 1000000000),
		.tv_nsec = (long)(end_ns % 1000000000),
	};
	int r = 0;

	pthread_mutex_lock(&c->lock);
	while (!c->is_done && r == 0)
		r = pthread_cond_timedwait(&c->changed, &c->lock, &end);
	if (!c->is_done) {
		c->is_abandoned = true;
		atomic_fetch_add(&tracing_program_n_hanging, 1);
		pthread_mutex_unlock(&c->lock);
		return -ETIME;
	}
	r = c->result;
	pthread_mutex_unlock(&c->lock);
	tracing_program_free(c);
	return r;
}

int tracing_program(pid_t pid)
{
	struct tracing_program_check *c;
	pthread_attr_t attributes;
	pthread_t thread;
	int r;

	if (atomic_load(&tracing_program_n_hanging) >= TRACING_PROGRAM_HANGING_MAX)
		return -EAGAIN;
	c = tracing_program_new(pid);
	if (!c)
		return -EAGAIN;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	r = pthread_create(&thread, &attributes, tracing_program_run, c);
	pthread_attr_destroy(&attributes);
	if (r == 0)
		return tracing_program_wait(c);
	tracing_program_free(c);
	return -EAGAIN;
}
