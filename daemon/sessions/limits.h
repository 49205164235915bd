/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limits of resources that need memory. The numbers of kymod(8) are for machines with 15 GiB of
 * memory or more. Below that, the limits are a share of the memory.
 */
#pragma once

#include "daemon/access/quotas.h"

enum limited {
	LIMITED_RINGS,   /* bytes of rings with their queues, on all CPUs */
	LIMITED_BLOCKS,  /* blocks in the tables of all sessions */
	LIMITED_TABLES,  /* bytes of unwind tables */
	LIMITED_FLIGHTS, /* bytes of the content of all flight recorders */
};

/* The limits of WHAT on a machine with MEMORY bytes. */
struct limit limits_of(enum limited what, uint64_t memory);

/*
 * The default size of rings on a machine with MEMORY bytes, without the spare queue. With it, a
 * session of any user with the default categories is within the limits, with up to 256 CPUs. (With
 * less than 15 GiB: 4 for each GiB, or 8.)
 */
uint64_t limits_default_rings(uint64_t memory);
