/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A file that is a part of an archive, or may have been cut off anywhere, by what is whole in it:
 * records, or packed blocks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/pack/pack.h"

struct whole_blocks {
	int fd;       /* borrowed */
	uint64_t at;  /* so far everything is whole, and was given out */
	uint64_t end; /* of what is looked at */
	enum pack_method method;
	bool first;      /* nothing was given out yet of what begins an archive */
	uint8_t *window; /* owned */
	size_t room;
};

/* To look at the first BYTES of FD, packed by METHOD; FIRST if an archive begins with them. */
void whole_blocks_init(struct whole_blocks *p, int fd, uint64_t bytes, enum pack_method method,
		       bool first);
void whole_blocks_deinit(struct whole_blocks *p);

/* The method that what begins in FD is packed by. Returns 0 or a negative errno. */
int whole_blocks_detect(int fd, enum pack_method *ret);

/*
 * The next whole bytes, *RET_N of them at *RET (borrowed until the next call), or 0: there are no
 * more, whatever follows. Returns 0 or a negative errno.
 */
int whole_blocks_next(struct whole_blocks *p, const uint8_t **ret, size_t *ret_n);
