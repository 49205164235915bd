/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Hands one chunk over: converts it, writes it to the target, and runs the hook.
 *
 * The name in the target follows from the chunk. If this name exists, an earlier attempt has
 * written the chunk, so the chunk is not written twice.
 */
#pragma once

#include "capture/options/collection.h"
#include "capture/store/chunk-list.h"
#include "cli/ship/ship-status.h"

struct ship_job {
	const struct collection *collection;
	int chunks_fd;                /* the directory of the chunks */
	int staging_fd;               /* an own directory, for the results of conversions */
	const char *staging;          /* its path */
	int signal_fd;                /* ends the job when a signal is pending */
	void (*tick)(void *userdata); /* called from time to time */
	void *userdata;
	unsigned slow_ms;           /* the time after which a conversion or the hook is slow */
	unsigned convert_limit_ms;  /* the time after which a conversion is given up; 0 = never */
	char slow[SHIP_ERROR_MAX];  /* what is slow at the moment; "" = nothing */
	char error[SHIP_ERROR_MAX]; /* result: why the chunk was not taken */
};

enum ship_result {
	SHIP_TAKEN,
	SHIP_GONE,    /* the chunk does not exist anymore */
	SHIP_BAD,     /* this chunk cannot be converted, or not in time; others may be */
	SHIP_AWAY,    /* the target does not take chunks at the moment */
	SHIP_STOPPED, /* a signal is pending */
};

enum ship_result ship_deliver(struct ship_job *j, const struct chunk *chunk);
