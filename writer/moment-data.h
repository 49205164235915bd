/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the bytes of an EVENT_MOMENT are: registers, then blocks of memory with their heads. They
 * may come out of a file: nothing of them is trusted.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/event.h"

/* Their numbers are DWARF's, with three more behind. */
extern const char *const moment_data_registers[EVENT_MOMENT_REGISTERS];

enum { MOMENT_DATA_SP = 7, MOMENT_DATA_IP = 16 };

/* Register I of EV. */
uint64_t moment_data_register(const struct event *ev, unsigned i);

/* What one load has brought. */
struct moment_data_block {
	uint64_t address;    /* 0: it was no memory */
	uint32_t load;       /* its number in the plan */
	int32_t bytes;       /* negative: it could not be read, a negative errno */
	const uint8_t *data; /* of the event */
};

/* The block at *AT, which begins with 0 and becomes the next one's place. False: there is none. */
bool moment_data_next(const struct event *ev, uint32_t *at, struct moment_data_block *ret);
