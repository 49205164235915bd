/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs a converter or a hook, and waits for its end. The process has no capabilities beyond those
 * of its user. So it cannot read the archives of others, which `kymo ship` can read.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHIP_CHILD_TEXT_MAX = 256 };

struct ship_child {
	const char *file;        /* path of the program */
	const char *const *argv; /* ends with NULL */
	int input_fd;            /* its standard input; -1 = empty */
	int directory_fd;        /* its working directory */
	/* Keeps the last line of its standard error in TEXT, instead of printing all lines. */
	bool keeps_text;
	int signal_fd;     /* the child is killed when a signal is pending there */
	unsigned limit_ms; /* the child is killed when it has run for so long; 0 = no limit */
	/* Called from time to time, with the time for which the child has run. */
	void (*tick)(void *userdata, uint64_t ran_ms);
	void *userdata;

	char text[SHIP_CHILD_TEXT_MAX]; /* result: why it failed */
};

/*
 * Runs the program. Returns its exit status, -ECANCELED if a signal is pending, -ETIME if the limit
 * was reached, or another negative errno. If the status is not 0, TEXT says why.
 */
int ship_child_run(struct ship_child *c);
