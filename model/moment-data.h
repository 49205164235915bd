/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The bytes of an EVENT_MOMENT: registers, and then blocks of memory with their headers. They can
 * come from a file, and are not trusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

/* The names of the registers in DWARF's order, with three more at the end. */
extern const char *const moment_data_registers[EVENT_MOMENT_REGISTERS];

enum { MOMENT_DATA_SP = 7, MOMENT_DATA_IP = 16 };

/* Register I of EV. */
uint64_t moment_data_register(const struct event *ev, unsigned i);

/*
 * Returns the name of the point with this PLAN (EVENT_MOMENT_POINT), which has *RET_N bytes. The
 * name is "?" if PLAN has none.
 */
const char *moment_data_point_name(const char *plan, size_t *ret_n);

/* The result of a load. */
struct moment_data_block {
	uint64_t address;    /* address of the memory; 0 = the value was not in memory */
	uint32_t load;       /* number of the load in the plan */
	int32_t bytes;       /* number of bytes; if negative, the errno of the failed read */
	const uint8_t *data; /* points into the data of the event */
};

/*
 * Reads the block at *AT and advances *AT. *AT must be 0 for the first block. Returns false after
 * the last block.
 */
bool moment_data_next(const struct event *ev, uint32_t *at, struct moment_data_block *ret);
