/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The limits of resources that need memory. The limits in kymod(8) are those of machines with 15
 * GiB of memory or more (flight recorders: 4 GiB). On smaller machines, the limits are proportional
 * to the memory.
 */
#pragma once

#include "daemon/access/quotas.h"

enum limited {
	LIMITED_RINGS,   /* bytes of rings with their queues, on all CPUs */
	LIMITED_BLOCKS,  /* blocks in the tables of all sessions */
	LIMITED_TABLES,  /* bytes of unwind tables */
	LIMITED_BUFFERS, /* bytes of buffers of programs with events of their own */
	LIMITED_FLIGHTS, /* bytes of the content of all flight recorders */
};

/*
 * The limits of WHAT on a machine with MEMORY bytes. Each user can have two default sessions, or
 * one with the option `own`.
 */
struct limit limits_of(enum limited what, uint64_t memory);

/*
 * The default size of a session's rings on a machine with MEMORY bytes, without the spare queue.
 * With many CPUs, even the smallest rings are larger.
 */
uint64_t limits_default_rings(uint64_t memory);
