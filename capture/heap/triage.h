/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Selects growing processes for tracing.
 *
 * Each window has a sample of each process. A process grows in a window if it has more private
 * memory, or more descriptors, than in any earlier window. Caches and heaps that fill and empty do
 * not reach new maxima for long. A process that grows in NEED of the last OF windows is traced, the
 * fastest one first, as long as there is room. A process that has not grown in OF windows is
 * released.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/cleanup.h"

struct triage;

struct triage_options {
	unsigned need, of;  /* number of windows; OF is at most 32 */
	unsigned armed_max; /* maximum number of traced processes */
	uint64_t min_bytes; /* minimum growth */
	uint64_t min_fds;
};

#define TRIAGE_OPTIONS_DEFAULT                                                                     \
	((struct triage_options){                                                                  \
		.need = 4, .of = 6, .armed_max = 4, .min_bytes = 64 << 10, .min_fds = 1 })

struct triage_sample {
	uint32_t pid;
	uint64_t bytes; /* resident private memory */
	uint64_t fds;   /* descriptors; 0 = unknown */
};

/*
 * Starts or stops tracing PID. Returns false if PID cannot be traced, for example because it has
 * ended.
 */
typedef bool (*triage_fn)(uint32_t pid, bool trace, void *userdata);

/* Returns 0 or a negative errno. */
int triage_new(const struct triage_options *options, struct triage **ret);
struct triage *triage_free(struct triage *t);

DEFINE_CLEANUP(struct triage *, triage_free)

/* Adds a sample of the current window. Processes beyond 65536 are ignored. */
void triage_add(struct triage *t, const struct triage_sample *sample);

/* Closes the window: processes without a sample have ended. */
void triage_decide(struct triage *t, triage_fn fn, void *userdata);

/*
 * Adds the data of /proc below ROOT ("" for this machine) of all processes except this one. Returns
 * their number, or a negative errno.
 */
int triage_scan(struct triage *t, const char *root);
