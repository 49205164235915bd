/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Puts tables into the map that programs find them in. The kernel makes whoever changes such a map
 * (a map of maps) wait until no program can have the old entry any more: 10 to 30 ms. Programs see
 * the new one at once. So threads of a pool do the waiting, and there are none while nothing is to
 * be done.
 *
 * For one thread.
 */
#pragma once

#include <stdint.h>

#include "base/cleanup.h"

struct unwind_publisher;

/* For the map that TABLES_FD refers to (borrowed, for as long as the publisher lives). */
struct unwind_publisher *unwind_publisher_new(int tables_fd);

/* Forgets what has not begun, and waits for the rest. Returns NULL. */
struct unwind_publisher *unwind_publisher_free(struct unwind_publisher *p);
DEFINE_CLEANUP(struct unwind_publisher *, unwind_publisher_free)

/*
 * Table BLOCKS_FD (taken; -1: none any more) is to be found at NUMBER. Several changes of one
 * number have no order without unwind_publisher_drain() between them. A change that the kernel
 * refuses, for want of memory, is lost: the file has no table. Returns 0 or -ENOMEM.
 */
int unwind_publisher_put(struct unwind_publisher *p, uint32_t number, int blocks_fd);

/* Waits until no program can see anything but what was put. */
void unwind_publisher_drain(struct unwind_publisher *p);
