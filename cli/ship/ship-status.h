/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The backlog of a collection, in a file that `kymo ship` writes and `kymo status` reads:
 * /run/kymo-ship/NAME/status.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/common/json.h"

#define SHIP_STATUS_DIRECTORY "/run/kymo-ship"
#define SHIP_STATUS_FILE      "status"

enum { SHIP_ERROR_MAX = 512 };

struct ship_status {
	uint64_t waiting, waiting_bytes;
	uint64_t oldest_us; /* begin of the oldest waiting chunk, since 1970; 0 = none waits */
	uint64_t taken;
	uint64_t lost, lost_bytes;
	char error[SHIP_ERROR_MAX]; /* why chunks wait; "" = nothing is wrong */
	uint64_t error_since_us;
	/* The file was not written for a while: no process ships, or the process hangs. */
	bool is_old;
	uint64_t updated_us;
};

/* Returns SHIP_STATUS_DIRECTORY, or the directory that tests use instead. */
const char *ship_status_directory(void);

/* Writes the file in the directory DIR_FD. Returns 0 or a negative errno. */
int ship_status_write(const struct ship_status *s, int dir_fd);

/* Reads the file of the collection NAME. Returns 0, or a negative errno (-ENOENT: not shipped). */
int ship_status_read(const char *name, struct ship_status *ret);

/* Returns S as an object. */
struct json_object *ship_status_json(const struct ship_status *s);

/* Prints S, the backlog of the collection NAME, as lines of `kymo status`. */
void ship_status_print(const struct ship_status *s, const char *name);
