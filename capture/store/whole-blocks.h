/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finds the whole records or packed blocks of a file that is a part of an archive, or may be
 * truncated anywhere.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "writer/pack/pack.h"

struct whole_blocks {
	int fd;       /* borrowed */
	uint64_t at;  /* all data up to here is whole and was returned */
	uint64_t end; /* end of the data to examine */
	enum pack_method method;
	bool first;      /* the beginning of the archive was not returned yet */
	uint8_t *window; /* owned */
	size_t room;
};

/*
 * Starts with the first BYTES of FD, compressed by METHOD. FIRST: true = an archive begins with
 * these bytes.
 */
void whole_blocks_init(struct whole_blocks *p, int fd, uint64_t bytes, enum pack_method method,
		       bool first);
void whole_blocks_deinit(struct whole_blocks *p);

/* Finds the compression method of the data in FD. Returns 0 or a negative errno. */
int whole_blocks_detect(int fd, enum pack_method *ret);

/*
 * Finds the next whole records or blocks: *RET_N bytes at *RET (borrowed until the next call), or 0
 * bytes at the end. Returns 0 or a negative errno.
 */
int whole_blocks_next(struct whole_blocks *p, const uint8_t **ret, size_t *ret_n);
